package discordtools_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// benchmarked calls a tool over and over, from a client through the whole server
// to a sandbox.
func benchmarked(b *testing.B, world *sandbox.Discord, tool, args string) {
	b.Helper()
	server, err := discordtools.BuildServer(discordtools.Deps{Session: world.Session(), Audit: &recorder{}})
	if err != nil {
		b.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(b.Context(), st, nil); err != nil {
		b.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), ct, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = session.Close() })
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
	b.ReportAllocs()
	for b.Loop() {
		res, err := session.CallTool(b.Context(), params)
		if err != nil {
			b.Fatal(err)
		}
		if res.IsError {
			b.Fatal(res.Content[0].(*mcp.TextContent).Text)
		}
	}
}

// openWorld is a demo world whose rate limits are never reached.
func openWorld() *sandbox.Discord {
	return sandbox.DemoWith(sandbox.Options{Limits: []sandbox.Limit{{Max: 1 << 30, Per: time.Hour}}})
}

// busyWorld is an open world with so many more messages in #general.
func busyWorld(n int) *sandbox.Discord {
	world := openWorld()
	for i := range n {
		world.AddMessage(sandbox.DemoGeneral, sandbox.Message{
			Author: sandbox.DemoMember, Content: fmt.Sprintf("Message %d: the lamp in the north tower blinks twice and then <stays> dark, see the log.", i),
		})
	}
	return world
}

func BenchmarkReadMessages(b *testing.B) {
	benchmarked(b, busyWorld(50), "messages_read", `{"channel_id":`+id(general)+`,"limit":50}`)
}

func BenchmarkSendMessage(b *testing.B) {
	benchmarked(b, openWorld(), "messages_send", `{"channel_id":`+id(general)+`,"content":"The lamp is lit again."}`)
}

// BenchmarkBuildServer is what a start costs beside the process: every tool with
// its schemas.
func BenchmarkBuildServer(b *testing.B) {
	session := sandbox.New(sandbox.Options{}).Session()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := discordtools.BuildServer(discordtools.Deps{Session: session}); err != nil {
			b.Fatal(err)
		}
	}
}
