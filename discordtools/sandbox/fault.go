package sandbox

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Fault is a failure on demand. It strikes requests that match until it is used
// up; of several that match, the one injected first strikes.
type Fault struct {
	Method, Route string // which requests; "" is any
	Skip          int    // let so many matching requests pass first
	Times         int    // strike so often; 0 means once

	// AfterExecution lets the request be executed before the fault strikes, as
	// when an answer is lost on its way.
	AfterExecution bool

	// Delay waits before anything else, or until the request's context ends.
	// Alone it only slows the request down.
	Delay time.Duration

	// Status answers an error. With HTML the body is the page that a proxy in
	// front of Discord writes ("error code: 1015" with status 429 and HTML).
	Status int
	HTML   bool

	// RateLimit answers 429 in a scope: "user", "shared" or "global".
	RateLimit string
	// RetryAfter goes with a 429; 0 means one second.
	RetryAfter time.Duration

	Reset    bool // no answer: the connection is reset
	Truncate bool // half of the true answer, then io.ErrUnexpectedEOF
}

// Inject adds a fault.
func (d *Discord) Inject(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, &f)
}

// fault takes the fault that strikes a request. The sandbox is locked.
func (d *Discord) fault(method, route string) *Fault {
	for _, f := range d.faults {
		if f.Times == 0 || f.Method != "" && f.Method != method || f.Route != "" && f.Route != route {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.Times--
		struck := *f
		return &struck
	}
	return nil
}

// executes reports whether a request that the fault strikes reaches the world.
func (f *Fault) executes() bool { return f == nil || f.AfterExecution || f.Truncate || f.slows() }

// slows reports whether the fault does no more than wait.
func (f *Fault) slows() bool {
	return f.Status == 0 && !f.HTML && f.RateLimit == "" && !f.Reset && !f.Truncate
}

// strike changes the true answer, which is nil for a request that was not
// executed.
func (f *Fault) strike(r *response) (*response, error) {
	after := f.RetryAfter
	if after == 0 {
		after = time.Second
	}
	switch {
	case f.Reset:
		return nil, fmt.Errorf("read tcp 127.0.0.1: %w", syscall.ECONNRESET)
	case f.Truncate:
		r.cut = true
		return r, nil
	case f.RateLimit != "":
		return limited(f.RateLimit, after), nil
	case f.HTML:
		return f.page(after), nil
	case f.Status != 0:
		r := &response{status: f.Status, header: http.Header{}}
		if f.Status == http.StatusTooManyRequests {
			return limited("user", after), nil
		}
		r.json(&apiError{status: f.Status, message: fmt.Sprintf("%d: %s", f.Status, http.StatusText(f.Status))})
		return r, nil
	}
	return r, nil
}

// page is what a proxy in front of Discord answers.
func (f *Fault) page(after time.Duration) *response {
	r := &response{status: f.Status, header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}, "Server": {"cloudflare"}}}
	if r.status == 0 {
		r.status = http.StatusBadGateway
	}
	if r.status == http.StatusTooManyRequests {
		r.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
		r.body = []byte("error code: 1015")
		return r
	}
	r.body = fmt.Appendf(nil, "<!DOCTYPE html>\n<html><head><title>discord.com | %d: %s</title></head><body>cloudflare</body></html>\n",
		r.status, http.StatusText(r.status))
	return r
}

// cutBody is half a body whose connection then ends.
type cutBody struct{ io.Reader }

func (c cutBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
