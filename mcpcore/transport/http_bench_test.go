package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// BenchmarkHTTP is a tool call over loopback by so many callers at once, beside the SDK's own handlers.
func BenchmarkHTTP(b *testing.B) {
	server := newServer(echo)
	handlers := map[string]http.Handler{
		"guildwarden": newHandler(b, echo, transport.HandlerOptions{MaxInFlight: 64}),
		"sdk/2025-11-25": mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{SessionTimeout: time.Minute}),
		"sdk/2026-07-28": mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}),
	}
	for _, version := range versions {
		for _, name := range []string{"guildwarden", "sdk"} {
			h := handlers[name]
			if h == nil {
				h = handlers[name+"/"+version]
			}
			for _, callers := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("version=%s/handler=%s/callers=%d", version, name, callers), func(b *testing.B) { load(b, h, version, callers) })
			}
		}
	}
}

func load(b *testing.B, h http.Handler, version string, callers int) {
	site := httptest.NewServer(h)
	defer site.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	send := func(body string, headers ...string) string {
		res, err := client.Do(newRequest(site.URL, body, headers...))
		if err != nil {
			b.Error(err)
			return ""
		}
		defer res.Body.Close()
		if got, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(got), `"result"`) {
			b.Errorf("%s %s %v", res.Status, got, err)
		}
		return res.Header.Get("Mcp-Session-Id")
	}
	took := make([][]time.Duration, callers)
	var left atomic.Int64
	left.Store(int64(b.N))
	var done sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		done.Go(func() {
			headers, body := modern, call("1", `{"channel":"123"}`)
			if version < "2026" {
				headers, body = []string{"Mcp-Session-Id", send(initialize)}, strings.Replace(legacyCall, `"arguments":{}`, `"arguments":{"channel":"123"}`, 1)
			}
			for left.Add(-1) >= 0 {
				began := time.Now()
				send(body, headers...)
				took[caller] = append(took[caller], time.Since(began))
			}
		})
	}
	done.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}
