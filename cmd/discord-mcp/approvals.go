package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func approvalsCommand() *cobra.Command {
	cmd := group("approvals", "Decide what waits for a person")
	cmd.AddCommand(approvalsListCommand(), approvalsDecideCommand())
	return cmd
}

// group is a command that only holds others.
func group(name, short string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, RunE: func(cmd *cobra.Command, _ []string) error {
		_ = cmd.Help()
		return exitStatus(2)
	}}
}

func approvalsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for a person",
		Long: `Lists the calls that wait for a person, oldest first, each with the question that
is asked. It reads MCP_LEDGER, MCP_STATE_KEY and MCP_APPROVERS, which must be
the server's.

The exit status is 0 when they were listed, 2 when they could not be looked at.`,
		Example: `  discord-mcp approvals list`,
		Args:    cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print them as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		settings, waiting, err := pending(cmd.Context())
		if err == nil {
			err = printWaiting(os.Stdout, settings.Ledger, waiting, *asJSON)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitStatus(2)
		}
		return nil
	}
	return cmd
}

// pending is what waits in the ledger of the settings.
func pending(ctx context.Context) (boot.Approvals, []question, error) {
	settings, err := boot.ReadApprovals(os.Environ())
	if err != nil {
		return settings, nil, err
	}
	ledger, err := settings.Open() //nolint:contextcheck // it ends by itself, after ten seconds at the latest
	if err != nil {
		return settings, nil, err
	}
	defer ledger.Close()
	waiting, err := ask(ctx, ledger)
	return settings, waiting, err
}

// question is an approval that waits, in characters that a terminal shows.
type question struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool"`
	Principal string    `json:"principal"`
	Issued    time.Time `json:"issued"`
	Expires   time.Time `json:"expires"`
	Question  string    `json:"question"` // lines

	approval mcpcore.Approval
}

// ask asks the ledger what waits.
func ask(ctx context.Context, ledger mcpcore.Ledger) ([]question, error) {
	waiting, err := ledger.Pending(ctx, mcpcore.Filter{})
	if err != nil {
		return nil, fmt.Errorf("MCP_LEDGER: the ledger does not say what waits: %s. See that it runs, and that MCP_STATE_KEY is the server's", mcpcore.Redact(err.Error()))
	}
	all := make([]question, len(waiting))
	for i, a := range waiting {
		all[i] = question{
			ID: line(string(a.ID)), Tool: line(a.Tool), Principal: line(a.Principal),
			Issued: a.Issued.UTC().Truncate(time.Second), Expires: a.Expires.UTC().Truncate(time.Second), Question: shown(a.Shown),
			approval: a,
		}
	}
	return all, nil
}

// shown is a question's text. The kernel writes one in which nothing is left to
// escape; an embedder's own approver may write something else.
func shown(raw json.RawMessage) string {
	about, err := mcpcore.ReadShown(raw)
	if err != nil {
		return line(string(raw))
	}
	lines := strings.Split(about.Question, "\n")
	for i := range lines {
		lines[i] = line(lines[i])
	}
	return strings.Join(lines, "\n")
}

// line is a text on one line, in which what a terminal would not show as it is
// stands as an escape.
func line(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func printWaiting(w io.Writer, ledger string, waiting []question, asJSON bool) error {
	if asJSON {
		return printJSON(w, waiting)
	}
	if len(waiting) == 0 {
		_, err := fmt.Fprintf(w, "Nothing waits for a person in %s.\n", line(ledger))
		return err
	}
	var b strings.Builder
	for _, q := range waiting {
		q.print(&b)
		b.WriteByte('\n')
	}
	b.WriteString("Decide with: discord-mcp approvals decide ID --approve, or --refuse\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (q question) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s  %s  asked by %s  until %s\n", q.ID, q.Tool, q.Principal, q.Expires.Format(time.RFC3339))
	for text := range strings.SplitSeq(q.Question, "\n") {
		fmt.Fprintf(b, "    %s\n", text)
	}
}
