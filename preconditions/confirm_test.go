package preconditions_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
	"github.com/guildwarden/guildwarden/preconditions"
)

type (
	ticket struct {
		Ticket int `json:"ticket" jsonschema:"number"`
	}
	done struct {
		Done bool `json:"done"`
	}
)

func tool(name string, effect mcpcore.Effect, require ...mcpcore.Precondition) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Doc: "Acts.", Effect: effect, Scope: mcpcore.LocalScope, Require: require,
	}, func(context.Context, *mcpcore.Call, ticket) (done, error) { return done{true}, nil })
}

// details calls each tool and says what was missing, "" where it acted.
func details(t *testing.T, deps mcpcore.Deps, args string) map[string]string {
	t.Helper()
	deps.Chain = middleware.Standard(middleware.Options{})
	server, err := mcpcore.BuildServer(deps)
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
	said := map[string]string{}
	for i := range deps.Tools {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: deps.Tools[i].Name, Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		data := res.StructuredContent.(map[string]any)
		if res.IsError && data["code"] != "DRY_RUN_PREVIEW" {
			t.Errorf("%s answers %v", deps.Tools[i].Name, data["code"])
		}
		said[deps.Tools[i].Name], _ = data["detail"].(string)
	}
	return said
}

func TestTwoKeysSayWhichKeyIsMissing(t *testing.T) {
	t.Parallel()
	const start = "this is a preview, nothing was changed; "
	for _, row := range []struct {
		armed bool
		args  string
		want  string
	}{
		{true, `{"ticket":7,"__confirm":true}`, ""},
		{true, `{"ticket":7}`, start + "the call is not confirmed"},
		{false, `{"ticket":7,"__confirm":true}`, start + "the server is not armed"},
		{false, `{"ticket":7}`, start + "the server is not armed and the call is not confirmed"},
	} {
		said := details(t, mcpcore.Deps{
			Tools:    []mcpcore.Tool{tool("update", mcpcore.Write), tool("delete", mcpcore.Destroy)},
			Policies: []mcpcore.Policy{preconditions.TwoKeys(row.armed)},
		}, row.args)
		if said["delete"] != row.want || said["update"] != "" {
			t.Errorf("armed %v, %s: delete says %q, update %q", row.armed, row.args, said["delete"], said["update"])
		}
	}
}

// A tool can ask for the keys itself, whatever its effect.
func TestConfirmRequiredOfOneTool(t *testing.T) {
	t.Parallel()
	write := tool("update", mcpcore.Write, preconditions.ConfirmRequired(true))
	write.Gate = mcpcore.TwoKey
	deps := mcpcore.Deps{Tools: []mcpcore.Tool{write, tool("other", mcpcore.Write)}}
	if said := details(t, deps, `{"ticket":7}`); said["update"] == "" || said["other"] != "" {
		t.Errorf("without the key: %v", said)
	}
	if said := details(t, deps, `{"ticket":7,"__confirm":true}`); said["update"] != "" {
		t.Errorf("with the key: %v", said)
	}
}
