package mcpcore

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/internal/statekey"
)

// flowKeys key what the workflows of a server sign.
type flowKeys struct{ plan, request []byte }

// newFlowKeys derives them from the operator's secret; nil is a random one,
// which ends with the process.
func newFlowKeys(secret []byte) (k flowKeys, err error) {
	if secret == nil {
		secret = make([]byte, statekey.Min)
		rand.Read(secret) // never fails
	}
	if k.plan, err = statekey.Sub(secret, statekey.PlanDigest); err != nil {
		return k, err
	}
	k.request, err = statekey.Sub(secret, statekey.RequestTag)
	return k, err
}

func keyed(key, text []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// HashKey is an operation key as ledgers keep it.
func HashKey(key string) KeyHash {
	sum := sha256.Sum256([]byte("guildwarden operation key\x00" + key))
	return KeyHash("sha256:" + hex.EncodeToString(sum[:]))
}

// prepared is a plan with its digest.
type prepared struct {
	outline
	errand
	key    KeyHash
	row    []child
	done   int    // how many of them the key has completed
	broken string // the child that is not as it was completed; "" for none
	digest Digest
	facts  Facts // what a person sees of it
	made   time.Time
}

// prepare is the call's plan, made once: that which is reviewed.
func (c *Call) prepare(ctx context.Context) (*prepared, error) {
	if c.ready == nil {
		p, err := c.tool.flow().prepare(ctx, c)
		if err != nil {
			return nil, err
		}
		c.ready = p
	}
	return c.ready, nil
}

// prepare plans anew.
func (f *flow) prepare(ctx context.Context, c *Call) (*prepared, error) {
	e, err := f.bind(c)
	if err != nil {
		return nil, err
	}
	p := &prepared{errand: e, key: HashKey(c.Text(keyArg))}
	return p, f.renew(ctx, c, p)
}

// renew makes the plan again.
func (f *flow) renew(ctx context.Context, c *Call, p *prepared) error {
	if err := c.readChildren(ctx, f); err != nil {
		return err
	}
	o, err := p.errand.plan(ctx)
	if err != nil {
		return err
	}
	p.outline, p.made, p.row, p.done = o, c.deps.Clock().UTC(), p.children(), len(c.children)
	if p.broken = c.brokenChild(p.row); p.broken == "" {
		if err := checkRow(p.row, p.more); err != nil {
			return fmt.Errorf("the plan of %s: %w", f.name, err)
		}
	}
	if p.digest, err = p.sum(c, f); err != nil {
		return fmt.Errorf("encode the plan of %s: %w", f.name, err)
	}
	p.facts = p.show()
	return nil
}

// request is the caller's arguments with the key's hash in place of the key, and
// without the digest of a plan.
func (c *Call) request() map[string]any {
	r := make(map[string]any, len(c.args))
	for name, v := range c.args {
		r[name] = v
	}
	delete(r, planArg)
	r[keyArg] = string(HashKey(c.Text(keyArg)))
	return r
}

// sum is the keyed digest of the plan: of the request and who makes it, of the
// policy's bounds, and of everything that the change says but what is unbound.
func (p *prepared) sum(c *Call, f *flow) (Digest, error) {
	affected := make([]Affected, len(p.affected))
	for i, a := range p.affected {
		affected[i] = Affected{ID: a.ID, Action: a.Action}
	}
	limits := make(map[string]int, len(f.limits))
	for _, l := range f.limits {
		limits[l.Name] = c.Limit(l.Name)
	}
	material, err := canon.Marshal(struct {
		Version   int             `json:"version"`
		Workflow  string          `json:"workflow"`
		Identity  string          `json:"identity"`
		Principal string          `json:"principal"`
		Request   json.RawMessage `json:"request"`
		Limits    map[string]int  `json:"limits"`
		Action    string          `json:"action"`
		Current   bool            `json:"current"`
		State     any             `json:"state"`
		Affected  []Affected      `json:"affected"`
		Estimate  int             `json:"estimate"`
		Done      []KeyHash       `json:"done"`
		More      bool            `json:"more"`
		Broken    string          `json:"broken"`
		Facts     Facts           `json:"facts"`
		Pictures  []Picture       `json:"pictures,omitempty"`
		Warnings  []string        `json:"warnings"`
		Risks     []string        `json:"risks"`
	}{
		planVersion, f.name, c.deps.Identity, c.principal, compact(c.request()), limits,
		p.action, p.current, p.state, affected, p.estimate, slices.Sorted(maps.Keys(c.children)), p.more, p.broken, p.outline.facts, p.pictures, p.warnings, p.risks,
	})
	if err != nil {
		return "", err
	}
	return Digest("hmac-sha256:" + keyed(c.core.keys.plan, material)), nil
}

// tag binds the request, so that a receipt can be held against it later.
func (c *Call) tag(f *flow) Fingerprint {
	material := canon.Append(nil, []any{f.name, c.deps.Identity, c.request()})
	return Fingerprint(keyed(c.core.keys.request, material))
}

func (p *prepared) count() int {
	if p.estimate > 0 {
		return p.estimate
	}
	return len(p.affected)
}

// show is what a person sees of the plan, what is exact first.
func (p *prepared) show() Facts {
	facts := Facts{{"action", p.action}}
	if n := p.count(); n > 0 {
		facts = append(facts, Fact{"affects", strconv.Itoa(n)})
	}
	for i, a := range p.affected {
		if i == FirstShown {
			facts = append(facts, Fact{"and more", strconv.Itoa(len(p.affected) - FirstShown)})
			break
		}
		facts = append(facts, Fact{strconv.Itoa(i + 1), a.text()})
	}
	if p.done > 0 {
		facts = append(facts, Fact{"done before", strconv.Itoa(p.done)})
	}
	if p.more {
		facts = append(facts, Fact{"more", "is planned when this is done"})
	}
	facts = append(append(facts, p.outline.facts...), p.unbound...)
	for _, w := range p.warnings {
		facts = append(facts, Fact{"warning", w})
	}
	for _, r := range p.risks {
		facts = append(facts, Fact{"risk", r})
	}
	return append(facts, Fact{"operation key", string(p.key)}, Fact{"plan", string(p.digest)})
}

// text is one of what is hit, for people.
func (a Affected) text() string {
	text := a.ID
	if a.Action != "" {
		text = a.Action + " " + text
	}
	if a.Name != "" {
		text += " (" + a.Name + ")"
	}
	return text
}

// planVersion is the form of plans.
const planVersion = 1

// planHead is what every plan says.
type planHead struct {
	SchemaVersion int        `json:"schemaVersion"`
	Workflow      string     `json:"workflow"`
	Status        string     `json:"status" jsonschema:"planned or already-current"`
	CreatedAt     string     `json:"createdAt"`
	Digest        Digest     `json:"digest"`
	Key           KeyHash    `json:"operationKeyHash"`
	Action        string     `json:"action"`
	WriteRequired bool       `json:"writeRequired"`
	Count         int        `json:"affectedCount"`
	Affected      []Affected `json:"affected" jsonschema:"the first of them"`
	Done          int        `json:"done,omitempty" jsonschema:"how many parts of it this key has done before"`
	More          bool       `json:"more,omitempty" jsonschema:"there is more to do, which can be planned when this is done"`
	Targets       []string   `json:"targets"`
	Facts         Facts      `json:"facts"`
	Warnings      []string   `json:"warnings"`
	Risks         []string   `json:"risks"`
}

// Text is the plan for clients that show no structured content: what is ours
// first, then what others wrote, as data.
func (h planHead) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s\n\n- workflow: %s\n- digest: %s\n- operationKeyHash: %s\n- targets: %s\n",
		h.Status, h.Action, h.Workflow, h.Digest, h.Key, strings.Join(h.Targets, ", "))
	seen := Facts{}
	if h.Count > 0 {
		fmt.Fprintf(&b, "- affects: %d\n", h.Count)
		for i, a := range h.Affected {
			seen = append(seen, Fact{strconv.Itoa(i + 1), a.text()})
		}
	}
	for _, r := range h.Risks {
		fmt.Fprintf(&b, "- risk: %s\n", r)
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(&b, "- warning: %s\n", w)
	}
	if seen = append(seen, h.Facts...); len(seen) > 0 {
		b.WriteString("\n" + fence.Text(fence.Facts, seen.lines()) + "\n")
	}
	b.WriteString("\nThe whole plan is in the structured content.")
	return b.String()
}

// planView is a plan as agents see it.
type planView[State any] struct {
	planHead
	State State `json:"state"`
}

// The statuses of plans and of calls that need no write.
const (
	planMade       = "planned"
	alreadyCurrent = "already-current"
)

func (p *prepared) head(f *flow) planHead {
	h := planHead{
		SchemaVersion: planVersion, Workflow: f.name, Status: planMade, CreatedAt: p.made.Format(time.RFC3339),
		Digest: p.digest, Key: p.key, Action: p.action, WriteRequired: !p.current, Count: p.count(),
		Affected: p.affected[:min(len(p.affected), FirstShown)], Done: p.done, More: p.more, Targets: canonical(p.targets()),
		Facts: append(append(Facts{}, p.outline.facts...), p.unbound...), Warnings: p.warnings, Risks: p.risks,
	}
	if p.current {
		h.Status = alreadyCurrent
	}
	return h
}

// servePlan is the handler of the tool that plans.
func (f *flow) servePlan(ctx context.Context, c *Call) (*Result, error) {
	p, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if p.broken != "" {
		return nil, brokenPlan(p.broken)
	}
	return p.view(p.head(f))
}
