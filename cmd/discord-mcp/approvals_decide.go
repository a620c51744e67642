package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const maxReason = 300

func approvalsDecideCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decide ID (--approve | --refuse)",
		Short: "Approve or refuse what waits for a person",
		Long: `Shows what waits under an id, asks for an approver's token, and records the
approver's decision, signed with the key that the token makes: the server takes
no other. The token is read from the terminal and from nowhere else, so that no
agent hands one in. It reads MCP_LEDGER, MCP_STATE_KEY and MCP_APPROVERS, which
must be the server's.

The exit status is 0 when the decision is recorded, 1 when it was not taken, 2
when it could not be asked for.`,
		Example: `  discord-mcp approvals decide 0f9c6f3e-4c8b-4c39-9f0e-6f2f4f7a2c11 --approve
  discord-mcp approvals decide 0f9c6f3e-4c8b-4c39-9f0e-6f2f4f7a2c11 --refuse --reason "not today"`,
	}
	approve := cmd.Flags().Bool("approve", false, "let the agent do it")
	refuse := cmd.Flags().Bool("refuse", false, "do not let the agent do it")
	reason := cmd.Flags().String("reason", "", "why, for the agent")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return errors.New("approvals decide takes the id alone, as approvals list shows it; the token is asked for on the terminal")
		case *approve == *refuse:
			return errors.New("say --approve or --refuse")
		}
		return checkReason(*reason)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return decide(cmd.Context(), mcpcore.ApprovalID(args[0]), mcpcore.Decision{Approve: *approve, Reason: strings.TrimSpace(*reason)})
	}
	return cmd
}

// checkReason keeps what the agent will read to one line without a secret.
func checkReason(reason string) error {
	switch {
	case len([]rune(reason)) > maxReason:
		return fmt.Errorf("the reason is longer than %d characters; say it shorter", maxReason)
	case line(reason) != reason:
		return errors.New("the reason must be one line of characters that can be shown")
	case mcpcore.Redact(reason) != reason:
		return errors.New("the reason seems to hold a token or a password, and the agent reads it; leave that out")
	}
	return nil
}

// decide asks on the terminal, and signs and records the decision that is wanted;
// it says what became of it.
func decide(ctx context.Context, id mcpcore.ApprovalID, want mcpcore.Decision) error {
	couldNot := func(err error) error {
		fmt.Fprintln(os.Stderr, err)
		return exitStatus(2)
	}
	settings, err := boot.ReadApprovals(os.Environ())
	if err == nil && settings.Approvers.Names() == nil {
		err = errors.New("MCP_APPROVERS names nobody who may decide; make an approver with: discord-mcp approver new NAME")
	}
	if err != nil {
		return couldNot(err)
	}
	tty, err := openTerminal()
	if err != nil {
		return couldNot(err)
	}
	defer tty.close()
	ledger, err := settings.Open() //nolint:contextcheck // it ends by itself, after ten seconds at the latest
	if err != nil {
		return couldNot(err)
	}
	defer ledger.Close()
	waiting, err := ask(ctx, ledger)
	if err != nil {
		return couldNot(err)
	}
	i := slices.IndexFunc(waiting, func(q question) bool { return q.ID == string(id) })
	switch {
	case i < 0:
		fmt.Fprintln(os.Stderr, "Nothing waits under this id: it was decided, has expired, or was never asked. See what waits with: discord-mcp approvals list")
		return exitStatus(1)
	case waiting[i].Question == "":
		fmt.Fprintln(os.Stderr, "What this asks cannot be shown, so it cannot be decided. Let it expire; the agent can ask again.")
		return exitStatus(1)
	}
	token, err := askToken(tty, waiting[i], want)
	if err != nil {
		return couldNot(err)
	}
	d, known := settings.Approvers.Sign(token, waiting[i].approval, want.Approve, want.Reason)
	if !known {
		fmt.Fprintln(os.Stderr, "Nothing was decided: this is the token of nobody in MCP_APPROVERS. Try again with yours; who has none gets one from: discord-mcp approver new NAME")
		return exitStatus(1)
	}
	return recorded(ledger.Decide(ctx, id, d), waiting[i], d)
}

// askToken shows on the terminal what is about to be decided, and asks for the
// approver's token.
func askToken(tty *terminal, q question, d mcpcore.Decision) (string, error) {
	var b strings.Builder
	q.print(&b)
	verb := "refuse"
	if d.Approve {
		verb = "approve"
	}
	fmt.Fprintf(&b, "\nTo %s this, give your approver's token. It is not shown. Without one nothing is\ndecided.\n", verb)
	token, err := tty.secret(b.String(), "token: ")
	if token = strings.TrimSpace(token); err == nil && token == "" {
		err = errors.New("nothing was decided, because no token was given. Run this again when you have yours; who has none gets one from: discord-mcp approver new NAME")
	}
	return token, err
}

// recorded says what became of a decision, and what comes next.
func recorded(err error, q question, d mcpcore.Decision) error {
	why := ""
	switch {
	case err == nil && d.Approve:
		fmt.Printf("Approved by %s. Tell the agent to send the identical call: it acts once, until %s.\n", d.By, q.Expires.Format(time.RFC3339))
		return nil
	case err == nil:
		fmt.Printf("Refused by %s. When the agent sends the call again it learns that, and nothing happens.\n", d.By)
		return nil
	case errors.Is(err, mcpcore.ErrApprovalDecided), errors.Is(err, mcpcore.ErrApprovalSpent):
		why = "somebody decided it meanwhile, and the first decision stands; there is nothing left to do here"
	case errors.Is(err, mcpcore.ErrApprovalExpired):
		why = "it has expired meanwhile; have the agent send the call again, and decide the new question"
	case errors.Is(err, mcpcore.ErrApprovalMissing):
		why = "it is gone: the agent asked something else, or the target has changed; see what waits with: discord-mcp approvals list"
	default:
		fmt.Fprintf(os.Stderr, "Whether the decision is recorded is not known; see with: discord-mcp approvals list. The ledger said: %s\n", mcpcore.Redact(err.Error()))
		return exitStatus(2)
	}
	fmt.Fprintf(os.Stderr, "Nothing was decided: %s.\n", why)
	return exitStatus(1)
}
