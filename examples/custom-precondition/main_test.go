package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// agent is a client of an armed server on the world.
func agent(world *sandbox.Discord, tickets Tickets) (*mcp.ClientSession, error) {
	server, err := build(world.Session(), discordtools.Config{Armed: true}, tickets)
	if err != nil {
		return nil, err
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		return nil, err
	}
	return mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(context.Background(), near, nil)
}

// ask is the code and the detail of a refusal, two empty texts of success.
func ask(s *mcp.ClientSession, tool, args string) (code, detail string, err error) {
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", "", err
	}
	data, _ := res.StructuredContent.(map[string]any)
	if res.IsError {
		code, _ = data["code"].(string)
		detail, _ = data["detail"].(string)
	}
	return code, detail, nil
}

// The same ban with no ticket, a closed one and an open one.
func Example() {
	s, err := agent(sandbox.Demo(), board{"T-6": false, "T-7": true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, reason := range []string{"spam", "T-6: spam", "T-7: spam"} {
		_, refusal, err := ask(s, "members_ban", fmt.Sprintf(`{"guild_id":%q,"user_id":%q,"audit_reason":%q,"__confirm":true}`,
			sandbox.DemoGuild, sandbox.DemoNewcomer, reason))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", reason, cmp.Or(refusal, "banned"))
	}
	// Output:
	// spam: the precondition "open_ticket" refused: name the ticket in audit_reason, such as "T-7: spam"
	// T-6: spam: the precondition "open_ticket" refused: T-6 is not an open ticket; ask a moderator to open one
	// T-7: spam: banned
}

// down is a ticket system that does not answer.
type down struct{}

func (down) Open(context.Context, string) (bool, error) {
	return false, errors.New("dial tcp: canary.internal:443: refused")
}

func TestTicketHoldsTheTwoTools(t *testing.T) {
	t.Parallel()
	lounge := `{"channel_id":"` + string(sandbox.DemoLounge) + `"`
	open := board{"T-7": true}
	for _, row := range []struct {
		name, tool, args string
		tickets          Tickets
		code, write      string
	}{
		{"an open ticket", "channels_delete", lounge + `,"audit_reason":"T-7","__confirm":true}`, open, "", "DELETE /channels/{channel_id}"},
		{"no ticket", "channels_delete", lounge + `,"__confirm":true}`, open, "PRECONDITION_FAILED", ""},
		{"an unknown ticket", "channels_delete", lounge + `,"audit_reason":"T-70","__confirm":true}`, open, "PRECONDITION_FAILED", ""},
		{"something like a ticket", "channels_delete", lounge + `,"audit_reason":"NT-7","__confirm":true}`, open, "PRECONDITION_FAILED", ""},
		{"nobody knows", "channels_delete", lounge + `,"audit_reason":"T-7","__confirm":true}`, down{}, "PRECONDITION_FAILED", ""},
		{"a ticket is no second key", "channels_delete", lounge + `,"audit_reason":"T-7"}`, open, "DRY_RUN_PREVIEW", ""},
		{"a tool that the policy does not name", "messages_send", `{"channel_id":"` + string(sandbox.DemoGeneral) + `","content":"x"}`, down{}, "", "POST /channels/{channel_id}/messages"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			world := sandbox.Demo()
			s, err := agent(world, row.tickets)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			code, detail, err := ask(s, row.tool, row.args)
			if err != nil {
				t.Fatal(err)
			}
			if code != row.code || strings.Contains(detail, "canary") {
				t.Errorf("it answers %q: %s", code, detail)
			}
			var writes []string
			for _, r := range world.Writes() {
				writes = append(writes, r.Method+" "+r.Route)
			}
			if got := strings.Join(writes, ", "); got != row.write {
				t.Errorf("Discord got %q, want %q", got, row.write)
			}
		})
	}
}
