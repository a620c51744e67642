package discordtools

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

func answerTo(method string) *restCall {
	return &restCall{method: method, route: "/channels/{channel_id}"}
}

func TestRefusalCodes(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html; charset=UTF-8"}}
	rows := []struct {
		name   string
		method string
		status int
		header http.Header
		body   string
		code   mcpcore.Code
		detail string
		hint   string // part of it
		fields map[string]any
	}{
		{"missing permissions", "POST", 403, nil, `{"message":"Missing Permissions","code":50013}`, mcpcore.CodePermission,
			"Discord refused POST /channels/{channel_id} with status 403: Missing Permissions (code 50013)", "highest role", map[string]any{"status": 403, "discord_code": 50013}},
		{"archived thread", "PATCH", 400, nil, `{"message":"Thread is archived","code":50083}`, mcpcore.CodeValidation,
			"Discord refused PATCH /channels/{channel_id} with status 400: Thread is archived (code 50083)", "Set archived to false", map[string]any{"status": 400, "discord_code": 50083}},
		{"unknown code keeps the status's hint", "GET", 404, nil, `{"message":"404: Not Found","code":0}`, mcpcore.CodeNotFound,
			"Discord refused GET /channels/{channel_id} with status 404: 404: Not Found", "", map[string]any{"status": 404}},
		{"unauthorized", "GET", 401, nil, `{"message":"401: Unauthorized","code":0}`, mcpcore.CodeAuthInvalid,
			"Discord refused GET /channels/{channel_id} with status 401: 401: Unauthorized", "bot's token", map[string]any{"status": 401}},
		{"other client error", "POST", 405, nil, ``, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 405", "", map[string]any{"status": 405}},
		{"too large", "POST", 413, html, `<html>`, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 413", "", map[string]any{"status": 413}},
		{"gateway page is not shown", "GET", 502, html, `<html>secret page</html>`, mcpcore.CodeServerError,
			"Discord failed on GET /channels/{channel_id} with status 502", "", map[string]any{"status": 502}},
		{"write that may have happened", "POST", 503, nil, `{"message":"API resource is overloaded","code":130000}`, mcpcore.CodeOutcomeUnknown,
			"Discord failed on POST /channels/{channel_id} with status 503: API resource is overloaded (code 130000); it may have been carried out", "overloaded", map[string]any{"status": 503, "discord_code": 130000}},
		{"edge page", "GET", 403, html, `<html>Access denied</html>`, mcpcore.CodeCloudflare,
			"the edge in front of Discord refused GET /channels/{channel_id} with status 403; this is not about the bot's permissions", "", map[string]any{"status": 403, "retry_after_ms": int64(3600000)}},
		{"edge code", "GET", 403, nil, `{"message":"Cloudflare is blocking your request","code":40333}`, mcpcore.CodeCloudflare,
			"the edge in front of Discord refused GET /channels/{channel_id} with status 403; this is not about the bot's permissions", "", map[string]any{"status": 403, "retry_after_ms": int64(3600000)}},
		{"form errors", "POST", 400, nil, `{"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"10":{"title":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 256 or fewer in length."}]}},"2":{"_errors":[{"code":"MODEL_TYPE_CONVERT","message":"Only dictionaries."}]}},"_errors":[{"code":"ODD","message":"Whole."}]}}`, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 400: Invalid Form Body (code 50035); Whole. (ODD) (and 2 more)", "Fix the issues", map[string]any{
				"status": 400, "discord_code": 50035, "issues": []mcpcore.Issue{
					{Path: "", Message: "Whole. (ODD)", Code: mcpcore.IssueRule},
					{Path: "embeds.2", Message: "Only dictionaries. (MODEL_TYPE_CONVERT)", Code: mcpcore.IssueType},
					{Path: "embeds.10.title", Message: "Must be 256 or fewer in length. (BASE_TYPE_MAX_LENGTH)", Code: mcpcore.IssueBig},
				},
			}},
		{"older form", "POST", 400, nil, `{"username":["Too long."],"embeds":["0"]}`, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 400; embeds: 0 (and 1 more)", "Fix the issues", map[string]any{
				"status": 400, "issues": []mcpcore.Issue{{Path: "embeds", Message: "0", Code: mcpcore.IssueRule}, {Path: "username", Message: "Too long.", Code: mcpcore.IssueRule}},
			}},
		{"fields of other types", "POST", 400, nil, `{"message":7,"code":"x","errors":"no"}`, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 400", "", map[string]any{"status": 400}},
		{"text that breaks out", "POST", 400, nil, `{"message":"a\nb\u202ec\u0000","code":1}`, mcpcore.CodeValidation,
			"Discord refused POST /channels/{channel_id} with status 400: a bc (code 1)", "", map[string]any{"status": 400, "discord_code": 1}},
	}
	for _, row := range rows {
		h := row.header
		if h == nil {
			h = http.Header{"Content-Type": {"application/json"}}
		}
		e := refusal(answerTo(row.method), row.status, h, []byte(row.body))
		if e.Code != row.code || e.Detail != row.detail {
			t.Errorf("%s: %v\nwant %s: %s", row.name, e, row.code, row.detail)
		}
		if row.hint == "" && e.Hint != "" || !strings.Contains(e.Hint, row.hint) {
			t.Errorf("%s: hint %q, want %q in it", row.name, e.Hint, row.hint)
		}
		if d := cmp.Diff(row.fields, e.Fields); d != "" {
			t.Errorf("%s: fields differ (-want +got)\n%s", row.name, d)
		}
	}
}

func TestErrorBodyIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `%q:{"_errors":[{"code":"X","message":%q}]},`, strings.Repeat("k", 300)+fmt.Sprint(i), strings.Repeat("🚫", 5000))
	}
	a := parseErrorBody([]byte(`{"message":"` + strings.Repeat("m", 5000) + `","code":50035,"errors":{` + strings.TrimSuffix(many.String(), ",") + `}}`))
	if len(a.issues) != maxIssues || a.more != 100-maxIssues || len([]rune(a.message)) != maxText {
		t.Errorf("%d issues, %d more, a message of %d characters", len(a.issues), a.more, len([]rune(a.message)))
	}
	for _, i := range a.issues {
		if len([]rune(i.Path)) > maxPath || len([]rune(i.Message)) > maxText+10 {
			t.Fatalf("an issue of %d and %d characters", len([]rune(i.Path)), len([]rune(i.Message)))
		}
	}
	deep := strings.Repeat(`{"a":`, 1000) + `["x"]` + strings.Repeat(`}`, 1000)
	if a := parseErrorBody([]byte(`{"message":"x","errors":` + deep + `}`)); len(a.issues) != 0 {
		t.Errorf("issues from a bottomless tree: %v", a.issues)
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	js := "application/json"
	rows := []struct {
		name   string
		header map[string]string
		body   string
		wait   time.Duration
		scope  string
		code   mcpcore.Code
	}{
		{"body wins over headers", map[string]string{"Content-Type": js, "Retry-After": "40", "X-RateLimit-Reset-After": "2.0", "X-RateLimit-Scope": "shared"}, `{"retry_after":39.7}`, 39700 * time.Millisecond, "shared", mcpcore.CodeRateLimited},
		{"fraction", map[string]string{"Content-Type": js}, `{"retry_after":0.661,"global":true}`, 661 * time.Millisecond, "global", mcpcore.CodeRateLimited},
		{"global by header", map[string]string{"Content-Type": js, "X-RateLimit-Global": "true"}, `{"retry_after":1}`, time.Second, "global", mcpcore.CodeRateLimited},
		{"user", map[string]string{"Content-Type": js, "X-RateLimit-Scope": "user"}, `{"retry_after":2}`, 2 * time.Second, "user", mcpcore.CodeRateLimited},
		{"broken JSON", map[string]string{"Content-Type": js, "Retry-After": "3"}, `{"retry`, 3 * time.Second, "user", mcpcore.CodeRateLimited},
		{"text with a scope", map[string]string{"Content-Type": "text/plain", "X-RateLimit-Scope": "user", "Retry-After": "4"}, `slow`, 4 * time.Second, "user", mcpcore.CodeRateLimited},
		{"JSON without a type", nil, `{"message":"error code: 1015","retry_after":5}`, 5 * time.Second, "user", mcpcore.CodeRateLimited},
		{"no wait at all", map[string]string{"Content-Type": js}, `{}`, time.Second, "user", mcpcore.CodeRateLimited},
		{"edge page", map[string]string{"Content-Type": "text/html", "Retry-After": "120"}, `<html>`, 2 * time.Minute, "", mcpcore.CodeCloudflare},
		{"edge text", map[string]string{"Content-Type": "text/plain"}, `error code: 1015`, time.Hour, "", mcpcore.CodeCloudflare},
	}
	for _, row := range rows {
		h := http.Header{}
		for k, v := range row.header {
			h.Set(k, v)
		}
		got := parseTooMany(answerTo("GET"), h, []byte(row.body))
		if got.wait != row.wait || got.scope != row.scope || got.err.Code != row.code {
			t.Errorf("%s: %v %q %s, want %v %q %s", row.name, got.wait, got.scope, got.err.Code, row.wait, row.scope, row.code)
		}
		if got.err.Fields["retry_after_ms"] != row.wait.Milliseconds() || got.err.Fields["status"] != 429 {
			t.Errorf("%s: fields %v", row.name, got.err.Fields)
		}
	}
}

func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	if got := retryAfter(http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}); got < 59*time.Minute || got > time.Hour {
		t.Errorf("a date in an hour is %v", got)
	}
	if got := retryAfter(http.Header{"Retry-After": {"Mon, 01 Jan 2001 00:00:00 GMT"}}); got != 0 {
		t.Errorf("a date that has passed is %v", got)
	}
}

func TestHintsAreSentences(t *testing.T) {
	t.Parallel()
	for code, hint := range codeHints {
		if len(hint) > 160 || !strings.HasSuffix(hint, ".") || hint != oneLine(hint, 200) {
			t.Errorf("%d: %q", code, hint)
		}
	}
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	h := http.Header{"Content-Type": {"application/json"}}
	for body, want := range map[string]bool{`{"a":1}`: false, "[1]\n": false, `"text"`: false, ``: false, `{"a":`: true, `[{"a":1}`: true} {
		if got := cutOff(h, []byte(body)); got != want {
			t.Errorf("%q: %t", body, got)
		}
	}
	if cutOff(http.Header{"Content-Type": {"text/csv"}}, []byte("{")) {
		t.Error("a body that is not JSON was judged")
	}
}
