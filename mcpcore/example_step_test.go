package mcpcore_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

// A tool that closes a ticket by two other tools. Each step passes the whole
// chain; the tool can make no step that it did not declare.
func ExampleCall_Step() {
	type ticket struct {
		Ticket int `json:"ticket" jsonschema:"number of the ticket"`
	}
	type told struct {
		Told string `json:"told"`
	}
	does := func(name string) mcpcore.Tool {
		return mcpcore.Define(mcpcore.Tool{Name: name, Doc: "Does one thing.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope},
			func(_ context.Context, call *mcpcore.Call, in ticket) (told, error) {
				fmt.Println(call.Tool().Name, in.Ticket)
				return told{"done"}, nil
			})
	}
	closes := mcpcore.Define(mcpcore.Tool{
		Name: "ticket_close", Doc: "Closes a ticket and tells its author.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Steps: func(call *mcpcore.Call) ([]mcpcore.Step, error) {
			return []mcpcore.Step{{Tool: "ticket_archive", Args: call.Args()}, {Tool: "author_tell", Args: call.Args()}}, nil
		},
	}, func(ctx context.Context, call *mcpcore.Call, _ ticket) (told, error) {
		for i := range call.Steps() {
			if o := call.Step(ctx, i, nil); o.Err != nil {
				return told{}, o.Err
			}
		}
		return told{"closed"}, nil
	})
	server, err := mcpcore.BuildServer(mcpcore.Deps{
		Tools: []mcpcore.Tool{does("ticket_archive"), does("author_tell"), closes}, Chain: middleware.Standard(middleware.Options{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		fmt.Println(err)
		return
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "example"}, nil).Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ticket_close", Arguments: json.RawMessage(`{"ticket":7}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	// Output:
	// ticket_archive 7
	// author_tell 7
	// {"told":"closed"}
}
