//go:build unix

package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// The test binary is also a server over its own stdin and stdout, if this variable is set.
const asServer = "TRANSPORT_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	server := newServer(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if strings.Contains(string(req.Params.Arguments), "slow") {
			return slow(100*time.Millisecond)(ctx, req)
		}
		return echo(ctx, req)
	})
	err := transport.Serve(ctx, server, new(transport.Stdio))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func serverProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func TestProcessOverPipes(t *testing.T) {
	t.Parallel()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: serverProcess(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]any{}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

func TestProcessReadsFileAndEmptyInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("garbage\n"+call("1", `{"slow":true}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string]int{file: 2, os.DevNull: 0} {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		cmd := serverProcess(t)
		cmd.Stdin = in
		out, err := cmd.Output()
		in.Close()
		if err != nil || bytes.Count(out, []byte("\n")) != lines {
			t.Errorf("%s: %v, output %q", name, err, out)
		}
	}
}

// One socket as stdin and stdout, as socat and inetd give: making stdin non-blocking makes stdout so.
func TestProcessOverOneSocket(t *testing.T) {
	t.Parallel()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer ours.Close()
	cmd := serverProcess(t)
	cmd.Stdin, cmd.Stdout = theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	const n = 8
	big := call("1", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`)
	go func() {
		for i := range n { // more than any socket buffers
			_, _ = io.WriteString(ours, strings.Replace(big, `"id":1`, fmt.Sprintf(`"id":%d`, i), 1)+"\n")
		}
	}()
	r := bufio.NewReader(ours)
	for range n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if a := parse(t, line); a.Error != nil || len(line) < 1<<20 {
			t.Fatalf("got %.200s", line)
		}
	}
	if err := syscall.Shutdown(fds[0], syscall.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

func TestProcessToldToStopAnswersFirst(t *testing.T) {
	t.Parallel()
	cmd := serverProcess(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The ping was answered, so the call before it is running.
	_, _ = io.WriteString(in, call("1", `{"slow":true}`)+"\n"+ping+"\n")
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"next"`) {
		t.Fatalf("got %q, %v", line, err)
	}
	for range 2 {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), `"done"`) {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// A host that dies leaves a broken stdout; a write to it must not kill the process before it has cleaned up.
func TestProcessSurvivesBrokenOutput(t *testing.T) {
	t.Parallel()
	cmd := serverProcess(t)
	cmd.Stderr = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outW.Close()
	out.Close()
	_, _ = io.WriteString(in, ping+"\n")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 { // -1: killed by SIGPIPE
		t.Errorf("the process ended with %v", cmd.ProcessState)
	}
}
