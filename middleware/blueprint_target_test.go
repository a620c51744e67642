package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

// A result of the check is the answer, an error refuses, and neither lets the
// call on.
func TestBlueprintTarget(t *testing.T) {
	t.Parallel()
	refusal := errors.New("no")
	for name, r := range map[string]struct {
		result *mcpcore.Result
		err    error
		passes bool
	}{
		"answered": {result: &mcpcore.Result{Data: json.RawMessage(`{"status":"blocked"}`)}},
		"refused":  {err: refusal},
		"let on":   {passes: true},
	} {
		reached := false
		layer := middleware.BlueprintTarget(func(context.Context, *mcpcore.Call) (*mcpcore.Result, error) { return r.result, r.err })
		res, err := layer.Wrap(func(context.Context, *mcpcore.Call) (*mcpcore.Result, error) { reached = true; return nil, nil })(t.Context(), nil)
		if reached != r.passes || res != r.result || !errors.Is(err, r.err) {
			t.Errorf("%s: reached %t, result %v, error %v", name, reached, res, err)
		}
	}
}

// A layer before validation can ask whether arguments fit: it finds what
// validation would find, changes nothing, and can leave arguments out of it.
func TestFits(t *testing.T) {
	t.Parallel()
	type in struct {
		Name string `json:"name" minLength:"2"`
		Size int    `json:"size,omitempty" maximum:"5"`
	}
	var fits, without bool
	ask := mcpcore.Middleware{Name: "ask", Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			fits, without = call.Fits(), call.Fits("name")
			return next(ctx, call)
		}
	}}
	tool := mcpcore.Define(mcpcore.Tool{
		Name: "sized", Title: "Sized", Doc: "Takes a size.", Category: "test", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
		Rules: []mcpcore.Rule{mcpcore.Requires("size", "name")},
	}, func(_ context.Context, _ *mcpcore.Call, v in) (in, error) { return v, nil })
	server, err := mcpcore.BuildServer(mcpcore.Deps{Name: "t", Version: "1", Tools: []mcpcore.Tool{tool}, Chain: append([]mcpcore.Middleware{ask}, middleware.Standard(middleware.Options{})...)})
	if err != nil {
		t.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for args, want := range map[string][2]bool{
		`{"name":"ab"}`:            {true, true},
		`{"name":"ab","size":"3"}`: {true, true}, // a number as text is fitted
		`{"name":"a"}`:             {false, true},
		`{"size":9,"name":"ab"}`:   {false, false},
		`{}`:                       {false, true},
		`{"size":3}`:               {false, true},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "sized", Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if fits != want[0] || without != want[1] || res.IsError == fits {
			t.Errorf("%s: fits %t, without name %t, then refused %t", args, fits, without, res.IsError)
		}
	}
}
