package discordtools_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// TestDescriptionsAuthoriseNothing: after everything that describes tools was
// asked for, a tool that destroys still previews, and a session is shown nothing
// that it did not find.
func TestDescriptionsAuthoriseNothing(t *testing.T) {
	inEras(t, func(t *testing.T, era string) {
		const remove = "messages_delete"
		args := object(t, "channel_id", sandbox.DemoGeneral, "message_id", sandbox.DemoPoll, "__confirm", true)
		describe := func(b *bench) {
			b.Helper()
			for _, p := range b.prompts() {
				if _, err := b.filled(p, promptArgs); err != nil {
					b.Errorf("%s: %v", p.Name, err)
				}
			}
			for _, uri := range []string{surface.ContractURI, surface.ContractURI + "/" + remove, "discord://connector/policy", "discord://connector/safety"} {
				b.read(uri)
			}
		}
		b := visit(t, era, sandbox.Demo(), func(d *discordtools.Deps) { d.Config.Toolsets = []string{"category:messages"} })
		describe(b)
		if a := b.call(remove, args); a.code != mcpcore.CodeDryRun {
			t.Errorf("with its toolset picked, %s answers %q", remove, a.code)
		}
		b = visit(t, era, sandbox.Demo(), func(d *discordtools.Deps) { d.Config.Progressive = true })
		describe(b)
		if got := toolNames(t, b.mcp); !slices.Equal(got, []string{discover}) {
			t.Errorf("descriptions enabled %v", got)
		}
		_, err := b.mcp.CallTool(t.Context(), &mcp.CallToolParams{Name: remove, Arguments: json.RawMessage(args)})
		if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("a described tool that is hidden answers %v", err)
		}
		if sent := b.sent(); len(sent) > 0 {
			t.Errorf("Discord saw %q", sent)
		}
	})
}

// TestDiscoveryContactsNobody, whatever it is asked, and whether it finds
// something or not.
func TestDiscoveryContactsNobody(t *testing.T) {
	t.Parallel()
	b := visit(t, eras[1], sandbox.Demo(), func(d *discordtools.Deps) { d.Config.Progressive = true })
	found := 0
	for _, tool := range tools(t) {
		a := b.call(discover, object(t, "query", tool.Name, "detail", "full"))
		if strings.Contains(string(a.data), `"name":"`+tool.Name+`"`) {
			found++
		}
	}
	for _, args := range []string{`{}`, `{"query":"zzzz"}`, `{"risk":"destructive","limit":8}`, `{"toolset":"nope"}`, `{"query":7}`} {
		b.call(discover, args)
	}
	if found < 200 {
		t.Errorf("found %d tools: this test looks at too little", found)
	}
	if n := len(b.world.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// TestOnlyThePipelineCallsTools: nothing takes the name of a tool and calls it,
// but the pipeline, and that calls no tool which a session is not shown.
func TestOnlyThePipelineCallsTools(t *testing.T) {
	t.Parallel()
	const pipeline = "mcp_pipeline"
	for _, tool := range tools(t) {
		if (tool.Steps != nil) != (tool.Name == pipeline) {
			t.Errorf("%s calls other tools: %v", tool.Name, tool.Steps != nil)
		}
	}
	b := visit(t, eras[1], sandbox.Demo(), func(d *discordtools.Deps) { d.Config.Progressive = true })
	b.call(discover, object(t, "query", pipeline))
	step := fmt.Sprintf(`{"steps":[{"tool":"messages_send","args":{"channel_id":%s,"content":"hi"}}]}`, id(general))
	answers := func() (text string) {
		a := b.call(pipeline, step)
		return a.text + string(a.data)
	}
	if got := answers(); !strings.Contains(got, string(mcpcore.CodeToolNotAvailable)) || len(b.writes()) > 0 {
		t.Errorf("a step of a hidden tool answers %s; Discord saw %q", got, b.sent())
	}
	b.call(discover, `{"query":"messages_send"}`)
	if got := answers(); strings.Contains(got, string(mcpcore.CodeToolNotAvailable)) || len(b.writes()) != 1 {
		t.Errorf("a step of an enabled tool answers %s; Discord saw %q", got, b.sent())
	}
}

// TestReadsAreNotRemembered: what changed in between is in the next answer.
func TestReadsAreNotRemembered(t *testing.T) {
	t.Parallel()
	b := start(t)
	args := object(t, "channel_id", sandbox.DemoGeneral, "limit", 1)
	b.call("messages_read", args)
	b.world.AddMessage(sandbox.DemoGeneral, sandbox.Message{Author: sandbox.DemoMember, Content: "just now"})
	if a := b.call("messages_read", args); !strings.Contains(string(a.data), "just now") {
		t.Errorf("the second reading is the first one: %s", a.data)
	}
}
