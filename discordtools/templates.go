package discordtools

import (
	"context"
	"fmt"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// templates makes, reads and compares guild templates: snapshots of roles,
// channels and settings that new guilds are made from.
//
// Source: https://docs.discord.com/developers/resources/guild-template.
func templates() category {
	return category{Name: "templates", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[templatesCreate, templateSaved]{
			Name:  "templates_create",
			Title: "Create a template",
			Doc: `Makes a template of the guild as it is now: roles, channels, settings; no messages, no
				members. A guild has one; to renew it use templates_sync. Whoever has the code can read it.`,
			Route: "POST /guilds/{guild_id}/templates",
			Needs: discord.ManageGuild,
			Run:   saveTemplate[templatesCreate],
		},
		destroy[templateTarget, templateDeleted]{
			Name:  "templates_delete",
			Title: "Delete a template",
			Doc:   `Deletes a guild's template for good: its link stops working. Guilds made from it stay.`,
			Route: "DELETE /guilds/{guild_id}/templates/{code}",
			Calls: []string{routeTemplate},
			Needs: discord.ManageGuild,
			Facts: templateFacts,
			Run: func(ctx context.Context, a *api, in templateTarget) (v templateDeleted, err error) {
				v.templateSaved, err = saveTemplate(ctx, a, in)
				v.Deleted = err == nil
				return v, err
			},
		},
		read[templatesDiff, templateCompared]{
			Name:  "templates_diff",
			Title: "Compare a template with its guild",
			Doc: `Compares a template with the guild as it is now and tells whether templates_sync would
				change it. The guild is read only if the template is of it.`,
			Route:   routeTemplate,
			Calls:   []string{routeGuildChannels, routeRoles},
			Crosses: true,
			Run:     compareTemplate,
		},
		read[templatesGet, templateWhole]{
			Name:  "templates_get",
			Title: "Get a template",
			Doc: `Reads a template by its code with all it holds. Ids within are numbers of the snapshot's
				own. For counts alone use templates_inspect.`,
			Route: routeTemplate,
			Scope: mcpcore.GlobalScope,
			Run:   getTemplate,
		},
		read[templateRef, templateInspected]{
			Name:  "templates_inspect",
			Title: "Inspect a template",
			Doc: `Counts what a template holds, and how many of its roles have risky permissions. Look
				before a guild is made from it.`,
			Route: routeTemplate,
			Scope: mcpcore.GlobalScope,
			Run:   inspectTemplate,
		},
		read[guildRef, templatesAll]{
			Name:  "templates_list",
			Title: "List templates",
			Doc:   `Lists a guild's templates, one at most. is_dirty tells that the guild has changed since.`,
			Route: "GET /guilds/{guild_id}/templates",
			Needs: discord.ManageGuild,
			Fence: fence.Template,
		},
		read[wish, templateRecommended]{
			Name:  "templates_recommend",
			Title: "Recommend templates",
			Doc: `Ranks the operator's catalogue of templates and the codes you name for a request, and looks
				at the best at Discord. Of a template its structure counts; its permissions are never taken over.`,
			Calls: []string{routeTemplate},
			Scope: mcpcore.GlobalScope,
			Run:   recommendTemplates,
			Fence: fence.Template,
		},
		write[templatesModify, templateSaved]{
			Name:       "templates_modify",
			Title:      "Rename a template",
			Doc:        `Changes a template's name or description, not what it holds: for that use templates_sync.`,
			Route:      "PATCH /guilds/{guild_id}/templates/{code}",
			Repeatable: true,
			Needs:      discord.ManageGuild,
			Rules:      []mcpcore.Rule{anyGiven("name", "description")},
			Run:        saveTemplate[templatesModify],
		},
		write[templateTarget, templateSaved]{
			Name:  "templates_sync",
			Title: "Sync a template",
			Doc:   `Takes the guild as it is now into its template; what the template held before is gone. templates_diff shows what would change.`,
			Route: "PUT /guilds/{guild_id}/templates/{code}",
			Needs: discord.ManageGuild,
			Run:   saveTemplate[templateTarget],
		},
	}}
}

const (
	routeTemplate   = "GET /guilds/templates/{code}"
	templateAddress = "https://discord.new/"
)

// templateRef is a template by its code.
type templateRef struct {
	Code discord.TemplateCode `json:"template_code" wire:"code" jsonschema:"what follows discord.new/" minLength:"1" maxLength:"100" pattern:"^[a-zA-Z0-9_-]+$"`
}

type templateTarget struct {
	guildRef
	templateRef
	auditReason
}

type templatesCreate struct {
	guildRef
	Name        string  `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	Description *string `json:"description,omitempty" jsonschema:"what it is for" maxLength:"120"`
	auditReason
}

type templatesModify struct {
	guildRef
	templateRef
	Name        string  `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"100"`
	Description *string `json:"description,omitempty" jsonschema:"new description; null for none" maxLength:"120"`
	auditReason
}

type templatesGet struct {
	Code discord.TemplateCode `json:"template_code" wire:"code" as:"template" jsonschema:"the code, or https://discord.new/ and the code" minLength:"1" maxLength:"200"`
	offset
}

type templatesDiff struct {
	GuildID discord.GuildID `json:"guild_id" in:"local" jsonschema:"guild to compare with"`
	templateRef
}

// templateFields are what every view of a template shows.
type templateFields struct {
	Code          string          `json:"code"`
	Name          string          `json:"name"`
	Description   *string         `json:"description"`
	UsageCount    int             `json:"usage_count" jsonschema:"guilds made from it"`
	CreatorID     discord.UserID  `json:"creator_id"`
	CreatedAt     string          `json:"created_at"`
	UpdatedAt     string          `json:"updated_at"`
	SourceGuildID discord.GuildID `json:"source_guild_id"`
	IsDirty       *bool           `json:"is_dirty" jsonschema:"the guild has changed since the last sync"`
	UseURL        string          `json:"use_url" from:"@derived"`
}

// templateGuild is what a template holds of its guild. Its ids are numbers
// within it.
type templateGuild struct {
	Name          string            `json:"name"`
	Description   *string           `json:"description,omitempty"`
	Locale        string            `json:"preferred_locale,omitempty"`
	Verification  int               `json:"verification_level"`
	Notifications int               `json:"default_message_notifications"`
	ContentFilter int               `json:"explicit_content_filter"`
	AFKChannel    string            `json:"afk_channel_id,omitempty"`
	AFKTimeout    int               `json:"afk_timeout,omitempty"`
	SystemChannel string            `json:"system_channel_id,omitempty"`
	SystemFlags   int               `json:"system_channel_flags,omitempty"`
	Roles         []templateRole    `json:"roles"`
	Channels      []templateChannel `json:"channels"`
}

type templateRole struct {
	ID          string                `json:"id"`
	Name        string                `json:"name"`
	Permissions discord.PermissionSet `json:"permissions"`
	Color       int                   `json:"color,omitempty"`
	Hoist       bool                  `json:"hoist,omitempty"`
	Mentionable bool                  `json:"mentionable,omitempty"`
	Emoji       string                `json:"unicode_emoji,omitempty"`
}

type templateChannel struct {
	ID            string              `json:"id"`
	Type          discord.ChannelType `json:"type"`
	Name          string              `json:"name"`
	ParentID      string              `json:"parent_id,omitempty"`
	Position      int                 `json:"position"`
	Topic         string              `json:"topic,omitempty"`
	NSFW          bool                `json:"nsfw,omitempty"`
	SlowMode      int                 `json:"rate_limit_per_user,omitempty"`
	Bitrate       int                 `json:"bitrate,omitempty"`
	UserLimit     int                 `json:"user_limit,omitempty"`
	ThreadArchive int                 `json:"default_auto_archive_duration,omitempty"`
	ThreadSlow    int                 `json:"default_thread_rate_limit_per_user,omitempty"`
	SortOrder     *int                `json:"default_sort_order,omitempty"`
	Layout        int                 `json:"default_forum_layout,omitempty"`
	Reaction      *emojiRef           `json:"default_reaction_emoji,omitempty"`
	Tags          []tagView           `json:"available_tags,omitempty"`
	Overwrites    []overwriteView     `json:"permission_overwrites,omitempty"`
}

// template is a template with what it holds.
type template struct {
	templateFields
	Guild templateGuild `json:"serialized_source_guild"`
}

// template reads the answer of a route that answers with one.
func (a *api) template(reply *Response) (t template, err error) {
	err = a.project(reply, &t)
	t.UseURL = templateAddress + t.Code
	for i := range t.Guild.Channels {
		if c := &t.Guild.Channels[i]; c.Type != discord.GuildVoice && c.Type != discord.GuildStageVoice {
			c.Bitrate = 0 // which Discord tells of every channel
		}
	}
	return t, err
}

// maxContents is how many bytes of JSON a view shows of what a template holds,
// twice where it shows a fenced copy as well.
const maxContents = 24 << 10

// part is what of the guild fits: all roles, and channels from the given one on.
// next is where to go on, 0 for the end.
func (g templateGuild) part(from int) (shown templateGuild, next int) {
	from = min(from, len(g.Channels))
	size := 0
	shown = g
	shown.Channels = nil
	for i, c := range g.Channels[from:] {
		b, err := canon.Marshal(c)
		if size += len(b); err != nil || size > maxContents && i > 0 {
			return shown, from + i
		}
		shown.Channels = append(shown.Channels, c)
	}
	return shown, 0
}

// contents are the texts of a template that people wrote, with what they name.
type contents struct {
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Guild       *templateGuild `json:"source_guild,omitempty"`
	Drift       *driftDetails  `json:"drift,omitempty"`
}

// templateText is the fenced copy of a template, and the text for clients that
// show no structured content.
type templateText struct {
	UntrustedText string `json:"untrusted_text" from:"@derived"`
	Spoken        string `json:"-"`
}

func (t *templateText) Text() string { return t.Spoken }

// speak writes both: the copy of the contents, and the text of facts of ours and
// the contents in one fence.
func (t *templateText) speak(facts any, c contents) {
	t.UntrustedText = fencedJSON(fence.Template, c)
	t.Spoken = fencedJSON(fence.Template, struct {
		Template any      `json:"template"`
		Contents contents `json:"contents"`
	}{facts, c})
}

// partly is the contents with as much of the guild as fits, and what is said of
// the rest. A deleted template cannot be read on.
func (t *template) partly(deleted bool) (c contents, left remarks) {
	shown, next := t.Guild.part(0)
	if next > 0 {
		said := fmt.Sprintf("Only %d of the template's %d channels are shown, for its size", next, len(t.Guild.Channels))
		if !deleted {
			said += fmt.Sprintf("; templates_get reads on with offset %d", next)
		}
		left.Warnings = []string{said}
	}
	return contents{Name: t.Name, Description: t.Description, Guild: &shown}, left
}

type templateSaved struct {
	Template templateFields `json:"template" from:"@reply"`
	templateText
	remarks
}

// saveTemplate sends the call and shows the template that Discord answers with.
func saveTemplate[In any](ctx context.Context, a *api, _ In) (v templateSaved, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	t, err := a.template(reply)
	if err != nil {
		return v, err
	}
	v.Template = t.templateFields
	texts, left := t.partly(a.call.Tool().Effect == mcpcore.Destroy)
	v.remarks = left
	v.speak(v.Template, texts)
	return v, nil
}

type templateDeleted struct {
	Deleted bool `json:"deleted"`
	templateSaved
}

type templatesAll struct {
	Templates     []templateFields `json:"templates" from:"@reply"`
	Count         int              `json:"count" from:"@count"`
	UntrustedText string           `json:"untrusted_text" from:"@derived"`
}

func (v *templatesAll) derive(*mcpcore.Call) {
	texts := []contents{}
	for i := range v.Templates {
		t := &v.Templates[i]
		t.UseURL = templateAddress + t.Code
		texts = append(texts, contents{Name: t.Name, Description: t.Description})
	}
	v.UntrustedText = fencedJSON(fence.Template, texts)
}

type templateWhole struct {
	Template    templateFields `json:"template"`
	SourceGuild templateGuild  `json:"source_guild"`
	Channels    int            `json:"channel_count"`
	NextOffset  int            `json:"next_offset,omitempty" jsonschema:"more channels follow; go on with offset"`
	templateText
}

func getTemplate(ctx context.Context, a *api, in templatesGet) (v templateWhole, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	t, err := a.template(reply)
	if err != nil {
		return v, err
	}
	v.Template, v.Channels = t.templateFields, len(t.Guild.Channels)
	v.SourceGuild, v.NextOffset = t.Guild.part(in.Offset)
	v.speak(struct {
		templateFields
		Channels   int `json:"channel_count"`
		NextOffset int `json:"next_offset,omitempty"`
	}{v.Template, v.Channels, v.NextOffset}, contents{t.Name, t.Description, &v.SourceGuild, nil})
	return v, nil
}

func templateFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var t struct {
		Name     string          `json:"name"`
		Uses     int             `json:"usage_count"`
		Creator  person          `json:"creator"`
		Created  string          `json:"created_at"`
		Guild    discord.GuildID `json:"source_guild_id"`
		Snapshot struct {
			Name     string     `json:"name"`
			Roles    []struct{} `json:"roles"`
			Channels []struct{} `json:"channels"`
		} `json:"serialized_source_guild"`
	}
	if err := a.do(ctx, routeTemplate, sub{Path: map[string]string{"code": a.call.Text("template_code")}}, &t); err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "template", Value: t.Name}, {Name: "of the guild", Value: t.Snapshot.Name + " (" + string(t.Guild) + ")"},
		{Name: "holds", Value: strconv.Itoa(len(t.Snapshot.Channels)) + " channels, " + strconv.Itoa(len(t.Snapshot.Roles)) + " roles"},
		{Name: "guilds made from it", Value: strconv.Itoa(t.Uses)}, {Name: "made by", Value: t.Creator.String()}, {Name: "made", Value: t.Created},
	}, nil
}
