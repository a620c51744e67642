package redact_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/redact"
)

// The secrets of these tests. None was ever valid.
const (
	first    = "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ"
	secret   = "NrCqW8dK2fYxZb5pTgHvLmQsJwRtEuAaOcIiDd"
	botToken = first + ".GaBcDe." + secret
	approver = "gwa_mzxw6ytboi3dcmrtgq2tmnzyhe4tcmrtgq2tmnzyhe4tcmrtgq2q"
)

func TestTree(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 201)
	for raw, want := range map[string]string{
		`{"content":"private words","title":"shown"}`: `{"content":"[REDACTED:13ch]","title":"shown"}`,
		`{"content":["a","b"]}`:                       `{"content":"[REDACTED:value]"}`,
		`{"content":null}`:                            `{"content":"[REDACTED:value]"}`,
		`{"a":[{"content":"x"},{"b":{"content":5}}]}`: `{"a":[{"content":"[REDACTED:1ch]"},{"b":{"content":"[REDACTED:value]"}}]}`,
		`{"token":"t","Bearer_Token":"t","interaction_token":"t","AUTH":"t","password":"t","Secret":"t","x_token":"t","x_secret":"t","myPassword1":"t"}`: `{"AUTH":"[REDACTED:1ch]","Bearer_Token":"[REDACTED:1ch]","Secret":"[REDACTED:1ch]","interaction_token":"[REDACTED:1ch]","myPassword1":"[REDACTED:1ch]","password":"[REDACTED:1ch]","token":"[REDACTED:1ch]","x_secret":"[REDACTED:1ch]","x_token":"[REDACTED:1ch]"}`,
		`{"accessToken":"t","api_key":"t","authorization":"t","__confirm_id":"t","__consent_hash":"t","__confirm":true}`:                                 `{"__confirm":"[REDACTED:value]","__confirm_id":"[REDACTED:1ch]","__consent_hash":"[REDACTED:1ch]","accessToken":"[REDACTED:1ch]","api_key":"[REDACTED:1ch]","authorization":"[REDACTED:1ch]"}`,
		`{"tokens_left":5,"secretary":"Ann","author":"Bob"}`:                                                                                             `{"author":"Bob","secretary":"Ann","tokens_left":5}`,
		`{"long":"` + long + `"}`:                      `{"long":"` + strings.Repeat("ü", 100) + `...[TRUNCATED]"}`,
		`{"long":"` + long[2:] + `"}`:                  `{"long":"` + long[2:] + `"}`,
		`{"a":"` + botToken + `"}`:                     `{"a":"[REDACTED:token]"}`,
		`{"` + botToken + `":1}`:                       `{"[REDACTED:token]":1}`,
		`{"n":12345678901234567890,"b":true,"z":null}`: `{"b":true,"n":12345678901234567890,"z":null}`,
	} {
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		var v, copied any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		copied = clone(v)
		if got := string(canon.Append(nil, redact.Tree(v, []string{"content"}))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
		if !reflect.DeepEqual(v, copied) {
			t.Errorf("%s was changed", raw)
		}
	}
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := map[string]any{}
		for k, item := range v {
			c[k] = clone(item)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = clone(v[i])
		}
		return c
	}
	return v
}

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		botToken:          "[REDACTED:token]",
		"Bot " + botToken: "Bot [REDACTED]",
		"authorization: bearer\tabcdefghijklmnop": "authorization: bearer [REDACTED]",
		"token=" + botToken + ".":                 "token=[REDACTED:token].",
		"x" + botToken + "x":                      "[REDACTED:token]",
		approver:                                  "[REDACTED:token]",
		"it is:\n" + approver + ", keep it":       "it is:\n[REDACTED:token], keep it",
		"ana=sha256:" + approver[:30] + "...":     "ana=sha256:[REDACTED:token]...",
		"https://discord.com/api/webhooks/720000000000000001/aB-c_d.e?wait=true":     "https://discord.com/api/webhooks/720000000000000001/:token?wait=true",
		"/interactions/720000000000000001/aW50ZXJhY3Rpb24/callback":                  "/interactions/720000000000000001/:token/callback",
		`https:\/\/discord.com\/api\/webhooks\/720000000000000001\/secret`:           `https:\/\/discord.com\/api\/webhooks\/720000000000000001\/:token`,
		"u=https%3A%2F%2Fdiscord.com%2Fapi%2Fwebhooks%2F720000000000000001%2Fsecret": "u=https%3A%2F%2Fdiscord.com%2Fapi%2Fwebhooks%2F720000000000000001%2F:token",
		"postgres://bot:p@ss@db.example/ledger":                                      "postgres://[REDACTED]@db.example/ledger",
		"https://token@git.example/x":                                                "https://[REDACTED]@git.example/x",
		"GET /x?access_token=abc&a=1#f":                                              "GET /x?access_token=[REDACTED]&a=1#f",
		"https://x.example/?a=1&token=abc":                                           "https://x.example/?a=1&token=[REDACTED]",
		// What is no secret stays.
		"the bot said hello. Bearer of news":                          "the bot said hello. Bearer of news",
		"https://discord.com/channels/@me/710000000000000001":         "https://discord.com/channels/@me/710000000000000001",
		"see discord.com/developers/docs/resources/webhooks/overview": "see discord.com/developers/docs/resources/webhooks/overview",
		"<@720000000000000001> a && b <https://x.example/?a=1&b=2>":   "<@720000000000000001> a && b <https://x.example/?a=1&b=2>",
		"the gwa_team and the gwa_moderators":                         "the gwa_team and the gwa_moderators",
		"v1.2.3 of some.module.path":                                  "v1.2.3 of some.module.path",
		"":                                                            "",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// FuzzText: it never panics, and the secret part of a credential survives in no
// surroundings.
func FuzzText(f *testing.F) {
	for _, s := range [][2]string{{"", ""}, {"x ", " y"}, {"AAAAAAAAAAAAAAAAAAAAAAA.BBBBBB.x", "x"}, {"https://", "@host/"}, {"Bot ", "\n"}, {"webhooks/720000000000000001/", "/messages"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		_ = redact.Text(before)
		for _, planted := range []string{
			botToken, "Bot " + botToken, "Bearer " + secret, "https://discord.com/api/webhooks/720000000000000001/" + secret,
			"/interactions/720000000000000001/" + secret + "/callback",
		} {
			if strings.Contains(before, secret[:16]) || strings.Contains(after, secret[:16]) {
				return
			}
			// A scheme is a word of its own; glued to another it is none.
			if strings.HasPrefix(planted, "Bearer") || strings.HasPrefix(planted, "Bot") {
				before += " "
			}
			if got := redact.Text(before + planted + after); strings.Contains(got, secret) {
				t.Errorf("%q becomes %q", before+planted+after, got)
			}
		}
		if got := redact.Text(before + approver + after); !strings.Contains(before+after, approver[4:24]) && strings.Contains(got, approver[4:24]) {
			t.Errorf("%q becomes %q", before+approver+after, got)
		}
	})
}
