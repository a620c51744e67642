package surface

import (
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// action is what a request wants done, and what a tool does, in the coarse.
type action int

const (
	acts action = iota // something of its own, said by a word of its own: ban, pin
	looks
	makes
	changes
	removes
)

// verbs say an action, in requests and as the first word of a tool's title.
var verbs = map[action]string{
	looks: `list get show read see look find search check which who what whose how why when where view display inspect count fetch audit explain
		compare preview whom there does did anybody anyone estimate know information info detail`,
	makes: `create add make new upload register build generate open start begin launch save turn plan schedule insert introduce post`,
	changes: `change modify edit update set rename move replace adjust alter enable disable switch raise lower restrict configure increase reorder correct reschedule postpone
		assign refresh sync fix toggle limit`,
	removes: `delete remove drop clear wipe purge kill revoke cancel erase take strip undo end close stop unregister rid lift disconnect shut leave quit`,
}

var actions = func() map[string]action {
	all := map[string]action{}
	for a, words := range verbs {
		for _, w := range stems(words) {
			all[w] = a
		}
	}
	return all
}()

// phrases say an action in several words, which are otherwise misleading.
var phrases = []struct {
	said []string
	action
}{
	{stems("get rid"), removes}, {stems("set up"), makes}, {stems("i need"), makes}, {stems("turn on"), changes}, {stems("turn off"), changes}, {stems("give me"), looks},
	{stems("tell me"), looks}, {stems("should not be"), removes}, {stems("has to go"), removes},
	{stems("must go"), removes}, {stems("a new name"), changes}, {stems("another name"), changes}, {stems("a different name"), changes}, {stems("should no longer be"), removes},
	{stems("let us know"), looks}, {stems("is there"), looks}, {stems("is the"), looks}, {stems("is this"), looks}, {stems("are there"), looks},
}

// does is the action of a tool: what its title begins with, if that agrees with
// its effect.
func does(t *mcpcore.Tool) action {
	if t.Effect == mcpcore.Read {
		return looks
	}
	title := stems(t.Title)
	if len(title) == 0 {
		return acts
	}
	if a := actions[title[0]]; a != looks {
		return a
	}
	return acts
}

// telling are verbs that also say what it is about.
var telling = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range stems("search audit explain count compare preview inspect sync schedule refresh post start read revoke") {
		all[w] = true
	}
	return all
}()

// asks is the action of a request: what the first words say that say one. One that
// begins with things and does nothing with them wants to see them.
func (x *index) asks(query string) action {
	words := stems(query)
	for i, w := range words {
		for _, p := range phrases {
			if i+len(p.said) <= len(words) && slices.Equal(words[i:i+len(p.said)], p.said) {
				return p.action
			}
		}
		if a, ok := actions[w]; ok {
			return a
		}
	}
	if first := fold(query); len(first) > 0 && x.nouns[words[0]] && plural(first[0]) {
		return looks
	}
	return acts
}

// agree is how well a tool's action fits the one that is asked for.
func agree(asked, does action) float64 {
	switch {
	case asked == does:
		return 1
	case asked == looks:
		return 0.45
	case does == looks:
		return 0.5
	case asked == acts || does == acts:
		return 0.85
	}
	return 0.6
}

// several reports whether a request is about more than one thing.
func several(words []string) bool {
	for _, w := range words {
		switch w {
		case "all", "every", "list", "which", "who", "many":
			return true
		}
		if s := stem(w); plural(w) && !idle[s] && actions[s] == acts {
			return true
		}
	}
	return false
}

// plural reports whether a word looks like more than one of something.
func plural(word string) bool {
	return len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && word != "this"
}

// number is how well a tool fits a request about one thing or several.
func (x *index) number(i int, several bool) float64 {
	title := x.title[i]
	if len(title) == 0 {
		return 1
	}
	if x.does[i] != looks {
		switch bulk := slices.Contains(title, "several"); {
		case bulk && several:
			return 1.15
		case bulk:
			return 0.8
		}
		return 1
	}
	lists := title[0] == "list" || title[0] == "search"
	switch {
	case several && title[0] == "get":
		return 0.8
	case !several && lists:
		return 0.85
	}
	return 1
}
