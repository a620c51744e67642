package mcpcore

import (
	"context"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// Facts are what a person sees of a target, in the order given. What was seen
// is part of what is approved: facts that differ when the call acts refuse it
// (FACTS_CHANGED).
type Facts []Fact

// Fact is one of them. Value is text from Discord and not to be trusted.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// digest binds an approval to the facts that were shown; "" for none.
func (f Facts) digest() Fingerprint {
	if len(f) == 0 {
		return ""
	}
	var b []byte
	for _, fact := range f {
		b = append(canon.AppendString(b, fact.Name), canon.AppendString(nil, fact.Value)...)
	}
	return fingerprintOf(b)
}

// lines are the facts for people and agents, one a line, each value as a JSON
// literal: its text may come from Discord.
func (f Facts) lines() string {
	lines := make([]string, len(f))
	for i, fact := range f {
		lines[i] = fmt.Sprintf("- %s: %s", fact.Name, literal(fact.Value))
	}
	return strings.Join(lines, "\n")
}

// factsChanged refuses a call whose target is no longer what was approved.
func (c *Call) factsChanged(ctx context.Context, cause error) error {
	facts, err := c.Facts(ctx)
	if err != nil {
		return err
	}
	e := &Error{Code: CodeFactsChanged, Detail: "the target is no longer what was shown, so nothing was changed", Cause: cause}
	return e.With("tool", c.tool.Name).With("facts", facts)
}
