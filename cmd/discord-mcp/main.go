// Command discord-mcp serves Discord to AI agents over the Model Context
// Protocol on stdin and stdout, and holds the tools an operator needs around
// that. Everything it does is in the library; it reads the environment and
// wires it up.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func main() {
	// The SDK's decoder takes 32 KiB per message: collecting less often is worth
	// some megabytes, and a limit keeps it bounded.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(512 << 20)
	os.Exit(run())
}

// run executes the command line and gives the exit status.
func run() int {
	cmd, understood := root(), false
	cmd.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	err := cmd.Execute()
	status, explained := errors.AsType[exitStatus](err)
	switch {
	case err == nil:
		return 0
	case explained:
		return int(status)
	case !understood:
		fmt.Fprintf(os.Stderr, "%v\nRun \"discord-mcp --help\" to see the commands and their flags.\n", err)
		return 2
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// exitStatus is an end that was already explained.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func root() *cobra.Command {
	serve := serveCommand()
	cmd := &cobra.Command{
		Use:   "discord-mcp",
		Short: "Discord for AI agents, behind guards",
		Long: `Serves Discord to AI agents over the Model Context Protocol. Without a command
it serves on stdin and stdout, for an MCP client that starts it.

Settings come from the environment. DISCORD_TOKEN is the bot's token; --sandbox
needs none. Destructive tools only preview unless MCP_DRY_RUN=false.`,
		Example: `  discord-mcp demo
  discord-mcp serve --sandbox`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          serve.RunE,
	}
	cmd.Flags().AddFlagSet(serve.Flags())
	cmd.AddCommand(serve, demoCommand(), callCommand(), toolsCommand(), catalogCommand(), configCommand(), approverCommand(), approvalsCommand(),
		operationsCommand(), policyCommand(), auditCommand(), blueprintCommand(), versionCommand())
	cmd.CompletionOptions.HiddenDefaultCmd = true
	return cmd
}
