package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
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
	// An agent that has the token of an approver approves itself.
	if those, _ := approvers(c.Approvers); c.AccessToken != "" {
		if name, known := those.Verify(c.AccessToken); known {
			problems = append(problems, fmt.Errorf("DISCORD_MCP_ACCESS_TOKEN is the token of the approver %s, who could then be any agent; %s", name, makeToken))
		}
	}
	if !replica.MatchString(c.HTTPReplica) {
		problems = append(problems, errors.New("MCP_HTTP_REPLICA must be at most 32 letters, digits and dashes"))
	}
	for _, host := range trimmed(c.HTTPHosts) {
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
	if err != nil {
		return fmt.Errorf("--addr must be HOST:PORT, such as 127.0.0.1:3000: %w", err)
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case c.AccessToken != "":
		return nil
	case host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()):
		return errors.New("--addr: beyond loopback everybody could use the bot; set DISCORD_MCP_ACCESS_TOKEN. " + strings.ToUpper(makeToken[:1]) + makeToken[1:])
	case !open:
		return errors.New("DISCORD_MCP_ACCESS_TOKEN is not set, so every process of this machine could use the bot; " + makeToken + ". To serve without, give --no-token")
	}
	return nil
}

// Handler serves a server of these parts over HTTP. Without a token it lets in everybody.
func Handler(c Config, deps discordtools.Deps, server *mcp.Server) (*transport.Handler, error) {
	return transport.NewHandler(transport.HandlerOptions{
		Server: server, Token: c.AccessToken, Open: c.AccessToken == "",
		Hosts: trimmed(c.HTTPHosts), Origins: trimmed(c.HTTPOrigins), Replica: c.HTTPReplica,
		MaxBody: c.HTTPMaxBody, MaxInFlight: c.HTTPMaxInFlight, MaxSessions: c.HTTPMaxSessions, SessionTimeout: c.HTTPTimeout,
		Ready: ready(deps.Ledger, deps.Audit), Logger: deps.Logger,
	})
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
