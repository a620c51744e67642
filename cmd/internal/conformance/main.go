// Command conformance is a server for the official conformance suite, which
// wants tools, resources and prompts of its own. What the kernel can express goes
// through the chain and all of it through the transport; the rest, which the
// kernel has no word for, is added to the server as an embedder adds it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
	"github.com/guildwarden/guildwarden/middleware"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "listen on this address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, *addr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, addr string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := mcpcore.BuildServer(mcpcore.Deps{
		Name: "conformance", Tools: tools(), Chain: middleware.Standard(middleware.Options{}), Transport: "http", Logger: log,
	})
	if err != nil {
		return err
	}
	server.AddReceivingMiddleware(features)
	addRawTools(server)
	addResources(server)
	addPrompts(server)
	go watch(ctx, server)
	h, err := transport.NewHandler(transport.HandlerOptions{Server: server, Open: true, Logger: log})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return h.Serve(ctx, l, nil, 0)
}
