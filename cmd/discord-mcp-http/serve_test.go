package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// run runs a command that ends by itself.
func run(t *testing.T, env []string, args ...string) (status int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := command(ctx, env, args...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run()
	noSecret(t, out.String()+err.String())
	return cmd.ProcessState.ExitCode(), err.String()
}

func TestWhatStopsTheStart(t *testing.T) {
	t.Parallel()
	approver, setting, err := console.NewApprover("ana")
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	bot, with := "DISCORD_TOKEN="+botToken, "DISCORD_MCP_ACCESS_TOKEN="
	for name, row := range map[string]struct {
		env    []string
		args   []string
		status int
		says   string
	}{
		"no bot":                             {[]string{with + accessToken}, nil, 1, "DISCORD_TOKEN"},
		"no token, on loopback":              {[]string{bot}, nil, 1, "--no-token"},
		"no token, on every address":         {[]string{bot}, []string{"--addr", "0.0.0.0:0"}, 1, "beyond loopback"},
		"no token, on every address, short":  {[]string{bot}, []string{"--addr", ":0"}, 1, "beyond loopback"},
		"no token, by a name":                {[]string{bot}, []string{"--addr", "server.example.com:0"}, 1, "beyond loopback"},
		"no token on purpose, everywhere":    {[]string{bot}, []string{"--addr", "[::]:0", "--no-token"}, 1, "beyond loopback"},
		"a sandbox without token everywhere": {nil, []string{"--addr", "0.0.0.0:0", "--sandbox"}, 1, "beyond loopback"},
		"a short token":                      {[]string{bot, with + accessToken[:31]}, nil, 1, "at least 32"},
		"a short token with spaces":          {[]string{bot, with + accessToken[:10] + strings.Repeat(" ", 40)}, nil, 1, "at least 32"},
		"a short token in the sandbox":       {[]string{with + "abcde"}, []string{"--sandbox"}, 1, "at least 32"},
		"a token of two lines":               {[]string{bot, with + accessToken + "\nx"}, nil, 1, "printable"},
		"a placeholder":                      {[]string{bot, with + "<the-access-token-that-clients-bring>"}, nil, 1, "placeholder"},
		"the bot's token for all clients":    {[]string{bot, with + botToken}, nil, 1, "the bot's token"},
		"an approver's token for all":        {[]string{bot, with + approver, "MCP_APPROVERS=" + setting}, nil, 1, "with which ana approves"},
		"no address":                         {[]string{bot, with + accessToken}, []string{"--addr", "3000"}, 1, "HOST:PORT"},
		"an address in use":                  {[]string{bot, with + accessToken}, []string{"--addr", taken.Addr().String()}, 1, "in use"},
		"no body at all":                     {[]string{bot, with + accessToken, "MCP_HTTP_MAX_BODY_BYTES=1"}, nil, 1, "1024 to 67108864"},
		"every host":                         {[]string{bot, with + accessToken, "MCP_HTTP_HOSTS=*"}, nil, 1, "MCP_HTTP_HOSTS"},
		"every site":                         {[]string{bot, with + accessToken, "MCP_HTTP_ORIGINS=*"}, nil, 1, "not an origin"},
		"a replica with a dot":               {[]string{bot, with + accessToken, "MCP_HTTP_REPLICA=a.b"}, nil, 1, "MCP_HTTP_REPLICA"},
		"a flag that is none":                {nil, []string{"--port", "1"}, 2, "--help"},
		"a word":                             {nil, []string{"serve"}, 2, "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stderr := run(t, row.env, row.args...)
			if status != row.status || !strings.Contains(stderr, row.says) || strings.Contains(stderr, approver) {
				t.Errorf("status %d, want %d, and %q in:\n%s", status, row.status, row.says, stderr)
			}
		})
	}
}

func TestServesBothErasUntilItIsToldToStop(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env  []string
		args []string
	}{
		"the sandbox":                      {nil, []string{"--sandbox"}},
		"the sandbox, with a token":        {[]string{"DISCORD_MCP_ACCESS_TOKEN=" + accessToken}, []string{"--sandbox"}},
		"a token with a newline at an end": {[]string{"DISCORD_MCP_ACCESS_TOKEN=" + accessToken + "\n"}, []string{"--sandbox", "--addr", "0.0.0.0:0"}},
		"no token, on purpose":             {[]string{"DISCORD_TOKEN=" + botToken, "MCP_CATEGORIES=meta"}, []string{"--no-token"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, row.env, row.args...)
			p.url = strings.Replace(p.url, "[::]", "127.0.0.1", 1)
			for _, version := range versions {
				s := connect(t, p.url, version, nil)
				if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) == 0 {
					t.Fatalf("%s: %v, %v", version, list, err)
				}
				if strings.Contains(name, "sandbox") {
					expect(t, s, "messages_read", `{"channel_id":"`+general+`"}`, "")
				}
			}
			for path, want := range map[string]string{"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ready"}`} {
				res, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + path)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				if res.StatusCode != 200 || string(body) != want {
					t.Errorf("%s: %s %s", path, res.Status, body)
				}
			}
			if status := p.end(syscall.SIGTERM); status != 0 {
				t.Errorf("status %d: %s", status, p.output())
			}
		})
	}
}

// Its own principal makes what one client previewed another's who has the same token, and nobody else's.
func TestAuditNamesTheUserAndTheTransport(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"DISCORD_MCP_ACCESS_TOKEN=" + accessToken}, "--sandbox")
	for _, version := range versions {
		expect(t, connect(t, p.url, version, nil), "messages_send", `{"channel_id":"`+general+`","content":"hello"}`, "")
	}
	p.end(syscall.SIGTERM)
	if got := strings.Count(p.output(), `"transport":"http"`); got < 2 {
		t.Errorf("%d audit records are of http:\n%s", got, p.output())
	}
}

func TestOtherBotEndsIt(t *testing.T) {
	t.Parallel()
	_, base := overLoopback(t)
	status, stderr := run(t, []string{base, "DISCORD_TOKEN=" + botToken, "DISCORD_MCP_ACCESS_TOKEN=" + accessToken, "DISCORD_EXPECTED_BOT_ID=1200000000000000999"}, "--addr", "127.0.0.1:0")
	if status != 1 || !strings.Contains(stderr, "DISCORD_EXPECTED_BOT_ID") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// An audit file that cannot be written makes the server unready, and not dead.
func TestReadyFollowsTheAuditFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/audit"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, []string{"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + dir + "/audit.jsonl"}, "--sandbox")
	get := func(path string) int {
		res, err := http.Get(strings.TrimSuffix(p.url, "/mcp") + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := get("/readyz"); got != 200 {
		t.Errorf("before: %d", got)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(limit); get("/readyz") != 503; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it stays ready")
		}
	}
	if got := get("/healthz"); got != 200 {
		t.Errorf("its health: %d", got)
	}
	p.end(syscall.SIGTERM)
}
