package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRequest is the largest body that is read.
const maxRequest = 64 << 20

// RoundTrip executes a request. It looks at the path and not at the host. An
// error means that no answer was given: the request's context ended, or an
// injected fault broke the connection.
func (d *Discord) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := read(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	log := Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		Reason: reason(r.Header.Get("X-Audit-Log-Reason")),
	}
	if parts := segments(r.URL.EscapedPath()); parts != nil {
		log.Path = "/" + strings.Join(parts, "/")
	}
	if auth := r.Header.Get("Authorization"); auth != "" && auth != "Bot "+d.token {
		log.Header.Set("Authorization", "foreign")
	}
	reply, err := d.serve(r.Context(), r, &log)
	if reply != nil {
		log.Status, log.ReplyHeader, log.Reply = reply.status, reply.header.Clone(), reply.body
	}
	d.record(log)
	if err != nil {
		return nil, err
	}
	return reply.http(r), nil
}

func read(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(io.LimitReader(r.Body, maxRequest))
}

// serve finds the route, applies faults and limits, and executes.
func (d *Discord) serve(ctx context.Context, r *http.Request, log *Request) (*response, error) {
	parts := segments(r.URL.EscapedPath())
	var found *route
	var known bool
	if parts != nil {
		found, known = routes().find(r.Method, parts)
	}
	if found != nil {
		log.Route = found.path
	}
	d.mu.Lock()
	log.At = d.options.Clock()
	f := d.fault(r.Method, log.Route)
	d.mu.Unlock()
	log.Faulted = f != nil
	if f != nil && f.Delay > 0 {
		wait := time.NewTimer(f.Delay)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var reply *response
	if f.executes() {
		reply = d.execute(r, found, known, parts, log)
	}
	if f == nil {
		return reply, nil
	}
	return f.strike(reply)
}

// execute answers a request truly.
func (d *Discord) execute(r *http.Request, found *route, known bool, parts []string, log *Request) *response {
	switch {
	case found == nil && known:
		return failure(errMethod)
	case found == nil:
		return failure(errNoRoute)
	}
	params := found.params(parts)
	d.mu.Lock()
	defer d.mu.Unlock()
	actor, err := d.actor(found, r.Header.Get("Authorization"))
	if err != nil {
		return failure(err)
	}
	now := d.options.Clock()
	w := d.count(found, params, now)
	if w.wait > 0 {
		reply := limited(w.limit.Scope, w.wait)
		w.headers(reply.header, now)
		return reply
	}
	x := &exchange{
		world: &d.world, options: d.options, route: found, params: params, query: log.Query, header: log.Header,
		now: now, actor: actor,
	}
	log.Executed = true
	reply := x.run(r.Header.Get("Content-Type"), log.Body)
	w.headers(reply.header, now)
	return reply
}

// run reads the body, checks the ids of the path and calls the handler.
func (x *exchange) run(contentType string, body []byte) *response {
	for name, value := range x.params {
		if !strings.HasSuffix(name, "_id") || name == "answer_id" || name == "instance_id" {
			continue
		}
		if _, err := strconv.ParseUint(value, 10, 64); err != nil {
			return failure(invalid(name, "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", value))
		}
	}
	if err := x.parts(contentType, body); err != nil {
		return failure(err)
	}
	a, err := x.route.handle(x)
	if err != nil {
		return failure(err)
	}
	reply := &response{status: a.status, header: http.Header{}}
	switch {
	case a.raw != nil:
		reply.body = a.raw
		reply.header.Set("Content-Type", a.kind)
	case a.body != nil:
		reply.json(a.body)
	}
	return reply
}

// response is an answer before it goes out.
type response struct {
	status int
	header http.Header
	body   []byte
	cut    bool // the connection ends in the middle of the body
}

func (r *response) json(v any) {
	var body bytes.Buffer
	to := json.NewEncoder(&body)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		panic("sandbox: " + err.Error())
	}
	r.body = bytes.TrimSuffix(body.Bytes(), []byte("\n"))
	r.header.Set("Content-Type", "application/json")
}

func failure(err error) *response {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{status: http.StatusInternalServerError, message: err.Error()}
	}
	r := &response{status: e.status, header: http.Header{}}
	r.json(e)
	return r
}

func (r *response) http(to *http.Request) *http.Response {
	var body io.Reader = bytes.NewReader(r.body)
	if r.cut {
		body = cutBody{bytes.NewReader(r.body[:len(r.body)/2])}
	}
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(body), ContentLength: int64(len(r.body)), Request: to,
	}
}
