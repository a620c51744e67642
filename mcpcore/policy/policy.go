// Package policy reads what an operator allows reviewed workflows: one JSON
// document that names each workflow that is on and the exact ids that it may act
// on. What it does not name is off.
//
//	declared := policy.Declared{Workflows: workflows}
//	p, err := declared.Load("policy.json")
//	deps.Permits = p.Workflows
//
// The document is strict: what it does not know, what stands twice and what
// would do nothing under its name are errors, all told at once. [Declared.Schema]
// is its JSON Schema.
package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// Version is the schemaVersion of the documents that this package reads.
const Version = 1

// MaxBytes is how long a document may be.
const MaxBytes = 131_072

// Declared is what a document can speak of: everything that a server has. It is
// not changed and safe for concurrent use.
type Declared struct {
	Workflows []mcpcore.Workflow
	Toolsets  []surface.Toolset // nil: the document cannot pick toolsets
}

// Policy is what a document says.
type Policy struct {
	Workflows mcpcore.WorkflowPolicy
	Toolsets  []string // by name; nil when it picks none
	Surface   Surface  // "" when it does not say
}

// Surface is which tools a session begins with.
type Surface string

// The surfaces.
const (
	Full        Surface = "full"        // all of them
	Progressive Surface = "progressive" // the one that finds the others
)

// document is the form of a policy.
type document struct {
	Protected []string                       `json:"protectedUsers"`
	Groups    map[string]map[string][]string `json:"groups"` // by kind and name
	Toolsets  []string                       `json:"toolsets"`
	Surface   Surface                        `json:"surface"`
	Workflows map[string]permit              `json:"workflows"`
}

type permit struct {
	Enabled bool                `json:"enabled"`
	Scopes  map[string][]string `json:"scopes"`
	Limits  map[string]int      `json:"limits"`
}

// Load reads the document in a file. The policy's Source is the file's name
// without its folder, which agents need not know. The error joins everything that
// is wrong.
func (d Declared) Load(path string) (Policy, error) {
	raw, err := read(path)
	if err != nil {
		return Policy{}, fmt.Errorf("policy: %w", err)
	}
	return d.Parse(filepath.Base(path), raw)
}

// read reads a file that only some can change, since whoever writes it decides
// what agents may do.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0:
		return nil, fmt.Errorf("everybody on this machine can change %s; run: chmod o-w %s", path, path)
	}
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// Parse reads a document. source is where it is from, for messages. The error
// joins everything that is wrong, each with its place in the document and what
// to write instead.
func (d Declared) Parse(source string, raw []byte) (Policy, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // editors put it there
	problems := problems{source: source}
	tree, err := parse(raw)
	if err != nil {
		problems.add("", "%w", err)
		return Policy{}, problems.joined()
	}
	if err := d.validate(tree, &problems); err != nil {
		return Policy{}, err
	}
	var doc document
	// A value of another type than its field's was told by the schema. Decoding goes
	// on past it, so that the rest is looked at too.
	if err := json.Unmarshal(raw, &doc); err != nil && len(problems.all) == 0 {
		return Policy{}, fmt.Errorf("%s: %w", source, err)
	}
	p := Policy{Toolsets: doc.Toolsets, Surface: doc.Surface, Workflows: mcpcore.WorkflowPolicy{Source: source, Permits: map[string]mcpcore.Permit{}}}
	groups := doc.groups(&problems)
	p.Workflows.Protected = groups.expand("protectedUsers", "users", doc.Protected)
	for _, w := range d.Workflows {
		says, named := doc.Workflows[w.Name]
		if !named {
			continue
		}
		allowed := mcpcore.Permit{Enabled: says.Enabled, Limits: says.Limits, Scopes: map[string][]string{}}
		for _, s := range w.Scopes {
			if ids, named := says.Scopes[s.Name]; named {
				allowed.Scopes[s.Name] = groups.expand("workflows."+w.Name+".scopes."+s.Name, kindOf(s), ids)
			}
		}
		p.Workflows.Permits[w.Name] = allowed
	}
	if err := problems.joined(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// parse is the tree of a document.
func parse(raw []byte) (map[string]any, error) {
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("a policy has at most %d bytes", MaxBytes)
	}
	var form json.RawMessage
	err := json.Unmarshal(raw, &form)
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		before := raw[:min(int(syntax.Offset), len(raw))]
		return nil, fmt.Errorf("line %d is not JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(raw); trimmed[0] != '{' {
		return nil, errors.New("a policy is a JSON object")
	}
	tree, issue := args.Parse(raw)
	if issue != nil {
		return nil, fmt.Errorf("%s %s", issue.Path, issue.Message)
	}
	return tree, nil
}

// Enabled are the names of the workflows that the policy turns on, sorted.
func (p Policy) Enabled() (names []string) {
	for name, permit := range p.Workflows.Permits {
		if permit.Enabled {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
