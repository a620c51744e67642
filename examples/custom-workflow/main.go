// Command custom-workflow serves two reviewed workflows of a business, with no
// Discord in it: an invoice that is drafted, shown, approved and sent once, and
// prices that are raised together after their count and the first five were
// shown.
//
// Receipts are in the file that LEDGER_FILE names, sealed with MCP_STATE_KEY, and
// end with the process without it, which a demonstration may and a business may
// not.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
	"github.com/guildwarden/guildwarden/middleware"
)

type (
	draft struct {
		Invoice  string `json:"invoice"`
		Customer string `json:"customer"`
		Cents    int    `json:"cents"`
		Sent     bool   `json:"sent"`
	}
	sendInvoice struct {
		Invoice  string `json:"invoice" jsonschema:"number of the draft"`
		Customer string `json:"customer" jsonschema:"who gets it"`
	}
)

// sending is the draft-confirm-send pattern: Plan is the draft, the engine shows
// it and asks, Apply sends.
func sending(b Books) mcpcore.Workflow {
	return mcpcore.Operation[sendInvoice, draft]{
		Name: "invoice-sending", Title: "Send an invoice", Category: "invoices",
		Doc:    "Sends a drafted invoice to its customer, once. An invoice that is sent cannot be called back.",
		Effect: mcpcore.Destroy, Scope: mcpcore.ExternalScope,
		Scopes: []mcpcore.PolicyScope{{Name: "customers", Arg: "customer", Doc: "who may get invoices"}},
		Plan: func(ctx context.Context, _ *mcpcore.Call, in sendInvoice) (mcpcore.Change[draft], error) {
			d, err := b.Draft(ctx, in.Invoice)
			if err == nil && d.Customer != in.Customer {
				err = mcpcore.Errorf(mcpcore.CodePlanRefused, "the invoice %s is of another customer", in.Invoice)
			}
			return mcpcore.Change[draft]{
				Action: "send", Current: d.Sent, State: d, Risks: []string{"irreversible"},
				Facts: mcpcore.Facts{{Name: "to", Value: d.Customer}, {Name: "amount", Value: fmt.Sprintf("%d.%02d", d.Cents/100, d.Cents%100)}},
			}, err
		},
		Targets: func(in sendInvoice, _ draft) []mcpcore.Target {
			return []mcpcore.Target{{Kind: "invoice", ID: in.Invoice}}
		},
		Apply: func(ctx context.Context, _ *mcpcore.Call, in sendInvoice, _ draft) (w mcpcore.Written, err error) {
			w.ID, err = b.Send(ctx, in.Invoice)
			return w, err
		},
		ReadBack: func(ctx context.Context, _ *mcpcore.Call, in sendInvoice, before draft, _ mcpcore.Written) (r mcpcore.Reading, err error) {
			d, err := b.Draft(ctx, in.Invoice)
			if err == nil && !d.Sent {
				err = fmt.Errorf("the invoice is not marked as sent")
			}
			if d.Cents != before.Cents {
				r.Drift = []string{"cents"}
			}
			return r, err
		},
	}.Workflow()
}

type (
	prices struct {
		Shelf string         `json:"shelf"`
		Cents map[string]int `json:"cents"`
	}
	raisePrices struct {
		Shelf   string `json:"shelf" jsonschema:"which shelf"`
		Percent int    `json:"percent" jsonschema:"by how much" minimum:"1" maximum:"50"`
	}
)

// raising changes many things at once: the plan names all of them, and a person
// sees the count and the first five.
func raising(b Books) mcpcore.Workflow {
	raised := func(cents, percent int) int { return cents + cents*percent/100 }
	return mcpcore.Operation[raisePrices, prices]{
		Name: "price-raise", Title: "Raise the prices of a shelf", Category: "prices",
		Doc:    "Raises the prices of everything on a shelf by a part of themselves.",
		Effect: mcpcore.Write, Scope: mcpcore.ExternalScope,
		Scopes: []mcpcore.PolicyScope{{Name: "shelves", Arg: "shelf", Doc: "shelves whose prices may be raised"}},
		Limits: []mcpcore.PolicyLimit{{Name: "maxItems", Default: 100, Max: 1000, Doc: "items of one raise"}},
		Plan: func(ctx context.Context, call *mcpcore.Call, in raisePrices) (plan mcpcore.Change[prices], err error) {
			cents, err := b.Prices(ctx, in.Shelf)
			if limit := call.Limit("maxItems"); err == nil && len(cents) > limit {
				err = mcpcore.Errorf(mcpcore.CodePlanRefused, "the shelf has %d items, and %d may be raised at once", len(cents), limit)
			}
			plan = mcpcore.Change[prices]{Action: "raise", State: prices{in.Shelf, cents}, Current: len(cents) == 0}
			for item, price := range cents {
				plan.Affected = append(plan.Affected, mcpcore.Affected{ID: item, Action: fmt.Sprintf("%d to %d", price, raised(price, in.Percent))})
			}
			slices.SortFunc(plan.Affected, func(a, b mcpcore.Affected) int { return compare(a.ID, b.ID) })
			return plan, err
		},
		Targets: func(in raisePrices, _ prices) []mcpcore.Target {
			return []mcpcore.Target{{Kind: "shelf", ID: in.Shelf}}
		},
		Apply: func(ctx context.Context, _ *mcpcore.Call, in raisePrices, s prices) (w mcpcore.Written, err error) {
			after := map[string]int{}
			for item, price := range s.Cents {
				after[item] = raised(price, in.Percent)
			}
			return w, b.SetPrices(ctx, in.Shelf, after)
		},
		ReadBack: func(ctx context.Context, _ *mcpcore.Call, in raisePrices, s prices, _ mcpcore.Written) (r mcpcore.Reading, err error) {
			now, err := b.Prices(ctx, in.Shelf)
			for item, price := range s.Cents {
				if now[item] != raised(price, in.Percent) {
					r.Failed = append(r.Failed, item)
				}
			}
			slices.Sort(r.Failed)
			return r, err
		},
	}.Workflow()
}

// policy is what the owner of the business allows.
var policy = mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{
	"invoice-sending": {Enabled: true, Scopes: map[string][]string{"customers": {"lantern-cafe"}}},
	"price-raise":     {Enabled: true, Scopes: map[string][]string{"shelves": {"lamps"}}},
}}

// build is a server of both workflows. operations of a process's own are for
// demonstrations.
func build(b Books, approvals mcpcore.Ledger, operations mcpcore.OperationLedger, stateKey []byte) (*mcp.Server, error) {
	return mcpcore.BuildServer(mcpcore.Deps{
		Name: "bookkeeping", Workflows: []mcpcore.Workflow{sending(b), raising(b)}, Permits: policy,
		Chain:  middleware.Standard(middleware.Options{}),
		Ledger: approvals, Approver: mcpcore.AtClient{}, StateKey: stateKey,
		Operations: operations, Volatile: !operations.Durable(),
		Armed: true,
	})
}

func main() {
	server, err := build(demo(), ledger.NewMemory(nil), ledger.NewOperations(nil), nil)
	if file, key := os.Getenv("LEDGER_FILE"), []byte(os.Getenv("MCP_STATE_KEY")); file != "" {
		kept, failed := sqlite.Open(file, key)
		if failed != nil {
			log.Fatal(failed)
		}
		server, err = build(demo(), kept, kept.Operations(), key)
	}
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
