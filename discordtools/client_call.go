package discordtools

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// restCall is a [Request] that was checked and encoded, ready for any number of
// tries.
type restCall struct {
	method, route string // as they may be shown
	url, key      string
	contentType   string
	body          []byte
	reason        string // encoded
	anonymous     bool
	bearer        string // of an anonymous call
	repeats       bool   // Request.Repeatable
	once          bool   // Request.Once
	ownToken      bool   // it carries a token of its own
	secrets       []string
}

// String is the method and the route template: what may be said about a call.
func (p *restCall) String() string { return p.method + " " + p.route }

// read reports whether the call changes nothing.
func (p *restCall) read() bool { return p.method == "GET" }

// repeatable reports whether an open outcome may be tried again.
func (p *restCall) repeatable() bool {
	return p.read() || p.repeats && (p.method == "PUT" || p.method == "DELETE")
}

// prepare checks and encodes a request. Nothing that it refuses reaches Discord.
func (c *Client) prepare(r Request) (*restCall, *mcpcore.Error) {
	p := &restCall{method: r.Method, route: shownRoute(r.Route), anonymous: r.Anonymous, bearer: r.Bearer, repeats: r.Repeatable, once: r.Once}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, r.Method) {
		return nil, mcpcore.Errorf(mcpcore.CodeInternal, "the route %s has no method that Discord knows", r.Route)
	}
	path, issues, err := fillRoute(r.Route, r.Path)
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(r.Reason); n > discord.MaxReason {
		issues = append(issues, mcpcore.Issue{
			Path: "audit_reason", Code: mcpcore.IssueBig,
			Message: fmt.Sprintf("an audit-log reason has at most %d characters, this has %d", discord.MaxReason, n),
		})
	}
	if len(issues) > 0 {
		return nil, mcpcore.Invalid(issues...)
	}
	p.reason = url.PathEscape(strings.ToValidUTF8(r.Reason, "\uFFFD"))
	p.url = c.base + path
	if len(r.Query) > 0 {
		p.url += "?" + r.Query.Encode()
	}
	p.key = bucketKey(r.Method, r.Route, r.Path, r.Query)
	p.body, p.contentType = r.Body, "application/json"
	if len(r.Form) > 0 {
		if p.contentType, p.body, err = multipartBody(r.Body, r.Form); err != nil {
			return nil, err
		}
	}
	p.hide(c.session.Token)
	if _, bare, ok := strings.Cut(c.session.Token, " "); ok {
		p.hide(bare)
	}
	if r.Bearer != "" {
		if !r.Anonymous {
			return nil, mcpcore.Errorf(mcpcore.CodeInternal, "a request has one authorization, the bot's or another")
		}
		p.ownToken = true
		p.hide(r.Bearer)
	}
	for name, value := range r.Path {
		if strings.HasSuffix(name, "token") {
			p.ownToken = true
			p.hide(value)
			p.hide(url.PathEscape(value))
		}
	}
	return p, nil
}

// notSnowflakes are the parameters of Discord's routes that end in _id and hold
// something else, with their own check.
var notSnowflakes = map[string]func(string) error{
	"instance_id": func(string) error { return nil },
	"answer_id": func(s string) error {
		if len(s) > 2 || strings.Trim(s, "0123456789") != "" {
			return errors.New("a poll answer's id is a number of one or two digits")
		}
		return nil
	},
}

// fillRoute puts the escaped values into a route's template. A value that would
// change the route is an issue; a template that does not fit its values is a
// fault of ours.
func fillRoute(route string, values map[string]string) (string, []mcpcore.Issue, *mcpcore.Error) {
	if !strings.HasPrefix(route, "/") || strings.ContainsAny(route, "?#%\\ ") {
		return "", nil, mcpcore.Errorf(mcpcore.CodeInternal, "a route is not a path template")
	}
	var (
		path   strings.Builder
		issues []mcpcore.Issue
		used   int
	)
	for segment := range strings.SplitSeq(route[1:], "/") {
		path.WriteByte('/')
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "{}") {
				return "", nil, mcpcore.Errorf(mcpcore.CodeInternal, "the route %s is not a path template", route)
			}
			path.WriteString(segment)
			continue
		}
		if name, ok = strings.CutSuffix(name, "}"); !ok || name == "" {
			return "", nil, mcpcore.Errorf(mcpcore.CodeInternal, "the route %s is not a path template", route)
		}
		value, given := values[name]
		if given {
			used++
		}
		if issue := checkParameter(name, value); issue != nil {
			issues = append(issues, *issue)
			continue
		}
		path.WriteString(url.PathEscape(value))
	}
	if used < len(values) {
		return "", nil, mcpcore.Errorf(mcpcore.CodeInternal, "the route %s has no place for one of its values", route)
	}
	return path.String(), issues, nil
}

func checkParameter(name, value string) *mcpcore.Issue {
	var err error
	switch check, special := notSnowflakes[name]; {
	case value == "":
		err = errors.New("a value is required")
	case value == "." || value == "..":
		err = errors.New("this value would change the route")
	case special:
		err = check(value)
	case name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(strings.TrimRight(name, "0123456789"), "_id_"):
		err = discord.CheckID(value)
	}
	if err == nil {
		return nil
	}
	return &mcpcore.Issue{Path: name, Message: err.Error(), Code: mcpcore.IssueFormat}
}

// hide adds a text that no error, log line or cause may show.
func (p *restCall) hide(secret string) {
	if len(secret) >= 4 && !slices.Contains(p.secrets, secret) {
		p.secrets = append(p.secrets, secret)
	}
}

// clean replaces the call's secrets in a text.
func (p *restCall) clean(s string) string {
	for _, secret := range p.secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	return s
}

// scrub removes the call's secrets from what an error says to the caller.
func (p *restCall) scrub(e *mcpcore.Error) *mcpcore.Error {
	e.Detail = p.clean(e.Detail)
	if issues, ok := e.Fields["issues"].([]mcpcore.Issue); ok {
		for i := range issues {
			issues[i].Path, issues[i].Message = p.clean(issues[i].Path), p.clean(issues[i].Message)
		}
	}
	return e
}

// cause is a foreign error without its URL and secrets. The original is not
// kept: what it wraps could show them.
func (p *restCall) cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	c := &restCause{text: p.clean(err.Error())}
	for _, is := range []error{context.Canceled, context.DeadlineExceeded, syscall.ECONNRESET, syscall.ECONNREFUSED} {
		if errors.Is(err, is) {
			c.is = is
		}
	}
	return c
}

type restCause struct {
	text string
	is   error // the well-known error it was
}

func (c *restCause) Error() string { return c.text }
func (c *restCause) Unwrap() error { return c.is }

// broken is a try that ended without an answer. notSent says that the request
// cannot have reached Discord.
func (p *restCall) broken(ctx context.Context, err error, notSent bool) *failure {
	net, ok := errors.AsType[net.Error](err)
	late := ok && net.Timeout() || errors.Is(err, context.DeadlineExceeded)
	f := &failure{kind: failOpen}
	switch {
	case notSent:
		f.kind = failUnsent
		f.err = mcpcore.Errorf(mcpcore.CodeServerError, "Discord could not be reached; nothing was changed").
			WithHint("Wait a moment, then call again. If it stays so, the operator must check the server's network.")
		if late {
			f.err.Code = mcpcore.CodeTimeout
		}
		if ctx.Err() != nil {
			f.kind, f.err = failFinal, callEnded(ctx, failUnsent)
		}
	case ctx.Err() != nil && p.read():
		f.kind, f.err = failFinal, callEnded(ctx, failFinal)
	case ctx.Err() != nil:
		f.kind, f.err = failFinal, callEnded(ctx, failOpen)
	case !p.read():
		f.err = mcpcore.Errorf(mcpcore.CodeOutcomeUnknown, "no answer came to %s; it may have been carried out", p)
		if p.repeatable() {
			f.err.Hint = "It may have happened. Sending it again has the same effect."
		}
	case late:
		f.err = mcpcore.Errorf(mcpcore.CodeTimeout, "Discord did not answer %s in time", p)
	default:
		f.err = mcpcore.Errorf(mcpcore.CodeServerError, "the connection broke before Discord answered %s", p)
	}
	f.err.Cause = p.cause(err)
	if notSent {
		f.err.Cause = errors.Join(ErrUnsent, f.err.Cause)
	}
	return f
}

// callEnded is the error for an ended ctx. left says what the call leaves behind:
// unsent, undecided, or final for a read in flight.
func callEnded(ctx context.Context, left failKind) *mcpcore.Error {
	e := &mcpcore.Error{Code: mcpcore.CodeTimeout, Cause: ctx.Err()}
	if errors.Is(ctx.Err(), context.Canceled) {
		e.Code = mcpcore.CodeCancelled
	}
	switch left {
	case failUnsent:
		e.Detail = "the call ended before it was sent to Discord; nothing was changed"
		e.Cause = errors.Join(ErrUnsent, e.Cause)
	case failOpen:
		e.Detail = "the call ended before Discord answered; it may have been carried out"
		if e.Code == mcpcore.CodeTimeout {
			e.Code = mcpcore.CodeOutcomeUnknown
		}
	default:
		e.Detail = "the call ended before Discord answered"
	}
	return e
}

// connTrace watches whether a request got a connection. Transports that do not
// report it are taken to have sent the request.
type connTrace struct{ asked, got atomic.Bool }

func (t *connTrace) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	})
}

// certainlyNot reports whether a request that failed with err cannot have
// reached Discord.
func (t *connTrace) certainlyNot(err error) bool {
	if t.got.Load() {
		return false
	}
	if t.asked.Load() || errors.Is(err, syscall.ECONNREFUSED) {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
