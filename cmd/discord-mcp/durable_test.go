package main_test

import (
	"encoding/json"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
)

const (
	layout   = `{"channel_id":"` + general + `","components":[{"type":10,"content":"Hi"}]`
	required = "PAYLOAD_CONFIRMATION_REQUIRED"
	replayed = "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED"
)

// confirm is the call that uses what a preview issued.
func confirm(preview answer) string {
	hash, _ := preview.fields["payload_hash"].(string)
	id, _ := preview.fields["approval_id"].(string)
	return layout + `,"__confirm":true,"__confirm_hash":"` + hash + `","__confirm_id":"` + id + `"}`
}

// expect calls and wants a code.
func expect(t *testing.T, s *mcp.ClientSession, tool, args, code string) answer {
	t.Helper()
	got := ask(t, s, tool, args)
	if got.Code != code {
		t.Errorf("%s %s: got %q, want %q: %s", tool, args, got.Code, code, got.text)
	}
	return got
}

func TestSQLiteLedgerOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "approvals.db")
	outlives(t, "MCP_LEDGER=sqlite:"+path)
	for _, file := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if strings.Contains(string(b), stateSecret) || strings.Contains(string(b), "Hi") {
			t.Errorf("%s holds the key, or what was to be sent", file)
		}
	}
}

func TestPostgreSQLLedgerOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	outlives(t, "MCP_LEDGER="+postgrestest.Schema(t))
}

// outlives previews in one process and confirms in another: each time the first
// one is gone.
func outlives(t *testing.T, ledger string) {
	t.Helper()
	world, base := overLoopback(t)
	env := []string{base, ledger, stateKey, "MCP_DRY_RUN=false", "MCP_REQUIRE_PREVIEW=true", "MCP_DM_CONSENT_MODE=require"}
	once := func(tool, args, code, want string) answer {
		t.Helper()
		s, end := agent(t, eras[1], env, "serve")
		got := expect(t, s, tool, args, code)
		end()
		if sent := wrote(world); sent != want {
			t.Errorf("%s %s: Discord got %q, want %q", tool, args, sent, want)
		}
		return got
	}
	payload := once("components_v2_send", layout+`}`, required, "")
	once("components_v2_send", confirm(payload), "", greeted)
	once("components_v2_send", confirm(payload), replayed, "")

	recipient := `{"recipient_id":"1200000000000000104"`
	consent := once("users_create_dm", recipient+`}`, "DM_CONSENT_REQUIRED", "")
	hash, _ := consent.fields["consent_hash"].(string)
	id, _ := consent.fields["consent_id"].(string)
	agreed := recipient + `,"__consent":true,"__consent_hash":"` + hash + `","__consent_id":"` + id + `"}`
	once("users_create_dm", agreed, "", "POST /users/@me/channels")
	once("users_create_dm", agreed, "DM_CONSENT_REJECTED", "")

	once("channels_delete", closing, "PREVIEW_REQUIRED", "")
	once("channels_delete", `{"channel_id":"`+lounge+`"}`, "DRY_RUN_PREVIEW", "")
	once("channels_delete", closing, "", closed)
}

func TestSQLiteLedgerIsShared(t *testing.T) {
	t.Parallel()
	shared(t, "MCP_LEDGER=sqlite:"+filepath.Join(t.TempDir(), "approvals.db"))
}

func TestPostgreSQLLedgerIsShared(t *testing.T) {
	t.Parallel()
	shared(t, "MCP_LEDGER="+postgrestest.Schema(t))
}

// shared has two processes at once: what one issues the other spends, and of
// both together one.
func shared(t *testing.T, ledger string) {
	t.Helper()
	world, base := overLoopback(t)
	var servers [2]*mcp.ClientSession
	byHand := says("accept", true).options()
	byHand.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	for i := range servers {
		s, end := agentWith(t, byHand, eras[1], []string{base, ledger, stateKey, "MCP_DRY_RUN=false"}, "serve")
		defer end()
		servers[i] = s
	}
	one, other := servers[0], servers[1]
	args := confirm(expect(t, one, "components_v2_send", layout+`}`, required))
	expect(t, other, "components_v2_send", args, "")
	expect(t, one, "components_v2_send", args, replayed)
	if sent := wrote(world); sent != greeted {
		t.Errorf("Discord got %q", sent)
	}

	args = confirm(expect(t, other, "components_v2_send", layout+`}`, required))
	var mu sync.Mutex
	acted := 0
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			got := ask(t, servers[i%2], "components_v2_send", args)
			mu.Lock()
			defer mu.Unlock()
			if got.Code == "" {
				acted++
			} else if got.Code != replayed {
				t.Errorf("got %q: %s", got.Code, got.text)
			}
		})
	}
	wg.Wait()
	if sent := wrote(world); acted != 1 || sent != greeted {
		t.Errorf("%d of 8 acted, and Discord got %q", acted, sent)
	}

	// A person's answer is heard by a server that did not ask, once.
	asking, end := agentWith(t, byHand, eras[1], []string{base, ledger, stateKey, "MCP_HUMAN_APPROVAL=writes"}, "serve")
	call := &mcp.CallToolParams{Name: "messages_send", Arguments: json.RawMessage(greet)}
	question, err := asking.CallTool(t.Context(), call)
	if err != nil || !question.NeedsInput() {
		t.Fatalf("no question: %+v, %v", question, err)
	}
	end()
	hearing, end := agentWith(t, byHand, eras[1], []string{base, ledger, stateKey, "MCP_HUMAN_APPROVAL=writes"}, "serve")
	defer end()
	call.RequestState = question.RequestState
	call.InputResponses = mcp.InputResponseMap{"approve": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}}
	for _, code := range []string{"", "HUMAN_APPROVAL_REQUIRED"} {
		if got := askWith(t, hearing, call); got.Code != code {
			t.Errorf("got %q, want %q: %s", got.Code, code, got.text)
		}
	}
	if sent := wrote(world); sent != greeted {
		t.Errorf("Discord got %q", sent)
	}
}

// TestLedgerThatCannotBeReached cuts the way to the database while the binary
// serves, and restores it.
func TestLedgerThatCannotBeReached(t *testing.T) {
	t.Parallel()
	direct := postgrestest.Schema(t)
	way, through := newWay(t, direct)
	world, base := overLoopback(t)
	s, end := agent(t, eras[1], []string{base, "MCP_LEDGER=" + through, stateKey, "MCP_DRY_RUN=false", "MCP_DM_CONSENT_MODE=require"}, "serve")
	defer end()
	issued := confirm(expect(t, s, "components_v2_send", layout+`}`, required))
	way.cut()
	for _, call := range [][2]string{
		{"components_v2_send", layout + `}`},
		{"components_v2_send", issued},
		{"channels_delete", `{"channel_id":"` + lounge + `"}`},
		{"channels_delete", closing},
		{"users_create_dm", `{"recipient_id":"1200000000000000104"}`},
	} {
		got := expect(t, s, call[0], call[1], "LEDGER_UNAVAILABLE")
		if u, err := url.Parse(direct); err == nil {
			if password, ok := u.User.Password(); ok && strings.Contains(got.text, password) {
				t.Errorf("the password is shown: %s", got.text)
			}
		}
	}
	if sent := wrote(world); sent != "" {
		t.Errorf("Discord got %q", sent)
	}
	expect(t, s, "messages_read", `{"channel_id":"`+general+`"}`, "")
	expect(t, s, "messages_send", greet, "") // it needs no approval
	if sent := wrote(world); sent != greeted {
		t.Errorf("Discord got %q", sent)
	}
	way.restore()
	expect(t, s, "components_v2_send", issued, "")
	if sent := wrote(world); sent != greeted {
		t.Errorf("restored: Discord got %q", sent)
	}
}

// way leads to a database, and can be cut.
type way struct {
	t           *testing.T
	network, to string
	address     string
	mu          sync.Mutex
	listener    net.Listener
	open        []net.Conn
}

// newWay gives the address by which the database of an address is reached
// through the way.
func newWay(t *testing.T, address string) (w *way, through string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	w = &way{t: t, network: "tcp", to: u.Host, address: "127.0.0.1:0"}
	q := u.Query()
	if dir := q.Get("host"); strings.HasPrefix(dir, "/") {
		w.network, w.to = "unix", filepath.Join(dir, ".s.PGSQL.5432")
		q.Del("host")
	} else if u.Port() == "" {
		w.to = net.JoinHostPort(u.Hostname(), "5432")
	}
	w.restore()
	t.Cleanup(w.cut)
	u.Host, u.RawQuery = w.address, q.Encode()
	return w, u.String()
}

func (w *way) restore() {
	w.t.Helper()
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listener, w.address = l, l.Addr().String()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(w.network, w.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.open = append(w.open, near, far)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
		}
	}()
}

func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// TestLedgerThatCannotBeOpenedStopsTheStart: with a clear text, and no secret in
// it.
func TestLedgerThatCannotBeOpenedStopsTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage, sealed := filepath.Join(dir, "garbage.db"), filepath.Join(dir, "sealed.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(sealed, []byte("another key, which is long enough for one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	const password = "canary-pass"
	closedPort, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closedPort.Addr().String()
	if err := closedPort.Close(); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ ledger, says string }{
		"no folder":        {"sqlite:" + filepath.Join(dir, "missing", "approvals.db"), "the folder of"},
		"a folder":         {"sqlite:" + dir, dir + " is no regular file"},
		"garbage":          {"sqlite:" + garbage, garbage + ": the file is damaged"},
		"another key":      {"sqlite:" + sealed, "another MCP_STATE_KEY"},
		"nobody there":     {"postgres://ana:" + password + "@" + nobody + "/approvals", nobody},
		"no address":       {"postgres://ana:" + password + "@/approvals", "MCP_LEDGER is not an address"},
		"a raw character":  {"postgres://ana:" + password + "#@db/approvals", "percent-encoded"},
		"another database": {"mysql://ana:" + password + "@db/approvals", "MCP_LEDGER must be"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := run(t, []string{"MCP_LEDGER=" + row.ledger, stateKey}, "", "serve", "--sandbox")
			if e.status != 1 || e.stdout != "" || !strings.Contains(e.stderr, "MCP_LEDGER") || !strings.Contains(e.stderr, row.says) {
				t.Errorf("it does not say %q: %+v", row.says, e)
			}
			if strings.Contains(e.stderr, password) || strings.Contains(e.stderr, stateSecret) {
				t.Errorf("a secret is shown: %s", e.stderr)
			}
		})
	}
	t.Run("a wrong password", func(t *testing.T) {
		t.Parallel()
		u, err := url.Parse(postgrestest.Server(t))
		if err != nil {
			t.Fatal(err)
		}
		if named := os.Getenv(postgrestest.Where); named != "" && named != "local" {
			t.Skip("the named server may ask for no password")
		}
		u.User = url.UserPassword(u.User.Username(), password)
		e := run(t, []string{"MCP_LEDGER=" + u.String(), stateKey}, "", "serve", "--sandbox")
		if e.status != 1 || !strings.Contains(e.stderr, "authentication") || strings.Contains(e.stderr, password) {
			t.Errorf("%+v", e)
		}
	})
}
