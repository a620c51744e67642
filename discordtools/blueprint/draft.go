package blueprint

import (
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Bindings are the ids of what the document names, by its keys.
type Bindings struct {
	Roles        map[Symbol]string `json:"roles"`
	Categories   map[Symbol]string `json:"categories"`
	Channels     map[Symbol]string `json:"channels"`
	Rules        map[Symbol]string `json:"automod_rules"`
	Publications map[Symbol]string `json:"publications"`
}

func (b Bindings) clone() Bindings {
	c := Bindings{map[Symbol]string{}, map[Symbol]string{}, map[Symbol]string{}, map[Symbol]string{}, map[Symbol]string{}}
	for i, from := range []map[Symbol]string{b.Roles, b.Categories, b.Channels, b.Rules, b.Publications} {
		to := []map[Symbol]string{c.Roles, c.Categories, c.Channels, c.Rules, c.Publications}[i]
		for k, v := range from {
			to[k] = v
		}
	}
	return c
}

// Phase is when an operation is due.
type Phase string

// The phases, in their order. Channels that Discord has in Communities alone
// come behind the guild's settings, which may make it one.
const (
	PhaseRoles        Phase = "roles"
	PhaseCategories   Phase = "categories"
	PhaseChannels     Phase = "channels"
	PhaseGuild        Phase = "guild"
	PhaseOrdering     Phase = "ordering"
	PhaseWelcome      Phase = "welcome"
	PhaseOnboarding   Phase = "onboarding"
	PhaseAutoMod      Phase = "automod"
	PhasePublications Phase = "publications"
)

// What an operation is about.
const (
	resRole       = "role"
	resCategory   = "category"
	resChannel    = "channel"
	resRoleOrder  = "role_order"
	resOrder      = "channel_order"
	resGuild      = "guild"
	resWelcome    = "welcome_screen"
	resOnboarding = "onboarding"
	resRule       = "automod_rule"
	resCard       = "publication"
)

// What an operation does.
const (
	doCreate  = "create"
	doUpdate  = "update"
	doReorder = "reorder"
	doSend    = "send"
)

// Operation is one write.
type Operation struct {
	ID       string `json:"operation_id"`
	Phase    Phase  `json:"phase"`
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Key      Symbol `json:"key"`
	Summary  string `json:"summary"`
	Risk     string `json:"risk"`
}

// Risks of an operation.
const (
	low    = "low"
	medium = "medium"
	high   = "high"
)

// Problem stands in the way.
type Problem struct {
	Code     string  `json:"code"`
	Message  string  `json:"message"`
	Resource *string `json:"resource"`
	Hint     string  `json:"recovery_hint"`
}

// Rights is what the bot may do, and what it lacks.
type Rights struct {
	Administrator bool     `json:"administrator"`
	Missing       []string `json:"missing"`
	TopRole       *string  `json:"top_role_id"`
	TopPosition   int      `json:"top_role_position"`
}

// Draft is what it takes to make a guild like a document.
type Draft struct {
	Document   *Document
	Guild      *Guild
	Bindings   Bindings // of what is there already
	Operations []Operation
	Blockers   []Problem
	Warnings   []string
	Rights     Rights

	adopt bool
	known Bindings // that were given
	needs discord.Permissions
	late  bool // channels are made that Discord has in Communities alone
	diffs map[string][]field
}

// Compare says what it takes to make the guild like the document. known is what
// is known to be the document's already. Whatever else is there under the name
// of one of its parts is taken for that part if it is the only one and as the
// document wants it; with adopt also if it differs, and is changed then.
func Compare(d *Document, g *Guild, known Bindings, adopt bool) *Draft {
	f := &Draft{Document: d, Guild: g, Bindings: Bindings{}.clone(), adopt: adopt, known: known.clone(), diffs: map[string][]field{}}
	f.roles()
	f.categories()
	f.channels(false)
	f.settings()
	f.channels(true)
	f.order()
	f.welcome()
	f.onboarding()
	f.autoMod()
	f.cards()
	f.rights()
	if f.Blockers == nil {
		f.Blockers = []Problem{}
	}
	return f
}

// Current reports whether there is nothing to do and nothing in the way.
func (f *Draft) Current() bool { return len(f.Operations) == 0 && len(f.Blockers) == 0 }

func (f *Draft) do(phase Phase, action, resource string, key Symbol, risk, summary string, diff []field) {
	op := Operation{operationID(resource, key), phase, action, resource, key, clip(summary, 240), risk}
	f.Operations = append(f.Operations, op)
	f.diffs[op.ID] = diff
}

func (f *Draft) block(code, resource, hint, format string, with ...any) {
	p := Problem{Code: code, Message: clip(fmt.Sprintf(format, with...), 500), Hint: clip(hint, 500)}
	if resource != "" {
		p.Resource = &resource
	}
	f.Blockers = append(f.Blockers, p)
}

func (f *Draft) warn(format string, with ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, with...))
}

// Codes of problems.
const (
	CodeHierarchy     = "BOT_ROLE_HIERARCHY"
	CodePermissions   = "MISSING_PERMISSIONS"
	CodeAdministrator = "COMMUNITY_REQUIRES_ADMINISTRATOR"
	CodeUnmanageable  = "UNMANAGEABLE_RESOURCE"
	CodeAmbiguous     = "AMBIGUOUS_RESOURCE"
	CodeConflict      = "RESOURCE_CONFLICT"
	CodeMissing       = "RESOURCE_MISSING"
	CodeLimit         = "GUILD_LIMIT_REACHED"
	CodeOnboarding    = "ONBOARDING_REQUIREMENTS"
	CodeHistory       = "PUBLICATION_HISTORY_INCOMPLETE"
)

const conflictHint = "Make them the same, rename one of them, or plan with adopt to have the guild's changed."

// claim finds what is the document's: what is known to be, or the only one of
// its name. differs says in what it is not as wanted. claim reports whether there
// is something that may be compared.
func claim[T any](f *Draft, resource string, key Symbol, knownID string, byID *T, candidates []*T, differs func(*T) string) (found *T, known bool) {
	at := resource + ":" + string(key)
	switch {
	case knownID != "" && byID != nil:
		return byID, true
	case knownID != "":
		f.warn("%s was there and is gone; it is made again", at)
	}
	switch {
	case len(candidates) == 0:
		return nil, false
	case len(candidates) > 1:
		f.block(CodeAmbiguous, at, "Rename all but the one that is meant.", "the guild has %d of the name of %s", len(candidates), at)
		return nil, true
	}
	if in := differs(candidates[0]); in != "" && !f.adopt {
		f.block(CodeConflict, at, conflictHint, "the guild has one of the name of %s that differs in %s", at, in)
		return nil, true
	}
	return candidates[0], true
}

func (f *Draft) roles() {
	d := f.Document
	for i := range slices.Backward(d.Roles) { // from the top down: a new one lands below all others
		r := &d.Roles[i]
		id := f.known.Roles[r.Key]
		there, known := claim(f, resRole, r.Key, id, f.Guild.role(discord.RoleID(id)), f.Guild.rolesLike(r.Name),
			func(l *liveRole) string {
				switch {
				case r.Exists:
					return ""
				case l.Managed:
					return "belonging to an integration"
				}
				return changed(roleFields(r, l))
			})
		at := resRole + ":" + string(r.Key)
		switch {
		case there == nil && known:
			continue
		case there == nil && r.Exists:
			f.block(CodeMissing, at, "Make it by hand, or take it out of the blueprint.", "the role %s must exist, and does not", r.Key)
			continue
		case there == nil:
			risk := low
			if set(r.Permissions)&(discord.ManageMessages|discord.ManageThreads|discord.KickMembers|discord.ModerateMembers) != 0 {
				risk = medium
			}
			f.do(PhaseRoles, doCreate, resRole, r.Key, risk, fmt.Sprintf("create role %q", r.Name), roleFields(r, nil))
			f.needs |= discord.ManageRoles | set(r.Permissions)
			continue
		}
		f.Bindings.Roles[r.Key] = string(there.ID)
		diff := roleFields(r, there)
		if r.Exists || !differ(diff) {
			continue
		}
		if there.Managed {
			f.block(CodeUnmanageable, at, "Say exists: true, so that it is left as it is.", "the role %s belongs to an integration", r.Key)
			continue
		}
		f.do(PhaseRoles, doUpdate, resRole, r.Key, medium, fmt.Sprintf("update role %q: %s", r.Name, changed(diff)), diff)
		f.needs |= discord.ManageRoles | (set(r.Permissions) ^ there.Permissions.set())
	}
}

func (f *Draft) categories() {
	for i := range f.Document.Categories {
		c := &f.Document.Categories[i]
		id := f.known.Categories[c.Key]
		there, known := claim(f, resCategory, c.Key, id, f.ofType(id, discord.GuildCategory), f.Guild.channelsLike(c.Name, discord.GuildCategory),
			func(l *liveChannel) string { return changed(f.categoryFields(c, l)) })
		switch {
		case there == nil && known:
		case there == nil:
			f.do(PhaseCategories, doCreate, resCategory, c.Key, low, fmt.Sprintf("create category %q", c.Name), f.categoryFields(c, nil))
			f.needOverwrites(discord.ManageChannels, c.Overwrites)
		default:
			f.Bindings.Categories[c.Key] = string(there.ID)
			if diff := f.categoryFields(c, there); differ(diff) {
				f.do(PhaseCategories, doUpdate, resCategory, c.Key, medium, fmt.Sprintf("update category %q: %s", c.Name, changed(diff)), diff)
				f.needOverwrites(discord.ManageChannels, c.Overwrites)
			}
		}
	}
}

// ofType is a channel of the guild that has the type, nil otherwise.
func (f *Draft) ofType(id string, of discord.ChannelType) *liveChannel {
	if c := f.Guild.channel(discord.ChannelID(id)); c != nil && c.Type == of {
		return c
	}
	return nil
}

// channels compares those that need a Community, or the others.
func (f *Draft) channels(late bool) {
	for i := range f.Document.Channels {
		c := &f.Document.Channels[i]
		if c.Type.needsCommunity() != late {
			continue
		}
		id := f.known.Channels[c.Key]
		kind := channelTypes[c.Type]
		if there := f.Guild.channel(discord.ChannelID(id)); id != "" && there != nil && there.Type != kind {
			f.block(CodeConflict, resChannel+":"+string(c.Key), "Change it back, or plan anew.", "the channel %s has another type now", c.Key)
			continue
		}
		there, known := claim(f, resChannel, c.Key, id, f.ofType(id, kind), f.candidates(c),
			func(l *liveChannel) string { return changed(f.channelFields(c, l)) })
		switch {
		case there == nil && known:
		case there == nil:
			f.do(PhaseChannels, doCreate, resChannel, c.Key, low, fmt.Sprintf("create %s channel %q", c.Type, c.Name), f.channelFields(c, nil))
			f.needOverwrites(discord.ManageChannels, f.Document.overwrites(c))
			f.late = f.late || late
		default:
			f.Bindings.Channels[c.Key] = string(there.ID)
			if diff := f.channelFields(c, there); differ(diff) {
				f.do(PhaseChannels, doUpdate, resChannel, c.Key, medium, fmt.Sprintf("update channel %q: %s", c.Name, changed(diff)), diff)
				f.needOverwrites(discord.ManageChannels, c.Overwrites)
			}
		}
	}
}

// candidates are the guild's channels that could be the document's: those of
// its name and type in its category, otherwise those elsewhere that no other
// part of the document fits better.
func (f *Draft) candidates(c *Channel) []*liveChannel {
	all := f.Guild.channelsLike(c.Name, channelTypes[c.Type])
	here := slices.DeleteFunc(slices.Clone(all), func(l *liveChannel) bool { return string(l.Parent) != f.Bindings.Categories[c.parent()] })
	if len(here) > 0 {
		return here
	}
	return slices.DeleteFunc(all, func(l *liveChannel) bool {
		return slices.ContainsFunc(f.Document.Channels, func(o Channel) bool {
			return o.Key != c.Key && (f.Bindings.Channels[o.Key] == string(l.ID) || f.known.Channels[o.Key] == string(l.ID) ||
				o.Name == c.Name && o.Type == c.Type && f.Bindings.Categories[o.parent()] == string(l.Parent))
		})
	})
}

// needOverwrites notes what it takes to write overwrites.
func (f *Draft) needOverwrites(p discord.Permissions, list []Overwrite) {
	f.needs |= p
	for _, o := range list {
		f.needs |= discord.ManageRoles | set(o.Allow) | set(o.Deny)
	}
}
