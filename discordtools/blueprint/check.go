package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Forbidden are the permissions that no role of a document may hold and no
// overwrite may allow: who has one can take the guild over, shut people out for
// good, or ping all of them.
const Forbidden = discord.Administrator | discord.ManageGuild | discord.ManageRoles | discord.ManageChannels |
	discord.ManageWebhooks | discord.BanMembers | discord.MentionEveryone

// guildWide are permissions that count in the guild alone, so that an overwrite
// that names one is a mistake.
const guildWide = discord.ViewAuditLog | discord.KickMembers | discord.ModerateMembers | discord.ViewGuildInsights |
	discord.ChangeNickname | discord.ManageNicknames | discord.ManageGuildExpressions | discord.CreateGuildExpressions

// prerequisites are permissions that do nothing without others.
var prerequisites = []struct{ of, needs discord.Permissions }{
	{discord.EmbedLinks, discord.SendMessages}, {discord.AttachFiles, discord.SendMessages},
	{discord.Speak, discord.Connect}, {discord.Stream, discord.Connect},
	{discord.UseVAD, discord.Connect}, {discord.UseEmbeddedActivities, discord.Connect},
}

// Limits of Discord.
const (
	maxGuildChannels = 500
	maxInCategory    = 50
	maxWelcome       = 5
	minDefaults      = 7 // channels of an onboarding
	minSendable      = 5 // of which everyone can write in
)

// What triggers an AutoMod rule, and what it does.
const (
	onWords    = 1
	onSpam     = 3
	onPresets  = 4
	onMentions = 5
	onProfile  = 6

	actBlock       = 1
	actAlert       = 2
	actTimeout     = 3
	actBlockMember = 4
)

var maxRules = map[int]int{onWords: 6, onSpam: 1, onPresets: 1, onMentions: 1, onProfile: 1}

// checker finds what is wrong with a document that fits its schema.
type checker struct {
	doc    *Document
	issues []mcpcore.Issue
}

func (c *checker) fault(path, format string, with ...any) {
	c.issues = append(c.issues, mcpcore.Issue{Path: path, Message: fmt.Sprintf(format, with...), Code: mcpcore.IssueRule})
}

// names checks keys and what they refer to.
func (c *checker) names() {
	d := c.doc
	unique(c, "roles", d.Roles, func(r Role) Symbol { return r.Key })
	unique(c, "categories", d.Categories, func(x Category) Symbol { return x.Key })
	unique(c, "channels", d.Channels, func(x Channel) Symbol { return x.Key })
	for i, ch := range d.Channels {
		at := fmt.Sprintf("channels.%d", i)
		if d.category(ch.Key) != nil {
			c.fault(at+".key", "%s is a category's key as well", ch.Key)
		}
		if ch.Parent != nil && d.category(*ch.Parent) == nil {
			c.fault(at+".parent_key", "there is no category %s", *ch.Parent)
		}
		c.subjects(at, ch.Overwrites)
		unique(c, at+".forum_tags", ch.Tags, func(t Tag) Symbol { return t.Key })
	}
	for i, x := range d.Categories {
		c.subjects(fmt.Sprintf("categories.%d", i), x.Overwrites)
	}
	if len(d.RoleOrder) > 0 {
		if len(d.RoleOrder) != len(d.Roles) {
			c.fault("role_order", "must name each of the %d roles once", len(d.Roles))
		}
		unique(c, "role_order", d.RoleOrder, func(s Symbol) Symbol { return s })
		for i, key := range d.RoleOrder {
			c.roles(fmt.Sprintf("role_order.%d", i), key)
		}
	}
	c.settings()
	c.onboarding()
	c.autoMod()
	unique(c, "components_v2.publications", d.publications(), func(p Publication) Symbol { return p.Key })
	for i, p := range d.publications() {
		c.channels(fmt.Sprintf("components_v2.publications.%d.channel_key", i), "", p.Channel)
	}
}

func unique[T any](c *checker, path string, list []T, key func(T) Symbol) {
	seen := map[Symbol]bool{}
	for i, item := range list {
		if k := key(item); seen[k] {
			c.fault(fmt.Sprintf("%s.%d.key", path, i), "%s stands there twice", k)
		} else {
			seen[k] = true
		}
	}
}

func (c *checker) subjects(path string, list []Overwrite) {
	seen := map[Subject]bool{}
	for i, o := range list {
		at := fmt.Sprintf("%s.overwrites.%d.subject", path, i)
		switch {
		case seen[o.Subject]:
			c.fault(at, "stands there twice")
		case o.Subject.Kind == "role":
			c.roles(at+".key", o.Subject.Key)
		case o.Subject.Key != "":
			c.fault(at+".key", "%s has no key", o.Subject.Kind)
		}
		seen[o.Subject] = true
	}
}

func (c *checker) roles(path string, keys ...Symbol) {
	for _, key := range keys {
		if c.doc.role(key) == nil {
			c.fault(path, "there is no role %q", key)
		}
	}
}

// channels demands channels, of a kind where one is given.
func (c *checker) channels(path string, kind Kind, keys ...Symbol) {
	for _, key := range keys {
		switch ch := c.doc.channel(key); {
		case ch == nil:
			c.fault(path, "there is no channel %q", key)
		case kind != "" && ch.Type != kind:
			c.fault(path, "%s must be a %s channel", key, kind)
		}
	}
}

func (c *checker) settings() {
	s := c.doc.Guild
	if s == nil {
		return
	}
	for _, x := range []struct {
		path string
		key  Symbol
		kind Kind
	}{{"afk_channel_key", s.AFKChannel, Voice}, {"system_channel_key", s.SystemChannel, Text}} {
		if x.key != "" {
			c.channels("guild."+x.path, x.kind, x.key)
		}
	}
	if m := s.Community; m != nil {
		c.channels("guild.community.rules_channel_key", Text, m.RulesChannel)
		c.channels("guild.community.public_updates_channel_key", Text, m.Updates)
		if m.SafetyChannel != "" {
			c.channels("guild.community.safety_alerts_channel_key", Text, m.SafetyChannel)
		}
	}
	if w := s.Welcome; w != nil {
		for i, ch := range w.Channels {
			c.channels(fmt.Sprintf("guild.welcome_screen.channels.%d.channel_key", i), "", ch.Channel)
		}
		c.channels("guild.welcome_screen.channel_keys", "", w.Keys...)
	}
}

func (c *checker) onboarding() {
	o := c.doc.Onboarding
	if o == nil {
		return
	}
	c.channels("onboarding.default_channel_keys", "", o.Defaults...)
	unique(c, "onboarding.prompts", o.Prompts, func(p Prompt) Symbol { return p.Key })
	titles := map[string]bool{}
	for i, p := range o.Prompts {
		at := fmt.Sprintf("onboarding.prompts.%d", i)
		if titles[p.Title] {
			c.fault(at+".title", "another prompt has it")
		}
		titles[p.Title] = true
		unique(c, at+".options", p.Options, func(x Option) Symbol { return x.Key })
		answers := map[string]bool{}
		for j, x := range p.Options {
			in := fmt.Sprintf("%s.options.%d", at, j)
			if answers[x.Title] {
				c.fault(in+".title", "another option of the prompt has it")
			}
			answers[x.Title] = true
			c.roles(in+".role_keys", x.Roles...)
			c.channels(in+".channel_keys", "", x.Channels...)
			if len(x.Roles)+len(x.Channels) == 0 {
				c.fault(in, "must give a role or a channel")
			}
		}
	}
}

func (c *checker) autoMod() {
	if c.doc.AutoMod == nil {
		return
	}
	unique(c, "automod.rules", c.doc.AutoMod.Rules, func(r Rule) Symbol { return r.Key })
	same := map[int]int{}
	for i, r := range c.doc.AutoMod.Rules {
		at := fmt.Sprintf("automod.rules.%d", i)
		if same[r.Trigger]++; same[r.Trigger] > maxRules[r.Trigger] {
			c.fault(at+".trigger_type", "Discord takes at most %d rules of trigger type %d", maxRules[r.Trigger], r.Trigger)
		}
		c.trigger(at, r)
		for j, a := range r.Actions {
			c.action(fmt.Sprintf("%s.actions.%d", at, j), r, a)
		}
		c.roles(at+".exempt_role_keys", r.ExemptRoles...)
		for _, key := range r.ExemptChannels {
			if c.doc.category(key) == nil {
				c.channels(at+".exempt_channel_keys", "", key)
			}
		}
	}
}

func (c *checker) trigger(at string, r Rule) {
	if (r.Trigger == onProfile) != (r.Event == 2) {
		c.fault(at+".event_type", "trigger type 6 goes with event type 2, all others with 1")
	}
	words := len(r.Keywords) + len(r.Patterns)
	switch textual := r.Trigger == onWords || r.Trigger == onProfile; {
	case textual && words == 0:
		c.fault(at+".keyword_filter", "trigger type %d needs a keyword or a pattern", r.Trigger)
	case !textual && words > 0:
		c.fault(at+".keyword_filter", "trigger type %d takes no keywords", r.Trigger)
	case textual && len(r.Allowed) > 100:
		c.fault(at+".allow_list", "trigger type %d takes at most 100", r.Trigger)
	case !textual && r.Trigger != onPresets && len(r.Allowed) > 0:
		c.fault(at+".allow_list", "trigger type %d takes none", r.Trigger)
	}
	if (r.Trigger == onPresets) != (len(r.Presets) > 0) {
		c.fault(at+".presets", "trigger type 4 needs some, all others take none")
	}
	if limited := r.MentionLimit != nil && *r.MentionLimit > 0; (r.Trigger == onMentions) != limited {
		c.fault(at+".mention_total_limit", "trigger type 5 needs one of at least 1, all others take none")
	}
	if r.Trigger != onMentions && r.RaidProtection != nil {
		c.fault(at+".mention_raid_protection_enabled", "goes with trigger type 5 alone")
	}
}

func (c *checker) action(at string, r Rule, a Action) {
	if (a.Type == actAlert) != (a.Alert != nil) {
		c.fault(at+".alert_channel_key", "an alert (2) needs one, nothing else takes one")
	} else if a.Alert != nil {
		c.channels(at+".alert_channel_key", "", *a.Alert)
	}
	if (a.Type == actTimeout) != (a.Seconds != nil) {
		c.fault(at+".duration_seconds", "a timeout (3) needs one, nothing else takes one")
	}
	if a.Message != nil && a.Type != actBlock {
		c.fault(at+".custom_message", "goes with blocking (1) alone")
	}
	if a.Type == actTimeout && r.Trigger != onWords && r.Trigger != onMentions {
		c.fault(at+".type", "timeouts go with trigger types 1 and 5")
	}
	if a.Type == actBlockMember && r.Trigger != onProfile {
		c.fault(at+".type", "blocking members goes with trigger type 6")
	}
}

// layouts checks what publications say.
func (c *checker) layouts() {
	for i, p := range c.doc.publications() {
		at := fmt.Sprintf("components_v2.publications.%d", i)
		if ch := c.doc.channel(p.Channel); ch.Type.posts() {
			c.fault(at+".channel_key", "%s holds posts, not messages", p.Channel)
		}
		for _, found := range components.Check(at+".components", p.Components, nil) {
			message := found.Message
			if found.Hint != "" {
				message += ". " + strings.TrimSuffix(found.Hint, ".")
			}
			c.issues = append(c.issues, mcpcore.Issue{Path: found.Path, Message: message, Code: found.Code})
		}
		for _, key := range placeholders(p.Components) {
			if c.doc.channel(key) == nil {
				c.fault(at+".components", "<#{{channel:%s}}> names no channel of the blueprint", key)
			}
		}
		if !markable(p.Components) {
			c.fault(at+".components", "needs a text with room for a line of ours, by which the message is known again")
		}
	}
}

// writable reports whether overwrites let everyone write, who may by default.
func writable(list []Overwrite) bool {
	return !slices.ContainsFunc(list, func(o Overwrite) bool {
		denied := set(o.Deny)
		return o.Subject.Kind == "everyone" && (denied.Has(discord.SendMessages) || denied.Has(discord.ViewChannel))
	})
}

// hidden reports whether overwrites hide a channel from everyone.
func hidden(list []Overwrite) bool {
	return slices.ContainsFunc(list, func(o Overwrite) bool {
		return o.Subject.Kind == "everyone" && set(o.Deny).Has(discord.ViewChannel)
	})
}
