// Command discord-mcp-http serves Discord to AI agents over the Model Context
// Protocol on HTTP. Everything it does is in the library; it reads the
// environment and wires it up.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func main() {
	// The SDK's decoder takes 32 KiB per message: collecting less often is worth
	// some megabytes, and a limit keeps it bounded.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(512 << 20)
	cmd, understood := root(), false
	cmd.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	switch err := cmd.Execute(); {
	case err == nil:
	case understood:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		fmt.Fprintf(os.Stderr, "%v\nRun \"discord-mcp-http --help\" to see the flags.\n", err)
		os.Exit(2)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "discord-mcp-http",
		Short: "Discord for AI agents over HTTP, behind guards",
		Long: `Serves Discord to AI agents over the Model Context Protocol at http://ADDR/mcp.

Settings come from the environment; "discord-mcp config" shows them. DISCORD_TOKEN
is the bot's token, DISCORD_MCP_ACCESS_TOKEN the one that clients must bring.
--sandbox needs neither. Destructive tools only preview unless MCP_DRY_RUN=false.`,
		Example: `  discord-mcp-http --sandbox
  DISCORD_MCP_ACCESS_TOKEN=… discord-mcp-http --addr 0.0.0.0:3000`,
		Args:          cobra.NoArgs,
		Version:       boot.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	addr := cmd.Flags().String("addr", "127.0.0.1:3000", "listen on this address, HOST:PORT; port 0 takes a free one")
	inSandbox := cmd.Flags().Bool("sandbox", false, "serve a furnished Discord in this process: no token, no network")
	open := cmd.Flags().Bool("no-token", false, "let every process of this machine in; on loopback only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		s, err := build(ctx, *addr, *inSandbox, *open)
		if err != nil {
			return fmt.Errorf("discord-mcp-http cannot start:\n%w", err)
		}
		return s.serve(ctx)
	}
	return cmd
}

// server is what the environment describes.
type server struct {
	listener net.Listener
	handler  *transport.Handler
	identity boot.Identity
	close    func() error
}

func build(ctx context.Context, addr string, inSandbox, open bool) (server, error) {
	config, err := boot.Read(os.Environ(), inSandbox)
	if err := errors.Join(err, boot.CheckAddress(config, addr, open || inSandbox)); err != nil {
		return server{}, err
	}
	options := boot.Options{Transport: "http"}
	if inSandbox {
		options.Sandbox = sandbox.Demo()
	}
	deps, done, err := boot.Deps(config, options) //nolint:contextcheck // telemetry ends by itself, after five seconds at the latest
	if err != nil {
		return server{}, errors.Join(err, done())
	}
	s := server{close: done}
	built, err := discordtools.BuildServer(deps)
	if err == nil {
		s.handler, err = boot.Handler(config, deps, built)
	}
	if err == nil {
		s.identity, err = boot.IdentityOf(deps)
	}
	if err == nil {
		s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr)
	}
	if err != nil {
		return server{}, errors.Join(err, done())
	}
	return s, nil
}

// serve serves until ctx is done, or the token turns out to be another bot's.
func (s server) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	s.handler.Mount(mux)
	ctx, end := context.WithCancel(ctx)
	defer end()
	other := make(chan error, 1)
	go func() {
		err := s.identity.Watch(ctx)
		if other <- err; err != nil {
			end()
		}
	}()
	fmt.Fprintf(os.Stderr, "discord-mcp-http listens on http://%s/mcp\n", s.listener.Addr())
	err := s.handler.Serve(ctx, s.listener, &http.Server{Handler: mux}, 0)
	end()
	return errors.Join(<-other, err, s.close())
}
