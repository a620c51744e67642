package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
	"github.com/guildwarden/guildwarden/middleware"
)

// agent is a client of a server on the shop, whose user reads the question and
// says yes.
func agent(s *shop, asked func(question string)) (*mcp.ClientSession, error) {
	server, err := build(s, ledger.NewMemory(nil), ledger.NewOperations(nil), nil)
	if err != nil {
		return nil, err
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		return nil, err
	}
	o := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		asked(r.Params.Message)
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
	}}
	return mcp.NewClient(&mcp.Implementation{Name: "agent"}, o).Connect(context.Background(), near, nil)
}

// status is how a call ended.
func status(s *mcp.ClientSession, tool, args string) (string, error) {
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	data, _ := res.StructuredContent.(map[string]any)
	return fmt.Sprint(data["status"]), nil
}

// An invoice is sent once, whatever the agent does afterwards.
func Example() {
	books := demo()
	s, err := agent(books, func(string) { fmt.Println("a person is asked") })
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"invoice-2031-7-june", "invoice-2031-7-june", "another-intent-0001"} {
		how, err := status(s, "execute_invoice_sending", fmt.Sprintf(`{"invoice":"2031-7","customer":"lantern-cafe","operationKey":%q}`, key))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(how)
	}
	fmt.Println(books.writes)
	// Output:
	// a person is asked
	// completed
	// operation-key-conflict
	// already-current
	// [send 2031-7]
}

// A person sees how many prices change, and the first five.
func Example_bulk() {
	s, err := agent(demo(), func(question string) { fmt.Println(firstLines(question, 9)) })
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	how, err := status(s, "execute_price_raise", `{"shelf":"lamps","percent":10,"operationKey":"raise-of-june-2031"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(how)
	// Output:
	// Raise the prices of a shelf? (execute_price_raise, asked by "stdio")
	// - action: "raise"
	// - affects: "7"
	// - 1: "1000 to 1100 lamp-a"
	// - 2: "1200 to 1320 lamp-b"
	// - 3: "900 to 990 lamp-c"
	// - 4: "2000 to 2200 lamp-d"
	// - 5: "500 to 550 lamp-e"
	// - and more: "2"
	// completed
}

func firstLines(text string, n int) string {
	for i, r := range text {
		if r == '\n' {
			if n--; n == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// The rules of reviewed workflows hold for those of one's own.
func TestInvoiceKeepsTheRules(t *testing.T) {
	t.Parallel()
	operationtest.Workflow(t, operationtest.Subject{
		Workflow: "invoice-sending", Plan: "plan_invoice_sending", Execute: "execute_invoice_sending",
		Args: `{"invoice":"2031-7","customer":"lantern-cafe"}`, Sends: []string{"send 2031-7"}, Resource: "parcel-2031-7",
		Permit: policy.Permits["invoice-sending"], Secrets: []string{"lantern", "12950"},
		Refusals: []operationtest.Refusal{
			{Name: "no such draft", Args: `{"invoice":"2031-8","customer":"lantern-cafe"}`, Code: mcpcore.CodePlanRefused},
			{Name: "somebody else's", Code: mcpcore.CodePlanRefused, Before: func(w *operationtest.World) {
				w.Any.(*shop).drafts["2031-7"] = draft{Invoice: "2031-7", Customer: "harbour-inn"}
			}},
		},
		World: func(*testing.T) *operationtest.World {
			s := demo()
			locked := func(f func()) func() { return func() { s.mu.Lock(); defer s.mu.Unlock(); f() } }
			return &operationtest.World{
				Any:    s,
				Writes: func() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.writes) },
				Reads:  func() int { return 0 },
				Change: locked(func() { d := s.drafts["2031-7"]; d.Cents++; s.drafts["2031-7"] = d }),
				Settle: locked(func() { d := s.drafts["2031-7"]; d.Sent = true; s.drafts["2031-7"] = d }),
				Fail:   func(operationtest.Fault) bool { return false },
				Serve: func(u operationtest.Setup) (*mcp.Server, error) {
					return mcpcore.BuildServer(mcpcore.Deps{
						Workflows: []mcpcore.Workflow{sending(s)}, Chain: middleware.Standard(middleware.Options{}), Permits: u.Permits,
						Operations: u.Operations, Ledger: u.Ledger, Approver: u.Approver, Audit: u.Audit, StateKey: u.StateKey, Armed: u.Armed, Clock: u.Clock,
					})
				},
			}
		},
	})
}
