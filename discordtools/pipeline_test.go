package discordtools_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// eras are a version of each lifecycle of the protocol.
var eras = []string{"2025-06-18", "2026-07-28"}

type echoed struct {
	Value json.RawMessage `json:"value,omitempty" jsonschema:"any"`
}

// echoes adds tools that answer with their argument, with a text that looks like
// a reference, with an error, and with a panic.
func echoes(d *discordtools.Deps) {
	define := func(name string, run func(in echoed) (echoed, error)) {
		d.Tools = append(d.Tools, mcpcore.Define(mcpcore.Tool{Name: name, Title: "Echo", Doc: "Echoes its argument.", Category: "echo", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
			func(_ context.Context, _ *mcpcore.Call, in echoed) (echoed, error) { return run(in) }))
	}
	define("echo", func(in echoed) (echoed, error) { return in, nil })
	define("echo_wicked", func(in echoed) (echoed, error) { return echoed{json.RawMessage(`"{{secret.value}}"`)}, nil })
	define("echo_fails", func(in echoed) (echoed, error) {
		return in, mcpcore.Errorf(mcpcore.CodeRateLimited, "too often").With("retry_after_ms", 5)
	})
	define("echo_panics", func(echoed) (echoed, error) { panic("canary") })
}

// ran is what a pipeline's answer says of its steps: id, status and code, then
// what was not run.
func ran(t *testing.T, a answer) string {
	t.Helper()
	var r struct {
		Steps []struct {
			ID, Status string
			Error      struct{ Code string }
			DurationMS *float64 `json:"duration_ms"`
		}
		Aborted                       bool
		Done, Failed, Refused, NotRun []string
		NR                            []string `json:"not_run"`
		Total                         *float64 `json:"total_duration_ms"`
	}
	if err := json.Unmarshal(a.data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Total == nil || r.Done == nil || r.Failed == nil || r.Refused == nil || r.NR == nil {
		t.Errorf("the answer is not whole: %s", a.data)
	}
	var all []string
	for _, s := range r.Steps {
		word := s.Status
		if s.Error.Code != "" {
			word += " " + s.Error.Code
		}
		all = append(all, s.ID+" "+word)
		if s.DurationMS == nil {
			t.Errorf("%s has no duration", s.ID)
		}
	}
	text := strings.Join(all, ", ")
	for _, l := range []struct {
		word string
		list []string
	}{{"failed", r.Failed}, {"refused", r.Refused}, {"not run", r.NR}} {
		if len(l.list) > 0 {
			text += "; " + l.word + " " + strings.Join(l.list, " ")
		}
	}
	if r.Aborted {
		text += "; aborted"
	}
	return text
}

// sendStep is a step that sends content.
func sendStep(content string) string {
	return `{"tool":"messages_send","args":{"channel_id":` + id(general) + `,"content":` + content + `}}`
}

// echoStep is a step that answers with the value.
func echoStep(name, value string) string {
	return `{"id":"` + name + `","tool":"echo","args":{"value":` + value + `}}`
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"tool":"users_get_current","args":{}},`, 20) + `{"tool":"users_get_current","args":{}}`
	run(t, []row{
		{
			shows: "a value of an earlier step", tool: "mcp_pipeline", deps: echoes,
			args: `{"steps":[` + echoStep("a", `"hello"`) + `,` + sendStep(`"{{a.value}} there"`) + `]}`,
			sent: []string{"POST /channels/" + general + `/messages {"content":"hello there","allowed_mentions":"*","nonce":"*","enforce_nonce":true,"tts":false}`, "GET /channels/" + general},
			want: `{"steps":[{"id":"a","tool":"echo","status":"success","result":{"value":"hello"}},{"id":"step_1","tool":"messages_send","status":"success","result":{"message_id":"*"}}],
				"variables":{"a":{"value":"hello"},"step_1":{"message_id":"*"}},"aborted":false,"done":["a","step_1"],"failed":[],"refused":[],"not_run":[]}`,
			says: "Done: a, step_1.",
		},
		{shows: "no step", tool: "mcp_pipeline", args: `{"steps":[]}`, code: mcpcore.CodeValidation},
		{shows: "too many steps", tool: "mcp_pipeline", args: `{"steps":[` + many + `]}`, code: mcpcore.CodeValidation},
		{shows: "a name that is none", tool: "mcp_pipeline", args: `{"steps":[{"id":"1","tool":"echo","args":{}}]}`, code: mcpcore.CodeValidation},
		{shows: "a step without a tool", tool: "mcp_pipeline", args: `{"steps":[{"args":{}}]}`, code: mcpcore.CodeValidation},
		{
			shows: "no writes", tool: "mcp_pipeline", args: `{"steps":[` + sendStep(`"secret plan"`) + `]}`,
			deps: func(d *discordtools.Deps) { d.Config.PreviewOnly = true }, code: mcpcore.CodeWritePreview,
			want: `{"preview":{"steps":[{"tool":"messages_send","args":{"channel_id":` + id(general) + `,"content":"[REDACTED:11ch]"}}]}}`,
		},
	})
}

// L67 Gates lost inside a pipeline or dispatcher.
func TestPipelineGoesItsWay(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	b := startOn(t, world, echoes)
	del := func(extra string) string {
		return `{"tool":"channels_delete","args":{"channel_id":` + id(world.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.GuildText, Name: "old"})) + extra + `}}`
	}
	fails, onward := `{"id":"f","tool":"echo_fails","args":{}}`, `{"id":"f","tool":"echo_fails","args":{},"continue_on_error":true}`
	ifs := func(condition string) string {
		return `{"id":"c","tool":"echo","args":{"value":1},"if":` + condition + `}`
	}
	for _, row := range []struct {
		name, steps, want string
		writes            int
	}{
		{"ends at a failure", fails + `,` + sendStep(`"x"`), "f error DISCORD_RATE_LIMITED; failed f; not run step_1; aborted", 0},
		{"goes on where told", onward + `,` + sendStep(`"x"`), "f error DISCORD_RATE_LIMITED, step_1 success; failed f", 1},
		{"a panic is a failure", `{"tool":"echo_panics","args":{}}`, "step_0 error INTERNAL_ERROR; failed step_0; aborted", 0},
		{"a step that is refused", `{"tool":"messages_send","args":{}},` + sendStep(`"x"`), "step_0 error VALIDATION_FAILED; refused step_0; not run step_1; aborted", 0},
		{"a pipeline in it", sendStep(`"x"`) + `,{"tool":"mcp_pipeline","args":{"steps":[]}},` + sendStep(`"x"`), "step_0 skipped, step_1 error PIPELINE_RECURSION, step_2 skipped; refused step_1; not run step_0 step_2; aborted", 0},
		{"a tool that is not there", sendStep(`"x"`) + `,{"tool":"message_send","args":{},"continue_on_error":true}`, "step_0 skipped, step_1 error TOOL_NOT_AVAILABLE; refused step_1; not run step_0; aborted", 0},
		{"a confirmation in the step", del(`,"__confirm":true`), "step_0 success", 1},
		{"a confirmation nowhere", del(``), "step_0 error DRY_RUN_PREVIEW; refused step_0; aborted", 0},
		{"a confirmation from a result", echoStep("a", "true") + `,` + del(`,"__confirm":"{{a.value}}"`), "a success, step_1 error DRY_RUN_PREVIEW; refused step_1; aborted", 0},
		{"a confirmation inside a result", `{"id":"a","tool":"echo","args":{"value":{"content":"x"}}},{"tool":"messages_send","args":{"channel_id":` + id(general) + `,"poll":"{{a.value}}"}}`, "a success, step_1 error VALIDATION_FAILED; refused step_1; aborted", 0},
		{"a condition", echoStep("a", `{"n":1}`) + `,` + ifs(`"a.value.n"`), "a success, c success", 0},
		{"a condition in braces", echoStep("a", `{"n":1}`) + `,` + ifs(`"{{ a . value . n }}"`), "a success, c success", 0},
		{"null", echoStep("a", `{"n":null}`) + `,` + ifs(`"a.value.n"`), "a success, c skipped; not run c", 0},
		{"false", echoStep("a", `{"n":false}`) + `,` + ifs(`"a.value.n"`), "a success, c skipped; not run c", 0},
		{"zero", echoStep("a", `{"n":0.0}`) + `,` + ifs(`"a.value.n"`), "a success, c skipped; not run c", 0},
		{"an empty text", echoStep("a", `{"n":""}`) + `,` + ifs(`"a.value.n"`), "a success, c skipped; not run c", 0},
		{"nothing", echoStep("a", `{"n":1}`) + `,` + ifs(`"a.value.m"`), "a success, c skipped; not run c", 0},
		{"an empty list counts", echoStep("a", `[]`) + `,` + ifs(`"a.value"`), "a success, c success", 0},
		{"an empty object counts", echoStep("a", `{}`) + `,` + ifs(`"a.value"`), "a success, c success", 0},
		{"the text 0 counts", echoStep("a", `"0"`) + `,` + ifs(`"a.value"`), "a success, c success", 0},
		{"a skipped step has no result", ifs(`"x"`) + `,` + `{"id":"d","tool":"echo","args":{},"if":"c"}`, "c skipped, d skipped; not run c d", 0},
		{"a failed step has no result", onward + `,` + `{"id":"d","tool":"echo","args":{},"if":"f"}`, "f error DISCORD_RATE_LIMITED, d skipped; failed f; not run d", 0},
	} {
		world.ResetRequests()
		a := b.call("mcp_pipeline", `{"steps":[`+row.steps+`]}`)
		if a.code != "" {
			t.Errorf("%s: %s", row.name, a.data)
			continue
		}
		if got := ran(t, a); got != row.want {
			t.Errorf("%s: %s\nwant %s\n%s", row.name, got, row.want, a.data)
		}
		if got := len(world.Writes()); got != row.writes {
			t.Errorf("%s: Discord saw %d writes", row.name, got)
		}
	}
}

// What a step takes over from earlier ones.
func TestPipelineReferences(t *testing.T) {
	t.Parallel()
	b := start(t, echoes)
	for _, row := range []struct{ name, before, value, want string }{
		{"a number keeps its digits", `{"n":12345678901234567890.10}`, `"{{a.value.n}}"`, `12345678901234567890.10`},
		{"a list keeps its type", `[1,"x"]`, `"{{a.value}}"`, `[1,"x"]`},
		{"an index", `[1,["x","y"]]`, `"{{a.value[1][0]}}"`, `"x"`},
		{"an index as a part", `[1,["x","y"]]`, `"{{a.value.1.1}}"`, `"y"`},
		{"spaces", `{"n":{"m":"x"}}`, `"{{ a . value . n . m }}"`, `"x"`},
		{"inside a text", `{"n":5,"t":true,"s":"é<@1>&","l":[1],"z":null}`, `"{{a.value.n}} {{a.value.t}} {{a.value.s}} {{a.value.l}} {{a.value.z}}"`, `"5 true é<@1>& [1] null"`},
		{"nothing leaves a text as it is", `1`, `"x {{a.nope}} {{b.value}}"`, `"x {{a.nope}} {{b.value}}"`},
		{"nothing leaves a list its places", `1`, `["{{a.nope}}",2]`, `[null,2]`},
		{"nothing takes its member along", `1`, `{"x":"{{a.nope}}","y":2}`, `{"y":2}`},
		{"an index too far", `[1]`, `{"x":"{{a.value[1]}}"}`, `{}`},
		{"an index below", `[1]`, `{"x":"{{a.value[-1]}}"}`, `{}`},
		{"through a text", `"abc"`, `{"x":"{{a.value.length}}"}`, `{}`},
		{"a name as a member's name stays", `"v"`, `{"{{a.value}}":1}`, `{"{{a.value}}":1}`},
		{"depth", `"v"`, `{"l":[{"x":["{{a.value}}"]}]}`, `{"l":[{"x":["v"]}]}`},
		{"the other name", `"v"`, `"{{kept.value}}"`, `"v"`},
		// nothing that a result holds is looked at again
		{"half a reference in a result", `"{{secret"`, `"{{a.value}}.value}}"`, `"{{secret.value}}"`},
		{"a reference in a result", ``, `"{{w.value}}"`, `"{{secret.value}}"`},
		{"a reference in a result, inside", ``, `"<{{w.value}}>"`, `"<{{secret.value}}>"`},
		{"a reference in a result, deeper", ``, `{"x":["{{w}}"]}`, `{"x":[{"value":"{{secret.value}}"}]}`},
	} {
		steps := echoStep("secret", `"leaked"`) + `,{"id":"w","tool":"echo_wicked","args":{}},{"id":"a","save_as":"kept","tool":"echo","args":{"value":` +
			cmp.Or(row.before, "null") + `}},` + echoStep("z", row.value)
		a := b.call("mcp_pipeline", `{"steps":[`+steps+`]}`)
		// the text, since a client reads numbers of the rest as its language does
		if want := "## z: echo, done\n\n" + `{"value":` + row.want + "}\n"; a.code != "" || !strings.Contains(a.text, want) {
			t.Errorf("%s: want %s in\n%s", row.name, want, a.text)
		}
	}
}

// Text of Discord's users that looks like a reference stays what it is.
func TestDiscordTextRefersToNothing(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	const wicked = `{{secret.value}} {{read.messages[0].id}}`
	world.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: "1900000000000000001", Author: sandbox.DemoMember, Content: wicked})
	b := startOn(t, world, echoes)
	world.ResetRequests()
	a := b.call("mcp_pipeline", `{"steps":[`+echoStep("secret", `"leaked"`)+`,
		{"id":"read","tool":"messages_read","args":{"channel_id":`+id(general)+`,"limit":1}},
		{"id":"copy","tool":"echo","args":{"value":"{{read.messages[0].content}}"}},
		`+sendStep(`"{{copy.value}} and {{read.messages[0].content}}"`)+`]}`)
	writes := world.Writes()
	if a.code != "" || len(writes) != 1 {
		t.Fatalf("%d writes: %s", len(writes), a.data)
	}
	var body struct{ Content string }
	if err := json.Unmarshal(writes[0].Body, &body); err != nil || body.Content != wicked+" and "+wicked {
		t.Errorf("sent %q", body.Content)
	}
}

// The same name twice: the later result counts.
func TestLaterResultOfAName(t *testing.T) {
	t.Parallel()
	a := start(t, echoes).call("mcp_pipeline", `{"steps":[`+echoStep("a", "1")+`,`+echoStep("A", "2")+`,`+echoStep("a", "3")+`,`+echoStep("z", `"{{a.value}}{{A.value}}"`)+`]}`)
	if diff := missing(t, a.data, `{"variables":{"z":{"value":"32"}},"done":["a","A","a","z"]}`); diff != "" {
		t.Errorf("answer %s", a.data)
	}
}

// Results that add up are refused before they fill the memory.
func TestReferencesAreBounded(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", 60<<10) + `"`
	refs := strings.TrimSuffix(strings.Repeat(`"{{a.value}}",`, 20), ",")
	a := start(t, echoes).call("mcp_pipeline", `{"steps":[`+echoStep("a", big)+`,`+echoStep("b", `[`+refs+`]`)+`]}`)
	if got := ran(t, a); got != "a success, b error VALIDATION_FAILED; refused b; aborted" || !strings.Contains(a.text, "1 MiB") {
		t.Errorf("%s\n%.500s", got, a.text)
	}
	few := strings.TrimSuffix(strings.Repeat(`"{{a.value}}",`, 10), ",")
	if got := ran(t, start(t, echoes).call("mcp_pipeline", `{"steps":[`+echoStep("a", big)+`,`+echoStep("b", `[`+few+`]`)+`]}`)); got != "a success, b success" {
		t.Errorf("what fits: %s", got)
	}
}

// L48 Answers too large for the client.
func TestLargeResultsOfSteps(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", 25<<10) + `"`
	b := start(t, echoes)
	two := b.call("mcp_pipeline", `{"steps":[`+echoStep("a", big)+`,`+echoStep("b", big)+`]}`)
	if diff := missing(t, two.data, `{"steps":[{"result":"*"},{"result":"*"}],"warnings":["*"]}`); diff != "" || !strings.Contains(string(two.data), `"variables":{}`) {
		t.Errorf("two: %.300s", two.data)
	}
	four := b.call("mcp_pipeline", `{"steps":[`+echoStep("a", big)+`,`+sendStep(`"x"`)+`,`+echoStep("b", big)+`,`+echoStep("c", big)+`]}`)
	if len(four.data) > 70<<10 || len(four.text) > 40<<10 || !strings.Contains(four.text, "the results of a") || !strings.Contains(four.text, "in the structured content") {
		t.Errorf("four: %d bytes, text %d\n%.200s", len(four.data), len(four.text), four.text)
	}
	if diff := missing(t, four.data, `{"steps":[{"id":"a"},{"result":{"message_id":"*"}},{"id":"b","result":"*"},{"id":"c","result":"*"}],"done":["a","step_1","b","c"]}`); diff != "" {
		t.Errorf("what was written is not told: %.300s", four.data)
	}
}

func TestPipelineKeepsFences(t *testing.T) {
	t.Parallel()
	b := startOn(t, canaryWorld(), echoes)
	a := b.call("mcp_pipeline", `{"steps":[
		{"tool":"messages_read","args":{"channel_id":`+id(canaryChannel)+`}},
		{"tool":"members_list","args":{"guild_id":`+id(canaryGuild)+`}},
		{"tool":"messages_delete","args":{"channel_id":`+id(canaryChannel)+`,"message_id":`+id(canaryMessage)+`}}]}`)
	if got := ran(t, a); !strings.HasPrefix(got, "step_0 success, step_1 success, step_2 error DRY_RUN_PREVIEW") {
		t.Fatal(got)
	}
	if rest := fenced.ReplaceAllString(a.text, ""); strings.Contains(rest, "CANARY") || !strings.Contains(a.text, "CANARY") {
		t.Errorf("text of a user stands outside a fence:\n%s", rest)
	}
}

// Each step is held to the allowed guilds and to the categories, and is on
// record as itself.
//
// L67 Gates lost inside a pipeline or dispatcher.
func TestPipelineStepsAreHeld(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	b := startOn(t, world, echoes, func(d *discordtools.Deps) {
		d.Config.AllowedGuilds, d.Config.Categories = []discord.GuildID{sandbox.DemoGuild}, []string{"messages"}
	})
	world.ResetRequests()
	a := b.call("mcp_pipeline", `{"steps":[`+sendStep(`"private words"`)+`,
		{"tool":"messages_send","args":{"channel_id":`+id(sandbox.DemoClubGeneral)+`,"content":"x"},"continue_on_error":true},
		{"tool":"channels_trigger_typing","args":{"channel_id":`+id(general)+`}}]}`)
	if got := ran(t, a); got != "step_0 success, step_1 error GUILD_NOT_ALLOWED, step_2 error SCOPE_REJECTED; refused step_1 step_2; aborted" || len(world.Writes()) != 1 {
		t.Errorf("%s, %d writes", got, len(world.Writes()))
	}
	var records []string
	for _, e := range b.audit.all() {
		records = append(records, e.Tool+" "+string(e.Phase))
		if strings.Contains(string(e.Args), "private") {
			t.Errorf("the %s of %s holds the text: %s", e.Phase, e.Tool, e.Args)
		}
	}
	if want := []string{"mcp_pipeline intent", "messages_send intent", "messages_send outcome", "mcp_pipeline outcome"}; !slices.Equal(records, want) {
		t.Errorf("recorded %v", records)
	}
}

// L67 Gates lost inside a pipeline or dispatcher.
func TestL67ConfirmationsAreTheStepsOwn(t *testing.T) {
	t.Parallel()
	b := start(t)
	remove := `{"tool":"channels_delete","args":{"channel_id":` + id(general) + `}}`
	if a := b.call("mcp_pipeline", `{"steps":[`+remove+`],"__confirm":true}`); a.code == "" && ran(t, a) != "step_0 error DRY_RUN_PREVIEW; refused step_0; aborted" {
		t.Errorf("a confirmation of the whole: %s", a.data)
	}
	twice := `{"tool":"channels_delete","args":{"channel_id":` + id(general) + `,"__confirm":true}},` + remove
	if a := b.call("mcp_pipeline", `{"steps":[`+remove+`,`+twice+`]}`); ran(t, a) != "step_0 error DRY_RUN_PREVIEW; refused step_0; not run step_1 step_2; aborted" {
		t.Errorf("a confirmation of another step: %s", a.data)
	}
	if writes := b.world.Writes(); len(writes) > 0 {
		t.Errorf("Discord saw %v", writes)
	}

	layout := `{"channel_id":` + id(general) + `,"components":[{"type":10,"content":"ahoy"}]}`
	step := `{"tool":"components_v2_send","args":` + b.approve("components_v2_send", layout) + `,"continue_on_error":true}`
	for i, want := range []string{
		"step_0 success, step_1 error PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED; refused step_1",
		"step_0 error PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED, step_1 error PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED; refused step_0 step_1",
	} {
		if a := b.call("mcp_pipeline", `{"steps":[`+step+`,`+step+`]}`); ran(t, a) != want {
			t.Errorf("one approval, pipeline %d: %s", i, ran(t, a))
		}
	}
	if writes := b.world.Writes(); len(writes) != 1 {
		t.Errorf("one approval was worth %d writes", len(writes))
	}
}

// What approves a pipeline knows its steps: the arguments that are final, and
// which are not.
func TestPipelineDeclaresItsSteps(t *testing.T) {
	t.Parallel()
	var steps []mcpcore.Step
	var effect mcpcore.Effect
	b := start(t, echoes, func(d *discordtools.Deps) {
		d.Chain = func(chain []mcpcore.Middleware) []mcpcore.Middleware {
			return append(chain, mcpcore.Middleware{Name: "see", Wrap: func(next mcpcore.Handler) mcpcore.Handler {
				return func(ctx context.Context, c *mcpcore.Call) (*mcpcore.Result, error) {
					if parent, _ := c.Parent(); parent == nil {
						steps, effect = c.Steps(), c.Effect()
					}
					return next(ctx, c)
				}
			}})
		}
	})
	b.call("mcp_pipeline", `{"steps":[`+echoStep("a", `{"later":"{{b.value}}","x":"{{step_0}}","own":"{{a.value}}"}`)+`,{"id":"b","save_as":"s","tool":"echo","args":{"value":"{{a.value.x}}"}},
		`+echoStep("c", `"text with {{ s . value }}"`)+`,{"tool":"channels_delete","args":{"channel_id":`+id(general)+`,"__confirm":false}}]}`)
	var got []string
	for _, s := range steps {
		got = append(got, fmt.Sprintf("%s %s %t %s", s.Tool, s.Args, s.Depends, s.At))
	}
	want := []string{
		`echo {"value":{}} false steps.0.args`,
		`echo {"value":"{{a.value.x}}"} true steps.1.args`,
		`echo {"value":"text with {{ s . value }}"} true steps.2.args`,
		`channels_delete {"__confirm":false,"channel_id":` + id(general) + `} false steps.3.args`,
	}
	if !slices.Equal(got, want) || effect != mcpcore.Destroy {
		t.Errorf("effect %s, declared\n%s\nwant\n%s", effect, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A pipeline whose time is up tells what was done, and does no more.
func TestPipelineOutOfTime(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	var stop context.CancelFunc
	b := startOn(t, world, echoes, func(d *discordtools.Deps) {
		d.Chain = func(chain []mcpcore.Middleware) []mcpcore.Middleware {
			return append(chain, mcpcore.Middleware{Name: "clock", Wrap: func(next mcpcore.Handler) mcpcore.Handler {
				return func(ctx context.Context, c *mcpcore.Call) (*mcpcore.Result, error) {
					parent, _ := c.Parent()
					if parent == nil {
						ctx, stop = context.WithCancel(ctx)
						return next(ctx, c)
					}
					defer stop()
					return next(ctx, c)
				}
			}})
		}
	})
	a := b.call("mcp_pipeline", `{"steps":[`+sendStep(`"one"`)+`,`+sendStep(`"two"`)+`,`+sendStep(`"three"`)+`]}`)
	if got := ran(t, a); got != "step_0 success; not run step_1 step_2; aborted" || len(world.Writes()) != 1 {
		t.Errorf("%s, %d writes", got, len(world.Writes()))
	}
}

// Progress is told step by step.
func TestPipelineTellsItsProgress(t *testing.T) {
	t.Parallel()
	tellsProgress(t, nil, "mcp_pipeline", `{"steps":[`+echoStep("a", "1")+`,`+echoStep("b", "2")+`]}`,
		"0/2 step 1 of 2: echo", "1/2 step 2 of 2: echo", "2/2 done")
}

// tellsProgress makes a call in both eras and wants to be told these words; a
// client that asks for no progress is told nothing.
func tellsProgress(t *testing.T, setup func(*sandbox.Discord), tool, args string, words ...string) {
	t.Helper()
	clock := func() time.Time { return now }
	for _, era := range eras {
		for _, token := range []any{nil, "p"} {
			world := sandbox.DemoWith(sandbox.Options{Clock: clock})
			if setup != nil {
				setup(world)
			}
			deps := discordtools.Deps{Session: world.Session(), Config: discordtools.Config{Armed: true}, Clock: clock}
			echoes(&deps)
			server, err := discordtools.BuildServer(deps)
			if err != nil {
				t.Fatal(err)
			}
			ct, st := mcp.NewInMemoryTransports()
			if _, err := server.Connect(t.Context(), st, nil); err != nil {
				t.Fatal(err)
			}
			told := make(chan string, 16)
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					told <- fmt.Sprintf("%v/%v %s", r.Params.Progress, r.Params.Total, r.Params.Message)
				},
			})
			session, err := client.Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			p := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
			if token != nil {
				p.SetProgressToken(token)
			}
			if res, err := session.CallTool(t.Context(), p); err != nil || res.IsError {
				t.Fatal(err, res)
			}
			if token == nil {
				if len(told) > 0 {
					t.Errorf("%s: told %s unasked", era, <-told)
				}
				_ = session.Close()
				continue
			}
			for _, want := range words {
				select {
				case got := <-told:
					if got != want {
						t.Errorf("%s: told %s, want %s", era, got, want)
					}
				case <-t.Context().Done():
					t.Fatalf("%s: %s was not told", era, want)
				}
			}
			_ = session.Close()
		}
	}
}
