package mcpcore

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is the other end of a call, as its request tells. A step of another call
// has none.
type client struct{ req *mcp.CallToolRequest }

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
// total, and a few words of ours. done must grow from call to call. A step of
// another call tells nothing: its parent does.
func (c *Call) Progress(ctx context.Context, done, total float64, words string) {
	if c.client == nil {
		return
	}
	token := c.client.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	// A client that is gone misses nothing.
	_ = c.client.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: done, Total: total, Message: words,
	})
}
