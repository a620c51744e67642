package discordtools

import (
	"context"
	"encoding/json"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// auditLog reads what was done in a guild, and by whom.
//
// Source: https://docs.discord.com/developers/resources/audit-log.
func auditLog() category {
	return category{Name: "audit_log", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[auditLogGet, auditLogPage]{
			Name:  "audit_log_get",
			Title: "Read the audit log",
			Doc: `Reads who did what in a guild during the last 45 days, newest first. To go back further,
				call again with before set to oldest_id. With after the oldest come first: go on with after set
				to newest_id.`,
			Route: "GET /guilds/{guild_id}/audit-logs",
			Needs: discord.ViewAuditLog,
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(50)},
			Fence: fence.AuditReason,
			Run:   readAuditLog,
		},
	}}
}

type auditLogGet struct {
	guildRef
	ActionType int               `json:"action_type,omitempty" jsonschema:"only this kind, such as 20 kick, 22 ban, 24 member changed, 25 member's roles, 12 channel deleted, 72 message deleted" minimum:"1" maximum:"255"`
	UserID     discord.UserID    `json:"user_id,omitempty" jsonschema:"only what this user did"`
	TargetID   discord.Snowflake `json:"target_id,omitempty" jsonschema:"only what was done to this user, channel, role or other object"`
	Before     string            `json:"before,omitempty" as:"moment" jsonschema:"only older than this entry or ISO time" minLength:"1" maxLength:"40"`
	After      string            `json:"after,omitempty" as:"moment" jsonschema:"only newer than this entry or ISO time" minLength:"1" maxLength:"40"`
	Limit      int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"50"`
}

type auditLogPage struct {
	Entries []auditEntry `json:"entries" from:"@list"`
	page
	OldestID string `json:"oldest_id,omitempty" from:"@derived"`
	NewestID string `json:"newest_id,omitempty" from:"@derived"`
}

// derive tells the ends apart by the order that Discord gives.
func (v *auditLogPage) derive(call *mcpcore.Call) {
	if n := len(v.Entries); n > 0 {
		v.NewestID, v.OldestID = v.Entries[0].ID, v.Entries[n-1].ID
		if call.Has("after") {
			v.NewestID, v.OldestID = v.OldestID, v.NewestID
		}
	}
}

func (v *auditLogPage) cursors(call *mcpcore.Call) []cursor {
	return ends(call, v.OldestID, v.NewestID)
}

type auditEntry struct {
	ID         string          `json:"id"`
	ActionType int             `json:"action_type"`
	UserID     *discord.UserID `json:"user_id" jsonschema:"who acted"`
	UserName   string          `json:"user_name,omitempty" from:"@derived"`
	TargetID   *string         `json:"target_id" jsonschema:"what it was done to"`
	Reason     string          `json:"reason,omitempty"`
	Changes    []auditChange   `json:"changes,omitempty"`
	Options    json.RawMessage `json:"options,omitempty" jsonschema:"facts of this kind of action"`
}

type auditChange struct {
	Key string          `json:"key"`
	Old json.RawMessage `json:"old_value,omitempty"`
	New json.RawMessage `json:"new_value,omitempty"`
}

// auditReply is the part of Discord's answer that is shown: the entries, and
// the names of who acted.
type auditReply struct {
	Entries []auditEntry `json:"audit_log_entries"`
	Users   []auditUser  `json:"users"`
}

type auditUser struct {
	ID   discord.UserID `json:"id"`
	Name string         `json:"name" from:"global_name|username"`
}

func readAuditLog(ctx context.Context, a *api, _ auditLogGet) (v auditLogPage, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	var r auditReply
	if err := a.project(reply, &r); err != nil {
		return v, err
	}
	names := map[discord.UserID]string{}
	for _, u := range r.Users {
		names[u.ID] = u.Name
	}
	v.Entries = r.Entries
	for i := range v.Entries {
		e := &v.Entries[i]
		if e.UserID != nil {
			e.UserName = names[*e.UserID]
		}
	}
	return v, nil
}
