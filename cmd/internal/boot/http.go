package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

const makeToken = "a good one is made by: openssl rand -hex 32"

var replica = regexp.MustCompile(`^[A-Za-z0-9-]{0,32}$`)

// checkHTTP finds settings of the server over HTTP that are wrong. No problem shows the token.
func checkHTTP(c Config) (problems []error) {
	switch token := c.AccessToken; {
	case token == "":
	case placeholder.MatchString(token):
		problems = append(problems, errors.New("DISCORD_MCP_ACCESS_TOKEN still holds a placeholder; "+makeToken))
	case len(token) < transport.MinToken:
		problems = append(problems, fmt.Errorf("DISCORD_MCP_ACCESS_TOKEN needs at least %d characters; %s", transport.MinToken, makeToken))
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		problems = append(problems, errors.New("DISCORD_MCP_ACCESS_TOKEN must be printable ASCII without spaces; "+makeToken))
	case token == c.Token:
		problems = append(problems, errors.New("DISCORD_MCP_ACCESS_TOKEN is the bot's token, which no client may have; "+makeToken))
	}
	if those, _ := approvers(c.Approvers); c.AccessToken != "" {
		if err := those.CheckBearer(c.AccessToken); err != nil {
			problems = append(problems, fmt.Errorf("DISCORD_MCP_ACCESS_TOKEN: %w", err))
		}
	}
	if !replica.MatchString(c.HTTPReplica) {
		problems = append(problems, errors.New("MCP_HTTP_REPLICA must be at most 32 letters, digits and dashes"))
	}
	for _, host := range c.HTTPHosts {
		if strings.ContainsAny(host, "*/@") {
			problems = append(problems, errors.New("MCP_HTTP_HOSTS takes hosts alone, such as mcp.example.com, without scheme, path and wildcards"))
			break
		}
	}
	return problems
}

// CheckAddress refuses an address beyond loopback without a token, and one of loopback unless that was asked for.
func CheckAddress(c Config, address string, open bool) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("--addr must be HOST:PORT, such as 127.0.0.1:3000: %w", err)
	case c.AccessToken != "":
		return nil
	case !isLoopback(host):
		return errors.New("--addr: beyond loopback everybody could use the bot; set DISCORD_MCP_ACCESS_TOKEN. " + strings.ToUpper(makeToken[:1]) + makeToken[1:])
	case !open:
		return errors.New("DISCORD_MCP_ACCESS_TOKEN is not set, so every process of this machine could use the bot; " + makeToken + ". To serve without, give --no-token")
	}
	return nil
}

// ReadHTTP is [Read] for the server over HTTP. Where MCP_APPROVERS names somebody it serves the approval console, as it
// does in a sandbox, with a token of [ReadConsole]; otherwise Console is "".
func ReadHTTP(environ []string, sandbox bool) (c Config, token string, err error) {
	if !sandbox && strings.TrimSpace(env.ToMap(environ)["MCP_APPROVERS"]) == "" {
		c, err = Read(environ, false)
		return c, "", err
	}
	return ReadConsole(environ, sandbox, "/console") // until it listens
}

// ConsoleAt is where people reach the console of a server that listens at an address: under the first of MCP_HTTP_HOSTS,
// which has TLS unless it is one of loopback; else there, and on this machine where it listens everywhere.
func ConsoleAt(c Config, at net.Addr) string {
	if len(c.HTTPHosts) > 0 {
		u := url.URL{Scheme: "https", Host: c.HTTPHosts[0], Path: "/console"}
		if isLoopback(u.Hostname()) {
			u.Scheme = "http"
		}
		return u.String()
	}
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d/console", tcp.Port)
	}
	return "http://" + at.String() + "/console"
}

// isLoopback reports whether a host is one of this machine alone, without asking anybody.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Handler serves servers of these parts over HTTP. Without a token it lets in everybody.
func Handler(c Config, deps discordtools.Deps, a *mcpcore.Assembly) (*transport.Handler, error) {
	o := transport.HandlerOptions{
		Server: a.Full(), Token: c.AccessToken, Open: c.AccessToken == "",
		Hosts: c.HTTPHosts, Origins: c.HTTPOrigins, Replica: c.HTTPReplica,
		MaxBody: c.HTTPMaxBody, MaxInFlight: c.HTTPMaxInFlight, MaxSessions: c.HTTPMaxSessions, SessionTimeout: c.HTTPTimeout,
		Ready: ready(deps.Ledger, deps.Audit), Logger: deps.Logger,
	}
	if deps.Config.Progressive { // what a session reveals is its own
		o.Session = func(*http.Request) *mcp.Server { return a.Server() }
	}
	return transport.NewHandler(o)
}

// ready says whether those of the parts that can tell are.
func ready(parts ...any) func(context.Context) error {
	return func(ctx context.Context) error {
		var problems []error
		for _, part := range parts {
			if p, ok := part.(interface{ Ready(context.Context) error }); ok {
				problems = append(problems, p.Ready(ctx))
			}
		}
		return errors.Join(problems...)
	}
}
