package middleware_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

// A layer of one's own, in front of approval. It notes each call that got so
// far; a call that an outer layer refuses is not among them.
func ExampleStandard_insert() {
	noted := mcpcore.Middleware{Name: "noted", Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			fmt.Println("noted:", call.Tool().Name, string(call.Preview()))
			return next(ctx, call)
		}
	}}
	chain := middleware.Standard(middleware.Options{Categories: []string{"reads"}})
	at := slices.IndexFunc(chain, func(m mcpcore.Middleware) bool { return m.Guard == mcpcore.GuardApprove })
	chain = slices.Insert(chain, at, noted)
	fmt.Println(strings.Join(names(chain[at-1:]), ", "))

	server, err := mcpcore.BuildServer(mcpcore.Deps{Tools: tools(), Chain: chain})
	if err != nil {
		log.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		log.Fatal(err)
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(context.Background(), near, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	for _, tool := range []string{"look", "ban"} {
		res, err := agent.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"guild_id": home}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool, "refused:", res.IsError)
	}
	// Output:
	// preconditions, noted, approval, audit
	// noted: look {"guild_id":"700000000000000001"}
	// look refused: false
	// ban refused: true
}
