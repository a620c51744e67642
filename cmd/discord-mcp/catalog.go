package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func catalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Serve or check the catalogue: lists everything, executes nothing; needs no token",
		Long: `Serves the catalogue on stdin and stdout: every tool as a server with
credentials registers it, and CATALOG_ONLY as the answer to every call. It reads
no settings, no credential and no file, and has no Discord.

--check looks at it through clients in this process instead, prints a report and
ends. The exit status is 0 when the catalogue is whole and sealed, otherwise 2.`,
		Example: `  discord-mcp catalog --check --json`,
	}
	check := cmd.Flags().Bool("check", false, "check the catalogue and end")
	asJSON := cmd.Flags().Bool("json", false, "with --check: print the report as JSON")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *asJSON && !*check {
			return errors.New("--json goes with --check")
		}
		return cobra.NoArgs(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		server, contract, err := catalogue()
		if err != nil {
			return err
		}
		if *check {
			return checkCatalogue(cmd.Context(), server, contract, *asJSON)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		return transport.Serve(ctx, server, transport.NewStdio(transport.StdioOptions{}))
	}
	return cmd
}

// catalogue is the sealed server, and the access contract worked out apart from
// it. Nothing outside this function has a say in what they are.
func catalogue() (*mcp.Server, *surface.Contract, error) {
	server, err := discordtools.BuildServer(discordtools.Deps{
		REST: nowhere{}, Name: boot.Name, Version: boot.Version(),
		Workflows: workflows.All, Permits: boot.Everything(), Operations: ledger.NewOperations(nil), Volatile: true,
	})
	if err != nil {
		return nil, nil, err
	}
	surface.Seal(server, static(discordtools.Resources(discordtools.Config{}))...)
	tools := boot.Tools()
	contract, err := surface.NewContract(tools, discordtools.Toolsets(tools))
	return server, contract, err
}

// static are the addresses of the documents that are there without a call.
func static(resources []mcpcore.Resource) (uris []string) {
	for _, r := range resources {
		if r.Tool == "" {
			uri, _, _ := strings.Cut(r.URI, "{")
			uris = append(uris, uri)
		}
	}
	return uris
}

// nowhere is the Discord of the catalogue.
type nowhere struct{}

func (nowhere) Do(context.Context, discordtools.Request) (*discordtools.Response, error) {
	return nil, errors.New("the catalogue has no Discord")
}

func checkCatalogue(ctx context.Context, server *mcp.Server, contract *surface.Contract, asJSON bool) error {
	report, err := surface.CheckCatalogue(ctx, server, contract)
	if err != nil {
		fmt.Fprintf(os.Stderr, "the catalogue is not what it must be:\n%v\n", err)
		return exitStatus(2)
	}
	if asJSON {
		return printJSON(os.Stdout, report)
	}
	fmt.Printf("%s %s: %d tools, %d resources, %d templates, %d prompts. Every call answers %s.\naccess contract %s\n",
		report.ServerName, report.ServerVersion, report.Tools, report.Resources, report.Templates, report.Prompts, report.ExecutionGuard, report.Manifest)
	return nil
}
