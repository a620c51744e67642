package sandbox

import (
	"regexp"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// allowedMentions is the allowed_mentions of a message.
//
// Source: https://docs.discord.com/developers/resources/message#allowed-mentions-object.
type allowedMentions struct {
	Parse   opt[[]string]         `json:"parse"`
	Users   opt[[]discord.UserID] `json:"users" maxItems:"100"`
	Roles   opt[[]discord.RoleID] `json:"roles" maxItems:"100"`
	Replied opt[bool]             `json:"replied_user"`
}

func (a allowedMentions) check() error {
	var f form
	for _, kind := range a.Parse.value {
		if kind != "users" && kind != "roles" && kind != "everyone" {
			f.add("allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of {users, roles, everyone}.")
		}
	}
	if len(a.Users.value) > 0 && slices.Contains(a.Parse.value, "users") {
		f.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", `parse:["users"] and users: [ids...] are mutually exclusive.`)
	}
	if len(a.Roles.value) > 0 && slices.Contains(a.Parse.value, "roles") {
		f.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", `parse:["roles"] and roles: [ids...] are mutually exclusive.`)
	}
	return f.err()
}

var (
	userMention = regexp.MustCompile(`<@!?([0-9]{17,20})>`)
	roleMention = regexp.MustCompile(`<@&([0-9]{17,20})>`)
)

// mentions is what a text mentions and allowed lets through; the author of the
// message replied to counts as mentioned. A role that is not mentionable, and
// everyone, take MENTION_EVERYONE.
func (x *exchange) mentions(c *channel, text string, allowed opt[allowedMentions], replied discord.UserID) Mentions {
	a := allowed.value
	parses := func(kind string) bool { return !allowed.has() || slices.Contains(a.Parse.value, kind) }
	loud := x.allowed(c, discord.MentionEveryone)

	var m Mentions
	m.Everyone = loud && parses("everyone") && (strings.Contains(text, "@everyone") || strings.Contains(text, "@here"))
	for _, found := range roleMention.FindAllStringSubmatch(text, -1) {
		id := discord.RoleID(found[1])
		g := x.guilds[c.Guild]
		if g == nil || g.roles[id] == nil || !(loud || g.roles[id].Mentionable) || slices.Contains(m.Roles, id) {
			continue
		}
		if parses("roles") || slices.Contains(a.Roles.value, id) {
			m.Roles = append(m.Roles, id)
		}
	}
	for _, found := range userMention.FindAllStringSubmatch(text, -1) {
		id := discord.UserID(found[1])
		if x.users[id] == nil || slices.Contains(m.Users, id) {
			continue
		}
		if parses("users") || slices.Contains(a.Users.value, id) {
			m.Users = append(m.Users, id)
		}
	}
	if replied != "" && a.Replied.or(!allowed.has()) && !slices.Contains(m.Users, replied) {
		m.Users = append(m.Users, replied)
	}
	return m
}

// pinged leaves out the author, whom their own message does not notify.
func (m Mentions) pinged(author discord.UserID) Mentions {
	m.Roles = slices.Clone(m.Roles)
	m.Users = slices.DeleteFunc(slices.Clone(m.Users), func(u discord.UserID) bool { return u == author })
	return m
}
