package mcpcore

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is the other end of a call. A step of another call has none.
type client struct {
	session *mcp.ServerSession
	asks    map[QuestionKind]bool
	rounds  bool // it makes the call again with its answer, instead of being asked in between
	token   any  // of its progress notifications; nil when it wants none
}

// multiRound is the protocol version from which on clients are asked in the
// answer to their call. A session without a handshake speaks it or a later one.
const multiRound = "2026-07-28"

func clientOf(req *mcp.CallToolRequest) *client {
	c := &client{session: req.Session, token: req.Params.GetProgressToken(), rounds: true, asks: map[QuestionKind]bool{}}
	if p := req.Session.InitializeParams(); p != nil {
		c.rounds = p.ProtocolVersion >= multiRound
	}
	caps := req.ClientCapabilities()
	if caps == nil {
		return c
	}
	c.asks[Sampling] = caps.Sampling != nil //nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
	if e := caps.Elicitation; e != nil {
		c.asks[Elicitation] = e.Form != nil || e.URL == nil // neither is an older client, which means forms
	}
	return c
}

func (c *client) can(kind QuestionKind) bool { return c != nil && c.asks[kind] }

// Progress tells the client how far the call is, if it wants to know: done of
// total, and a few words of ours. done must grow from call to call. A step of
// another call tells nothing: its parent does.
func (c *Call) Progress(ctx context.Context, done, total float64, words string) {
	if c.client == nil || c.client.token == nil {
		return
	}
	// A client that is gone misses nothing.
	_ = c.client.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: c.client.token, Progress: done, Total: total, Message: words,
	})
}
