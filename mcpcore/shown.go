package mcpcore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/redact"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Shown is what somebody who decides about a call is shown of it, as a ledger
// keeps it for them. It follows from the call and its facts alone, so that two
// identical calls have the same. Texts in Facts, Pictures, Args, Sent and Steps come from
// callers and Discord: they are as they were written, secrets masked, and what
// draws them must keep them from passing for anything else.
type Shown struct {
	Question string `json:"question"` // as [ApprovalRequest.Question]

	Title       string          `json:"title,omitempty"` // of the tool, as are all up to Scope
	Category    string          `json:"category,omitempty"`
	Effect      string          `json:"effect,omitempty"` // of the call with its steps
	Gate        string          `json:"gate,omitempty"`
	Scope       string          `json:"scope,omitempty"`
	Permissions []string        `json:"permissions,omitempty"` // which the bot needs
	Routes      []string        `json:"routes,omitempty"`
	IDs         []ID            `json:"ids,omitempty"`
	Facts       Facts           `json:"facts,omitempty"`
	Pictures    []Picture       `json:"pictures,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"` // an object, long texts cut; nil when it is too much
	Sent        json.RawMessage `json:"sent,omitempty"` // what a [Payload] tool makes of them, where that is something else
	Risks       []string        `json:"risks,omitempty"`
	Steps       []ShownStep     `json:"steps,omitempty"` // that need a person, in their order
}

// ShownStep is a step of a call that is shown.
type ShownStep struct {
	Number int             `json:"number"` // among all steps, from 1
	Tool   string          `json:"tool"`
	Title  string          `json:"title,omitempty"`
	Effect string          `json:"effect"`
	IDs    []ID            `json:"ids,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// Bounds of what is shown: characters of one text, bytes of one tree.
const (
	maxShownText = 4000
	maxShownTree = 32 << 10
)

// ReadShown reads what [Proposal.Shown] holds of a call that waits for a person:
// also a text alone, which is the question.
func ReadShown(raw json.RawMessage) (s Shown, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' {
		err = json.Unmarshal(raw, &s.Question)
	} else if err = json.Unmarshal(raw, &s); err == nil && s.Question == "" {
		err = errors.New("there is no question")
	}
	if err != nil {
		return Shown{}, fmt.Errorf("read what is shown: %w", err)
	}
	return s, nil
}

// shown is what whoever decides is shown of the call. It changes given, which is a
// copy of its arguments without secrets.
func (c *Call) shown(ctx context.Context, question string, facts Facts, given map[string]any) (json.RawMessage, error) {
	t := c.tool
	pictures, err := c.pictures(ctx)
	if err != nil {
		return nil, err
	}
	needs, _ := c.Needs()
	s := Shown{
		Question: question, Title: t.Title, Category: t.Category, Effect: c.Effect().String(), Gate: t.EffectiveGate().String(), Scope: t.Scope.String(),
		Permissions: needs.Names(), Routes: t.Routes, IDs: c.idsIn(given), Facts: facts, Pictures: pictures,
	}
	s.IDs = s.IDs[:min(len(s.IDs), 2*shownOfLists)]
	if t.EffectiveGate() == Payload {
		r, err := c.review()
		if err != nil {
			return nil, err
		}
		s.Risks = r.risks
		if r.sent != nil {
			if tree, fault := args.Parse(r.sent); fault == nil {
				s.Sent = forEyes(redact.Secrets(tree))
			}
		}
	}
	if c.steps == nil {
		if t.flow() != nil {
			delete(given, keyArg) // stands in the facts as its hash, and is the caller's
		}
		s.Args = forEyes(given)
	}
	for i, step := range c.steps {
		if step.person() {
			of, tree := &step.bound.tool, step.shown(redact.Secrets)
			one := ShownStep{Number: i + 1, Tool: step.Tool, Title: cmp.Or(of.Title, of.Name), Effect: of.Effect.String()}
			for _, p := range of.impl.ids {
				one.IDs = p.find(one.IDs, tree, 0, "")
			}
			one.IDs = one.IDs[:min(len(one.IDs), shownOfLists)]
			one.Args = forEyes(tree)
			s.Steps = append(s.Steps, one)
		}
	}
	raw, err := canon.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode what is shown: %w", err)
	}
	return raw, nil
}

// forEyes is a tree with its long texts cut; nil for one that is long for
// another reason.
func forEyes(tree any) json.RawMessage {
	raw := compact(cutTexts(tree))
	if len(raw) > maxShownTree {
		return nil
	}
	return raw
}

// cutTexts changes the tree, which is a copy.
func cutTexts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = cutTexts(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = cutTexts(inner)
		}
	case string:
		if n := utf8.RuneCountInString(v); n > maxShownText {
			return fmt.Sprintf("%s… (%d characters more)", string([]rune(v)[:maxShownText]), n-maxShownText)
		}
	}
	return v
}

// Needs are the permissions that the call calls for. covered is false when the
// tool declares needs of arguments alone and none of them was given.
func (c *Call) Needs() (p discord.Permissions, covered bool) {
	covered = c.tool.Needs != 0 || len(c.tool.NeedsWhen) == 0
	exact := map[string]bool{} // arguments whose value an entry equals
	for _, n := range c.tool.NeedsWhen {
		if raw, given := c.Arg(n.Arg); given && n.Equals != "" && string(raw) == n.Equals {
			exact[n.Arg] = true
		}
	}
	p = c.tool.Needs
	for _, n := range c.tool.NeedsWhen {
		raw, given := c.Arg(n.Arg)
		switch {
		case !given, n.Unless != "" && string(raw) == n.Unless:
		case n.Equals == "" && exact[n.Arg], n.Equals != "" && string(raw) != n.Equals:
		default:
			p, covered = p|n.Permissions, true
		}
	}
	return p, covered
}
