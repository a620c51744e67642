package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// record is an audit sink that keeps what it is given.
type record struct {
	mu     sync.Mutex
	events []mcpcore.AuditEvent
}

func (r *record) Record(_ context.Context, e mcpcore.AuditEvent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// says is the events in short.
func (r *record) says() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %v", e.Tool, e.Phase, e.Status, e.Evidence)))
	}
	return lines
}

// agent is a client of an armed server on the world.
func agent(world *sandbox.Discord, sink mcpcore.AuditSink, duty mcpcore.EvidenceResolver) (*mcp.ClientSession, error) {
	server, err := build(world.Session(), discordtools.Config{Armed: true}, sink, duty)
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

var deleteLounge = `{"channel_id":"` + string(sandbox.DemoLounge) + `","__confirm":true}`

// The same call while nobody is on duty and while somebody is.
func Example() {
	var sink record
	shift := ""
	s, err := agent(sandbox.Demo(), &sink, rota{func(context.Context, string) (string, error) { return shift, nil }})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, shift = range []string{"", "Tomo"} {
		_, refusal, err := ask(s, "channels_delete", deleteLounge)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("on duty %q: %s\n", shift, cmp.Or(refusal, "deleted"))
	}
	for _, line := range sink.says() {
		fmt.Println(line)
	}
	// Output:
	// on duty "": the precondition "on_duty" refused: nobody of the team moderators is on duty; wait for the next shift
	// on duty "Tomo": deleted
	// channels_delete intent  [on_call]
	// channels_delete outcome success [on_call]
}

// partial answers without knowing.
type partial struct{ rota }

func (partial) Resolve(context.Context, mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	return mcpcore.Evidence{Data: Shift{"Tomo"}}, nil
}

func TestDutyHoldsDestructiveTools(t *testing.T) {
	t.Parallel()
	tomo := func(context.Context, string) (string, error) { return "Tomo", nil }
	for _, row := range []struct {
		name, tool, args string
		duty             mcpcore.EvidenceResolver
		code, write      string
		audit            []string
	}{
		{
			"somebody", "channels_delete", deleteLounge, rota{tomo}, "", "DELETE /channels/{channel_id}",
			[]string{"channels_delete intent  [on_call]", "channels_delete outcome success [on_call]"},
		},
		{"nobody", "channels_delete", deleteLounge, rota{func(context.Context, string) (string, error) { return "", nil }}, "PRECONDITION_FAILED", "", nil},
		{"not known", "channels_delete", deleteLounge, rota{func(context.Context, string) (string, error) { return "Tomo", errors.New("canary") }}, "PRECONDITION_FAILED", "", nil},
		{"partial", "channels_delete", deleteLounge, partial{}, "PRECONDITION_FAILED", "", nil},
		{
			"a tool that only writes", "messages_send", `{"channel_id":"` + string(sandbox.DemoGeneral) + `","content":"x"}`, partial{}, "",
			"POST /channels/{channel_id}/messages", []string{"messages_send intent  []", "messages_send outcome success []"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			world, sink := sandbox.Demo(), &record{}
			s, err := agent(world, sink, row.duty)
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
			if got := fmt.Sprint(sink.says()); got != fmt.Sprint(row.audit) {
				t.Errorf("recorded %s, want %s", got, row.audit)
			}
		})
	}
}

// A precondition whose evidence nobody gives does not build.
func TestWithoutTheResolverItDoesNotBuild(t *testing.T) {
	t.Parallel()
	_, err := discordtools.BuildServer(discordtools.Deps{
		Session:  sandbox.Demo().Session(),
		Policies: []mcpcore.Policy{{Name: "watched", Require: []mcpcore.Precondition{onDuty("moderators")}}},
	})
	if err == nil || !strings.Contains(err.Error(), string(EvidenceOnCall)) {
		t.Errorf("the error is %v", err)
	}
}
