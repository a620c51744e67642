package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// rebuilt is a blueprint of the demo guild: with what is there already moved and
// changed, and more.
func rebuilt() map[string]any {
	kept := func(key, kind, name string) map[string]any {
		c := map[string]any{"key": key, "name": name, "type": kind}
		return c
	}
	in := func(parent string, c map[string]any, more ...any) map[string]any {
		c["parent_key"] = parent
		for i := 0; i+1 < len(more); i += 2 {
			c[more[i].(string)] = more[i+1]
		}
		return c
	}
	return map[string]any{
		"schema_version": "guild_blueprint.v1",
		"roles":          []any{map[string]any{"key": "helper", "name": "Helper", "color": 0x2ecc71}},
		"categories": []any{
			map[string]any{"key": "community", "name": "Community"}, map[string]any{"key": "information", "name": "Information"},
			map[string]any{"key": "events", "name": "Events"},
			map[string]any{"key": "backstage", "name": "Backstage", "private": true, "overwrites": []any{map[string]any{"subject": map[string]any{"kind": "everyone"}, "deny": []any{"VIEW_CHANNEL"}}}},
		},
		"channels": []any{
			in("community", kept("showcase", "text", "showcase")), in("community", kept("general", "text", "general"), "topic", "Everything <b>else</b>", "slowmode_seconds", 5),
			in("information", kept("help", "forum", "help")),
			in("events", kept("calendar", "text", "calendar")), in("events", kept("stage", "voice", "The Long Evening Stage With A Name That Fills Its Line")),
			in("backstage", kept("plans", "text", "plans")),
		},
	}
}

// PersonSeesThePlan is a person who is asked whether a blueprint may be carried
// out, sees the guild before and after, and approves it. guild must be the only one
// that the server allows, and the bot the sandbox's.
func PersonSeesThePlan(t *testing.T, begin func() (call Call, at *url.URL, token string)) {
	t.Helper()
	b := newBrowser(t)
	call, at, token := begin()
	code, plan := call("guild_blueprint_plan", map[string]any{"blueprint": rebuilt(), "adopt": true})
	if code != "" || plan["status"] != "ready" {
		t.Fatalf("%s %v", code, plan)
	}
	apply := map[string]any{
		"guild_id": string(sandbox.DemoGuild), "expected_bot_id": string(sandbox.BotID), "plan_ref": plan["plan_ref"], "approval_id": plan["approval_id"], "__confirm": true,
	}
	if code, fields := call("guild_blueprint_apply", apply); code != "HUMAN_APPROVAL_PENDING" {
		t.Fatalf("%s %v", code, fields)
	}
	b.do(chromedp.Navigate(at.String() + "/"))
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), token))
	b.follows("main button")
	b.follows(`#waiting a[href*="/approvals/"]`)
	trees := b.text(".outlook")
	before, after, _ := strings.Cut(trees, "After")
	for _, want := range []string{"Community", "showcase", "general", "staff-room"} {
		if !strings.Contains(before, want) || !strings.Contains(after, want) {
			t.Errorf("%s is not on both sides:\n%s", want, trees)
		}
	}
	for _, want := range []string{"calendar", "added", "changed", "moved"} {
		if strings.Contains(strings.SplitAfter(before, "Before")[1], want) || !strings.Contains(after, want) {
			t.Errorf("%s is not on the side of what will be alone:\n%s", want, trees)
		}
	}
	b.look("plan")
	b.do(chromedp.Click(chromedp.CSS("input[name=read]")))
	b.follows("button.approve")
	if code, fields := call("guild_blueprint_apply", apply); code != "" || fields["status"] != "complete" {
		t.Errorf("the approved plan is not carried out: %s %v", code, fields)
	}
	b.stayed(at)
}
