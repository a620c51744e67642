package sandbox

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// AuditEntry is an entry of a guild's audit log.
//
// Source: https://docs.discord.com/developers/resources/audit-log.
type AuditEntry struct {
	ID      string
	Action  int
	User    discord.UserID // who acted
	Target  string         // id of what it was done to; "" is none
	Reason  string
	Changes []AuditChange
	Options AuditOptions
	At      time.Time
}

// AuditChange is one changed key; Old and New are JSON, empty where there was or
// is no value.
type AuditChange struct {
	Key      string          `json:"key"`
	Old, New json.RawMessage `json:"-"`
}

// AuditOptions are facts that some actions carry.
type AuditOptions struct {
	Channel  discord.ChannelID `json:"channel_id,omitempty"`
	Count    string            `json:"count,omitempty"`
	Message  discord.MessageID `json:"message_id,omitempty"`
	ID       string            `json:"id,omitempty"`
	Type     string            `json:"type,omitempty"`
	RoleName string            `json:"role_name,omitempty"`
	Days     string            `json:"delete_member_days,omitempty"`
	Removed  string            `json:"members_removed,omitempty"`
	Rule     string            `json:"auto_moderation_rule_name,omitempty"`
	Trigger  string            `json:"auto_moderation_rule_trigger_type,omitempty"`
	Status   string            `json:"status,omitempty"`
}

// Actions of the audit log that the core records.
const (
	auditChannelCreate     = 10
	auditChannelUpdate     = 11
	auditChannelDelete     = 12
	auditOverwriteCreate   = 13
	auditOverwriteUpdate   = 14
	auditOverwriteDelete   = 15
	auditWebhookCreate     = 50
	auditMessageDelete     = 72
	auditMessageBulkDelete = 73
	auditMessagePin        = 74
	auditMessageUnpin      = 75
	auditThreadCreate      = 110
	auditThreadUpdate      = 111
	auditThreadDelete      = 112
)

// audit records what the request did in a guild's audit log, with the reason
// of its X-Audit-Log-Reason header. It does nothing outside guilds ("").
func (x *exchange) audit(in discord.GuildID, action int, target string, o AuditOptions, changes ...AuditChange) {
	g := x.guilds[in]
	if g == nil {
		return
	}
	g.audit = append(g.audit, AuditEntry{
		ID: x.issue(), Action: action, User: x.actor, Target: target, Reason: reason(x.header.Get("X-Audit-Log-Reason")),
		Changes: changes, Options: o, At: x.now,
	})
}

// changed is the change of one key, or nothing when old and new are the same.
// It is written audit(..., changed("name", old, new)...).
func changed[T any](key string, old, now T) []AuditChange {
	a, _ := json.Marshal(old)
	b, _ := json.Marshal(now)
	if string(a) == string(b) {
		return nil
	}
	return []AuditChange{{Key: key, Old: a, New: b}}
}

// reason decodes a header and cuts it to what Discord keeps.
func reason(header string) string {
	text, err := url.PathUnescape(header)
	if err != nil {
		text = header
	}
	if utf8.RuneCountInString(text) > discord.MaxReason {
		text = string([]rune(text)[:discord.MaxReason])
	}
	return text
}

// AuditLog is a guild's audit log, the newest entry last.
func (d *Discord) AuditLog(id discord.GuildID) []AuditEntry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[id]; g != nil {
		return slices.Clone(g.audit)
	}
	return nil
}
