package mcpcore

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/statekey"
)

// state is what a call knows again when its client comes back with an answer.
// The client carries it, sealed.
type state struct {
	Question string          `json:"q"`
	Kind     QuestionKind    `json:"k"`
	Call     Fingerprint     `json:"c"` // of tool, principal and arguments
	Expires  int64           `json:"x"` // Unix milliseconds
	Keep     json.RawMessage `json:"s,omitempty"`
	TookMS   int64           `json:"d,omitempty"` // how long the call has run
	TraceID  []byte          `json:"t,omitempty"`
	SpanID   []byte          `json:"p,omitempty"`
	Sampled  bool            `json:"r,omitempty"`
}

// stateOf is the state of a call that asks.
func (c *Call) stateOf(q *Question) *state {
	lifetime := q.Lifetime
	if lifetime <= 0 {
		lifetime = answerIn
	}
	s := &state{
		Question: q.Name, Kind: q.kind(), Call: c.Fingerprint(ForQuestion), Keep: q.Keep,
		Expires: c.deps.Clock().Add(lifetime).UnixMilli(), TookMS: c.took().Milliseconds(),
	}
	if c.span.IsValid() {
		trace, span := c.span.TraceID(), c.span.SpanID()
		s.TraceID, s.SpanID, s.Sampled = trace[:], span[:], c.span.IsSampled()
	}
	return s
}

// took is how long the call has run, an earlier run included.
func (c *Call) took() time.Duration {
	_, before := c.Before()
	return before + time.Since(c.made)
}

// Before is what is known of the run of this call that asked its client: the
// span that the first layer started, if any, and how long it took. Both are zero
// for a call that asked nothing.
func (c *Call) Before() (span trace.SpanContext, took time.Duration) {
	if c.reply == nil || c.reply.state == nil {
		return trace.SpanContext{}, 0
	}
	s := c.reply.state
	cfg := trace.SpanContextConfig{Remote: true}
	if len(s.TraceID) == len(cfg.TraceID) && len(s.SpanID) == len(cfg.SpanID) {
		copy(cfg.TraceID[:], s.TraceID)
		copy(cfg.SpanID[:], s.SpanID)
		if s.Sampled {
			cfg.TraceFlags = trace.FlagsSampled
		}
	}
	return trace.NewSpanContext(cfg), time.Duration(s.TookMS) * time.Millisecond
}

// sealer seals states so that nobody else can read or make one. It is safe for
// concurrent use.
type sealer struct {
	aead cipher.AEAD
	now  func() time.Time
}

// newSealer makes one of the operator's secret; nil is a random one, which ends
// with the process.
func newSealer(secret []byte, now func() time.Time) (*sealer, error) {
	if secret == nil {
		secret = make([]byte, statekey.Min)
		rand.Read(secret) // never fails
	}
	key, err := statekey.Sub(secret, statekey.Question)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return &sealer{aead, now}, nil
}

func (s *sealer) close(st *state, t *Tool, principal string) (string, error) {
	plain, err := canon.Marshal(st)
	if err != nil {
		return "", fmt.Errorf("encode state: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, owner(t, principal))), nil
}

// open is nil when the text is no state of this tool and principal, or is too
// old.
func (s *sealer) open(text string, t *Tool, principal string) *state {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	plain, err := s.aead.Open(nil, nil, sealed, owner(t, principal))
	if err != nil {
		return nil
	}
	var st state
	if json.Unmarshal(plain, &st) != nil || s.now().UnixMilli() > st.Expires {
		return nil
	}
	return &st
}

func owner(t *Tool, principal string) []byte { return canon.Append(nil, []any{t.Name, principal}) }
