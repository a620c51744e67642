package discordtools

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced is a client whose spans are kept, and a span to call it in.
func traced(t *testing.T, transport http.RoundTripper) (*Client, *tracetest.SpanRecorder, context.Context, trace.Span) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	ctx, parent := tp.Tracer("test").Start(t.Context(), "call")
	return clientWith(t, transport, ClientOptions{Tracer: tp}), spans, ctx, parent
}

func spanAttributes(s sdktrace.ReadOnlySpan) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes() {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

func TestEveryTryIsASpan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c, spans, ctx, parent := traced(t, transportFunc(func(*http.Request) (*http.Response, error) {
			switch tries++; tries {
			case 1:
				return nil, errReset
			case 2:
				return respond(429, http.Header{"Via": {"1.1"}, "X-Ratelimit-Scope": {"user"}}, `{"message":"slow","retry_after":1,"global":false}`), nil
			}
			return respond(200, nil, `{}`), nil
		}))
		if _, err := c.Do(ctx, readChannel(keyChannel)); err != nil {
			t.Fatal(err)
		}
		want := []map[string]string{
			{"error.type": "DISCORD_SERVER_ERROR"},
			{"error.type": "DISCORD_RATE_LIMITED", "http.response.status_code": "429"},
			{"http.response.status_code": "200"},
		}
		ended := spans.Ended()
		if len(ended) != len(want) {
			t.Fatalf("%d spans for %d tries", len(ended), tries)
		}
		for i, s := range ended {
			want[i]["http.request.method"], want[i]["server.address"] = "GET", "discord.com"
			want[i]["discord.route"] = "GET /channels/:id"
			if diff := cmp.Diff(want[i], spanAttributes(s)); diff != "" {
				t.Errorf("try %d:\n%s", i+1, diff)
			}
			if s.Name() != "GET /channels/{channel_id}" || s.SpanKind() != trace.SpanKindClient || s.Parent().SpanID() != parent.SpanContext().SpanID() {
				t.Errorf("try %d is %s of kind %s in %s", i+1, s.Name(), s.SpanKind(), s.Parent().SpanID())
			}
			if failed := want[i]["error.type"] != ""; failed != (s.Status().Code == codes.Error) || s.Status().Description != "" {
				t.Errorf("try %d ends with %v", i+1, s.Status())
			}
		}
	})
}

// What was not sent is no try.
func TestWhatIsNotSentIsNoSpan(t *testing.T) {
	t.Parallel()
	c, spans, ctx, _ := traced(t, transportFunc(func(*http.Request) (*http.Response, error) { return respond(200, nil, `{}`), nil }))
	if _, err := c.Do(ctx, readChannel("not an id")); err == nil {
		t.Error("a bad id was sent")
	}
	c.session.Token = ""
	if _, err := c.Do(ctx, readChannel(keyChannel)); err == nil {
		t.Error("it was sent without a token")
	}
	if n := len(spans.Ended()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// TestSpansShowNoAddress sends all that must not be shown: tokens, ids, a query
// and a body, on routes with parameters and on one that spells them out.
func TestSpansShowNoAddress(t *testing.T) {
	t.Parallel()
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	for _, status := range []int{200, 404, 500} {
		c, spans, ctx, _ := traced(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
				if v := r.Header.Get(name); v != "" {
					t.Errorf("Discord gets %s: %s", name, v)
				}
			}
			return respond(status, nil, `{"message":"`+keyToken+`","code":10015}`), nil
		}))
		for _, r := range []Request{
			{Method: "POST", Route: "/webhooks/{webhook_id}/{webhook_token}", Path: map[string]string{"webhook_id": keyWebhook, "webhook_token": keyToken},
				Query: url.Values{"wait": {"query-canary"}}, Body: []byte(`{"content":"body-canary"}`), Anonymous: true},
			{Method: "DELETE", Route: "/webhooks/" + keyWebhook + "/" + keyToken + "/messages/@original", Reason: "reason-canary", Anonymous: true},
			readChannel(keyChannel),
		} {
			_, _ = c.Do(ctx, r) // the spans count
		}
		if len(spans.Ended()) < 3 {
			t.Fatalf("%d: %d spans", status, len(spans.Ended()))
		}
		for _, s := range spans.Ended() {
			text := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status(), s.Resource())
			for _, secret := range []string{keyWebhook, keyToken, keyChannel, botToken, "canary", "://", "wait"} {
				if strings.Contains(text, secret) {
					t.Errorf("%d: the span shows %s: %s", status, secret, text)
				}
			}
		}
	}
}

func TestRoutesAsShown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ route, shown, redacted string }{
		{"/gateway/bot", "/gateway/bot", "/gateway/bot"},
		{"/users/@me/guilds", "/users/@me/guilds", "/users/@me/guilds"},
		{"/channels/{channel_id}/messages/{message_id}", "/channels/{channel_id}/messages/{message_id}", "/channels/:id/messages/:id"},
		{"/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me", "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
			"/channels/:id/messages/:id/reactions/:emoji_name/@me"},
		{"/channels/{channel_id}/polls/{message_id}/answers/{answer_id}", "/channels/{channel_id}/polls/{message_id}/answers/{answer_id}",
			"/channels/:id/polls/:id/answers/:answer_id"},
		{"/invites/{code}", "/invites/{code}", "/invites/:code"},
		{"/channels/{channel_id}/webhooks", "/channels/{channel_id}/webhooks", "/channels/:id/webhooks"},
		{"/webhooks/{webhook_id}/{webhook_token}/messages/@original", "/webhooks/{webhook_id}/{webhook_token}/messages/@original", "/webhooks/:id/:token/messages/@original"},
		{"/interactions/{interaction_id}/{interaction_token}/callback", "/interactions/{interaction_id}/{interaction_token}/callback", "/interactions/:id/:token/callback"},
		{"/webhooks/" + keyWebhook + "/abc", "/webhooks/:id/:token", "/webhooks/:id/:token"},
		{"/interactions/" + keyWebhook + "/" + keyWebhook + "/callback", "/interactions/:id/:token/callback", "/interactions/:id/:token/callback"},
		{"/channels/" + keyChannel + "/messages", "/channels/:id/messages", "/channels/:id/messages"},
		{"/reactions/party:" + keyEmoji, "/reactions/party::id", "/reactions/party::id"},
		{"/channels/{channel_id}/1234567890123456", "/channels/{channel_id}/1234567890123456", "/channels/:id/1234567890123456"}, // too short for an id
	} {
		if got := shownRoute(row.route); got != row.shown {
			t.Errorf("%s is shown as %s, want %s", row.route, got, row.shown)
		}
		if got := redactedRoute(shownRoute(row.route)); got != row.redacted {
			t.Errorf("%s is redacted to %s, want %s", row.route, got, row.redacted)
		}
	}
}
