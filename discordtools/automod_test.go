package discordtools_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

func TestAutoMod(t *testing.T) {
	t.Parallel()
	const rule, path = string(sandbox.DemoWordRule), "/guilds/" + guild + "/auto-moderation/rules"
	g := `{"guild_id":` + id(guild)
	one := g + `,"rule_id":` + id(rule)
	const words = `"name":"Cats","event_type":1,"trigger_type":1,"trigger_metadata":{"keyword_filter":["cat*"],"regex_patterns":["(b|c)at"],"allow_list":["cats"]}`
	actions := `"actions":[{"type":1,"metadata":{"custom_message":"No cats"}},{"type":2,"metadata":{"channel_id":` + id(sandbox.DemoModLog) + `}},{"type":3,"metadata":{"duration_seconds":60}}]`
	exempt := `"exempt_roles":[` + id(sandbox.DemoModeratorRole) + `],"exempt_channels":[` + id(general) + `]`
	const block = `"actions":[{"type":1}]`
	run(t, []row{
		{
			shows: "all, in a fence", tool: "automod_list_rules", args: g + `}`, sent: []string{"GET " + path}, says: "<untrusted_discord_channel_topic",
			want: `{"count":2,"rules":[{"id":` + id(rule) + `,"name":"Scams","trigger_type":1,"event_type":1,"enabled":true},{"name":"Mass pings","trigger_type":5}],"untrusted_names":"*"}`,
		},
		{shows: "without MANAGE_GUILD", tool: "automod_list_rules", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`, sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/auto-moderation/rules"}, code: mcpcore.CodePermission},
		{
			shows: "one", tool: "automod_get_rule", args: one + `}`, sent: []string{"GET " + path + "/" + rule},
			want: `{"name":"Scams","creator_id":` + id(sandbox.DemoOwner) + `,"trigger_metadata":{"keyword_filter":["free nitro","*steamgift*"],"allow_list":["not free nitro"]},
				"actions":[{"type":1,"metadata":{"custom_message":"This looks like a scam."}},{"type":2,"metadata":{"channel_id":` + id(sandbox.DemoModLog) + `}}],
				"exempt_roles":[` + id(sandbox.DemoModeratorRole) + `],"exempt_channels":["*"],"untrusted_text":"*"}`,
		},
		{shows: "unknown", tool: "automod_get_rule", args: g + `,"rule_id":"1200000000000000749"}`, sent: []string{"GET " + path + "/1200000000000000749"}, code: mcpcore.CodeNotFound},
		{
			shows: "words", tool: "automod_create_rule", args: g + `,` + words + `,` + actions + `,` + exempt + `,"enabled":true,"audit_reason":"allergy"}`,
			sent: []string{"POST " + path + ` {` + words + `,` + actions + `,` + exempt + `,"enabled":true}`},
			want: `{"id":"*","name":"Cats","trigger_type":1,"enabled":true,"trigger_metadata":{"keyword_filter":["cat*"],"regex_patterns":["(b|c)at"],"allow_list":["cats"]}}`,
		},
		{
			shows: "spam", tool: "automod_create_rule", args: g + `,"name":"Spam","event_type":1,"trigger_type":3,` + block + `}`,
			sent: []string{"POST " + path + ` {"name":"Spam","event_type":1,"trigger_type":3,` + block + `}`}, want: `{"trigger_type":3,"enabled":false,"trigger_metadata":{}}`,
		},
		{
			shows: "Discord's word lists", tool: "automod_create_rule", args: g + `,"name":"Lists","event_type":1,"trigger_type":4,"trigger_metadata":{"presets":[1,3],"allow_list":["damn"]},` + block + `}`,
			sent: []string{"POST " + path + ` {"name":"Lists","event_type":1,"trigger_type":4,"trigger_metadata":{"presets":[1,3],"allow_list":["damn"]},` + block + `}`}, want: `{"trigger_metadata":{"presets":[1,3],"allow_list":["damn"]}}`,
		},
		{
			shows: "profiles", tool: "automod_create_rule", args: g + `,"name":"Names","event_type":2,"trigger_type":6,"trigger_metadata":{"keyword_filter":["cat"]},"actions":[{"type":4}]}`,
			sent: []string{"POST " + path + ` {"name":"Names","event_type":2,"trigger_type":6,"trigger_metadata":{"keyword_filter":["cat"]},"actions":[{"type":4}]}`}, want: `{"trigger_type":6}`,
		},
		{
			shows: "L64 a second one of mentions", tool: "automod_create_rule", args: g + `,"name":"Pings","event_type":1,"trigger_type":5,"trigger_metadata":{"mention_total_limit":0,"mention_raid_protection_enabled":false},` + block + `}`,
			sent: []string{"POST " + path + ` {"name":"Pings","event_type":1,"trigger_type":5,"trigger_metadata":{"mention_total_limit":0,"mention_raid_protection_enabled":false},` + block + `}`},
			code: mcpcore.CodeValidation, says: "Maximum number of rules with trigger type 5 is 1",
		},
		{
			shows: "everything", tool: "automod_modify_rule", args: one + `,"name":"Dogs","event_type":1,"trigger_metadata":{"keyword_filter":["dog"]},` + actions + `,"enabled":false,"exempt_roles":[],"exempt_channels":[]}`,
			sent: []string{"PATCH " + path + "/" + rule + ` {"name":"Dogs","event_type":1,"trigger_metadata":{"keyword_filter":["dog"]},` + actions + `,"enabled":false,"exempt_roles":[],"exempt_channels":[]}`},
			want: `{"name":"Dogs","enabled":false,"trigger_metadata":{"keyword_filter":["dog"]},"exempt_roles":[],"exempt_channels":[],"actions":["*","*",{"type":3,"metadata":{"duration_seconds":60}}]}`,
		},
		{shows: "nothing to change", tool: "automod_modify_rule", args: one + `}`, code: mcpcore.CodeValidation, says: "at least one of name"},
		{
			shows: "an alert to where the bot cannot write", tool: "automod_modify_rule", args: one + `,"actions":[{"type":2,"metadata":{"channel_id":` + id(sandbox.DemoStaff) + `}}]}`,
			sent: []string{"PATCH " + path + "/" + rule + ` {"actions":[{"type":2,"metadata":{"channel_id":` + id(sandbox.DemoStaff) + `}}]}`}, code: mcpcore.CodeValidation, says: "actions.0.metadata.channel_id",
		},
		{
			shows: "preview", tool: "automod_delete_rule", args: one + `}`, sent: []string{"GET " + path + "/" + rule}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"rule","value":"Scams"},{"name":"against","value":"words"},{"name":"state","value":"on"},{"name":"words and patterns","value":"2"},{"name":"actions","value":"2"}]}`,
		},
		{shows: "confirmed", tool: "automod_delete_rule", args: one + `,"audit_reason":"x","__confirm":true}`, sent: []string{"DELETE " + path + "/" + rule}, want: `{"deleted":true,"rule_id":` + id(rule) + `,"guild_id":` + id(guild) + `}`},
	})
}

// TestAutoModDeclarations: what a rule would ignore, or could not be, is refused
// before Discord is asked.
func TestAutoModDeclarations(t *testing.T) {
	t.Parallel()
	b := start(t)
	create := func(trigger, event, metadata, actions string) string {
		return `{"guild_id":` + id(guild) + `,"name":"x","event_type":` + event + `,"trigger_type":` + trigger + `,"trigger_metadata":` + metadata + `,"actions":` + actions + `}`
	}
	const block, cats = `[{"type":1}]`, `{"keyword_filter":["cat"]}`
	alert := `[{"type":2,"metadata":{"channel_id":` + id(sandbox.DemoModLog) + `}}]`
	for args, says := range map[string]string{
		create("6", "1", cats, block):                                                                           "event_type: is 2 with trigger_type 6",
		create("1", "2", cats, block):                                                                           "event_type: is 1 with trigger_type 1",
		create("1", "1", `{}`, block):                                                                           "needs keyword_filter or regex_patterns",
		create("1", "1", `{"keyword_filter":["cat"],"presets":[1]}`, block):                                     "presets: does nothing with trigger_type 1",
		create("1", "1", `{"keyword_filter":["cat"],"mention_total_limit":1}`, block):                           "mention_total_limit: does nothing",
		create("3", "1", cats, block):                                                                           "keyword_filter: does nothing with trigger_type 3",
		create("4", "1", `{"allow_list":["x"]}`, block):                                                         "presets: is required with trigger_type 4",
		create("4", "1", `{"presets":[1],"regex_patterns":["x"]}`, block):                                       "regex_patterns: does nothing",
		create("5", "1", `{"allow_list":["x"],"mention_total_limit":1}`, block):                                 "allow_list: does nothing with trigger_type 5",
		create("5", "1", `{}`, block):                                                                           "needs mention_total_limit or",
		create("1", "1", `{"keyword_filter":["`+strings.Repeat("x", 61)+`"]}`, block):                           "must have at most 60 characters",
		create("1", "1", `{"regex_patterns":["`+strings.Repeat("x", 261)+`"]}`, block):                          "must have at most 260 characters",
		create("1", "1", `{"keyword_filter":["cat"],"allow_list":[`+strings.Repeat(`"x",`, 100)+`"x"]}`, block): "at most 100 words",
		create("5", "1", `{"mention_total_limit":51}`, block):                                                   "must be at most 50",
		create("1", "1", cats, `[]`):                                                                            "actions: must have at least 1",
		create("1", "1", cats, `[{"type":2}]`):                                                                  "channel_id: is required with type 2",
		create("1", "1", cats, `[{"type":3}]`):                                                                  "duration_seconds: is required with type 3",
		create("1", "1", cats, `[{"type":1,"metadata":{"duration_seconds":1}}]`):                                "duration_seconds: is for type 3",
		create("1", "1", cats, `[{"type":1,"metadata":{"channel_id":`+id(general)+`}}]`):                        "channel_id: is for type 2",
		create("1", "1", cats, `[{"type":3,"metadata":{"duration_seconds":1,"custom_message":"x"}}]`):           "custom_message: is for type 1",
		create("1", "1", cats, `[{"type":3,"metadata":{"duration_seconds":2419201}}]`):                          "must be at most 2419200",
		create("3", "1", `{}`, `[{"type":3,"metadata":{"duration_seconds":1}}]`):                                "timeout, goes with trigger_type 1 and 5",
		create("2", "1", `{}`, block):                                                                           "trigger_type: must be one of",
		create("1", "1", cats, alert):                                                                           "",
		create("1", "1", cats, `[{"type":3,"metadata":{"duration_seconds":0}}]`):                                "",
	} {
		b.world.ResetRequests()
		a := b.call("automod_create_rule", args)
		if passes := a.code == "" && len(b.sent()) == 1; passes != (says == "") || !strings.Contains(a.text, says) || says != "" && len(b.sent()) > 0 {
			t.Errorf("%.300s: code %q, Discord saw %q\n%s", args, a.code, b.sent(), a.text)
		}
	}
}

// TestAutoModActs: a rule made by a tool stops people and not the bot, until it
// is switched off.
func TestAutoModActs(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.call("automod_create_rule", `{"guild_id":`+id(guild)+`,"name":"Cats","event_type":1,"trigger_type":1,"trigger_metadata":{"keyword_filter":["*cat*"]},"actions":[{"type":1}],"enabled":true}`)
	if made.code != "" {
		t.Fatal(made.text)
	}
	say := func() error {
		_, err := b.world.PostAs(sandbox.DemoNewcomer, sandbox.DemoGeneral, "cats!")
		return err
	}
	if err := say(); err == nil || !strings.Contains(err.Error(), "200000") {
		t.Errorf("a person: %v", err)
	}
	if a := b.call("messages_send", `{"channel_id":`+id(general)+`,"content":"cats!"}`); a.code != "" {
		t.Errorf("the bot: %s", a.text)
	}
	rules := b.world.AutoModRules(sandbox.DemoGuild)
	if a := b.call("automod_modify_rule", `{"guild_id":`+id(guild)+`,"rule_id":`+id(rules[len(rules)-1].ID)+`,"enabled":false}`); a.code != "" {
		t.Fatal(a.text)
	}
	if err := say(); err != nil {
		t.Errorf("a person, with the rule off: %v", err)
	}
}

// TestRuleOfAnotherGuild: a rule is held to the guild that the call is about.
func TestRuleOfAnotherGuild(t *testing.T) {
	t.Parallel()
	b := start(t, homeOnly)
	theirs := b.world.AddAutoModRule(sandbox.DemoClub, sandbox.AutoModRule{Name: "Spoilers"})
	args := func(rule discord.RuleID) string {
		return `{"guild_id":` + id(guild) + `,"rule_id":` + id(rule) + `,"__confirm":true}`
	}
	if a := b.call("automod_delete_rule", args(theirs)); a.code != mcpcore.CodeGuildUnresolved || len(b.world.Writes()) > 0 {
		t.Errorf("code %q, %d writes: %s", a.code, len(b.world.Writes()), a.text)
	}
	if a := b.call("automod_delete_rule", args(sandbox.DemoWordRule)); a.code != "" {
		t.Errorf("the legitimate call: %s", a.text)
	}
}

// TestAutoModEnforced: MANAGE_GUILD counts in the guild, also where a channel is
// exempt that the bot cannot see.
func TestAutoModEnforced(t *testing.T) {
	t.Parallel()
	for guild, code := range map[discord.GuildID]mcpcore.Code{sandbox.DemoGuild: "", sandbox.DemoClub: mcpcore.CodeAccessDenied} {
		b := start(t, func(d *discordtools.Deps) { d.Config.Access = middleware.Enforce })
		a := b.call("automod_create_rule", `{"guild_id":`+id(guild)+`,"name":"Cats","event_type":1,"trigger_type":1,"trigger_metadata":{"keyword_filter":["cat"]},"actions":[{"type":1}],"exempt_channels":[`+id(sandbox.DemoStaff)+`]}`)
		if a.code != code {
			t.Errorf("%s: code %q, want %q: %s", guild, a.code, code, a.text)
		}
	}
}
