package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type templateInspected struct {
	Template  templateFields `json:"template"`
	Blueprint templateCounts `json:"blueprint"`
	templateText
	remarks
}

// templateCounts counts what a template holds.
type templateCounts struct {
	Channels   int           `json:"channel_count"`
	Categories int           `json:"category_count"`
	Text       int           `json:"text_channel_count"`
	Voice      int           `json:"voice_channel_count"`
	Forum      int           `json:"forum_channel_count"`
	Stage      int           `json:"stage_channel_count"`
	Other      int           `json:"other_channel_count"`
	NSFW       int           `json:"nsfw_channel_count"`
	Overwrites int           `json:"permission_overwrite_count"`
	Roles      int           `json:"role_count"`
	Privileged int           `json:"privileged_role_count"`
	Risky      []riskySignal `json:"risky_permission_signals"`
}

type riskySignal struct {
	Permission string `json:"permission"`
	Roles      int    `json:"role_count"`
}

// risky are the permissions that a look at a template points out, in the order
// of reports.
var risky = []discord.Permissions{
	discord.Administrator, discord.ManageGuild, discord.ManageRoles, discord.ManageChannels, discord.ManageWebhooks,
	discord.KickMembers, discord.BanMembers, discord.MentionEveryone,
}

func inspectTemplate(ctx context.Context, a *api, _ templateRef) (v templateInspected, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	t, err := a.template(reply)
	if err != nil {
		return v, err
	}
	v.Template, v.Blueprint = t.templateFields, t.Guild.count()
	texts, left := t.partly(false)
	v.remarks = left
	v.speak(struct {
		templateFields
		Blueprint templateCounts `json:"blueprint"`
	}{v.Template, v.Blueprint}, texts)
	return v, nil
}

func (g templateGuild) count() templateCounts {
	b := templateCounts{Channels: len(g.Channels), Roles: len(g.Roles)}
	for _, c := range g.Channels {
		b.Overwrites += len(c.Overwrites)
		if c.NSFW {
			b.NSFW++
		}
		switch c.Type {
		case discord.GuildText:
			b.Text++
		case discord.GuildVoice:
			b.Voice++
		case discord.GuildCategory:
			b.Categories++
		case discord.GuildStageVoice:
			b.Stage++
		case discord.GuildForum:
			b.Forum++
		default:
			b.Other++
		}
	}
	held := make([]discord.Permissions, len(g.Roles))
	for i, r := range g.Roles {
		held[i], _ = r.Permissions.Permissions() // what is no set gives nothing
		for _, p := range risky {
			if held[i].Has(p) {
				b.Privileged++
				break
			}
		}
	}
	for _, p := range risky {
		s := riskySignal{Permission: p.String()}
		for _, h := range held {
			if h.Has(p) {
				s.Roles++
			}
		}
		if s.Roles > 0 {
			b.Risky = append(b.Risky, s)
		}
	}
	return b
}
