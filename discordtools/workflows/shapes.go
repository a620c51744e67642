package workflows

import (
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Three shapes come back in plan after plan: some fields are set, one more thing
// joins a collection, or one leaves it.

// field is one named thing that a change may set, as it is and as it is wanted,
// in words for people.
type field struct{ Name, Now, Wanted string }

// setting makes plan one that sets the fields that differ, and gives their names.
// Where none differs there is nothing to do.
func setting[S any](plan *mcpcore.Change[S], fields ...field) (changed []string) {
	for _, f := range fields {
		if f.Now != f.Wanted {
			changed = append(changed, f.Name)
			plan.Facts = append(plan.Facts, mcpcore.Fact{Name: f.Name, Value: f.Now + " → " + f.Wanted})
		}
	}
	if len(changed) == 0 {
		nothing(plan)
	}
	return changed
}

// joining makes plan one that adds a thing to a collection that holds there of at
// most most. alike are the ids of those in it that are as the new one would be: one
// means that there is nothing to do, and is given back; of several it cannot be
// said which is meant.
func joining[S any, ID ~string](plan *mcpcore.Change[S], what string, alike []ID, there, most int) (existing ID, err error) {
	switch {
	case len(alike) > 1:
		return "", refused("ambiguous", "%d %s have that name there already", len(alike), what)
	case len(alike) == 1:
		nothing(plan)
		return alike[0], nil
	case there >= most:
		return "", refused("full", "there are %d %s, and there can be %d", there, what, most)
	}
	return "", nil
}

// nothing makes plan one with nothing to do.
func nothing[S any](plan *mcpcore.Change[S]) { plan.Action, plan.Current = "none", true }

// apart is the one of a list for which is holds, nil for none, and all others.
func apart[T any](all []T, is func(T) bool) (one *T, others []T) {
	others = []T{}
	for _, each := range all {
		if is(each) {
			one = &each
		} else {
			others = append(others, each)
		}
	}
	return one, others
}

// use is one kind of thing that names what is to be deleted.
type use struct {
	Word  string // for programs
	Count int
	Of    string // "channels are in it"
}

// readiness is what stands in the way of a deletion: words for programs and, in
// the same order, why for people. The zero value lets it pass.
type readiness struct{ words, why []string }

func (r *readiness) block(word, format string, with ...any) {
	r.words, r.why = append(r.words, word), append(r.why, fmt.Sprintf(format, with...))
}

// free blocks for every kind of use that there is.
func (r *readiness) free(uses ...use) {
	for _, u := range uses {
		if u.Count > 0 {
			r.block(u.Word, "%d %s", u.Count, u.Of)
		}
	}
}

// refuse is the refusal of what is not ready to be deleted; nil when it is.
func (r readiness) refuse(what string) error {
	if len(r.words) == 0 {
		return nil
	}
	return refused(r.words[0], "the %s cannot be deleted: %s", what, strings.Join(r.why, "; "))
}

// vanished turns the error of reading what was deleted into the proof: nil where
// Discord says that it does not exist, an error where it is still there and where
// it could not be read.
func vanished(err error, what string) error {
	switch {
	case gone(err):
		return nil
	case err == nil:
		return fmt.Errorf("the %s is still there", what)
	}
	return err
}
