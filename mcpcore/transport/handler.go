package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// The headers of the protocol.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

const (
	// stateless is the first version of the protocol without sessions.
	stateless = "2026-07-28"
	// unbatched is the first version of the protocol without batches.
	unbatched = "2025-06-18"

	methodInitialize = "initialize"
)

// HandlerOptions configures a [Handler]. Server is needed, and exactly one of Token, Verifier and Open.
type HandlerOptions struct {
	// Server serves every request without a session: all of 2026-07-28 and later, and those of older clients that never
	// began one.
	Server *mcp.Server
	// Session makes the server of an older client's session. It is called once for each, with the request that begins it;
	// when it returns nil the session is refused. A nil Session gives all of them Server.
	Session func(*http.Request) *mcp.Server

	// Token is the one bearer token, of at least [MinToken] characters. Whoever has it is the user "http".
	Token string
	// Verifier verifies bearer tokens of your own. It names the user of each, who owns the sessions that are begun with it;
	// a token without a user is refused. An error that is no auth.ErrInvalidToken is logged, and not sent.
	Verifier auth.TokenVerifier
	// Bearer says what Verifier's tokens must have.
	Bearer auth.RequireBearerTokenOptions
	// Resource names the authorization server that gives out the tokens (RFC 9728). [Handler.Mount] serves it, and
	// refusals lead there.
	Resource *oauthex.ProtectedResourceMetadata
	// Open lets in everybody who reaches the address, as the user "http".
	Open bool

	// Hosts are the names under which clients reach the server, with or without a port, beside loopback's and the address
	// that a connection came in on. Behind a proxy it is the proxy's name. A request for another Host is refused.
	Hosts []string
	// Origins are those of web pages that may send requests, such as https://chat.example.com, beside the server's own.
	// Between loopback and loopback every port may.
	Origins []string

	MaxBody     int64 // bytes of a request's body; 0 is 4 MiB
	MaxInFlight int   // calls at once, and as many bodies that are being read; 0 is 16
	MaxSessions int   // sessions of older clients and subscriptions of newer ones, together; 0 is 1000. One more ends its user's longest idle session

	SessionTimeout time.Duration // after which a session without a request ends; 0 is half an hour
	ReadTimeout    time.Duration // for the body of a request; 0 is 15 s
	WriteTimeout   time.Duration // for each piece of an answer; 0 is 30 s

	// Replica stands in front of the ids of sessions, with a dot, so that a proxy can lead older clients back to the
	// process that has their session. Letters, digits and dashes; "" for none.
	Replica string
	// Ready says whether what calls need can be reached; nil is always. [Handler.Readyz] asks it, once a second at most.
	Ready func(context.Context) error
	// Logger receives what was refused and why, never a token or the content of a message. Nil discards.
	Logger *slog.Logger
}

// MinToken is how many characters a token must have.
const MinToken = 32

// user is who has the one token.
const user = "http"

// Handler serves the protocol at one address to clients of both eras: with sessions up to 2025-11-25, without from
// 2026-07-28 on. It is safe for concurrent use.
//
// A request is checked in this order: its token, its Host and Origin, the number of calls, its body.
type Handler struct {
	opts     HandlerOptions
	entry    http.Handler // the door, and behind it the protocol
	modern   http.Handler
	places   *places
	reading  chan struct{}
	sessions *sessions
	health   health
	metadata metadata
}

var replicaName = regexp.MustCompile(`^[A-Za-z0-9-]{0,32}$`)

// NewHandler makes a Handler. The error joins everything that is wrong with opts.
func NewHandler(opts HandlerOptions) (*Handler, error) {
	opts.Hosts, opts.Origins = slices.Clone(opts.Hosts), slices.Clone(opts.Origins)
	opts.MaxBody = cmp.Or(opts.MaxBody, mcp.DefaultMaxRequestBodyBytes)
	opts.MaxInFlight = cmp.Or(opts.MaxInFlight, 16)
	opts.MaxSessions = cmp.Or(opts.MaxSessions, 1000)
	opts.SessionTimeout = cmp.Or(opts.SessionTimeout, 30*time.Minute)
	opts.ReadTimeout = cmp.Or(opts.ReadTimeout, 15*time.Second)
	opts.WriteTimeout = cmp.Or(opts.WriteTimeout, 30*time.Second)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Session == nil {
		opts.Session = func(*http.Request) *mcp.Server { return opts.Server }
	}
	h := &Handler{opts: opts, places: newPlaces(opts.MaxInFlight, opts.MaxSessions)}
	var problems []error
	if opts.Server == nil {
		problems = append(problems, errors.New("the handler needs a Server"))
	}
	if opts.MaxBody < 0 || opts.MaxInFlight < 0 || opts.MaxSessions < 0 || opts.SessionTimeout < 0 || opts.ReadTimeout < 0 || opts.WriteTimeout < 0 {
		problems = append(problems, errors.New("a limit is negative: use 0 for the default"))
	}
	if !replicaName.MatchString(opts.Replica) {
		problems = append(problems, errors.New("the name of the replica must be at most 32 letters, digits and dashes"))
	}
	origins, err := parseOrigins(opts.Origins)
	problems = append(problems, err)
	h.metadata, err = newMetadata(opts.Resource)
	problems = append(problems, err)
	bearer, err := h.bearer()
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	h.reading = make(chan struct{}, opts.MaxInFlight)
	h.sessions = &sessions{places: h.places, timeout: opts.SessionTimeout, replica: opts.Replica, all: map[string]*session{}}
	h.modern = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return opts.Server }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: opts.MaxBody, Logger: opts.Logger,
		DisableLocalhostProtection: true, // the door's check holds for every address
	})
	h.health = health{ready: opts.Ready, log: opts.Logger}
	h.entry = bearer(checkSite(opts.Hosts, origins, http.HandlerFunc(h.serve)))
	return h, nil
}

// ServeHTTP serves one request, whatever its path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	if r.ContentLength != 0 {
		// Whoever is refused is not waited for. What cannot set deadlines is no network.
		_ = rc.SetReadDeadline(time.Now().Add(h.opts.ReadTimeout))
		w.Header().Set("Connection", "close")
	}
	slow := &deadlined{ResponseWriter: w, rc: rc, timeout: h.opts.WriteTimeout}
	defer slow.done()
	h.entry.ServeHTTP(slow, r)
}

// Mount serves the protocol at /mcp, /healthz, /readyz and, where there is one, the description of the authorization
// server.
func (h *Handler) Mount(mux *http.ServeMux) {
	mux.Handle("/mcp", h)
	mux.HandleFunc("/healthz", h.Healthz)
	mux.HandleFunc("/readyz", h.Readyz)
	h.metadata.mount(mux)
}

// serve serves a request that came in through the door.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	version := r.Header.Get(headerVersion)
	switch {
	case version != "" && version < stateless && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		reject(w, http.StatusBadRequest, &refusal{code: codeInvalid, reason: fmt.Sprintf("the protocol version is not one of %q", mcp.SupportedProtocolVersions())})
	case r.Method == http.MethodPost:
		h.post(w, r, version)
	case version < stateless && r.Header.Get(headerSession) != "" && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		h.inSession(w, r, nil)
	default:
		h.modern.ServeHTTP(w, r) // which knows the right refusal
	}
}

// post serves a message to the server.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, version string) {
	body, ok := h.read(w, r)
	if !ok {
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	m := peek(body)
	switch {
	case version >= stateless, r.Header.Get(headerSession) == "" && m.method != methodInitialize:
		h.admit(w, r, m, h.modern.ServeHTTP)
	case !accepts(r, "application/json", "text/event-stream"):
		reject(w, http.StatusBadRequest, m.refuse("the header Accept must name both application/json and text/event-stream"))
	case !isJSON(r):
		reject(w, http.StatusUnsupportedMediaType, m.refuse("the header Content-Type must be application/json"))
	case m.batch && version >= unbatched:
		reject(w, http.StatusBadRequest, m.refuse("batches are not supported: send one message a request"))
	case r.Header.Get(headerSession) == "":
		h.admit(w, r, m, h.begin)
	default:
		h.inSession(w, r, m)
	}
}

// read reads the body of a request. Without one the request is answered.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	select {
	case h.reading <- struct{}{}:
		defer func() { <-h.reading }()
	default:
		h.busy(w, nil)
		return nil, false
	}
	tooLong := &refusal{code: codeInvalid, reason: fmt.Sprintf("the body is longer than %d bytes: send less", h.opts.MaxBody)}
	if r.ContentLength > h.opts.MaxBody {
		reject(w, http.StatusRequestEntityTooLarge, tooLong)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	switch {
	case err == nil:
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // what follows may take its time
		w.Header().Del("Connection")
		return body, true
	case errors.As(err, new(*http.MaxBytesError)):
		reject(w, http.StatusRequestEntityTooLarge, tooLong)
	case isTimeout(err):
		reject(w, http.StatusRequestTimeout, &refusal{code: codeInvalid, reason: "the body did not come in time: send it at once"})
	default:
		reject(w, http.StatusBadRequest, &refusal{code: codeInvalid, reason: "the body could not be read"})
	}
	return nil, false
}

// errEnded is why a call of a client without a session was cancelled.
var errEnded = errors.New("the time to stop is over")

// admit serves a message when there is room for it. Whoever calls without a session is cancelled by the end of the
// request.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request, m *message, serve http.HandlerFunc) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	leave, ok := h.enter(w, m, func() { cancel(errEnded) })
	if !ok {
		return
	}
	defer leave()
	serve(w, r.WithContext(ctx))
	if d, ok := w.(*deadlined); ok && !d.begun && errors.Is(context.Cause(ctx), errEnded) {
		reject(w, http.StatusServiceUnavailable, &refusal{
			code: codeStopping, reason: "the server stopped while the call ran: look whether it acted before you send it again", id: m.rawID(),
		})
	}
}

// enter finds a message its place: a call takes one of those for calls as long as it runs, a subscription one of those
// for sessions, and anything else none, since it may be what a running call waits for. Without a place the message is
// answered; else leave must follow.
func (h *Handler) enter(w http.ResponseWriter, m *message, cancel func()) (leave func(), ok bool) {
	if !m.call {
		return func() {}, true
	}
	if leave, ok = h.places.enter(m.method == methodListen, cancel); !ok {
		h.busy(w, m)
	}
	return leave, ok
}

// busy refuses a message that there is no room for, or no time. It was not looked at, so sending it again is safe.
func (h *Handler) busy(w http.ResponseWriter, m *message) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	r := &refusal{code: codeBusy, reason: "the server has as many calls as it takes at once: send this one again later", id: m.rawID()}
	if h.places.isStopping() {
		r.code, r.reason = codeStopping, "the server is stopping: send this call again to the next one"
	}
	reject(w, http.StatusServiceUnavailable, r)
}
