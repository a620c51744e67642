package mcpcore_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// callee builds a server and returns its tools/call as the SDK calls it,
// without the protocol's encoding.
func callee(b *testing.B, deps mcpcore.Deps) func(tool, args string) *mcp.CallToolResult {
	b.Helper()
	server, err := mcpcore.BuildServer(deps)
	if err != nil {
		b.Fatal(err)
	}
	// The SDK gives a server's handlers to its receiving middleware alone.
	var handle mcp.MethodHandler
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handle = next
		return next
	})
	near, far := mcp.NewInMemoryTransports()
	session, err := server.Connect(context.Background(), far, nil)
	if err != nil {
		b.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bench"}, nil).Connect(context.Background(), near, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return func(tool, args string) *mcp.CallToolResult {
		req := &mcp.CallToolRequest{Session: session, Params: &mcp.CallToolParamsRaw{Name: tool, Arguments: json.RawMessage(args)}}
		res, err := handle(context.Background(), "tools/call", req)
		if err != nil {
			b.Fatal(err)
		}
		return res.(*mcp.CallToolResult)
	}
}

// BenchmarkCall is the whole standard chain of a call, from the SDK's handler
// and back, no network and no encoding of the protocol.
func BenchmarkCall(b *testing.B) {
	for name, row := range map[string]struct{ tool, args string }{
		"read":  {"tickets_list", `{"guild_id":"700000000000000001","query":"printer on fire","limit":50}`},
		"write": {"ticket_update", `{"guild_id":"700000000000000001","title":"Fire","note":"private","tags":["700000000000000001","700000000000000002"],"form":{"color":"red"}}`},
	} {
		b.Run(name, func(b *testing.B) {
			call := callee(b, (&desk{}).quiet())
			if res := call(row.tool, row.args); res.IsError {
				b.Fatalf("%v", res.StructuredContent)
			}
			b.ReportAllocs()
			for b.Loop() {
				call(row.tool, row.args)
			}
		})
	}
}

// BenchmarkRefusal is a call that does not pass validation.
func BenchmarkRefusal(b *testing.B) {
	call := callee(b, (&desk{}).quiet())
	b.ReportAllocs()
	for b.Loop() {
		call("tickets_list", `{"guild_id":"700000000000000001","limit":500}`)
	}
}

// quiet is the standard server with handlers that remember nothing.
func (d *desk) quiet() mcpcore.Deps {
	deps := d.deps()
	deps.Tools = []mcpcore.Tool{
		mcpcore.Define(d.list(), func(context.Context, *mcpcore.Call, ticketsList) (done, error) { return done{Done: true}, nil }),
		mcpcore.Define(d.update(), func(context.Context, *mcpcore.Call, ticketUpdate) (done, error) { return done{Done: true}, nil }),
	}
	return deps
}
