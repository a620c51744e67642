package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/cmd/internal/consoletest"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	_ "github.com/guildwarden/guildwarden/mcpcore/ledger/postgres" // has the driver
)

// proxy leads requests to its replicas in turn, and where the session of an older client names one, to that. It sends a
// request on to the next when a replica cannot be reached, or is stopping.
type proxy struct {
	replicas [2]atomic.Pointer[process]
	turn     atomic.Uint64
	served   [2]atomic.Int64
}

func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	first := int(p.turn.Add(1))
	if name, _, named := strings.Cut(r.Header.Get("Mcp-Session-Id"), "."); named {
		first = int(name[len(name)-1] - '0')
	}
	var res *http.Response
	for n := range p.replicas {
		at := (first + n) % len(p.replicas)
		to, err := url.Parse(p.replicas[at].Load().url)
		if err != nil {
			return nil, err
		}
		if r.URL.Host = to.Host; len(body) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if res, err = http.DefaultTransport.RoundTrip(r); err == nil && res.StatusCode != http.StatusServiceUnavailable {
			p.served[at].Add(1)
			return res, nil
		}
	}
	if res == nil {
		return nil, errors.New("no replica answers")
	}
	return res, nil
}

// cluster is two processes on one ledger, behind a proxy.
type cluster struct {
	t     *testing.T
	world *sandbox.Discord
	env   []string
	proxy proxy
	url   string

	ana string // her token
}

func newCluster(t *testing.T, env ...string) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var base, setting string
	var err error
	c.world, base = overLoopback(t)
	if c.ana, setting, err = console.NewApprover("ana"); err != nil {
		t.Fatal(err)
	}
	c.env = append([]string{
		base, "DISCORD_TOKEN=" + botToken, "DISCORD_MCP_ACCESS_TOKEN=" + accessToken, "MCP_STATE_KEY=" + stateKey, "MCP_LEDGER=" + postgrestest.Schema(t),
		"MCP_APPROVERS=" + setting, "MCP_DRY_RUN=false", "MCP_HTTP_HOSTS=agents.example.com", "LOG_LEVEL=error", "MCP_AUDIT_SINK=none",
		"MCP_HTTP_MAX_IN_FLIGHT=64",
	}, env...)
	front := httptest.NewServer(&httputil.ReverseProxy{Transport: &c.proxy, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.Host = "http", "agents.example.com"
	}})
	t.Cleanup(front.Close)
	c.url = front.URL + "/mcp"
	for n := range c.proxy.replicas {
		c.start(n)
	}
	return c
}

func (c *cluster) start(n int) {
	c.t.Helper()
	c.proxy.replicas[n].Store(start(c.t, append(c.env, fmt.Sprintf("MCP_HTTP_REPLICA=replica-%d", n))))
}

func (c *cluster) kill(n int) { c.proxy.replicas[n].Load().kill() }

// decide decides what waits under an id at the console, as ana. Each of her pages comes from the replica whose turn it is.
func (c *cluster) decide(id, verdict string) {
	c.t.Helper()
	front, err := url.Parse(c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	v := consoletest.Visit(c.t, consoleOf(c.t, "https://agents.example.com/mcp"), endsTLS{front.Host})
	v.SignIn(c.ana)
	v.Decide(id, verdict)
}

// endsTLS leads to a proxy as a browser gets there over TLS.
type endsTLS struct{ proxy string }

func (e endsTLS) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host, r.URL.Scheme, r.URL.Host = r.URL.Host, "http", e.proxy
	return http.DefaultTransport.RoundTrip(r)
}

// consoleOf is the console beside an address of the protocol.
func consoleOf(t *testing.T, mcp string) *url.URL {
	t.Helper()
	at, err := url.Parse(strings.TrimSuffix(mcp, "/mcp") + "/console")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const (
	lounge  = string(sandbox.DemoLounge)
	general = string(sandbox.DemoGeneral)
	closing = `{"channel_id":"` + lounge + `","__confirm":true}`
	closed  = "DELETE /channels/" + lounge
	layout  = `{"channel_id":"` + general + `","components":[{"type":10,"content":"Hi"}]`
	greeted = "POST /channels/" + general + "/messages"
)

// TestAnyReplicaServesAnyStep previews, asks, is approved and acts, each step wherever it comes to, and one of the two
// processes is killed between each two steps.
func TestAnyReplicaServesAnyStep(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "MCP_HUMAN_APPROVAL=gated", "MCP_REQUIRE_PREVIEW=true")
	s := connect(t, c.url, "2026-07-28", nil)
	crash := func(n int) {
		c.kill(n)
		c.start(n)
	}
	expect(t, s, "channels_delete", closing, "PREVIEW_REQUIRED")
	expect(t, s, "channels_delete", `{"channel_id":"`+lounge+`"}`, "DRY_RUN_PREVIEW")
	crash(0)
	pending := expect(t, s, "channels_delete", closing, "HUMAN_APPROVAL_PENDING")
	crash(1)
	if again := expect(t, s, "channels_delete", closing, "HUMAN_APPROVAL_PENDING"); again.ApprovalID != pending.ApprovalID {
		t.Errorf("asked twice: %s, %s", pending.ApprovalID, again.ApprovalID)
	}
	if sent := wrote(c.world); sent != "" {
		t.Errorf("before the decision Discord got %q", sent)
	}
	c.decide(pending.ApprovalID, "approve")
	crash(0)
	c.kill(1) // and stays away
	expect(t, s, "channels_delete", closing, "")
	if sent := wrote(c.world); sent != closed {
		t.Errorf("Discord got %q, want %q", sent, closed)
	}
	c.start(1)
	for range 4 {
		if got := ask(t, s, "channels_delete", closing); got.Code == "" {
			t.Error("one approval was used twice")
		}
	}
	if sent := wrote(c.world); sent != "" {
		t.Errorf("afterwards Discord got %q", sent)
	}
	for n := range c.proxy.served {
		if c.proxy.served[n].Load() < 3 {
			t.Errorf("replica %d served %d requests", n, c.proxy.served[n].Load())
		}
	}
}

// TestDecidedAtTheConsoleOfTheOther has the agent at one process, and ana first at the console of the same one, and after
// that was killed at the other's, still signed in.
func TestDecidedAtTheConsoleOfTheOther(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "MCP_HUMAN_APPROVAL=gated")
	at := func(n int) string { return c.proxy.replicas[n].Load().url }
	one := connect(t, at(0), "2026-07-28", nil)
	expect(t, one, "channels_delete", `{"channel_id":"`+lounge+`"}`, "DRY_RUN_PREVIEW")
	pending := expect(t, one, "channels_delete", closing, "HUMAN_APPROVAL_PENDING")
	if pending.Where != "https://agents.example.com/console" {
		t.Errorf("to be decided at %q", pending.Where)
	}
	ana := consoletest.Visit(t, consoleOf(t, at(0)), nil)
	ana.SignIn(c.ana)
	if _, page := ana.Send("/", nil); !strings.Contains(page, pending.ApprovalID) {
		t.Errorf("it does not wait at the first console:\n%s", page)
	}
	c.kill(0)
	ana = ana.At(consoleOf(t, at(1)))
	if page := ana.Decide(pending.ApprovalID, "approve"); !strings.Contains(page, "Approved.") {
		t.Errorf("at the second console:\n%s", page)
	}
	c.start(0)
	if sent := wrote(c.world); sent != "" {
		t.Errorf("before the call Discord got %q", sent)
	}
	either := connect(t, c.url, "2026-07-28", nil)
	expect(t, either, "channels_delete", closing, "")
	if sent := wrote(c.world); sent != closed {
		t.Errorf("Discord got %q, want %q", sent, closed)
	}
	if got := ask(t, either, "channels_delete", closing); got.Code == "" || wrote(c.world) != "" {
		t.Error("one approval counts twice")
	}
	if _, page := ana.At(consoleOf(t, at(0))).Send("/history", nil); !strings.Contains(page, "approved") || !strings.Contains(page, "ana") {
		t.Errorf("the console of the process that was started anew has nothing of it:\n%s", page)
	}
}

func TestRefusalIsKnownToAnyReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "MCP_HUMAN_APPROVAL=gated")
	for n := range c.proxy.replicas {
		res, err := http.Get(strings.TrimSuffix(c.proxy.replicas[n].Load().url, "/mcp") + "/readyz")
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("replica %d is not ready: %v, %v", n, res, err)
		}
	}
	s := connect(t, c.url, "2026-07-28", nil)
	pending := expect(t, s, "channels_delete", closing, "HUMAN_APPROVAL_PENDING")
	c.decide(pending.ApprovalID, "refuse")
	expect(t, s, "channels_delete", closing, "HUMAN_APPROVAL_REFUSED")
	if sent := wrote(c.world); sent != "" {
		t.Errorf("Discord got %q", sent)
	}
}

// Of many calls at once with one approval exactly one acts, whichever process it comes to.
func TestOneOfManyCallsActsAcrossReplicas(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := connect(t, c.url, "2026-07-28", nil)
	preview := expect(t, s, "components_v2_send", layout+`}`, "PAYLOAD_CONFIRMATION_REQUIRED")
	confirm := layout + `,"__confirm":true,"__confirm_hash":"` + preview.Hash + `","__confirm_id":"` + preview.ApprovalID + `"}`
	var calls sync.WaitGroup
	var acted atomic.Int64
	for range 20 {
		calls.Go(func() {
			switch got := ask(t, s, "components_v2_send", confirm); got.Code {
			case "":
				acted.Add(1)
			case "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED":
			default:
				t.Errorf("%s: %s", got.Code, got.text)
			}
		})
	}
	calls.Wait()
	if sent := wrote(c.world); acted.Load() != 1 || sent != greeted {
		t.Errorf("%d acted, and Discord got %q", acted.Load(), sent)
	}
	if c.proxy.served[0].Load() < 5 || c.proxy.served[1].Load() < 5 {
		t.Errorf("served: %d and %d", c.proxy.served[0].Load(), c.proxy.served[1].Load())
	}
}

// What one replica asks the client the other hears; older clients keep to theirs.
func TestQuestionsAcrossReplicas(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "MCP_HUMAN_APPROVAL=writes", "MCP_APPROVAL_CHANNEL=elicitation")
	for _, version := range versions {
		asked := 0
		s := connect(t, c.url, version, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": asked%2 == 1}}, nil
		}})
		for range 2 {
			expect(t, s, "messages_send", `{"channel_id":"`+general+`","content":"hello"}`, "")
			expect(t, s, "messages_send", `{"channel_id":"`+general+`","content":"hello"}`, "HUMAN_APPROVAL_REFUSED")
		}
		if sent := wrote(c.world); asked != 4 || sent != greeted+", "+greeted {
			t.Errorf("%s: asked %d times, and Discord got %q", version, asked, sent)
		}
	}
}

// Sessions of older clients stay with the replica that has them.
func TestSessionsStayWithTheirReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var sessions [4]*mcp.ClientSession
	at := map[string]int{}
	for i := range sessions {
		sessions[i] = connect(t, c.url, "2025-11-25", nil)
		name, _, _ := strings.Cut(sessions[i].ID(), ".")
		at[name]++
	}
	if at["replica-0"] == 0 || at["replica-1"] == 0 {
		t.Errorf("the sessions are at %v", at)
	}
	for range 3 {
		for _, s := range sessions {
			expect(t, s, "messages_read", `{"channel_id":"`+general+`"}`, "")
		}
	}
}
