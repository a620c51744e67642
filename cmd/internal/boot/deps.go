package boot

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/bwmarrin/discordgo"
	"github.com/lmittmann/tint"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Options are what a command decides beside the settings.
type Options struct {
	Sandbox   *sandbox.Discord // instead of Discord; nil for the real one
	Transport string           // "stdio" or "http", for audits
	Stderr    io.Writer        // logs and the audit sink "stderr"; nil is os.Stderr
}

// Deps makes the parts of a server from the settings. close releases what they
// hold; it is safe to call when err is not nil.
func Deps(c Config, o Options) (deps discordtools.Deps, closeAll func() error, err error) {
	closeAll = func() error { return nil }
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	log := Logger(c, o.Stderr)
	for _, w := range c.Warnings {
		log.Warn(w)
	}
	sink, closer, err := sinkOf(c, o.Stderr)
	if err != nil {
		return deps, closeAll, err
	}
	if closer != nil {
		closeAll = closer.Close
	}
	deps = discordtools.Deps{
		Config: discordtools.Config{
			Armed:        c.DryRun == "false",
			PreviewOnly:  c.WriteMode == "preview",
			DefaultGuild: discord.GuildID(c.DefaultGuild),
			Categories:   c.Categories,
		},
		Client:    discordtools.ClientOptions{Base: c.APIBase, Logger: log},
		Audit:     sink,
		Name:      "discord-mcp",
		Version:   Version(),
		Transport: o.Transport,
		Logger:    log,
	}
	if o.Sandbox != nil {
		deps.Session = o.Sandbox.Session()
		deps.Client.Base = "" // the sandbox is reached in process
		return deps, closeAll, nil
	}
	deps.Session, err = discordgo.New("Bot " + c.Token)
	if err != nil {
		return deps, closeAll, errors.New("the Discord session could not be made")
	}
	return deps, closeAll, nil
}

func sinkOf(c Config, stderr io.Writer) (mcpcore.AuditSink, io.Closer, error) {
	if c.AuditEnabled == "false" {
		return nil, nil, nil
	}
	switch c.AuditSink {
	case "none":
		return nil, nil, nil
	case "file":
		f, err := audit.File(c.AuditFile)
		if err != nil {
			return nil, nil, fmt.Errorf("MCP_AUDIT_FILE: %w", err)
		}
		return f, f, nil
	}
	return audit.Writer(stderr), nil, nil
}

// Logger writes for people on a terminal and JSON elsewhere.
func Logger(c Config, w io.Writer) *slog.Logger {
	if IsTerminal(w) {
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: c.level(), TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: c.level()}))
}

// IsTerminal reports whether w is a terminal that wants colours.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Version is the module's version, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}
