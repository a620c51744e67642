package mcpcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	memory "github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
	"github.com/guildwarden/guildwarden/middleware"
)

// shelf is a world of books that are put up one by one, at most so many for each
// plan.
type shelf struct {
	mu     sync.Mutex
	books  map[string]string // what is there, with its place
	most   int               // 0 is all
	writes []string
	reads  int
	during func(book string) // at each write
	after  func(book string) // at each read-back
	fault  operationtest.Fault
}

type putUp struct {
	Room  string   `json:"room" jsonschema:"which room"`
	Books []string `json:"books" jsonschema:"which books" minItems:"1" maxItems:"9"`
}

type shelfState struct {
	Books []string          `json:"books"`
	There map[string]string `json:"there"`
}

func (s *shelf) putting() mcpcore.Operation[putUp, shelfState] {
	return mcpcore.Operation[putUp, shelfState]{
		Name: "shelf-filling", Title: "Put up books", Doc: "Puts up books, one by one.", Category: "library",
		Effect: mcpcore.Write, Scope: mcpcore.ExternalScope, Takes: time.Minute,
		Scopes: []mcpcore.PolicyScope{{Name: "rooms", Arg: "room"}},
		Plan: func(_ context.Context, call *mcpcore.Call, in putUp) (plan mcpcore.Change[shelfState], err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reads++
			plan = mcpcore.Change[shelfState]{Action: "put up", State: shelfState{There: map[string]string{}}}
			for _, book := range in.Books {
				if at, there := s.books[book]; there {
					plan.State.There[book] = at
				} else if s.most == 0 || len(plan.Affected) < s.most {
					plan.Affected = append(plan.Affected, mcpcore.Affected{ID: book})
				} else {
					plan.More = true
					break
				}
				plan.State.Books = append(plan.State.Books, book)
			}
			plan.Current = len(plan.Affected) == 0
			return plan, nil
		},
		Targets: func(in putUp, _ shelfState) []mcpcore.Target {
			return []mcpcore.Target{{Kind: "room", ID: in.Room}}
		},
		Children: func(_ putUp, st shelfState) (row []mcpcore.Child[shelfState]) {
			for _, book := range st.Books {
				_, there := st.There[book]
				row = append(row, mcpcore.Child[shelfState]{Name: book, State: shelfState{Books: []string{book}}, Current: there})
			}
			return row
		},
		Apply: func(_ context.Context, _ *mcpcore.Call, _ putUp, st shelfState) (w mcpcore.Written, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			book := st.Books[0]
			s.writes = append(s.writes, "PUT "+book)
			if s.during != nil {
				s.during(book)
			}
			switch s.fault {
			case operationtest.Forbidden:
				s.fault = ""
				return w, mcpcore.NotDone(errRefused)
			case operationtest.Limited, operationtest.Failing, operationtest.Reset, operationtest.Lost, operationtest.Garbled:
				return w, fmt.Errorf("canary-cause: %s", s.fault)
			}
			s.books[book] = "here"
			return mcpcore.Written{ID: "id-" + book}, nil
		},
		ReadBack: func(_ context.Context, _ *mcpcore.Call, _ putUp, st shelfState, w mcpcore.Written) (r mcpcore.Reading, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			book := st.Books[0]
			if s.reads++; s.after != nil {
				s.after(book)
			}
			at, there := s.books[book]
			switch {
			case s.fault == operationtest.Unread:
				return r, fmt.Errorf("canary-cause: %s", s.fault)
			case !there || w.ID != "id-"+book:
				return r, fmt.Errorf("%s is not there as %s", book, w.ID)
			case at != "here":
				r.Drift = []string{"place"}
			}
			return r, nil
		},
	}
}

func (s *shelf) deps(u operationtest.Setup) mcpcore.Deps {
	return mcpcore.Deps{
		Workflows: []mcpcore.Workflow{s.putting().Workflow()}, Chain: middleware.Standard(middleware.Options{}),
		Permits: u.Permits, Operations: u.Operations, Ledger: u.Ledger, Approver: u.Approver, Audit: u.Audit,
		StateKey: u.StateKey, Armed: u.Armed, Clock: u.Clock,
	}
}

const threeBooks = `{"room":"r-1","books":["a","b","c"]}`

func roomPermit() mcpcore.Permit {
	return mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"rooms": {"r-1"}}}
}

func TestWorkflowOfChildrenKeepsTheRules(t *testing.T) {
	t.Parallel()
	operationtest.Workflow(t, operationtest.Subject{
		Workflow: "shelf-filling", Plan: "plan_shelf_filling", Execute: "execute_shelf_filling",
		World: func(*testing.T) *operationtest.World {
			s := &shelf{books: map[string]string{}}
			return &operationtest.World{
				Any: s, Serve: func(u operationtest.Setup) (*mcp.Server, error) { return mcpcore.BuildServer(s.deps(u)) },
				Writes: func() []string { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.writes) },
				Reads:  func() int { s.mu.Lock(); defer s.mu.Unlock(); return s.reads },
				Change: func() { s.mu.Lock(); defer s.mu.Unlock(); s.books["z"] = "here" },
				Settle: func() { s.books = map[string]string{"a": "here", "b": "here", "z": "here"} },
				Fail:   func(f operationtest.Fault) bool { s.fault = f; return true },
			}
		},
		Args: `{"room":"r-1","books":["z","a","b"]}`, Sends: []string{"PUT z", "PUT a", "PUT b"}, Children: true, Permit: roomPermit(), Secrets: []string{"canary", "PUT"},
	})
}

// reading is a library with a client whose user says yes.
type reading struct {
	*testing.T
	shelf *shelf
	ops   *memory.Operations
	s     *mcp.ClientSession
	user  *user
}

func bookroom(t *testing.T, s *shelf) reading {
	t.Helper()
	s.books = map[string]string{}
	r := reading{t, s, memory.NewOperations(nil), nil, &user{answer: yes()}}
	deps := s.deps(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"shelf-filling": roomPermit()}},
		Operations: r.ops, Ledger: memory.NewMemory(nil), Approver: mcpcore.AtClient{},
	})
	deps.Volatile = true
	r.s = join(t, deps, eras[1], r.user.options())
	return r
}

// does executes and wants the answer to say, and the shelf to have been sent.
func (r reading) does(args, says string, writes ...string) string {
	r.Helper()
	got := send(r.T, r.s, "execute_shelf_filling", args)
	if !strings.Contains(got, says) || strings.Contains(got, "canary") || !slices.Equal(r.shelf.writes, writes) {
		r.Errorf("it sends %q and answers %s\nwant %s", r.shelf.writes, got, says)
	}
	return got
}

func (r reading) is(want mcpcore.Status) {
	r.Helper()
	kept, err := r.ops.Receipt(r.Context(), "shelf-filling", mcpcore.HashKey("key-00000000000001"))
	if err != nil || kept.Status != want {
		r.Errorf("the receipt is %+v, %v, want %s", kept, err, want)
	}
	if held, err := r.ops.Claims(r.Context()); err != nil || len(held) != 0 {
		r.Errorf("held are %+v, %v", held, err)
	}
}

func TestFrontierPausesAndGoesOn(t *testing.T) {
	t.Parallel()
	r := bookroom(t, &shelf{most: 2})
	if plan := send(t, r.s, "plan_shelf_filling", threeBooks); !strings.Contains(plan, `"more":true`) {
		t.Errorf("the plan is %s", plan)
	}
	first := r.does(threeBooks, `"status":"paused"`, "PUT a", "PUT b")
	for _, want := range []string{`"name":"a"`, `"resourceId":"id-b"`, `"operationKeyHash":"sha256:`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
	r.is(mcpcore.StatusPaused)
	r.does(`{"room":"r-1","books":["a","b","d"]}`, `the operation key is of another request, which is paused`, "PUT a", "PUT b")
	listed := say(t, r.s, &mcp.CallToolParams{Name: "list_activity", Arguments: json.RawMessage(`{"status":"paused"}`)})
	if !strings.Contains(listed, `"status":"paused"`) {
		t.Errorf("listed is %s", listed)
	}
	r.does(threeBooks, `"status":"completed"`, "PUT a", "PUT b", "PUT c")
	r.is(mcpcore.StatusCompleted)
	listed = say(t, r.s, &mcp.CallToolParams{Name: "list_activity", Arguments: json.RawMessage(`{}`)})
	if got := strings.Count(listed, `"parentKeyHash":"`+string(mcpcore.HashKey("key-00000000000001"))); got != 3 {
		t.Errorf("%d children are listed: %s", got, listed)
	}
}

func TestPausedAnswerSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	r := bookroom(t, &shelf{most: 1})
	res, err := r.s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_shelf_filling", Arguments: json.RawMessage(strings.TrimSuffix(threeBooks, "}") + `,"operationKey":"key-00000000000001"}`)})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range res.Content {
		if said, ok := c.(*mcp.TextContent); ok {
			text += said.Text
		}
	}
	if res.IsError || !strings.Contains(text, "the same call with the same operationKey goes on") {
		t.Errorf("it says %s", text)
	}
}

func TestWhatWasDoneIsReadBackBeforeTheRest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, says string
		change     func(s *shelf)
		kept       mcpcore.Status
	}{
		{"it is gone", `"reason":"child-changed"`, func(s *shelf) { delete(s.books, "b") }, mcpcore.StatusFailed},
		{"it has moved", `"drift":["place"]`, func(s *shelf) { s.books["a"] = "there" }, mcpcore.StatusFailed},
		{"it cannot be read", `"status":"paused"`, func(s *shelf) { s.fault = operationtest.Unread }, mcpcore.StatusPaused},
	} {
		r := bookroom(t, &shelf{most: 2})
		r.does(threeBooks, `"status":"paused"`, "PUT a", "PUT b")
		row.change(r.shelf)
		r.does(threeBooks, row.says, "PUT a", "PUT b")
		r.is(row.kept)
		// As it was again, it goes on only where the key was left.
		r.shelf.books, r.shelf.fault = map[string]string{"a": "here", "b": "here"}, ""
		if row.kept == mcpcore.StatusPaused {
			r.does(threeBooks, `"status":"completed"`, "PUT a", "PUT b", "PUT c")
		} else {
			r.does(threeBooks, `OPERATION_KEY_CONFLICT`, "PUT a", "PUT b")
		}
		if t.Failed() {
			t.Fatal(row.name)
		}
	}
}

func TestPausedOperationWhoseRestIsThereEnds(t *testing.T) {
	t.Parallel()
	r := bookroom(t, &shelf{most: 2})
	r.does(threeBooks, `"status":"paused"`, "PUT a", "PUT b")
	r.shelf.books["c"] = "here"
	asked := r.user.asked.Load()
	r.does(threeBooks, `"status":"completed"`, "PUT a", "PUT b")
	if r.is(mcpcore.StatusCompleted); r.user.asked.Load() != asked {
		t.Error("a person was asked for nothing")
	}
}

func TestDriftBlocks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		book, says string
		writes     []string
		kept       mcpcore.Status
	}{
		{"b", `the rest was not begun`, []string{"PUT a", "PUT b"}, mcpcore.StatusFailed},
		{"c", `"status":"completed-with-drift"`, []string{"PUT a", "PUT b", "PUT c"}, mcpcore.StatusCompleted},
	} {
		r := bookroom(t, &shelf{})
		r.shelf.after = func(book string) {
			if book == row.book {
				r.shelf.books[book] = "there"
			}
		}
		r.does(threeBooks, row.says, row.writes...)
		r.is(row.kept)
		r.does(threeBooks, `OPERATION_KEY_CONFLICT`, row.writes...)
	}
}

// Whose time is over, or whose client has gone, stops between two writes.
func TestChildrenPauseBetweenTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := bookroom(t, &shelf{})
		r.shelf.during = func(string) { time.Sleep(20 * time.Second) }
		r.does(threeBooks, `"status":"paused"`, "PUT a", "PUT b")
		r.is(mcpcore.StatusPaused)
		r.does(threeBooks, `"status":"completed"`, "PUT a", "PUT b", "PUT c")
		_ = r.s.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		r := bookroom(t, &shelf{})
		ctx, gone := context.WithCancel(t.Context())
		r.shelf.during = func(string) { gone(); time.Sleep(time.Second) }
		_, err := r.s.CallTool(ctx, &mcp.CallToolParams{Name: "execute_shelf_filling", Arguments: json.RawMessage(strings.TrimSuffix(threeBooks, "}") + `,"operationKey":"key-00000000000001"}`)})
		if err == nil {
			t.Error("the client did not give up")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.is(mcpcore.StatusPaused)
		r.shelf.during = nil
		r.does(threeBooks, `"status":"completed"`, "PUT a", "PUT b", "PUT c")
		_ = r.s.Close()
	})
}
