package discordtools

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// TestEmojiGGIsNotWaitedFor: a provider that never answers is given up.
func TestEmojiGGIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	e := newEmojiGG(server.URL, time.Now)
	if e.timeout != 8*time.Second {
		t.Errorf("it is waited for %v", e.timeout)
	}
	e.timeout = 20 * time.Millisecond
	_, err := e.list(t.Context())
	if told, ok := errors.AsType[*mcpcore.Error](err); !ok || told.Code != mcpcore.CodeExternal || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
