package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

func auditCommand() *cobra.Command {
	cmd := group("audit", "Look after the audit file")
	cmd.AddCommand(auditVerifyCommand())
	return cmd
}

func auditVerifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Tell whether an audit file is as it was written",
		Long: `Tells whether an audit file is as it was written: that no record was changed,
removed, moved or cut off, and which one is the last good one. Files that were
rotated away are named in front of it, oldest first. MCP_STATE_KEY is the key
that the file was written with; no other setting is read.

The exit status is 0 when the files are intact, 1 when they are not, 2 when they
could not be looked at.`,
		Example: `  discord-mcp audit verify discord-mcp-audit.jsonl
  discord-mcp audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("audit verify takes the audit file")
			}
			return nil
		},
	}
	asJSON := cmd.Flags().Bool("json", false, "print the report as JSON")
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		report, err := verifyAudit(files)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitStatus(2)
		}
		if *asJSON {
			err = printJSON(os.Stdout, struct {
				Intact bool `json:"intact"`
				audit.Report
			}{report.Intact(), report})
		} else {
			_, err = fmt.Fprint(os.Stdout, report)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitStatus(2)
		}
		if !report.Intact() {
			return exitStatus(1)
		}
		return nil
	}
	return cmd
}

func verifyAudit(files []string) (audit.Report, error) {
	key, err := boot.StateKey(os.Environ())
	if err != nil {
		return audit.Report{}, err
	}
	report, err := audit.Verify(key, files...)
	if errors.Is(err, audit.ErrKeyNeeded) {
		return report, fmt.Errorf("%w; set MCP_STATE_KEY to it", err)
	}
	return report, err
}
