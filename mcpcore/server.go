package mcpcore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Deps is everything a server is made of. It is copied by [Assemble], lists
// included.
type Deps struct {
	Name         string // as clients see it; "guildwarden" when empty
	Version      string // "dev" when empty
	Instructions string // for agents, sent once

	Tools     []Tool
	Resources []Resource // documents to read; those of tools that are not there are left out
	Prompts   []Prompt   // ready requests; those whose tools are not there are left out

	// Known are ids that the operator's policy names, by what they name. They are
	// offered to complete arguments; nothing is asked of Discord for it.
	Known map[discord.Kind][]string

	Chain    []Middleware // outermost first; see middleware.Standard
	Policies []Policy
	Evidence []EvidenceResolver // the first that gives a kind is asked
	Audit    AuditSink          // nil keeps nothing
	Ledger   Ledger             // keeps approvals and previews; needed by tools that are approved. ledger.NewMemory is one
	Approver Approver           // asks a person; without one a call that needs a person is refused

	Workflows  []Workflow      // their tools are added to Tools, and to Prompts one for each that plans it
	Permits    WorkflowPolicy  // what the workflows may do; the zero value enables none
	Operations OperationLedger // needed by enabled workflows; ledger.NewOperations is one
	// Volatile lets workflows run on an Operations that ends with the process: for a
	// sandbox, where nothing is lost with it.
	Volatile bool

	// Armed is the operator's key, MCP_DRY_RUN being exactly "false": without it
	// tools whose gate is Payload only preview.
	Armed bool

	// RequirePreview refuses a confirmed call that was never previewed here
	// (MCP_REQUIRE_PREVIEW). It needs a Ledger.
	RequirePreview bool

	// Identity is the bot that the calls act as, where the operator has locked it:
	// an approval is for that bot alone.
	Identity string

	// StateKey seals what a client carries while it is asked something and keys the
	// digests of plans, at least 32 bytes: servers that share one take over from
	// each other. nil is a random one, so that questions and plans end with the
	// process.
	StateKey []byte

	// Hide keeps matching tools, and with them the others of their workflow, out
	// of tools/list, and lets none be revealed. It is no guard: a layer must
	// refuse them as well. nil hides none.
	Hide func(*Tool) bool

	// Opening says which tools a session begins with. The others answer like
	// unknown ones until a call of that session reveals them; see [Call.Reveal].
	// nil opens all of them.
	Opening func(*Tool) bool

	// Each is called with every new server before anybody gets it, to add what an
	// SDK server has beside tools. nil adds nothing.
	Each func(*mcp.Server)

	// Identify says who asks. nil takes the verified user of an HTTP request
	// and the constant "stdio" elsewhere. An error or an empty name refuses the
	// call.
	Identify func(ctx context.Context, req *mcp.CallToolRequest) (string, error)

	Transport string           // "stdio" when empty; recorded in audits
	Deadline  time.Duration    // how long a call may take; 0 is two minutes
	InFlight  int              // how many calls may run at once, in all servers of an assembly; 0 is 128
	Logger    *slog.Logger     // nil discards
	Clock     func() time.Time // nil is time.Now
}

func (d *Deps) fill() {
	d.Tools, d.Chain = slices.Clone(d.Tools), slices.Clone(d.Chain)
	d.Resources, d.Prompts = slices.Clone(d.Resources), slices.Clone(d.Prompts)
	for _, w := range d.Workflows {
		d.Tools, d.Prompts = append(d.Tools, w.tools...), append(d.Prompts, w.prompt)
	}
	d.addActivity()
	d.Policies, d.Evidence = slices.Clone(d.Policies), slices.Clone(d.Evidence)
	d.Name = cmp.Or(d.Name, "guildwarden")
	d.Version = cmp.Or(d.Version, "dev")
	d.Transport = cmp.Or(d.Transport, "stdio")
	d.Deadline = cmp.Or(d.Deadline, 2*time.Minute)
	d.InFlight = cmp.Or(d.InFlight, 128)
	if d.Audit == nil {
		d.Audit = noAudit{}
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Clock == nil {
		d.Clock = time.Now
	}
	if d.Identify == nil {
		d.Identify = identify
	}
}

// identify is the default of [Deps.Identify].
func identify(_ context.Context, req *mcp.CallToolRequest) (string, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return "stdio", nil
	}
	if req.Extra.TokenInfo.UserID == "" {
		return "", errors.New("the verified token names no user")
	}
	return req.Extra.TokenInfo.UserID, nil
}
