package discordtools_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// TestAccessContract: the contract of Discord's tools has an entry for each, and
// its digest does not depend on their order.
func TestAccessContract(t *testing.T) {
	t.Parallel()
	all := tools(t)
	contract, err := surface.NewContract(all, discordtools.Toolsets(all))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all {
		if _, ok := contract.Access(tool.Name); !ok {
			t.Errorf("%s has no entry", tool.Name)
		}
	}
	if contract.Len() != len(all) {
		t.Errorf("%d entries for %d tools", contract.Len(), len(all))
	}
	if n := len(contract.Index()); n > 64<<10 {
		t.Errorf("the index takes %d bytes, more than an agent can be asked to read", n)
	}
	slices.Reverse(all)
	again, err := surface.NewContract(all, discordtools.Toolsets(all))
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest() != contract.Digest() {
		t.Error("the digest depends on the order of the tools")
	}
}

// contractOver is what a client of the server reads.
func contractOver(t *testing.T, d discordtools.Deps) (index string, entry func(tool string) (string, error)) {
	t.Helper()
	d.Session = sandbox.Demo().Session()
	server, err := discordtools.BuildServer(d)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	entry = func(tool string) (string, error) {
		res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: surface.ContractURI + "/" + tool})
		if err != nil {
			return "", err
		}
		return res.Contents[0].Text, nil
	}
	res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: surface.ContractURI})
	if err != nil {
		t.Fatal(err)
	}
	return res.Contents[0].Text, entry
}

type ticketRef struct {
	Ticket int `json:"ticket" jsonschema:"number of the ticket" minimum:"1"`
}

// TestAccessContractCoversAnEmbeddersTools, and does not build with half of a
// workflow.
func TestAccessContractCoversAnEmbeddersTools(t *testing.T) {
	t.Parallel()
	own := mcpcore.Tool{
		Name: "tickets_look", Title: "Look at a ticket", Doc: "Reads a ticket.", Category: "tickets",
		Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
	}
	run := func(_ context.Context, _ *mcpcore.Call, in ticketRef) (ticketRef, error) { return in, nil }
	index, entry := contractOver(t, discordtools.Deps{Tools: []mcpcore.Tool{mcpcore.Define(own, run)}})
	text, err := entry("tickets_look")
	if err != nil || !strings.Contains(index, `"tickets_look"`) || !strings.Contains(text, `"toolset":"category:tickets"`) {
		t.Errorf("%v %s", err, text)
	}

	own.Part = mcpcore.Part{Workflow: "ticket-change", Role: mcpcore.Plan}
	_, err = discordtools.BuildServer(discordtools.Deps{Session: sandbox.Demo().Session(), Tools: []mcpcore.Tool{mcpcore.Define(own, run)}})
	if err == nil || !strings.Contains(err.Error(), `workflow "ticket-change" has no execute tool`) {
		t.Errorf("a plan that nothing executes builds: %v", err)
	}
}

// TestAccessContractLeavesOutWhatIsOff: a tool that an operator switched off is
// in no document, and a server's policies are in its entries.
func TestAccessContractLeavesOutWhatIsOff(t *testing.T) {
	t.Parallel()
	index, entry := contractOver(t, discordtools.Deps{Config: discordtools.Config{Categories: []string{"messages"}, Person: discordtools.PersonWrites}})
	if !strings.Contains(index, `"messages_send"`) || strings.Contains(index, "members_ban") {
		t.Errorf("the index covers other tools than those that are on: %s", index)
	}
	if text, err := entry("members_ban"); err == nil || strings.Contains(err.Error(), "category") {
		t.Errorf("a tool that is off has an entry: %s %v", text, err)
	}
	text, err := entry("messages_send")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"authorityGranted":false`, `"person":true`, `"SEND_MESSAGES"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var whole, one struct {
		Manifest string `json:"manifestDigest"`
	}
	if err := json.Unmarshal([]byte(index), &whole); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &one); err != nil {
		t.Fatal(err)
	}
	if whole != one || len(whole.Manifest) != len("sha256:")+2*sha256.Size {
		t.Errorf("the index is of %s, the entry of %s", whole.Manifest, one.Manifest)
	}
	if _, err := entry(fmt.Sprintf("%0100d", 1)); err == nil {
		t.Error("a tool that does not exist has an entry")
	}
}
