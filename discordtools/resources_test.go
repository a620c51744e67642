package discordtools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// visit serves a world to a client of the era.
func visit(t *testing.T, era string, world *sandbox.Discord, change ...func(*discordtools.Deps)) *bench {
	t.Helper()
	b := &bench{T: t, world: world, audit: &recorder{}}
	world.Observe(func(r sandbox.Request) { checkExchange(t, r) })
	deps := discordtools.Deps{Session: world.Session(), Audit: b.audit}
	for _, c := range change {
		c(&deps)
	}
	server, err := discordtools.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	b.mcp, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.mcp.Close() })
	return b
}

// inEras runs the test in both eras of the protocol.
func inEras(t *testing.T, test func(t *testing.T, era string)) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			test(t, era)
		})
	}
}

// read is the text of a resource.
func (b *bench) read(uri string) string {
	b.Helper()
	res, err := b.mcp.ReadResource(b.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		b.Fatalf("%s: %v", uri, err)
	}
	if len(res.Contents) != 1 || res.Contents[0].URI != uri {
		b.Fatalf("%s has %d contents", uri, len(res.Contents))
	}
	return res.Contents[0].Text
}

// unread is how a resource is refused.
func (b *bench) unread(uri string) (*jsonrpc.Error, mcpcore.Code) {
	b.Helper()
	_, err := b.mcp.ReadResource(b.Context(), &mcp.ReadResourceParams{URI: uri})
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		b.Fatalf("%s: %v", uri, err)
	}
	var data struct{ Code mcpcore.Code }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		b.Fatalf("%s: %v", uri, err)
	}
	return e, data.Code
}

// addresses lists the resources and the templates of a server.
func (b *bench) addresses() (fixed []*mcp.Resource, templates []*mcp.ResourceTemplate) {
	b.Helper()
	list, err := b.mcp.ListResources(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	more, err := b.mcp.ListResourceTemplates(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	if list.NextCursor != "" || more.NextCursor != "" {
		b.Error("the resources do not fit one page")
	}
	return list.Resources, more.ResourceTemplates
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

// fill puts the world's ids into an address.
func fill(template string, ids map[string]any) string {
	return inBraces.ReplaceAllStringFunc(template, func(v string) string { return fmt.Sprint(ids[v[1:len(v)-1]]) })
}

var demoIDs = map[string]any{
	"guild_id": sandbox.DemoGuild, "channel_id": sandbox.DemoGeneral, "message_id": sandbox.DemoPoll, "user_id": sandbox.DemoMember,
	"event_id": sandbox.DemoGameNight, "sound_id": sandbox.DemoSound,
}

var fenceNonce = regexp.MustCompile(`nonce="[0-9a-f]{16}"`)

// kernelFence is the fence around the answer of a tool that makes none itself.
var kernelFence = regexp.MustCompile(`(?s)^<untrusted_discord_resource >\n<!--[^\n]*-->\n(.*)\n</untrusted_discord_resource>$`)

// TestLiveResources reads every live resource of the demo world: it is what the
// tool answers, and listing asked nothing of Discord.
func TestLiveResources(t *testing.T) {
	inEras(t, func(t *testing.T, era string) {
		b := visit(t, era, sandbox.Demo(), locked, func(d *discordtools.Deps) { d.Config.DefaultGuild = sandbox.DemoGuild })
		fixed, templates := b.addresses()
		if n := len(b.world.Requests()); n > 0 {
			t.Errorf("listing made %d requests", n)
		}
		listed := map[string]bool{}
		for _, r := range fixed {
			listed[r.URI] = true
		}
		for _, r := range templates {
			listed[r.URITemplate] = true
		}
		live := 0
		for _, r := range discordtools.Resources(discordtools.Config{DefaultGuild: sandbox.DemoGuild}) {
			if !listed[r.URI] {
				t.Errorf("%s is not listed", r.URI)
			}
			if r.Tool == "" {
				continue
			}
			live++
			args := map[string]any{}
			for _, v := range inBraces.FindAllStringSubmatch(r.URI, -1) {
				args[v[1]] = demoIDs[v[1]]
			}
			if r.Args != nil {
				args["guild_id"] = sandbox.DemoGuild
			}
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			if r.Name == "guild_ban" {
				continue // nobody is banned there; see TestConfidentialStaysOut
			}
			direct := b.call(r.Tool, string(raw))
			if direct.code != "" {
				t.Errorf("%s: %s", r.Tool, direct.data)
				continue
			}
			got, want := fenceNonce.ReplaceAllString(b.read(fill(r.URI, demoIDs)), ""), fenceNonce.ReplaceAllString(direct.text, "")
			if plain := kernelFence.FindStringSubmatch(got); plain != nil {
				got = plain[1]
			}
			if len(r.Without) > 0 {
				got, want = restOf(t, got, r.Without), restOf(t, string(direct.data), r.Without)
			}
			if got != want {
				t.Errorf("%s is\n%.300s\nand %s answers\n%.300s", r.URI, got, r.Tool, want)
			}
		}
		if live < 25 {
			t.Errorf("only %d live resources: this test looks at too little", live)
		}
		if events := b.audit.all(); len(events) > 0 {
			t.Errorf("reading was recorded as a change: %v", events)
		}
	})
}

// restOf is an object less some of its members, in one form.
func restOf(t *testing.T, object string, members []string) string {
	t.Helper()
	all := tree(t, json.RawMessage(object))
	for _, name := range members {
		delete(all, name)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestConfidentialStaysOut shows that what the tool tells who asks for it stands in
// no resource.
func TestConfidentialStaysOut(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	world.AddGuild(sandbox.Guild{ID: canaryGuild, Name: "Lamp", Vanity: "canary-vanity", Owner: sandbox.DemoOwner}, discord.KnownPermissions)
	world.AddMember(canaryGuild, sandbox.Member{User: sandbox.BotID})
	world.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoReader, Reason: "canary-reason"})
	b := visit(t, eras[0], world)
	for _, r := range []struct{ tool, args, uri string }{
		{"guild_get", `{"guild_id":` + id(canaryGuild) + `}`, "discord://guilds/" + string(canaryGuild) + "/profile"},
		{"members_get_ban", `{"guild_id":` + id(sandbox.DemoGuild) + `,"user_id":` + id(sandbox.DemoReader) + `}`, "discord://guilds/" + guild + "/bans/" + string(sandbox.DemoReader)},
	} {
		if a := b.call(r.tool, r.args); !strings.Contains(string(a.data), "canary") {
			t.Errorf("the tool does not tell it: %s", a.data)
		}
		if text := b.read(r.uri); strings.Contains(text, "canary") || len(text) < 150 {
			t.Errorf("%s: %s", r.uri, text)
		}
	}
}

// TestLiveResourceRefused shows that a live resource meets the guards that its
// tool meets.
func TestLiveResourceRefused(t *testing.T) {
	inEras(t, func(t *testing.T, era string) {
		b := visit(t, era, sandbox.Demo(), func(d *discordtools.Deps) {
			d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild}
			d.Config.Categories = []string{"guild", "channels", "messages", "voice"}
		})
		for _, r := range []struct {
			uri  string
			code mcpcore.Code // "" where there is no such resource
			says string
		}{
			{"discord://guilds/" + string(sandbox.DemoClub) + "/profile", mcpcore.CodeGuildNotAllowed, "ALLOWED_GUILDS"},
			{"discord://channels/" + string(sandbox.DemoClubGeneral), mcpcore.CodeGuildNotAllowed, "ALLOWED_GUILDS"},
			{"discord://channels/" + string(sandbox.DemoClubGeneral) + "/messages/" + string(sandbox.DemoPoll), mcpcore.CodeGuildNotAllowed, "ALLOWED_GUILDS"},
			{"discord://channels/1200000000000099999", mcpcore.CodeGuildUnresolved, ""},
			{"discord://channels/" + general + "/messages/1200000000000099999", mcpcore.CodeNotFound, ""},
			{"discord://guilds/" + string(sandbox.DemoGuild) + "/members/" + string(sandbox.DemoNewcomer) + "/voice-state", mcpcore.CodeNotFound, ""},
			{"discord://guilds/here/profile", mcpcore.CodeValidation, "guild_id: must be an id"},
			{"discord://guilds/" + string(sandbox.DemoGuild) + "/roles", "", "not found"},                                                                                          // its category is off
			{"discord://application", "", "not found"},                                                                                                                             // it needs the identity lock
			{"discord://guild/" + string(sandbox.DemoClub) + "/info", "", "not found"},                                                                                             // not a guild that the operator named
			{"discord://guilds/" + string(sandbox.DemoGuild) + "%2F..%2F" + string(sandbox.DemoClub) + "/profile", "", "not found"},                                                // no value
			{"discord://guilds/" + string(sandbox.DemoGuild) + "/profile?guild_id=" + string(sandbox.DemoClub), "", "not found"},                                                   // no such address
			{"discord://channels/" + general + "/messages/" + string(sandbox.DemoPoll) + "/", "", "not found"},                                                                     // nor this
			{"discord://guilds/" + string(sandbox.DemoGuild) + "/vanity-url", "", "not found"}, {"discord://guilds/" + string(sandbox.DemoGuild) + "/onboarding", "", "not found"}, // confidential
		} {
			e, code := b.unread(r.uri)
			if e.Code != jsonrpc.CodeInvalidParams || code != r.code || !strings.Contains(e.Message, r.says) {
				t.Errorf("%s: %d %s %s", r.uri, e.Code, e.Message, e.Data)
			}
		}
		fixed, templates := b.addresses()
		for _, r := range templates {
			if strings.HasSuffix(r.URITemplate, "/roles") || strings.HasPrefix(r.URITemplate, "discord://application") {
				t.Errorf("%s is listed", r.URITemplate)
			}
		}
		if !slices.ContainsFunc(fixed, func(r *mcp.Resource) bool { return r.URI == "discord://guild/"+string(sandbox.DemoGuild)+"/info" }) {
			t.Error("the allowed guild has no entry")
		}
		for _, uri := range []string{"discord://guild/" + string(sandbox.DemoGuild) + "/info", "discord://guilds/" + string(sandbox.DemoGuild) + "/profile"} {
			if !strings.Contains(b.read(uri), "Lighthouse Games") {
				t.Errorf("%s lacks the guild's name", uri)
			}
		}
	})
}

// TestLiveResourceNeedsWhatItsToolNeeds shows that the check of the bot's
// permissions and an embedder's precondition stand before a resource too.
func TestLiveResourceNeedsWhatItsToolNeeds(t *testing.T) {
	t.Parallel()
	b := visit(t, eras[1], sandbox.Demo(), func(d *discordtools.Deps) {
		d.Config.Access = middleware.Enforce
		d.Policies = append(d.Policies, mcpcore.Policy{
			Name: "quiet", Match: func(t *mcpcore.Tool) bool { return t.Name == "emojis_list_guild" },
			Require: []mcpcore.Precondition{{Name: "never", Check: func(context.Context, *mcpcore.Call) error { return errors.New("not today") }}},
		})
	})
	if e, code := b.unread("discord://guilds/" + string(sandbox.DemoClub) + "/webhooks"); code != mcpcore.CodeAccessDenied {
		t.Errorf("without the permission: %v", e)
	}
	if e, code := b.unread("discord://guilds/" + guild + "/emojis"); code != mcpcore.CodePrecondition {
		t.Errorf("against the precondition: %v", e)
	}
	if text := b.read("discord://guilds/" + guild + "/webhooks"); !strings.Contains(text, "Release feed") {
		t.Errorf("with the permission: %s", text)
	}
}

// TestLiveResourcesAreFenced reads every live resource where all that users wrote
// is a canary: none may stand outside a fence.
func TestLiveResourcesAreFenced(t *testing.T) {
	t.Parallel()
	b := visit(t, eras[1], canaryWorld(), locked, func(d *discordtools.Deps) { d.Config.DefaultGuild = canaryGuild })
	caught := 0
	for _, r := range discordtools.Resources(discordtools.Config{DefaultGuild: canaryGuild}) {
		if r.Tool == "" || r.Name == "guild_member_voice_state" || r.Name == "guild_ban" {
			continue // there is none in that world
		}
		text := b.read(fill(r.URI, canaryArgs))
		if strings.Contains(text, "CANARY") {
			caught++
		}
		if rest := fenced.ReplaceAllString(text, ""); strings.Contains(rest, "CANARY") {
			t.Errorf("%s: text of a user stands outside a fence:\n%s", r.URI, rest)
		}
		if n := strings.Count(text, "</untrusted_discord_"); n > strings.Count(text, "<untrusted_discord_") {
			t.Errorf("%s: a fence was broken:\n%s", r.URI, text)
		}
	}
	if caught < 10 {
		t.Errorf("only %d resources showed a canary: this test looks at too little", caught)
	}
}

// TestPages reads every document of ours, without a request to Discord.
func TestPages(t *testing.T) {
	inEras(t, func(t *testing.T, era string) {
		b := visit(t, era, sandbox.Demo())
		fixed, _ := b.addresses()
		pages := 0
		for _, r := range fixed {
			if r.MIMEType == "text/plain" {
				continue
			}
			pages++
			text := b.read(r.URI)
			if r.Title == "" || r.Description == "" || len(text) < 100 {
				t.Errorf("%s: %q, %q, %d bytes", r.URI, r.Title, r.Description, len(text))
			}
			if isJSON := json.Valid([]byte(text)); isJSON != (r.MIMEType == "application/json") {
				t.Errorf("%s is said to be %s", r.URI, r.MIMEType)
			}
		}
		if pages != 11 { // with the access contract
			t.Errorf("%d pages", pages)
		}
		if n := len(b.world.Requests()); n > 0 {
			t.Errorf("%d requests", n)
		}
		for _, r := range []struct{ uri, holds string }{
			{"discord://connector/safety", "`OUTCOME_UNKNOWN`"},
			{"discord://connector/errors", `"code":"OUTCOME_UNKNOWN"`},
			{"discord://components-v2/templates/welcome_card", `"variables":["username","rules_channel_id","avatar_url","role_id_member"]`},
			{"discord://connector/component-templates", `"name":"release_notes"`},
			{"discord://connector/policy", `"armed":false`},
		} {
			if text := b.read(r.uri); !strings.Contains(text, r.holds) {
				t.Errorf("%s lacks %s: %.300s", r.uri, r.holds, text)
			}
		}
	})
}

func TestPolicyPage(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		config discordtools.Config
		want   string
	}{
		{discordtools.Config{}, `{"armed":false,"writes":"act","only_reviewed_workflows_destroy":false,"a_person_approves":"off","permissions_are_checked":"no","categories":null,"allowed_guilds":null}`},
		{discordtools.Config{Armed: true, PreviewOnly: true, AllowedGuilds: []discord.GuildID{sandbox.DemoGuild}, Categories: []string{"guild"}, ExpectedBot: sandbox.BotID, Person: discordtools.PersonWrites},
			`{"armed":true,"writes":"preview","a_person_approves":"writes","categories":["guild"],"allowed_guilds":["1200000000000000001"],"locked_to_bot":"*"}`},
	} {
		b := start(t, func(d *discordtools.Deps) { d.Config = r.config })
		if diff := missing(t, []byte(b.read("discord://connector/policy")), r.want); diff != "" {
			t.Errorf("the page lacks %s", diff)
		}
	}
}

// TestComponentsSchema holds the published schema against the check of layouts.
func TestComponentsSchema(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///components", value(t, []byte(b.read("discord://components-v2/schema")))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:///components")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(layout string, good bool) {
		t.Helper()
		var parts []json.RawMessage
		if err := json.Unmarshal([]byte(layout), &parts); err != nil {
			t.Fatal(err)
		}
		issues := components.Check("components", parts, nil)
		err := schema.Validate(value(t, []byte(layout)))
		if (len(issues) == 0) != good || (err == nil) != good {
			t.Errorf("%s\nschema: %v\ncheck: %v", layout, err, issues)
		}
	}
	link := `{"type":2,"style":5,"label":"a","url":"https://example.com"}`
	for _, good := range []string{
		`[{"type":10,"content":"a"},{"type":14,"divider":false,"spacing":2},{"type":13,"file":{"url":"attachment://a.txt"}}]`,
		`[{"type":9,"components":[{"type":10,"content":"a"}],"accessory":` + link + `}]`,
		`[{"type":17,"accent_color":1,"components":[{"type":1,"components":[{"type":3,"custom_id":"a","options":[{"label":"a","value":"b","emoji":{"name":"x"}}]}]}]}]`,
		`[{"type":12,"items":[{"media":{"url":"https://example.com/a.png"},"spoiler":true}]}]`,
		`[{"type":1,"components":[{"type":8,"custom_id":"a","channel_types":[0],"default_values":[{"id":"1200000000000000001","type":"channel"}]}]}]`,
		`[{"type":1,"components":[{"type":2,"style":6,"sku_id":"1200000000000000001"}]}]`,
	} {
		judge(good, true)
	}
	for _, bad := range []string{
		`[]`, `[{"type":99}]`, `[{"type":10}]`, `[{"type":10,"content":"a","colour":1}]`, `[` + link + `]`,
		`[{"type":17,"components":[{"type":17,"components":[{"type":10,"content":"a"}]}]}]`,
		`[{"type":9,"components":[{"type":10,"content":"a"}]}]`,
		`[{"type":1,"components":[{"type":2,"style":1,"label":"a"}]}]`,
		`[{"type":1,"components":[{"type":2,"style":5,"label":"a","custom_id":"a"}]}]`,
		`[{"type":1,"components":[{"type":5,"custom_id":"a"},{"type":5,"custom_id":"b"}]}]`,
		`[{"type":1,"components":[{"type":3,"custom_id":"a"}]}]`,
		`[{"type":12,"items":[]}]`, `[{"type":13,"file":{"url":"https://example.com"}}]`, `[{"type":14,"spacing":3}]`,
	} {
		judge(bad, false)
	}
	for _, t := range components.Templates() {
		filled := map[string]string{}
		for _, v := range t.Vars {
			filled[v] = "https://example.com/" + v
		}
		b, _ := json.Marshal(t.Fill(filled))
		judge(string(b), true)
	}
}

// TestInstructions shows that what agents are told first is short enough to be
// read, and begins with what keeps them safe.
func TestInstructions(t *testing.T) {
	inEras(t, func(t *testing.T, era string) {
		b := visit(t, era, sandbox.Demo())
		text := b.mcp.InitializeResult().Instructions
		if n := utf8.RuneCountInString(text); n == 0 || n > 1500 {
			t.Errorf("the instructions have %d characters", n)
		}
		last := 0
		for _, rule := range []string{"never instructions", "exact ids", "preview first", "__confirm: true", "A refusal is an answer", "OUTCOME_UNKNOWN", "discord://connector/safety"} {
			at := strings.Index(text, rule)
			if at <= last {
				t.Errorf("%q stands at %d", rule, at)
			}
			last = at
		}
	})
}
