package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// slow answers after d unless it is cancelled before.
func slow(d time.Duration) handler {
	return func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(d):
			return result("done"), nil
		case <-ctx.Done():
			return result("cancelled"), nil
		}
	}
}

func TestEndOfInputAnswersCallsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(slow(100*time.Millisecond)), transport.StdioOptions{})
		const n = 50
		for i := range n {
			r.send(call(fmt.Sprint(i), `{}`))
		}
		began := time.Now()
		got := r.end()
		if len(got) != n {
			t.Errorf("%d of %d calls were answered", len(got), n)
		}
		for _, line := range got {
			if !strings.Contains(line, `"done"`) {
				t.Errorf("got %s", line)
			}
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestEndOfInputAnswersUnderServerRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		var out lockedBuffer
		ran := make(chan error, 1)
		go func() {
			ran <- newServer(slow(100*time.Millisecond)).Run(t.Context(), transport.NewStdio(transport.StdioOptions{In: inR, Out: &out}))
		}()
		_, _ = io.WriteString(inW, call("1", `{}`)+"\n")
		inW.Close()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := out.String(); !strings.Contains(got, `"done"`) {
			t.Errorf("got %q", got)
		}
	})
}

func TestEndOfInputCancelsAfterGrace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		work handler
		took time.Duration
	}{
		{"handler that honours cancellation", slow(time.Hour), time.Second},
		{"handler that never returns", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(time.Hour) // the bubble's clock, to outlive the session
			return result("late"), nil
		}, 1500 * time.Millisecond},
	}
	for _, test := range tests {
		for _, way := range []string{"end of input", "context"} {
			t.Run(test.name+" "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					r := start(ctx, t, newServer(test.work), transport.StdioOptions{Grace: time.Second})
					r.send(call("1", `{}`))
					synctest.Wait()
					began := time.Now()
					if way == "context" {
						cancel()
					} else {
						r.in.Close()
					}
					err := <-r.done
					if took := time.Since(began); took != test.took {
						t.Errorf("ended after %v, want %v", took, test.took)
					}
					if !errors.Is(err, transport.ErrUnfinished) || err.Error() != "1 "+transport.ErrUnfinished.Error() {
						t.Errorf("Serve: %v", err)
					}
					r.rest()
					time.Sleep(2 * time.Hour) // let the handler leave the bubble
				})
			})
		}
	}
}

func TestCancelledContextAnswersCallsInFlightAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := start(ctx, t, newServer(slow(100*time.Millisecond)), transport.StdioOptions{})
		r.send(call("1", `{}`))
		synctest.Wait()
		cancel()
		synctest.Wait()
		cancel()
		r.send(call("2", `{}`))
		wantError(t, r.read(), -32004, "2", "stopping", "repeat")
		r.send("garbage")
		wantError(t, r.read(), -32700, "null")
		if got := r.read(); !strings.Contains(got, `"done"`) {
			t.Errorf("got %s", got)
		}
		if err := <-r.done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if got := r.rest(); len(got) > 0 {
			t.Errorf("also written: %q", got)
		}
	})
}

func TestContextDoneBeforehandEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		r := start(ctx, t, newServer(echo), transport.StdioOptions{})
		if err := <-r.done; err != nil || time.Since(began) > 0 {
			t.Errorf("Serve: %v after %v", err, time.Since(began))
		}
	})
}

func TestEndOfInputWithNothingInFlightEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
		began := time.Now()
		r.end()
		if took := time.Since(began); took > 0 {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestSessionClosedElsewhereEndsServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(echo)
		r := start(t.Context(), t, server, transport.StdioOptions{})
		r.send(ping)
		r.read()
		for session := range server.Sessions() {
			if err := errors.Join(session.Close(), session.Close()); err != nil {
				t.Error(err)
			}
		}
		if err := <-r.done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestSubscriptionDoesNotHoldTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
		r.send(request("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		if got := r.read(); !strings.Contains(got, "acknowledged") {
			t.Fatalf("got %s", got)
		}
		began := time.Now()
		got := r.end()
		if len(got) != 1 || !strings.Contains(got[0], `"id":1`) {
			t.Errorf("the subscription was not answered: %q", got)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("ended after %v", took)
		}
	})
}

// ask asks the client, as an older client knows it, and reports how that ended.
func ask(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?"})
	if err != nil {
		return result("no answer: " + err.Error()), nil
	}
	return result(answer.Action), nil
}

const legacyCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{}}}`

func TestQuestionToClient(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string // an empty line is the end of the input
		says       string
	}{
		{"answered", `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, "decline"},
		{"answered with error null", `{"jsonrpc":"2.0","id":1,"error":null,"result":{"action":"decline"}}`, "decline"},
		{"refused", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no screen"}}`, "no screen"},
		{"answered in a wrong version", `{"jsonrpc":"1.0","id":1,"result":{"action":"accept"}}`, "malformed"},
		{"answered with result and error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no screen"},"result":{"action":"accept"}}`, "no screen"},
		{"answered with a broken error", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "malformed"},
		{"client left", "", "cannot answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := start(t.Context(), t, newServer(ask), transport.StdioOptions{})
				r.send(initialize)
				r.read()
				r.send(legacyCall)
				if got := r.read(); !strings.Contains(got, "elicitation/create") {
					t.Fatalf("got %s", got)
				}
				began := time.Now()
				if test.line != "" {
					r.send(test.line)
				}
				got := r.end()
				if len(got) != 1 || !strings.Contains(got[0], test.says) {
					t.Errorf("got %q", got)
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("ended after %v", took)
				}
			})
		})
	}
}

func TestQuestionAfterClientLeftFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(time.Second)
			return ask(ctx, req)
		}), transport.StdioOptions{})
		r.send(initialize)
		r.read()
		r.send(legacyCall)
		if got := r.end(); len(got) != 1 || !strings.Contains(got[0], "cannot answer") {
			t.Errorf("got %q", got)
		}
	})
}

func TestIDOfRunningCallIsRefusedAndReusableAfterwards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(slow(time.Second)), transport.StdioOptions{})
		r.send(call("1", `{}`))
		for _, second := range []string{call("1", `{}`), call("1.0", `{}`)} {
			r.send(second)
			wantError(t, r.read(), -32600, "null", `"1"`, "still running")
		}
		r.send(`{"jsonrpc":"1.0","id":1,"method":"ping"}`) // an error with this id would end the first call
		wantError(t, r.read(), -32600, "null", `"2.0"`)
		r.send(call(`"1"`, `{}`)) // another id
		for range 2 {
			if a := parse(t, r.read()); a.Error != nil {
				t.Errorf("got %v", a)
			}
		}
		r.send(call("1", `{}`))
		if got := r.end(); len(got) != 1 || !strings.Contains(got[0], `"done"`) {
			t.Errorf("got %q", got)
		}
	})
}

func TestCancelledCallIsCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(slow(time.Second)), transport.StdioOptions{})
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		r.send(call("1", `{}`), call("2", `{}`))
		synctest.Wait()
		r.send(cancel, cancel)
		if got := r.read(); !strings.Contains(got, `"cancelled"`) {
			t.Errorf("got %s", got)
		}
		r.send(cancel)
		if got := r.end(); len(got) != 1 || !strings.Contains(got[0], `"done"`) { // the other call is still waited for
			t.Errorf("got %q", got)
		}
	})
}

// lockedBuffer is an output that takes at most 7 bytes a write and reports it, or not, in turn.
type lockedBuffer struct {
	mu     sync.Mutex
	b      strings.Builder
	writes int
}

func (w *lockedBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if len(p) <= 7 {
		return w.b.Write(p)
	}
	n, _ := w.b.Write(p[:7])
	if w.writes%2 == 0 {
		return n, io.ErrShortWrite
	}
	return n, nil
}

func (w *lockedBuffer) Close() error { return nil }

func (w *lockedBuffer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// brokenOutput fails in the middle of the second line.
type brokenOutput struct{ lockedBuffer }

var errBroken = errors.New("broken pipe")

func (w *brokenOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.writes == 2 {
		n, _ := w.b.Write(p[:3])
		return n, errBroken
	}
	return w.b.Write(p)
}

func TestBrokenOutputIsAFaultAndNothingFollowsHalfALine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{ping, "garbage"} {
		synctest.Test(t, func(t *testing.T) {
			inR, inW := io.Pipe()
			out := new(brokenOutput)
			done := make(chan error, 1)
			go func() {
				done <- transport.Serve(t.Context(), newServer(echo), transport.NewStdio(transport.StdioOptions{In: inR, Out: out}))
			}()
			for range 5 {
				_, _ = io.WriteString(inW, line+"\n") // fails once the session is over
				synctest.Wait()
			}
			if err := <-done; !errors.Is(err, errBroken) {
				t.Errorf("Serve: %v", err)
			}
			if _, half, _ := strings.Cut(out.String(), "\n"); half != `{"j` {
				t.Errorf("after the first line: %q", half)
			}
		})
	}
}

func TestBrokenInputIsAFaultAfterTheAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := start(t.Context(), t, newServer(slow(time.Second)), transport.StdioOptions{})
		r.send(call("1", `{}`))
		r.in.CloseWithError(errBroken)
		if err := <-r.done; !errors.Is(err, errBroken) {
			t.Errorf("Serve: %v", err)
		}
		if got := r.rest(); len(got) != 1 || !strings.Contains(got[0], `"done"`) {
			t.Errorf("got %q", got)
		}
	})
}

func TestResponseThatCannotBeEncodedIsAnInternalError(t *testing.T) {
	t.Parallel()
	r := start(t.Context(), t, newServer(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: 1, Message: "no", Data: []byte("{")}
	}), transport.StdioOptions{})
	r.send(call("1", `{}`))
	wantError(t, r.read(), -32603, "1")
	r.send(ping)
	if got := r.read(); got != pong {
		t.Errorf("next call: got %s", got)
	}
	r.end()
}

func TestSecondConnectIsAnError(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	stdio := transport.NewStdio(transport.StdioOptions{In: inR, Out: new(lockedBuffer)})
	conn, err := stdio.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stdio.Connect(t.Context()); err == nil {
		t.Error("connected twice")
	}
	if err := errors.Join(conn.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("Read after Close: %v", err)
	}
	if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "m"}); err == nil {
		t.Error("Write after Close succeeded")
	}
	inW.Close()
}
