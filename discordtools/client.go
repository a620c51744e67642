package discordtools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/bwmarrin/discordgo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	defaultBase    = "https://discord.com/api/v10"
	defaultMaxBody = 16 << 20
	defaultMaxWait = time.Minute
	maxErrorBody   = 256 << 10 // read of an answer that is not a success

	// userAgent is in the form Discord asks for.
	// Source: https://docs.discord.com/developers/reference#user-agent.
	userAgent = "DiscordBot (https://github.com/guildwarden/guildwarden, 1.0)"
)

// ClientOptions shape a [Client]. The zero value is Discord itself.
type ClientOptions struct {
	Base    string        // URL before the routes; "": https://discord.com/api/v10. The bot's token is sent there
	MaxBody int64         // bytes read of a successful answer; 0: 16 MiB
	MaxWait time.Duration // the longest wait for a rate limit, also when the context allows more; 0: one minute
	Logger  *slog.Logger  // nil: no log. It gets methods, route templates and statuses, never a URL

	// Tracer gets a CLIENT span for each try, with method, route template and
	// status, never a URL. nil: the global one.
	Tracer trace.TracerProvider

	Resilience Resilience           // the zero value is every layer with its defaults
	Meter      metric.MeterProvider // nil: the global one
}

// Client is the [REST] on a *discordgo.Session: it uses the session's token, its
// http.Client (without its Timeout) and its rate-limit buckets, so that a host
// bot's own calls and these count together, and nothing else of it. It never
// opens, closes or writes the session. It is safe for concurrent use.
//
// A bot token that Discord refused with 401 is not used again: calls answer
// DISCORD_AUTH_INVALID until the session has another token. While the edge in
// front of Discord blocks this address, calls answer DISCORD_CLOUDFLARE_BLOCKED.
// A call that Discord answers with 403 ten times within a minute is answered here
// for half a minute, as DISCORD_PERMISSION_DENIED with retry_after_ms.
type Client struct {
	session *discordgo.Session
	http    *http.Client // for a session without one
	base    string
	host    string // of base
	maxBody int64
	log     *slog.Logger
	tracer  trace.Tracer
	limits  *rateLimits
	layers  *layers
	denied  *denials
	dead    atomic.Pointer[string] // the token that Discord refused
}

var _ REST = (*Client)(nil)

// NewClient returns a client on session. A nil session, a Base that is not a
// plain http or https URL and negative bounds are errors. A session without a
// Ratelimiter or Client gets its own inside the client.
func NewClient(session *discordgo.Session, opts ClientOptions) (*Client, error) {
	if session == nil {
		return nil, errors.New("the discordgo session is nil")
	}
	if opts.MaxBody < 0 || opts.MaxWait < 0 {
		return nil, errors.New("MaxBody and MaxWait are not negative")
	}
	base := strings.TrimRight(cmp.Or(opts.Base, defaultBase), "/")
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(base, "?#") {
		return nil, errors.New("Base must be an http or https URL without user, query and fragment")
	}
	c := &Client{
		session: session,
		http:    &http.Client{},
		denied:  &denials{},
		base:    base,
		host:    u.Hostname(),
		maxBody: cmp.Or(opts.MaxBody, defaultMaxBody),
		log:     opts.Logger,
		tracer:  tracerOf(opts.Tracer),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.layers, err = newLayers(opts.Resilience, c.log, opts.Meter); err != nil {
		return nil, err
	}
	shared := session.Ratelimiter
	if shared == nil {
		shared = discordgo.NewRatelimiter()
	}
	c.limits = newRateLimits(shared, cmp.Or(opts.MaxWait, defaultMaxWait))
	return c, nil
}

// failure is a try without a success.
type failure struct {
	err  *mcpcore.Error
	kind failKind
	wait time.Duration // asked for before another try

	answered bool // by Discord, with an answer that is not about its health
}

// failKind says what a failed try leaves behind.
type failKind int

const (
	failFinal   failKind = iota // an answer that stands, or the caller's end
	failUnsent                  // nothing reached Discord
	failRefused                 // Discord answered that it did not carry the call out
	failOpen                    // the call may have been carried out
)

// again reports whether p may be sent another time.
func (f *failure) again(p *restCall) bool {
	return !p.once && (f.kind == failUnsent || f.kind == failRefused || f.kind == failOpen && p.repeatable())
}

// after is f for a write whose earlier try may have been carried out.
func (f *failure) after(open *mcpcore.Error) *failure {
	if f.kind == failFinal && f.err.Fields["status"] != nil {
		f.err.Detail += "; an earlier try of this call got no clear answer and may have been carried out"
		return f
	}
	e := *open
	e.Code = mcpcore.CodeOutcomeUnknown
	return &failure{err: &e, kind: f.kind, wait: f.wait}
}

// once makes one try: it waits for its turn under the rate limits, sends the
// request and reads the answer.
func (c *Client) once(ctx context.Context, p *restCall) (_ *Response, f *failure) {
	if ctx.Err() != nil {
		return nil, &failure{err: callEnded(ctx, failUnsent)}
	}
	token := c.session.Token
	if !p.anonymous {
		if err := c.checkToken(token); err != nil {
			return nil, &failure{err: err}
		}
	}
	if err := c.denied.check(p); err != nil {
		return nil, &failure{err: err}
	}
	permit, err := c.limits.admit(ctx, p.method, p.key)
	if err != nil {
		return nil, &failure{err: err}
	}
	defer permit.leave(nil, false)

	ctx, span := c.span(ctx, p)
	defer func() { endSpan(span, f) }()
	timed, cancel := context.WithTimeout(ctx, c.layers.Timeout)
	defer cancel()
	sent := &connTrace{}
	req, bad := p.request(sent.watch(timed), token)
	if bad != nil {
		return nil, &failure{err: bad}
	}
	res, fault := c.client().Do(req)
	if fault != nil {
		return nil, p.broken(ctx, fault, sent.certainlyNot(fault))
	}
	defer res.Body.Close()
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	ok := res.StatusCode >= 200 && res.StatusCode < 300
	if res.StatusCode != http.StatusTooManyRequests {
		permit.leave(res.Header, ok)
	}
	if ok {
		c.denied.clear(p)
		return c.success(ctx, p, res)
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // the status says the most; a cut body is read as far as it goes
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return nil, c.tooMany(ctx, p, permit, res.Header, body)
	case res.StatusCode == http.StatusUnauthorized && !p.anonymous && !p.ownToken:
		c.latch(ctx, token, body)
	}
	f = &failure{err: refusal(p, res.StatusCode, res.Header, body)}
	switch {
	case res.StatusCode >= 500:
		f.kind, f.wait = failOpen, retryAfter(res.Header)
	case f.err.Code != mcpcore.CodeCloudflare:
		f.answered = true
		c.denied.note(ctx, p, f.err, c.log)
	}
	return nil, f
}

// success reads the answer of a call that Discord carried out.
func (c *Client) success(ctx context.Context, p *restCall, res *http.Response) (*Response, *failure) {
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	done := &Response{Status: res.StatusCode, Header: res.Header, Body: body}
	switch {
	case err == nil && int64(len(body)) > c.maxBody:
		e := mcpcore.Errorf(mcpcore.CodeServerError, "the answer to %s is larger than the limit of %d bytes", p, c.maxBody).
			WithHint("Ask for less at once.")
		if !p.read() {
			e.Code = mcpcore.CodeOutcomeUnknown
			e.Detail += "; Discord accepted the call"
		}
		return nil, &failure{err: e.With("status", res.StatusCode), answered: true}
	case err == nil && int64(len(body)) >= res.ContentLength && !cutOff(res.Header, body):
		return done, nil
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	if p.read() {
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return nil, p.broken(ctx, err, false)
		}
		return nil, &failure{
			err:  &mcpcore.Error{Code: mcpcore.CodeServerError, Detail: fmt.Sprintf("Discord's answer to %s was cut off", p), Cause: p.cause(err)},
			kind: failOpen,
		}
	}
	e := &mcpcore.Error{
		Code:   mcpcore.CodeOutcomeUnknown,
		Detail: fmt.Sprintf("Discord accepted %s with status %d, but its answer was cut off", p, res.StatusCode),
		Cause:  p.cause(err),
	}
	return nil, &failure{err: e.With("status", res.StatusCode), kind: failOpen}
}

// tooMany handles a 429, which was not carried out.
func (c *Client) tooMany(ctx context.Context, p *restCall, permit *lanePermit, h http.Header, body []byte) *failure {
	t := parseTooMany(p, h, body)
	if t.scope == "" {
		c.limits.block(t.wait)
		c.log.WarnContext(ctx, "Discord's edge blocks this address", "wait", t.wait)
		return &failure{err: t.err}
	}
	c.limits.refuse(p.method, p.key, t.wait, t.scope) // before leave wakes those who wait
	permit.leave(h, false)
	c.log.WarnContext(ctx, "rate limited by Discord", "method", p.method, "route", p.route, "scope", t.scope, "wait", t.wait)
	return &failure{err: t.err, kind: failRefused, wait: t.wait}
}

// latch remembers a bot token that Discord refused. Codes that speak of another
// credential than the bot's token do not count.
func (c *Client) latch(ctx context.Context, token string, body []byte) {
	switch parseErrorBody(body).code {
	case 50025, 50026, 50027:
		return
	}
	c.dead.Store(&token)
	c.log.ErrorContext(ctx, "Discord refused the bot's token; no further call is sent with it")
}

func (c *Client) checkToken(token string) *mcpcore.Error {
	switch dead := c.dead.Load(); {
	case token == "":
		return mcpcore.Errorf(mcpcore.CodeAuthInvalid, "the session has no token; nothing was sent")
	case strings.ContainsFunc(token, unicode.IsControl):
		return mcpcore.Errorf(mcpcore.CodeAuthInvalid, "the session's token has a character that cannot be sent; nothing was sent")
	case dead != nil && *dead == token:
		return mcpcore.Errorf(mcpcore.CodeAuthInvalid, "Discord refused the bot's token earlier; nothing was sent").With("status", http.StatusUnauthorized).WithHint(deadToken)
	}
	return nil
}

// client is the session's HTTP client, which is not to follow redirects: the
// next address would get the token or the body a second time. Each try has its
// own timeout.
func (c *Client) client() *http.Client {
	hc := c.http
	if c.session.Client != nil {
		hc = c.session.Client
	}
	own := *hc
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// request builds the HTTP request of one try.
func (p *restCall) request(ctx context.Context, token string) (*http.Request, *mcpcore.Error) {
	var body io.Reader
	if p.body != nil {
		body = bytes.NewReader(p.body)
	}
	req, err := http.NewRequestWithContext(ctx, p.method, p.url, body)
	if err != nil {
		return nil, &mcpcore.Error{Code: mcpcore.CodeInternal, Detail: "the request cannot be built", Cause: p.cause(err)}
	}
	req.Header.Set("User-Agent", userAgent)
	switch {
	case p.bearer != "":
		req.Header.Set("Authorization", "Bearer "+p.bearer)
	case !p.anonymous:
		req.Header.Set("Authorization", token)
	}
	if p.body != nil {
		req.Header.Set("Content-Type", p.contentType)
	}
	if p.reason != "" {
		req.Header.Set("X-Audit-Log-Reason", p.reason)
	}
	return req, nil
}

// note logs a try.
func (c *Client) note(ctx context.Context, p *restCall, try int, took time.Duration, res *Response, f *failure) {
	if !c.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.String("method", p.method), slog.String("route", p.route), slog.Int("try", try), slog.Duration("took", took)}
	if res != nil {
		attrs = append(attrs, slog.Int("status", res.Status))
	}
	if f != nil {
		attrs = append(attrs, slog.String("error", p.scrub(f.err).Error()))
	}
	c.log.LogAttrs(ctx, slog.LevelDebug, "discord", attrs...)
}
