// Package boot turns the environment into a server: settings to Config to
// Deps. Nothing below the commands reads the environment.
package boot

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/go-playground/validator/v10"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Config is every setting. Each field's comment is its documentation. An empty
// variable counts as one that is not set.
type Config struct {
	// Token is the bot's token, with or without "Bot " in front.
	Token string `env:"DISCORD_TOKEN"`
	// TokenFile holds the token instead.
	TokenFile string `env:"DISCORD_TOKEN_FILE"`
	// APIBase is where Discord's API is, for a REST proxy.
	APIBase string `env:"DISCORD_API_BASE" validate:"omitempty,http_url"`
	// APIBaseHosts lists the hosts beyond loopback that may get the token.
	APIBaseHosts []string `env:"DISCORD_API_BASE_HOSTS"`
	// DefaultGuild fills a missing guild_id.
	DefaultGuild string `env:"DISCORD_DEFAULT_GUILD_ID" validate:"omitempty,snowflake"`
	// AllowedGuilds are the only servers that the bot acts in.
	AllowedGuilds []string `env:"ALLOWED_GUILDS"`
	// ExpectedBot is the only bot that the token may belong to.
	ExpectedBot string `env:"DISCORD_EXPECTED_BOT_ID" validate:"omitempty,snowflake"`
	// UserScoped lets tools that act on users outside servers through
	// AllowedGuilds: exactly 1, true or yes.
	UserScoped string `env:"MCP_ALLOW_USER_SCOPED"`
	// AccessMode says what a gap in the bot's permissions does to a call.
	AccessMode string `env:"MCP_ACCESS_MODE" envDefault:"advisory" validate:"oneof=advisory warn enforce"`
	// Categories switches on these categories alone.
	Categories []string `env:"MCP_CATEGORIES"`
	// DryRun disarms the preview of destructive tools when it is exactly the
	// text false. Everything else previews.
	DryRun string `env:"MCP_DRY_RUN"`
	// WriteMode preview refuses everything that writes.
	WriteMode string `env:"MCP_WRITE_MODE" envDefault:"allow" validate:"oneof=allow preview"`
	// AuditSink is where audit records go.
	AuditSink string `env:"MCP_AUDIT_SINK" envDefault:"stderr" validate:"oneof=stderr file otlp none"`
	// AuditFile is the file of the sink "file".
	AuditFile string `env:"MCP_AUDIT_FILE" envDefault:"./discord-mcp-audit.jsonl"`
	// AuditEnabled false is the same as the sink "none".
	AuditEnabled string `env:"MCP_AUDIT_ENABLED" envDefault:"true"`
	// AuditRequired false lets calls go on whose intent cannot be recorded.
	AuditRequired string `env:"MCP_AUDIT_REQUIRED" envDefault:"true" validate:"oneof=true false"`
	// StateKey is the secret that what outlives the process is sealed with, in
	// base64 or as text.
	StateKey string `env:"MCP_STATE_KEY"`
	// LogLevel is what is logged to stderr.
	LogLevel string `env:"LOG_LEVEL" envDefault:"info" validate:"oneof=fatal error warn info debug trace"`
	// OTelEnabled (1, true or yes) starts OpenTelemetry. Without it the settings
	// below do not matter.
	OTelEnabled string `env:"OTEL_ENABLED" validate:"omitempty,oneof=1 true yes 0 false no"`
	// OTelEndpoint is the collector's address, without /v1/traces.
	OTelEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	// OTelProtocol is http/protobuf or http/json.
	OTelProtocol string `env:"OTEL_EXPORTER_OTLP_PROTOCOL"`
	// OTelHeaders go to the collector: name=value,name=value.
	OTelHeaders string `env:"OTEL_EXPORTER_OTLP_HEADERS"`
	// OTelSampler is one of OpenTelemetry's standard samplers.
	OTelSampler string `env:"OTEL_TRACES_SAMPLER"`
	// OTelSamplerArg is the share that a ratio sampler keeps, 0 to 1.
	OTelSamplerArg string `env:"OTEL_TRACES_SAMPLER_ARG"`
	// OTelInterval is the milliseconds between two exports of metrics.
	OTelInterval string `env:"OTEL_METRIC_EXPORT_INTERVAL"`
	// OTelConsole writes spans to stderr instead of to the collector.
	OTelConsole string `env:"OTEL_CONSOLE_EXPORTER" validate:"omitempty,oneof=1 true yes 0 false no"`
	// OTelServiceName is the resource attribute service.name.
	OTelServiceName string `env:"OTEL_SERVICE_NAME"`
	// OTelServiceVersion is the resource attribute service.version.
	OTelServiceVersion string `env:"OTEL_SERVICE_VERSION"`
	// OTelResource are more resource attributes: name=value,name=value.
	OTelResource string `env:"OTEL_RESOURCE_ATTRIBUTES"`
	// Environment is the resource attribute deployment.environment.name.
	Environment string `env:"NODE_ENV"`

	// Warnings are settings that look wrong but stop nothing.
	Warnings []string `env:"-"`
}

// Read reads the settings from environ, which has the form of [os.Environ].
// With sandbox no token is needed and none is kept. The error joins everything
// that is wrong, warnings included; it shows no secret.
func Read(environ []string, sandbox bool) (Config, error) {
	vars := env.ToMap(environ)
	var c Config
	var problems []error
	if err := env.ParseWithOptions(&c, env.Options{Environment: vars}); err != nil {
		problems = append(problems, err)
	}
	switch {
	case sandbox:
		c.Token, c.TokenFile = "", ""
	default:
		token, err := readToken(c)
		if err != nil {
			problems = append(problems, err)
		}
		c.Token = token
	}
	problems = append(problems, validate(c)...)
	if err := checkBase(c); err != nil {
		problems = append(problems, err)
	}
	if err := checkCategories(c.Categories); err != nil {
		problems = append(problems, err)
	}
	c.Categories = trimmed(c.Categories)
	if _, err := parseStateKey(c.StateKey); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, checkScope(c)...)
	c.AllowedGuilds = trimmed(c.AllowedGuilds)
	problems = append(problems, promises(vars)...)
	tel, err := c.telemetry()
	if err != nil {
		problems = append(problems, err)
	}

	c.Warnings = slices.Concat(dryRunWarnings(c.DryRun), ignored(vars), lookalikes(vars))
	if tel != nil {
		c.Warnings = slices.Concat(c.Warnings, tel.warnings, idleOTel(vars))
	}
	if len(problems) > 0 {
		for _, w := range c.Warnings {
			problems = append(problems, errors.New(w))
		}
	}
	return c, errors.Join(problems...)
}

// trimmed is the list without spaces and empty items; nil when none is left.
func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// validate checks the fields' tags and says what is wrong under the variable's
// name, without its value.
func validate(c Config) (problems []error) {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(variable)
	if err := v.RegisterValidation("snowflake", func(f validator.FieldLevel) bool { return discord.CheckID(f.Field().String()) == nil }); err != nil {
		return []error{err}
	}
	err := v.Struct(c)
	invalid, ok := errors.AsType[validator.ValidationErrors](err)
	if err != nil && !ok {
		return []error{err}
	}
	for _, f := range invalid {
		problems = append(problems, fmt.Errorf("%s %s", f.Field(), wanted(f)))
	}
	return problems
}

// variable is the name of a field's environment variable, "" when it has none.
func variable(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func wanted(f validator.FieldError) string {
	switch f.Tag() {
	case "oneof":
		return "must be one of: " + strings.ReplaceAll(f.Param(), " ", ", ")
	case "snowflake":
		return "must be an id, 17 to 20 digits"
	case "http_url":
		return "must be a full address, such as http://127.0.0.1:8080"
	}
	return "breaks the rule " + f.Tag()
}

// checkBase keeps the token from following a base address to a stranger.
func checkBase(c Config) error {
	if c.APIBase == "" {
		return nil
	}
	u, err := url.Parse(c.APIBase)
	if err != nil {
		return errors.New("DISCORD_API_BASE is not an address") // err quotes it, and with it a password
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("DISCORD_API_BASE must have no user, query or fragment")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	trusted := trimmed(c.APIBaseHosts)
	if host == "localhost" || ip != nil && ip.IsLoopback() || host == "discord.com" && u.Scheme == "https" ||
		slices.Contains(trusted, host) || slices.Contains(trusted, u.Host) {
		return nil
	}
	return errors.New("DISCORD_API_BASE would send the bot's token to another host; if you trust that host, name it in DISCORD_API_BASE_HOSTS")
}

// checkCategories refuses names that no tool has, and a list without a name: a
// slip must not open what the operator closed.
func checkCategories(list []string) error {
	if len(list) == 0 || len(list) == 1 && strings.TrimSpace(list[0]) == "" {
		return nil
	}
	known := map[string]bool{"meta": true}
	for _, t := range discordtools.Tools(nil) { // nothing is called
		known[t.Category] = true
	}
	there := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	var unknown []string
	for _, name := range trimmed(list) {
		if !known[name] {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("MCP_CATEGORIES has unknown categories: %s; there are: %s", strings.Join(unknown, ", "), there)
	case trimmed(list) == nil:
		return fmt.Errorf("MCP_CATEGORIES names no category; there are: %s", there)
	}
	return nil
}

// level is the log level in slog's terms.
func (c Config) level() slog.Level {
	return map[string]slog.Level{
		"fatal": slog.LevelError + 4, "error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo,
		"debug": slog.LevelDebug, "trace": slog.LevelDebug - 4,
	}[cmp.Or(c.LogLevel, "info")]
}
