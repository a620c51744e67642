package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

func toolsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tools", Short: "List every tool with its effect and gate; needs no token", Args: cobra.NoArgs,
		Long: "Lists every tool there is, one a line: name, effect, gate, title. It reads no settings."}
	asContract := cmd.Flags().Bool("contract", false, "print the access contract: what calls of each tool demand")
	asJSON := cmd.Flags().Bool("json", false, "print the exact definitions that clients receive")
	cmd.MarkFlagsMutuallyExclusive("json", "contract")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		discord := sandbox.New(sandbox.Options{}).Session()
		if *asJSON {
			server, err := discordtools.BuildServer(discordtools.Deps{Session: discord})
			if err != nil {
				return err
			}
			session, err := client(cmd.Context(), server, nil)
			if err != nil {
				return err
			}
			defer session.Close()
			list, err := session.ListTools(cmd.Context(), &mcp.ListToolsParams{})
			if err != nil {
				return err
			}
			return printJSON(os.Stdout, list.Tools)
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		rest, err := discordtools.NewClient(discord, discordtools.ClientOptions{})
		if err != nil {
			return err
		}
		tools := discordtools.Tools(rest)
		if *asContract {
			contract, err := surface.NewContract(tools)
			if err != nil {
				return err
			}
			_, err = os.Stdout.Write(append(contract.Manifest(), '\n'))
			return err
		}
		for _, t := range tools {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Effect, t.EffectiveGate(), t.Title)
		}
		return w.Flush()
	}
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {
		fmt.Println(boot.Version())
	}}
}
