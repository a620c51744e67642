package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeTemplates      = "GET /guilds/{guild_id}/templates"
	routeTemplateCreate = "POST /guilds/{guild_id}/templates"
	routeTemplateSync   = "PUT /guilds/{guild_id}/templates/{code}"
	routeTemplateEdit   = "PATCH /guilds/{guild_id}/templates/{code}"
	routeTemplateDelete = "DELETE /guilds/{guild_id}/templates/{code}"

	// guildTemplates is how many a guild can have.
	//
	// Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json,
	// error 30031.
	guildTemplates = 1
)

type templateChange struct {
	GuildID     discord.GuildID `json:"guildId" jsonschema:"guild of the template"`
	Action      string          `json:"action" jsonschema:"synchronize makes it hold what the guild is now" enum:"create,synchronize,metadata-update,delete"`
	Template    string          `json:"template,omitempty" jsonschema:"reference of list_guild_templates, but for create" pattern:"^template_[0-9a-f]{32}$"`
	Name        string          `json:"name,omitempty" jsonschema:"with create and metadata-update" minLength:"1" maxLength:"100" pattern:"^\\S(.*\\S)?$"`
	Description *string         `json:"description,omitempty" jsonschema:"with create and metadata-update; null for none" minLength:"1" maxLength:"120" pattern:"^\\S([\\s\\S]*\\S)?$"`
	reason
}

type templateState struct {
	Guild      guildSeen     `json:"guild"`
	Permission evidence      `json:"permission"`
	Now        *templateSeen `json:"current" jsonschema:"null with create"`
	Name       string        `json:"name" jsonschema:"as wanted"`
	About      string        `json:"description" jsonschema:"as wanted; empty for none"`
	Changed    []string      `json:"changedFields"`
	Count      int           `json:"guildTemplates"`
	Others     string        `json:"otherTemplates" jsonschema:"digest of all other templates"`
	Channels   int           `json:"channels" jsonschema:"how many the guild has, with create and synchronize"`
	Layout     string        `json:"layout" jsonschema:"digest of how they stand"`

	Code string `json:"-"` // for the request alone
}

// templateSeen is a template without its code, with which whoever has it can read
// it and make guilds from it.
type templateSeen struct {
	Reference   string         `json:"template" jsonschema:"opaque; plan_guild_template_change and execute_guild_template_change take it"`
	Name        string         `json:"name"`
	Description string         `json:"description" jsonschema:"empty for none"`
	Creator     discord.UserID `json:"creatorId"`
	Created     string         `json:"createdAt"`
	Updated     string         `json:"updatedAt"`
	Dirty       *bool          `json:"unsynchronized" jsonschema:"whether the guild is otherwise now; null where Discord does not say"`
	Channels    int            `json:"channels" jsonschema:"how many it holds"`
	Roles       int            `json:"roles" jsonschema:"how many it holds"`
	Content     string         `json:"content" jsonschema:"digest of all that it holds"`
}

type templateListed struct {
	templateSeen
	Uses int `json:"uses"`
}

type templatesListed struct {
	GuildID   discord.GuildID  `json:"guildId"`
	Templates []templateListed `json:"templates"`
}

// templateWire is a template as Discord tells it to those who manage the guild.
type templateWire struct {
	Code        string          `json:"code"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Uses        int             `json:"usage_count"`
	Creator     discord.UserID  `json:"creator_id"`
	Created     string          `json:"created_at"`
	Updated     string          `json:"updated_at"`
	Source      discord.GuildID `json:"source_guild_id"`
	Content     json.RawMessage `json:"serialized_source_guild"`
	Dirty       *bool           `json:"is_dirty"`
}

// templateBody is what is sent of a template.
type templateBody struct {
	Name        string          `json:"name,omitempty"`
	Description json.RawMessage `json:"description,omitempty"`
}

// guildTemplateChange makes, synchronizes, renames or deletes a guild's template.
func guildTemplateChange(rest discordtools.REST) mcpcore.Workflow {
	return change[templateChange, templateState]{
		Name: "guild-template-change", Category: "guild-templates", Title: "Change a guild's template",
		Doc: `Makes a template of a guild, makes it hold what the guild is now, changes its name and description, or deletes it. It is named by
			the reference that list_guild_templates gives it; its code is told nowhere. The reason is not sent: Discord takes none here.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose templates may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkTemplateArguments}},
		Companions: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "list_guild_templates", Title: "List a guild's templates", Category: "guild-templates",
			Doc:   "Lists the templates of a guild by references that are of use for plan_guild_template_change alone, with what they hold as counts: the codes are not told.",
			Scope: mcpcore.GuildScope, Needs: discord.ManageGuild, Routes: []string{routeTemplates},
		}, listTemplates)},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeTemplates),
		Write: []string{routeTemplateCreate, routeTemplateSync, routeTemplateEdit, routeTemplateDelete},
		Plan:  planTemplate,
		Targets: func(in templateChange, _ templateState) []mcpcore.Target {
			return []mcpcore.Target{all("templates", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in templateChange, s templateState) (done mcpcore.Written, err error) {
			at, route, body := inGuild(in.GuildID), routeTemplateCreate, any(s.body(in.Action))
			if in.Action != "create" {
				at["code"] = s.Code
			}
			switch in.Action {
			case "synchronize":
				route, body = routeTemplateSync, nil
			case "metadata-update":
				route = routeTemplateEdit
			case "delete":
				route, body = routeTemplateDelete, nil
			}
			var got templateWire
			if err := w.sendWith(ctx, route, discordtools.Request{Path: at}, body, &got); err != nil {
				return done, err
			}
			if got.check(in.GuildID) != nil || s.Code != "" && got.Code != s.Code || in.Action != "delete" && !s.named(&got) {
				err = errors.New("the answer is of another template than was asked for")
			}
			return mcpcore.Written{ID: in.Template}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in templateChange, s templateState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			list, err := r.templates(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			now, others := s.pick(r.Call, in, list)
			if err := s.reached(in.Action, now, others); err != nil || now == nil {
				return found, err
			}
			return mcpcore.Reading{ID: now.seen(r.Call).Reference}, nil
		},
	}.on(rest)
}

// checkTemplateArguments refuses arguments that do not go with the action.
func checkTemplateArguments(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	words := c.Has("name") || c.Has("description")
	switch {
	case (action == "create") == c.Has("template"):
		return issue("template", "is needed, or does not go, with the action %s", action)
	case action == "create" && !c.Has("name"):
		return issue("name", "is needed with the action %s", action)
	case action == "metadata-update" && !words:
		return issue("name", "or description is needed with the action %s", action)
	case (action == "synchronize" || action == "delete") && words:
		return issue("name", "and description do not go with the action %s", action)
	}
	return nil
}

func planTemplate(ctx context.Context, r *reads, in templateChange) (plan mcpcore.Change[templateState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	list, err := r.templates(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := templateState{Guild: bot.Guild, Permission: bot.evidence(), Count: len(list), Name: in.Name}
	plan = mcpcore.Change[templateState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	var now *templateWire
	now, s.Others = s.pick(r.Call, in, list)
	switch {
	case in.Action == "create":
		s.Others = snapshotTemplates(r.Call, list)
		if _, err := joining(&plan, "templates", []string(nil), len(list), guildTemplates); err != nil {
			return plan, err
		}
	case now == nil:
		return plan, refused("template-missing", "the guild has no template of that reference; list_guild_templates tells those that it has")
	default:
		seen := now.seen(r.Call)
		s.Now, s.Code, s.Name, s.About = &seen, now.Code, seen.Name, seen.Description
		plan.Unbound = mcpcore.Facts{{Name: "guilds made from it", Value: strconv.Itoa(now.Uses)}}
	}
	if in.Action == "create" || in.Action == "synchronize" {
		if err := s.measure(ctx, r, &bot); err != nil {
			return plan, err
		}
	}
	s.plan(&plan, in, r.Call.Has, len(bot.Roles))
	plan.State = s
	return plan, nil
}

// measure counts what a template of the guild would hold, which must be known
// completely.
func (s *templateState) measure(ctx context.Context, r *reads, bot *standing) error {
	channels, err := r.channels(ctx, bot.Guild.ID)
	if err != nil {
		return err
	}
	for _, c := range channels {
		if _, err := bot.in(c); err != nil {
			return err
		}
	}
	s.Channels, s.Layout = len(channels), snapshot(channels)
	return nil
}

// plan says what becomes of the template.
func (s *templateState) plan(plan *mcpcore.Change[templateState], in templateChange, given func(string) bool, roles int) {
	was := templateSeen{}
	if s.Now != nil {
		was = *s.Now
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "template", Value: inQuotes(was.Name)},
			mcpcore.Fact{Name: "it holds", Value: fmt.Sprintf("%d channels, %d roles", was.Channels, was.Roles)}, mcpcore.Fact{Name: "made by", Value: string(was.Creator)})
	}
	switch in.Action {
	case "create", "metadata-update":
		if given("name") {
			s.Name = in.Name
		}
		if given("description") {
			s.About = ""
			set(&s.About, in.Description)
		}
		s.Changed = setting(plan, field{"name", inQuotes(was.Name), inQuotes(s.Name)}, field{"description", inQuotes(was.Description), inQuotes(s.About)})
	case "synchronize":
		if was.Dirty != nil && !*was.Dirty {
			nothing(plan)
		}
	case "delete":
		plan.Risks = []string{"irreversible"}
		plan.Warnings = []string{"Its link works no more, wherever it was posted. Guilds that were made from it stay."}
	}
	if s.Layout != "" {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "the guild has", Value: fmt.Sprintf("%d channels, %d roles", s.Channels, roles)})
		plan.Warnings = []string{"Whoever has the template's link can read the names and permissions of all these channels and roles, hidden ones too."}
	}
}

// body is what is sent of the template.
func (s *templateState) body(action string) (b templateBody) {
	if action == "create" || slices.Contains(s.Changed, "name") {
		b.Name = s.Name
	}
	if slices.Contains(s.Changed, "description") {
		b.Description = orNull(s.About)
	}
	return b
}

// pick is the template that is meant, nil for none, and a digest of all others.
// With create it is the only one that there is.
func (s *templateState) pick(c *mcpcore.Call, in templateChange, list []templateWire) (one *templateWire, others string) {
	left := []templateWire{}
	for _, t := range list {
		if in.Action == "create" && len(list) == 1 || t.seen(c).Reference == in.Template {
			one = &t
		} else {
			left = append(left, t)
		}
	}
	return one, snapshotTemplates(c, left)
}

// snapshotTemplates is a digest of templates without whether the guild has
// changed since.
func snapshotTemplates(c *mcpcore.Call, list []templateWire) string {
	all := []templateSeen{}
	for _, t := range list {
		seen := t.seen(c)
		seen.Dirty = nil
		all = append(all, seen)
	}
	slices.SortFunc(all, func(a, b templateSeen) int { return strings.Compare(a.Reference, b.Reference) })
	return snapshot(all)
}

// reached is nil where the templates are exactly what the plan makes of them.
func (s *templateState) reached(action string, now *templateWire, others string) error {
	switch {
	case others != s.Others:
		return errors.New("another template is not as it was")
	case action == "delete" && now != nil:
		return errors.New("the template is still there")
	case action == "delete":
		return nil
	case now == nil:
		return errors.New("the template is not there")
	case !s.named(now), action == "create" && now.Creator != s.Permission.Bot, s.Now != nil && (now.Creator != s.Now.Creator || now.Created != s.Now.Created),
		action == "metadata-update" && snapshot(now.Content) != s.Now.Content, action == "synchronize" && now.Dirty != nil && *now.Dirty:
		return errors.New("the template is not as it was wanted")
	}
	return nil
}

// named reports whether a template has the name and the description that are
// wanted.
func (s *templateState) named(t *templateWire) bool {
	about := ""
	set(&about, t.Description)
	return t.Name == s.Name && about == s.About
}

func listTemplates(ctx context.Context, r *reads, in guildOnly) (all templatesListed, err error) {
	list, err := r.templates(ctx, in.GuildID)
	all = templatesListed{in.GuildID, []templateListed{}}
	for _, t := range list {
		all.Templates = append(all.Templates, templateListed{t.seen(r.Call), t.Uses})
	}
	return all, err
}

// templates reads all templates of the guild.
func (r *reads) templates(ctx context.Context, guild discord.GuildID) (list []templateWire, err error) {
	if err := r.get(ctx, routeTemplates, inGuild(guild), &list); err != nil {
		return nil, err
	}
	for _, t := range list {
		if err := t.check(guild); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// check refuses what is no template of the guild.
func (t *templateWire) check(guild discord.GuildID) error {
	if t.Source != guild || t.Code == "" || t.Name == "" || len(t.Content) == 0 {
		return incomplete("the templates of the guild")
	}
	return nil
}

// seen is the template as it may be told.
func (t *templateWire) seen(c *mcpcore.Call) templateSeen {
	s := templateSeen{
		Reference: c.Reference("template", t.Code), Name: t.Name, Creator: t.Creator, Created: t.Created, Updated: t.Updated, Dirty: t.Dirty, Content: snapshot(t.Content),
	}
	set(&s.Description, t.Description)
	var holds struct {
		Channels []json.RawMessage `json:"channels"`
		Roles    []json.RawMessage `json:"roles"`
	}
	if json.Unmarshal(t.Content, &holds) == nil {
		s.Channels, s.Roles = len(holds.Channels), len(holds.Roles)
	}
	return s
}
