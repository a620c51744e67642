package preconditions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
	"github.com/guildwarden/guildwarden/preconditions"
)

const (
	home  = "700000000000000001"
	other = "700000000000000002"
)

type (
	named struct {
		GuildID discord.GuildID `json:"guild_id" jsonschema:"guild"`
	}
	optional struct {
		GuildID discord.GuildID `json:"guild_id,omitempty" jsonschema:"guild"`
	}
	nullable struct {
		GuildID *discord.GuildID `json:"guild_id,omitempty" jsonschema:"guild, null for none"`
	}
	text struct {
		GuildID string `json:"guild_id" jsonschema:"guild, in words"`
	}
	nowhere struct{}
)

// acts is a tool that answers and counts.
func acts[In any](name, category string, ran *int, require ...mcpcore.Precondition) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Doc: "Acts.", Category: category, Effect: mcpcore.Write, Scope: mcpcore.LocalScope, Require: require,
	}, func(context.Context, *mcpcore.Call, In) (done, error) { *ran++; return done{true}, nil })
}

// envelope is the answer to one call of a server's only tool: the members of a
// refusal, or those of success.
func envelope(t *testing.T, tool mcpcore.Tool, o middleware.Options, args string) map[string]any {
	t.Helper()
	server, err := mcpcore.BuildServer(mcpcore.Deps{Tools: []mcpcore.Tool{tool}, Chain: middleware.Standard(o)})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res.StructuredContent.(map[string]any)
}

func TestCategoryEnabled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		enabled  []string
		category string
		stops    bool
	}{
		{"on", []string{"writes", "reads"}, "writes", false},
		{"another is on", []string{"reads", "admin"}, "writes", true},
		{"none is on", []string{}, "writes", true},
		{"nil is all", nil, "writes", false},
		{"meta stays on", []string{}, "meta", false},
		{"a prefix is another", []string{"write"}, "writes", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			got := envelope(t, acts[nowhere]("act", row.category, &ran, preconditions.CategoryEnabled(row.enabled)), middleware.Options{}, `{}`)
			if stopped := got["code"] == "SCOPE_REJECTED"; stopped != row.stops || stopped == (ran == 1) {
				t.Errorf("it answers %v and ran %d times", got, ran)
			}
		})
	}
}

// The precondition and the layer say the same, so that a policy can take the
// place of the layer.
func TestCategoryEnabledAnswersLikeTheLayer(t *testing.T) {
	t.Parallel()
	ran, on := 0, []string{"reads", "admin"}
	layer := envelope(t, acts[nowhere]("act", "writes", &ran), middleware.Options{Categories: on}, `{}`)
	precondition := envelope(t, acts[nowhere]("act", "writes", &ran, preconditions.CategoryEnabled(on)), middleware.Options{}, `{}`)
	for _, member := range []string{"code", "detail", "tool", "required", "granted"} {
		if got, want := fmt.Sprint(precondition[member]), fmt.Sprint(layer[member]); got != want || layer[member] == nil {
			t.Errorf("%s is %s, the layer's %s", member, got, want)
		}
	}
	if on[0] != "reads" {
		t.Error("the caller's list was changed")
	}
}

func TestExplicitGuild(t *testing.T) {
	t.Parallel()
	withDefault := middleware.Options{DefaultGuild: home}
	explicit := preconditions.ExplicitGuild()
	ran := make([]int, 16)
	for i, row := range []struct {
		name  string
		tool  mcpcore.Tool
		o     middleware.Options
		args  string
		stops bool
	}{
		{"named", acts[named]("act", "", &ran[0], explicit), middleware.Options{}, `{"guild_id":"` + home + `"}`, false},
		{"named beside a default", acts[named]("act", "", &ran[1], explicit), withDefault, `{"guild_id":"` + other + `"}`, false},
		{"named, the same as the default", acts[named]("act", "", &ran[2], explicit), withDefault, `{"guild_id":"` + home + `"}`, false},
		{"the default", acts[named]("act", "", &ran[3], explicit), withDefault, `{}`, true},
		{"the default for null", acts[named]("act", "", &ran[4], explicit), withDefault, `{"guild_id":null}`, true},
		{"the default for an optional one", acts[optional]("act", "", &ran[5], explicit), withDefault, `{}`, true},
		{"an optional one left out", acts[optional]("act", "", &ran[6], explicit), middleware.Options{}, `{}`, true},
		{"null that clears", acts[nullable]("act", "", &ran[7], explicit), withDefault, `{"guild_id":null}`, true},
		{"blank text", acts[text]("act", "", &ran[8], explicit), middleware.Options{}, `{"guild_id":" "}`, true},
		{"a tool that takes none", acts[nowhere]("act", "", &ran[9], explicit), withDefault, `{}`, true},
		{"without the precondition", acts[named]("act", "", &ran[10]), withDefault, `{}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := envelope(t, row.tool, row.o, row.args)
			want := "<nil>"
			if row.stops {
				want = "[map[code:explicit_guild_required message:must be given in the call itself; no default is taken here path:guild_id]]"
			}
			if issues := fmt.Sprint(got["issues"]); issues != want || (got["code"] == "VALIDATION_FAILED") != row.stops || row.stops == (ran[i] == 1) {
				t.Errorf("it answers %v and ran %d times", got, ran[i])
			}
		})
	}
}
