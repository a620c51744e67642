package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// readyFor is how long an answer to whether the server is ready counts: anybody may ask.
const readyFor = time.Second

// health is whether the server can do what calls need.
type health struct {
	ready func(context.Context) error
	log   *slog.Logger

	mu   sync.Mutex
	last time.Time
	err  error
}

func (h *health) check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ready == nil || !h.last.IsZero() && time.Since(h.last) < readyFor {
		return h.err
	}
	// Whoever asks may leave; others get the same answer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	h.err = h.ready(ctx)
	h.last = time.Now()
	if h.err != nil {
		h.log.Warn("the server is not ready", "error", h.err)
	}
	return h.err
}

// Healthz answers that the process is there.
func (h *Handler) Healthz(w http.ResponseWriter, r *http.Request) {
	if asked(w, r) {
		state(w, http.StatusOK, "ok")
	}
}

// Readyz answers whether calls would be taken: 503 while what they need cannot be reached, and when the server is
// stopping. The reason stands in the log alone.
func (h *Handler) Readyz(w http.ResponseWriter, r *http.Request) {
	if !asked(w, r) {
		return
	}
	switch {
	case h.places.isStopping():
		state(w, http.StatusServiceUnavailable, "stopping")
	case h.health.check(r.Context()) != nil:
		state(w, http.StatusServiceUnavailable, "unavailable")
	default:
		state(w, http.StatusOK, "ready")
	}
}

// asked refuses what is not a plain GET.
func asked(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	switch {
	case r.Method != http.MethodGet:
		http.NotFound(w, r)
	case r.ContentLength != 0:
		http.Error(w, "this takes no body", http.StatusBadRequest)
	default:
		return true
	}
	return false
}

func state(w http.ResponseWriter, status int, word string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"status":"`+word+`"}`)
}

// metadata is the description of the authorization server, and where it is. The zero value is none.
type metadata struct {
	serves *oauthex.ProtectedResourceMetadata
	paths  []string
	url    string
}

func newMetadata(resource *oauthex.ProtectedResourceMetadata) (metadata, error) {
	if resource == nil {
		return metadata{}, nil
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	u, err := url.Parse(resource.Resource)
	if err != nil || u.Scheme == "" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return metadata{}, fmt.Errorf("the resource %q is not the address of this server, such as https://mcp.example.com/mcp", resource.Resource)
	}
	if len(resource.AuthorizationServers) == 0 {
		return metadata{}, errors.New("the resource names no authorization server")
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	m := metadata{serves: resource, paths: []string{wellKnown}, url: u.Scheme + "://" + u.Host + wellKnown + path}
	if path != "" {
		m.paths = append(m.paths, wellKnown+path)
	}
	return m, nil
}

func (m metadata) mount(mux *http.ServeMux) {
	for _, path := range m.paths {
		mux.Handle(path, auth.ProtectedResourceMetadataHandler(m.serves))
	}
}
