package mcpcore

import (
	"context"
	"regexp"
	"time"
)

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// approvePayload is the payload gate: the server is armed, the call confirmed,
// and hash and id are those that a preview of exactly these arguments issued.
func (c *Call) approvePayload(ctx context.Context) error {
	want := c.Fingerprint(ForPayload)
	hash, id := c.Authorization("__confirm_hash"), ApprovalID(c.Authorization("__confirm_id"))
	switch {
	case !c.deps.Armed:
		return c.propose(ctx, want, (&Error{Code: CodePayloadRequired, Detail: "this server is not armed, so it only previews"}).
			WithHint("The operator arms the server by starting it with MCP_DRY_RUN=false. %s", CodePayloadRequired.Hint()))
	case !c.Confirmed() || hash == "":
		return c.propose(ctx, want, &Error{Code: CodePayloadRequired, Detail: "this exact payload must be approved first"})
	case hash != string(want):
		if !hashForm.MatchString(hash) {
			hash = "[invalid]"
		}
		return c.propose(ctx, want, (&Error{Code: CodePayloadMismatch, Detail: "the hash is not that of this payload"}).With("received_hash", hash))
	case id == "":
		return c.propose(ctx, want, &Error{Code: CodePayloadRequired, Detail: "the approval's id is missing"})
	}
	return c.Pledge(ctx, ForPayload, id)
}

// propose issues an approval and puts it into the refusal.
func (c *Call) propose(ctx context.Context, f Fingerprint, e *Error) error {
	a, err := c.Propose(ctx, Proposal{Purpose: ForPayload})
	if err != nil {
		return err
	}
	if facts, _ := c.Facts(ctx); len(facts) > 0 { // read before the approval was issued
		e.With("facts", facts)
	}
	return e.With("tool", c.tool.Name).With("payload_hash", f).With("approval_id", a.ID).
		With("approval_expires_at", a.Expires.UTC().Format(time.RFC3339)).With("preview", c.Preview())
}
