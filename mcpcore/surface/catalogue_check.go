package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// CatalogueReport is what a check of a catalogue states: what every catalogue
// states, whose it is, how much it lists and the digest of its access contract.
// It holds no name of a tool, no id, no path, no time and nothing of the machine.
type CatalogueReport struct {
	SchemaVersion    int           `json:"schema_version"` // 1
	Status           string        `json:"status"`         // ok: a failed check has no report
	ServerName       string        `json:"server_name"`
	ServerVersion    string        `json:"server_version"`
	ExecutionGuard   string        `json:"execution_guard"`           // CATALOG_ONLY
	Credentials      bool          `json:"credentials_required"`      // false
	Discord          string        `json:"discord_execution"`         // disabled
	ActivityEvidence bool          `json:"activity_evidence_created"` // false
	AuthorityGranted bool          `json:"authority_granted"`         // false
	ProtocolEras     int           `json:"protocol_era_count"`
	Tools            int           `json:"tool_count"`
	Resources        int           `json:"resource_count"`
	Templates        int           `json:"resource_template_count"`
	Prompts          int           `json:"prompt_count"`
	Workflows        int           `json:"workflow_count"`
	Classes          map[Class]int `json:"access_class_counts"`
	Manifest         string        `json:"manifest_digest"`
}

// catalogueEras are a version of each lifecycle of the protocol: with a handshake
// and without.
var catalogueEras = []string{"2025-11-25", "2026-07-28"}

// CheckCatalogue looks at a sealed server through clients of both eras of the
// protocol, in this process: that it lists the tools of the contract and each of
// them whole, that its documents are the contract's, and that it answers every
// call and every reading of something live alike. The error joins everything that
// is not so.
func CheckCatalogue(ctx context.Context, server *mcp.Server, c *Contract) (CatalogueReport, error) {
	k := &checking{contract: c}
	for _, era := range catalogueEras {
		if err := k.era(ctx, server, era); err != nil {
			k.problem("protocol %s: %w", era, err)
		}
	}
	if len(k.problems) > 0 {
		return CatalogueReport{}, errors.Join(k.problems...)
	}
	r := k.report
	r.SchemaVersion, r.Status = 1, "ok"
	r.ExecutionGuard, r.Discord = string(mcpcore.CodeCatalogOnly), "disabled"
	r.ProtocolEras = len(catalogueEras)
	r.Workflows, r.Classes, r.Manifest = len(c.workflows), map[Class]int{}, c.Digest()
	for name, n := range c.classCounts() {
		r.Classes[Class(name)] = n
	}
	return r, nil
}

// checking is a check under way.
type checking struct {
	contract *Contract
	problems []error
	report   CatalogueReport
	listed   []byte // what the first era lists
	answer   []byte // what the first era answers
}

func (k *checking) problem(format string, with ...any) {
	k.problems = append(k.problems, fmt.Errorf(format, with...))
}

// era looks at the server as a client of one version does. Its error is one that
// ends the look.
func (k *checking) era(ctx context.Context, server *mcp.Server, version string) error {
	near, far := mcp.NewInMemoryTransports()
	theirs, err := server.Connect(ctx, far, nil)
	if err != nil {
		return err
	}
	defer theirs.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "catalogue-check", Version: "1"}, nil).
		Connect(ctx, near, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	defer session.Close()
	if who := session.InitializeResult().ServerInfo; who != nil {
		k.report.ServerName, k.report.ServerVersion = who.Name, who.Version
	}
	if err := k.lists(ctx, session); err != nil {
		return err
	}
	if err := k.documents(ctx, session); err != nil {
		return err
	}
	return k.guard(ctx, session)
}

func (k *checking) lists(ctx context.Context, s *mcp.ClientSession) error {
	var tools []*mcp.Tool
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		tools = append(tools, t)
		for _, what := range lacks(t) {
			k.problem("tool %q: its definition lacks %s", t.Name, what)
		}
		if _, ok := k.contract.Access(t.Name); !ok {
			k.problem("tool %q: it has no entry in the access contract", t.Name)
		}
	}
	if len(tools) != k.contract.Len() {
		k.problem("%d tools are listed, the access contract covers %d", len(tools), k.contract.Len())
	}
	if k.same(&k.listed, tools); len(tools) == 0 {
		k.problem("no tool is listed")
	}
	var resources, templates, prompts int
	for r, err := range s.Resources(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list resources: %w", err)
		}
		resources++
		k.static(ctx, s, r.URI)
	}
	for _, err := range s.ResourceTemplates(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list resource templates: %w", err)
		}
		templates++
	}
	for _, err := range s.Prompts(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list prompts: %w", err)
		}
		prompts++
	}
	k.report.Tools, k.report.Resources, k.report.Templates, k.report.Prompts = len(tools), resources, templates, prompts
	return nil
}

// same holds v against what the first era gave.
func (k *checking) same(first *[]byte, v any) {
	b, err := canon.Marshal(v)
	switch {
	case err != nil:
		k.problem("%w", err)
	case *first == nil:
		*first = b
	case !bytes.Equal(*first, b):
		k.problem("the eras of the protocol are not told the same")
	}
}

// lacks says what a definition leaves out.
func lacks(t *mcp.Tool) (what []string) {
	object := func(schema any) bool {
		var s struct {
			Type string `json:"type"`
		}
		b, err := canon.Marshal(schema)
		return err == nil && json.Unmarshal(b, &s) == nil && s.Type == "object"
	}
	for _, missing := range []struct {
		yes  bool
		what string
	}{
		{t.Title == "", "a title"}, {t.Description == "", "a description"},
		{!object(t.InputSchema), "an input of the type object"}, {!object(t.OutputSchema), "an output of the type object"},
		{t.Annotations == nil || t.Annotations.DestructiveHint == nil || t.Annotations.OpenWorldHint == nil, "a hint"},
	} {
		if missing.yes {
			what = append(what, missing.what)
		}
	}
	return what
}

// static demands that a listed resource is read without looking at anything, or
// refused.
func (k *checking) static(ctx context.Context, s *mcp.ClientSession, uri string) {
	if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err != nil && !refused(err) {
		k.problem("resource %s: %w", uri, err)
	}
}

func refused(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && e.Code == notRead.Code && e.Message == notRead.Message
}

// documents holds the access contract that clients read against the one that was
// worked out apart.
func (k *checking) documents(ctx context.Context, s *mcp.ClientSession) error {
	hold := func(uri string, want []byte) error {
		res, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return fmt.Errorf("read %s: %w", uri, err)
		}
		if len(res.Contents) != 1 || res.Contents[0].Text != string(want) {
			k.problem("%s is not the access contract of these tools", uri)
		}
		return nil
	}
	if err := hold(ContractURI, k.contract.index()); err != nil {
		return err
	}
	for _, a := range k.contract.tools {
		entry, _ := k.contract.Entry(a.Name)
		if err := hold(ContractURI+"/"+a.Name, entry); err != nil {
			return err
		}
	}
	for _, uri := range []string{"discord://guilds", "discord://channels/1200000000000000313", "discord://no/such/thing", "file:///etc/hostname"} {
		if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); !refused(err) {
			k.problem("reading %s is not refused as everything is: %w", uri, err)
		}
	}
	return nil
}

// guard makes calls that have nothing in common and demands one answer.
func (k *checking) guard(ctx context.Context, s *mcp.ClientSession) error {
	calls := []mcp.CallToolParams{
		{Name: "no_such_tool"}, {Name: ""}, {Name: sentinel}, {Name: "no_such_tool", Arguments: json.RawMessage(`[1]`)},
	}
	for _, a := range k.contract.tools {
		calls = append(calls, mcp.CallToolParams{Name: a.Name},
			mcp.CallToolParams{Name: a.Name, Arguments: json.RawMessage(`{"__confirm":true,"no_such_argument":1}`)})
	}
	var first []byte
	for i := range calls {
		res, err := s.CallTool(ctx, &calls[i])
		if err != nil {
			return fmt.Errorf("call %q: %w", calls[i].Name, err)
		}
		whole, err := canon.Marshal(res)
		if err != nil {
			return err
		}
		if first == nil {
			first = whole
			k.answered(res)
		}
		if !bytes.Equal(first, whole) {
			k.problem("a call of %q is answered otherwise than others", calls[i].Name)
		}
	}
	return nil
}

// answered looks at the one answer: what of it both eras carry is the same.
func (k *checking) answered(res *mcp.CallToolResult) {
	var body struct {
		Code mcpcore.Code `json:"code"`
	}
	b, err := canon.Marshal(res.StructuredContent)
	if err != nil || json.Unmarshal(b, &body) != nil || body.Code != mcpcore.CodeCatalogOnly || !res.IsError || len(res.Content) == 0 {
		k.problem("a call is not answered with %s", mcpcore.CodeCatalogOnly)
	}
	k.same(&k.answer, []any{res.IsError, res.Content, slices.Clone(b)})
}
