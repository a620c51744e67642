package blueprint

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// markMoved marks what of the tree after is in another place than before: below
// something else, or in another order among those that it was with.
func markMoved(before, after []Node) {
	was := map[string]spot{}
	places(before, "", was)
	markMovedIn(after, "", was)
}

// spot is where a node is.
type spot struct {
	in string
	at int
}

func places(nodes []Node, in string, into map[string]spot) {
	for i, n := range nodes {
		into[n.id] = spot{in, i}
		places(n.Inside, n.id, into)
	}
}

func markMovedIn(nodes []Node, in string, was map[string]spot) {
	var stayed []int // of those that were here, in the order of now
	for i := range nodes {
		n := &nodes[i]
		if old, there := was[n.id]; n.id != "" && there {
			if n.Moved = old.in != in; !n.Moved {
				stayed = append(stayed, i)
			}
		}
		if n.id != "" || len(n.Inside) > 0 {
			below := n.id
			if below == "" {
				below = "new" // in which nothing was before
			}
			markMovedIn(n.Inside, below, was)
		}
	}
	kept := longestRise(stayed, func(i int) int { return was[nodes[i].id].at })
	for _, i := range stayed {
		nodes[i].Moved = !slices.Contains(kept, i)
	}
}

// longestRise is a longest part of the list whose ranks rise: what need not be
// moved to put the list into its order.
func longestRise(list []int, rank func(int) int) []int {
	length, from := make([]int, len(list)), make([]int, len(list))
	best := -1
	for i := range list {
		length[i], from[i] = 1, -1
		for j := range i {
			if rank(list[j]) < rank(list[i]) && length[j] >= length[i] {
				length[i], from[i] = length[j]+1, j
			}
		}
		if best < 0 || length[i] > length[best] {
			best = i
		}
	}
	var kept []int
	for i := best; i >= 0; i = from[i] {
		kept = append(kept, list[i])
	}
	return kept
}

// Pictures are the guild's channels as they were when the plan was made and as
// they will be, and its roles where one of them changes.
func (p *Plan) Pictures() []mcpcore.Picture { return p.Trees.pictures(p.Operations) }

func (t *Trees) pictures(ops []Operation) (all []mcpcore.Picture) {
	all = append(all, mcpcore.Picture{Title: "Channels", Before: branchesOf(t.Before), After: branchesOf(t.After)})
	if touchRoles(ops) {
		all = append(all, mcpcore.Picture{Title: "Roles, the highest first", Before: branchesOf(t.Roles.Before), After: branchesOf(t.Roles.After)})
	}
	return all
}

var marks = map[Change]mcpcore.Mark{Created: mcpcore.Added, Updated: mcpcore.Changed}

func branchesOf(nodes []Node) []mcpcore.Branch {
	all := make([]mcpcore.Branch, 0, len(nodes))
	for _, n := range nodes {
		b := mcpcore.Branch{Name: n.Name, Kind: n.Kind, Mark: marks[n.Change], Moved: n.Moved}
		if n.Kind == resRole {
			b.Kind = "" // as the title says
		}
		if n.Private {
			b.Notes = []string{"private"}
		}
		if len(n.Inside) > 0 {
			b.Inside = branchesOf(n.Inside)
		}
		all = append(all, b)
	}
	return all
}
