package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are those of older clients. It is safe for concurrent use.
type sessions struct {
	places  *places
	timeout time.Duration
	replica string

	mu  sync.Mutex
	all map[string]*session // by id
}

// session is one of an older client.
type session struct {
	id, user  string
	transport *mcp.StreamableServerTransport
	server    *mcp.ServerSession
	timeout   time.Duration
	forget    func()        // takes it off the list
	gone      chan struct{} // closed when the last of its handlers has returned

	mu       sync.Mutex
	requests int          // being served
	calls    []jsonrpc.ID // of them, those that wait for an answer
	idle     *time.Timer  // runs while there is no request
	since    time.Time    // when it last began to run; zero before the first request was served
	closed   bool
}

// userOf is who sent a request that came in through the door.
func userOf(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return info.UserID
	}
	return ""
}

// begin serves the request that begins a session.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) {
	server := h.opts.Session(r)
	if server == nil {
		reject(w, http.StatusForbidden, &refusal{code: codeInvalid, reason: "no session is given out to this client"})
		return
	}
	s, err := h.sessions.open(server, userOf(r)) //nolint:contextcheck // a session outlives the request that begins it
	switch {
	case err != nil:
		h.opts.Logger.Error("a session could not be opened", "error", err)
		reject(w, http.StatusInternalServerError, &refusal{code: jsonrpc.CodeInternalError, reason: "the session could not be opened"})
		return
	case s == nil:
		h.busy(w, nil)
		return
	}
	if done, ok := s.enter(nil); ok {
		defer done()
		s.transport.ServeHTTP(w, r)
	}
	if s.server.InitializeParams() == nil {
		s.close()
	}
}

// inSession serves a request of a session; m is nil when it brings no message.
func (h *Handler) inSession(w http.ResponseWriter, r *http.Request, m *message) {
	id := r.Header.Get(headerSession)
	s := h.sessions.get(id)
	switch {
	case s == nil:
		reject(w, http.StatusNotFound, m.refuse(h.sessions.missing(id)))
	case s.user != userOf(r):
		reject(w, http.StatusForbidden, m.refuse("the session belongs to another user: begin one of your own"))
	case r.Method == http.MethodDelete:
		s.close()
		w.WriteHeader(http.StatusNoContent)
	case m == nil && !accepts(r, "text/event-stream"):
		reject(w, http.StatusBadRequest, m.refuse("the header Accept must name text/event-stream"))
	case m == nil:
		s.serve(w, r, nil)
	default:
		if leave, ok := h.enter(w, m, func() { s.cancel(m.id) }); ok {
			defer leave()
			s.serve(w, r, m)
		}
	}
}

func (s *session) serve(w http.ResponseWriter, r *http.Request, m *message) {
	done, ok := s.enter(m)
	if !ok {
		reject(w, http.StatusNotFound, m.refuse("the session has ended: begin another"))
		return
	}
	defer done()
	s.transport.ServeHTTP(w, r)
}

// open begins a session; nil when there is no room, also without the user's idle one.
func (a *sessions) open(server *mcp.Server, user string) (*session, error) {
	if !a.places.hold() && (a.places.isStopping() || !a.evict(user) || !a.places.hold()) {
		return nil, nil
	}
	id := rand.Text()
	if a.replica != "" {
		id = a.replica + "." + id
	}
	s := &session{id: id, user: user, transport: &mcp.StreamableServerTransport{SessionID: id}, timeout: a.timeout, gone: make(chan struct{})}
	s.forget = sync.OnceFunc(func() {
		a.mu.Lock()
		delete(a.all, id)
		a.mu.Unlock()
		a.places.release()
	})
	var err error
	// The context of the request that begins a session is not the session's.
	if s.server, err = server.Connect(context.Background(), s.transport, nil); err != nil {
		a.places.release()
		return nil, err
	}
	s.idle = time.AfterFunc(a.timeout, s.expire)
	s.idle.Stop() // until the first request has been served
	a.mu.Lock()
	a.all[id] = s
	a.mu.Unlock()
	go func() { // it may be closed elsewhere, through its server
		_ = s.server.Wait()
		s.close()
		close(s.gone)
	}()
	return s, nil
}

// evict ends the one of a user's sessions that nobody has used for longest. It reports whether there was one.
func (a *sessions) evict(user string) bool {
	var longest *session
	var since time.Time
	for _, s := range a.list() {
		if s.user != user {
			continue
		}
		if at, idle := s.idleSince(); idle && (longest == nil || at.Before(since)) {
			longest, since = s, at
		}
	}
	return longest != nil && longest.end(true)
}

func (a *sessions) get(id string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[id]
}

// missing says why there is no session with an id. The protocol has clients begin another then.
func (a *sessions) missing(id string) string {
	if replica, _, named := strings.Cut(id, "."); named && replica != a.replica && replicaName.MatchString(replica) {
		return fmt.Sprintf("the session is one of replica %s, and this is %s: begin another, or have the proxy look at the header %s", replica, cmp.Or(a.replica, "one without a name"), headerSession)
	}
	return "there is no such session: begin another"
}

func (a *sessions) list() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*session, 0, len(a.all))
	for _, s := range a.all {
		list = append(list, s)
	}
	return list
}

// enter notes that a request is served. If it reports true, done must follow.
func (s *session) enter(m *message) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.idle.Stop()
	s.requests++
	if m != nil && m.call && m.id.IsValid() {
		s.calls = append(s.calls, m.id)
	}
	return func() { s.leave(m) }, true
}

func (s *session) leave(m *message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests--
	if m != nil {
		if i := slices.Index(s.calls, m.id); i >= 0 {
			s.calls = slices.Delete(s.calls, i, i+1)
		}
	}
	if s.requests == 0 && !s.closed {
		s.idle.Reset(s.timeout)
		s.since = time.Now()
	}
}

// idleSince is since when nobody has used the session; idle is false while a request of it is served.
func (s *session) idleSince() (at time.Time, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since, s.requests == 0 && !s.closed && !s.since.IsZero()
}

// expire ends a session that nobody used for too long.
func (s *session) expire() { s.end(true) }

// close ends the session: it is found no more, its calls are cancelled, its streams end. It waits for none of them.
func (s *session) close() { s.end(false) }

// end closes the session, an idle one alone where that is asked for. It reports whether it did.
func (s *session) end(idle bool) bool {
	s.mu.Lock()
	if s.closed || idle && s.requests > 0 {
		s.mu.Unlock()
		return false
	}
	calls := slices.Clone(s.calls)
	s.closed = true
	s.idle.Stop()
	s.mu.Unlock()
	s.forget()
	go func() {
		for _, id := range calls {
			s.cancel(id)
		}
		_ = s.server.Close() // waits for the handlers
	}()
	return true
}

// cancel cancels a call as its client would: the SDK has no other way in. The call is answered.
func (s *session) cancel(id jsonrpc.ID) {
	raw, err := json.Marshal(id.Raw())
	if err != nil {
		return // cannot be: it is a text or a number
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":"the server ends the session"}}`, methodCancelled, raw)
	s.transport.ServeHTTP(nowhere{}, &http.Request{Method: http.MethodPost, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))})
}

// nowhere takes an answer that nobody reads.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
