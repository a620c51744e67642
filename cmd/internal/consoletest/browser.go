package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browser is a person's browser. Whatever it loads from elsewhere than the
// console fails the test.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in it

	mu     sync.Mutex
	loaded []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: there is no chromium in PATH, so nobody has looked at the console with a browser; on Debian: apt-get install chromium")
	}
	b := &browser{t: t}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)...)
	t.Cleanup(end)
	b.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.loaded = append(b.loaded, e.Request.URL)
		}
	}))
	t.Cleanup(cancel)
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v; the page is:\n%s", err, b.text("body"))
	}
}

// text is what a person reads in the first element that matches.
func (b *browser) text(selector string) string {
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector)))
	if err != nil {
		return err.Error()
	}
	return s
}

// until waits for an expression to be true, also on a page that comes meanwhile.
func (b *browser) until(expression string) {
	b.t.Helper()
	late, again := time.After(20*time.Second), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		if done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); done && err == nil {
			return
		}
		select {
		case <-again.C:
		case <-late:
			b.t.Fatalf("%s is not so; the page is:\n%s", expression, b.text("body"))
		}
	}
}

// follows clicks what leads to another page, and waits for that.
func (b *browser) follows(selector string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`window.old = true`))
	b.do(chromedp.Click(chromedp.CSS(selector)))
	b.until(`!window.old && document.readyState === "complete"`)
}

// look takes pictures of a page at two widths and in both schemes, into the
// folder that GUILDWARDEN_SCREENSHOTS names, and finds what does not fit.
func (b *browser) look(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 844), func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
				_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				return v, err
			})
			wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
			if err != nil || int64(wide) > width {
				b.t.Errorf("%s is %d pixels wide on a screen of %d (%v)", name, wide, width, err)
			}
			if dir := os.Getenv("GUILDWARDEN_SCREENSHOTS"); dir != "" {
				shot, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), shot, 0o600)
				}
				if err != nil {
					b.t.Fatal(err)
				}
			}
		}
	}
	b.names(name)
}

// names finds controls without a name, ids that stand twice, and headings that
// skip a level.
func (b *browser) names(page string) {
	b.t.Helper()
	faults, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`(() => {
		const faults = [], seen = new Set();
		for (const el of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")) {
			const label = el.labels?.[0]?.innerText || el.getAttribute("aria-label") || el.innerText;
			if (!label || !label.trim()) faults.push("no name: " + el.outerHTML.slice(0, 120));
		}
		for (const el of document.querySelectorAll("[id]")) {
			if (seen.has(el.id)) faults.push("twice: #" + el.id);
			seen.add(el.id);
		}
		for (const el of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
			for (const id of (el.getAttribute("aria-labelledby") || el.getAttribute("aria-describedby")).split(" "))
				if (!document.getElementById(id)) faults.push("points nowhere: " + id);
		let last = 0;
		for (const h of document.querySelectorAll("h1, h2, h3")) {
			const level = Number(h.tagName[1]);
			if (level > last + 1) faults.push("skips a level: " + h.innerText);
			last = level;
		}
		if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
		if (!document.documentElement.lang || !document.title) faults.push("no language or title");
		return faults;
	})()`))
	if err != nil || len(faults) > 0 {
		b.t.Errorf("%s: %v %q", page, err, faults)
	}
}

// stayed fails when anything was loaded from elsewhere.
func (b *browser) stayed(at *url.URL) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.loaded) < 5 {
		b.t.Errorf("only %q is known to have been loaded", b.loaded)
	}
	for _, l := range b.loaded {
		u, err := url.Parse(l)
		if err != nil || u.Host != at.Host || !strings.HasPrefix(u.Path, at.Path) {
			b.t.Errorf("loaded %s", l)
		}
	}
}

// caller is an agent at a process.
type caller struct {
	*process
	calls int
}

func (c *caller) call(tool string, args map[string]any) (code string, fields map[string]any) {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	c.calls++
	c.send(call(fmt.Sprint(c.calls), tool, string(raw)))
	var result struct {
		Structured map[string]any `json:"structuredContent"`
	}
	if m := c.next(); m.Error != nil || json.Unmarshal(m.Result, &result) != nil {
		c.t.Fatalf("%s: %+v %s", tool, m.Error, m.Result)
	}
	code, _ = result.Structured["code"].(string)
	return code, result.Structured
}

var (
	consoleLine = regexp.MustCompile(`approval console: (http://\S+)\n`)
	tokenLine   = regexp.MustCompile(`token for this run[^\n]*: (gwa_[a-z2-7]+)\n`)
)

// consoles is a server in the sandbox with a console, and what it prints for
// its operator.
func consoles(t *testing.T, env ...string) (c *caller, at *url.URL, token string) {
	t.Helper()
	p := serve(t, append([]string{"MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=writes", "MCP_AUDIT_SINK=none"}, env...), "serve", "--sandbox", "--console", "127.0.0.1:0")
	p.handshake()
	where, said := consoleLine.FindStringSubmatch(p.stderr()), tokenLine.FindStringSubmatch(p.stderr())
	if where == nil || said == nil {
		t.Fatalf("stderr:\n%s", p.stderr())
	}
	at, err := url.Parse(where[1])
	if err != nil {
		t.Fatal(err)
	}
	return &caller{process: p}, at, said[1]
}

// season is a layout with a bit of everything.
var season = []any{map[string]any{"type": 17, "accent_color": 0x5865F2, "components": []any{
	map[string]any{"type": 10, "content": "# Season 4 starts tonight\nDoors open at **20:00 UTC**. Bring a *friend*, read the [rules](https://lighthouse.example/rules) and greet <@1200000000000000103>."},
	map[string]any{"type": 14, "divider": true, "spacing": 2},
	map[string]any{"type": 9, "components": []any{
		map[string]any{"type": 10, "content": "### Map: Harbour\n-# by the art team"},
		map[string]any{"type": 10, "content": "- three new islands\n- fog at night\n> Watch the rocks."},
	}, "accessory": map[string]any{"type": 11, "media": map[string]any{"url": "https://cdn.lighthouse.example/maps/harbour.png"}, "description": "The new harbour"}},
	map[string]any{"type": 12, "items": []any{
		map[string]any{"media": map[string]any{"url": "https://cdn.lighthouse.example/dawn.png"}, "description": "Dawn"},
		map[string]any{"media": map[string]any{"url": "https://cdn.lighthouse.example/dusk.png"}, "spoiler": true},
	}},
	map[string]any{"type": 1, "components": []any{
		map[string]any{"type": 2, "style": 3, "label": "Join", "custom_id": "season4_join"},
		map[string]any{"type": 2, "style": 2, "label": "Remind me", "custom_id": "season4_remind"},
		map[string]any{"type": 2, "style": 4, "label": "Leave", "custom_id": "season4_leave"},
		map[string]any{"type": 2, "style": 5, "label": "Patch notes", "url": "https://lighthouse.example/notes"},
	}},
	map[string]any{"type": 1, "components": []any{
		map[string]any{"type": 3, "custom_id": "season4_team", "placeholder": "Choose a team", "options": []any{
			map[string]any{"label": "North", "value": "n", "description": "the cold one"}, map[string]any{"label": "South", "value": "s"},
		}},
	}},
}}}

// TestAPersonDecidesInABrowser is all of it as people use it: an agent asks, a
// person looks, approves and refuses, and the agent's calls go as they said.
func TestAPersonDecidesInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	agent, at, token := consoles(t)
	b.do(chromedp.Navigate(at.String() + "/"))
	b.look("signin")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "gwa_"+strings.Repeat("a", 51)+"q"))
	b.follows("main button")
	if got := b.text("[role=alert]"); !strings.Contains(got, "nobody") {
		t.Errorf("a wrong token: %q", got)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), token))
	b.follows("main button")
	b.until(`document.querySelector("#waiting").innerText.includes("Nothing waits")`)
	b.look("empty")

	// What an agent asks shows by itself.
	send := map[string]any{"channel_id": general, "components": season}
	code, preview := agent.call("components_v2_send", send)
	if code != "PAYLOAD_CONFIRMATION_REQUIRED" {
		t.Fatalf("%s %v", code, preview)
	}
	send["__confirm"], send["__confirm_hash"], send["__confirm_id"] = true, preview["payload_hash"], preview["approval_id"]
	if code, fields := agent.call("components_v2_send", send); code != "HUMAN_APPROVAL_PENDING" || fields["where"] != at.String() {
		t.Fatalf("%s %v", code, fields)
	}
	b.until(`document.querySelector("#waiting").innerText.includes("Send a Components V2 message") && document.title.startsWith("(1)")`)
	modify := map[string]any{"channel_id": general, "name": "general-chat", "topic": "Everything else. \u202e gnp.txt"}
	if code, fields := agent.call("channels_modify", modify); code != "HUMAN_APPROVAL_PENDING" {
		t.Fatalf("%s %v", code, fields)
	}
	ban := map[string]any{"guild_id": "1200000000000000001", "user_id": "1200000000000000105", "delete_message_seconds": 3600, "audit_reason": "spam", "__confirm": true}
	if code, fields := agent.call("members_ban", ban); code != "HUMAN_APPROVAL_PENDING" {
		t.Fatalf("%s %v", code, fields)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#waiting h2 a").focus()`))
	b.until(`document.querySelectorAll("#waiting li.request").length === 3`)
	b.until(`document.activeElement.innerText === "Send a Components V2 message"`) // what comes takes no focus
	b.look("waiting")

	// The message stands there as it will look.
	b.follows(`#waiting li:nth-child(1) h2 a`)
	drawn := b.text(".message")
	for _, want := range []string{"Season 4 starts tonight", "rules → https://lighthouse.example/rules", "Map: Harbour", "Watch the rocks.", "cdn.lighthouse.example/maps/harbour.png",
		"Join", "answers to season4_join", "leads to https://lighthouse.example/notes", "Choose a team", "North · the cold one"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the message is drawn without %q:\n%s", want, drawn)
		}
	}
	for _, want := range []string{"#general", "lighthouse.example", "SEND_MESSAGES", "stdio"} {
		if got := b.text("main"); !strings.Contains(got, want) {
			t.Errorf("nothing about %q in\n%s", want, got)
		}
	}
	b.look("components")
	b.do(chromedp.SendKeys(chromedp.CSS("#reason"), "looks right"))
	b.follows("button.approve")
	if got := b.text("[role=status].said-done"); !strings.Contains(got, "Approved") {
		t.Errorf("after the approval: %q", got)
	}
	if code, fields := agent.call("components_v2_send", send); code != "" || fields["message_id"] == nil {
		t.Errorf("the approved call does not act: %s %v", code, fields)
	}
	if code, _ := agent.call("components_v2_send", send); code == "" {
		t.Error("one approval serves two calls")
	}

	// Now against then.
	b.follows(`#waiting a[href*="/approvals/"]`)
	page := b.text("main")
	for _, want := range []string{"Change a channel", "general-chat", "U+202E", "invisible"} {
		if !strings.Contains(page, want) {
			t.Errorf("nothing about %q in\n%s", want, page)
		}
	}
	b.look("change")
	b.do(chromedp.SendKeys(chromedp.CSS("#reason"), "keep the name"))
	b.follows("button.refuse")
	if code, fields := agent.call("channels_modify", modify); code != "HUMAN_APPROVAL_REFUSED" || fields["refused_by"] != "sandbox" || fields["reason"] != "keep the name" {
		t.Errorf("after the refusal: %s %v", code, fields)
	}

	// What destroys needs one click more.
	b.follows(`#waiting a[href*="/approvals/"]`)
	b.look("ban")
	b.do(chromedp.Click(chromedp.CSS("button.approve")))
	if got := b.text("h1"); got != "Ban a user" {
		t.Errorf("it was sent without the check: %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS("input[name=read]")))
	b.follows("button.approve")
	if code, fields := agent.call("members_ban", ban); code != "" {
		t.Errorf("the approved ban does not act: %s %v", code, fields)
	}

	b.do(chromedp.Navigate(at.String() + "/history"))
	for _, want := range []string{"approved", "refused", "keep the name", "members_ban", "sandbox", "done"} {
		if got := b.text("main"); !strings.Contains(got, want) {
			t.Errorf("the history has nothing about %q:\n%s", want, got)
		}
	}
	b.look("history")
	b.follows(".who button")
	b.until(`location.pathname.endsWith("/signin")`)
	b.stayed(at)

	_ = agent.in.Close()
	if e := agent.wait(); e.status != 0 {
		t.Errorf("it ends with %d:\n%s", e.status, e.stderr)
	}
}
