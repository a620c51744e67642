package openapi

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var loaded = sync.OnceValues(func() (*Spec, error) {
	path, ok := Find()
	if !ok {
		return nil, nil
	}
	return Load(path)
})

func spec(t *testing.T) *Spec {
	t.Helper()
	s, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip(Absent)
	}
	return s
}

func TestCheckRequest(t *testing.T) {
	t.Parallel()
	const messages = "/channels/{channel_id}/messages"
	form := "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n%s\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.txt\"\r\n\r\nhi\r\n--b--\r\n"
	for _, c := range []struct {
		name, method, route, query, kind, body string
		problem                                string // "" passes
	}{
		{"right", "POST", messages, "", "application/json", `{"content":"x"}`, ""},
		{"unknown operation", "POST", "/nowhere", "", "", "", "not an operation"},
		{"unknown member", "POST", messages, "", "application/json", `{"contents":"x"}`, "contents"},
		{"wrong type", "POST", messages, "", "application/json", `{"content":7}`, "/content"},
		{"missing body", "POST", messages, "", "", "", "is missing"},
		{"body where there is none", "PUT", "/channels/{channel_id}/thread-members/@me", "", "application/json", `{}`, "not expected"},
		{"wrong content type", "POST", messages, "", "text/plain", `x`, "content type"},
		{"multipart", "POST", messages, "", "multipart/form-data; boundary=b", strings.Replace(form, "%s", `{"content":"x"}`, 1), ""},
		{"multipart with a wrong payload", "POST", messages, "", "multipart/form-data; boundary=b", strings.Replace(form, "%s", `{"content":7}`, 1), "/content"},
		{"query", "GET", messages, "limit=5&before=123456789012345678", "", "", ""},
		{"unknown query parameter", "GET", messages, "page=2", "", "", "page does not exist"},
		{"query out of range", "GET", messages, "limit=500", "", "", "limit"},
		{"query of a wrong type", "GET", messages, "before=yesterday", "", "", "before"},
		{"one of several shapes", "PATCH", "/channels/{channel_id}", "", "application/json", `{"archived":true}`, ""},
		{"none of several shapes", "PATCH", "/channels/{channel_id}", "", "application/json", `{"archived":true,"topic":"x"}`, "validation failed"},
		{"permissions as text", "PUT", "/channels/{channel_id}/permissions/{overwrite_id}", "", "application/json", `{"type":0,"allow":"1024"}`, ""},
		{"permissions as words", "PUT", "/channels/{channel_id}/permissions/{overwrite_id}", "", "application/json", `{"type":0,"allow":"VIEW_CHANNEL"}`, "allow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			query, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, spec(t).CheckRequest(c.method, c.route, query, c.kind, []byte(c.body)), c.problem)
		})
	}
}

func TestCheckResponse(t *testing.T) {
	t.Parallel()
	const messages = "/channels/{channel_id}/messages"
	for _, c := range []struct {
		name, method, route string
		status              int
		kind, body          string
		problem             string
	}{
		{"empty list", "GET", messages, 200, "application/json", `[]`, ""},
		{"lacks members", "GET", messages, 200, "application/json", `[{"id":"123456789012345678"}]`, "missing properties"},
		{"no content", "PUT", "/channels/{channel_id}/thread-members/@me", 204, "", "", ""},
		{"content where there is none", "PUT", "/channels/{channel_id}/thread-members/@me", 204, "application/json", "{}", "has no body"},
		{"unknown status", "GET", messages, 201, "application/json", `[]`, "status 201"},
		{"error", "GET", messages, 404, "application/json", `{"message":"Unknown Channel","code":10003}`, ""},
		{"error with a tree", "GET", messages, 400, "application/json", `{"message":"Invalid Form Body","code":50035,"errors":{"limit":{"_errors":[{"code":"NUMBER_TYPE_MAX","message":"m"}]}}}`, ""},
		{"error without a code", "GET", messages, 404, "application/json", `{"message":"x"}`, "code"},
		{"rate limit", "GET", messages, 429, "application/json", `{"message":"x","retry_after":1.5,"global":false}`, ""},
		{"rate limit without a wait", "GET", messages, 429, "application/json", `{"message":"x","global":false}`, "retry_after"},
		{"server error", "GET", messages, 502, "text/html", `<html>`, ""},
		{"another content type", "GET", messages, 200, "text/html", `<html>`, "text/html"},
		{"not JSON", "GET", messages, 200, "application/json", `[`, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expect(t, spec(t).CheckResponse(c.method, c.route, c.status, c.kind, []byte(c.body)), c.problem)
		})
	}
}

func expect(t *testing.T, err error, problem string) {
	t.Helper()
	switch {
	case problem == "" && err != nil:
		t.Errorf("unexpected: %v", err)
	case problem != "" && err == nil:
		t.Errorf("passed, wanted %q", problem)
	case problem != "" && !strings.Contains(err.Error(), problem):
		t.Errorf("got %v, wanted %q", err, problem)
	}
}

func TestDifferencesHaveReasons(t *testing.T) {
	t.Parallel()
	for _, d := range Differences {
		if d.What == "" || d.Why == "" {
			t.Errorf("difference %q has no reason", d.What)
		}
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "read OpenAPI description") {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(path, []byte(`{"paths":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "InnerErrors") {
		t.Errorf("a description that cannot be corrected: %v", err)
	}
}

func TestFindPrefersTheEnvironment(t *testing.T) {
	t.Setenv("DISCORD_OPENAPI", "/elsewhere/openapi.json")
	if path, ok := Find(); !ok || path != "/elsewhere/openapi.json" {
		t.Errorf("found %q, %t", path, ok)
	}
}
