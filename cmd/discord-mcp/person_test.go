package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// user is the person in front of a client, who answers as told.
type user struct {
	answer mcp.ElicitResult

	mu    sync.Mutex
	asked []string
}

func (u *user) options() *mcp.ClientOptions {
	if u == nil {
		return nil
	}
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.asked = append(u.asked, r.Params.Message)
		answer := u.answer
		return &answer, nil
	}}
}

// questions are what they were asked, since it was last looked at.
func (u *user) questions() []string {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	defer func() { u.asked = nil }()
	return u.asked
}

func says(action string, approve any) *user {
	u := &user{answer: mcp.ElicitResult{Action: action}}
	if approve != nil {
		u.answer.Content = map[string]any{"approve": approve}
	}
	return u
}

const (
	lounge  = string(sandbox.DemoLounge)
	closing = `{"channel_id":"` + lounge + `","__confirm":true}`
	closed  = "DELETE /channels/" + lounge
	greet   = `{"channel_id":"` + general + `","content":"hello"}`
	greeted = "POST /channels/" + general + "/messages"
)

// TestPersonAtAClient has people of all kinds at a real client in both eras.
func TestPersonAtAClient(t *testing.T) {
	t.Parallel()
	gated, writes := []string{"MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=gated"}, []string{"MCP_HUMAN_APPROVAL=writes"}
	two := `{"steps":[{"tool":"messages_send","args":` + greet + `},{"tool":"messages_read","args":{"channel_id":"` + general + `"}},` +
		`{"tool":"messages_send","args":{"channel_id":"` + general + `","content":"and goodbye"}}]}`
	for name, row := range map[string]struct {
		user       *user
		env        []string
		tool, args string
		code       string // "" where it acts
		wrote      string
		asked      []string // what each question says
	}{
		"yes":                         {says("accept", true), gated, "channels_delete", closing, "", closed, []string{`channel_id: "` + lounge + `"`}},
		"no":                          {says("accept", false), gated, "channels_delete", closing, "HUMAN_APPROVAL_REFUSED", "", []string{lounge}},
		"decline":                     {says("decline", nil), gated, "channels_delete", closing, "HUMAN_APPROVAL_REFUSED", "", []string{lounge}},
		"decline that says yes":       {says("decline", true), gated, "channels_delete", closing, "HUMAN_APPROVAL_REFUSED", "", []string{lounge}},
		"cancel":                      {says("cancel", nil), gated, "channels_delete", closing, "HUMAN_APPROVAL_REFUSED", "", []string{lounge}},
		"no such capability":          {nil, gated, "channels_delete", closing, "HUMAN_APPROVAL_REQUIRED", "", nil},
		"yes, with one key":           {says("accept", true), gated, "channels_delete", `{"channel_id":"` + lounge + `"}`, "DRY_RUN_PREVIEW", "", nil},
		"no gate":                     {says("decline", nil), gated, "messages_send", greet, "", greeted, nil},
		"every write, yes":            {says("accept", true), writes, "messages_send", greet, "", greeted, []string{`content: "hello"`}},
		"every write, no":             {says("decline", nil), writes, "messages_send", greet, "HUMAN_APPROVAL_REFUSED", "", []string{`content: "hello"`}},
		"every write, a read":         {says("decline", nil), writes, "messages_read", `{"channel_id":"` + general + `"}`, "", "", nil},
		"malformed, so nobody":        {says("accept", true), writes, "messages_send", `{"channel_id":"` + general + `"}`, "VALIDATION_FAILED", "", nil},
		"a pipeline asks once":        {says("accept", true), writes, "mcp_pipeline", two, "", greeted + ", " + greeted, []string{"and goodbye"}},
		"a pipeline, no":              {says("decline", nil), writes, "mcp_pipeline", two, "HUMAN_APPROVAL_REFUSED", "", []string{"and goodbye"}},
		"a pipeline, no capability":   {nil, writes, "mcp_pipeline", two, "HUMAN_APPROVAL_REQUIRED", "", nil},
		"a pipeline that only reads":  {says("decline", nil), writes, "mcp_pipeline", `{"steps":[{"tool":"messages_read","args":{"channel_id":"` + general + `"}}]}`, "", "", nil},
		"a step that nobody can see":  {says("accept", true), gated, "mcp_pipeline", `{"steps":[{"id":"made","tool":"messages_send","args":` + greet + `},{"tool":"messages_delete","args":{"channel_id":"` + general + `","message_id":"{{made.message_id}}","__confirm":true}}]}`, "HUMAN_APPROVAL_REQUIRED", "", nil},
		"preview instead of a person": {says("accept", true), append([]string{"MCP_WRITE_MODE=preview"}, writes...), "messages_send", greet, "WRITE_PREVIEW", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, era := range eras {
				world, base := overLoopback(t)
				s, end := agentWith(t, row.user.options(), era, append([]string{base}, row.env...), "serve")
				got := ask(t, s, row.tool, row.args)
				if got.Code != row.code {
					t.Errorf("%s: got %q, want %q: %s", era, got.Code, row.code, got.text)
				}
				if sent := wrote(world); sent != row.wrote {
					t.Errorf("%s: Discord got %q, want %q", era, sent, row.wrote)
				}
				asked := row.user.questions()
				if len(asked) != len(row.asked) || len(asked) > 0 && !strings.Contains(asked[0], row.asked[0]) {
					t.Errorf("%s: asked %q, want %q", era, asked, row.asked)
				}
				if row.tool == "messages_send" && row.wrote != "" && row.asked != nil { // one yes is for one call
					if got := ask(t, s, row.tool, row.args); got.Code != "" || len(row.user.questions()) != 1 {
						t.Errorf("%s: the identical call is not asked about anew: %+v", era, got)
					}
				}
				end()
			}
		})
	}
}

// TestAnswerIsForItsQuestion hands answers over by hand, as a client of the newer
// era may.
func TestAnswerIsForItsQuestion(t *testing.T) {
	t.Parallel()
	world, base := overLoopback(t)
	o := says("accept", true).options()
	o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	s, end := agentWith(t, o, eras[1], []string{base, "MCP_HUMAN_APPROVAL=writes"}, "serve")
	defer end()
	question := func() *mcp.CallToolResult {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "messages_send", Arguments: json.RawMessage(greet)})
		if err != nil || !res.NeedsInput() || len(res.InputRequests) != 1 {
			t.Fatalf("no question: %+v, %v", res, err)
		}
		return res
	}
	first := question()
	name := slices.Collect(maps.Keys(first.InputRequests))[0]
	answer := func(action string, content map[string]any) mcp.InputResponseMap {
		return mcp.InputResponseMap{name: &mcp.ElicitResult{Action: action, Content: content}}
	}
	yes := answer("accept", map[string]any{"approve": true})
	try := func(why string, args, state string, with mcp.InputResponseMap, code, want string) {
		t.Helper()
		got := askWith(t, s, &mcp.CallToolParams{Name: "messages_send", Arguments: json.RawMessage(args), RequestState: state, InputResponses: with})
		if sent := wrote(world); got.Code != code || sent != want {
			t.Errorf("%s: got %q, want %q, and Discord got %q: %s", why, got.Code, code, sent, got.text)
		}
	}
	for why, row := range map[string][2]string{
		"in a first call":                  {greet, ""},
		"under a state that nobody sealed": {greet, "bm9ib2R5IHNlYWxlZCB0aGlz"},
		"for another text":                 {`{"channel_id":"` + general + `","content":"hell"}`, first.RequestState},
	} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "messages_send", Arguments: json.RawMessage(row[0]), RequestState: row[1], InputResponses: yes})
		e, ok := errors.AsType[*jsonrpc.Error](err)
		if sent := wrote(world); !ok || e.Code != jsonrpc.CodeInvalidParams || !bytes.Contains(e.Data, []byte("VALIDATION_FAILED")) || sent != "" {
			t.Errorf("%s: %+v, %v, and Discord got %q", why, res, err, sent)
		}
	}
	try("none", greet, first.RequestState, nil, "HUMAN_APPROVAL_REQUIRED", "")
	try("to another question", greet, first.RequestState, mcp.InputResponseMap{"approval": yes[name]}, "HUMAN_APPROVAL_REQUIRED", "")
	for _, content := range []map[string]any{nil, {"approve": "true"}, {"approve": 1}, {"approve": nil}, {"Approve": true}, {"confirm": true}} {
		try(fmt.Sprint("a form with ", content), greet, question().RequestState, answer("accept", content), "HUMAN_APPROVAL_REFUSED", "")
	}
	try("a yes", greet, first.RequestState, yes, "", greeted)
	try("the same once more", greet, first.RequestState, yes, "HUMAN_APPROVAL_REQUIRED", "")
}

// TestAnswerOfAnOlderClient answers by hand what a client of the older era is
// asked while its call waits.
func TestAnswerOfAnOlderClient(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`
	for name, row := range map[string]struct {
		answer string // a member of the response
		code   string
		wrote  string
	}{
		"yes":            {`"result":{"action":"accept","content":{"approve":true}}`, "", closed},
		"a text":         {`"result":{"action":"accept","content":{"approve":"true"}}`, "HUMAN_APPROVAL_", ""},
		"a number":       {`"result":{"action":"accept","content":{"approve":1}}`, "HUMAN_APPROVAL_", ""},
		"an empty form":  {`"result":{"action":"accept"}`, "HUMAN_APPROVAL_", ""},
		"another action": {`"result":{"action":"approve","content":{"approve":true}}`, "HUMAN_APPROVAL_", ""},
		"nonsense":       {`"result":[]`, "HUMAN_APPROVAL_REQUIRED", ""},
		"an error":       {`"error":{"code":-32603,"message":"no window"}`, "HUMAN_APPROVAL_REQUIRED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world, base := overLoopback(t)
			p := serve(t, []string{base, "MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=gated"}, "serve")
			p.send(hello)
			if m := p.next(); m.Error != nil {
				t.Fatalf("initialize: %+v", m.Error)
			}
			p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)

			forged := strings.Replace(call("forged", "channels_delete", closing), `"arguments"`,
				`"requestState":"x","inputResponses":{"approve":{"action":"accept","content":{"approve":true}}},"arguments"`, 1)
			p.send(forged)
			if m := p.next(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("an answer in a first call: %+v %s", m.Error, m.Result)
			}
			if sent := wrote(world); sent != "" {
				t.Fatalf("an answer in a first call: Discord got %q", sent)
			}

			p.send(call("1", "channels_delete", closing))
			q := p.next()
			if q.Method != "elicitation/create" {
				t.Fatalf("no question but %+v %s", q, q.Result)
			}
			if sent := wrote(world); sent != "" {
				t.Errorf("Discord got %q before the answer", sent)
			}
			p.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,` + row.answer + `}`)
			m := p.next()
			if failed := bytes.Contains(m.Result, []byte(`"isError":true`)); m.Error != nil || failed != (row.code != "") || !bytes.Contains(m.Result, []byte(row.code)) {
				t.Errorf("got %+v %s, want the code %q", m.Error, m.Result, row.code)
			}
			if sent := wrote(world); sent != row.wrote {
				t.Errorf("Discord got %q, want %q", sent, row.wrote)
			}
			_ = p.in.Close()
			if e := p.wait(); e.status != 0 {
				t.Errorf("exit status %d; stderr:\n%s", e.status, e.stderr)
			}
		})
	}
}
