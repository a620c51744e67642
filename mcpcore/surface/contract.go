// Package surface is what clients see of a server besides the answers of its
// tools.
//
// The access contract ([NewContract]) says of every tool what it may do and what
// a call of it demands. The catalogue ([Seal], [CheckCatalogue]) is a server that
// shows everything and executes nothing.
package surface

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// The formats of the documents. A number rises when a reader of the one before
// would misunderstand.
const (
	ManifestFormat = "guildwarden.tool-access.v1"
	IndexFormat    = "guildwarden.tool-access-index.v1"
	EntryFormat    = "guildwarden.tool-access-entry.v1"
)

// Contract is the access contract of a list of tools: one entry for each, which
// follows from its declaration and from the policies alone. It grants nothing and
// proves nothing of what a bot may do. Equal declarations give equal bytes, on
// every machine. It is safe for concurrent use.
type Contract struct {
	tools     []Access // by name
	workflows []Workflow
	manifest  func() []byte
	index     func() []byte
	digest    func() string
}

// Workflow is a reviewed workflow by its tools.
type Workflow struct {
	Name       string   `json:"name"`
	Plan       string   `json:"plan"`
	Execute    string   `json:"execute"`
	Verify     string   `json:"verify,omitempty"`
	Companions []string `json:"companions"` // sorted
}

// NewContract is the contract of the tools under the policies. toolsets are those
// that they can be picked by; nil is [All] of the tools. The error joins
// everything that is wrong with their declarations as a whole, such as a plan that
// nothing executes, and names the tools.
func NewContract(tools []mcpcore.Tool, toolsets []Toolset, policies ...mcpcore.Policy) (*Contract, error) {
	if problems := faults(tools); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if toolsets == nil {
		toolsets = All(tools)
	}
	c := &Contract{workflows: workflows(tools)}
	for i := range tools {
		c.tools = append(c.tools, access(&tools[i], c.workflows, toolsets, policies))
	}
	slices.SortFunc(c.tools, func(a, b Access) int { return strings.Compare(a.Name, b.Name) })
	c.manifest = sync.OnceValue(c.writeManifest)
	c.index = sync.OnceValue(c.writeIndex)
	c.digest = sync.OnceValue(func() string {
		sum := sha256.Sum256(c.manifest())
		return "sha256:" + hex.EncodeToString(sum[:])
	})
	return c, nil
}

// Len is the number of tools.
func (c *Contract) Len() int { return len(c.tools) }

// Access is the entry of a tool. Its lists are shared: do not change them.
func (c *Contract) Access(tool string) (Access, bool) {
	i, found := slices.BinarySearchFunc(c.tools, tool, func(a Access, name string) int { return strings.Compare(a.Name, name) })
	if !found {
		return Access{}, false
	}
	return c.tools[i], true
}

// Of is the entry of a tool as JSON, nil for a tool that it does not cover.
func (c *Contract) Of(t *mcpcore.Tool) json.RawMessage {
	a, ok := c.Access(t.Name)
	if !ok {
		return nil
	}
	return write(a)
}

// Manifest is the whole contract as canonical JSON.
func (c *Contract) Manifest() []byte { return slices.Clone(c.manifest()) }

// Digest is the SHA-256 of [Contract.Manifest], as sha256: and hexadecimals.
func (c *Contract) Digest() string { return c.digest() }

// Index is the contract without what each tool demands, as canonical JSON: small
// enough to be read as a whole.
func (c *Contract) Index() []byte { return slices.Clone(c.index()) }

// Entry is what the contract says of one tool, as canonical JSON; false for a tool
// that it does not cover.
func (c *Contract) Entry(tool string) ([]byte, bool) {
	a, ok := c.Access(tool)
	if !ok {
		return nil, false
	}
	return write(struct {
		preamble
		Manifest string     `json:"manifestDigest"`
		Class    ClassTerms `json:"class"`
		Tool     Access     `json:"tool"`
	}{begin(EntryFormat), c.digest(), a.Class.terms(), a}), true
}

// preamble is what every document begins with: what a reader must not take it
// for.
type preamble struct {
	Format           string `json:"format"`
	AuthorityGranted bool   `json:"authorityGranted"` // false
	AccessProven     bool   `json:"accessProven"`     // false
	Credentials      bool   `json:"credentialsRequired"`
	Contacted        bool   `json:"discordContacted"`
	Means            string `json:"means"`
}

func begin(format string) preamble {
	return preamble{Format: format, Means: "What each tool demands, as declared. It grants nothing, replaces no check and does not say what the bot may do in a target."}
}

// count is how many tools there are of each kind.
type count map[string]int

func (c *Contract) count(of func(Access) string) count {
	n := count{}
	for _, a := range c.tools {
		n[of(a)]++
	}
	return n
}

// classCounts has every class, also those of no tool.
func (c *Contract) classCounts() count {
	n := c.count(func(a Access) string { return string(a.Class) })
	for _, class := range classes {
		n[string(class.Class)] += 0
	}
	return n
}

// counts are what the tools are, in numbers.
type counts struct {
	Tools          int   `json:"tools"`
	Workflows      int   `json:"workflows"`
	Class          count `json:"class"`
	Toolset        count `json:"toolset"`
	Effect         count `json:"effect"`
	Authentication count `json:"authentication"`
	TargetScope    count `json:"targetScope"`
	PermissionMode count `json:"permissionMode"`
	Gate           count `json:"gate"`
}

func (c *Contract) counts() counts {
	return counts{
		Tools: len(c.tools), Workflows: len(c.workflows),
		Class:          c.classCounts(),
		Toolset:        c.count(func(a Access) string { return a.Toolset }),
		Effect:         c.count(func(a Access) string { return a.Effect }),
		Authentication: c.count(func(a Access) string { return string(a.Authentication) }),
		TargetScope:    c.count(func(a Access) string { return a.TargetScope }),
		PermissionMode: c.count(func(a Access) string { return string(a.Permissions.Mode) }),
		Gate:           c.count(func(a Access) string { return a.Gate.Kind }),
	}
}

func (c *Contract) writeManifest() []byte {
	return write(struct {
		preamble
		Classes   []ClassTerms `json:"classes"`
		Counts    counts       `json:"counts"`
		Workflows []Workflow   `json:"workflows"`
		Tools     []Access     `json:"tools"`
	}{begin(ManifestFormat), classes, c.counts(), listed(c.workflows), listed(c.tools)})
}

func (c *Contract) writeIndex() []byte {
	type entry struct {
		Name     string      `json:"name"`
		Class    Class       `json:"class"`
		Toolset  string      `json:"toolset"`
		Workflow *Membership `json:"workflow,omitempty"`
	}
	tools := make([]entry, 0, len(c.tools))
	for _, a := range c.tools {
		tools = append(tools, entry{a.Name, a.Class, a.Toolset, a.Workflow})
	}
	return write(struct {
		preamble
		Manifest  string       `json:"manifestDigest"`
		Each      string       `json:"entryUriTemplate"`
		Classes   []ClassTerms `json:"classes"`
		Counts    counts       `json:"counts"`
		Workflows []Workflow   `json:"workflows"`
		Tools     []entry      `json:"tools"`
	}{begin(IndexFormat), c.digest(), ContractEntryURI, classes, c.counts(), listed(c.workflows), tools})
}

// listed is the list, empty instead of null.
func listed[T any](list []T) []T { return append([]T{}, list...) }

// write is v as canonical JSON. What v is made of, this package declares and
// [faults] has looked through, so that a failure is a fault of ours.
func write(v any) []byte {
	raw, err := canon.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("access contract: %v", err))
	}
	tree, issue := args.Parse(raw)
	if issue != nil {
		panic(fmt.Sprintf("access contract: %s %s", issue.Path, issue.Message))
	}
	return canon.Append(nil, tree)
}
