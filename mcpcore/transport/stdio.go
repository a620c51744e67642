package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	defaultMaxLine = 16 << 20
	defaultGrace   = 5 * time.Second
)

// StdioOptions configures a [Stdio]. The zero value serves the process's own stdin and stdout.
type StdioOptions struct {
	// In is read until its end and closed with the session. Close must unblock a Read in progress, or the goroutine
	// that reads stays behind. Nil means stdin, read through the runtime's poller where it is a pipe or a socket.
	In io.ReadCloser
	// Out receives whole lines and is closed with the session. Nil means stdout; a broken stdout is then an error of
	// the session and not the end of the process by SIGPIPE.
	Out io.WriteCloser
	// MaxLine is the longest line accepted, in bytes without its newline. A longer one is skipped, not buffered, and
	// answered with an error. Zero means 16 MiB; a negative value is an error of Connect.
	MaxLine int
	// Grace is how long running calls may go on after the input has ended or the server was told to stop. Then they
	// are cancelled. Zero means 5 s, a negative value no time at all.
	Grace time.Duration
	// Logger receives what was refused and why, never the content of a message. Nil discards. It must not write to
	// stdout.
	Logger *slog.Logger
}

// Stdio is an [mcp.Transport] of newline-delimited JSON that survives bad input and loses no answer when it ends.
// The package comment has the rules. Its zero value serves stdin and stdout. A Stdio carries one session.
type Stdio struct {
	opts StdioOptions

	mu   sync.Mutex
	conn *conn
}

var _ mcp.Transport = (*Stdio)(nil)

// NewStdio returns a transport with a copy of opts. Nothing is read before Connect.
func NewStdio(opts StdioOptions) *Stdio {
	return &Stdio{opts: opts}
}

// Connect starts reading. The SDK calls it; ctx is not used. A second call is an error.
func (t *Stdio) Connect(context.Context) (mcp.Connection, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil {
		return nil, errors.New("stdio transport is already connected: make one for each session")
	}
	opts := t.opts
	if opts.MaxLine < 0 {
		return nil, fmt.Errorf("stdio transport: MaxLine is %d: use 0 for the default", opts.MaxLine)
	}
	if opts.MaxLine == 0 {
		opts.MaxLine = defaultMaxLine
	}
	if opts.Grace == 0 {
		opts.Grace = defaultGrace
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.In == nil {
		opts.In = stdin()
	}
	if opts.Out == nil { // after stdin, which may share its file description and so its mode
		opts.Out = stdout()
	}
	t.conn = newConn(opts)
	return t.conn, nil
}

func (t *Stdio) connected() *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.conn
}
