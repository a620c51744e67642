package blueprint

import (
	"cmp"
	"slices"
)

func (c *capturer) captureSettings() {
	l := c.guild.Settings
	s := &Settings{
		Name: l.Name, Description: ptr(text(l.Description)), Locale: l.Locale, Verification: &l.Verification, Notifications: &l.Notifications, ContentFilter: &l.ContentFilter,
		AFKChannel: c.channels[l.AFKChannel], SystemChannel: c.channels[l.SystemChannel],
	}
	if slices.Contains([]int{60, 300, 900, 1800, 3600}, l.AFKTimeout) {
		s.AFKTimeout = &l.AFKTimeout
	}
	c.Document.Guild = s
	if !l.has(community) {
		return
	}
	if rules, updates := c.channels[l.RulesChannel], c.channels[l.Updates]; rules != "" && updates != "" {
		s.Community = &Community{RulesChannel: rules, Updates: updates, SafetyChannel: c.channels[l.SafetyChannel]}
	}
	w := c.guild.Welcome
	if w == nil {
		return
	}
	welcome := &Welcome{Enabled: l.has(welcomeShown), Description: text(w.Description)}
	for _, x := range w.Channels {
		key := c.channels[x.Channel]
		if key == "" || x.EmojiID != nil {
			c.leave("the welcome screen: it names what a document does not")
			return
		}
		welcome.Channels = append(welcome.Channels, WelcomeChannel{key, x.Description, x.EmojiName})
	}
	s.Welcome = welcome
}

func (c *capturer) captureOnboarding() {
	l := c.guild.Onboarding
	if l == nil || len(l.Prompts)+len(l.Defaults) == 0 {
		return
	}
	o := &Onboarding{Enabled: l.Enabled, Mode: l.Mode}
	whole := true
	for _, id := range l.Defaults {
		whole = whole && c.channels[id] != ""
		o.Defaults = append(o.Defaults, c.channels[id])
	}
	c.used = map[Symbol]bool{}
	for _, p := range l.Prompts {
		prompt := Prompt{Key: c.key(p.Title, "prompt"), Type: p.Type, Title: p.Title, Required: p.Required, InOnboarding: p.InOnboarding, SingleSelect: p.SingleSelect}
		used := c.used
		c.used = map[Symbol]bool{}
		for _, x := range p.Options {
			option := Option{Key: c.key(x.Title, "option"), Title: x.Title, Description: text(x.Description), Emoji: x.Emoji.Name}
			whole = whole && x.Emoji.ID == nil
			for _, id := range x.Roles {
				whole = whole && c.roles[id] != ""
				option.Roles = append(option.Roles, c.roles[id])
			}
			for _, id := range x.Channels {
				whole = whole && c.channels[id] != ""
				option.Channels = append(option.Channels, c.channels[id])
			}
			prompt.Options = append(prompt.Options, option)
		}
		c.used = used
		o.Prompts = append(o.Prompts, prompt)
	}
	if !whole {
		c.leave("the onboarding: it names what a document does not")
		return
	}
	c.Document.Onboarding = o
}

func (c *capturer) captureRules() {
	c.used = map[Symbol]bool{}
	a := &AutoMod{}
	names := map[string]int{}
	for _, l := range c.guild.Rules {
		names[l.Name]++
	}
	for _, l := range c.guild.Rules {
		if l.Creator != c.guild.Bot.ID {
			c.leave("AutoMod rule %q: the bot did not make it", l.Name)
			continue
		}
		if names[l.Name] > 1 {
			c.leave("AutoMod rule %q: several have that name", l.Name)
			continue
		}
		r := Rule{
			Name: l.Name, Event: l.Event, Trigger: l.Trigger, Keywords: l.Metadata.Keywords, Patterns: l.Metadata.Patterns,
			Presets: l.Metadata.Presets, Allowed: l.Metadata.Allowed, Enabled: l.Enabled,
		}
		if l.Trigger == onMentions {
			r.MentionLimit, r.RaidProtection = ptr(l.Metadata.MentionLimit), ptr(l.Metadata.RaidProtection)
		}
		whole := true
		for _, x := range l.Actions {
			action := Action{Type: x.Type}
			if x.Metadata.Channel != "" {
				key := c.channels[x.Metadata.Channel]
				whole, action.Alert = whole && key != "", &key
			}
			if x.Type == actTimeout {
				action.Seconds = ptr(x.Metadata.Seconds)
			}
			if x.Metadata.Message != "" {
				action.Message = ptr(x.Metadata.Message)
			}
			r.Actions = append(r.Actions, action)
		}
		for _, id := range l.ExemptRoles {
			whole = whole && c.roles[id] != ""
			r.ExemptRoles = append(r.ExemptRoles, c.roles[id])
		}
		for _, id := range l.ExemptChannels {
			key := cmp.Or(c.channels[id], c.categories[id])
			whole = whole && key != ""
			r.ExemptChannels = append(r.ExemptChannels, key)
		}
		if !whole {
			c.leave("AutoMod rule %q: it names what a document does not", l.Name)
			continue
		}
		r.Key = c.key(l.Name, "rule")
		a.Rules = append(a.Rules, r)
	}
	if len(a.Rules) > 0 {
		c.Document.AutoMod = a
	}
}

func (c *capturer) captureCards() {
	p := &Publications{}
	seen := map[Symbol]bool{}
	for _, card := range c.guild.Cards {
		channel := c.channels[card.Channel]
		if channel == "" || seen[card.Key] {
			c.leave("publication %s: its channel is left out, or another has its key", card.Key)
			continue
		}
		seen[card.Key] = true
		p.Publications = append(p.Publications, Publication{Key: card.Key, Channel: channel, Components: unmarked(card.layout, c.byID)})
	}
	if len(p.Publications) > 0 {
		c.Document.Components = p
	}
}
