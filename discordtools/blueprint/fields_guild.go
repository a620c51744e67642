package blueprint

import (
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
