package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// ban is a confirmed ban.
var ban = fmt.Sprintf(`{"guild_id":%q,"user_id":%q,"__confirm":true}`, sandbox.DemoGuild, sandbox.DemoNewcomer)

// agent is a client of an armed server on the world, whose staff is one
// moderator.
func agent(world *sandbox.Discord) (*mcp.ClientSession, error) {
	server, err := build(world.Session(), discordtools.Config{Armed: true}, string(sandbox.DemoModLog), string(sandbox.DemoModerator))
	if err != nil {
		return nil, err
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		return nil, err
	}
	return mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(context.Background(), near, nil)
}

// ask is the code of a refusal, "done" of success.
func ask(s *mcp.ClientSession, args string) (string, error) {
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "members_ban", Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	if !res.IsError {
		return "done", nil
	}
	code, _ := res.StructuredContent.(map[string]any)["code"].(string)
	return code, nil
}

// answer is a reaction to the newest message in the staff's channel.
func answer(world *sandbox.Discord, emoji string, by discord.UserID) {
	messages := world.Messages(sandbox.DemoModLog)
	world.AddReaction(sandbox.DemoModLog, messages[len(messages)-1].ID, sandbox.EmojiRef{Name: emoji}, by)
}

// The question, a member's yes, which counts for nothing, and a moderator's.
func Example() {
	world := sandbox.Demo()
	s, err := agent(world)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, by := range []discord.UserID{"", sandbox.DemoMember, sandbox.DemoModerator} {
		if by != "" {
			answer(world, yes, by)
		}
		got, err := ask(s, ban)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(got)
	}
	// Output:
	// HUMAN_APPROVAL_PENDING
	// HUMAN_APPROVAL_PENDING
	// done
}

func TestStaffIsAskedOnceAndCanRefuse(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	s, err := agent(world)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := len(world.Messages(sandbox.DemoModLog))
	for _, want := range []string{"HUMAN_APPROVAL_PENDING", "HUMAN_APPROVAL_PENDING"} {
		if got, err := ask(s, ban); err != nil || got != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
	messages := world.Messages(sandbox.DemoModLog)
	if len(messages) != before+1 || !strings.Contains(messages[before].Content, `user_id: "`+string(sandbox.DemoNewcomer)+`"`) {
		t.Fatalf("staff reads %+v", messages[before:])
	}
	answer(world, yes, sandbox.DemoModerator)
	answer(world, no, sandbox.DemoModerator) // a no goes before a yes
	for range 2 {
		if got, err := ask(s, ban); err != nil || got != "HUMAN_APPROVAL_REFUSED" {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if len(world.Bans(sandbox.DemoGuild)) != len(sandbox.Demo().Bans(sandbox.DemoGuild)) {
		t.Error("somebody was banned")
	}
}

// A channel that staff cannot be asked in stops the call.
func TestStaffThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	s, err := agent(world)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	world.Inject(sandbox.Fault{Method: "POST", Route: "/channels/{channel_id}/messages", Status: 403})
	if got, err := ask(s, ban); err != nil || got != "HUMAN_APPROVAL_REQUIRED" {
		t.Errorf("got %s, %v", got, err)
	}
}
