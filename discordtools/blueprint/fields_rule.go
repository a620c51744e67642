package blueprint

import (
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools/internal/wire"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// autoMod compares AutoMod rules. Of some triggers Discord takes one rule in a
// guild: such a rule is the document's if the bot made it, whatever its name.
func (f *Draft) autoMod() {
	if f.Document.AutoMod == nil {
		return
	}
	for i := range f.Document.AutoMod.Rules {
		r := &f.Document.AutoMod.Rules[i]
		at := resRule + ":" + string(r.Key)
		id := f.known.Rules[r.Key]
		there, known := claim(f, resRule, r.Key, id, f.Guild.rule(discord.RuleID(id)), f.rulesLike(r), func(l *liveRule) string {
			switch {
			case l.Trigger != r.Trigger:
				return "its trigger"
			case l.Creator != f.Guild.Bot.ID:
				return "who made it"
			case maxRules[r.Trigger] == 1: // which is changed, as nobody else can have one
				return ""
			}
			return changed(f.ruleFields(r, l))
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
	m := wire.Trigger{Keywords: r.Keywords, Patterns: r.Patterns, Presets: r.Presets, Allowed: r.Allowed}
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
			same: same(func() bool { return !open && digestOf(actions) == digestOf(append([]wire.Action{}, l.Actions...)) })},
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

func (f *Draft) actions(r *Rule) (all []wire.Action, open bool) {
	all = []wire.Action{}
	for _, a := range r.Actions {
		l := wire.Action{Type: a.Type}
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
