package workflows

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const emojiBytes = 256 << 10

type expressionChange struct {
	GuildID     discord.GuildID   `json:"guildId" jsonschema:"guild of the emoji or sticker"`
	Kind        string            `json:"kind" enum:"emoji,sticker"`
	Action      string            `json:"action" enum:"create,update,delete"`
	ID          discord.Snowflake `json:"expressionId,omitempty" jsonschema:"emoji or sticker, but for create"`
	Name        string            `json:"name,omitempty" jsonschema:"emoji: 2 to 32 letters, digits and underscores; sticker: 2 to 30 characters" minLength:"2" maxLength:"32"`
	Image       string            `json:"image,omitempty" jsonschema:"with create, a data URI: emoji png, jpeg, gif or webp of 256 KiB; sticker png, apng, gif or Lottie JSON of 512 KiB, 320 pixels square and 5 seconds"`
	Roles       []discord.RoleID  `json:"roles,omitempty" jsonschema:"roles that may use the emoji, all of them; [] for everybody" maxItems:"250" uniqueItems:"true"`
	Description string            `json:"description,omitempty" jsonschema:"of a sticker" maxLength:"100"`
	Tags        string            `json:"tags,omitempty" jsonschema:"words to find a sticker by, separated by commas" minLength:"1" maxLength:"200"`
	reason
}

type expressionState struct {
	Guild      guildSeen   `json:"guild"`
	Permission evidence    `json:"permission"`
	Now        *expression `json:"current"`
	Wanted     *expression `json:"wanted"`
	Changed    []string    `json:"changedFields"`
	File       string      `json:"file,omitempty" jsonschema:"digest of what is uploaded"`
	Count      int         `json:"ofItsSort" jsonschema:"moving and still emojis are counted apart"`
	Limit      int         `json:"ofItsSortLimit"`
	Others     string      `json:"others" jsonschema:"digest of all others of the kind"`
}

// guildExpressionChange makes, changes or deletes an emoji or a sticker.
func guildExpressionChange(rest discordtools.REST) mcpcore.Workflow {
	return change[expressionChange, expressionState]{
		Name: "guild-expression-change", Category: "guild-expressions", Title: "Change an emoji or a sticker",
		Doc:    `Creates, changes or deletes an emoji or sticker of a guild. Its picture cannot be changed. Messages that use a deleted one lose it.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose emojis and stickers may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkExpressionArguments}}, Redact: []string{"image"},
		Reads: append(slices.Clone(standingRoutes), expressionKinds["emoji"].list, expressionKinds["sticker"].list),
		Write: slices.Concat(expressionKinds["emoji"].writes(), expressionKinds["sticker"].writes()),
		Plan:  planExpression,
		Targets: func(in expressionChange, _ expressionState) []mcpcore.Target {
			return []mcpcore.Target{all(in.Kind+"s", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in expressionChange, s expressionState) (done mcpcore.Written, err error) {
			kind, at := expressionKinds[in.Kind], path{"guild_id": string(in.GuildID)}
			if in.Action != "create" {
				at[in.Kind+"_id"] = string(in.ID)
			}
			var made expressionWire
			switch in.Action {
			case "delete":
				return mcpcore.Written{ID: string(in.ID)}, w.send(ctx, kind.delete, at, nil, nil)
			case "update":
				err = w.send(ctx, kind.edit, at, s.patch(), &made)
			default:
				err = s.create(ctx, w, in, at, &made)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil && in.ID != "" && made.ID != in.ID {
				err = errors.New("the answer is of another one than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in expressionChange, s expressionState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			list, err := r.expressions(ctx, in.Kind, in.GuildID)
			if err != nil {
				return found, err
			}
			now, others := pickExpression(list, discord.Snowflake(w.ID))
			if (now == nil) != (s.Wanted == nil) {
				return found, errors.New("it is there where it should not be, or is not there")
			}
			if now != nil {
				found.Drift = now.differ(*s.Wanted)
			}
			if others != s.Others {
				found.Drift = append(found.Drift, "others")
			}
			return found, nil
		},
	}.on(rest)
}

// checkExpressionArguments refuses arguments that do not go with the action or
// the kind.
func checkExpressionArguments(c *mcpcore.Call) *mcpcore.Issue {
	action, kind := c.Text("action"), c.Text("kind")
	given := slices.DeleteFunc([]string{"name", "roles", "description", "tags"}, func(f string) bool { return !c.Has(f) })
	needed := []string{"name", "image"}
	if kind == "sticker" {
		needed = append(needed, "tags")
	}
	switch {
	case (action == "create") == c.Has("expressionId"):
		return issue("expressionId", "is needed, or does not go, with the action %s", action)
	case (action == "create") != c.Has("image"):
		return issue("image", "is needed with create, and does not go with another action")
	case action == "create" && slices.ContainsFunc(needed, func(n string) bool { return !c.Has(n) }):
		return issue("name", "a new %s needs %s", kind, strings.Join(needed, ", "))
	case action == "update" && len(given) == 0:
		return issue("name", "or something else must be given to update")
	case action == "delete" && len(given) > 0:
		return issue(given[0], "does not go with delete")
	case kind == "emoji" && (c.Has("description") || c.Has("tags")):
		return issue("tags", "and description are of stickers")
	case kind == "sticker" && c.Has("roles"):
		return issue("roles", "are of emojis")
	case kind == "emoji" && !emojiName.MatchString(c.Text("name")):
		return issue("name", "of an emoji has letters, digits and underscores alone")
	case kind == "sticker" && len([]rune(c.Text("name"))) > 30:
		return issue("name", "of a sticker has at most 30 characters")
	}
	return nil
}

func planExpression(ctx context.Context, r *reads, in expressionChange) (plan mcpcore.Change[expressionState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	list, err := r.expressions(ctx, in.Kind, in.GuildID)
	if err != nil {
		return plan, err
	}
	guild, err := r.boosts(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := expressionState{Guild: bot.Guild, Permission: bot.evidence()}
	s.Now, s.Others = pickExpression(list, in.ID)
	need := discord.CreateGuildExpressions
	switch {
	case in.Action == "create":
	case s.Now == nil:
		return plan, refused("missing", "the guild has no %s %s", in.Kind, in.ID)
	case s.Now.By != bot.Bot || bot.held.Has(discord.ManageGuildExpressions):
		need = discord.ManageGuildExpressions // for its own the bot needs either
	}
	if err := bot.needs(need); err != nil {
		return plan, err
	}
	if s.Now != nil && s.Now.Managed {
		return plan, refused("managed", "the %s belongs to an integration", in.Kind)
	}
	var wanted expression
	if s.Now != nil {
		wanted = *s.Now
	}
	wanted = in.onto(wanted, r.Call.Has)
	for _, role := range wanted.Roles {
		if _, there := bot.role(role); !there && in.Action != "delete" {
			return plan, refused("role-missing", "the guild has no role %s", role)
		}
	}
	if slices.ContainsFunc(list, func(o expression) bool { return o.ID != in.ID && strings.EqualFold(o.Name, wanted.Name) }) && in.Action != "delete" {
		return plan, refused("name-taken", "the guild has another %s of that name", in.Kind)
	}
	if in.Action == "create" {
		if err := s.upload(in, &wanted, guild); err != nil {
			return plan, err
		}
		wanted.By = bot.Bot
	}
	for _, o := range list {
		if o.Animated == wanted.Animated && !o.Managed {
			s.Count++
		}
	}
	if s.Limit = guild.slots(in.Kind); in.Action == "create" && s.Count >= s.Limit {
		return plan, refused("full", "the guild has %d of its sort, and can have %d", s.Count, s.Limit)
	}
	plan = mcpcore.Change[expressionState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: in.Kind, Value: wanted.Name}}}
	if in.Action == "delete" {
		plan.Risks = []string{"irreversible"}
		plan.State = s
		return plan, nil
	}
	s.Wanted = &wanted
	if s.Now != nil {
		s.Changed = s.Now.differ(wanted)
		if plan.Current = len(s.Changed) == 0; plan.Current {
			plan.Action = "none"
		}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "was", Value: s.Now.Name})
	}
	plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "changes", Value: strings.Join(s.Changed, ", ")})
	plan.State = s
	return plan, nil
}

// upload looks at the picture of a new one.
func (s *expressionState) upload(in expressionChange, wanted *expression, guild boosted) error {
	if in.Kind == "emoji" {
		data, err := picture(in.Image, emojiBytes, "image/png", "image/jpeg", "image/gif", "image/webp")
		if err != nil {
			return err
		}
		s.File = digest(data)
		wanted.Animated = bytes.HasPrefix(data, []byte("GIF")) || bytes.Contains(data[:min(len(data), 64)], []byte("ANIM"))
		return nil
	}
	f, err := readSticker(in.Image)
	if err != nil {
		return err
	}
	if f.format == formatLottie && !slices.Contains(guild.Features, "VERIFIED") && !slices.Contains(guild.Features, "PARTNERED") {
		return refused("lottie", "Lottie is for verified and partnered guilds")
	}
	s.File, wanted.Format = digest(f.data), f.format
	return nil
}

// create sends a new one: an emoji as JSON, a sticker as a form.
func (s *expressionState) create(ctx context.Context, w *write, in expressionChange, at path, made *expressionWire) error {
	route := expressionKinds[in.Kind].create
	if in.Kind == "emoji" {
		return w.send(ctx, route, at, emojiBody{s.Wanted.Name, in.Image, &s.Wanted.Roles}, made)
	}
	head, encoded, _ := strings.Cut(in.Image, ";base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return mcpcore.NotDone(err)
	}
	return w.sendWith(ctx, route, discordtools.Request{Path: at, Reason: w.reason, Form: []discordtools.Part{
		{Name: "name", Data: []byte(s.Wanted.Name)}, {Name: "description", Data: []byte(s.Wanted.Description)}, {Name: "tags", Data: []byte(s.Wanted.Tags)},
		{Name: "file", Filename: "sticker", ContentType: strings.TrimPrefix(head, "data:"), Data: data},
	}}, nil, made)
}
