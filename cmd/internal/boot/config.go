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
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// Config is every setting, by group. What a field's tags say is said nowhere
// else: env and envDefault name the variable and its default, validate the rule
// (otel is one that counts when telemetry runs), doc what it does, takes its
// values where no rule tells them, unset what its absence means, and secret what
// of it is never shown: all, what an address or a ledger holds of credentials,
// or hashes. In takes and doc, 'quotes' stand around code. An empty variable
// counts as one that is not set.
type Config struct {
	_           group  `title:"Credentials and identity"`
	Token       string `env:"DISCORD_TOKEN" takes:"a bot token" secret:"all" doc:"the bot's token; spaces around it and a 'Bot' in front are taken off"`
	TokenFile   string `env:"DISCORD_TOKEN_FILE" takes:"a path" doc:"a file that holds the token instead; both at once is an error"`
	ExpectedBot string `env:"DISCORD_EXPECTED_BOT_ID" validate:"omitempty,snowflake" unset:"any" doc:"the only bot that the token may belong to; application-wide tools need it"`

	_             group    `title:"Guild scope and surface"`
	DefaultGuild  string   `env:"DISCORD_DEFAULT_GUILD_ID" validate:"omitempty,snowflake" doc:"fills a 'guild_id' that a call leaves out; the call's own wins. Must be one of ALLOWED_GUILDS"`
	AllowedGuilds []string `env:"ALLOWED_GUILDS" takes:"ids, comma list" unset:"all" doc:"the only guilds that a call may touch"`
	Categories    []string `env:"MCP_CATEGORIES" takes:"names, comma list" unset:"all" doc:"the only categories that are on; 'meta' always is. Tools of the others are neither listed nor run"`
	Toolsets      []string `env:"MCP_TOOLSETS" takes:"names, comma list" unset:"all" doc:"the only toolsets whose tools there are; 'discord-mcp tools --toolsets' lists them. They authorise nothing"`
	ToolSurface   string   `env:"MCP_TOOL_SURFACE" validate:"omitempty,oneof=full progressive" unset:"'full'" doc:"'progressive' begins with the tool 'discover_discord_tools' alone, which enables others"`
	UserScoped    string   `env:"MCP_ALLOW_USER_SCOPED" takes:"'1', 'true', 'yes'" unset:"no" doc:"lets tools on users outside guilds through ALLOWED_GUILDS; needs DISCORD_EXPECTED_BOT_ID"`

	_          group  `title:"Write policy"`
	DryRun     string `env:"MCP_DRY_RUN" takes:"the text 'false'" unset:"previews" doc:"arms destructive tools; every other value previews"`
	WriteMode  string `env:"MCP_WRITE_MODE" envDefault:"allow" validate:"oneof=allow preview" doc:"'preview' answers every tool that writes with a preview"`
	WriteStyle string `env:"MCP_WRITE_STYLE" envDefault:"direct" validate:"oneof=direct reviewed" doc:"'reviewed' takes away every direct tool that has a gate, so that only reviewed workflows destroy"`
	AccessMode string `env:"MCP_ACCESS_MODE" envDefault:"advisory" validate:"oneof=advisory warn enforce" doc:"what a gap in the bot's permissions does to a call before it is sent"`

	_               group         `title:"Confirmation"`
	RequirePreview  string        `env:"MCP_REQUIRE_PREVIEW" envDefault:"false" validate:"oneof=true false" doc:"'true' refuses a confirmed call that was not previewed before"`
	DMConsent       string        `env:"MCP_DM_CONSENT_MODE" envDefault:"advisory" validate:"oneof=advisory require" doc:"'require' opens a direct message channel only with an approval of exactly its recipient"`
	HumanApproval   string        `env:"MCP_HUMAN_APPROVAL" envDefault:"off" validate:"oneof=off gated writes" doc:"which calls a person must approve: those of tools with a gate, or all that write"`
	ApprovalChannel string        `env:"MCP_APPROVAL_CHANNEL" envDefault:"auto" validate:"oneof=console elicitation auto" doc:"how a person is asked: 'console' asks MCP_APPROVERS, 'elicitation' the client's user, 'auto' the former where they are named and can see what waits: this process serves the console, or MCP_LEDGER is not memory"`
	Approvers       string        `env:"MCP_APPROVERS" takes:"'NAME=sha256:HEX', comma list" unset:"nobody" secret:"hashes" doc:"who may decide on the console, each as 'discord-mcp approver new' prints it"`
	ApprovalWait    time.Duration `env:"MCP_APPROVAL_WAIT" envDefault:"0s" validate:"min=0s,max=90s" takes:"a time such as '30s'" doc:"how long a call waits for the console before it answers that a person was asked"`
	Ledger          string        `env:"MCP_LEDGER" envDefault:"memory" takes:"'memory', 'sqlite:PATH', 'postgres://…'" secret:"ledger" doc:"where approvals are kept, and what reviewed workflows did. All but memory outlive the server, and need MCP_STATE_KEY"`

	_            group    `title:"REST"`
	APIBase      string   `env:"DISCORD_API_BASE" validate:"omitempty,http_url" unset:"Discord's" secret:"address" doc:"where Discord's API is, for a REST proxy"`
	APIBaseHosts []string `env:"DISCORD_API_BASE_HOSTS" takes:"hosts, comma list" doc:"hosts beyond loopback that may get the token; with or without a port"`
	Retry        string   `env:"MCP_RETRY_ENABLED" envDefault:"true" takes:"the text 'false'" doc:"'false' sends every call once"`
	RetryMax     int      `env:"MCP_RETRY_MAX_ATTEMPTS" envDefault:"3" validate:"min=1,max=10" doc:"retries after the first try"`
	RetryBase    int      `env:"MCP_RETRY_BASE_DELAY_MS" envDefault:"200" validate:"min=50,max=5000" takes:"milliseconds" doc:"the wait before the first retry; it doubles with each"`
	RetryCap     int      `env:"MCP_RETRY_MAX_DELAY_MS" envDefault:"10000" validate:"min=500,max=60000" takes:"milliseconds" doc:"the longest wait; what Discord wants to wait longer is not sent again"`
	RetryJitter  string   `env:"MCP_RETRY_JITTER" envDefault:"full" validate:"oneof=none full decorrelated" doc:"how waits are spread"`
	TryTimeout   int      `env:"MCP_TIMEOUT_DEFAULT_MS" envDefault:"30000" validate:"min=1000,max=120000" takes:"milliseconds" doc:"how long one try may take"`
	Circuit      string   `env:"MCP_CIRCUIT_ENABLED" envDefault:"true" takes:"the text 'false'" doc:"'false' keeps calling a Discord that keeps failing"`
	CircuitOpens int      `env:"MCP_CIRCUIT_FAILURE_THRESHOLD" envDefault:"10" validate:"min=3,max=100" doc:"failed calls in a row that open the circuit breaker"`
	CircuitProbe int      `env:"MCP_CIRCUIT_HALF_OPEN_AFTER_MS" envDefault:"60000" validate:"min=5000,max=600000" takes:"milliseconds" doc:"how long it stays open before one call may look again"`
	Bulkhead     int      `env:"MCP_BULKHEAD_LIMIT" envDefault:"100" validate:"min=1,max=1000" doc:"calls of Discord at once; there is no queue"`

	_         group  `title:"Other services"`
	EmojiGG   string `env:"MCP_EMOJI_GG_URL" validate:"omitempty,http_url" unset:"off" secret:"address" doc:"the address of emoji.gg's list, 'https://emoji.gg/api/', which 'inspiration_emoji_gg_search' reads; nothing of Discord is sent there"`
	Catalogue string `env:"MCP_TEMPLATE_CATALOG" takes:"a path" unset:"none" doc:"a JSON file of guild templates, which 'templates_recommend' and blueprints rank"`

	_               group         `title:"HTTP"`
	AccessToken     string        `env:"DISCORD_MCP_ACCESS_TOKEN" takes:"32 characters or more" unset:"nobody" secret:"all" doc:"the bearer token of 'discord-mcp-http'; spaces around it are taken off"`
	HTTPHosts       []string      `env:"MCP_HTTP_HOSTS" takes:"hosts, comma list" unset:"loopback and the address itself" doc:"more names under which clients reach the server, such as a proxy's; with or without a port. Agents are told that the console is at the first"`
	HTTPOrigins     []string      `env:"MCP_HTTP_ORIGINS" takes:"origins such as 'https://chat.example.com', comma list" unset:"its own" doc:"more web pages that may send requests"`
	HTTPMaxBody     int64         `env:"MCP_HTTP_MAX_BODY_BYTES" envDefault:"4194304" validate:"min=1024,max=67108864" takes:"bytes" doc:"the longest body of a request"`
	HTTPMaxInFlight int           `env:"MCP_HTTP_MAX_IN_FLIGHT" envDefault:"16" validate:"min=1,max=1024" doc:"calls at once; more are refused with 503"`
	HTTPMaxSessions int           `env:"MCP_HTTP_MAX_SESSIONS" envDefault:"1000" validate:"min=1,max=100000" doc:"sessions of older clients and subscriptions of newer ones at once"`
	HTTPTimeout     time.Duration `env:"MCP_HTTP_SESSION_TIMEOUT" envDefault:"30m" validate:"min=1m,max=24h" takes:"a time such as '30m'" doc:"after which a session without a request ends"`
	HTTPReplica     string        `env:"MCP_HTTP_REPLICA" takes:"letters, digits, dashes" doc:"the name that the ids of sessions begin with, for a proxy in front of several processes"`

	_             group  `title:"Audit"`
	AuditSink     string `env:"MCP_AUDIT_SINK" envDefault:"stderr" validate:"oneof=stderr file otlp none" doc:"where the records of calls that write go. Only 'file' keeps intents, and stops a call whose intent it cannot take"`
	AuditFile     string `env:"MCP_AUDIT_FILE" envDefault:"./discord-mcp-audit.jsonl" takes:"a path" doc:"the file of the sink 'file', made with mode 0600"`
	AuditEnabled  string `env:"MCP_AUDIT_ENABLED" envDefault:"true" takes:"the text 'false'" doc:"'false' is the same as the sink 'none'"`
	AuditRequired string `env:"MCP_AUDIT_REQUIRED" envDefault:"true" validate:"oneof=true false" doc:"'false' lets a call go on whose intent the sink cannot take, with a warning in the log"`
	StateKey      string `env:"MCP_STATE_KEY" takes:"32 bytes or more, base64 or text" secret:"all" doc:"the secret that what outlives the process is sealed with. Base64 of enough bytes is taken for that, all else for the key's own text"`

	_                  group  `title:"Telemetry"`
	OTelEnabled        string `env:"OTEL_ENABLED" validate:"omitempty,oneof=1 true yes 0 false no" unset:"off" doc:"starts telemetry. Without it the others matter to the audit sink 'otlp' alone"`
	OTelEndpoint       string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" takes:"an address" secret:"address" doc:"the collector; '/v1/traces', '/v1/metrics' and '/v1/logs' are appended. Without it nothing is exported"`
	OTelProtocol       string `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf" otel:"oneof=http/protobuf http/json" doc:"the encoding"`
	OTelHeaders        string `env:"OTEL_EXPORTER_OTLP_HEADERS" takes:"'name=value', comma list" secret:"all" doc:"headers for the collector, values percent-encoded"`
	OTelSampler        string `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" otel:"oneof=always_on always_off traceidratio parentbased_always_on parentbased_always_off parentbased_traceidratio" doc:"which calls are traced"`
	OTelSamplerArg     string `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" otel:"float=0 1" doc:"the share that 'traceidratio' and 'parentbased_traceidratio' keep"`
	OTelInterval       string `env:"OTEL_METRIC_EXPORT_INTERVAL" envDefault:"30000" takes:"milliseconds" otel:"int=100 3600000" doc:"between two exports of metrics"`
	OTelConsole        string `env:"OTEL_CONSOLE_EXPORTER" validate:"omitempty,oneof=1 true yes 0 false no" unset:"off" doc:"spans go to stderr as JSON instead of to the collector"`
	OTelServiceName    string `env:"OTEL_SERVICE_NAME" takes:"a text" unset:"'discord-mcp'" doc:"the resource attribute 'service.name'"`
	OTelServiceVersion string `env:"OTEL_SERVICE_VERSION" takes:"a text" unset:"the version" doc:"the resource attribute 'service.version'"`
	OTelResource       string `env:"OTEL_RESOURCE_ATTRIBUTES" takes:"'name=value', comma list" doc:"more attributes of the resource, values percent-encoded"`
	Environment        string `env:"NODE_ENV" envDefault:"development" takes:"a text" doc:"the resource attribute 'deployment.environment.name'"`

	_        group  `title:"Process"`
	LogLevel string `env:"LOG_LEVEL" envDefault:"info" validate:"oneof=fatal error warn info debug trace" doc:"what is logged to stderr: for people on a terminal, JSON elsewhere"`

	// Console is where this process serves the approval console, as people reach
	// it; "" when it does not.
	Console string `env:"-"`

	// allowed is what the document of --policy says; see ReadPolicy.
	allowed mcpcore.WorkflowPolicy

	// Warnings are settings that look wrong but stop nothing.
	Warnings []string `env:"-"`
}

// group begins a group of settings.
type group struct{}

// Read reads the settings from environ, which has the form of [os.Environ].
// With sandbox no token is needed and none is kept. The error joins everything
// that is wrong, warnings included; it shows no secret.
func Read(environ []string, sandbox bool) (Config, error) {
	return finish(read(env.ToMap(environ), sandbox, ""))
}

func finish(c Config, problems []error) (Config, error) {
	if len(problems) > 0 {
		for _, w := range c.Warnings {
			problems = append(problems, errors.New(w))
		}
	}
	return c, errors.Join(problems...)
}

func read(vars map[string]string, sandbox bool, console string) (c Config, problems []error) {
	unread := unreadable(env.ParseWithOptions(&c, env.Options{Environment: vars}))
	for _, field := range slices.Sorted(maps.Keys(unread)) {
		problems = append(problems, unread[field])
	}
	c.Console = console
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
	problems = append(problems, check(c, "validate", unread)...)
	if err := checkBase(c); err != nil {
		problems = append(problems, err)
	}
	if err := checkEmojiGG(c.EmojiGG); err != nil {
		problems = append(problems, err)
	}
	if err := checkCategories(c.Categories); err != nil {
		problems = append(problems, err)
	}
	c.Categories = trimmed(c.Categories)
	if err := checkToolsets(c.Toolsets); err != nil {
		problems = append(problems, err)
	}
	c.Toolsets = trimmed(c.Toolsets)
	if _, err := parseStateKey(c.StateKey); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, checkScope(c)...)
	c.AllowedGuilds = trimmed(c.AllowedGuilds)
	problems = append(problems, checkApprovals(c)...)
	c.AccessToken = strings.TrimSpace(c.AccessToken)
	c.HTTPHosts, c.HTTPOrigins = trimmed(c.HTTPHosts), trimmed(c.HTTPOrigins)
	problems = append(problems, checkHTTP(c)...)
	tel, err := c.telemetry()
	if err != nil {
		problems = append(problems, err)
	}

	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	c.Warnings = slices.Concat(dryRunWarnings(c.DryRun), idleApprovers(c), ignored(vars), lookalikes(vars))
	if tel != nil {
		c.Warnings = slices.Concat(c.Warnings, tel.warnings, idleOTel(vars))
	}
	return c, problems
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

// checkEmojiGG refuses what would be sent to a service along with a request.
func checkEmojiGG(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.User == nil && u.Fragment == "" {
		return nil
	}
	return errors.New("MCP_EMOJI_GG_URL must be an address without user and fragment") // it may hold a password
}

// checkCategories refuses names that no tool has, and a list without a name: a
// slip must not open what the operator closed.
func checkCategories(list []string) error {
	if len(list) == 0 || len(list) == 1 && strings.TrimSpace(list[0]) == "" {
		return nil
	}
	known := map[string]bool{"meta": true}
	for _, t := range Tools() {
		known[t.Category] = true
	}
	there := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	var unknown []string
	for _, name := range trimmed(list) {
		if !known[name] {
			unknown = append(unknown, quoted(name))
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

// checkToolsets refuses names of none, and a list without a name.
func checkToolsets(list []string) error {
	if len(list) == 0 || len(list) == 1 && strings.TrimSpace(list[0]) == "" {
		return nil
	}
	names := trimmed(list)
	if names == nil {
		return errors.New("MCP_TOOLSETS names no toolset; to see all there are, run: discord-mcp tools --toolsets")
	}
	all := discordtools.Toolsets(Tools())
	var told []string
	for _, name := range names {
		_, err := surface.Parse([]string{name}, all)
		unknown, is := errors.AsType[*surface.UnknownError](err)
		switch {
		case is && unknown.Nearest != "":
			told = append(told, fmt.Sprintf("%s (did you mean %s?)", quoted(name), unknown.Nearest))
		case is:
			told = append(told, quoted(name))
		}
	}
	if told == nil {
		return nil
	}
	return fmt.Errorf("MCP_TOOLSETS has unknown toolsets: %s; to see all there are, run: discord-mcp tools --toolsets", strings.Join(told, ", "))
}

// level is the log level in slog's terms.
func (c Config) level() slog.Level {
	return map[string]slog.Level{
		"fatal": slog.LevelError + 4, "error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo,
		"debug": slog.LevelDebug, "trace": slog.LevelDebug - 4,
	}[cmp.Or(c.LogLevel, "info")]
}
