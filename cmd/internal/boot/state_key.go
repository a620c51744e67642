package boot

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/caarlos0/env/v11"
)

// minStateKey is the least length of MCP_STATE_KEY, in bytes.
const minStateKey = 32

// StateKey reads MCP_STATE_KEY alone, for commands that need no other setting;
// nil when it is not set. The error does not show it.
func StateKey(environ []string) ([]byte, error) {
	return parseStateKey(env.ToMap(environ)["MCP_STATE_KEY"])
}

// parseStateKey takes what is base64 of enough bytes for that, and anything else
// for the key's own text.
func parseStateKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	if placeholder.MatchString(text) {
		return nil, errors.New("MCP_STATE_KEY still holds a placeholder; a good one is made by: openssl rand -base64 32")
	}
	for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if key, err := form.DecodeString(text); err == nil && len(key) >= minStateKey {
			return key, nil
		}
	}
	if len(text) < minStateKey {
		return nil, fmt.Errorf("MCP_STATE_KEY needs at least %d bytes, as base64 or as text; a good one is made by: openssl rand -base64 32", minStateKey)
	}
	return []byte(text), nil
}
