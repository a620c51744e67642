package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// kinds are the kinds of ids that groups can hold.
var kinds = []string{"guilds", "channels", "roles", "users"}

// kindOf is the kind of the ids in a scope, which its name ends with: roles,
// alertChannels. "" for a scope of others, which takes no groups.
func kindOf(s mcpcore.PolicyScope) string {
	if s.Pattern != "" {
		return ""
	}
	for _, kind := range kinds {
		if strings.HasSuffix(strings.ToLower(s.Name), kind) {
			return kind
		}
	}
	return ""
}

// groups are the named lists of a document.
type groups struct {
	by       map[string]map[string][]string // by kind and name
	problems *problems
}

func (d *document) groups(p *problems) groups {
	for _, kind := range slices.Sorted(maps.Keys(d.Groups)) {
		for _, name := range slices.Sorted(maps.Keys(d.Groups[kind])) {
			at := "groups." + kind + "." + name
			for i, id := range d.Groups[kind][name] {
				p.checkID(item(at, i), id)
			}
		}
	}
	return groups{d.Groups, p}
}

// expand is the list with the ids of its groups in their place. Each id stands
// in it once.
func (g groups) expand(at, kind string, list []string) []string {
	all, from := []string{}, map[string]string{}
	add := func(at, id, via string) {
		if before, twice := from[id]; twice && before != via {
			g.problems.add(at, "%s stands there twice, through %s and %s", id, before, via)
			return
		}
		from[id] = via
		all = append(all, id)
	}
	for i, entry := range list {
		name, grouped := strings.CutPrefix(entry, "@")
		if !grouped || kind == "" {
			if kind != "" {
				g.problems.checkID(item(at, i), entry)
			}
			add(item(at, i), entry, "its own id")
			continue
		}
		ids, there := g.by[kind][name]
		if !there {
			g.problems.add(item(at, i), "%s", g.missing(kind, name))
			continue
		}
		for _, id := range ids {
			add(item(at, i), id, entry)
		}
	}
	return all
}

// missing says why a list cannot name the group, and which it can.
func (g groups) missing(kind, name string) string {
	for _, other := range kinds {
		if _, there := g.by[other][name]; there {
			return "@" + name + " is a group of " + other + ", and here stand " + kind
		}
	}
	there := slices.Sorted(maps.Keys(g.by[kind]))
	text := "there is no group " + quoted(name) + " in groups." + kind
	switch near := args.Nearest(name, there); {
	case near != "":
		return text + "; did you mean \"@" + near + "\"?"
	case len(there) > 0:
		return text + "; there are: @" + strings.Join(there, ", @")
	}
	return text + ", which has none"
}

// checkID tells of an id that has the right digits and is none.
func (p *problems) checkID(at, id string) {
	if idPattern.MatchString(id) && discord.CheckID(id) != nil {
		p.add(at, "%s is too large for an id", id)
	}
}
