package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var (
	// placeholder is what a host or a person forgot to replace.
	placeholder = regexp.MustCompile(`(?i)^\$?\{.*\}$|^<.*>$|^%.*%$|^\$\w+$|your.*token|token.*here|change.?me|replace.?me|^x+$|^\.+$`)
	publicKey   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	tokenShape  = regexp.MustCompile(`^[A-Za-z0-9._-]{50,}$`)
)

const whereTokens = "a bot token is in Discord's developer portal, on the page Bot of your application"

// readToken finds the token and says what is wrong with it without showing it.
func readToken(c Config) (string, error) {
	token, from := c.Token, "DISCORD_TOKEN"
	if c.TokenFile != "" {
		if strings.TrimSpace(c.Token) != "" {
			return "", errors.New("DISCORD_TOKEN and DISCORD_TOKEN_FILE are both set; keep one of them")
		}
		b, err := os.ReadFile(c.TokenFile)
		if err != nil {
			// The path is left out: people put the token itself there.
			if e, ok := errors.AsType[*fs.PathError](err); ok {
				err = e.Err
			}
			return "", fmt.Errorf("DISCORD_TOKEN_FILE must be the path of a file that holds the token: %w", err)
		}
		token, from = strings.TrimPrefix(string(b), "\ufeff"), "DISCORD_TOKEN_FILE"
	}
	token = strings.TrimSpace(token)
	if len(token) >= 4 && strings.EqualFold(token[:4], "Bot ") {
		token = strings.TrimSpace(token[4:])
	}
	problem := ""
	switch {
	case token == "" && from == "DISCORD_TOKEN":
		problem = "is not set. Put the bot's token there; to try everything without one, start with --sandbox"
	case token == "":
		problem = "names an empty file; " + whereTokens
	case strings.ContainsAny(token, "\"'`"):
		problem = "holds quotes; give the token without them"
	case placeholder.MatchString(token):
		problem = "still holds a placeholder: nobody replaced it by the token"
	case strings.Contains(token, "://"):
		problem = "is an address, not a token; " + whereTokens
	case discord.CheckID(token) == nil:
		problem = "is an id, not a token; " + whereTokens
	case publicKey.MatchString(token):
		problem = "is the application's public key, not a token; " + whereTokens
	case strings.HasPrefix(token, "Bearer "), strings.HasPrefix(token, "mfa."):
		problem = "is a user's token, which this server does not use; " + whereTokens
	case !tokenShape.MatchString(token):
		problem = "does not look like a bot token, which has at least 50 letters, digits, dots, dashes and underscores; " + whereTokens
	default:
		return token, nil
	}
	return "", fmt.Errorf("%s %s", from, problem)
}
