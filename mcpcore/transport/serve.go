package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// settle is how long cancelled handlers have to come back before [Serve] returns without them.
const settle = 500 * time.Millisecond

// ErrUnfinished is wrapped by the error of [Serve] if calls were still running when the grace period was over. They
// were cancelled and their answers are lost.
var ErrUnfinished = errors.New("calls were cancelled unanswered")

// Serve runs one session of server over t and returns when it has ended: because the client closed its side or
// because ctx is done. Either way new calls are refused, those in flight are answered within [StdioOptions].Grace, the
// rest are cancelled, and the session is closed, in this order. Handlers do not see that ctx is done; they are cancelled
// when the grace period is over. Serve returns at most half a second after that, even if a handler does not.
//
// It returns nil for such an end, else what broke the session, and [ErrUnfinished] if calls had to be cancelled. Use it
// instead of [mcp.Server.Run], which drops the answers of running calls when ctx is done. Cancelling again, or closing
// the session elsewhere, is harmless.
func Serve(ctx context.Context, server *mcp.Server, t *Stdio) error {
	session, err := server.Connect(ctx, t, nil)
	if err != nil {
		return fmt.Errorf("connect stdio: %w", err)
	}
	c := t.connected()
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()

	select {
	case err := <-done:
		return c.outcome(err)
	case <-c.ended:
	case <-ctx.Done():
		c.stop(io.EOF)
	}

	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case err = <-done:
	case <-timer.C:
		err = c.Close()
		if !errors.Is(c.endErr, io.EOF) {
			err = errors.Join(c.endErr, err)
		}
	}
	go session.Close() // frees the keep-alive; before the end it would make the SDK report a fault
	return c.outcome(err)
}

func (c *conn) outcome(err error) error {
	if err != nil {
		err = fmt.Errorf("stdio session: %w", err)
	}
	if n := c.calls.missing(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d %w", n, ErrUnfinished))
	}
	return err
}
