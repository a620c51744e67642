package blueprint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Node is a line of a tree of channels: a category with its channels, or a
// channel.
type Node struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`             // category, or a channel's
	Change  Change `json:"change,omitempty"` // "" for what stays as it is
	Moved   bool   `json:"moved,omitempty"`  // to another place among the others, or into another category
	Private bool   `json:"private,omitempty"`
	Inside  []Node `json:"inside,omitempty"`

	id string `json:"-"` // of what is there; "" of what is new
}

// Change is what becomes of a line.
type Change string

// The changes.
const (
	Created Change = "create"
	Updated Change = "update"
	Foreign Change = "untouched" // the document does not speak of it
)

// Trees are the guild's channels as they are, and as they will be.
type Trees struct {
	Before []Node `json:"before"`
	After  []Node `json:"after"`
	Roles  struct {
		Before []Node `json:"before"` // from the highest down
		After  []Node `json:"after"`
	} `json:"roles"`
}

// Trees shows the draft as trees, for people.
func (f *Draft) Trees() Trees {
	t := Trees{Before: f.before(), After: f.after()}
	for i := range slices.Backward(f.Guild.Roles) {
		r := &f.Guild.Roles[i]
		t.Roles.Before = append(t.Roles.Before, Node{Name: r.Name, Kind: resRole, id: string(r.ID)})
	}
	t.Roles.After = f.rolesAfter()
	markMoved(t.Before, t.After)
	markMoved(t.Roles.Before, t.Roles.After)
	return t
}

// rolesAfter are the roles as they will be. New ones land below the others, and
// then the document's have their order in all the places that are theirs.
func (f *Draft) rolesAfter() (all []Node) {
	keys := map[string]Symbol{}
	for key, id := range f.Bindings.Roles {
		keys[id] = key
	}
	var mine []Node // from the lowest up
	fresh := 0
	for i := range f.Document.Roles {
		r := &f.Document.Roles[i]
		id := f.Bindings.Roles[r.Key]
		switch {
		case r.Exists:
		case id == "":
			fresh++
			mine = append(mine, Node{Name: r.Name, Kind: resRole, Change: Created})
		default:
			mine = append(mine, Node{Name: r.Name, Kind: resRole, Change: f.change(resRole, r.Key), id: id})
		}
	}
	next := func() {
		all = append(all, mine[len(mine)-1])
		mine = mine[:len(mine)-1]
	}
	for i := range slices.Backward(f.Guild.Roles) {
		l := &f.Guild.Roles[i]
		key, known := keys[string(l.ID)]
		if known && !f.Document.role(key).Exists {
			next()
			continue
		}
		if string(l.ID) == string(f.Guild.Settings.ID) {
			for range fresh {
				next()
			}
		}
		all = append(all, Node{Name: l.Name, Kind: resRole, Change: Foreign, id: string(l.ID)})
	}
	return all
}

// change is what becomes of something that is there.
func (f *Draft) change(resource string, key Symbol) Change {
	if slices.ContainsFunc(f.Operations, func(o Operation) bool { return o.Resource == resource && o.Key == key && o.Action == doUpdate }) {
		return Updated
	}
	return ""
}

// before is the tree as Discord shows it.
func (f *Draft) before() []Node {
	return assemble(f.Guild.Channels, func(c liveChannel) Node {
		return Node{Name: c.Name, Kind: nameOfType(c.Type), Private: f.hides(c), id: string(c.ID)}
	})
}

func (f *Draft) hides(c liveChannel) bool {
	return slices.ContainsFunc(c.Overwrites, func(o liveOverwrite) bool {
		return string(o.ID) == string(f.Guild.Settings.ID) && o.Deny.set().Has(discord.ViewChannel)
	})
}

// hiddenCategory reports whether a category of the document will be private.
func (f *Draft) hiddenCategory(c *Category) bool {
	if l := f.Guild.channel(discord.ChannelID(f.Bindings.Categories[c.Key])); l != nil && c.Overwrites == nil {
		return f.hides(*l)
	}
	return hidden(c.Overwrites)
}

// hiddenChannel reports whether a channel of the document will be private. One
// without overwrites of its own is as it was, and a new one is as its category.
func (f *Draft) hiddenChannel(c *Channel) bool {
	l := f.Guild.channel(discord.ChannelID(f.Bindings.Channels[c.Key]))
	parent := f.Document.category(c.parent())
	switch {
	case len(c.Overwrites) > 0:
		return hidden(c.Overwrites)
	case c.Overwrites == nil && l != nil:
		return f.hides(*l)
	case parent != nil:
		return f.hiddenCategory(parent)
	}
	return false
}

func nameOfType(t discord.ChannelType) string {
	if t == discord.GuildCategory {
		return resCategory
	}
	return cmp.Or(string(kindOf(t)), t.String())
}

// assemble puts channels into their categories, in the order that Discord shows
// them in.
func assemble(channels []liveChannel, node func(liveChannel) Node) (all []Node) {
	sorted := slices.Clone(channels)
	slices.SortStableFunc(sorted, func(a, b liveChannel) int {
		return cmp.Or(cmp.Compare(rankOf(a.Type), rankOf(b.Type)), cmp.Compare(a.Position, b.Position))
	})
	inside := map[discord.ChannelID][]Node{}
	for _, c := range sorted {
		if c.Type != discord.GuildCategory {
			inside[c.Parent] = append(inside[c.Parent], node(c))
		}
	}
	all = inside[""]
	for _, c := range sorted {
		if c.Type == discord.GuildCategory {
			n := node(c)
			n.Inside = inside[c.ID]
			all = append(all, n)
		}
	}
	return all
}

// rankOf puts what people write in before what they speak in.
func rankOf(t discord.ChannelType) int {
	if kindOf(t).voice() {
		return 1
	}
	return 0
}

// after is the tree as it will be.
func (f *Draft) after() []Node {
	mine := map[discord.ChannelID]Node{}
	channels := slices.Clone(f.Guild.Channels)
	place := func(id string, of discord.ChannelType, parent string, made *int) *liveChannel {
		if c := find(channels, func(c *liveChannel) bool { return string(c.ID) == id }); id != "" && c != nil {
			c.Parent = discord.ChannelID(parent)
			return c
		}
		*made++
		channels = append(channels, liveChannel{ID: discord.ChannelID(fmt.Sprintf("new %d", *made)), Type: of, Parent: discord.ChannelID(parent), Position: 100_000 + *made})
		return &channels[len(channels)-1]
	}
	made := 0
	categories := map[Symbol]string{}
	for i := range f.Document.Categories {
		c := &f.Document.Categories[i]
		l := place(f.Bindings.Categories[c.Key], discord.GuildCategory, "", &made)
		categories[c.Key] = string(l.ID)
		mine[l.ID] = Node{Name: c.Name, Kind: resCategory, Private: f.hiddenCategory(c), Change: f.becomes(resCategory, c.Key, f.Bindings.Categories), id: f.Bindings.Categories[c.Key]}
	}
	for i := range f.Document.Channels {
		c := &f.Document.Channels[i]
		l := place(f.Bindings.Channels[c.Key], channelTypes[c.Type], categories[c.parent()], &made)
		mine[l.ID] = Node{Name: c.Name, Kind: string(c.Type), Private: f.hiddenChannel(c), Change: f.becomes(resChannel, c.Key, f.Bindings.Channels), id: f.Bindings.Channels[c.Key]}
	}
	f.arrange(channels, categories)
	return assemble(channels, func(c liveChannel) Node {
		if n, ok := mine[c.ID]; ok {
			return n
		}
		return Node{Name: c.Name, Kind: nameOfType(c.Type), Private: f.hides(c), Change: Foreign, id: string(c.ID)}
	})
}

func (f *Draft) becomes(resource string, key Symbol, bound map[Symbol]string) Change {
	if bound[key] == "" {
		return Created
	}
	return f.change(resource, key)
}

// arrange gives the document's channels the places of their group in its order.
func (f *Draft) arrange(channels []liveChannel, categories map[Symbol]string) {
	made, lists := 0, map[group][]*liveChannel{}
	next := func(id string, g group) {
		if id == "" {
			made++
			id = fmt.Sprintf("new %d", made)
		}
		lists[g] = append(lists[g], find(channels, func(c *liveChannel) bool { return string(c.ID) == id }))
	}
	for _, c := range f.Document.Categories {
		next(f.Bindings.Categories[c.Key], group{kind: ofCategories})
	}
	for i := range f.Document.Channels {
		c := &f.Document.Channels[i]
		g := group{discord.ChannelID(categories[c.parent()]), ofTexts}
		if c.Type.voice() {
			g.kind = ofVoices
		}
		next(f.Bindings.Channels[c.Key], g)
	}
	for _, list := range lists {
		places := make([]int, len(list))
		for i, c := range list {
			places[i] = c.Position
		}
		slices.Sort(places)
		for i, c := range list {
			c.Position = places[i]
		}
	}
}

var signs = map[Change]string{Created: "+", Updated: "~"}

// drawTree writes a tree as lines.
func drawTree(b *strings.Builder, nodes []Node, depth int) {
	for _, n := range nodes {
		mark, kind := cmp.Or(signs[n.Change], " "), ""
		if n.Kind != string(Text) && n.Kind != resCategory && n.Kind != resRole {
			kind = " (" + n.Kind + ")"
		}
		if n.Private {
			kind += " [private]"
		}
		if n.Moved {
			kind += " [moved]"
		}
		fmt.Fprintf(b, "%s %s%s%s\n", mark, strings.Repeat("  ", depth), oneLine(n.Name), kind)
		drawTree(b, n.Inside, depth+1)
	}
}

// oneLine is a name that cannot pretend to be lines of ours.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// Diff is the draft for people: what stands in the way, what would be done and
// why, and the channels before and after. Lines with + are made, with ~ changed, with [moved] put elsewhere.
func (f *Draft) Diff() string {
	var b strings.Builder
	if f.Current() {
		b.WriteString("The guild is as the blueprint wants it.\n")
		return b.String()
	}
	for _, p := range f.Blockers {
		fmt.Fprintf(&b, "! %s: %s. %s\n", p.Code, oneLine(p.Message), oneLine(p.Hint))
	}
	for _, op := range f.Operations {
		fmt.Fprintf(&b, "%s %s (%s)\n", map[string]string{doCreate: "+", doSend: "+", doUpdate: "~", doReorder: "~"}[op.Action], oneLine(op.Summary), op.Risk)
		if op.Action != doUpdate {
			continue
		}
		for _, x := range f.diffs[op.ID] {
			if !x.same {
				fmt.Fprintf(&b, "    %s: %s -> %s\n", x.name, oneLine(cmp.Or(x.from, "nothing")), oneLine(cmp.Or(x.to, "nothing")))
			}
		}
	}
	for _, w := range f.Warnings {
		fmt.Fprintf(&b, "# %s\n", oneLine(w))
	}
	t := f.Trees()
	if touchRoles(f.Operations) {
		b.WriteString("\nRoles before:\n")
		drawTree(&b, t.Roles.Before, 0)
		b.WriteString("\nRoles after:\n")
		drawTree(&b, t.Roles.After, 0)
	}
	b.WriteString("\nChannels before:\n")
	drawTree(&b, t.Before, 0)
	b.WriteString("\nChannels after:\n")
	drawTree(&b, t.After, 0)
	return b.String()
}

func touchRoles(ops []Operation) bool {
	return slices.ContainsFunc(ops, func(o Operation) bool { return o.Phase == PhaseRoles || o.Resource == resRoleOrder })
}

// Summary counts operations.
type Summary struct {
	Total   int         `json:"total_operations"`
	Create  int         `json:"create_operations"`
	Update  int         `json:"update_operations"`
	Reorder int         `json:"reorder_operations"`
	Send    int         `json:"send_operations"`
	High    int         `json:"high_risk_operations"`
	ByPhase PhaseCounts `json:"by_phase"`
}

// Summarize counts operations, in all phases.
func Summarize(ops []Operation) Summary {
	s := Summary{Total: len(ops)}
	for _, op := range ops {
		s.ByPhase.count(op.Phase)
		switch op.Action {
		case doCreate:
			s.Create++
		case doUpdate:
			s.Update++
		case doReorder:
			s.Reorder++
		case doSend:
			s.Send++
		}
		if op.Risk == high {
			s.High++
		}
	}
	return s
}

// PhaseCounts counts operations by phase.
type PhaseCounts struct {
	Roles        int `json:"roles"`
	Categories   int `json:"categories"`
	Channels     int `json:"channels"`
	Ordering     int `json:"ordering"`
	Guild        int `json:"guild"`
	Welcome      int `json:"welcome"`
	Onboarding   int `json:"onboarding"`
	AutoMod      int `json:"automod"`
	Publications int `json:"publications"`
}

func (c *PhaseCounts) count(p Phase) {
	switch p {
	case PhaseRoles:
		c.Roles++
	case PhaseCategories:
		c.Categories++
	case PhaseChannels:
		c.Channels++
	case PhaseOrdering:
		c.Ordering++
	case PhaseGuild:
		c.Guild++
	case PhaseWelcome:
		c.Welcome++
	case PhaseOnboarding:
		c.Onboarding++
	case PhaseAutoMod:
		c.AutoMod++
	case PhasePublications:
		c.Publications++
	}
}
