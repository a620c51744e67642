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
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/audit/otlp"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
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
	sink, closer, err := sinkOf(c, o.Stderr, log)
	if err != nil {
		return deps, closeAll, err
	}
	var seen observers
	var kept Durable
	closeAll = func() (err error) {
		if closer != nil {
			err = closer.Close()
		}
		if kept != nil {
			err = errors.Join(err, kept.Close())
		}
		seen.stop()
		return err
	}
	if kept, err = c.openLedger(); err != nil {
		return deps, closeAll, err
	}
	if seen, err = observe(c, o, log); err != nil {
		return deps, closeAll, fmt.Errorf("telemetry: %w", err)
	}
	if seen.audits != nil {
		sink = otlp.New(seen.audits)
	}
	if sink != nil && c.AuditRequired == "false" {
		sink = audit.BestEffort(sink, log)
	}
	key, err := parseStateKey(c.StateKey)
	if err != nil {
		return deps, closeAll, err
	}
	catalogue, err := c.readCatalogue()
	if err != nil {
		return deps, closeAll, err
	}
	deps = discordtools.Deps{
		StateKey:  key,
		Config:    c.Discord(),
		Workflows: workflows.All,
		Permits:   c.Permits(),
		Client:    discordtools.ClientOptions{Base: c.APIBase, Logger: log, Resilience: c.resilience()},
		Audit:     sink,
		Approver:  c.approver(),
		Name:      Name,
		Version:   Version(),
		Transport: o.Transport,
		Logger:    log,
		Tracer:    seen.tracer,
		Meter:     seen.meter,
	}
	deps.Config.Catalogue = catalogue
	if kept != nil {
		deps.Ledger, deps.Operations = kept, kept.Operations() // not a nil one in an interface
	} else if o.Sandbox != nil {
		deps.Operations, deps.Volatile = ledger.NewOperations(nil), true // the sandbox ends with the process too
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

// Discord is what the settings say to the library.
func (c Config) Discord() discordtools.Config {
	d := discordtools.Config{
		Armed:        c.DryRun == "false",
		PreviewOnly:  c.WriteMode == "preview",
		DefaultGuild: discord.GuildID(c.DefaultGuild),
		Categories:   c.Categories,
		Toolsets:     c.Toolsets,
		ReviewedOnly: c.WriteStyle == "reviewed",
		Progressive:  c.ToolSurface == "progressive",
		ExpectedBot:  discord.UserID(c.ExpectedBot),
		UserScoped:   flag(c.UserScoped),
		Access:       accessModes[c.AccessMode],
		EmojiGG:      c.EmojiGG,

		Person:         discordtools.PersonMode(c.HumanApproval),
		RequirePreview: c.RequirePreview == "true",
		RequireConsent: c.DMConsent == "require",
	}
	for _, g := range c.AllowedGuilds {
		d.AllowedGuilds = append(d.AllowedGuilds, discord.GuildID(g))
	}
	return d
}

// readCatalogue is the file of templates, nil for none.
func (c Config) readCatalogue() ([]byte, error) {
	if c.Catalogue == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(c.Catalogue)
	if err != nil {
		return nil, fmt.Errorf("MCP_TEMPLATE_CATALOG: %w", err)
	}
	return raw, nil
}

func sinkOf(c Config, stderr io.Writer, log *slog.Logger) (mcpcore.AuditSink, io.Closer, error) {
	if c.AuditEnabled == "false" {
		return nil, nil, nil
	}
	switch c.AuditSink {
	case "none", "otlp": // the latter comes with telemetry
		return nil, nil, nil
	case "file":
		key, err := parseStateKey(c.StateKey)
		if err != nil {
			return nil, nil, err
		}
		if key == nil {
			log.Warn("the audit file is chained without a key, which shows accidents alone; set MCP_STATE_KEY", slog.String("file", c.AuditFile))
		}
		f, err := audit.File(c.AuditFile, audit.FileOptions{StateKey: key})
		if err != nil {
			return nil, nil, fmt.Errorf("MCP_AUDIT_FILE: %w", err)
		}
		return f, f, nil
	}
	return audit.Writer(stderr), nil, nil
}

// Logger writes for people on a terminal and JSON elsewhere. Records carry the
// trace_id and span_id of the active span.
func Logger(c Config, w io.Writer) *slog.Logger {
	if IsTerminal(w) {
		return slog.New(withSpan{tint.NewTextHandler(w, &tint.Options{Level: c.level(), TimeFormat: "15:04:05"})})
	}
	return slog.New(withSpan{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: c.level()})})
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

// Name is what servers call themselves to clients.
const Name = "discord-mcp"

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
