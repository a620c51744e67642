package sandbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestAutoModRules(t *testing.T) {
	t.Parallel()
	const all, one = "/guilds/{guild}/auto-moderation/rules", "/guilds/{guild}/auto-moderation/rules/" + string(DemoWordRule)
	const block = `"actions":[{"type":1}]`
	rule := func(trigger, event, metadata, actions string) string {
		return `{"name":"New","event_type":` + event + `,"trigger_type":` + trigger + `,"trigger_metadata":` + metadata + `,` + actions + `}`
	}
	many := func(trigger, n int) func(*Discord) {
		return func(d *Discord) {
			for range n {
				d.AddAutoModRule(DemoGuild, AutoModRule{Name: "x", Trigger: trigger})
			}
		}
	}
	rows(t, []row{
		{name: "list", method: "GET", path: all, status: 200, has: `"mention_total_limit":3`},
		{name: "list without MANAGE_GUILD", method: "GET", path: "/guilds/{club}/auto-moderation/rules", status: 403, code: 50013},
		{name: "get", method: "GET", path: one, status: 200, has: `"keyword_filter":["free nitro","*steamgift*"]`},
		{name: "get unknown", method: "GET", path: all + "/{nowhere}", status: 404},
		{name: "words", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat*"],"regex_patterns":["(b|c)at"],"allow_list":["cats"]}`, block), status: 200, has: `"enabled":false`, after: audited(auditRuleCreate)},
		{name: "spam", method: "POST", path: all, body: rule("3", "1", `{}`, block), status: 200, has: `"trigger_metadata":{}`},
		{name: "word lists", method: "POST", path: all, body: rule("4", "1", `{"presets":[1,3],"allow_list":["damn"]}`, block), status: 200, has: `"presets":[1,3]`},
		{name: "profiles", method: "POST", path: all, body: rule("6", "2", `{"keyword_filter":["cat"]}`, `"actions":[{"type":4}]`), status: 200, has: `"event_type":2`},
		{name: "a second one of mentions", method: "POST", path: all, body: rule("5", "1", `{"mention_total_limit":5}`, block), status: 400, code: 50035, has: "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED"},
		{name: "a seventh one of words", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, block), status: 400, code: 50035, has: "Maximum number of rules with trigger type 1 is 6", before: many(TriggerKeyword, 5)},
		{name: "profiles with messages", method: "POST", path: all, body: rule("6", "1", `{"keyword_filter":["cat"]}`, block), status: 400, code: 50035, has: `"event_type"`},
		{name: "a long word", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["`+strings.Repeat("x", 61)+`"]}`, block), status: 400, code: 50035, has: `"keyword_filter":{"0"`},
		{name: "an empty word", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":[""]}`, block), status: 400, code: 50035},
		{name: "a broken pattern", method: "POST", path: all, body: rule("1", "1", `{"regex_patterns":["(b|c"]}`, block), status: 400, code: 50035, has: "AUTO_MODERATION_INVALID_REGEX"},
		{name: "many allowed words", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"],"allow_list":[`+strings.Repeat(`"x",`, 100)+`"x"]}`, block), status: 400, code: 50035, has: `"allow_list"`},
		{name: "many mentions", method: "POST", path: all, body: rule("5", "1", `{"mention_total_limit":51}`, block), status: 400, code: 50035},
		{name: "an unknown word list", method: "POST", path: all, body: rule("4", "1", `{"presets":[4]}`, block), status: 400, code: 50035},
		{name: "no action", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[]`), status: 400, code: 50035, has: `"actions"`},
		{name: "an alert", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":2,"metadata":{"channel_id":"{modlog}"}}]`), status: 200, has: `"channel_id":"{modlog}"`},
		{name: "an alert to where the bot cannot write", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":2,"metadata":{"channel_id":"{staff}"}}]`), status: 400, code: 50035, has: "CHANNEL_FLAG_ACTION_ACCESS"},
		{name: "an alert to another guild", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":2,"metadata":{"channel_id":"{clubgeneral}"}}]`), status: 400, code: 50035},
		{name: "a timeout", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":3,"metadata":{"duration_seconds":60}}]`), status: 200, has: `"duration_seconds":60`},
		{name: "a timeout without a length", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":3}]`), status: 400, code: 50035, has: `"duration_seconds"`},
		{name: "a timeout for spam", method: "POST", path: all, body: rule("3", "1", `{}`, `"actions":[{"type":3,"metadata":{"duration_seconds":60}}]`), status: 400, code: 50035, has: `"type"`},
		{name: "a timeout without MODERATE_MEMBERS", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":3,"metadata":{"duration_seconds":60}}]`), status: 403, code: 50013, before: lacking(discord.ModerateMembers)},
		{name: "blocking members for words", method: "POST", path: all, body: rule("1", "1", `{"keyword_filter":["cat"]}`, `"actions":[{"type":4}]`), status: 400, code: 50035},
		{name: "with nothing", method: "POST", path: all, body: `{}`, status: 400, code: 50035, has: `"actions":{"_errors"`},
		{name: "switch off", method: "PATCH", path: one, body: `{"enabled":false}`, status: 200, has: `"enabled":false`, after: audited(auditRuleUpdate)},
		{name: "other words", method: "PATCH", path: one, body: `{"trigger_metadata":{"keyword_filter":["cat"]}}`, status: 200, has: `"keyword_filter":["cat"],"regex_patterns":[],"allow_list":[]`},
		{name: "exempt nobody", method: "PATCH", path: one, body: `{"exempt_roles":[],"exempt_channels":[]}`, status: 200, has: `"exempt_roles":[],"exempt_channels":[]`},
		{name: "another event", method: "PATCH", path: one, body: `{"event_type":2}`, status: 400, code: 50035},
		{name: "delete", method: "DELETE", path: one, status: 204, after: audited(auditRuleDelete)},
		{name: "delete without MANAGE_GUILD", method: "DELETE", path: one, status: 403, code: 50013, before: lacking(discord.ManageGuild)},
	})
}

// blocked reports whether AutoMod refused a message.
func blocked(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	r, ok := errors.AsType[*Refused](err)
	if !ok || r.Status != 400 || r.Code != 200000 {
		t.Errorf("refused with %v", err)
	}
	return true
}

func TestAutoModBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		by         discord.UserID
		in         discord.ChannelID
		blocked    bool
	}{
		{"a phrase", "get FREE  nitro here", DemoNewcomer, DemoGeneral, true},
		{"half a phrase", "free beer", DemoNewcomer, DemoGeneral, false},
		{"a phrase in a word", "free nitrogen", DemoNewcomer, DemoGeneral, false},
		{"a part of a word", "see mysteamgifts.example", DemoNewcomer, DemoGeneral, true},
		{"an allowed phrase", "this is not free nitro", DemoNewcomer, DemoGeneral, false},
		{"an allowed phrase and another", "not free nitro, but free nitro", DemoNewcomer, DemoGeneral, true},
		{"in a thread", "free nitro", DemoNewcomer, DemoThread, true},
		{"an exempt role", "free nitro", DemoModerator, DemoGeneral, false},
		{"an exempt channel", "free nitro", DemoNewcomer, DemoShowcase, false},
		{"an administrator", "free nitro", DemoAdmin, DemoGeneral, false},
		{"the owner", "free nitro", DemoOwner, DemoGeneral, false},
		{"three mentions", "<@" + string(DemoAdmin) + "> <@" + string(DemoOwner) + "> <@&" + string(DemoEventsRole) + "> <@" + string(DemoOwner) + ">", DemoMember, DemoGeneral, false},
		{"four mentions", "<@" + string(DemoAdmin) + "> <@" + string(DemoOwner) + "> <@&" + string(DemoEventsRole) + "> <@" + string(DemoModerator) + ">", DemoMember, DemoGeneral, true},
		{"another guild", "free nitro", DemoReader, DemoClubGeneral, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			before := len(d.Messages(c.in))
			id, err := d.PostAs(c.by, c.in, c.text)
			if blocked(t, err) != c.blocked {
				t.Fatalf("%q: %v", c.text, err)
			}
			if _, there := d.Message(c.in, id); there == c.blocked || len(d.Messages(c.in))-before != map[bool]int{false: 1}[c.blocked] {
				t.Errorf("%q: sent is %v", c.text, there)
			}
		})
	}
}

// TestAutoModExemptsBots: the same words that are refused to a person pass when
// the bot sends them.
func TestAutoModExemptsBots(t *testing.T) {
	t.Parallel()
	d := demo(t)
	get[any](t, d, "POST", "/channels/"+string(DemoGeneral)+"/messages", `{"content":"free nitro"}`)
	if _, err := d.PostAs(DemoNewcomer, DemoGeneral, "free nitro"); !blocked(t, err) {
		t.Error("a person may say it")
	}
}

func TestAutoModActs(t *testing.T) {
	t.Parallel()
	d := demo(t)
	if _, err := d.PostAs(DemoNewcomer, DemoGeneral, "free nitro"); !blocked(t, err) {
		t.Fatal("not blocked")
	}
	log := d.Messages(DemoModLog)
	alert := log[len(log)-1]
	if alert.Type != typeAutoMod || alert.Author != DemoNewcomer || alert.Embeds[0].Description != "free nitro" || alert.Embeds[0].Fields[0].Value != "Scams" {
		t.Errorf("alert %+v", alert)
	}
	if body := get[[]struct {
		Embeds []struct{ Type string }
	}](t, d, "GET", "/channels/"+string(DemoModLog)+"/messages?limit=1", ""); body[0].Embeds[0].Type != "auto_moderation_message" {
		t.Errorf("alert is shown as %v", body)
	}
	mentions := "<@" + string(DemoAdmin) + "> <@" + string(DemoOwner) + "> <@&" + string(DemoEventsRole) + "> <@" + string(DemoModerator) + ">"
	if _, err := d.PostAs(DemoMember, DemoGeneral, mentions); !blocked(t, err) {
		t.Fatal("not blocked")
	}
	if m, _ := d.Member(DemoGuild, DemoMember); !m.TimeoutUntil.Equal(noon.Add(10 * time.Minute)) {
		t.Errorf("timed out until %v", m.TimeoutUntil)
	}
	var actions []int
	for _, e := range d.AuditLog(DemoGuild) {
		actions = append(actions, e.Action)
		if e.User != DemoOwner || e.Options.Channel != DemoGeneral || e.Options.Rule == "" || e.Options.Trigger == "" {
			t.Errorf("entry %+v", e)
		}
	}
	if want := []int{auditAutoModBlock, auditAutoModAlert, auditAutoModBlock, auditAutoModTimeout}; len(actions) != len(want) {
		t.Errorf("audited %v, want %v", actions, want)
	}
	status, reply := do(t, d, "GET", "/guilds/"+string(DemoGuild)+"/audit-logs", "")
	if status != 200 || !strings.Contains(string(reply), `"auto_moderation_rule_name":"Scams"`) {
		t.Errorf("audit log: %s", reply)
	}
	if _, err := d.PostAs(DemoMember, DemoGeneral, "hello?"); err == nil {
		t.Error("who is timed out may write")
	}
	if _, err := d.PostAs(DemoNewcomer, DemoStaff, "hello?"); err == nil || !strings.Contains(err.Error(), "50001") {
		t.Errorf("in a hidden channel: %v", err)
	}
}

func TestAutoModRuleThatIsOff(t *testing.T) {
	t.Parallel()
	d := demo(t)
	get[any](t, d, "PATCH", "/guilds/"+string(DemoGuild)+"/auto-moderation/rules/"+string(DemoWordRule), `{"enabled":false}`)
	if _, err := d.PostAs(DemoNewcomer, DemoGeneral, "free nitro"); err != nil {
		t.Error(err)
	}
	d.AddAutoModRule(DemoGuild, AutoModRule{Name: "Flag", Enabled: true, Patterns: []string{`\bh[ao]rbou?r\b`}, Actions: []AutoModAction{{Type: ActionAlert, Channel: DemoModLog}}})
	before := len(d.Messages(DemoModLog))
	if _, err := d.PostAs(DemoNewcomer, DemoGeneral, "the harbor is full"); err != nil {
		t.Errorf("a rule that only flags: %v", err)
	}
	if got := len(d.Messages(DemoModLog)) - before; got != 1 {
		t.Errorf("%d alerts", got)
	}
}

// TestKeywords are the examples of Discord's documentation.
func TestKeywords(t *testing.T) {
	t.Parallel()
	for word, texts := range map[string]map[string]bool{
		"cat*":       {"catch": true, "Catapult": true, "CAttLE": true, "wildcat": false},
		"the mat*":   {"the matrix": true, "the  matrix": true, "breathe matter": false},
		"*cat":       {"wildcat": true, "copyCat": true, "catch": false},
		"*the mat":   {"breathe mat": true, "the mats": false},
		"*cat*":      {"location": true, "eduCation": true, "dog": false},
		"*the mat*":  {"breathe matter": true},
		"cat":        {"cat": true, "a Cat here": true, "cats": false, "wildcat": false},
		"i like c++": {"well i like c++ a lot": true, "i like c": false},
	} {
		for text, want := range texts {
			if got := (&AutoModRule{Keywords: []string{word}}).words(text).hit; got != want {
				t.Errorf("%q in %q: %v", word, text, got)
			}
		}
	}
}
