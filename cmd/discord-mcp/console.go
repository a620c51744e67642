package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// consolePage is the approval console beside a server on stdio; nil is none.
type consolePage struct {
	listener net.Listener
	console  *console.Console
	server   *http.Server
}

// listen opens the console's address, which must be one of loopback: whoever is
// let in from elsewhere needs TLS, and so another server.
func listen(ctx context.Context, at string) (*consolePage, error) {
	if at == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return nil, errors.New("--console needs an address with a port, such as 127.0.0.1:3001")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("--console serves this machine alone: give an address of loopback, such as 127.0.0.1:3001")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("--console: %w", err)
	}
	return &consolePage{listener: l}, nil
}

// address is where people open it.
func (p *consolePage) address() string { return "http://" + p.listener.Addr().String() + "/console" }

func (p *consolePage) read(environ []string, inSandbox bool) (c boot.Config, token string, err error) {
	if p == nil {
		c, err = boot.Read(environ, inSandbox)
		return c, "", err
	}
	return boot.ReadConsole(environ, inSandbox, p.address())
}

func (p *consolePage) build(c boot.Config, deps *discordtools.Deps, token string) error {
	if p == nil {
		return nil
	}
	var err error
	if p.console, err = boot.Console(c, deps); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "approval console: %s\n", p.address())
	if token != "" {
		fmt.Fprintf(os.Stderr, "token for this run, of the approver \"sandbox\": %s\n", token)
	}
	return nil
}

func (p *consolePage) serve(log *slog.Logger) {
	if p == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/console/", p.console)
	mux.Handle("/{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
	p.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the approval console stopped", "error", err)
		}
	}()
}

func (p *consolePage) close() error {
	switch {
	case p == nil:
		return nil
	case p.server == nil:
		return p.listener.Close()
	}
	p.console.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close() // who still reads a page does not hold the process up
	}
	return nil
}
