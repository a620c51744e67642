package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/policy"
)

// policyFlag is the flag of commands that serve.
func policyFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("policy", "", "the document that says which reviewed workflows there are and what they may act on; see \"discord-mcp policy\"")
}

func policyCommand() *cobra.Command {
	cmd := group("policy", "Look at what a policy document lets reviewed workflows do")
	cmd.AddCommand(policySchemaCommand(), policyCheckCommand())
	return cmd
}

func policySchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy documents",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := boot.Declared().Schema()
			if err != nil {
				return err
			}
			_, err = os.Stdout.Write(schema)
			return err
		},
	}
}

func policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Say what a policy document enables, or what is wrong with it",
		Long: `Says in words what a policy document enables, workflow by workflow. It reads that
file alone, no settings, and contacts nothing.

The exit status is 0 when the document is good, 1 when it is wrong, 2 when it
could not be read.`,
		Example: `  discord-mcp policy check policy.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			declared := boot.Declared()
			p, err := declared.Load(args[0])
			if _, unread := errors.AsType[*fs.PathError](err); unread {
				fmt.Fprintln(os.Stderr, err)
				return exitStatus(2)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitStatus(1)
			}
			return explain(os.Stdout, p, declared.Workflows)
		},
	}
}

// explain writes in words what a policy allows.
func explain(out io.Writer, p policy.Policy, all []mcpcore.Workflow) error {
	enabled := p.Enabled()
	var b strings.Builder
	fmt.Fprintf(&b, "%s enables %d of %d workflows.\n", p.Workflows.Source, len(enabled), len(all))
	var off []string
	for _, w := range all {
		if !slices.Contains(enabled, w.Name) {
			off = append(off, w.Name)
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s. ", w.Name, w.Title)
		if w.Effect == mcpcore.Destroy {
			fmt.Fprint(&b, "It destroys, and needs MCP_DRY_RUN=false.\n")
		} else {
			fmt.Fprint(&b, "It writes.\n")
		}
		permit := p.Workflows.Permits[w.Name]
		for _, s := range w.Scopes {
			fmt.Fprintf(&b, "  %s (%s): %s\n", s.Name, s.Doc, listOr(permit.Scopes[s.Name], "none, so whatever needs one is refused"))
		}
		for _, l := range w.Limits {
			n, set := permit.Limits[l.Name]
			if !set {
				n = l.Default
			}
			fmt.Fprintf(&b, "  %s (%s): at most %d\n", l.Name, l.Doc, n)
		}
		names := []string{}
		for _, t := range w.Tools() {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "  tools: %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(&b, "\noff: %s\n", listOr(off, "none"))
	fmt.Fprintf(&b, "users whom no workflow may act on: %s\n", listOr(p.Workflows.Protected, "none"))
	if p.Toolsets != nil {
		fmt.Fprintf(&b, "the only toolsets: %s\n", strings.Join(p.Toolsets, ", "))
	}
	if p.Surface != "" {
		fmt.Fprintf(&b, "the surface: %s\n", p.Surface)
	}
	if len(enabled) > 0 {
		fmt.Fprint(&b, "A server with this policy needs a lasting MCP_LEDGER, and a person approves every change.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}
