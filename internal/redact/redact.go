// Package redact keeps secrets and private texts out of audits, previews, logs
// and errors: by the name of a key and by the shape of a value.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// keepChars is how much of a long text stays readable.
const keepChars = 100

// Tree is a copy of a JSON tree in which the values of secret keys, and of the
// keys named in private, are replaced by markers, texts over 200 characters are
// cut, and credentials inside other texts are masked. The original is not
// changed.
func Tree(v any, private []string) any { return tree(v, private, short) }

// Secrets is a copy of a JSON tree in which only secrets are hidden, for somebody
// who must see the rest whole to decide about it.
func Secrets(v any) any { return tree(v, nil, strings.Clone) }

func tree(v any, private []string, cut func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if SecretKey(k) || slices.Contains(private, k) {
				item = marker(item)
			} else {
				item = tree(item, private, cut)
			}
			out[short(Text(k))] = item
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = tree(item, private, cut)
		}
		return out
	case string:
		return cut(Text(v))
	}
	return v
}

func marker(v any) any {
	if s, ok := v.(string); ok {
		return Marker(s)
	}
	return "[REDACTED:value]"
}

// Marker stands in the place of a private text.
func Marker(s string) string { return fmt.Sprintf("[REDACTED:%dch]", utf8.RuneCountInString(s)) }

func short(s string) string {
	if utf8.RuneCountInString(s) <= 2*keepChars {
		return s
	}
	runes := []rune(s)
	return string(runes[:keepChars]) + "...[TRUNCATED]"
}

// SecretKey knows keys by their lower-cased names. The fields that authorize a
// call are among them, wherever they stand.
func SecretKey(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "auth", "authorization", "api_key", "apikey", "private_key":
		return true
	}
	return strings.HasSuffix(key, "token") || strings.HasSuffix(key, "secret") || strings.Contains(key, "password") ||
		strings.HasPrefix(key, "__confirm") || strings.HasPrefix(key, "__consent")
}

// approverPrefix begins the tokens that package console makes.
const approverPrefix = "gwa_"

// The shapes of credentials, each with what stays of it, and what a text must have
// for it: a file of megabytes is told to have none without a search.
var shapes = []struct {
	find *regexp.Regexp
	keep string
	may  func(string) bool
}{
	{regexp.MustCompile(`(?i)((?:webhooks|interactions)(?:\\?/|%2F)[0-9]{17,20}(?:\\?/|%2F))[A-Za-z0-9_\-.%]+`), "${1}:token", longNumber},
	{regexp.MustCompile(`(?i)\b(bot|bearer)\s+[A-Za-z0-9_\-.~+/=]{16,}`), "${1} [REDACTED]", within(" \t\n\f\r")},
	{regexp.MustCompile(`[A-Za-z0-9_\-]{23,}(?:\.[A-Za-z0-9_\-]{6,7}\.[A-Za-z0-9_\-]{27,})+`), "[REDACTED:token]", within(".")},
	{regexp.MustCompile(approverPrefix + `[a-z2-7]{20,}`), "[REDACTED:token]", func(s string) bool { return strings.Contains(s, approverPrefix) }},
	{regexp.MustCompile(`(://)[^/?#\s]+@`), "${1}[REDACTED]@", within("@")},
	{regexp.MustCompile(`(?i)([?&][a-z_]*(?:token|secret|password|signature|key)=)[^&#\s"]+`), "${1}[REDACTED]", within("?&")},
}

// within tells of a text whether one of the characters is in it.
func within(chars string) func(string) bool {
	return func(s string) bool { return strings.ContainsAny(s, chars) }
}

// longNumber tells whether 17 digits, such as an id, stand in a row.
func longNumber(s string) bool {
	row := 0
	for i := range len(s) {
		if row++; s[i] < '0' || s[i] > '9' {
			row = 0
		}
		if row == 17 {
			return true
		}
	}
	return false
}

// Text masks what has the shape of a bot token, a bearer header, the token of a
// webhook or interaction address, an approver's token, the user part of an
// address, or a credential in a query.
func Text(s string) string {
	if !strings.ContainsAny(s, "./%=\t\n\f\r ") && len(s) < len(approverPrefix)+20 {
		return s
	}
	for _, shape := range shapes {
		if shape.may(s) {
			s = shape.find.ReplaceAllString(s, shape.keep)
		}
	}
	return s
}
