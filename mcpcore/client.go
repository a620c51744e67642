package mcpcore

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is the other end of a call, as its request tells. A step of another call
// has none.
type client struct {
	req *mcp.CallToolRequest

	mu   sync.Mutex
	told bool
	done float64 // what was told last
}

// multiRound is the protocol version from which on clients are asked in the
// answer to their call. A session without a handshake speaks it or a later one.
const multiRound = "2026-07-28"

// rounds reports whether the client makes the call again with its answer, instead
// of being asked in between.
func (c *client) rounds() bool {
	p := c.req.Session.InitializeParams()
	return p == nil || p.ProtocolVersion >= multiRound
}

func (c *client) can(kind QuestionKind) bool {
	if c == nil {
		return false
	}
	caps := c.req.ClientCapabilities()
	switch {
	case caps == nil:
	case kind == Sampling:
		return caps.Sampling != nil //nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
	case kind == Elicitation && caps.Elicitation != nil:
		return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // neither is an older client, which means forms
	}
	return false
}

// Progress tells the client how far the call is, if it wants to know: done of
// total, which is 0 where it is not known, and a few words of ours. What is no
// further than was told before is not told: progress only grows. A step of
// another call tells nothing: its parent does. It is safe for concurrent use.
func (c *Call) Progress(ctx context.Context, done, total float64, words string) {
	if c.client == nil {
		return
	}
	token := c.client.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	c.client.mu.Lock()
	defer c.client.mu.Unlock()
	if c.client.told && done <= c.client.done {
		return
	}
	c.client.told, c.client.done = true, done
	// A client that is gone misses nothing.
	_ = c.client.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: done, Total: total, Message: words,
	})
}
