package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve on stdin and stdout (the default)",
		Args:  cobra.NoArgs,
	}
	inSandbox := cmd.Flags().Bool("sandbox", false, "serve a furnished Discord in this process: no token, no network")
	policy := policyFlag(cmd)
	at := cmd.Flags().String("console", "", "serve the approval console on this address of loopback, such as 127.0.0.1:3001")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		page, err := listen(cmd.Context(), *at)
		if err != nil {
			return fmt.Errorf("discord-mcp cannot start:\n%w", err)
		}
		s, err := build(*inSandbox, *policy, page)
		if err != nil {
			return fmt.Errorf("discord-mcp cannot start:\n%w", errors.Join(err, page.close()))
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		ctx, end := context.WithCancel(ctx)
		defer end()
		other := make(chan error, 1)
		go func() {
			err := s.identity.Watch(ctx)
			if other <- err; err != nil {
				end()
			}
		}()
		page.serve(s.log) // until the process is about to end, so that what waits can be decided
		err = transport.Serve(ctx, s.mcp, transport.NewStdio(transport.StdioOptions{Logger: s.log}))
		end()
		return errors.Join(<-other, err, page.close(), s.close())
	}
	return cmd
}

// server is what the environment describes.
type server struct {
	mcp      *mcp.Server
	log      *slog.Logger
	identity boot.Identity
	close    func() error
}

func build(inSandbox bool, policy string, page *consolePage) (server, error) {
	config, token, err := page.read(os.Environ(), inSandbox)
	if err := errors.Join(err, config.ReadPolicy(policy, inSandbox)); err != nil {
		return server{}, err
	}
	options := boot.Options{Transport: "stdio"}
	if inSandbox {
		options.Sandbox = sandbox.Demo()
	}
	deps, done, err := boot.Deps(config, options)
	if err == nil {
		err = page.build(config, &deps, token)
	}
	if err != nil {
		return server{}, errors.Join(err, done())
	}
	built, err := discordtools.BuildServer(deps)
	if err != nil {
		return server{}, errors.Join(err, done())
	}
	identity, err := boot.IdentityOf(deps)
	if err != nil {
		return server{}, errors.Join(err, done())
	}
	return server{built, deps.Logger, identity, done}, nil
}
