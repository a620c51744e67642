package mcpcore

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/internal/redact"
)

// Precondition is something that must hold before a call acts. It is checked in
// layer 9, after the arguments are frozen. The check is safe for concurrent use
// and changes nothing.
type Precondition struct {
	Name string // as refusals name it
	Doc  string // for operators: what it demands
	Gate Gate   // the gate it stands for, such as TwoKey; ByEffect for none

	// Fields are the authorization fields that it reads and that the gate does not
	// publish by itself, such as __consent_id.
	Fields []string

	// Needs names the evidence it asks for; BuildServer refuses a precondition
	// whose evidence no resolver gives.
	Needs []EvidenceKind

	// Check refuses by returning an error: an [*Error] with its own code, any
	// other error as PRECONDITION_FAILED, which tells the agent its text.
	Check func(ctx context.Context, call *Call) error
}

// Policy demands something of every tool it matches; a nil Match matches all.
// Match is asked when the server is built and changes nothing.
type Policy struct {
	Name    string
	Match   func(*Tool) bool
	Require []Precondition
	Person  bool // a person must approve every call; tools that only read, or only make steps, need none by it
}

func refusal(ctx context.Context, c *Call, p Precondition, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return err // nobody refused, the time is up
	}
	e := Errorf(CodePrecondition, "the precondition %q refused: %s", p.Name, redact.Text(err.Error())).With("tool", c.tool.Name).With("precondition", p.Name)
	e.Cause = err
	return e
}

// EvidenceKind names something that can be read about the world, such as
// "identity" or an embedder's "ticket".
type EvidenceKind string

// EvidenceRef is one question: a kind and what it is about, such as a
// channel's id.
type EvidenceRef struct {
	Kind EvidenceKind
	Key  string
}

// Evidence is the answer. Partial evidence proves nothing: guards that need it
// refuse.
type Evidence struct {
	Complete bool
	Source   string // where it was read, for audits: "discord_rest", "cache"
	Data     any    // what the kind defines
}

// EvidenceResolver reads evidence. It never changes anything. It is safe for
// concurrent use and keeps no failed or partial answer.
type EvidenceResolver interface {
	// Kinds lists what it resolves. The list does not change.
	Kinds() []EvidenceKind
	// Resolve answers one question within ctx. An error means "unknown".
	Resolve(ctx context.Context, ref EvidenceRef) (Evidence, error)
}

func (d *Deps) resolver(kind EvidenceKind) EvidenceResolver {
	for _, r := range d.Evidence {
		if slices.Contains(r.Kinds(), kind) {
			return r
		}
	}
	return nil
}

func (p *Policy) matches(t *Tool) bool { return p.Match == nil || p.Match(t) }

func (d *Deps) preconditions(t *Tool) []Precondition { return t.Preconditions(d.Policies) }

func (d *Deps) person(t *Tool) bool { return t.NeedsPerson(d.Policies) }
