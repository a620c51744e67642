package mcpcore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve is the one way from the protocol to a handler.
func (k *core) serve(s *surface, b *bound) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		principal, leave, refused := k.admit(ctx, req)
		if refused != nil {
			return k.refuse(ctx, b, refused), nil
		}
		defer leave()
		id, peer := uuid.NewString(), &client{req: req}
		call := func(r *reply) (*Call, *Result, error) {
			c := newCall(k.deps, b, id, principal, req.Params.Arguments)
			c.client, c.reply, c.surface = peer, r, s
			res, err := k.run(ctx, c)
			return c, res, err
		}
		c, res, err := call(k.replyOf(req, &b.tool, principal))
		if q := c.question(err); q != nil && !peer.rounds() {
			c, res, err = call(k.ask(ctx, c, q))
		}
		if q := c.question(err); q != nil {
			state, err := k.seal.close(c.stateOf(q), c.tool, principal)
			if err != nil {
				return asError(err).envelope(), nil
			}
			return &mcp.CallToolResult{
				Content: []mcp.Content{}, RequestState: state, InputRequests: mcp.InputRequestMap{q.Name: q.request()},
			}, nil
		}
		switch e := asError(err); {
		case err == nil:
			return res.reply(c), nil
		case errors.Is(e, errNoQuestion):
			return nil, e.invalidParams()
		default:
			return e.envelope(), nil
		}
	}
}

// admit gives a call a place among those that run, until it leaves, and says who
// makes it.
func (k *core) admit(ctx context.Context, req *mcp.CallToolRequest) (principal string, leave func(), refused *Error) {
	select {
	case k.slots <- struct{}{}:
	default:
		return "", nil, Errorf(CodeBulkheadFull, "%d calls are running already", cap(k.slots))
	}
	free := func() { <-k.slots }
	defer func() {
		if leave == nil { // refused, or Identify panicked
			free()
		}
	}()
	principal, err := k.deps.Identify(ctx, req)
	if err == nil && principal == "" {
		err = errors.New("the caller has no name")
	}
	if err != nil {
		return "", nil, &Error{Code: CodeAuthInvalid, Detail: "the caller is not known", Hint: "Authenticate as a user.", Cause: err}
	}
	return principal, free, nil
}

// refuse answers a call that does not get into the chain. The layers that
// observe see it; nothing that they do changes the answer.
func (k *core) refuse(ctx context.Context, b *bound, e *Error) *mcp.CallToolResult {
	c := newCall(k.deps, b, uuid.NewString(), "", nil)
	c.refused = e
	_, _ = k.run(ctx, c)
	return e.envelope()
}

// run sends a call through the chain. Its error is an [*Error].
func (k *core) run(ctx context.Context, c *Call) (*Result, error) {
	res, err := k.handler(ctx, c)
	// A layer that began the audit and failed to end it owes the outcome.
	if res, err = c.End(ctx, res, err); err == nil {
		err = res.check()
	}
	if err == nil {
		return res, nil
	}
	e := classify(ctx, err)
	if c.question(e) == nil {
		c.log(ctx, slog.LevelWarn, "call refused or failed", slog.String("code", string(e.Code)), slog.Any("cause", e.Cause))
	}
	return nil, e
}

// survive keeps the process alive when a handler of any method panics, and
// gives every call of a tool a deadline, also one that reads a resource.
func survive(log *slog.Logger, deadline time.Duration) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.ErrorContext(ctx, "panic", "method", method, "type", fmt.Sprintf("%T", p))
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
				}
			}()
			if method == "tools/call" || method == "resources/read" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, deadline)
				defer cancel()
			}
			return next(ctx, method, req)
		}
	}
}
