package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

func toolsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tools", Short: "List every tool with its effect and gate; needs no token", Args: cobra.NoArgs,
		Long: `Lists every tool there is, one a line: name, effect, gate, title. It reads no
settings, unless --selected asks for the tools that they leave.`}
	asJSON := cmd.Flags().Bool("json", false, "print the exact definitions that clients receive")
	asContract := cmd.Flags().Bool("contract", false, "print the access contract: what calls of each tool demand")
	selected := cmd.Flags().Bool("selected", false, "only what --policy and the settings leave: MCP_TOOLSETS, MCP_CATEGORIES, MCP_WRITE_STYLE, ALLOWED_GUILDS")
	policy := policyFlag(cmd)
	toolsets := cmd.Flags().Bool("toolsets", false, "list the toolsets instead, with how many tools each has")
	cmd.MarkFlagsMutuallyExclusive("json", "contract", "toolsets")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		deps := discordtools.Deps{
			Session:   sandbox.New(sandbox.Options{}).Session(),
			Workflows: workflows.All, Permits: boot.Everything(), Operations: ledger.NewOperations(nil), Volatile: true,
		}
		if *selected {
			config, err := boot.Read(os.Environ(), true)
			if err := errors.Join(err, config.ReadPolicy(*policy, true)); err != nil {
				return err
			}
			deps.Config, deps.Permits = config.Discord(), config.Permits()
			deps.Config.Progressive = false // all that can be found
		}
		listed, err := definitions(cmd.Context(), deps)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(os.Stdout, listed)
		}
		tools := slices.DeleteFunc(boot.Tools(), func(t mcpcore.Tool) bool {
			return !slices.ContainsFunc(listed, func(l *mcp.Tool) bool { return l.Name == t.Name })
		})
		if *asContract {
			contract, err := surface.NewContract(tools, discordtools.Toolsets(tools))
			if err != nil {
				return err
			}
			_, err = os.Stdout.Write(append(contract.Manifest(), '\n'))
			return err
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		if *toolsets {
			for _, s := range discordtools.Toolsets(tools) {
				fmt.Fprintf(w, "%s\t%d\t%s\n", s.Name, len(s.Of(tools)), s.Doc)
			}
			return w.Flush()
		}
		for _, t := range tools {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Effect, t.EffectiveGate(), t.Title)
		}
		return w.Flush()
	}
	return cmd
}

// definitions are the tools as a client of the server gets them.
func definitions(ctx context.Context, deps discordtools.Deps) ([]*mcp.Tool, error) {
	server, err := discordtools.BuildServer(deps)
	if err != nil {
		return nil, err
	}
	session, err := client(ctx, server, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, &mcp.ListToolsParams{})
	if err != nil {
		return nil, err
	}
	return list.Tools, nil
}

func versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {
		fmt.Println(boot.Version())
	}}
}
