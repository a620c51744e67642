package blueprint

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/guildwarden/guildwarden/internal/statekey"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Limits of a plan.
const (
	MaxToken      = 64 << 10
	maxPlan       = 512 << 10
	MaxOperations = 2048
)

// Target is what a plan is for.
type Target struct {
	Guild discord.GuildID `json:"guild_id"`
	Bot   discord.UserID  `json:"bot_id"`
}

// Policy is how a plan treats what it meets.
type Policy struct {
	Deletions  bool   `json:"deletions"`                  // false: nothing is ever deleted
	Ambiguous  string `json:"ambiguous_matches"`          // "block"
	Drift      string `json:"unbound_drift"`              // "block", or "update" for a plan that adopts
	GrantBot   bool   `json:"auto_grant_bot_permissions"` // false
	Managed    string `json:"managed_roles"`              // "immutable"
	Idempotent string `json:"publication_idempotency"`    // "marker_and_discord_nonce"
}

// Plan is what was planned, for one guild, one bot and one state of the guild.
type Plan struct {
	SchemaVersion string          `json:"schema_version"`
	PolicyVersion string          `json:"policy_version"`
	Target        Target          `json:"target"`
	BlueprintID   string          `json:"blueprint_id"`
	Blueprint     json.RawMessage `json:"blueprint"`
	Snapshot      string          `json:"initial_snapshot_id"`
	Bindings      Bindings        `json:"initial_bindings"`
	Operations    []Operation     `json:"initial_operations"`
	Policy        Policy          `json:"policy"`
	Trees         Trees           `json:"trees"` // for whoever decides

	id  string
	doc *Document
}

const (
	planVersion = "guild_blueprint_plan.v1"
	planPolicy  = "safe-reconcile.v1"
)

// Plan is the draft as a plan. A draft with blockers has none.
func (f *Draft) Plan() *Plan {
	p := &Plan{
		SchemaVersion: planVersion, PolicyVersion: planPolicy,
		Target:      Target{f.Guild.Settings.ID, f.Guild.Bot.ID},
		BlueprintID: f.Document.ID(), Blueprint: f.Document.JSON(),
		Snapshot: f.Guild.ID(), Bindings: f.Bindings, Operations: append([]Operation{}, f.Operations...),
		Policy: Policy{Ambiguous: "block", Drift: "block", Managed: "immutable", Idempotent: "marker_and_discord_nonce"},
		Trees:  f.Trees(),
		doc:    f.Document,
	}
	if f.adopt {
		p.Policy.Drift = "update"
	}
	p.id = digest(canonical(p))
	return p
}

// ID is the plan's digest, "sha256:" and 64 hex digits.
func (p *Plan) ID() string { return p.id }

// Document is the blueprint that the plan carries out.
func (p *Plan) Document() *Document { return p.doc }

// readPlan reads a plan's canonical JSON and demands that it is whole.
func readPlan(raw []byte) (*Plan, error) {
	p := &Plan{id: digest(raw)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	doc, issues := Parse(p.Blueprint)
	switch {
	case p.SchemaVersion != planVersion || p.PolicyVersion != planPolicy:
		return nil, errors.New("the plan is of another version")
	case issues != nil:
		return nil, fmt.Errorf("the plan's blueprint is not valid: %s %s", issues[0].Path, issues[0].Message)
	case doc.ID() != p.BlueprintID:
		return nil, errors.New("the plan's blueprint is another one")
	}
	p.doc = doc
	return p, nil
}

// Sealer authenticates what a caller or a store carries. Everything is bound to
// the principal who planned it.
type Sealer struct{ key []byte }

// NewSealer takes the operator's state key.
func NewSealer(secret []byte) (*Sealer, error) {
	key, err := statekey.Sub(secret, statekey.Blueprint)
	if err != nil {
		return nil, fmt.Errorf("seal plans: %w", err)
	}
	return &Sealer{key}, nil
}

func (s *Sealer) mac(label string, parts ...string) string {
	m := hmac.New(sha256.New, s.key)
	for _, p := range append([]string{label}, parts...) {
		_, _ = fmt.Fprintf(m, "%d:%s", len(p), p) // a hash takes everything
	}
	return hex.EncodeToString(m.Sum(nil))
}

// Approval is the id by which a plan is approved. It authorizes nothing by
// itself.
func (s *Sealer) Approval(p *Plan, principal string) string {
	return "sha256:" + s.mac("approval", principal, p.id)
}

// Ref is the short reference of a plan that a store keeps.
func (s *Sealer) Ref(p *Plan, principal string) string {
	return refPrefix + s.mac("reference", principal, p.id)
}

const (
	refPrefix   = "dmbpr1."
	tokenPrefix = "dmbp1."
)

// Why a token is no plan.
var (
	ErrTokenTooLarge = errors.New("the token is too large")
	ErrTokenInvalid  = errors.New("the token was not issued here for this caller, or was changed")
)

// Token is the plan as a text that needs no store. ErrTokenTooLarge for a plan
// that does not fit.
func (s *Sealer) Token(p *Plan, principal string) (string, error) {
	raw := canonical(p)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", fmt.Errorf("pack plan: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return "", fmt.Errorf("pack plan: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("pack plan: %w", err)
	}
	sum := strings.TrimPrefix(p.id, "sha256:")
	payload := base64.RawURLEncoding.EncodeToString(packed.Bytes())
	token := tokenPrefix + sum + "." + s.mac("token", principal, sum, payload) + "." + payload
	if len(token) > MaxToken || len(raw) > maxPlan {
		return "", ErrTokenTooLarge
	}
	return token, nil
}

// Open is the plan of a token.
func (s *Sealer) Open(token, principal string) (*Plan, error) {
	if len(token) > MaxToken {
		return nil, ErrTokenTooLarge
	}
	parts := strings.Split(strings.TrimPrefix(token, tokenPrefix), ".")
	if !strings.HasPrefix(token, tokenPrefix) || len(parts) != 3 || !hmac.Equal([]byte(parts[1]), []byte(s.mac("token", principal, parts[0], parts[2]))) {
		return nil, ErrTokenInvalid
	}
	packed, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, ErrTokenInvalid
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPlan+1))
	if err != nil || len(raw) > maxPlan {
		return nil, ErrTokenInvalid
	}
	p, err := readPlan(raw)
	if err != nil || p.id != "sha256:"+parts[0] {
		return nil, ErrTokenInvalid
	}
	return p, nil
}

// envelope is a record with its tag.
type envelope struct {
	Record json.RawMessage `json:"record"`
	Tag    string          `json:"auth_tag"`
}

var errTampered = errors.New("the record was changed, or is another caller's")

func (s *Sealer) wrap(kind, principal, name string, record any) json.RawMessage {
	raw := canonical(record)
	return canonical(envelope{raw, s.mac("record", kind, principal, name, string(raw))})
}

// unwrap is the record's canonical JSON.
func (s *Sealer) unwrap(kind, principal, name string, data []byte) (json.RawMessage, error) {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, errTampered
	}
	if !hmac.Equal([]byte(e.Tag), []byte(s.mac("record", kind, principal, name, string(e.Record)))) {
		return nil, errTampered
	}
	return e.Record, nil
}
