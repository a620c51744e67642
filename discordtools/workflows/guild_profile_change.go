package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type profileChange struct {
	GuildID     discord.GuildID `json:"guildId" jsonschema:"guild to change"`
	Name        string          `json:"name,omitempty" jsonschema:"new name" minLength:"2" maxLength:"100" pattern:"^\\S.*\\S$"`
	Description *string         `json:"description,omitempty" jsonschema:"new description; null for none" minLength:"1" maxLength:"120" pattern:"^\\S([\\s\\S]*\\S)?$"`
	reason
}

// guildProfile is what a guild says of itself.
type guildProfile struct {
	Name        string   `json:"name"`
	Description string   `json:"description" jsonschema:"empty for none"`
	Media       []string `json:"media" jsonschema:"the pictures that it has, which stay as they are"`
}

type profileState struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	Now        guildProfile `json:"current"`
	Wanted     guildProfile `json:"wanted"`
	Requested  []string     `json:"requestedFields"`
	Changed    []string     `json:"changedFields"`
}

// profileWire is a profile as Discord tells it.
type profileWire struct {
	ID              discord.GuildID `json:"id"`
	Name            string          `json:"name"`
	Description     *string         `json:"description"`
	Icon            *string         `json:"icon"`
	Banner          *string         `json:"banner"`
	Splash          *string         `json:"splash"`
	DiscoverySplash *string         `json:"discovery_splash"`
	HomeHeader      *string         `json:"home_header"`
}

type profileBody struct {
	Name        string          `json:"name,omitempty"`
	Description json.RawMessage `json:"description,omitempty"`
}

// guildProfileChange changes a guild's name, its description, or both.
func guildProfileChange(rest discordtools.REST) mcpcore.Workflow {
	return change[profileChange, profileState]{
		Name: "guild-profile-change", Category: "guild-profile", Title: "Change a guild's name and description",
		Doc:    `Changes a guild's name, its description, or both; what is not given stays, and its pictures do.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose name and description may be changed")},
		Rules:  []mcpcore.Rule{someOf("name", "description")},
		Reads:  standingRoutes, Write: []string{routeGuildEdit},
		Plan: func(ctx context.Context, r *reads, in profileChange) (plan mcpcore.Change[profileState], err error) {
			bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
			if err != nil {
				return plan, err
			}
			s := profileState{Guild: bot.Guild, Permission: bot.evidence(), Requested: givenOf(r.Call, "name", "description")}
			if s.Now, err = r.profile(ctx, in.GuildID); err != nil {
				return plan, err
			}
			s.Wanted = in.onto(s.Now, r.Call.Has)
			plan = mcpcore.Change[profileState]{Action: "change", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
			s.Changed = setting(&plan,
				field{"name", inQuotes(s.Now.Name), inQuotes(s.Wanted.Name)}, field{"description", inQuotes(s.Now.Description), inQuotes(s.Wanted.Description)})
			plan.State = s
			return plan, nil
		},
		Targets: func(in profileChange, _ profileState) []mcpcore.Target {
			return []mcpcore.Target{all("guild-settings", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in profileChange, s profileState) (done mcpcore.Written, err error) {
			var g profileWire
			if err := w.send(ctx, routeGuildEdit, inGuild(in.GuildID), s.body(), &g); err != nil {
				return done, err
			}
			if g.ID != in.GuildID || g.profile().differ(s.Wanted) != nil {
				return done, errors.New("the answer is not the profile that was asked for")
			}
			return mcpcore.Written{ID: string(g.ID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in profileChange, s profileState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.profile(ctx, in.GuildID)
			return mcpcore.Reading{Drift: now.differ(s.Wanted)}, err
		},
	}.on(rest)
}

// givenOf are those of the arguments that the call has; null counts.
func givenOf(c *mcpcore.Call, names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !c.Has(n) })
}

// inQuotes is a text in quotes, for people, so that none is not taken for the word.
func inQuotes(text string) string {
	if text == "" {
		return "none"
	}
	return strconv.Quote(text)
}

// orNone is what names itself, for people, where there can be none.
func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// onto is the profile with what was given.
func (in profileChange) onto(p guildProfile, given func(string) bool) guildProfile {
	if given("name") {
		p.Name = in.Name
	}
	if given("description") {
		p.Description = ""
		set(&p.Description, in.Description)
	}
	return p
}

// profile reads what a guild says of itself.
func (r *reads) profile(ctx context.Context, guild discord.GuildID) (p guildProfile, err error) {
	var g profileWire
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return p, err
	}
	if g.ID != guild || g.Name == "" {
		return p, incomplete("the profile of the guild")
	}
	return g.profile(), nil
}

func (g *profileWire) profile() guildProfile {
	p := guildProfile{Name: g.Name, Media: []string{}}
	set(&p.Description, g.Description)
	for _, m := range []struct {
		name string
		hash *string
	}{{"icon", g.Icon}, {"banner", g.Banner}, {"splash", g.Splash}, {"discoverySplash", g.DiscoverySplash}, {"homeHeader", g.HomeHeader}} {
		if m.hash != nil {
			p.Media = append(p.Media, m.name)
		}
	}
	return p
}

// differ are the fields in which two profiles are not the same.
func (p guildProfile) differ(other guildProfile) []string {
	var d drift
	d.unless(p.Name == other.Name, "name")
	d.unless(p.Description == other.Description, "description")
	d.unless(slices.Equal(p.Media, other.Media), "media")
	return d
}

// body is what changes.
func (s *profileState) body() (b profileBody) {
	if slices.Contains(s.Changed, "name") {
		b.Name = s.Wanted.Name
	}
	if slices.Contains(s.Changed, "description") {
		b.Description = orNull(s.Wanted.Description)
	}
	return b
}
