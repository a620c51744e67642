package transport_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// connect returns a client of server over the pipes of the operating system, and what Serve returned.
func connect(t *testing.T, server *mcp.Server, version string) (*mcp.ClientSession, <-chan error) {
	t.Helper()
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- transport.Serve(t.Context(), server, transport.NewStdio(transport.StdioOptions{In: serverIn, Out: serverOut}))
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return session, done
}

func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T", res.Content[0])
	}
	return text.Text
}

func TestClientOfEachEra(t *testing.T) {
	t.Parallel()
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			session, done := connect(t, newServer(echo), version)
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s", got)
			}
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 1 {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			sizes := []int{0, 1, 100_000}
			var calls sync.WaitGroup
			for i := range 12 {
				calls.Go(func() {
					want := fmt.Sprint(i) + strings.Repeat("x", sizes[i%len(sizes)])
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]string{"a": want}})
					if err != nil {
						t.Errorf("call %d: %v", i, err)
						return
					}
					if got := textOf(t, res); got != `{"a":"`+want+`"}` {
						t.Errorf("call %d: got %.40s", i, got)
					}
				})
			}
			calls.Wait()
			if err := session.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if err := <-done; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

func TestClientIsAskedAndAnswers(t *testing.T) {
	t.Parallel()
	session, done := connect(t, newServer(ask), "2025-11-25")
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]string{}})
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, res); got != "accept" {
		t.Errorf("got %q", got)
	}
	session.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestEachConcurrentCallIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	const n = 1000
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
	for i := range n {
		r.send(call(fmt.Sprint(i), fmt.Sprintf(`{"a":%d}`, i)))
		if i%10 == 0 {
			r.send("garbage")
		}
	}
	seen, refused := map[string]int{}, 0
	for _, line := range r.end() {
		a := parse(t, line)
		if a.Error != nil {
			refused++
			continue
		}
		seen[string(a.ID)]++
		if want := fmt.Sprintf(`{\"a\":%s}`, a.ID); !strings.Contains(line, want) {
			t.Errorf("call %s got the answer of another: %s", a.ID, line)
		}
	}
	if refused != n/10 || len(seen) != n {
		t.Errorf("%d calls answered, %d lines refused", len(seen), refused)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("call %s was answered %d times", id, times)
		}
	}
}

// An id may be used again as soon as its answer was read, though the call may not have left the books yet.
func TestSameIDForEachCall(t *testing.T) {
	t.Parallel()
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
	for range 2000 {
		r.send(ping)
		if got := r.read(); got != pong {
			t.Fatalf("got %s", got)
		}
	}
	r.end()
}

func TestOutputWithShortWritesIsWhole(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	out := new(lockedBuffer)
	done := make(chan error, 1)
	go func() {
		done <- transport.Serve(t.Context(), newServer(echo), transport.NewStdio(transport.StdioOptions{In: inR, Out: out}))
	}()
	const n = 100
	for i := range n {
		_, _ = io.WriteString(inW, call(fmt.Sprint(i), `{}`)+"\n")
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != n {
		t.Errorf("got %d lines", len(lines))
	}
	for _, line := range lines {
		parse(t, line)
	}
}
