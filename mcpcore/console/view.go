package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var idShape = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// request is a call that waits, as a page shows it.
type request struct {
	ID        string
	Seen      string // what the decision is about, to find out whether it was replaced
	Tool      string
	Title     string
	Principal string
	Issued    time.Time
	Expires   time.Time
	Left      int // seconds

	mcpcore.Shown
	Unreadable bool // it cannot be shown, so it cannot be decided
	Targets    []target
	Excerpts   []argument // the first texts, for a list
	Arguments  []argument
	Steps      []stepRow
	Message    *message
	Before     *message // what it replaces; nil for nothing, or nothing that is known
	Risks      []risk
}

// target is what an identifier names.
type target struct{ Path, Kind, ID, Name string }

// argument is one that is not an identifier.
type argument struct {
	Name  string
	Value string
	Text  bool   // it is a text, not JSON
	Now   string // how the target is now; "" when that is not known or the same
	Drawn bool   // it stands above as it will look
}

type stepRow struct {
	mcpcore.ShownStep
	Arguments []argument
	Message   *message
}

// risk is something to look at before deciding.
type risk struct {
	Text  string
	Grave bool
}

// brief is what a list shows.
func (c *Console) brief(a mcpcore.Approval) request {
	q := request{
		ID: string(a.ID), Tool: a.Tool, Title: a.Tool, Principal: a.Principal, Seen: seen(a),
		Issued: a.Issued.UTC(), Expires: a.Expires.UTC(), Left: int(a.Expires.Sub(c.o.Clock()).Seconds()),
	}
	var err error
	if q.Shown, err = mcpcore.ReadShown(a.Shown); err != nil {
		q.Unreadable = true
		return q
	}
	q.Title = cmp.Or(q.Shown.Title, a.Tool)
	ids := map[string]bool{}
	for _, id := range q.IDs {
		ids[id.Path] = true
		q.Targets = append(q.Targets, target{Path: id.Path, Kind: string(id.Kind), ID: id.Value})
	}
	for _, a := range arguments(q.Args, ids, nil, nil) {
		if a.Text && len(q.Excerpts) < 3 {
			q.Excerpts = append(q.Excerpts, a)
		}
	}
	return q
}

// whole is all that there is to see of a request.
func (c *Console) whole(ctx context.Context, a mcpcore.Approval) request {
	q := c.brief(a)
	if q.Unreadable {
		return q
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	for _, s := range q.Shown.Steps {
		for _, id := range s.IDs {
			id.Path = fmt.Sprintf("step %d: %s", s.Number, id.Path)
			q.IDs = append(q.IDs, id)
			q.Targets = append(q.Targets, target{Path: id.Path, Kind: string(id.Kind), ID: id.Value})
		}
	}
	text := q.written()
	for _, m := range mentioned(text) {
		q.IDs = append(q.IDs, m)
		q.Targets = append(q.Targets, target{Path: "mentions", Kind: string(m.Kind), ID: m.Value})
	}
	c.name(ctx, &q, false)
	var now map[string]json.RawMessage
	if c.o.Current != nil && len(q.IDs) > 0 && q.Effect != mcpcore.Read.String() {
		now = c.o.Current(ctx, Target{Tool: a.Tool, Routes: q.Routes, IDs: slices.Clone(q.IDs)})
	}
	payload := q.Sent
	if payload == nil {
		payload = q.Args
	}
	q.Message = drawn(payload)
	if now != nil && q.Message != nil {
		if old, err := json.Marshal(now); err == nil {
			q.Before = drawn(old)
		}
	}
	ids := map[string]bool{}
	for _, id := range q.IDs {
		ids[id.Path] = true
	}
	q.Arguments = arguments(q.Args, ids, now, q.Message)
	for _, s := range q.Shown.Steps {
		m, ids := drawn(s.Args), map[string]bool{}
		for _, id := range s.IDs {
			ids[id.Path] = true
		}
		q.Steps = append(q.Steps, stepRow{s, arguments(s.Args, ids, nil, m), m})
	}
	q.Risks = q.risks(text)
	return q
}

// seen tells one state of an approval from another that would be signed
// differently.
func seen(a mcpcore.Approval) string {
	sum := sha256.Sum256(signed(a, mcpcore.Decision{}))
	return hex.EncodeToString(sum[:])
}

func arguments(raw json.RawMessage, ids map[string]bool, now map[string]json.RawMessage, m *message) (all []argument) {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if ids[name] {
			continue
		}
		a := argument{Name: name, Drawn: m != nil && (name == "components" || name == "content")}
		a.Value, a.Text = value(args[name])
		if current, known := now[name]; known && !same(current, args[name]) {
			a.Now, _ = value(current)
			a.Now = cmp.Or(a.Now, "(empty)")
		}
		all = append(all, a)
	}
	return all
}

// value is JSON for people: a text as it is, all else on several lines.
func value(raw json.RawMessage) (s string, text bool) {
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s, true
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw), false
	}
	return b.String(), false
}

func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, _ := canon.Marshal(x)
	other, _ := canon.Marshal(y)
	return bytes.Equal(one, other)
}

// flags are the words for what tools point at.
var flags = map[string]string{
	"external_urls":              "It holds links to other sites.",
	"interactive_components":     "It holds buttons or menus; whatever answers them acts on what members press.",
	"component_count_near_limit": "It is nearly as large as Discord takes.",
	"edit_existing_message":      "It replaces what a message says now.",
	"allowed_mentions":           "It says itself who is notified: see allowed_mentions.",
}

var (
	everyone = regexp.MustCompile(`@(?:everyone|here)\b`)
	notified = regexp.MustCompile(`"parse":\[[^\]]*"everyone"`)
	links    = regexp.MustCompile(`(?i)https?://([^\s/<>"'()\\?#]{1,253})`)
)

// risks are what to look at: what the tool says, and what its texts show.
func (q *request) risks(text string) (all []risk) {
	all = []risk{}
	if q.Effect == mcpcore.Destroy.String() {
		all = append(all, risk{"It removes something for good, or shuts people out.", true})
	}
	if len(q.Shown.Steps) > 1 {
		all = append(all, risk{"It is several acts at once: one decision is about all of them.", false})
	}
	hosts := hostsOf(text)
	for _, f := range q.Shown.Risks {
		if f == "external_urls" && len(hosts) > 0 {
			continue // they are named below
		}
		all = append(all, risk{cmp.Or(flags[f], "The tool says: "+strings.ReplaceAll(f, "_", " ")+"."), false})
	}
	switch {
	case slices.ContainsFunc(q.trees(), func(raw json.RawMessage) bool { return notified.Match(raw) }):
		all = append(all, risk{"It may notify everyone.", true})
	case everyone.MatchString(text):
		all = append(all, risk{"A text holds @everyone or @here. It notifies nobody unless allowed_mentions says so.", false})
	}
	if strings.Contains(strings.Join(q.Permissions, " "), "ADMINISTRATOR") {
		all = append(all, risk{"The bot needs to be an administrator for it.", true})
	}
	if len(hosts) > 0 {
		all = append(all, risk{"Links lead to: " + strings.Join(hosts, ", ") + ".", false})
	}
	if q.Args == nil && len(q.Shown.Steps) == 0 {
		all = append(all, risk{"It is too much to be shown whole. The question below shows how each argument begins.", true})
	}
	if strings.Contains(text, " characters more)") {
		all = append(all, risk{"A text is longer than what is shown of it.", true})
	}
	if hides(text) {
		all = append(all, risk{"A text holds characters that are invisible or turn text around. They are shown by their codes.", true})
	}
	return all
}

// trees are all that the caller wrote, as JSON.
func (q *request) trees() []json.RawMessage {
	all := []json.RawMessage{q.Args, q.Sent}
	for _, s := range q.Shown.Steps {
		all = append(all, s.Args)
	}
	return all
}

// texts appends every text of a tree, names included, one a line.
func texts(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(name + "\n")
			texts(b, v[name])
		}
	case []any:
		for _, inner := range v {
			texts(b, inner)
		}
	case string:
		b.WriteString(v + "\n")
	}
}

// written is every text of the caller's.
func (q *request) written() string {
	var b strings.Builder
	for _, raw := range q.trees() {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			texts(&b, v)
		}
	}
	return b.String()
}

const maxMentions = 6

var mentions = regexp.MustCompile(`<(@!?|@&|#)([0-9]{17,20})>`)

// mentioned are whom and what texts mention.
func mentioned(text string) (all []mcpcore.ID) {
	kinds := map[string]discord.Kind{"@": discord.KindUser, "@!": discord.KindUser, "@&": discord.KindRole, "#": discord.KindChannel}
	for _, m := range mentions.FindAllStringSubmatch(text, -1) {
		id := mcpcore.ID{Path: "mentions." + m[2], Kind: kinds[m[1]], Value: m[2]}
		if !slices.Contains(all, id) && len(all) < maxMentions {
			all = append(all, id)
		}
	}
	return all
}

const maxHosts = 10

// hostsOf are the hosts of the links in a text.
func hostsOf(text string) (all []string) {
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		if host := oneLine(strings.ToLower(m[1]), 100); !slices.Contains(all, host) {
			if all = append(all, host); len(all) == maxHosts {
				return append(all, "and more")
			}
		}
	}
	return all
}
