package discordtools

import (
	"context"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/guildwarden/guildwarden/discordtools"

func tracerOf(tp trace.TracerProvider) trace.Tracer {
	if tp == nil {
		tp = otel.GetTracerProvider()
	}
	return tp.Tracer(scope)
}

// span starts the CLIENT span of one try. It shows the route and never the
// address, which may hold a token; and it stays on this side: no header of it
// goes to Discord.
func (c *Client) span(ctx context.Context, p *restCall) (context.Context, trace.Span) {
	ctx, span := c.tracer.Start(ctx, p.String(), trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("http.request.method", p.method),
			attribute.String("server.address", c.host),
			attribute.String("discord.route", p.method+" "+redactedRoute(p.route)),
		)
	}
	return ctx, span
}

// endSpan notes how a try ended. Of a failure it shows the code alone.
func endSpan(span trace.Span, f *failure) {
	if f != nil {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String("error.type", string(f.err.Code)))
	}
	span.End()
}

var idLike = regexp.MustCompile(`[0-9]{17,20}`)

// shownRoute is a route without the ids and tokens that somebody wrote into it
// instead of parameters.
func shownRoute(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		switch {
		case strings.HasPrefix(s, "{"):
		case i >= 2 && (segments[i-2] == "webhooks" || segments[i-2] == "interactions"):
			segments[i] = ":token"
		case len(s) >= 17:
			segments[i] = idLike.ReplaceAllString(s, ":id")
		}
	}
	return strings.Join(segments, "/")
}

// redactedRoute is a template with :id, :token and the like for its parameters.
func redactedRoute(template string) string {
	segments := strings.Split(template, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, "{")
		switch name = strings.TrimSuffix(name, "}"); {
		case !ok:
		case strings.HasSuffix(name, "token"):
			segments[i] = ":token"
		case name == "answer_id" || name == "instance_id": // no snowflakes
			segments[i] = ":" + name
		case name == "id" || strings.HasSuffix(name, "_id"):
			segments[i] = ":id"
		default:
			segments[i] = ":" + name
		}
	}
	return strings.Join(segments, "/")
}
