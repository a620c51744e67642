// Package boot, of which this file stands in for ledgers.go: the ledger is that
// of a test, in the test's process, with the test's clock.
package boot

import (
	"context"
	"errors"
	"io"
	"net/rpc"
	"net/url"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// Durable is a ledger that outlives the process.
type Durable interface {
	mcpcore.Ledger
	io.Closer
	Operations() mcpcore.OperationLedger
}

func openSQLite(string, []byte) (Durable, error) {
	return nil, errors.New("the test's ledger has an address")
}

func openPostgres(address string, key []byte) (Durable, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c, err := rpc.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	if err := c.Call("Ledger.Open", key, new(bool)); err != nil {
		return nil, errors.New(address + ": " + err.Error()) // as a careless driver does
	}
	return remote{c}, nil
}

type remote struct{ c *rpc.Client }

func (r remote) Close() error { return r.c.Close() }

// remoteAnswer has the fields of the test's.
type remoteAnswer struct {
	Approvals []mcpcore.Approval
	Fault     int // in remoteFaults, from 1; 0 is none
	ID        mcpcore.ApprovalID
}

var remoteFaults = []error{
	mcpcore.ErrApprovalMissing, mcpcore.ErrApprovalSpent, mcpcore.ErrApprovalExpired, mcpcore.ErrApprovalMismatch,
	mcpcore.ErrApprovalPending, mcpcore.ErrApprovalRefused, mcpcore.ErrApprovalDecided, mcpcore.ErrFactsChanged,
}

type remoteDecision struct {
	ID mcpcore.ApprovalID
	D  mcpcore.Decision
}

func (r remote) call(method string, args any) (a remoteAnswer, err error) {
	if err := r.c.Call("Ledger."+method, args, &a); err != nil {
		return a, err
	}
	if a.Fault > 0 {
		err = remoteFaults[a.Fault-1]
	}
	if a.ID != "" {
		err = &mcpcore.NotSpent{ID: a.ID, Why: err}
	}
	return a, err
}

func (r remote) one(method string, args any) (mcpcore.Approval, error) {
	a, err := r.call(method, args)
	if err != nil {
		return mcpcore.Approval{}, err
	}
	return a.Approvals[0], nil
}

func (r remote) Propose(_ context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	return r.one("Propose", p)
}

func (r remote) Preview(_ context.Context, f mcpcore.Fingerprint) (mcpcore.Approval, error) {
	return r.one("Preview", f)
}

func (r remote) Pending(_ context.Context, by mcpcore.Filter) ([]mcpcore.Approval, error) {
	a, err := r.call("Pending", by)
	return a.Approvals, err
}

func (r remote) Decide(_ context.Context, id mcpcore.ApprovalID, d mcpcore.Decision) error {
	_, err := r.call("Decide", remoteDecision{id, d})
	return err
}

func (r remote) Spend(_ context.Context, spends ...mcpcore.Spend) error {
	_, err := r.call("Spend", spends)
	return err
}

// Operations is one that ends with the process: these tests have no workflows.
func (r remote) Operations() mcpcore.OperationLedger { return ledger.NewOperations(nil) }
