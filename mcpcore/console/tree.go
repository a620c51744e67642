package console

import (
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// marked is how a branch is coloured: what it says stands beside it in words.
func marked(b mcpcore.Branch) string {
	switch {
	case b.Mark == mcpcore.Added:
		return "added"
	case b.Mark != "":
		return "changed"
	case b.Moved:
		return "moved"
	}
	return ""
}

// sign stands before a branch.
func sign(b mcpcore.Branch) string {
	return map[string]string{"added": "+", "changed": "~", "moved": "↕"}[marked(b)]
}

// counted says how much a tree of what will be has of each.
func counted(after []mcpcore.Branch) string {
	var added, changed, moved, all int
	var count func([]mcpcore.Branch)
	count = func(list []mcpcore.Branch) {
		for _, b := range list {
			all++
			switch b.Mark {
			case mcpcore.Added:
				added++
			case mcpcore.Changed:
				changed++
			}
			if b.Moved {
				moved++
			}
			count(b.Inside)
		}
	}
	count(after)
	var parts []string
	for _, of := range []struct {
		n    int
		word string
	}{{added, "added"}, {changed, "changed"}, {moved, "moved"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.word))
		}
	}
	if parts == nil {
		return "Nothing of it changes."
	}
	return fmt.Sprintf("%s, of %d.", strings.Join(parts, ", "), all)
}
