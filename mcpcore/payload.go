package mcpcore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// PayloadReview is what an approval of a [Payload] tool's call binds, and what
// is shown of it before. Its values are encoded as JSON and must encode the
// same way each time.
type PayloadReview struct {
	Target    any      // what is written to, by ids: bound and shown; nil for none
	Sent      any      // what will be sent, its target included: bound by the hash; nil for the arguments
	Shown     any      // Sent as it may be shown and stored; nil for the redacted arguments
	RiskFlags []string // what to look at before approving
	Details   []Detail // what else is shown
}

// Detail is one thing shown of a payload, without private texts.
type Detail struct {
	Name  string
	Value any
}

// review is a call's payload as it is bound and shown.
type review struct {
	hash    Fingerprint // of what will be sent
	bound   Fingerprint // of all that the approval is for
	preview map[string]any
	risks   []string
	sent    json.RawMessage // nil for the arguments
}

// review asks the tool about the payload and binds it: tool, principal, bot,
// target and the exact bytes.
func (c *Call) review() (*review, error) {
	var p PayloadReview
	if c.tool.Payload != nil {
		var err error
		if p, err = c.tool.Payload(c); err != nil {
			return nil, err
		}
	}
	sent, shown := c.raw, c.Preview()
	target, err := canon.Marshal(p.Target)
	if err == nil && p.Sent != nil {
		sent, err = canon.Marshal(p.Sent)
	}
	if err == nil && p.Shown != nil {
		shown, err = canon.Marshal(p.Shown)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the payload of %s: %w", c.tool.Name, err)
	}
	r := &review{hash: fingerprintOf(sent), risks: append([]string{}, p.RiskFlags...)}
	r.bound = c.bind(ForPayload, target, []byte(r.hash))
	r.preview = map[string]any{"tool": c.tool.Name, "payload_hash": r.hash, "payload": shown, "risk_flags": r.risks}
	if p.Sent != nil {
		r.sent = sent
	}
	if p.Target != nil {
		r.preview["target"] = json.RawMessage(target)
	}
	for _, d := range p.Details {
		r.preview[d.Name] = d.Value
	}
	return r, nil
}

// shown is the preview with more beside it.
func (r *review) shown(more map[string]any) (json.RawMessage, error) {
	all := maps.Clone(r.preview)
	maps.Copy(all, more)
	return canon.Marshal(all)
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// approvePayload is the payload gate: the server is armed, the call confirmed,
// and hash and id are those that a preview of exactly this payload issued.
func (c *Call) approvePayload(ctx context.Context) error {
	r, err := c.review()
	if err != nil {
		return err
	}
	hash, id := c.Authorization("__confirm_hash"), ApprovalID(c.Authorization("__confirm_id"))
	switch {
	case !c.deps.Armed:
		return c.propose(ctx, r, (&Error{Code: CodePayloadRequired, Detail: "this server is not armed, so it only previews"}).
			WithHint("The operator arms the server by starting it with MCP_DRY_RUN=false. %s", CodePayloadRequired.Hint()))
	case !c.Confirmed() || hash == "":
		return c.propose(ctx, r, &Error{Code: CodePayloadRequired, Detail: "this exact payload must be approved first"})
	case hash != string(r.hash):
		if !hashForm.MatchString(hash) {
			hash = "[invalid]"
		}
		return c.propose(ctx, r, (&Error{Code: CodePayloadMismatch, Detail: "the hash is not that of this payload"}).With("received_hash", hash))
	case id == "":
		return c.propose(ctx, r, &Error{Code: CodePayloadRequired, Detail: "the approval's id is missing"})
	}
	return c.pledge(ctx, ForPayload, id, r.bound)
}

// propose issues an approval and puts it into the refusal.
func (c *Call) propose(ctx context.Context, r *review, e *Error) error {
	a, err := c.issue(ctx, Proposal{Purpose: ForPayload, Fingerprint: r.bound})
	if err != nil {
		return err
	}
	approval := map[string]any{"approval_id": a.ID, "approval_expires_at": a.Expires.UTC().Format(time.RFC3339)}
	preview, err := r.shown(approval)
	if err != nil {
		return fmt.Errorf("encode the preview of %s: %w", c.tool.Name, err)
	}
	if facts, _ := c.Facts(ctx); len(facts) > 0 { // read before the approval was issued
		e.With("facts", facts)
	}
	for name, value := range approval {
		e.With(name, value)
	}
	return e.With("tool", c.tool.Name).With("payload_hash", r.hash).With("risk_flags", r.risks).With("preview", preview)
}
