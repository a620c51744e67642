package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/postgrestest"
)

// limit is how long a step may take before it counts as one that hangs.
const limit = 2 * time.Minute

// The secrets of these tests are in the environment of every process, and in the output of none.
var (
	botToken    = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.GcanaR." + strings.Repeat("nobody-may-see-me", 2)
	accessToken = strings.Repeat("clients-alone-", 3)
	stateKey    = "correct horse battery staple, twice a day"
)

// versions are one of each era.
var versions = []string{"2025-11-25", "2026-07-28"}

var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "discord-mcp-http-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "discord-mcp-http.exe")
		args := []string{"build", "-o", binary}
		if raced {
			args = append(args, "-race")
		}
		if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		defer postgrestest.Stop()
		return m.Run()
	}())
}

func command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// process is a server that listens.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	url string // of the protocol

	mu     sync.Mutex
	stderr bytes.Buffer
	read   chan struct{} // closed at the end of stderr
}

var listens = regexp.MustCompile(`listens on (http://\S+/mcp)`)

// start starts a server on a free port of loopback and waits until it listens.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command(context.Background(), env, append([]string{"--addr", "127.0.0.1:0"}, args...)...), read: make(chan struct{})}
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	found := make(chan string, 1)
	go func() {
		defer close(p.read)
		for lines := bufio.NewReader(pipe); ; {
			line, err := lines.ReadString('\n')
			p.mu.Lock()
			p.stderr.WriteString(line)
			p.mu.Unlock()
			if m := listens.FindStringSubmatch(line); m != nil {
				found <- m[1]
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case p.url = <-found:
	case <-p.read:
		t.Fatalf("it ended: %s", &p.stderr)
	case <-time.After(limit):
		t.Fatalf("it does not listen: %s", p.output())
	}
	return p
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// end tells it to stop, and gives its exit status.
func (p *process) end(s os.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	kill := time.AfterFunc(limit, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	<-p.read
	_ = p.cmd.Wait()
	noSecret(p.t, p.output())
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) kill() { p.end(syscall.SIGKILL) }

func noSecret(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{botToken, accessToken, stateKey} {
		if strings.Contains(text, secret) {
			t.Errorf("the output holds a secret:\n%s", text)
		}
	}
}

// bearing adds the token to each request.
type bearing struct{ next http.RoundTripper }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+accessToken)
	return b.next.RoundTrip(r)
}

func connect(t *testing.T, url, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, opts).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearing{&http.Transport{MaxIdleConnsPerHost: 64}}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// answer is what a call gave, with its code when it failed.
type answer struct {
	Code       string `json:"code"`
	ApprovalID string `json:"approval_id"`
	Hash       string `json:"payload_hash"`
	Where      string `json:"where"`
	text       string
}

func ask(t *testing.T, s *mcp.ClientSession, tool, arguments string) answer {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	b, err := json.Marshal(res.StructuredContent)
	var a answer
	if err := errors.Join(err, json.Unmarshal(b, &a)); err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			a.text += c.Text
		}
	}
	noSecret(t, a.text)
	return a
}

// expect calls and wants a code; "" where it acts.
func expect(t *testing.T, s *mcp.ClientSession, tool, args, code string) answer {
	t.Helper()
	got := ask(t, s, tool, args)
	if got.Code != code {
		t.Errorf("%s %s: got %q, want %q: %s", tool, args, got.Code, code, got.text)
	}
	return got
}

// overLoopback is a Discord that processes reach.
func overLoopback(t *testing.T) (world *sandbox.Discord, base string) {
	t.Helper()
	world = sandbox.Demo()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bot "+botToken {
			r.Header.Set("Authorization", "Bot "+world.Token())
		}
		res, err := world.RoundTrip(r)
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(s.Close)
	return world, "DISCORD_API_BASE=" + s.URL + "/api/v10"
}

// wrote is what the world was asked to change, since it was last asked.
func wrote(world *sandbox.Discord) string {
	var sent []string
	for _, r := range world.Writes() {
		sent = append(sent, r.Method+" "+r.Path)
	}
	world.ResetRequests()
	return strings.Join(sent, ", ")
}
