package discordtools

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Lookup tells whoever decides about a call what its identifiers name, and how
// its target is now. It only reads, and what it cannot read it leaves out. It is
// safe for concurrent use. Make one with [NewLookup].
type Lookup struct{ rest REST }

// NewLookup reads over rest.
func NewLookup(rest REST) *Lookup { return &Lookup{rest} }

// maxLookups is how many identifiers of one call are looked up.
const maxLookups = 12

// Names are the names of a call's identifiers by their Path. They come from
// Discord and are not to be trusted.
func (l *Lookup) Names(ctx context.Context, ids []mcpcore.ID) map[string]string {
	names := map[string]string{}
	for i, id := range ids {
		if i == maxLookups || ctx.Err() != nil {
			break
		}
		if name := l.name(ctx, id, ids); name != "" {
			names[id.Path] = name
		}
	}
	return names
}

// called is what most of Discord's objects are called by.
type called struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (l *Lookup) name(ctx context.Context, id mcpcore.ID, all []mcpcore.ID) string {
	var one called
	guild, channel := valueOf(all, discord.KindGuild), valueOf(all, discord.KindChannel)
	switch id.Kind {
	case discord.KindGuild:
		l.read(ctx, routeGuild, map[string]string{"guild_id": id.Value}, &one)
	case discord.KindChannel:
		if l.read(ctx, routeChannel, map[string]string{"channel_id": id.Value}, &one); one.Name != "" {
			return "#" + one.Name
		}
	case discord.KindUser:
		var p person
		if l.read(ctx, routeUser, map[string]string{"user_id": id.Value}, &p); p.Username != "" {
			return p.String()
		}
	case discord.KindRole:
		var roles []called
		if guild != "" {
			l.read(ctx, routeRoles, map[string]string{"guild_id": guild}, &roles)
		}
		for _, r := range roles {
			if r.ID == id.Value {
				return "@" + strings.TrimPrefix(r.Name, "@")
			}
		}
	case discord.KindMessage:
		var m struct {
			Author  person `json:"author"`
			Content string `json:"content"`
		}
		if channel == "" {
			break
		}
		if l.read(ctx, routeMessage, map[string]string{"channel_id": channel, "message_id": id.Value}, &m); m.Author.Username != "" {
			return "by " + m.Author.String() + ": " + cmp.Or(excerpt(m.Content), "(no text)")
		}
	case discord.KindWebhook:
		l.read(ctx, "GET /webhooks/{webhook_id}", map[string]string{"webhook_id": id.Value}, &one)
	case discord.KindEvent:
		if guild != "" {
			l.read(ctx, "GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", map[string]string{"guild_id": guild, "guild_scheduled_event_id": id.Value}, &one)
		}
	case discord.KindEmoji:
		if guild != "" {
			l.read(ctx, "GET /guilds/{guild_id}/emojis/{emoji_id}", map[string]string{"guild_id": guild, "emoji_id": id.Value}, &one)
		}
	}
	return one.Name
}

// valueOf is the first identifier of the kind.
func valueOf(ids []mcpcore.ID, kind discord.Kind) string {
	for _, id := range ids {
		if id.Kind == kind {
			return id.Value
		}
	}
	return ""
}

// Current is how the target of a call that changes one is now, as Discord tells
// it: nil where the call's routes name none.
func (l *Lookup) Current(ctx context.Context, routes []string, ids []mcpcore.ID) map[string]json.RawMessage {
	for _, route := range routes {
		method, template, _ := strings.Cut(route, " ")
		if method != "PATCH" {
			continue
		}
		path := map[string]string{}
		for _, name := range templateNames(template) {
			for _, id := range ids {
				if id.Path == name {
					path[name] = id.Value
				}
			}
			if path[name] == "" {
				return nil
			}
		}
		var now map[string]json.RawMessage
		l.read(ctx, "GET "+template, path, &now)
		return now
	}
	return nil
}

// read fills out, or leaves it alone: what is not known is not shown.
func (l *Lookup) read(ctx context.Context, route string, path map[string]string, out any) {
	_ = get(ctx, l.rest, route, path, out)
}
