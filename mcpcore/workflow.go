package mcpcore

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Workflow is a reviewed change as a server offers it: a tool that plans, one
// that executes what was planned and reviewed, and where it declares one, a tool
// that verifies. Make it with [Operation.Workflow]. Workflows are values, and
// nothing of them may be changed.
type Workflow struct {
	Name     string // "role-deletion"
	Category string
	Title    string
	Effect   Effect
	Scopes   []PolicyScope // what a policy must name for it
	Limits   []PolicyLimit // what a policy may set for it

	tools  []Tool
	prompt Prompt
}

// Tools are the workflow's tools: plan, execute, verify where there is one, its
// companions and audits. They are ordinary tools, and of no use without each other:
// [BuildServer] takes all of them or none.
func (w Workflow) Tools() []Tool { return slices.Clone(w.tools) }

// Operation declares a reviewed workflow: data, and small functions that read,
// plan, write once and read back. All else is the engine's, in this order:
//
//  1. Plan reads what is there and says what would be done. The digest of the
//     plan is keyed and covers the request and all of [Change].
//  2. A person sees the plan and approves it, in layer 10.
//  3. Plan is called again; another digest ends the call with PLAN_CHANGED.
//  4. The targets are claimed in the [OperationLedger], in canonical order, and
//     Plan is called a last time.
//  5. The operation key is reserved, once and for ever.
//  6. The write is recorded as pending, with the time by which it is over.
//  7. Apply writes, once. Nothing repeats it, and its deadline is shorter than
//     the lease of the claims.
//  8. ReadBack reads the target anew.
//  9. The receipt is finished and the claims are released; after a write whose
//     outcome is not known they are kept, and the targets are quarantined until
//     an operator looked.
//
// A plan whose change is there already (Change.Current) ends after its first
// step with the status already-current and leaves nothing behind.
//
// In is the input as of [Define]; the engine adds the arguments operationKey
// and, to the tool that executes, planDigest. State is what Plan found: a struct
// with JSON names, encoded canonically, so that equal states have equal bytes.
//
// The functions are safe for concurrent use. Plan, ReadBack and Verify change
// nothing.
type Operation[In, State any] struct {
	Name     string // words joined by hyphens, unique: "role-deletion"
	Noun     string // what the tools' names are made of, after plan_ and execute_; "" is Name with underscores
	Executes string // the name of the tool that executes, where it is not execute_ and the noun
	Title    string // for people: "Delete a role"
	Doc      string // for agents: what it does and what to beware of, in full sentences
	Category string // what its tools are switched on and off with

	Effect      Effect // Write, or Destroy, which executes on an armed server alone
	Scope       Scope
	Scopes      []PolicyScope // what the operator's policy must name, exactly
	Limits      []PolicyLimit // what it may bound
	Protects    []string      // arguments naming users whom the policy may protect
	Acknowledge []string      // boolean arguments that must be true, one for each consequence
	Redact      []string      // as of [Tool]
	Rules       []Rule        // as of [Tool]
	Companions  []Tool        // reading tools that are there when the workflow is, and where it may act
	Audits      []Tool        // reading tools that are there whether it is enabled or not

	// Takes is how long Apply may take; 0 is thirty seconds, at most ten minutes. The
	// targets are held for longer.
	Takes time.Duration

	Tool Tool // what else its tools declare: Needs, NeedsWhen, NeedsIn, Intents, Outranks, Routes, Crosses, Locked, Require

	// Plan reads what the change depends on and says what it would be. Its error
	// refuses the call: what cannot be read completely cannot be planned.
	Plan func(ctx context.Context, call *Call, in In) (Change[State], error)
	// Targets are what the write touches, at least one: nobody else may write
	// them meanwhile, through any server of this ledger. At most [MaxTargets].
	Targets func(in In, s State) []Target
	// Apply sends the one write. A bulk change that takes several sends them in
	// order, stops at the first that is not done, and returns nil when that one was
	// definitely refused and others were done before: ReadBack then proves which. An
	// error leaves the outcome open, and the
	// targets quarantined, unless it is made by [NotDone]. An answer is checked
	// strictly before it is believed; what id it gave is returned beside the
	// error.
	Apply func(ctx context.Context, call *Call, in In, s State) (Written, error)
	// Children are the writes of a change that takes several, where each is to be an
	// operation of its own, with a key made from the caller's, a record that it is
	// pending, a read-back and a receipt. They are written in this order. The first
	// that is not proven to be as planned ends the whole, and the key is spent. What
	// stops between two of them is paused: the same request goes on under its key,
	// after a new plan and a new approval; what was completed is read back again and
	// never written again. At most a thousand. nil: Apply is called once.
	Children func(in In, s State) []Child[State]
	// ReadBack reads the targets anew after a write that was answered. An error
	// leaves the outcome open.
	ReadBack func(ctx context.Context, call *Call, in In, s State, w Written) (Reading, error)
	// Verify looks later whether what the receipt says still holds. nil: there is
	// no tool that verifies.
	Verify func(ctx context.Context, call *Call, in In, r Receipt) (Reading, error)
}

// Change is what a workflow would do. All of it is part of the plan's digest but
// what is named Unbound.
type Change[State any] struct {
	Action  string // what is done, in one word: "create", "delete"
	Current bool   // it is so already, and nothing needs to be written

	// State is everything that the write depends on: what is there, what is
	// wanted, and the evidence that the bot may. The plan shows it whole.
	State State

	// More says that there is more to do, which can be planned when this is done: the
	// operation pauses after its last child.
	More bool

	// Affected is what is hit, one by one, in the order of the writes. Plans and
	// people see the count and the first of them; the digest covers all.
	Affected []Affected
	// Estimate is how many are hit where nobody can name them; 0 is the length of
	// Affected.
	Estimate int

	Facts    Facts     // what a person must see
	Unbound  Facts     // what they see besides and may change meanwhile, such as display names
	Pictures []Picture // drawn for the person who decides
	Warnings []string  // of ours, in full sentences
	Risks    []string  // what to look at, as words: "irreversible"
}

// Child is one write of a change that takes several.
type Child[State any] struct {
	Name    string // what makes its key: unique, and the same in each plan of the request
	State   State  // what Apply and ReadBack get in place of the plan's
	Current bool   // it is so already, and is not written
}

// Affected is one thing that a bulk change hits.
type Affected struct {
	ID     string `json:"id"`
	Action string `json:"action,omitempty"` // where it is not the plan's
	Name   string `json:"name,omitempty"`   // for people; not to be trusted and no part of the digest
}

// FirstShown is how many of a bulk change's items plans and people see.
const FirstShown = 5

// Written is what the answer to the write says.
type Written struct {
	ID string // of what was made or changed, as the answer names it; "" where it names none
}

// Reading is what a read-back found: that the change is there, and what of it
// differs.
type Reading struct {
	ID    string   // of what was made or changed; "" is that of the answer
	Drift []string // fields that differ from what was planned, by fixed names; nil for none

	// Failed are those of a bulk change that were not done, by the ids of Affected:
	// proven, not guessed.
	Failed []string
	// Absent says, to Verify, that what the receipt speaks of is not there any
	// more.
	Absent bool
}

// NotDone is the error of an Apply whose write was certainly not carried out:
// the other side refused it, or it was never sent. The operation has failed,
// and its targets are free.
func NotDone(err error) error {
	if err == nil {
		return nil
	}
	return &notDone{err}
}

// IsNotDone reports whether the error is one of [NotDone].
func IsNotDone(err error) bool {
	_, ok := errors.AsType[*notDone](err)
	return ok
}

type notDone struct{ error }

func (n *notDone) Unwrap() error { return n.error }

// WorkflowPolicy is what an operator allows. The zero value allows nothing. It
// is not changed once it is given to [BuildServer].
type WorkflowPolicy struct {
	// Source is where it is written, for the explanations of what is off: "the file of
	// --policy". "" is "the workflow policy".
	Source    string
	Permits   map[string]Permit // by the workflow's name; one without is off
	Protected []string          // users that no workflow may act on
}

// Permit is what an operator allows one workflow.
type Permit struct {
	Enabled bool
	// Scopes are the ids that it may act on, by the names of its PolicyScopes:
	// exactly these. A name without ids allows none.
	Scopes map[string][]string
	Limits map[string]int // by the names of its PolicyLimits
}

// PolicyScope is a list of ids that an operator's policy must hold for a
// workflow.
type PolicyScope struct {
	Name string // in the policy: "guilds", "roles"
	Arg  string // the argument that must be in it: a text or a list of texts; "" when Plan asks [Call.Permitted] itself
	Doc  string // for operators: "roles that may be deleted"

	// Pattern is what an item looks like in a policy document, where it is not an
	// id of 17 to 20 digits: a regular expression over the whole text.
	Pattern string
}

// PolicyLimit is a bound that an operator's policy may set for a workflow.
type PolicyLimit struct {
	Name    string // in the policy: "maxMembers"
	Default int    // without it
	Max     int    // what it may be at most
	Doc     string
}

// Target is one thing that a write touches: a channel, or all the channels of a
// guild.
type Target struct {
	Kind string // "role", or of a collection "guild/roles": lower-case words, hyphens and slashes
	ID   string // of the thing, or of what the collection is in
}

// String is the target as ledgers keep it: "role:123".
func (t Target) String() string { return t.Kind + ":" + t.ID }

// MaxTargets is how many targets one operation can claim.
const MaxTargets = 256
