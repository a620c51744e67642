package sandbox

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// auditLogRoutes read what was done in a guild.
var auditLogRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/audit-logs", handle: inGuild(discord.ViewAuditLog, getAuditLog)},
}

// AddAuditEntry records an act. It makes an id where none is given, and moves no
// entry into the past: add the oldest first.
func (d *Discord) AddAuditEntry(in discord.GuildID, e AuditEntry) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &e.ID)
	if e.At.IsZero() {
		e.At = discord.IDTime(e.ID)
	}
	g.audit = append(g.audit, e)
	return e.ID
}

type auditLogView struct {
	Entries      []auditEntryView `json:"audit_log_entries"`
	Users        []userView       `json:"users"`
	Integrations []null           `json:"integrations"`
	Webhooks     []null           `json:"webhooks"`
	Events       []eventView      `json:"guild_scheduled_events"`
	Threads      []null           `json:"threads"`
	Commands     []null           `json:"application_commands"`
	Rules        []ruleView       `json:"auto_moderation_rules"`
}

type auditEntryView struct {
	ID      string            `json:"id"`
	Action  int               `json:"action_type"`
	User    *discord.UserID   `json:"user_id"`
	Target  *string           `json:"target_id"`
	Changes []auditChangeView `json:"changes,omitempty"`
	Options *AuditOptions     `json:"options,omitempty"`
	Reason  string            `json:"reason,omitempty"`
}

type auditChangeView struct {
	Key string          `json:"key"`
	Old json.RawMessage `json:"old_value,omitempty"`
	New json.RawMessage `json:"new_value,omitempty"`
}

func viewAuditEntry(e AuditEntry) auditEntryView {
	v := auditEntryView{ID: e.ID, Action: e.Action, User: textOrNull(e.User), Reason: e.Reason}
	if _, err := strconv.ParseUint(e.Target, 10, 64); err == nil {
		v.Target = &e.Target
	}
	for _, c := range e.Changes {
		v.Changes = append(v.Changes, auditChangeView{c.Key, valueOrNone(c.Old), valueOrNone(c.New)})
	}
	if e.Options != (AuditOptions{}) {
		v.Options = &e.Options
	}
	return v
}

// valueOrNone leaves null out: Discord sends no member for no value.
func valueOrNone(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// getAuditLog gives the newest entries first, or with `after` the oldest that
// follow it first.
//
// Source: https://docs.discord.com/developers/resources/audit-log#get-guild-audit-log.
func getAuditLog(x *exchange, g *guild) (answer, error) {
	action, err := x.number("action_type", 0, 0, 1<<31-1)
	if err != nil {
		return refuse(err)
	}
	filter := map[string]string{}
	for _, name := range []string{"user_id", "target_id"} {
		if filter[name], err = x.cursor(name); err != nil {
			return refuse(err)
		}
	}
	var matching []AuditEntry
	for _, e := range g.audit {
		if (action == 0 || e.Action == action) && (filter["user_id"] == "" || string(e.User) == filter["user_id"]) &&
			(filter["target_id"] == "" || e.Target == filter["target_id"]) {
			matching = append(matching, e)
		}
	}
	slices.SortStableFunc(matching, func(a, b AuditEntry) int { return discord.CompareIDs(a.ID, b.ID) })
	forward := x.query.Get("after") != "" && x.query.Get("before") == ""
	if !forward && x.query.Get("before") == "" {
		x.query = maps.Clone(x.query) // the log keeps the one that was sent
		x.query.Set("before", strconv.FormatUint(1<<64-1, 10))
	}
	entries, err := page(x, matching, func(e AuditEntry) string { return e.ID }, 50, 100)
	if err != nil {
		return refuse(err)
	}
	if !forward {
		slices.Reverse(entries)
	}
	v := auditLogView{
		Entries: mapped(entries, viewAuditEntry), Users: []userView{}, Integrations: []null{}, Webhooks: []null{},
		Events: []eventView{}, Threads: []null{}, Commands: []null{}, Rules: []ruleView{},
	}
	seen := map[discord.UserID]bool{}
	for _, e := range entries {
		for _, u := range []discord.UserID{e.User, discord.UserID(e.Target)} {
			if x.users[u] != nil && !seen[u] {
				seen[u] = true
				v.Users = append(v.Users, x.user(u))
			}
		}
	}
	touched := func(id string) bool {
		return slices.ContainsFunc(entries, func(e AuditEntry) bool { return e.Target == id })
	}
	for _, e := range sorted(g.events) {
		if touched(string(e.ID)) {
			v.Events = append(v.Events, x.viewEvent(g, e, false))
		}
	}
	for _, r := range sorted(g.rules) {
		if touched(string(r.ID)) {
			v.Rules = append(v.Rules, viewRule(g, r))
		}
	}
	return ok(v)
}
