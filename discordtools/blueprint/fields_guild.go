package blueprint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// settings compares the guild's own settings.
func (f *Draft) settings() {
	s := f.Document.Guild
	if s == nil {
		return
	}
	diff := f.settingFields(s)
	if !differ(diff) {
		return
	}
	risk, summary := medium, "update the guild: "+changed(diff)
	if s.Community != nil && !f.Guild.Settings.has(community) {
		risk, summary = high, "make the guild a Community: "+changed(diff)
		if _, may := f.Guild.rank(); !may.Has(discord.Administrator) {
			f.block(CodeAdministrator, resGuild, "Make the guild a Community by hand, or give the bot ADMINISTRATOR while it does so.",
				"the guild is no Community, and Discord lets administrators alone make it one")
		}
	}
	f.do(PhaseGuild, doUpdate, resGuild, resGuild, risk, summary, diff)
	f.needs |= discord.ManageGuild
}

func (f *Draft) settingFields(s *Settings) (fields []field) {
	l := &f.Guild.Settings
	add := func(x field) { fields = append(fields, x) }
	if s.Name != "" {
		add(is("name", s.Name, &l.Name))
	}
	if s.Description != nil {
		have := text(l.Description)
		add(is("description", *s.Description, &have))
	}
	if s.Locale != "" {
		add(is("preferred_locale", s.Locale, &l.Locale))
	}
	number := func(name string, want *int, have *int) {
		if want != nil {
			add(is(name, *want, have))
		}
	}
	number("verification_level", s.Verification, &l.Verification)
	number("default_message_notifications", s.Notifications, &l.Notifications)
	number("explicit_content_filter", s.ContentFilter, &l.ContentFilter)
	number("afk_timeout", s.AFKTimeout, &l.AFKTimeout)
	channel := func(name string, key Symbol, have discord.ChannelID) {
		if key != "" {
			add(f.reference(name, key, have))
		}
	}
	channel("afk_channel_id", s.AFKChannel, l.AFKChannel)
	channel("system_channel_id", s.SystemChannel, l.SystemChannel)
	m := s.Community
	if m == nil {
		return fields
	}
	channel("rules_channel_id", m.RulesChannel, l.RulesChannel)
	channel("public_updates_channel_id", m.Updates, l.Updates)
	channel("safety_alerts_channel_id", m.SafetyChannel, l.SafetyChannel)
	if !l.has(community) {
		add(field{name: "features", want: append(slices.Clone(l.Features), community), from: "no " + community, to: community})
	}
	return fields
}

// reference is a field that names a channel.
func (f *Draft) reference(name string, key Symbol, have discord.ChannelID) field {
	id := f.Bindings.Channels[key]
	x := field{name: name, want: id, to: string(key), open: id == "", same: id != "" && id == string(have), from: "none"}
	if c := f.Guild.channel(have); c != nil {
		x.from = shown(c.Name)
	}
	return x
}

func (f *Draft) welcome() {
	if f.Document.Guild == nil || f.Document.Guild.Welcome == nil {
		return
	}
	diff := f.welcomeFields(f.Document.Guild.Welcome)
	if differ(diff) {
		f.do(PhaseWelcome, doUpdate, resWelcome, resWelcome, high, "replace the welcome screen: "+changed(diff), diff)
		f.needs |= discord.ManageGuild
		f.needCommunity("a welcome screen")
	}
}

// needCommunity blocks what only a Community has, in a guild that is none and
// will be none.
func (f *Draft) needCommunity(what string) {
	if !f.Guild.Settings.has(community) && (f.Document.Guild == nil || f.Document.Guild.Community == nil) {
		f.block(CodeConflict, resGuild, "Add guild.community to the blueprint, or make the guild a Community by hand.", "%s needs a Community, and the guild is none", what)
	}
}

type sentWelcome struct {
	Channel     string  `json:"channel_id"`
	Description string  `json:"description"`
	EmojiID     *string `json:"emoji_id"`
	EmojiName   *string `json:"emoji_name"`
}

func (f *Draft) welcomeFields(w *Welcome) []field {
	enabled, description := f.Guild.Settings.has(welcomeShown), ""
	channels := field{name: "welcome_channels", want: []sentWelcome{}}
	sent := []sentWelcome{}
	var names []string
	for _, c := range w.Channels {
		id := f.Bindings.Channels[c.Channel]
		channels.open = channels.open || id == ""
		sent = append(sent, sentWelcome{id, c.Description, nil, c.Emoji})
		names = append(names, string(c.Channel))
	}
	channels.want, channels.to = sent, strings.Join(names, ", ")
	if l := f.Guild.Welcome; l != nil {
		description = text(l.Description)
		channels.from = fmt.Sprintf("%d channels", len(l.Channels))
		channels.same = slices.EqualFunc(sent, l.Channels, func(a sentWelcome, b liveWelcomeChannel) bool {
			return a.Channel == string(b.Channel) && a.Description == b.Description && text(a.EmojiName) == text(b.EmojiName) && text(b.EmojiID) == ""
		})
	} else {
		enabled = enabled && w.Enabled
	}
	fields := []field{is("enabled", w.Enabled, &enabled), is("description", w.Description, &description), channels}
	if f.Guild.Welcome == nil && !differ(fields) {
		fields[2].same = false // there is none at all
	}
	return fields
}

func (f *Draft) onboarding() {
	o := f.Document.Onboarding
	if o == nil {
		return
	}
	f.reachable(o)
	diff := f.onboardingFields(o)
	if !differ(diff) {
		return
	}
	if l := f.Guild.Onboarding; l != nil && len(l.Prompts)+len(l.Defaults) > 0 {
		f.warn("the guild has an onboarding already; it is replaced")
	}
	f.do(PhaseOnboarding, doUpdate, resOnboarding, resOnboarding, high, "replace the onboarding: "+changed(diff), diff)
	f.needs |= discord.ManageGuild | discord.ManageRoles
	f.needCommunity("an onboarding")
}

// reachable refuses an onboarding that Discord would refuse because of what
// @everyone may do in this guild.
func (f *Draft) reachable(o *Onboarding) {
	e := f.Guild.everyone()
	if !o.Enabled || e == nil || e.Permissions.set().Has(discord.ViewChannel|discord.SendMessages) {
		return // the document was checked for the rest
	}
	f.block(CodeOnboarding, resOnboarding, "Give @everyone VIEW_CHANNEL and SEND_MESSAGES in the guild, or switch the onboarding off.",
		"@everyone may not see channels or write, and an onboarding needs %d channels of which everyone can write in %d", minDefaults, minSendable)
}

type sentPrompt struct {
	ID           string       `json:"id"`
	Type         int          `json:"type"`
	Title        string       `json:"title"`
	SingleSelect bool         `json:"single_select"`
	Required     bool         `json:"required"`
	InOnboarding bool         `json:"in_onboarding"`
	Options      []sentOption `json:"options"`
}

type sentOption struct {
	ID          string   `json:"id,omitempty"`
	Title       string   `json:"title"`
	Description *string  `json:"description"`
	EmojiName   *string  `json:"emoji_name,omitempty"`
	Roles       []string `json:"role_ids"`
	Channels    []string `json:"channel_ids"`
}

func (f *Draft) onboardingFields(o *Onboarding) []field {
	l := f.Guild.Onboarding
	if l == nil {
		l = &liveOnboarding{Defaults: []discord.ChannelID{}}
	}
	defaults := field{name: "default_channel_ids", from: fmt.Sprintf("%d channels", len(l.Defaults)), to: fmt.Sprintf("%d channels", len(o.Defaults))}
	ids := []string{}
	for _, key := range o.Defaults {
		defaults.open = defaults.open || f.Bindings.Channels[key] == ""
		ids = append(ids, f.Bindings.Channels[key])
	}
	defaults.want = ids
	defaults.same = !defaults.open && sameSet(ids, l.Defaults)
	prompts := field{name: "prompts", from: fmt.Sprintf("%d questions", len(l.Prompts)), to: fmt.Sprintf("%d questions", len(o.Prompts)), same: len(o.Prompts) == len(l.Prompts)}
	sent := []sentPrompt{}
	for i, p := range o.Prompts {
		var there livePrompt
		if like := find(l.Prompts, func(x *livePrompt) bool { return x.Title == p.Title }); like != nil {
			there = *like // whose ids are kept
		}
		s := sentPrompt{there.ID, p.Type, p.Title, p.SingleSelect, p.Required, p.InOnboarding, []sentOption{}}
		for _, x := range p.Options {
			option, open := f.option(x, there)
			s.Options = append(s.Options, option)
			prompts.open = prompts.open || open
		}
		sent = append(sent, s)
		prompts.same = prompts.same && samePrompt(s, l.Prompts[i])
	}
	prompts.want, prompts.same = sent, prompts.same && !prompts.open
	return []field{is("enabled", o.Enabled, &l.Enabled), is("mode", o.Mode, &l.Mode), defaults, prompts}
}

func (f *Draft) option(x Option, in livePrompt) (s sentOption, open bool) {
	s = sentOption{Title: x.Title, EmojiName: x.Emoji, Roles: []string{}, Channels: []string{}}
	if x.Description != "" {
		s.Description = &x.Description
	}
	if like := find(in.Options, func(o *liveOption) bool { return o.Title == x.Title }); like != nil {
		s.ID = like.ID
	}
	for _, key := range x.Roles {
		open = open || f.Bindings.Roles[key] == ""
		s.Roles = append(s.Roles, f.Bindings.Roles[key])
	}
	for _, key := range x.Channels {
		open = open || f.Bindings.Channels[key] == ""
		s.Channels = append(s.Channels, f.Bindings.Channels[key])
	}
	return s, open
}

func samePrompt(s sentPrompt, l livePrompt) bool {
	return s.Title == l.Title && s.Type == l.Type && s.SingleSelect == l.SingleSelect && s.Required == l.Required && s.InOnboarding == l.InOnboarding &&
		slices.EqualFunc(s.Options, l.Options, func(a sentOption, b liveOption) bool {
			return a.Title == b.Title && text(a.Description) == text(b.Description) && text(a.EmojiName) == text(b.Emoji.Name) && text(b.Emoji.ID) == "" &&
				sameSet(a.Roles, b.Roles) && sameSet(a.Channels, b.Channels)
		})
}

// sameSet reports whether two lists hold the same.
func sameSet[A, B ~string](a []A, b []B) bool {
	x, y := make([]string, len(a)), make([]string, len(b))
	for i, v := range a {
		x[i] = string(v)
	}
	for i, v := range b {
		y[i] = string(v)
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func (f *Draft) autoMod() {
	if f.Document.AutoMod == nil {
		return
	}
	for i := range f.Document.AutoMod.Rules {
		r := &f.Document.AutoMod.Rules[i]
		at := resRule + ":" + string(r.Key)
		id := f.known.Rules[r.Key]
		there, known := claim(f, resRule, r.Key, id, f.Guild.rule(discord.RuleID(id)), f.rulesLike(r), func(l *liveRule) bool {
			return l.Trigger != r.Trigger || l.Creator != f.Guild.Bot.ID || maxRules[r.Trigger] > 1 && differ(f.ruleFields(r, l))
		})
		f.needs |= discord.ManageGuild
		if slices.ContainsFunc(r.Actions, func(a Action) bool { return a.Type == actTimeout || a.Type == actBlockMember }) {
			f.needs |= discord.ModerateMembers
		}
		switch {
		case there == nil && known:
		case there == nil:
			if n := f.sameTrigger(r.Trigger); n >= maxRules[r.Trigger] {
				f.block(CodeLimit, at, "Delete one of them by hand.", "the guild has %d rules of trigger type %d, which is all that Discord allows", n, r.Trigger)
				continue
			}
			f.do(PhaseAutoMod, doCreate, resRule, r.Key, medium, fmt.Sprintf("create AutoMod rule %q", r.Name), f.ruleFields(r, nil))
		case there.Creator != f.Guild.Bot.ID || there.Trigger != r.Trigger:
			f.block(CodeConflict, at, "Delete it by hand, or take the rule out of the blueprint.", "the rule %q is not the bot's, or of another trigger", there.Name)
		default:
			f.Bindings.Rules[r.Key] = string(there.ID)
			if diff := f.ruleFields(r, there); differ(diff) {
				f.do(PhaseAutoMod, doUpdate, resRule, r.Key, medium, fmt.Sprintf("update AutoMod rule %q: %s", r.Name, changed(diff)), diff)
			}
		}
	}
}

// rulesLike are the guild's rules that could be the document's: of a trigger
// that Discord has once in a guild that one, otherwise those of the name.
func (f *Draft) rulesLike(r *Rule) (all []*liveRule) {
	for i := range f.Guild.Rules {
		if l := &f.Guild.Rules[i]; maxRules[r.Trigger] == 1 && l.Trigger == r.Trigger || maxRules[r.Trigger] > 1 && l.Name == r.Name {
			all = append(all, l)
		}
	}
	return all
}

func (f *Draft) sameTrigger(trigger int) (n int) {
	for _, l := range f.Guild.Rules {
		if l.Trigger == trigger {
			n++
		}
	}
	return n
}

func (f *Draft) ruleFields(r *Rule, l *liveRule) []field {
	fields := []field{is("name", r.Name, part(l, func(l *liveRule) *string { return &l.Name }))}
	if l == nil { // which never change
		fields = append(fields, field{name: "event_type", want: r.Event}, field{name: "trigger_type", want: r.Trigger})
	}
	m := liveTrigger{Keywords: r.Keywords, Patterns: r.Patterns, Presets: r.Presets, Allowed: r.Allowed}
	if r.MentionLimit != nil {
		m.MentionLimit = *r.MentionLimit
	}
	if r.RaidProtection != nil {
		m.RaidProtection = *r.RaidProtection
	}
	actions, open := f.actions(r)
	exemptRoles, openRoles := resolve(r.ExemptRoles, f.Bindings.Roles)
	exemptChannels, openChannels := resolve(r.ExemptChannels, f.Bindings.Channels, f.Bindings.Categories)
	same := func(of func() bool) bool { return l != nil && of() }
	return append(fields,
		field{name: "trigger_metadata", want: m, to: "as in the blueprint", from: "otherwise", same: same(func() bool { return digestOf(m) == digestOf(l.Metadata) })},
		field{name: "actions", want: actions, open: open, to: fmt.Sprintf("%d actions", len(actions)), from: "otherwise",
			same: same(func() bool { return !open && digestOf(actions) == digestOf(append([]liveAction{}, l.Actions...)) })},
		is("enabled", r.Enabled, part(l, func(l *liveRule) *bool { return &l.Enabled })),
		field{name: "exempt_roles", want: exemptRoles, open: openRoles, to: fmt.Sprintf("%d roles", len(exemptRoles)), from: "otherwise",
			same: same(func() bool { return !openRoles && sameSet(exemptRoles, l.ExemptRoles) })},
		field{name: "exempt_channels", want: exemptChannels, open: openChannels, to: fmt.Sprintf("%d channels", len(exemptChannels)), from: "otherwise",
			same: same(func() bool { return !openChannels && sameSet(exemptChannels, l.ExemptChannels) })},
	)
}

// resolve are the ids of keys, and whether one is not there yet.
func resolve(keys []Symbol, in ...map[Symbol]string) (ids []string, open bool) {
	ids = []string{}
	for _, key := range keys {
		id := ""
		for _, bound := range in {
			if id == "" {
				id = bound[key]
			}
		}
		ids, open = append(ids, id), open || id == ""
	}
	return ids, open
}

func (f *Draft) actions(r *Rule) (all []liveAction, open bool) {
	all = []liveAction{}
	for _, a := range r.Actions {
		l := liveAction{Type: a.Type}
		if a.Alert != nil {
			id := f.Bindings.Channels[*a.Alert]
			l.Metadata.Channel, open = discord.ChannelID(id), open || id == ""
		}
		if a.Seconds != nil {
			l.Metadata.Seconds = *a.Seconds
		}
		l.Metadata.Message = text(a.Message)
		all = append(all, l)
	}
	return all, open
}

func (f *Draft) cards() {
	for i := range f.Document.publications() {
		p := &f.Document.Components.Publications[i]
		channel := f.Bindings.Channels[p.Channel]
		card := p.card(f.Bindings.Channels)
		at := resCard + ":" + string(p.Key)
		var mine []liveCard
		for _, c := range f.Guild.Cards {
			if c.Key == p.Key && channel != "" && string(c.Channel) == channel {
				mine = append(mine, c)
			}
		}
		same := slices.IndexFunc(mine, func(c liveCard) bool {
			return card != nil && c.Digest == cardDigest(layoutTree([]json.RawMessage(splitList(card))))
		})
		switch {
		case same >= 0:
			f.Bindings.Publications[p.Key] = string(mine[same].Message)
		case len(mine) > 0:
			f.block(CodeConflict, at, "Delete the old message by hand, or give the publication another key.", "the bot's message %s says something else than the blueprint", mine[0].Message)
		case channel != "" && slices.Contains(f.Guild.Unread, channel):
			f.block(CodeHistory, at, "Send it by hand, or publish into a channel with fewer messages.", "the channel has more messages than are read, so that nobody can tell whether it was sent")
		default:
			f.do(PhasePublications, doSend, resCard, p.Key, medium, fmt.Sprintf("send %s into %s", p.Key, p.Channel), nil)
			f.needs |= discord.ViewChannel | discord.SendMessages | discord.ReadMessageHistory
		}
	}
}

// splitList are the items of a JSON list.
func splitList(raw json.RawMessage) (items []json.RawMessage) {
	_ = json.Unmarshal(raw, &items) // of a list of our own making
	return items
}

// rights says what the bot may do, and blocks what it may not.
func (f *Draft) rights() {
	top, may := f.Guild.rank()
	f.Rights = Rights{Administrator: may.Has(discord.Administrator), Missing: []string{}}
	if top != nil {
		id := string(top.ID)
		f.Rights.TopRole, f.Rights.TopPosition = &id, top.Position
	}
	if lack := f.needs &^ may; lack != 0 {
		f.Rights.Missing = lack.Names()
		f.block(CodePermissions, "", "Give the bot's role these permissions in the guild's settings; it cannot give itself any.", "the bot lacks %s", lack)
	}
	if f.Guild.Settings.Owner == f.Guild.Bot.ID {
		return
	}
	for _, op := range f.Operations {
		if op.Resource != resRole && op.Resource != resRoleOrder {
			continue
		}
		if top == nil {
			f.block(CodeHierarchy, op.Resource+":"+string(op.Key), "Give the bot a role of its own above the roles it manages.", "the bot has no role above @everyone")
			return
		}
		if r := f.Guild.role(discord.RoleID(f.Bindings.Roles[op.Key])); op.Action == doUpdate && r != nil && !below(r, top) {
			f.block(CodeHierarchy, op.Resource+":"+string(op.Key), "Move the bot's role above it.", "the role %q is not below the bot's highest", r.Name)
		}
	}
}

// below reports whether a role is below another.
func below(r, top *liveRole) bool {
	return r.Position < top.Position || r.Position == top.Position && discord.CompareIDs(r.ID, top.ID) > 0
}
