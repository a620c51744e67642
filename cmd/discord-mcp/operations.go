package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func operationsCommand() *cobra.Command {
	cmd := group("operations", "Look at what reviewed workflows did, and release what they left open")
	cmd.AddCommand(operationsListCommand(), operationsShowCommand(), operationsResolveCommand())
	return cmd
}

// withOperations opens the ledger of the settings and does something with its
// operations. An error of it was not explained yet.
func withOperations(do func(s boot.Approvals, ops mcpcore.OperationLedger) error) error {
	err := func() error {
		settings, err := boot.ReadApprovals(os.Environ())
		if err != nil {
			return err
		}
		ledger, err := settings.Open()
		if err != nil {
			return err
		}
		defer ledger.Close()
		return do(settings, ledger.Operations())
	}()
	if _, explained := errors.AsType[exitStatus](err); err == nil || explained {
		return err
	}
	fmt.Fprintln(os.Stderr, mcpcore.Redact(err.Error()))
	return exitStatus(2)
}

// operation is what is known under one id, in characters that a terminal shows.
type operation struct {
	Claim   *heldClaim       `json:"claim,omitempty"`
	Receipt *mcpcore.Receipt `json:"receipt,omitempty"`
	// The parts of an operation that has several, in the order of their writes.
	Children []mcpcore.Receipt `json:"children,omitempty"`
}

type heldClaim struct {
	ID       mcpcore.ClaimID    `json:"claimId"`
	State    mcpcore.ClaimState `json:"state"`
	Workflow string             `json:"workflow"`
	Key      mcpcore.KeyHash    `json:"operationKeyHash"`
	Targets  []string           `json:"targets"`
	Made     time.Time          `json:"createdAt"`
	Lease    time.Time          `json:"leaseUntil"`
}

// operations are the held claims, the oldest first, and then the newest receipts
// without a claim. What is a part of an operation stands with it.
func operations(ctx context.Context, ops mcpcore.OperationLedger, limit int) ([]operation, error) {
	held, err := ops.Claims(ctx)
	if err != nil {
		return nil, err
	}
	all := []operation{}
	for _, h := range held {
		all = append(all, operation{Claim: &heldClaim{h.ID, h.State, h.Workflow, h.Key, h.Targets, h.Made.UTC(), h.Lease.UTC()}, Receipt: h.Receipt})
	}
	receipts, err := ops.Receipts(ctx, mcpcore.ReceiptFilter{Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, r := range receipts {
		if r.Parent != "" {
			if r, err = ops.Receipt(ctx, r.Workflow, r.Parent); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(all, func(o operation) bool {
			return o.Receipt != nil && o.Receipt.Workflow == r.Workflow && o.Receipt.Key == r.Key
		}) {
			all = append(all, operation{Receipt: &r})
		}
	}
	for i, o := range all {
		if o.Receipt == nil {
			continue
		}
		children, err := ops.Receipts(ctx, mcpcore.ReceiptFilter{Workflow: o.Receipt.Workflow, Parent: o.Receipt.Key, Limit: 1000})
		if err != nil {
			return nil, err
		}
		slices.Reverse(children)
		all[i].Children = children
	}
	return all, nil
}

func operationsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is claimed or quarantined, and what was done",
		Long: `Lists the claims that are held, with the targets that nobody else may write
meanwhile, and then the newest operations. A claim in quarantine is of a write of
which nobody knows what became of it: look at its targets, then release it with
operations resolve. It reads MCP_LEDGER and MCP_STATE_KEY, which must be the
server's.

The exit status is 0 when they were listed, 2 when they could not be looked at.`,
		Args: cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print them as JSON")
	limit := cmd.Flags().Int("limit", 20, "how many operations, the newest")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withOperations(func(_ boot.Approvals, ops mcpcore.OperationLedger) error {
			all, err := operations(cmd.Context(), ops, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(os.Stdout, all)
			}
			return printOperations(os.Stdout, all)
		})
	}
	return cmd
}

func printOperations(w io.Writer, all []operation) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is claimed, and nothing was done.")
		return err
	}
	var b strings.Builder
	for _, o := range all {
		o.print(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o operation) print(b *strings.Builder) {
	if c := o.Claim; c != nil {
		fmt.Fprintf(b, "%s  %s  %s  lease until %s\n", line(string(c.ID)), c.State, line(c.Workflow), c.Lease.Format(time.RFC3339))
		for _, target := range c.Targets {
			fmt.Fprintf(b, "    holds %s\n", line(target))
		}
	}
	if r := o.Receipt; r != nil {
		printReceipt(b, r)
	}
	for i := range o.Children {
		b.WriteString("    part ")
		printReceipt(b, &o.Children[i])
	}
}

func printReceipt(b *strings.Builder, r *mcpcore.Receipt) {
	fmt.Fprintf(b, "%s  %s  %s  %s", line(string(r.Key)), r.Status, line(r.Workflow), r.Reserved.UTC().Format(time.RFC3339))
	for _, more := range []string{string(r.Verification), string(r.Error), r.ResourceID} {
		if more != "" {
			fmt.Fprintf(b, "  %s", line(more))
		}
	}
	if r.Resolved {
		b.WriteString("  resolved")
	}
	b.WriteByte('\n')
}

func operationsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one operation, by its claim, the hash of its key or its activity",
		Long: `Shows the claim and the receipt of one operation as JSON, with the receipts of its
parts where it has several. ID is a claimId, an
operationKeyHash or an activityId, as results, errors and operations list show
them.

The exit status is 0 when it was found, 1 when there is none, 2 when the ledger
could not be looked at.`,
		Example: `  discord-mcp operations show claim_0f9c6f3e4c8b4c399f0e6f2f4f7a2c11`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withOperations(func(_ boot.Approvals, ops mcpcore.OperationLedger) error {
			all, err := operations(cmd.Context(), ops, 1000)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(all, func(o operation) bool { return o.is(args[0]) })
			if i < 0 {
				fmt.Fprintln(os.Stderr, "There is no such operation among the newest thousand. See them with: discord-mcp operations list")
				return exitStatus(1)
			}
			return printJSON(os.Stdout, all[i])
		})
	}
	return cmd
}

func (o operation) is(id string) bool {
	if c := o.Claim; c != nil && (string(c.ID) == id || string(c.Key) == id) {
		return true
	}
	named := func(r mcpcore.Receipt) bool { return string(r.Key) == id || r.Activity == id || string(r.Claim) == id }
	return o.Receipt != nil && named(*o.Receipt) || slices.ContainsFunc(o.Children, named)
}

func operationsResolveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve CLAIM",
		Short: "Release a quarantined claim after you looked at its targets",
		Long: `Releases the targets of a claim whose write has no known outcome. Look at them at
Discord first, and at the guild's audit log: nothing here can tell what happened.
It asks for an approver's token, which is read from the terminal and from nowhere
else, notes who it was, and keeps the receipt; the operation key stays spent. It
refuses a claim whose owner may still write.

It reads MCP_LEDGER, MCP_STATE_KEY and MCP_APPROVERS, which must be the server's.
The exit status is 0 when it was released, 1 when not, 2 when it could not be asked
for.`,
		Example: `  discord-mcp operations resolve claim_0f9c6f3e4c8b4c399f0e6f2f4f7a2c11`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withOperations(func(s boot.Approvals, ops mcpcore.OperationLedger) error {
			return resolve(cmd.Context(), s, ops, mcpcore.ClaimID(args[0]))
		})
	}
	return cmd
}

// resolve asks on the terminal and releases a claim; it says what became of it.
func resolve(ctx context.Context, s boot.Approvals, ops mcpcore.OperationLedger, id mcpcore.ClaimID) error {
	if s.Approvers.Names() == nil {
		return errors.New("MCP_APPROVERS names nobody who may release it; make an approver with: discord-mcp approver new NAME")
	}
	tty, err := openTerminal()
	if err != nil {
		return err
	}
	defer tty.close()
	all, err := operations(ctx, ops, 1)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(o operation) bool { return o.Claim != nil && o.Claim.ID == id })
	switch {
	case i < 0:
		fmt.Fprintln(os.Stderr, "There is no such claim: it was released, or never was. See what is held with: discord-mcp operations list")
		return exitStatus(1)
	case all[i].Claim.State == mcpcore.ClaimLive:
		fmt.Fprintf(os.Stderr, "Its owner may still write until %s. Wait until then.\n", all[i].Claim.Lease.Format(time.RFC3339))
		return exitStatus(1)
	}
	var b strings.Builder
	all[i].print(&b)
	b.WriteString("\nTo release these targets after you looked at them, give your approver's token. It\nis not shown. Without one nothing is released.\n")
	token, err := tty.secret(b.String(), "token: ")
	if err != nil {
		return err
	}
	name, known := s.Approvers.Verify(strings.TrimSpace(token))
	if !known {
		fmt.Fprintln(os.Stderr, "Nothing was released: this is the token of nobody in MCP_APPROVERS.")
		return exitStatus(1)
	}
	switch err := ops.Resolve(ctx, id, name); {
	case errors.Is(err, mcpcore.ErrClaimLive):
		fmt.Fprintln(os.Stderr, "Nothing was released: its owner may still write. Wait until its lease and the deadline of its write have passed.")
		return exitStatus(1)
	case err != nil:
		return err
	}
	fmt.Printf("Released by %s. The receipt stays, and its operation key is spent.\n", name)
	return nil
}
