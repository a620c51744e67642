package blueprint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Brief is what a blueprint is compiled from. The same brief gives the same
// blueprint.
type Brief struct {
	Request string       // in a person's words
	More    []Capability // that the templates have which were looked at
	Basis   *Basis       // what the best of those is like; nil for none
}

// Compile makes a blueprint of the archetype that a request asks for, with the
// parts that its words call for.
func Compile(b Brief) *Document {
	wants := with(Asked(b.Request), b.More...)
	plain := " " + Plain(b.Request) + " "
	a := archetypeOf(plain, wants)
	c := compiler{kind: a, wants: wants, large: !has(plain, "small, tiny, little, few, friends, nho"), doc: &Document{
		SchemaVersion: Version, Profile: a.profile, Archetype: a.name, Size: "large", Basis: b.Basis,
	}}
	if !c.large {
		c.doc.Size = "small"
	}
	if slices.Contains(wants, "roleplay") && a.name == "gaming" {
		c.doc.Profile = "professional_roleplay"
	}
	for _, w := range wants {
		c.doc.Capabilities = append(c.doc.Capabilities, string(w))
	}
	c.roles()
	c.places()
	c.settings(vietnamese(b.Request))
	c.onboarding()
	c.autoMod()
	c.cards()
	if issues := c.doc.settle(); issues != nil {
		panic(fmt.Sprintf("blueprint: the archetype %s is not valid: %s: %s", a.name, issues[0].Path, issues[0].Message)) // a fault of this package, which its tests show
	}
	return c.doc
}

// archetypeOf is the first archetype that fits, a community where none does.
func archetypeOf(plain string, wants []Capability) archetype {
	for _, a := range archetypes {
		if has(plain, a.words) || slices.ContainsFunc(a.of, func(c Capability) bool { return slices.Contains(wants, c) }) {
			return a
		}
	}
	return *find(archetypes, func(a *archetype) bool { return a.name == "community" })
}

type compiler struct {
	kind  archetype
	wants []Capability
	large bool
	doc   *Document
}

func (c *compiler) want(of Capability) bool { return slices.Contains(c.wants, of) }

// The permissions that archetypes give.
var (
	publicText = named(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages | discord.AddReactions | discord.EmbedLinks |
		discord.AttachFiles | discord.UseApplicationCommands)
	readOnly    = named(discord.ViewChannel | discord.ReadMessageHistory)
	notWriting  = named(discord.SendMessages | discord.CreatePublicThreads | discord.SendMessagesInThreads)
	publicForum = append(slices.Clone(publicText), "CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS")
	publicVoice = named(discord.ViewChannel | discord.Connect | discord.Speak | discord.Stream | discord.UseVAD | discord.UseEmbeddedActivities)
	botWrites   = named(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages)
	notStaff    = named(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages | discord.Connect)
	staffs      = named(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages | discord.AddReactions | discord.EmbedLinks |
		discord.AttachFiles | discord.Connect | discord.Speak)
)

func (c *compiler) roles() {
	add := func(key Symbol, name string, color int, hoist bool, p ...discord.PermissionName) {
		c.doc.Roles = append(c.doc.Roles, Role{Key: key, Name: name, Color: color, Hoist: hoist, Permissions: append([]discord.PermissionName{}, p...)})
	}
	add("member", "Member", 0x95A5A6, false)
	for _, r := range c.kind.roles {
		add(r.key, r.name, r.color, false)
	}
	add("helper", "Helper", 0x2ECC71, true, "MANAGE_MESSAGES", "MANAGE_THREADS")
	if c.want("events") || c.kind.name == "events" {
		add("event_host", "Event Host", 0xE67E22, true, "CREATE_EVENTS", "MANAGE_EVENTS")
	}
	add("moderator", "Moderator", 0x3498DB, true, "MANAGE_MESSAGES", "MANAGE_THREADS", "VIEW_AUDIT_LOG", "KICK_MEMBERS", "MODERATE_MEMBERS")
}

var (
	everyone = Subject{Kind: "everyone"}
	theBot   = Subject{Kind: "bot"}
)

func roleSubject(key Symbol) Subject { return Subject{"role", key} }

func (c *compiler) category(key Symbol, name string, private bool, over ...Overwrite) {
	c.doc.Categories = append(c.doc.Categories, Category{Key: key, Name: name, Private: private, Overwrites: over})
}

// channel adds a channel whose rights are its category's, unless over says
// otherwise.
func (c *compiler) channel(in Symbol, p place, over ...Overwrite) {
	ch := Channel{Key: p.key, Name: p.name, Type: p.kind, Parent: &in, SlowMode: &p.slow, Overwrites: append([]Overwrite{}, over...)}
	if !p.kind.voice() {
		ch.Topic = &p.topic
	}
	for _, t := range p.tags {
		ch.Tags = append(ch.Tags, Tag{Key: Symbol(strings.ReplaceAll(Plain(t), " ", "_")), Name: t})
	}
	c.doc.Channels = append(c.doc.Channels, ch)
}

func (c *compiler) places() {
	closed := []Overwrite{{everyone, readOnly, notWriting}, {theBot, botWrites, nil}}
	open := Overwrite{Subject: everyone, Allow: publicText}
	c.category("start_here", "Start Here", false, closed...)
	c.channel("start_here", text0("rules", "rules", "What everyone here agrees to"))
	c.channel("start_here", text0("welcome", "welcome", "Where to begin"))
	c.channel("start_here", text0("announcements", "announcements", "News of this server"))
	c.category("community", "Community", false, open)
	for _, p := range []place{
		{key: "general", name: "general", topic: "Talk about anything", slow: 3},
		{key: "introductions", name: "introductions", topic: "Say hello", slow: 10},
		{key: "off_topic", name: "off-topic", topic: "Everything else", slow: 5},
		{key: "media", name: "media", topic: "Pictures, clips and links", slow: 10},
		{key: "bot_commands", name: "bot-commands", topic: "Talk to bots here", slow: 3},
	} {
		p.kind = Text
		c.channel("community", p)
	}
	c.own(open, closed)
	if c.large && (c.want("events") || c.kind.name == "events") {
		c.category("events", "Events", false, open)
		c.channel("events", text0("events_calendar", "events-calendar", "What comes next"), closed...)
		c.channel("events", place{key: "event_chat", name: "event-chat", kind: Text, topic: "Talk about events", slow: 3})
	}
	c.category("voice", "Voice", false, Overwrite{Subject: everyone, Allow: publicVoice})
	c.channel("voice", place{key: "lobby", name: "Lobby", kind: Voice})
	if c.large {
		c.channel("voice", place{key: "room_one", name: "Room One", kind: Voice})
		c.channel("voice", place{key: "room_two", name: "Room Two", kind: Voice})
		if c.kind.stage || c.want("events") {
			c.channel("voice", place{key: "community_stage", name: "Community Stage", kind: Stage})
		}
	}
	c.channel("voice", place{key: "afk", name: "AFK", kind: Voice})
	private := []Overwrite{
		{Subject: everyone, Deny: notStaff}, {Subject: roleSubject("member"), Deny: notStaff},
		{Subject: roleSubject("helper"), Allow: staffs}, {Subject: roleSubject("moderator"), Allow: staffs}, {Subject: theBot, Allow: botWrites},
	}
	c.category("staff", "Staff", true, private...)
	c.channel("staff", text0("staff_chat", "staff-chat", "For helpers and moderators"))
	log := slices.Clone(private)
	log[2] = Overwrite{Subject: roleSubject("helper"), Deny: named(discord.ViewChannel)}
	c.channel("staff", text0("mod_log", "mod-log", "What AutoMod found"), log...)
	if c.large {
		c.channel("staff", place{key: "staff_voice", name: "Staff Voice", kind: Voice})
	}
}

// own adds what is the archetype's own: a category of a large guild, a few
// channels of the community's in a small one.
func (c *compiler) own(open Overwrite, closed []Overwrite) {
	if !c.large {
		for _, p := range c.kind.places[:min(len(c.kind.places), 2)] {
			c.ownPlace("community", p, closed)
		}
		return
	}
	if len(c.kind.places) == 0 {
		return
	}
	c.category(c.kind.category, c.kind.title, false, open)
	for _, p := range c.kind.places {
		c.ownPlace(c.kind.category, p, closed)
	}
}

func (c *compiler) ownPlace(in Symbol, p place, closed []Overwrite) {
	switch {
	case p.closed:
		c.channel(in, p, closed...)
	case p.kind == Forum:
		c.channel(in, p, Overwrite{Subject: everyone, Allow: publicForum})
	default:
		c.channel(in, p)
	}
}

func text0(key Symbol, name, topic string) place {
	return place{key: key, name: name, kind: Text, topic: topic}
}

func ptr[T any](v T) *T { return &v }

func (c *compiler) settings(vi bool) {
	locale, names := "en-US", c.kind.english
	if vi {
		locale, names = "vi", c.kind.vietnamese
	}
	c.doc.Guild = &Settings{
		Name: names[0], Description: &names[1], Locale: locale, Verification: ptr(2), Notifications: ptr(1), ContentFilter: ptr(2), AFKChannel: "afk", AFKTimeout: ptr(300),
		Community: &Community{RulesChannel: "rules", Updates: "announcements", SafetyChannel: "mod_log"},
		Welcome: &Welcome{Enabled: true, Description: clip(names[1], 140), Channels: []WelcomeChannel{
			{Channel: "rules", Description: "Read these first"}, {Channel: "welcome", Description: "Where to begin"},
			{Channel: "announcements", Description: "News of this server"}, {Channel: "general", Description: "Talk about anything"},
			{Channel: "introductions", Description: "Say hello"},
		}},
	}
}

func (c *compiler) onboarding() {
	interests := Prompt{
		Key: "interests", Title: "What are you here for?", Required: true, InOnboarding: true,
		Options: []Option{
			{Key: "conversation", Title: "Conversation", Description: "Meet people", Roles: []Symbol{"member"}, Channels: []Symbol{"general", "off_topic"}},
			{Key: "media", Title: "Media", Description: "Share what you make and find", Roles: []Symbol{"member"}, Channels: []Symbol{"media"}},
		},
	}
	for _, p := range c.kind.places {
		if c.doc.channel(p.key) != nil && !p.closed && len(interests.Options) < 5 {
			interests.Options = append(interests.Options, Option{
				Key: p.key, Title: clip(strings.ToUpper(p.name[:1])+strings.ReplaceAll(p.name[1:], "-", " "), 50), Description: clip(p.topic, 100),
				Roles: []Symbol{"member"}, Channels: []Symbol{p.key},
			})
		}
	}
	o := &Onboarding{Enabled: true, Mode: 1, Defaults: []Symbol{
		"rules", "welcome", "announcements", "general", "introductions", "off_topic", "media", "bot_commands",
	}}
	if len(c.kind.roles) > 0 {
		p := Prompt{Key: c.kind.promptKey, Title: c.kind.prompt, Required: true, InOnboarding: true}
		for _, r := range c.kind.roles {
			p.Options = append(p.Options, Option{Key: r.key, Title: r.name, Roles: []Symbol{r.key}})
		}
		o.Prompts = append(o.Prompts, p)
	}
	o.Prompts = append(o.Prompts, interests)
	c.doc.Onboarding = o
}

func (c *compiler) autoMod() {
	alert := Action{Type: actAlert, Alert: ptr(Symbol("mod_log"))}
	exempt := []Symbol{"moderator"}
	c.doc.AutoMod = &AutoMod{Rules: []Rule{
		{Key: "harmful_content", Name: "Harmful content", Event: 1, Trigger: onPresets, Presets: []int{1, 2, 3}, Actions: []Action{{Type: actBlock}, alert}, ExemptRoles: exempt, Enabled: true},
		{Key: "mention_raid", Name: "Mention raids", Event: 1, Trigger: onMentions, MentionLimit: ptr(5), RaidProtection: ptr(true),
			Actions: []Action{{Type: actBlock}, alert, {Type: actTimeout, Seconds: ptr(600)}}, ExemptRoles: exempt, Enabled: true},
		{Key: "spam", Name: "Spam", Event: 1, Trigger: onSpam, Actions: []Action{{Type: actBlock}, alert}, ExemptRoles: exempt, Enabled: true},
	}}
}

func (c *compiler) cards() {
	card := func(key, channel Symbol, color int, lines ...string) Publication {
		content, _ := json.Marshal(strings.Join(lines, "\n")) // of a text
		return Publication{Key: key, Channel: channel, Components: []json.RawMessage{
			fmt.Appendf(nil, `{"type":17,"accent_color":%d,"components":[{"type":10,"content":%s}]}`, color, content),
		}}
	}
	c.doc.Components = &Publications{Publications: []Publication{
		card("welcome_card", "welcome", 0x2ECC71, "## Welcome", c.kind.english[1],
			"Read <#{{channel:rules}}>, say hello in <#{{channel:introductions}}>, then join <#{{channel:general}}>."),
		card("rules_card", "rules", 0xE74C3C, "## Rules", "1. Be kind. No harassment, no hate.", "2. Keep to the topic of a channel.", "3. No spam and no advertising.",
			"4. Keep private things private, yours and others'.", "5. Moderators have the last word; ask them when in doubt."),
		card("announcement_card", "announcements", 0x3498DB, "## News", "What changes here is told in this channel.", "Talk about it in <#{{channel:general}}>."),
	}}
}
