package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// field is one setting of something: what the document wants, and what there is.
type field struct {
	name     string // at Discord
	want     any    // its value there; nil is null
	from, to string // for people
	same     bool
	open     bool // it names something that is not there yet
}

// is makes a field of two comparable values.
func is[T comparable](name string, want T, have *T) field {
	f := field{name: name, want: want, to: shown(want)}
	if have != nil {
		f.from, f.same = shown(*have), *have == want
	}
	return f
}

func shown(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", clip(s, 80))
	}
	return fmt.Sprint(v)
}

// differ reports whether a field is not as it is wanted.
func differ(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return !f.same })
}

// changed names the fields that are not as they are wanted.
func changed(fields []field) string {
	var names []string
	for _, f := range fields {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// part is a pointer into what there is, nil for something new.
func part[T, V any](have *T, of func(*T) *V) *V {
	if have == nil {
		return nil
	}
	return of(have)
}

func roleFields(r *Role, l *liveRole) []field {
	p := bits(set(r.Permissions))
	permissions := field{name: "permissions", want: p, to: set(r.Permissions).String()}
	if l != nil {
		permissions.from, permissions.same = l.Permissions.set().String(), l.Permissions == p
	}
	return []field{
		is("name", r.Name, part(l, func(l *liveRole) *string { return &l.Name })),
		permissions,
		is("color", r.Color, part(l, func(l *liveRole) *int { return &l.Color })),
		is("hoist", r.Hoist, part(l, func(l *liveRole) *bool { return &l.Hoist })),
		is("mentionable", r.Mentionable, part(l, func(l *liveRole) *bool { return &l.Mentionable })),
	}
}

func (f *Draft) categoryFields(c *Category, l *liveChannel) []field {
	fields := []field{is("name", c.Name, part(l, func(l *liveChannel) *string { return &l.Name }))}
	if l == nil {
		fields = append(fields, field{name: "type", want: discord.GuildCategory})
	}
	if c.Overwrites != nil {
		fields = append(fields, f.overwriteField(c.Overwrites, l))
	}
	return fields
}

func (f *Draft) channelFields(c *Channel, l *liveChannel) []field {
	fields := []field{is("name", c.Name, part(l, func(l *liveChannel) *string { return &l.Name }))}
	add := func(x field) { fields = append(fields, x) }
	if l == nil {
		add(field{name: "type", want: channelTypes[c.Type]})
	}
	add(f.parentField(c, l))
	if c.Topic != nil {
		topic := ""
		if l != nil && l.Topic != nil {
			topic = *l.Topic
		}
		add(is("topic", *c.Topic, part(l, func(*liveChannel) *string { return &topic })))
	}
	number := func(name string, want *int, have func(*liveChannel) *int) {
		if want != nil {
			add(is(name, *want, part(l, have)))
		}
	}
	number("rate_limit_per_user", c.SlowMode, func(l *liveChannel) *int { return &l.SlowMode })
	if c.NSFW != nil {
		add(is("nsfw", *c.NSFW, part(l, func(l *liveChannel) *bool { return &l.NSFW })))
	}
	number("bitrate", c.Bitrate, func(l *liveChannel) *int { return &l.Bitrate })
	number("user_limit", c.UserLimit, func(l *liveChannel) *int { return &l.UserLimit })
	number("default_auto_archive_duration", c.ThreadArchive, func(l *liveChannel) *int { return &l.ThreadArchive })
	number("default_thread_rate_limit_per_user", c.ThreadSlowMode, func(l *liveChannel) *int { return &l.ThreadSlowMode })
	number("default_forum_layout", c.Layout, func(l *liveChannel) *int { return &l.Layout })
	number("default_sort_order", c.SortOrder, func(l *liveChannel) *int {
		if l.SortOrder == nil {
			none := -1
			return &none
		}
		return l.SortOrder
	})
	if c.Reaction != nil {
		x := field{name: "default_reaction_emoji", want: liveEmoji{Name: c.Reaction}, to: *c.Reaction}
		if l != nil && l.Reaction != nil && l.Reaction.Name != nil {
			x.from, x.same = *l.Reaction.Name, *l.Reaction.Name == *c.Reaction
		}
		add(x)
	}
	if c.RequireTag != nil {
		add(flagField(*c.RequireTag, l))
	}
	if c.Tags != nil {
		add(tagField(c.Tags, l))
	}
	if c.Overwrites != nil {
		add(f.overwriteField(f.Document.overwrites(c), l))
	}
	return fields
}

func flagField(want bool, l *liveChannel) field {
	flags := 0
	if l != nil {
		flags = l.Flags &^ flagRequireTag
	}
	if want {
		flags |= flagRequireTag
	}
	x := field{name: "flags", want: flags, to: fmt.Sprintf("require a tag: %t", want)}
	if l != nil {
		x.from, x.same = fmt.Sprintf("require a tag: %t", l.Flags&flagRequireTag != 0), l.Flags == flags
	}
	return x
}

func (f *Draft) parentField(c *Channel, l *liveChannel) field {
	id := f.Bindings.Categories[c.parent()]
	x := field{name: "parent_id", to: string(c.parent()), open: c.Parent != nil && id == ""}
	if id != "" {
		x.want = id
	}
	if l != nil {
		x.from, x.same = "none", !x.open && string(l.Parent) == id
		if p := f.Guild.channel(l.Parent); p != nil {
			x.from = shown(p.Name)
		}
	}
	return x
}

// tagField keeps the ids of tags whose names stay, so that posts keep them.
func tagField(want []Tag, l *liveChannel) field {
	same := l != nil && len(l.Tags) == len(want)
	tags := make([]liveTag, len(want))
	for i, t := range want {
		tags[i] = liveTag{Name: t.Name, Moderated: t.Moderated, EmojiName: t.Emoji}
		if l == nil {
			continue
		}
		if old := find(l.Tags, func(o *liveTag) bool { return o.Name == t.Name }); old != nil {
			tags[i].ID = old.ID
		}
		if same {
			o := l.Tags[i]
			same = o.Name == t.Name && o.Moderated == t.Moderated && text(o.EmojiName) == text(t.Emoji) && text(o.EmojiID) == ""
		}
	}
	x := field{name: "available_tags", want: sentTags(tags), same: same, to: tagNames(tags)}
	if l != nil {
		x.from = tagNames(l.Tags)
	}
	return x
}

type sentTag struct {
	ID        string  `json:"id,omitempty"`
	Name      string  `json:"name"`
	Moderated bool    `json:"moderated"`
	EmojiName *string `json:"emoji_name"`
}

func sentTags(tags []liveTag) []sentTag {
	all := make([]sentTag, len(tags))
	for i, t := range tags {
		all[i] = sentTag{t.ID, t.Name, t.Moderated, t.EmojiName}
	}
	return all
}

func tagNames(tags []liveTag) string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// subject is whom an overwrite is about, "" while that is not there yet.
func (f *Draft) subject(s Subject) (id discord.OverwriteID, kind int) {
	switch s.Kind {
	case "everyone":
		return discord.OverwriteID(f.Guild.Settings.ID), discord.OverwriteRole
	case "bot":
		return discord.OverwriteID(f.Guild.Bot.ID), discord.OverwriteMember
	}
	return discord.OverwriteID(f.Bindings.Roles[s.Key]), discord.OverwriteRole
}

// overwriteField wants the document's overwrites, and those of subjects that the
// document does not know as they are.
func (f *Draft) overwriteField(want []Overwrite, l *liveChannel) field {
	x := field{name: "permission_overwrites", same: true, to: f.told(want)}
	mine := map[discord.OverwriteID]bool{}
	for _, s := range f.subjects() {
		if id, _ := f.subject(s); id != "" {
			mine[id] = true
		}
	}
	sent := []liveOverwrite{}
	var have []liveOverwrite
	if l != nil {
		have = l.Overwrites
	}
	left := map[discord.OverwriteID]liveOverwrite{}
	for _, o := range have {
		if !mine[o.ID] {
			sent = append(sent, o)
		} else if o.Allow|o.Deny != 0 {
			left[o.ID] = o
		}
	}
	for _, o := range want {
		id, kind := f.subject(o.Subject)
		wanted := liveOverwrite{id, kind, bits(set(o.Allow)), bits(set(o.Deny))}
		if wanted.Allow|wanted.Deny == 0 {
			continue
		}
		if id == "" {
			x.open, x.same = true, false
			continue
		}
		x.same = x.same && left[id] == wanted
		delete(left, id)
		sent = append(sent, wanted)
	}
	x.same = x.same && len(left) == 0 && l != nil
	slices.SortFunc(sent, func(a, b liveOverwrite) int { return discord.CompareIDs(a.ID, b.ID) })
	x.want = sent
	if l != nil {
		x.from = f.toldLive(have)
	}
	return x
}

// subjects are all that the document speaks for in overwrites.
func (f *Draft) subjects() []Subject {
	all := []Subject{{Kind: "everyone"}, {Kind: "bot"}}
	for _, r := range f.Document.Roles {
		all = append(all, Subject{"role", r.Key})
	}
	return all
}

// told are overwrites for people.
func (f *Draft) told(list []Overwrite) string {
	var all []string
	for _, o := range list {
		name := o.Subject.Kind
		if o.Subject.Key != "" {
			name = string(o.Subject.Key)
		}
		all = append(all, toldRights(name, set(o.Allow), set(o.Deny)))
	}
	return strings.Join(all, "; ")
}

func (f *Draft) toldLive(list []liveOverwrite) string {
	var all []string
	for _, o := range list {
		name := string(o.ID)
		switch r := f.Guild.role(discord.RoleID(o.ID)); {
		case string(o.ID) == string(f.Guild.Settings.ID):
			name = "everyone"
		case string(o.ID) == string(f.Guild.Bot.ID):
			name = "bot"
		case r != nil:
			name = shown(r.Name)
		}
		all = append(all, toldRights(name, o.Allow.set(), o.Deny.set()))
	}
	return strings.Join(all, "; ")
}

func toldRights(name string, allow, deny discord.Permissions) string {
	s := name
	for _, p := range allow.Names() {
		s += " +" + p
	}
	for _, p := range deny.Names() {
		s += " -" + p
	}
	return s
}
