package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeIncidentActions = "PUT /guilds/{guild_id}/incident-actions"

	// incidentSpan is how far ahead a deadline may lie.
	//
	// Source: https://docs.discord.com/developers/resources/guild#modify-guild-incident-actions.
	incidentSpan = 24 * time.Hour
)

type incidentChange struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild to lock down or open"`
	Invites *string         `json:"invitesDisabledUntil,omitempty" jsonschema:"until when nobody joins by an invite, at most 24 hours ahead; null ends it" format:"date-time"`
	DMs     *string         `json:"directMessagesDisabledUntil,omitempty" jsonschema:"until when members who are no friends cannot message each other, at most 24 hours ahead; null ends it" format:"date-time"`
	reason
}

// incidents are a guild's deadlines in UTC, "" for none.
type incidents struct {
	Invites string `json:"invitesDisabledUntil"`
	DMs     string `json:"directMessagesDisabledUntil"`
}

type incidentState struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	Now        incidents    `json:"current"`
	Wanted     incidents    `json:"wanted"`
	Body       incidentBody `json:"request"`
}

// incidentBody holds the deadlines that were given, null to end one.
type incidentBody struct {
	Invites json.RawMessage `json:"invites_disabled_until,omitempty"`
	DMs     json.RawMessage `json:"dms_disabled_until,omitempty"`
}

type incidentWire struct {
	Invites *time.Time `json:"invites_disabled_until"`
	DMs     *time.Time `json:"dms_disabled_until"`
}

// guildIncidentActionChange sets until when a guild is locked down.
func guildIncidentActionChange(rest discordtools.REST) mcpcore.Workflow {
	return change[incidentChange, incidentState]{
		Name: "guild-incident-action-change", Category: "guild-incidents", Title: "Lock a guild down for a time",
		Doc: `Sets or ends a guild's incident actions: no joining by invites, no direct messages between members. A deadline that is not
			given stays. The reason is not sent: Discord takes none here.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds that may be locked down and opened")},
		Rules:  []mcpcore.Rule{someOf("invitesDisabledUntil", "directMessagesDisabledUntil")},
		Reads:  standingRoutes, Write: []string{routeIncidentActions},
		Plan: planIncidents,
		Targets: func(in incidentChange, _ incidentState) []mcpcore.Target {
			return []mcpcore.Target{all("incident-actions", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in incidentChange, s incidentState) (mcpcore.Written, error) {
			var answer incidentWire
			if err := w.sendWith(ctx, routeIncidentActions, discordtools.Request{Path: inGuild(in.GuildID)}, s.Body, &answer); err != nil {
				return mcpcore.Written{}, err
			}
			done := mcpcore.Written{ID: string(in.GuildID)}
			got := answer.incidents(w.Call.Now())
			if s.Body.Invites != nil && got.Invites != s.Wanted.Invites || s.Body.DMs != nil && got.DMs != s.Wanted.DMs {
				return done, errors.New("the answer has other deadlines than were asked for")
			}
			return done, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in incidentChange, s incidentState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.incidents(ctx, in.GuildID)
			var d drift
			d.unless(now.Invites == s.Wanted.Invites, "invitesDisabledUntil")
			d.unless(now.DMs == s.Wanted.DMs, "directMessagesDisabledUntil")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// planIncidents plans the deadlines that were given.
func planIncidents(ctx context.Context, r *reads, in incidentChange) (plan mcpcore.Change[incidentState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	if bot.held.Unknown() != (discord.Bits{}) {
		return plan, refused("unknown-permissions", "the bot has permissions that this server does not know")
	}
	s := incidentState{Guild: bot.Guild, Permission: bot.evidence()}
	if s.Now, err = r.incidents(ctx, in.GuildID); err != nil {
		return plan, err
	}
	s.Wanted = s.Now
	for _, f := range []struct {
		name  string
		value *string
		to    *string
		body  *json.RawMessage
	}{{"invitesDisabledUntil", in.Invites, &s.Wanted.Invites, &s.Body.Invites}, {"directMessagesDisabledUntil", in.DMs, &s.Wanted.DMs, &s.Body.DMs}} {
		if !r.Call.Has(f.name) {
			continue
		}
		if *f.to, err = deadline(f.value, r.Call.Now()); err != nil {
			return plan, err
		}
		*f.body = orNull(*f.to)
	}
	plan = mcpcore.Change[incidentState]{Action: "change", State: s, Current: s.Wanted == s.Now, Facts: mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name},
		{Name: "invites off", Value: until(s.Now.Invites) + " → " + until(s.Wanted.Invites)},
		{Name: "direct messages off", Value: until(s.Now.DMs) + " → " + until(s.Wanted.DMs)},
	}}
	if plan.Current {
		plan.Action = "none"
	}
	return plan, nil
}

// deadline is a moment as Discord is asked for it, "" for null.
func deadline(value *string, now time.Time) (string, error) {
	if value == nil {
		return "", nil
	}
	t, err := time.Parse(time.RFC3339, *value)
	switch left := t.Sub(now); {
	case err != nil:
		return "", refused("deadline", "%s is no moment with a time zone", *value)
	case left <= 0 || left > incidentSpan:
		return "", refused("deadline", "a deadline is in the future, and at most %v ahead", incidentSpan)
	}
	return t.UTC().Format(time.RFC3339), nil
}

func until(deadline string) string {
	if deadline == "" {
		return "no"
	}
	return "until " + deadline
}

// incidents reads a guild's deadlines. One that has passed is none.
func (r *reads) incidents(ctx context.Context, guild discord.GuildID) (incidents, error) {
	var g struct {
		ID   discord.GuildID `json:"id"`
		Data *incidentWire   `json:"incidents_data"`
	}
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return incidents{}, err
	}
	if g.ID != guild {
		return incidents{}, incomplete("the guild")
	}
	if g.Data == nil {
		return incidents{}, nil
	}
	return g.Data.incidents(r.Call.Now()), nil
}

func (w incidentWire) incidents(now time.Time) incidents {
	moment := func(t *time.Time) string {
		if t == nil || !t.After(now) {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return incidents{moment(w.Invites), moment(w.DMs)}
}
