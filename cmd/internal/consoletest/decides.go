package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

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

// Call is a call of an agent: what it answers, and its code when it failed.
type Call func(tool string, args map[string]any) (code string, fields map[string]any)

// PersonDecides is all of it as people use it, on a server in the sandbox of which
// a person must approve every write: an agent asks, a person looks, approves and
// refuses, and the agent's calls go as they said. caller is as whom the agent
// calls. Without Chromium the test is left out, before begin begins.
func PersonDecides(t *testing.T, caller string, begin func() (call Call, at *url.URL, token string)) {
	t.Helper()
	b := newBrowser(t)
	call, at, token := begin()
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
	send := map[string]any{"channel_id": string(sandbox.DemoGeneral), "components": season}
	code, preview := call("components_v2_send", send)
	if code != "PAYLOAD_CONFIRMATION_REQUIRED" {
		t.Fatalf("%s %v", code, preview)
	}
	send["__confirm"], send["__confirm_hash"], send["__confirm_id"] = true, preview["payload_hash"], preview["approval_id"]
	if code, fields := call("components_v2_send", send); code != "HUMAN_APPROVAL_PENDING" || fields["where"] != at.String() {
		t.Fatalf("%s %v", code, fields)
	}
	b.until(`document.querySelector("#waiting").innerText.includes("Send a Components V2 message") && document.title.startsWith("(1)")`)
	modify := map[string]any{"channel_id": string(sandbox.DemoGeneral), "name": "general-chat", "topic": "Everything else. \u202e gnp.txt"}
	if code, fields := call("channels_modify", modify); code != "HUMAN_APPROVAL_PENDING" {
		t.Fatalf("%s %v", code, fields)
	}
	ban := map[string]any{"guild_id": string(sandbox.DemoGuild), "user_id": "1200000000000000105", "delete_message_seconds": 3600, "audit_reason": "spam", "__confirm": true}
	if code, fields := call("members_ban", ban); code != "HUMAN_APPROVAL_PENDING" {
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
	for _, want := range []string{"#general", "lighthouse.example", "SEND_MESSAGES", caller} {
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
	if code, fields := call("components_v2_send", send); code != "" || fields["message_id"] == nil {
		t.Errorf("the approved call does not act: %s %v", code, fields)
	}
	if code, _ := call("components_v2_send", send); code == "" {
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
	if code, fields := call("channels_modify", modify); code != "HUMAN_APPROVAL_REFUSED" || fields["refused_by"] != "sandbox" || fields["reason"] != "keep the name" {
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
	if code, fields := call("members_ban", ban); code != "" {
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
}
