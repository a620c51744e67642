package mcpcore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"go.opentelemetry.io/otel/trace"
)

// Middleware is one layer around every call. Wrap is called once, when the
// server is built; the handler it returns must be safe for concurrent use. A
// layer refuses by returning an error and passes by calling next once; calling
// it twice is an error. next never panics, and an error that it returns is
// always an [*Error], the one that the client gets unless a layer changes it.
type Middleware struct {
	Name  string // unique in a chain
	Guard Guard  // the guard whose method this layer calls; "" for none
	// Observes says that this layer also gets the calls that are refused before
	// the chain, because too many run or the caller is not known. Such a call has
	// no arguments and no principal, and ends behind the last layer that
	// observes, whatever a layer makes of it.
	Observes bool
	// Fills names top-level arguments that this layer supplies when they are
	// absent; they are published as optional.
	Fills []string
	// Check says why a tool cannot be served through this layer; [BuildServer]
	// asks it of every tool. nil for nothing to say.
	Check func(t *Tool) error
	Wrap  func(next Handler) Handler
}

// chain puts the layers around the interlock, the first outermost.
func chain(layers []Middleware) (Handler, error) {
	var problems []error
	h, aside := Handler(interlock), Handler(turnedAway)
	for i := len(layers) - 1; i >= 0; i-- {
		h = door(i+1, layers[i].Name, h, aside)
		if h = layers[i].Wrap(h); h == nil {
			problems = append(problems, fmt.Errorf("layer %q wraps next in nothing", layers[i].Name))
		}
		if layers[i].Observes {
			aside = h
		}
	}
	return door(0, "", h, aside), errors.Join(problems...)
}

// turnedAway is the end of a call that was refused before the chain.
func turnedAway(_ context.Context, c *Call) (*Result, error) { return nil, c.refused }

// door stands behind a layer, and the first one before them all. It opens once
// per call, and what comes back through it is a result or an [*Error]. A call
// that was refused before the chain leaves it aside.
func door(i int, layer string, next, aside Handler) Handler {
	return func(ctx context.Context, c *Call) (res *Result, err error) {
		if c == nil || i >= len(c.passed) {
			return nil, Errorf(CodeGuardSkipped, "the layer %q passed on a call that this server did not make", layer)
		}
		if c.passed[i].Swap(true) {
			return nil, classify(ctx, fmt.Errorf("layer %q called next twice", layer))
		}
		if span := trace.SpanContextFromContext(ctx); i == 1 && span.IsValid() {
			c.span = span // the first layer may have started it
		}
		defer func() {
			switch p := recover(); {
			case p != nil:
				res, err = nil, recovered(ctx, c, p)
			case err != nil:
				res, err = nil, classify(ctx, err)
			case res == nil:
				err = classify(ctx, errNothing)
			}
		}()
		if c.refused != nil {
			return aside(ctx, c)
		}
		return next(ctx, c)
	}
}

var errNothing = errors.New("a layer or the handler returned nothing")

// recovered turns a panic into an error and logs where it came from. The value
// of the panic may hold anything, so it is not sent.
func recovered(ctx context.Context, c *Call, p any) error {
	c.log(ctx, slog.LevelError, "panic", slog.String("type", fmt.Sprintf("%T", p)), slog.String("stack", string(debug.Stack())))
	return &Error{Code: CodeInternal, Detail: "the tool failed unexpectedly", Cause: fmt.Errorf("panic: %T", p)}
}
