package surface

import "github.com/guildwarden/guildwarden/mcpcore"

// Class is what sort of thing a call of a tool is, from the question to the
// write.
type Class string

// The classes.
const (
	Local               Class = "local"                // answers from this process
	LiveRead            Class = "live-read"            // reads at Discord or another service
	ReviewedPlan        Class = "reviewed-plan"        // reads, and says what its workflow would write
	ReviewedExecution   Class = "reviewed-execution"   // writes what was planned and reviewed
	ReceiptVerification Class = "receipt-verification" // reads whether what was written still holds
	GuardedWrite        Class = "guarded-write"        // writes behind its gate, without a plan
)

// ClassTerms are what holds for every tool of a class.
type ClassTerms struct {
	Class    Class  `json:"class"`
	Request  string `json:"request"`  // what leaves the process at most: none, read or write
	Approval string `json:"approval"` // none, gate or review
	Evidence string `json:"evidence"` // what is looked at before it acts, or answers
}

// classes are all of them, in the order of a call's life.
var classes = []ClassTerms{
	{Local, "none", "none", "none"},
	{LiveRead, "read", "none", "call"},
	{ReviewedPlan, "read", "none", "target"},
	{ReviewedExecution, "write", "review", "plan-made-again"},
	{ReceiptVerification, "read", "none", "receipt-and-reading"},
	{GuardedWrite, "write", "gate", "call"},
}

func (c Class) terms() ClassTerms {
	for _, t := range classes {
		if t.Class == c {
			return t
		}
	}
	return ClassTerms{Class: c}
}

// ClassOf is a tool's class. It follows from its effect, its scope and its part
// in a workflow, so that no tool can claim another.
func ClassOf(t *mcpcore.Tool) Class {
	switch {
	case t.Part.Role == mcpcore.Plan:
		return ReviewedPlan
	case t.Part.Role == mcpcore.Execute:
		return ReviewedExecution
	case t.Part.Role == mcpcore.Verify:
		return ReceiptVerification
	case t.Effect != mcpcore.Read:
		return GuardedWrite
	case t.Scope == mcpcore.LocalScope:
		return Local
	}
	return LiveRead
}
