package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// conn is the one connection of a Stdio. A goroutine of its own reads lines until the input ends.
type conn struct {
	in       io.ReadCloser
	maxLine  int
	grace    time.Duration
	log      *slog.Logger
	calls    *calls
	incoming chan jsonrpc.Message

	writeMu  sync.Mutex
	out      io.WriteCloser
	writeErr error // set for good: a line may be half written

	stopOnce sync.Once
	ended    chan struct{} // closed when Read has nothing more to give
	endErr   error         // set before ended is closed

	closeOnce sync.Once
	closed    chan struct{}
	closeErr  error
	outOnce   sync.Once
	outErr    error
}

var _ mcp.Connection = (*conn)(nil)

func newConn(opts StdioOptions) *conn {
	c := &conn{
		in: opts.In, out: opts.Out, maxLine: opts.MaxLine, grace: opts.Grace, log: opts.Logger,
		calls:    newCalls(),
		incoming: make(chan jsonrpc.Message),
		ended:    make(chan struct{}),
		closed:   make(chan struct{}),
	}
	go c.readLines()
	return c
}

func (c *conn) SessionID() string { return "" }

// Read returns the next message for the server. The end of the input, as io.EOF or as what went wrong, is returned
// only after the calls in flight were answered or the grace period is over.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.incoming:
		return msg, nil
	case <-c.ended:
		return nil, c.endErr
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *conn) readLines() {
	lines := newLineReader(c.in, c.maxLine)
	for {
		line, tooLong, err := lines.next()
		var wrong error
		switch {
		case tooLong:
			wrong = c.refuse(&refusal{
				code:   jsonrpc.CodeInvalidRequest,
				reason: fmt.Sprintf("the line is longer than %d bytes: send a smaller message", c.maxLine),
			})
		case len(bytes.Trim(line, " \t\r")) > 0:
			wrong = c.accept(line)
		}
		if wrong != nil {
			err = wrong
		}
		if err != nil {
			c.inputEnded(err)
			return
		}
	}
}

// accept passes one line on or answers why not. An error means that the answer could not be written.
func (c *conn) accept(line []byte) error {
	msg, refused := decode(line)
	if refused != nil {
		return c.refuse(refused)
	}
	switch m := msg.(type) {
	case *jsonrpc.Response:
		c.calls.settle(m.ID)
	case *jsonrpc.Request:
		if !m.IsCall() {
			break
		}
		switch c.calls.admit(m) {
		case inUse:
			return c.refuse(&refusal{
				code:   jsonrpc.CodeInvalidRequest,
				reason: fmt.Sprintf("a call with the id %.80q is still running: give each call its own id", fmt.Sprint(m.ID.Raw())),
			})
		case stopping:
			id, err := json.Marshal(m.ID.Raw())
			if err != nil {
				return fmt.Errorf("encode id: %w", err)
			}
			return c.refuse(&refusal{code: codeStopping, id: id, reason: "the server is stopping: start it again and repeat the call"})
		}
	}
	c.deliver(msg)
	return nil
}

func (c *conn) deliver(msg jsonrpc.Message) {
	select {
	case c.incoming <- msg:
	case <-c.ended:
	case <-c.closed:
	}
}

func (c *conn) refuse(r *refusal) error {
	c.log.Warn("refused a line", "code", r.code, "reason", r.reason, "answered", !r.silent)
	if r.silent {
		return nil
	}
	// The id of a running call would end that call at the client.
	if id, err := decodeID(r.id); err == nil && id.IsValid() && c.calls.isRunning(id) {
		r.id = nil
	}
	line, err := encodeRefusal(r)
	if err != nil {
		return err
	}
	return c.writeLine(line)
}

// inputEnded tells handlers that wait for the client that no answer will come, and stops.
func (c *conn) inputEnded(err error) {
	select {
	case <-c.closed:
		err = io.EOF // what Close does to the input is no fault
	default:
	}
	waiting := c.calls.deafen()
	go func() {
		for _, id := range waiting {
			c.deliver(&jsonrpc.Response{ID: id, Error: errLeft})
		}
	}()
	c.stop(err)
}

// errLeft has the code that makes the SDK fail the one message and not the session.
var errLeft = &jsonrpc.Error{Code: codeRejected, Message: "the client has closed its side and cannot answer"}

// stop refuses new calls, waits until those in flight are answered, at most for the grace period, and lets Read end
// with err. A second call waits for the first.
func (c *conn) stop(err error) {
	c.stopOnce.Do(func() {
		endless := c.calls.stop()
		go func() {
			for _, id := range endless {
				params, err := json.Marshal(mcp.CancelledParams{RequestID: id.Raw(), Reason: "the server is stopping"})
				if err == nil {
					c.deliver(&jsonrpc.Request{Method: methodCancelled, Params: params})
				}
			}
		}()
		timer := time.NewTimer(c.grace)
		defer timer.Stop()
		select {
		case <-c.calls.idle:
		case <-c.closed:
		case <-timer.C:
			c.log.Warn("cancelling the calls in flight", "calls", c.calls.missing(), "after", c.grace)
		}
		c.endErr = err
		close(c.ended)
	})
}

// Write sends one message as one line. It is safe for concurrent use.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	response, isResponse := msg.(*jsonrpc.Response)
	if isResponse && c.calls.answering(response.ID) {
		defer c.calls.written()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if request, ok := msg.(*jsonrpc.Request); ok {
		if request.IsCall() && !c.calls.ask(request.ID) {
			return errLeft
		}
		c.noteCancelled(request)
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil && isResponse {
		c.log.Error("cannot encode a response", "error", err)
		line, err = jsonrpc.EncodeMessage(&jsonrpc.Response{ID: response.ID, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "internal error: the result could not be encoded",
		}})
	}
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	return c.writeLine(append(line, '\n'))
}

// noteCancelled forgets a call to the client that the server gives up: an answer may never come.
func (c *conn) noteCancelled(request *jsonrpc.Request) {
	if request.Method != methodCancelled {
		return
	}
	var params mcp.CancelledParams
	if json.Unmarshal(request.Params, &params) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(params.RequestID); err == nil {
		c.calls.settle(id)
	}
}

// writeLine writes the whole of line or fails for good.
func (c *conn) writeLine(line []byte) error {
	err := func() error {
		c.writeMu.Lock()
		defer c.writeMu.Unlock()
		if c.writeErr == nil && c.isClosed() {
			c.writeErr = io.ErrClosedPipe
		}
		if c.writeErr == nil {
			c.writeErr = writeAll(c.out, line)
			if c.writeErr != nil && !c.isClosed() {
				go c.stop(c.writeErr) // nothing can be answered any more
			}
		}
		return c.writeErr
	}()
	if c.isClosed() {
		_ = c.closeOut() // the answer is out or lost already
	}
	return err
}

// writeAll goes on after a short write, even if w reports none.
func writeAll(w io.Writer, b []byte) error {
	for len(b) > 0 {
		n, err := w.Write(b)
		if n < 0 || n > len(b) {
			return errors.New("write output: invalid count")
		}
		b = b[n:]
		if err != nil && (n == 0 || !errors.Is(err, io.ErrShortWrite)) {
			return fmt.Errorf("write output: %w", err)
		}
		if n == 0 {
			return fmt.Errorf("write output: %w", io.ErrShortWrite)
		}
	}
	return nil
}

// Close ends the connection without waiting for anything. A line that is being written is finished first, by its
// writer. It may be called often and concurrently.
func (c *conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.closeErr = errors.Join(ignoreClosed(c.in.Close()), c.closeOut())
	})
	return c.closeErr
}

// closeOut closes the output unless a line is being written; that writer then comes here.
func (c *conn) closeOut() error {
	if !c.writeMu.TryLock() {
		return nil
	}
	defer c.writeMu.Unlock()
	c.outOnce.Do(func() { c.outErr = ignoreClosed(c.out.Close()) })
	return c.outErr
}

func (c *conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// ignoreClosed drops the error of closing what is closed: input and output may be the same socket.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
