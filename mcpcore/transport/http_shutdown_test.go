package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// TestHTTPShutdownLosesNoAnswer stops in the middle of calls of both eras: each that acted is answered, and each that is
// refused did not act.
func TestHTTPShutdownLosesNoAnswer(t *testing.T) {
	t.Parallel()
	const callers, each = 32, 10
	var acted atomic.Int64
	s := serve(t, 10*time.Second, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := acted.Add(1)
		time.Sleep(time.Duration(n%7) * time.Millisecond)
		return result("done"), nil
	}, transport.HandlerOptions{MaxInFlight: callers})
	id := s.begin()
	var calls sync.WaitGroup
	var answered, refused atomic.Int64
	for caller := range callers {
		calls.Go(func() {
			for n := range each {
				body, headers := call("1", `{}`), modern
				if caller%2 == 0 {
					body, headers = strings.Replace(legacyCall, `"id":1`, fmt.Sprintf(`"id":%d`, caller*each+n), 1), []string{"Mcp-Session-Id", id}
				}
				res, err := http.DefaultClient.Do(newRequest(s.url(), body, headers...))
				if err != nil {
					refused.Add(1) // nobody listens any more
					continue
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				switch {
				case err == nil && res.StatusCode == 200 && strings.Contains(string(got), "done"):
					answered.Add(1)
				case err == nil && (res.StatusCode == 503 || res.StatusCode == 404) && strings.Contains(string(got), `"error"`):
					refused.Add(1)
				default:
					t.Errorf("%s %s %v", res.Status, got, err)
				}
				if answered.Load() == callers*each/3 {
					s.stop()
				}
			}
		})
	}
	calls.Wait()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	if answered.Load() != acted.Load() || refused.Load() == 0 || answered.Load()+refused.Load() != callers*each {
		t.Errorf("%d acted, %d answered, %d refused", acted.Load(), answered.Load(), refused.Load())
	}
}

func TestHTTPShutdownCancelsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		g := newGate()
		s := serve(t, 50*time.Millisecond, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if _, err := g.work(ctx, req); err != nil {
				return result("was cancelled"), nil
			}
			return nil, errors.New("was not cancelled")
		}, transport.HandlerOptions{})
		body, headers := call("7", `{}`), modern
		if version < "2026" {
			body, headers = strings.Replace(legacyCall, `"id":1`, `"id":7`, 1), []string{"Mcp-Session-Id", s.begin()}
		}
		var calls sync.WaitGroup
		calls.Go(func() {
			res, got := s.send(newRequest(s.url(), body, headers...))
			switch {
			case res.StatusCode == 200 && strings.Contains(got, "was cancelled"): // it came back in time
			case res.StatusCode == 503 && version >= "2026":
				wantError(t, got, -32004, "7", "whether it acted")
			default:
				t.Errorf("%s: %s %s", version, res.Status, got)
			}
		})
		<-g.entered
		s.stop()
		if err := <-s.done; !errors.Is(err, transport.ErrUnfinished) {
			t.Errorf("%s: Serve: %v", version, err)
		}
		calls.Wait()
	}
}

func TestHTTPShutdownRefusesCallsAndTakesAnswers(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	s := serve(t, 10*time.Second, asks, transport.HandlerOptions{})
	session := s.client("2025-11-25", &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(asked)
		<-answer
		return &mcp.ElicitResult{Action: "accept"}, nil
	}})
	var calls sync.WaitGroup
	calls.Go(func() {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]int{}})
		if err != nil || textOf(t, res) != "accept for {}" {
			t.Errorf("the running call: %v, %v", res, err)
		}
	})
	<-asked
	s.stop()
	within(t, "it is not ready", func() bool {
		r := newRequest("http://"+s.addr+"/readyz", "")
		r.Method, r.Body = http.MethodGet, nil
		res, body := s.send(r)
		return res.StatusCode == 503 && strings.Contains(body, "stopping")
	})
	for id, body := range map[string]string{"1": call("1", `{}`), `"init"`: initialize} {
		headers := modern
		if body == initialize {
			headers = nil
		}
		res, got := s.send(newRequest(s.url(), body, headers...))
		if res.StatusCode != 503 || !res.Close {
			t.Errorf("a new call: %s (close: %t)", res.Status, res.Close)
		}
		wantError(t, got, -32004, id, "stopping")
	}
	close(answer)
	calls.Wait()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

// Streams are open as long as their clients like; the end does not wait for them.
func TestHTTPShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	s := serve(t, 10*time.Second, echo, transport.HandlerOptions{})
	stream := newRequest(s.url(), "", "Mcp-Session-Id", s.begin())
	stream.Method, stream.Body = http.MethodGet, nil
	listen := newRequest(s.url(), request("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modern[0], modern[1], "Mcp-Method", "subscriptions/listen")
	var streams sync.WaitGroup
	for _, r := range []*http.Request{stream, listen} {
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		streams.Go(func() {
			defer res.Body.Close()
			_, _ = io.ReadAll(res.Body)
		})
	}
	began := time.Now()
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	streams.Wait()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A subscription takes one of the places for sessions and none of those for calls.
func TestHTTPSubscriptionsAreLimited(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{MaxInFlight: 1, MaxSessions: 2})
	listen := func() *http.Response {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		r := newRequest(s.url(), request("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modern[0], modern[1], "Mcp-Method", "subscriptions/listen")
		res, err := http.DefaultClient.Do(r.WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := listen()
	if second, third := listen(), listen(); first.StatusCode != 200 || second.StatusCode != 200 || third.StatusCode != 503 {
		t.Errorf("%s, %s, %s", first.Status, second.Status, third.Status)
	}
	if res, got := s.send(newRequest(s.url(), call("1", `{}`), modern...)); res.StatusCode != 200 {
		t.Errorf("a call: %s %s", res.Status, got)
	}
	first.Body.Close()
	within(t, "the place is free", func() bool {
		res := listen()
		return res.StatusCode == 200
	})
}

// What ends a session ends its calls, and waits for none of them.
func TestHTTPSessionThatEndsCancelsItsCalls(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	g := newGate()
	s := serve(t, 0, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, err := g.work(ctx, req)
		if err != nil {
			close(cancelled)
		}
		return result("ended"), nil
	}, transport.HandlerOptions{})
	id := s.begin()
	var calls sync.WaitGroup
	calls.Go(func() { s.send(newRequest(s.url(), legacyCall, "Mcp-Session-Id", id)) })
	<-g.entered
	end := newRequest(s.url(), "", "Mcp-Session-Id", id)
	end.Method = http.MethodDelete
	if res, _ := s.send(end); res.StatusCode != http.StatusNoContent {
		t.Errorf("%s", res.Status)
	}
	select {
	case <-cancelled:
	case <-time.After(20 * time.Second):
		t.Error("the call runs on")
	}
	calls.Wait()
}

// A newer client that goes away cancels its call.
func TestHTTPClientThatLeavesCancelsItsCall(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	g := newGate()
	s := serve(t, 0, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := g.work(ctx, req); err != nil {
			close(cancelled)
		}
		return result("ended"), nil
	}, transport.HandlerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.entered
		cancel()
	}()
	if res, err := http.DefaultClient.Do(newRequest(s.url(), call("1", `{}`), modern...).WithContext(ctx)); err == nil {
		_, _ = io.ReadAll(res.Body)
		res.Body.Close()
	}
	select {
	case <-cancelled:
	case <-time.After(20 * time.Second):
		t.Error("the call runs on")
	}
}
