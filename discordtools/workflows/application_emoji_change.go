package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeAppEmojis      = "GET /applications/{application_id}/emojis"
	routeAppEmojiCreate = "POST /applications/{application_id}/emojis"
	routeAppEmojiEdit   = "PATCH /applications/{application_id}/emojis/{emoji_id}"
	routeAppEmojiDelete = "DELETE /applications/{application_id}/emojis/{emoji_id}"

	appEmojis = 2000 // of one application
)

type appEmojiChange struct {
	ofApplication
	Action string          `json:"action" enum:"create,rename,delete"`
	ID     discord.EmojiID `json:"emojiId,omitempty" jsonschema:"emoji to rename or delete"`
	Name   string          `json:"name,omitempty" jsonschema:"but with delete: 2 to 32 letters, digits and underscores" minLength:"2" maxLength:"32" pattern:"^[A-Za-z0-9_]+$"`
	Image  string          `json:"image,omitempty" jsonschema:"with create, a data URI of png, jpeg, gif, webp or avif of at most 256 KiB"`
	Impact bool            `json:"acknowledgeGlobalImpact,omitempty" jsonschema:"with delete, true: it is lost everywhere, in messages already sent as well"`
}

type appEmojiState struct {
	Application applicationSeen `json:"application"`
	Now         *appEmoji       `json:"current"`
	Name        string          `json:"wantedName,omitempty"`
	File        string          `json:"file,omitempty" jsonschema:"digest of what is uploaded"`
	Count       int             `json:"emojis"`
	Limit       int             `json:"emojiLimit"`
	Others      string          `json:"others" jsonschema:"digest of all other emojis of the application"`
}

// appEmoji is an emoji of the application as Discord tells it.
type appEmoji struct {
	ID        discord.EmojiID `json:"id"`
	Name      string          `json:"name"`
	Animated  bool            `json:"animated"`
	Managed   bool            `json:"managed"`
	Colons    bool            `json:"require_colons"`
	Available bool            `json:"available"`
}

type appEmojiBody struct {
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`
}

// applicationEmojiChange makes, renames or deletes an emoji of the application.
func applicationEmojiChange(rest discordtools.REST) mcpcore.Workflow {
	return change[appEmojiChange, appEmojiState]{
		Name: "application-emoji-change", Category: "application-emojis", Title: "Change an emoji of the application",
		Doc: `Creates, renames or deletes an emoji that the bot can use everywhere. Its picture cannot be changed. A deleted one is
			lost in messages already sent as well.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ApplicationScope,
		Scopes: []mcpcore.PolicyScope{theApplication("applications whose emojis may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkAppEmojiArguments}}, Redact: []string{"image"},
		Reads: append(slices.Clone(applicationRoutes), routeAppEmojis), Write: []string{routeAppEmojiCreate, routeAppEmojiEdit, routeAppEmojiDelete},
		Plan: planAppEmoji,
		Targets: func(in appEmojiChange, _ appEmojiState) []mcpcore.Target {
			return []mcpcore.Target{allOf("emojis", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in appEmojiChange, _ appEmojiState) (done mcpcore.Written, err error) {
			var e appEmoji
			switch at := in.path(); in.Action {
			case "create":
				err = w.send(ctx, routeAppEmojiCreate, at, appEmojiBody{in.Name, in.Image}, &e)
			case "rename":
				at["emoji_id"] = string(in.ID)
				err = w.send(ctx, routeAppEmojiEdit, at, appEmojiBody{Name: in.Name}, &e)
			default:
				at["emoji_id"] = string(in.ID)
				return mcpcore.Written{ID: string(in.ID)}, w.send(ctx, routeAppEmojiDelete, at, nil, nil)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(e.ID); err == nil && (in.ID != "" && e.ID != in.ID || e.Managed || !e.Colons) {
				err = errors.New("the answer is of another emoji than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in appEmojiChange, s appEmojiState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			list, err := r.appEmojis(ctx, in.path())
			if err != nil {
				return found, err
			}
			now, others := pickAppEmoji(list, discord.EmojiID(w.ID))
			if (now == nil) != (in.Action == "delete") {
				return found, errors.New("the emoji is there where it should not be, or is not there")
			}
			var d drift
			d.unless(now == nil || now.Name == s.Name, "name")
			d.unless(others == s.Others, "others")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// checkAppEmojiArguments refuses arguments that do not go with the action.
func checkAppEmojiArguments(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	switch {
	case (action == "create") == c.Has("emojiId"):
		return issue("emojiId", "is needed with rename and delete, and does not go with create")
	case (action == "delete") == c.Has("name"):
		return issue("name", "is needed with create and rename, and does not go with delete")
	case (action == "create") != c.Has("image"):
		return issue("image", "is needed with create, and does not go with another action")
	case action == "delete" && !argument[bool](c, "acknowledgeGlobalImpact"):
		return issue("acknowledgeGlobalImpact", "must be true with delete")
	}
	return nil
}

func planAppEmoji(ctx context.Context, r *reads, in appEmojiChange) (plan mcpcore.Change[appEmojiState], err error) {
	s := appEmojiState{Name: in.Name, Limit: appEmojis}
	if s.Application, _, err = r.application(ctx, in.ApplicationID); err != nil {
		return plan, err
	}
	list, err := r.appEmojis(ctx, in.path())
	if err != nil {
		return plan, err
	}
	s.Now, s.Others = pickAppEmoji(list, in.ID)
	s.Count = len(list)
	switch {
	case in.Action != "create" && s.Now == nil:
		return plan, refused("emoji-missing", "the application has no emoji %s", in.ID)
	case s.Now != nil && (s.Now.Managed || !s.Now.Colons):
		return plan, refused("managed", "the emoji is not one that is written between colons and kept by the application itself")
	case in.Action != "delete" && slices.ContainsFunc(list, func(e appEmoji) bool { return e.ID != in.ID && e.Name == in.Name }):
		return plan, refused("name-taken", "the application has another emoji :%s:", in.Name)
	}
	plan.Action = in.Action
	switch in.Action {
	case "create":
		plan.Facts = mcpcore.Facts{{Name: "new emoji", Value: ":" + in.Name + ":"}}
		if _, err := joining[appEmojiState, discord.EmojiID](&plan, "emojis", nil, s.Count, s.Limit); err != nil {
			return plan, err
		}
		data, err := picture(in.Image, emojiBytes, "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
		if err != nil {
			return plan, err
		}
		s.File = digest(data)
	case "rename":
		setting(&plan, field{"emoji", ":" + s.Now.Name + ":", ":" + in.Name + ":"})
	default:
		plan.Facts, plan.Risks = mcpcore.Facts{{Name: "emoji", Value: ":" + s.Now.Name + ":"}}, []string{"irreversible", "global"}
		plan.Warnings = []string{"Where it was used cannot be told."}
	}
	plan.State = s
	return plan, nil
}

// appEmojis reads all emojis of the application, by id.
func (r *reads) appEmojis(ctx context.Context, of path) ([]appEmoji, error) {
	var list struct {
		Items []appEmoji `json:"items"`
	}
	if err := r.get(ctx, routeAppEmojis, of, &list); err != nil {
		return nil, err
	}
	if list.Items == nil || len(list.Items) > appEmojis || slices.ContainsFunc(list.Items, func(e appEmoji) bool { return e.ID == "" || e.Name == "" }) {
		return nil, incomplete("the emojis of the application")
	}
	slices.SortFunc(list.Items, func(a, b appEmoji) int { return discord.CompareIDs(a.ID, b.ID) })
	return list.Items, nil
}

// pickAppEmoji is the emoji of an id, and a digest of the others.
func pickAppEmoji(all []appEmoji, id discord.EmojiID) (one *appEmoji, others string) {
	one, rest := apart(all, func(e appEmoji) bool { return e.ID == id })
	return one, snapshot(rest)
}
