package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type ctx = context.Context

// evil are texts that would break out of a page, or look as if they had.
var evil = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</pre></dd></article><form action="https://evil.example">`,
	`{{.Form}}`, `javascript:alert(1)`, `</script><svg onload=alert(1)>`, "`${alert(1)}`", `<!--`, `]]>`, `&lt;script&gt;`, `</textarea></title></style>`,
}

// odd are characters that hide or turn text.
var odd = map[string]string{
	"\u202e": "U+202E", "\u2066": "U+2066", "\u200b": "U+200B", "\u200d": "U+200D", "\ufeff": "U+FEFF", "\u00ad": "U+00AD", "\u2028": "U+2028", "\u3164": "U+3164",
	"\x1b": "U+001B", "\x07": "U+0007", "\u0085": "U+0085", "\U000E0041": "U+E0041", "\u2800": "U+2800", "\u00a0": "U+00A0", "\r": "U+000D",
}

// TestTextsStayTexts puts each hostile text into every place that somebody else
// can write, and looks at every page.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	for i, text := range evil {
		args, err := json.Marshal(map[string]any{
			"content": text, text: text, "list": []any{text, map[string]any{text: text}}, "topic": text, "files": []any{map[string]any{"name": text}},
			"components": []any{
				map[string]any{"type": 17, "accent_color": 1, "components": []any{
					map[string]any{"type": 10, "content": "# " + text + "\n> " + text + "\n- **" + text + "** ||" + text + "|| `" + text + "`\n[" + text + "](https://x.example/" + text + ")\n```\n" + text + "\n```"},
					map[string]any{"type": 9, "components": []any{map[string]any{"type": 10, "content": text}}, "accessory": map[string]any{"type": 11, "media": map[string]any{"url": text}, "description": text}},
					map[string]any{"type": 12, "items": []any{map[string]any{"media": map[string]any{"url": text}, "description": text}}},
					map[string]any{"type": 13, "file": map[string]any{"url": text}},
					map[string]any{"type": 1, "components": []any{map[string]any{"type": 2, "style": 5, "label": text, "url": text, "emoji": map[string]any{"name": text}}, map[string]any{"type": 2, "style": 6, "sku_id": text}}},
					map[string]any{"type": 1, "components": []any{map[string]any{"type": 3, "placeholder": text, "custom_id": text, "options": []any{map[string]any{"label": text, "description": text}}}}},
					map[string]any{"type": 99, "label": text},
				}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		records := console.NewRecent(10)
		d := open(t, func(o *console.Options) {
			o.Records = records
			o.Names = func(ctx, []mcpcore.ID) map[string]string { return map[string]string{"channel_id": text} }
			o.Current = func(ctx, console.Target) map[string]json.RawMessage {
				raw, _ := json.Marshal(text + "!")
				return map[string]json.RawMessage{"topic": raw, "content": raw, "list": raw}
			}
		})
		e := mcpcore.AuditEvent{
			Phase: mcpcore.Outcome, Time: time.Now(), Tool: text, Principal: text, Status: text, ResultCode: mcpcore.Code(text), ApprovedBy: text, Effect: text, Args: args,
		}
		if err := records.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		shown := mcpcore.Shown{
			Question: "Really?\n" + text, Title: text, Category: text, Effect: "write", Gate: text, Scope: text, Permissions: []string{text}, Routes: []string{text},
			IDs: []mcpcore.ID{{Path: "channel_id", Kind: discord.KindChannel, Value: text}}, Facts: mcpcore.Facts{{Name: text, Value: text}}, Args: args, Risks: []string{text},
			Pictures: []mcpcore.Picture{{Title: text, Before: []mcpcore.Branch{{Name: text}}, After: []mcpcore.Branch{
				{Name: text, Kind: text, Mark: mcpcore.Mark(text), Notes: []string{text}, Inside: []mcpcore.Branch{{Name: text, Moved: true}}},
			}}},
			Steps: []mcpcore.ShownStep{{Number: 1, Tool: text, Title: text, Effect: text, Args: args}},
		}
		raw, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		propose := func(p mcpcore.Proposal) mcpcore.Approval {
			p.Purpose, p.Tool, p.Principal, p.Lifetime = mcpcore.ForPerson, text, text, mcpcore.MaxLifetime
			a, err := d.ledger.Propose(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		a := propose(mcpcore.Proposal{Fingerprint: "waits", Shown: raw})
		old := propose(mcpcore.Proposal{Fingerprint: "old", Shown: json.RawMessage(strconv.Quote(text))})
		gone := propose(mcpcore.Proposal{Fingerprint: "gone", Shown: raw})
		if err := d.ledger.Decide(t.Context(), gone.ID, mcpcore.Decision{By: text, Reason: text}); err != nil {
			t.Fatal(err)
		}
		v := d.signsIn()
		for _, path := range []string{"/console/", "/console/waiting", "/console/approvals/" + string(a.ID), "/console/approvals/" + string(old.ID), "/console/history",
			"/console/history?text=" + fmt.Sprintf("%q", text), "/console/?done=" + "%3Cscript%3E", "/console/approvals/%3Cscript%3E"} {
			got := v.get(path)
			if got.StatusCode >= 500 {
				t.Errorf("%d, %s: %s", i, path, got.Status)
			}
			harmless(t, fmt.Sprintf("%d, %s", i, path), got.text)
		}
	}
}

// harmless fails when a page holds an element or an attribute that none of ours
// has, or leads elsewhere.
func harmless(t *testing.T, where, page string) {
	t.Helper()
	const (
		elements = " html head meta title link script body a header svg path rect nav span form input button strong main p h1 h2 h3 div ul li code bdi time dl dt dd section pre details summary article label " +
			"em u s table thead tbody tr th td select option br "
		attributes = " lang charset name content rel href type src defer class id tabindex role method action value hidden aria-hidden aria-label aria-labelledby aria-current aria-describedby viewbox width height d " +
			"datetime title for maxlength autocomplete spellcheck autocapitalize required autofocus checked selected open scope formnovalidate preserveaspectratio fill " +
			"data-base data-id data-live data-status data-left data-request data-gone data-decision data-waiting data-count data-label "
	)
	seen := 0
	for z := nethtml.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case nethtml.ErrorToken:
			if seen < 20 && len(page) > 2000 {
				t.Errorf("%s has %d elements", where, seen)
			}
			return
		case nethtml.CommentToken:
			t.Errorf("%s holds a comment", where)
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			seen++
			token := z.Token()
			if !strings.Contains(elements, " "+token.Data+" ") {
				t.Errorf("%s holds %s", where, token)
			}
			for _, a := range token.Attr {
				leads := a.Key == "href" || a.Key == "src" || a.Key == "action"
				switch {
				case !strings.Contains(attributes, " "+a.Key+" "),
					leads && !strings.HasPrefix(a.Val, "/console") && a.Val != "#main",
					a.Key == "src" && a.Val != "/console/console.js":
					t.Errorf("%s holds %s", where, token)
				}
			}
			if token.Data == "script" {
				if z.Next(); len(strings.TrimSpace(string(z.Raw()))) > 0 && z.Token().Type == nethtml.TextToken {
					t.Errorf("%s holds a script of its own", where)
				}
			}
		}
	}
}

func TestNothingHidesOrTurnsText(t *testing.T) {
	t.Parallel()
	for c, code := range odd {
		d := open(t)
		text := "safe" + c + "text"
		args, err := json.Marshal(map[string]any{"content": text, "name": text})
		if err != nil {
			t.Fatal(err)
		}
		a := d.waits(mcpcore.Shown{Question: "Really? " + text, Title: "Send" + c, Effect: "write", Args: args, Facts: mcpcore.Facts{{Name: "name", Value: text}}})
		v := d.signsIn()
		for _, path := range []string{"/console/", "/console/approvals/" + string(a.ID)} {
			page := html.UnescapeString(v.get(path).text)
			if strings.Contains(page, c) && c != "\r" || !strings.Contains(page, code) {
				t.Errorf("%s: %s is not shown by its code", path, code)
			}
		}
		if page := v.get("/console/approvals/" + string(a.ID)).text; !strings.Contains(page, "invisible or turn text around") {
			t.Errorf("nobody is warned of %s", code)
		}
	}
	// What people write every day is not touched.
	d := open(t)
	text := "Grüße, שלום, 你好, naïve café 👍🏽 ❤️ — “fine”…"
	args, _ := json.Marshal(map[string]any{"name": text})
	a := d.waits(mcpcore.Shown{Effect: "write", Args: args})
	page := d.signsIn().get("/console/approvals/" + string(a.ID)).text
	if !strings.Contains(page, text) || strings.Contains(page, `class="odd"`) || strings.Contains(page, "invisible") {
		t.Errorf("%s", page)
	}
	// Accents by the dozen do not cover other lines.
	args, _ = json.Marshal(map[string]any{"name": "z" + strings.Repeat("\u0301", 40)})
	a = d.waits(mcpcore.Shown{Effect: "write", Args: args, Title: "zalgo"})
	if page = d.signsIn().get("/console/approvals/" + string(a.ID)).text; strings.Contains(page, strings.Repeat("\u0301", 5)) {
		t.Error("many accents stand on one letter")
	}
}

func TestAPageSaysWhatWillHappen(t *testing.T) {
	t.Parallel()
	d := open(t, func(o *console.Options) {
		o.Names = func(_ ctx, ids []mcpcore.ID) map[string]string {
			all := map[string]string{}
			for _, id := range ids {
				all[id.Path] = map[string]string{"1200000000000000313": "#general", "1200000000000000103": "saltwick"}[id.Value]
			}
			return all
		}
		o.Current = func(_ ctx, call console.Target) map[string]json.RawMessage {
			if call.Tool != "members_ban" || len(call.Routes) != 1 || call.IDs[0].Value != "1200000000000000313" {
				t.Errorf("asked about %+v", call)
			}
			return map[string]json.RawMessage{"topic": json.RawMessage(`"the old topic"`), "nsfw": json.RawMessage(`true`), "rate": json.RawMessage(`5`), "empty": json.RawMessage(`""`)}
		}
	})
	a := d.waits(mcpcore.Shown{
		Question: "Change a channel?", Title: "Change a channel", Effect: "destroy", Gate: "two-key", Permissions: []string{"MANAGE_CHANNELS", "ADMINISTRATOR"}, Routes: []string{"PATCH /channels/{channel_id}"},
		IDs: []mcpcore.ID{{Path: "channel_id", Kind: discord.KindChannel, Value: "1200000000000000313"}}, Facts: mcpcore.Facts{{Name: "members", Value: "1204"}},
		Args: json.RawMessage(`{"channel_id":"1200000000000000313","topic":"hi @everyone <@1200000000000000103> at https://evil.example:8443/x","nsfw":true,"rate":10,"empty":"full","allowed_mentions":{"parse":["everyone"]},"long":"x… (7 characters more)"}`),
	})
	page := d.signsIn().get("/console/approvals/" + string(a.ID)).text
	for _, want := range []string{
		"Change a channel", "members_ban", "stdio", "Destroys", "#general", "1200000000000000313", "1204", "the old topic", "(empty)", "10", "MANAGE_CHANNELS", "PATCH /channels/{channel_id}",
		"for good, or shuts", "may notify everyone", "administrator", "evil.example:8443", "saltwick", "longer than what is shown", "two keys", "data-left=\"900\"", string(a.ID),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("nothing about %q in\n%s", want, page)
		}
	}
	if strings.Count(page, ">now<") != 3 { // topic, rate, empty
		t.Errorf("%d arguments differ from now", strings.Count(page, ">now<"))
	}
}

func TestHistoryPassesAFilter(t *testing.T) {
	t.Parallel()
	records := console.NewRecent(3)
	d := open(t, func(o *console.Options) { o.Records = records })
	for i, e := range []mcpcore.AuditEvent{
		{Tool: "forgotten_tool"}, {Tool: "messages_send", Status: "success"}, {Tool: "members_kick", Status: "success", ApprovedBy: "ana"},
		{Tool: "channels_delete", Status: "tool_error", ResultCode: "MISSING_PERMISSIONS"},
	} {
		e.Phase, e.Time, e.RequestID, e.Principal, e.Args = mcpcore.Outcome, d.time().Add(time.Duration(i)*time.Second), fmt.Sprint(i), "eva", json.RawMessage(`{}`)
		intent := e
		intent.Phase, intent.Tool = mcpcore.Intent, "only_meant"
		for _, each := range []mcpcore.AuditEvent{intent, e} {
			if err := records.Record(t.Context(), each); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, verdict := range []bool{true, false} {
		a := d.waits(mcpcore.Shown{Question: fmt.Sprint(verdict)})
		decision, _ := d.approvers.Sign(d.ana, a, verdict, fmt.Sprintf("reason-%t", verdict))
		if err := d.ledger.Decide(t.Context(), a.ID, decision); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"messages_send", "members_kick", "channels_delete", "reason-true", "reason-false"}
	v := d.signsIn()
	for query, want := range map[string][]string{
		"":                                  all,
		"?only=approved":                    {"members_kick", "reason-true"},
		"?only=refused":                     {"reason-false"},
		"?only=failed":                      {"channels_delete"},
		"?text=KICK":                        {"members_kick"},
		"?text=missing_perm":                {"channels_delete"},
		"?text=members":                     {"members_kick", "reason-true", "reason-false"},
		"?text=ana&only=approved":           {"members_kick", "reason-true"},
		"?text=nobody":                      {},
		"?only=something%20else":            all,
		"?text=" + strings.Repeat("x", 500): {},
	} {
		got := v.get("/console/history" + query)
		for _, one := range append(all, "forgotten_tool", "only_meant") {
			if has, wants := strings.Contains(got.text, one), strings.Contains(strings.Join(want, " "), one); has != wants || got.StatusCode != http.StatusOK {
				t.Errorf("%s: %s stands there: %t, want %t (%s)", query, one, has, wants, got.Status)
			}
		}
	}
}

// TestContrast holds the colours of the sheet to WCAG 2.2 AA: 4.5 to 1 for text,
// 3 to 1 for what a control is known by.
func TestContrast(t *testing.T) {
	t.Parallel()
	sheet, err := os.ReadFile("page/console.css")
	if err != nil {
		t.Fatal(err)
	}
	_, dark, ok := strings.Cut(string(sheet), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there is no dark scheme")
	}
	light, _, _ := strings.Cut(string(sheet), "@media")
	dark, _, _ = strings.Cut(dark, "\n}")
	for scheme, rules := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(rules, -1) {
			colours[m[1]] = m[2]
		}
		if len(colours) < 30 {
			t.Fatalf("%s has %d colours", scheme, len(colours))
		}
		for least, pairs := range map[float64]string{
			4.5: "ink/page ink/card soft/page soft/card accent/page accent/card on-accent/accent on-good/good on-bad/bad on-good-soft/good-soft on-bad-soft/bad-soft on-note/note " +
				"on-said/said soft/said on-odd/odd on-msg/msg on-msg/msg-card msg-soft/msg msg-soft/msg-card on-blurple/blurple on-grey/grey on-mention/mention bad/card ink/said",
			3: "edge/card edge/page said-edge/said accent/page",
		} {
			for pair := range strings.SplitSeq(pairs, " ") {
				front, back, _ := strings.Cut(pair, "/")
				if got := contrast(t, colours[front], colours[back]); got < least {
					t.Errorf("%s: %s is %.2f to 1, needs %.1f", scheme, pair, got, least)
				}
			}
		}
	}
	// The rest of the sheet names colours, but for white on two buttons.
	_, rest, _ := strings.Cut(string(sheet), "*, ::before")
	for _, pair := range []string{"#ffffff/#1f7a3f", "#ffffff/#c2303a"} {
		front, back, _ := strings.Cut(pair, "/")
		if !strings.Contains(string(sheet), back) || contrast(t, front, back) < 4.5 {
			t.Errorf("%s", pair)
		}
		rest = strings.ReplaceAll(strings.ReplaceAll(rest, front, ""), back, "")
	}
	if stray := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`).FindString(rest); stray != "" {
		t.Errorf("%s is no property, so its contrast is not looked at", stray)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is WCAG's relative one.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatalf("%q is no colour", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestAPageShowsEveryStep(t *testing.T) {
	t.Parallel()
	d := open(t, func(o *console.Options) {
		o.Names = func(_ ctx, ids []mcpcore.ID) map[string]string {
			return map[string]string{"step 2: channel_id": "#" + ids[0].Value}
		}
	})
	a := d.waits(mcpcore.Shown{Title: "Run several tools", Effect: "destroy", Steps: []mcpcore.ShownStep{
		{Number: 2, Tool: "channels_delete", Title: "Delete a channel", Effect: "destroy", IDs: []mcpcore.ID{{Path: "channel_id", Kind: discord.KindChannel, Value: "1200000000000000316"}}, Args: json.RawMessage(`{"channel_id":"1200000000000000316"}`)},
		{Number: 3, Tool: "messages_send", Title: "Send a message", Effect: "write", Args: json.RawMessage(`{"content":"# goodbye"}`)},
	}})
	page := d.signsIn().get("/console/approvals/" + string(a.ID)).text
	for _, want := range []string{"Step 2: Delete a channel", "Step 3: Send a message", "step 2: channel_id", "#1200000000000000316", `<p class="h1">`, "several acts at once", "for good, or shuts"} {
		if !strings.Contains(page, want) {
			t.Errorf("nothing about %q in\n%s", want, page)
		}
	}
}
