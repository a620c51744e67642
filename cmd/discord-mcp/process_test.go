package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/internal/postgrestest"
)

// limit is how long a step may take before it counts as one that hangs.
const limit = 2 * time.Minute

// canary has the shape of a bot's token. It is in the environment of every
// process of these tests, and in the output of none.
var canary = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.GcanaR." + strings.Repeat("nobody-may-see-me", 2)

var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "discord-mcp-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "discord-mcp.exe")
		if err := build(binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer postgrestest.Stop()
		return m.Run()
	}())
}

// build makes the binary.
func build(path string, flags ...string) error {
	args := append([]string{"build", "-o", path}, flags...)
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// command is the binary in an environment of its own. A variable without "="
// is taken out.
func command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = []string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "DISCORD_TOKEN=" + canary}
	for _, v := range env {
		if v == "DISCORD_TOKEN" {
			cmd.Env = cmd.Env[:2]
			continue
		}
		cmd.Env = append(cmd.Env, v)
	}
	return cmd
}

// ended is what a process left behind.
type ended struct {
	status         int
	stdout, stderr string
}

// run runs a command to its end.
func run(t *testing.T, env []string, stdin string, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return end(ctx, t, command(ctx, env, args...), stdin)
}

// end runs a command of ctx to its end.
func end(ctx context.Context, t *testing.T, cmd *exec.Cmd, stdin string) ended {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end by itself; stderr:\n%s", cmd.Args, &errs)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	e := ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	e.keepsSecrets(t)
	return e
}

func (e ended) keepsSecrets(t *testing.T) {
	t.Helper()
	noSecret(t, "stdout", e.stdout)
	noSecret(t, "stderr", e.stderr)
	for _, sign := range []string{"panic:", "DATA RACE", "goroutine "} {
		if strings.Contains(e.stderr, sign) {
			t.Errorf("stderr holds %q:\n%s", sign, e.stderr)
		}
	}
}

// noSecret fails when text holds the canary, whole or in telling part.
func noSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, part := range []string{canary, canary[:20], canary[len(canary)-20:]} {
		if strings.Contains(text, part) {
			t.Errorf("%s holds the token:\n%s", where, text)
			return
		}
	}
}

// process is a serve that is running.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan message
	done  chan struct{} // closed after the last line

	mu       sync.Mutex
	out, err bytes.Buffer
}

// message is a line of stdout, which is a JSON-RPC message or a failure of the
// test.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serve starts the binary and reads its stdout to the end.
func serve(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command(context.Background(), env, args...), lines: make(chan message, 256), done: make(chan struct{})}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under the reader.
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.cmd.Stdout, p.cmd.Stderr = in, w, locked{&p.mu, &p.err}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		_ = out.Close()
	})
	go p.read(out)
	return p
}

func (p *process) read(out io.Reader) {
	defer close(p.done)
	defer close(p.lines)
	r := bufio.NewReader(io.TeeReader(out, locked{&p.mu, &p.out}))
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			var m message
			switch bad := json.Unmarshal([]byte(line), &m); {
			case bad != nil, m.Version != "2.0":
				p.t.Errorf("a line of stdout is not JSON-RPC: %q", line)
			case m.Method == "" && len(m.ID) == 0, m.Method == "" && (m.Result == nil) == (m.Error == nil):
				p.t.Errorf("a line of stdout is neither request nor answer: %q", line)
			case !strings.HasSuffix(line, "\n"):
				p.t.Errorf("the last line of stdout is cut off: %q", line)
			}
			p.lines <- m
		}
		if err != nil {
			return
		}
	}
}

// send writes a line.
func (p *process) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("write %.80q: %v; stderr:\n%s", line, err, p.stderr())
	}
}

// next is the next answer.
func (p *process) next() message {
	p.t.Helper()
	select {
	case m, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("stdout ended; stderr:\n%s", p.stderr())
		}
		return m
	case <-time.After(limit):
		p.t.Fatalf("no answer; stderr:\n%s", p.stderr())
	}
	return message{}
}

// handshake opens a session of the older protocol era.
func (p *process) handshake() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if m := p.next(); m.Error != nil || string(m.ID) != `"hello"` {
		p.t.Fatalf("initialize: %+v", m)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// works shows that the session still takes calls.
func (p *process) works() {
	p.t.Helper()
	p.send(call("still-there", "messages_read", `{"channel_id":"`+general+`"}`))
	m := p.next()
	if string(m.ID) != `"still-there"` || m.Error != nil || bytes.Contains(m.Result, []byte(`"isError":true`)) {
		p.t.Fatalf("the next call does not work: %s %+v %s", m.ID, m.Error, m.Result)
	}
}

// wait waits for the end of the process and gives back what is left.
func (p *process) wait() ended {
	p.t.Helper()
	exited := make(chan error, 1)
	go func() { exited <- p.cmd.Wait() }()
	select {
	case <-exited:
	case <-time.After(limit):
		p.t.Fatalf("the process does not end; stderr:\n%s", p.stderr())
	}
	<-p.done
	e := ended{p.cmd.ProcessState.ExitCode(), p.out.String(), p.stderr()}
	e.keepsSecrets(p.t)
	return e
}

func (p *process) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.String()
}

// locked is a writer that a test may read meanwhile.
type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// call is the line that calls a tool.
func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}
