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
	"github.com/guildwarden/guildwarden/mcpcore/console"
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
		Long: `Serves Discord to AI agents over the Model Context Protocol at http://ADDR/mcp,
and to people, where MCP_APPROVERS names some, the approval console at /console/.

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
	policy := cmd.Flags().String("policy", "", "the document that says which reviewed workflows there are and what they may act on; \"discord-mcp policy schema\" prints its form")
	open := cmd.Flags().Bool("no-token", false, "let every process of this machine in; on loopback only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		s, err := build(ctx, *addr, *policy, *inSandbox, *open)
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
	console  *console.Console // nil for none
	identity boot.Identity
	close    func() error
}

func build(ctx context.Context, addr, policy string, inSandbox, open bool) (s server, err error) {
	config, token, err := boot.ReadHTTP(os.Environ(), inSandbox)
	if err := errors.Join(err, config.ReadPolicy(policy, inSandbox), boot.CheckAddress(config, addr, open || inSandbox)); err != nil {
		return s, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return s, fmt.Errorf("--addr: %w; give another one, port 0 takes a free one", err)
	}
	s.listener, s.close = l, l.Close
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if config.Console != "" {
		config.Console = boot.ConsoleAt(config, l.Addr())
	}
	options := boot.Options{Transport: "http"}
	if inSandbox {
		options.Sandbox = sandbox.Demo()
	}
	deps, done, err := boot.Deps(config, options) //nolint:contextcheck // telemetry ends by itself, after five seconds at the latest
	s.close = func() error {
		_ = l.Close() // who served has closed it
		return done()
	}
	if err != nil {
		return s, err
	}
	if config.Console != "" {
		if s.console, err = boot.Console(config, &deps, config.HTTPHosts...); err != nil {
			return s, err
		}
		fmt.Fprintf(os.Stderr, "approval console: %s\n", config.Console)
		if token != "" {
			fmt.Fprintf(os.Stderr, "token for this run, of the approver \"sandbox\": %s\n", token)
		}
	}
	assembly, err := discordtools.Assemble(deps)
	if err != nil {
		return s, err
	}
	if s.handler, err = boot.Handler(config, deps, assembly); err != nil {
		return s, err
	}
	s.identity, err = boot.IdentityOf(deps)
	return s, err
}

// serve serves until ctx is done, or the token turns out to be another bot's.
func (s server) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	s.handler.Mount(mux)
	web := &http.Server{Handler: mux}
	if s.console != nil {
		mux.Handle("/console/", s.console)
		mux.Handle("/{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
		web.RegisterOnShutdown(s.console.Close) // what waits can be decided until the running calls have ended
	}
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
	err := s.handler.Serve(ctx, s.listener, web, 0)
	end()
	return errors.Join(<-other, err, s.close())
}
