package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	codeInvalid = jsonrpc.CodeInvalidRequest
	codeBusy    = -32000 // one of those that JSON-RPC leaves to servers
)

// message is what the body of a request holds, as far as its way depends on it.
type message struct {
	id     jsonrpc.ID
	method string
	call   bool // an answer will follow
	batch  bool
}

// peek reads the body of a request. What cannot be read counts as a call: the SDK refuses it.
func peek(body []byte) *message {
	decoded, refused := decode(body)
	if refused != nil {
		return &message{call: true, batch: bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))}
	}
	if r, ok := decoded.(*jsonrpc.Request); ok {
		return &message{id: r.ID, method: r.Method, call: r.ID.IsValid()}
	}
	return &message{}
}

// rawID is the id as JSON; nil when there is none.
func (m *message) rawID() json.RawMessage {
	if m == nil || !m.id.IsValid() {
		return nil
	}
	raw, err := json.Marshal(m.id.Raw())
	if err != nil {
		return nil
	}
	return raw
}

func (m *message) refuse(reason string) *refusal {
	return &refusal{code: codeInvalid, reason: reason, id: m.rawID()}
}

// reject answers a request with an error of the protocol, which clients read whatever the status.
func reject(w http.ResponseWriter, status int, r *refusal) {
	body, err := encodeRefusal(r)
	if err != nil { // cannot be: the id is JSON
		http.Error(w, r.reason, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// accepts reports whether a client reads all of these types.
func accepts(r *http.Request, types ...string) bool {
	given := map[string]bool{}
	for _, value := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(item, ";")
			given[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	for _, t := range types {
		group, _, _ := strings.Cut(t, "/")
		if !given[t] && !given[group+"/*"] && !given["*/*"] {
			return false
		}
	}
	return true
}

func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == "application/json"
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// deadlined is an answer whose every piece has a time in which the client must take it.
type deadlined struct {
	http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	begun   bool
}

// Unwrap lets an [http.ResponseController] through.
func (d *deadlined) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *deadlined) WriteHeader(status int) {
	d.begun = true
	_ = d.rc.SetWriteDeadline(time.Now().Add(d.timeout))
	d.ResponseWriter.WriteHeader(status)
}

func (d *deadlined) Write(p []byte) (int, error) {
	d.begun = true
	_ = d.rc.SetWriteDeadline(time.Now().Add(d.timeout))
	return d.ResponseWriter.Write(p)
}

// done leaves the connection to the next request as it was.
func (d *deadlined) done() { _ = d.rc.SetWriteDeadline(time.Time{}) }
