package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// keptRequests bounds the log; the oldest requests are dropped beyond it.
const keptRequests = 10_000

// Request is an exchange as the sandbox saw it. An Authorization other than the
// sandbox's own is recorded as "foreign".
type Request struct {
	Method      string
	Path        string // unescaped, without host, /api/vN and query
	Route       string // template such as "/channels/{channel_id}/messages"; "" when there is none
	Query       url.Values
	Header      http.Header
	Body        []byte // as sent
	Reason      string // audit-log reason, decoded
	Status      int    // 0 when no answer was given
	ReplyHeader http.Header
	Reply       []byte // what was sent, also where the answer was cut off
	At          time.Time
	Executed    bool // the world was asked, so that a write may have happened; Status says how it ended unless Faulted
	Faulted     bool // an injected fault struck
}

// Requests is every exchange since the start or the last reset, oldest first.
func (d *Discord) Requests() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.requests)
}

// Writes is [Discord.Requests] without GET and HEAD.
func (d *Discord) Writes() []Request {
	return slices.DeleteFunc(d.Requests(), func(r Request) bool {
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	})
}

// ResetRequests empties the log; the world stays.
func (d *Discord) ResetRequests() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = nil
}

// Observe calls f with each exchange from now on, when it is finished and
// before its caller gets the answer. Calls come from the goroutines of the
// requests; f may call the sandbox.
func (d *Discord) Observe(f func(Request)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.observers = append(d.observers, f)
}

func (d *Discord) record(r Request) {
	d.mu.Lock()
	if len(d.requests) == keptRequests {
		d.requests = slices.Delete(d.requests, 0, 1)
	}
	d.requests = append(d.requests, r)
	observers := slices.Clone(d.observers)
	d.mu.Unlock()
	for _, f := range observers {
		f(r)
	}
}
