package sandbox

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Entries that AutoMod itself writes.
const (
	auditAutoModBlock   = 143
	auditAutoModAlert   = 144
	auditAutoModTimeout = 145
)

var errAutoMod = badRequest(200000, "Message was blocked by automatic moderation")

// moderate lets the guild's AutoMod look at a message before it is sent. Rules
// of words and of mentions act; what Discord's own models and word lists find,
// and profiles, the sandbox does not imitate.
//
// Bots are exempt, and so are those who have ADMINISTRATOR or MANAGE_GUILD: what
// the bot of the sandbox sends is never blocked. [Discord.PostAs] sends as
// somebody who is not exempt.
//
// Source: https://support.discord.com/hc/en-us/articles/4421269296535-AutoMod-FAQ.
func (x *exchange) moderate(c *channel, m *Message) error {
	g, u := x.guilds[c.Guild], x.users[m.Author]
	if g == nil || u == nil || u.Bot || u.System || x.world.inGuild(g, m.Author)&(discord.Administrator|discord.ManageGuild) != 0 {
		return nil
	}
	blocked := false
	for _, r := range sorted(g.rules) {
		if !r.Enabled || r.exempts(c, g.members[m.Author]) {
			continue
		}
		if found := x.triggers(g, r, m.text()); found.hit && x.act(g, c, r, m, found) {
			blocked = true
		}
	}
	if blocked {
		return errAutoMod
	}
	return nil
}

func (r *AutoModRule) exempts(c *channel, m *Member) bool {
	return slices.Contains(r.ExemptChannels, c.ID) || c.Parent != "" && slices.Contains(r.ExemptChannels, c.Parent) ||
		slices.ContainsFunc(m.Roles, func(id discord.RoleID) bool { return slices.Contains(r.ExemptRoles, id) })
}

// finding is what of a text triggered a rule.
type finding struct {
	hit           bool
	keyword, text string // what was looked for, and what was found
}

func (x *exchange) triggers(g *guild, r *AutoModRule, text string) finding {
	switch r.Trigger {
	case TriggerKeyword:
		return r.words(text)
	case TriggerMentions:
		n := x.mentioned(g, text)
		return finding{hit: r.MentionLimit > 0 && n > r.MentionLimit}
	}
	return finding{}
}

// words looks for keywords and patterns, what the allow list names left out.
func (r *AutoModRule) words(text string) finding {
	text = spaced(text)
	for _, word := range r.Allowed {
		text = keyword(word).ReplaceAllString(text, "  ")
	}
	for _, word := range r.Keywords {
		if found := keyword(word).FindString(text); found != "" {
			return finding{true, word, strings.TrimSpace(found)}
		}
	}
	for _, p := range r.Patterns {
		if at := regexp.MustCompile(p).FindString(strings.Join(strings.Fields(text), " ")); at != "" { // they compiled before
			return finding{true, p, at}
		}
	}
	return finding{}
}

// spaced puts two spaces between words, so that neighbours do not share one.
func spaced(text string) string { return strings.Join(strings.Fields(text), "  ") }

// keyword matches as Discord does: a word or phrase between white space, a * at
// an end for any continuation there, case aside.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-keyword-matching-strategies.
func keyword(word string) *regexp.Regexp {
	before, after := `(?:^|\s)`, `(?:\s|$)`
	if strings.HasPrefix(word, "*") {
		before = ""
	}
	if strings.HasSuffix(word, "*") {
		after = ""
	}
	return regexp.MustCompile("(?i)" + before + regexp.QuoteMeta(spaced(strings.Trim(word, "*"))) + after)
}

// mentioned is how many different members and roles a text mentions, whether or
// not that notifies them.
func (x *exchange) mentioned(g *guild, text string) int {
	seen := map[string]bool{}
	for _, m := range userMention.FindAllStringSubmatch(text, -1) {
		if g.members[discord.UserID(m[1])] != nil {
			seen[m[1]] = true
		}
	}
	for _, m := range roleMention.FindAllStringSubmatch(text, -1) {
		if g.roles[discord.RoleID(m[1])] != nil {
			seen[m[1]] = true
		}
	}
	return len(seen)
}

// act carries out a rule's actions and reports whether the message is blocked.
func (x *exchange) act(g *guild, c *channel, r *AutoModRule, m *Message, found finding) (blocked bool) {
	entry := func(action int) {
		g.audit = append(g.audit, AuditEntry{
			ID: x.issue(), Action: action, User: r.Creator, Target: string(m.Author), At: x.now,
			Options: AuditOptions{Channel: c.ID, Rule: r.Name, Trigger: strconv.Itoa(r.Trigger)},
		})
	}
	blocked = slices.ContainsFunc(r.Actions, func(a AutoModAction) bool { return a.Type == ActionBlock })
	for _, a := range r.Actions {
		switch a.Type {
		case ActionBlock:
			entry(auditAutoModBlock)
		case ActionAlert:
			if to := x.channels[a.Channel]; to != nil {
				x.alert(to, c, r, m, found, blocked)
				entry(auditAutoModAlert)
			}
		case ActionTimeout:
			g.members[m.Author].TimeoutUntil = x.now.Add(time.Duration(a.Seconds) * time.Second)
			entry(auditAutoModTimeout)
		}
	}
	return blocked
}

// alert writes what was found into the channel for it, as its author.
func (x *exchange) alert(to, from *channel, r *AutoModRule, m *Message, found finding, blocked bool) {
	outcome := "flagged"
	if blocked {
		outcome = "blocked"
	}
	x.store(to, &Message{
		ID: discord.MessageID(x.issue()), Channel: to.ID, Author: m.Author, Type: typeAutoMod,
		Embeds: []Embed{{Kind: "auto_moderation_message", Description: m.Content, Fields: []EmbedField{
			{Name: "rule_name", Value: r.Name}, {Name: "channel_id", Value: string(from.ID)}, {Name: "keyword", Value: found.keyword},
			{Name: "keyword_matched_content", Value: found.text}, {Name: "decision_outcome", Value: outcome},
		}}},
	})
}
