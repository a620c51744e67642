// Package boot turns the environment into a server: settings to Config to
// Deps. Nothing below the commands reads the environment.
package boot

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/go-playground/validator/v10"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Config is every setting. Each field's comment is its documentation.
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
	// Categories switches on these categories alone.
	Categories []string `env:"MCP_CATEGORIES"`
	// DryRun disarms the preview of destructive tools when it is exactly the
	// text false. Everything else previews.
	DryRun string `env:"MCP_DRY_RUN"`
	// WriteMode preview refuses everything that writes.
	WriteMode string `env:"MCP_WRITE_MODE" envDefault:"allow" validate:"oneof=allow preview"`
	// AuditSink is where audit records go.
	AuditSink string `env:"MCP_AUDIT_SINK" envDefault:"stderr" validate:"oneof=stderr file none"`
	// AuditFile is the file of the sink "file".
	AuditFile string `env:"MCP_AUDIT_FILE" envDefault:"./discord-mcp-audit.jsonl" validate:"required_if=AuditSink file"`
	// AuditEnabled false is the same as the sink "none".
	AuditEnabled string `env:"MCP_AUDIT_ENABLED" envDefault:"true"`
	// LogLevel is what is logged to stderr.
	LogLevel string `env:"LOG_LEVEL" envDefault:"info" validate:"oneof=fatal error warn info debug trace"`

	// Warnings are settings that look wrong but stop nothing.
	Warnings []string `env:"-"`
}

// unenforced are settings that promise a restriction which this version does
// not enforce. To start in spite of one would open what the operator closed.
var unenforced = map[string]string{ // name to the values that restrict nothing; "" is none
	"ALLOWED_GUILDS": "", "DISCORD_EXPECTED_BOT_ID": "", "MCP_ACCESS_MODE": "advisory", "MCP_DM_CONSENT_MODE": "advisory",
	"MCP_HUMAN_APPROVAL": "off", "MCP_REQUIRE_PREVIEW": "false", "MCP_APPROVERS": "", "MCP_TOOLSETS": "",
	"MCP_WRITE_STYLE": "", "MCP_LEDGER": "memory", "MCP_STATE_KEY": "",
}

// withoutEffect are settings of convenience that this version does not have.
var withoutEffect = []string{
	"OTEL_ENABLED", "GATEWAY", "MCP_TOOL_SURFACE", "MCP_RETRY_ENABLED", "MCP_RETRY_MAX_ATTEMPTS", "MCP_RETRY_BASE_DELAY_MS",
	"MCP_RETRY_MAX_DELAY_MS", "MCP_RETRY_JITTER", "MCP_TIMEOUT_DEFAULT_MS", "MCP_CIRCUIT_ENABLED",
	"MCP_CIRCUIT_FAILURE_THRESHOLD", "MCP_CIRCUIT_HALF_OPEN_AFTER_MS", "MCP_BULKHEAD_LIMIT",
}

// Read reads the settings from environ, which has the form of [os.Environ].
// With sandbox no token is needed and none is kept. The error joins everything
// that is wrong; it shows no secret.
func Read(environ []string, sandbox bool) (Config, error) {
	vars := env.ToMap(environ)
	var c Config
	var problems []error
	if err := env.ParseWithOptions(&c, env.Options{Environment: vars}); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, validate(c)...)
	for _, name := range slices.Sorted(keys(unenforced)) {
		if v := strings.TrimSpace(vars[name]); v != "" && v != unenforced[name] {
			problems = append(problems, fmt.Errorf("%s: this version does not enforce it; unset it to start without that restriction", name))
		}
	}
	for _, name := range withoutEffect {
		if vars[name] != "" {
			c.Warnings = append(c.Warnings, name+" has no effect in this version")
		}
	}
	if c.DryRun != "" && c.DryRun != "false" && strings.EqualFold(strings.TrimSpace(c.DryRun), "false") {
		c.Warnings = append(c.Warnings, `MCP_DRY_RUN is not exactly "false", so destructive tools only preview`)
	}
	c.Warnings = append(c.Warnings, lookalikes(vars)...)
	c.Categories = trimmed(c.Categories)
	switch {
	case sandbox:
		c.Token = ""
	default:
		token, err := readToken(c)
		if err != nil {
			problems = append(problems, err)
		}
		c.Token = token
	}
	if err := checkBase(c); err != nil {
		problems = append(problems, err)
	}
	return c, errors.Join(problems...)
}

func keys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

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
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
		return name
	})
	if err := v.RegisterValidation("snowflake", func(f validator.FieldLevel) bool { return discord.CheckID(f.Field().String()) == nil }); err != nil {
		return []error{err}
	}
	var invalid validator.ValidationErrors
	if !errors.As(v.Struct(c), &invalid) {
		return nil
	}
	for _, f := range invalid {
		problems = append(problems, fmt.Errorf("%s: %s", f.Field(), wanted(f)))
	}
	return problems
}

func wanted(f validator.FieldError) string {
	switch f.Tag() {
	case "oneof":
		return "must be one of " + strings.ReplaceAll(f.Param(), " ", ", ")
	case "snowflake":
		return "must be an id of 17 to 20 digits"
	case "http_url":
		return "must be an http or https address"
	}
	return "breaks the rule " + f.Tag()
}

var (
	placeholder = regexp.MustCompile(`(?i)^\$?\{.*\}$|^<.*>$|^%.*%$|your.*token|token.*here|changeme|^x+$`)
	tokenShape  = regexp.MustCompile(`^[A-Za-z0-9._-]{50,}$`)
)

// readToken finds the token and says what is wrong with it without showing it.
func readToken(c Config) (string, error) {
	token, from := c.Token, "DISCORD_TOKEN"
	if c.TokenFile != "" {
		if strings.TrimSpace(c.Token) != "" {
			return "", errors.New("DISCORD_TOKEN and DISCORD_TOKEN_FILE are both set; keep one")
		}
		b, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("DISCORD_TOKEN_FILE: %w", err)
		}
		token, from = string(b), "DISCORD_TOKEN_FILE"
	}
	token = strings.TrimSpace(token)
	token = strings.TrimSpace(strings.TrimPrefix(token, "Bot "))
	problem := ""
	switch {
	case token == "":
		problem = "is not set; put the bot's token there, or try everything without one: discord-mcp serve --sandbox"
	case strings.ContainsAny(token, `"'`):
		problem = "holds quotes; give the bare token"
	case placeholder.MatchString(token):
		problem = "still holds a placeholder; the client did not fill it in"
	case strings.Contains(token, "://"):
		problem = "is an address, not a token; a bot token is in Discord's developer portal, under Bot"
	case discord.CheckID(token) == nil:
		problem = "is an id, not a token; a bot token is in Discord's developer portal, under Bot"
	case strings.HasPrefix(token, "Bearer "):
		problem = "is a user's token; a bot token is needed"
	case !tokenShape.MatchString(token):
		problem = "does not look like a bot token: at least 50 letters, digits, dots, dashes and underscores"
	default:
		return token, nil
	}
	return "", fmt.Errorf("%s %s", from, problem)
}

// checkBase keeps the token from following a base address to a stranger.
func checkBase(c Config) error {
	u, err := url.Parse(c.APIBase)
	if c.APIBase == "" || err != nil {
		return nil
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || host == "discord.com" && u.Scheme == "https" || slices.Contains(trimmed(c.APIBaseHosts), host) {
		return nil
	}
	return errors.New("DISCORD_API_BASE: the token would go to a host beyond loopback; name that host in DISCORD_API_BASE_HOSTS if you trust it")
}

// names are the variables that mean something here.
func names() []string {
	all := slices.Concat(slices.Collect(keys(unenforced)), withoutEffect)
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("env"), ","); name != "" && name != "-" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// lookalikes warns of variables that are probably misspelt.
func lookalikes(vars map[string]string) (warnings []string) {
	known := names()
	for _, name := range slices.Sorted(keys(vars)) {
		if slices.Contains(known, name) || !strings.HasPrefix(name, "MCP_") && !strings.HasPrefix(name, "DISCORD_") {
			continue
		}
		for _, k := range known {
			if near(name, k) {
				warnings = append(warnings, fmt.Sprintf("%s is not a setting; did you mean %s?", name, k))
				break
			}
		}
	}
	return warnings
}

// near reports whether two names differ by at most two letters put in, left out
// or changed.
func near(a, b string) bool {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)] <= 2
}

// level is the log level in slog's terms.
func (c Config) level() slog.Level {
	return map[string]slog.Level{
		"fatal": slog.LevelError + 4, "error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo,
		"debug": slog.LevelDebug, "trace": slog.LevelDebug - 4,
	}[cmp.Or(c.LogLevel, "info")]
}
