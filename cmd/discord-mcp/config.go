package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings, and what is wrong with them",
		Long: `Prints every setting with its value and where that comes from, and what is wrong
with them. Secrets are not shown, and nothing is contacted.

The exit status is 0 when a server would start, 1 when it would not.`,
		Example: `  discord-mcp config
  discord-mcp config --json --sandbox`,
		Args: cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print the report as JSON")
	inSandbox := cmd.Flags().Bool("sandbox", false, "as for serve --sandbox, which needs no token")
	cmd.RunE = func(*cobra.Command, []string) error {
		report := boot.Examine(os.Environ(), *inSandbox)
		var err error
		if *asJSON {
			err = printJSON(os.Stdout, report)
		} else {
			err = printReport(os.Stdout, report)
		}
		if err != nil {
			return err
		}
		if !report.Starts {
			return exitStatus(1)
		}
		return nil
	}
	return cmd
}

func printReport(out io.Writer, r boot.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "VARIABLE\tSOURCE\tVALUE\n")
	for _, s := range r.Settings {
		value := s.Value
		switch {
		case value == "" && s.Source == boot.FromSandbox:
			value = "(not needed)"
		case value == "" && s.Unset != "":
			value = "(" + s.Unset + ")"
		case value == "":
			value = "(none)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Source, value)
	}
	list(w, "It would not start:", r.Problems)
	list(w, "Warnings:", r.Warnings)
	return w.Flush()
}

func list(w *tabwriter.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(w, "- %s\n", line)
	}
}
