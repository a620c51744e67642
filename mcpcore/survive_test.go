package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// TestL50PanicIsAnErrorResult: in the handler and in every place of the chain.
func TestL50PanicIsAnErrorResult(t *testing.T) {
	t.Parallel()
	panics := func(context.Context, *mcpcore.Call, handlerFunc) (*mcpcore.Result, error) { panic("canary-panic") }
	places := len(new(desk).deps().Chain)
	for at := range places + 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			d, log := &desk{}, &lockedBuffer{}
			deps := d.deps()
			deps.Logger = logTo(log)
			if at <= places {
				deps.Chain = slices.Insert(deps.Chain, at, mcpcore.Middleware{Name: "panics", Wrap: func(next handlerFunc) handlerFunc {
					return func(ctx context.Context, c *mcpcore.Call) (*mcpcore.Result, error) {
						if c.Tool().Effect == mcpcore.Read {
							return next(ctx, c)
						}
						return panics(ctx, c, next)
					}
				}})
			} else {
				deps.Tools[1] = acting(d, func(context.Context, *mcpcore.Call) error { panic(errors.New("canary-panic")) })
			}
			c := connect(t, deps)
			for range 2 {
				if a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeInternal); strings.Contains(a.everything(), "canary") {
					t.Errorf("the panic's value reached the client: %s", a.everything())
				}
			}
			c.passed(t, "tickets_list", goodList) // the server lives
			if got := log.String(); !strings.Contains(got, `"msg":"panic"`) || !strings.Contains(got, "_test.go") || strings.Contains(got, "canary") {
				t.Errorf("the log is %s", got)
			}
		})
	}
}

func TestPanicOfWhatTheEmbedderBrings(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(d *mcpcore.Deps){
		"a precondition": func(d *mcpcore.Deps) {
			d.Tools[1].Require = []mcpcore.Precondition{{Name: "p", Check: func(context.Context, *mcpcore.Call) error { panic("canary") }}}
		},
		"a rule": func(d *mcpcore.Deps) {
			d.Tools[1].Rules = []mcpcore.Rule{{Check: func(*mcpcore.Call) *mcpcore.Issue { panic("canary") }}}
		},
		"a resolver": func(d *mcpcore.Deps) { d.Evidence = []mcpcore.EvidenceResolver{panicky{}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			deps := d.deps()
			deps.Tools[1].Require = []mcpcore.Precondition{{Name: "asks", Check: func(ctx context.Context, c *mcpcore.Call) error {
				if len(deps.Evidence) == 0 {
					return nil
				}
				_, err := c.Evidence(ctx, "identity", "")
				return err
			}}}
			wrong(&deps)
			c := connect(t, deps)
			if a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeInternal); strings.Contains(a.everything(), "canary") {
				t.Errorf("%s", a.everything())
			}
			c.passed(t, "tickets_list", goodList)
		})
	}
}

type panicky struct{}

func (panicky) Kinds() []mcpcore.EvidenceKind { return []mcpcore.EvidenceKind{"identity"} }
func (panicky) Resolve(context.Context, mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	panic("canary")
}

func TestIdentifyThatPanicsIsAProtocolError(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { panic("canary") }
	c := connect(t, deps)
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "tickets_list"})
	if wire := wireError(t, err); wire.Code != jsonrpc.CodeInternalError || strings.Contains(wire.Message, "canary") {
		t.Errorf("the client sees %v", wire)
	}
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the server is gone: %v", err)
	}
}

func wireError(t *testing.T, err error) *jsonrpc.Error {
	t.Helper()
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		t.Fatalf("%v is no error of the protocol", err)
	}
	return wire
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context, _ *mcpcore.Call) error {
		<-ctx.Done()
		return fmt.Errorf("wait: %w", ctx.Err())
	}
	for _, row := range []struct {
		name string
		edit func(t *mcpcore.Tool)
		want mcpcore.Code
	}{
		{"what can be repeated", func(*mcpcore.Tool) {}, mcpcore.CodeUpstreamTimeout},
		{"a write that may have happened", func(t *mcpcore.Tool) { t.Repeatable = false }, mcpcore.CodeOutcomeUnknown},
		{"a read", func(t *mcpcore.Tool) { t.Repeatable, t.Effect = false, mcpcore.Read }, mcpcore.CodeUpstreamTimeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, s := &desk{}, &sink{}
				deps := d.deps()
				deps.Audit, deps.Tools[1] = s, acting(d, waits)
				row.edit(&deps.Tools[1])
				c := connect(t, deps)
				start := time.Now()
				c.refused(t, "ticket_update", goodUpdate, row.want)
				if took := time.Since(start); took != 2*time.Minute {
					t.Errorf("it took %v, want the default of two minutes", took)
				}
				for _, e := range s.events {
					if e.Phase == mcpcore.Outcome && e.ResultCode != row.want {
						t.Errorf("records %s", e.ResultCode)
					}
				}
			})
		})
	}
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	d := &desk{}
	running, leave := make(chan struct{}), make(chan struct{})
	deps := d.deps()
	deps.InFlight = 1
	deps.Tools[1] = acting(d, func(context.Context, *mcpcore.Call) error {
		running <- struct{}{}
		<-leave
		return nil
	})
	c := connect(t, deps)
	var wg sync.WaitGroup
	wg.Go(func() { c.passed(t, "ticket_update", goodUpdate) })
	<-running
	c.refused(t, "tickets_list", goodList, mcpcore.CodeBulkheadFull)
	close(leave)
	wg.Wait()
	c.passed(t, "tickets_list", goodList)
}

// TestCallsRefusedBeforeTheChainAreObserved has layers that observe, at both ends
// of the chain, and layers that do not; one of the former tries to let the call
// through.
func TestCallsRefusedBeforeTheChainAreObserved(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		user string
		full bool
		want mcpcore.Code
	}{
		"unknown caller": {"", false, mcpcore.CodeAuthInvalid},
		"too many":       {"ann", true, mcpcore.CodeBulkheadFull},
		"nothing wrong":  {"ann", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var seen []string
			layer := func(name string, observes bool) mcpcore.Middleware {
				m := lies(name, "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
					res, err := next(ctx, c)
					if c.Tool().Name != "ticket_update" {
						return res, err
					}
					saw := name
					if err != nil {
						saw += fmt.Sprintf(" %s %q %s", err.(*mcpcore.Error).Code, c.Principal(), c.Preview())
					}
					mu.Lock()
					seen = append(seen, saw)
					mu.Unlock()
					if observes && err != nil {
						return &mcpcore.Result{}, nil
					}
					return res, err
				})
				m.Observes = observes
				return m
			}
			d, s := &desk{}, &sink{}
			running, leave := make(chan struct{}), make(chan struct{})
			deps := d.deps()
			deps.Tools[0] = mcpcore.Define(mcpcore.Tool{Name: "wait", Doc: "Waits.", Category: "tickets", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
				func(context.Context, *mcpcore.Call, struct{}) (done, error) {
					running <- struct{}{}
					<-leave
					return done{}, nil
				})
			deps.Chain = slices.Concat([]mcpcore.Middleware{layer("blind, outside", false), layer("outside", true)}, deps.Chain, []mcpcore.Middleware{layer("inside", true), layer("blind, inside", false)})
			deps.Audit, deps.InFlight = s, 1
			deps.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return row.user, nil }
			c := connect(t, deps)
			if row.full {
				var wg sync.WaitGroup
				wg.Go(func() { c.passed(t, "wait", `{}`) })
				defer wg.Wait()
				defer close(leave)
				<-running
			}
			if row.want == "" {
				c.passed(t, "ticket_update", goodUpdate)
				if want := []string{"blind, inside", "inside", "outside", "blind, outside"}; !slices.Equal(seen, want) {
					t.Errorf("seen by %q", seen)
				}
				return
			}
			c.refused(t, "ticket_update", goodUpdate, row.want)
			// What inside made of it is what outside sees.
			if want := []string{fmt.Sprintf("inside %s \"\" {}", row.want), "outside"}; !slices.Equal(seen, want) {
				t.Errorf("seen by %q, want %q", seen, want)
			}
			if d.runs() != nil || s.phases() != "" {
				t.Errorf("ran %v, recorded %q", d.runs(), s.phases())
			}
		})
	}
}

func TestCancelledReadIsCancelled(t *testing.T) {
	t.Parallel()
	d, log := &desk{}, &lockedBuffer{}
	running, ended := make(chan struct{}), make(chan struct{})
	deps := d.deps()
	deps.Logger = logTo(log)
	deps.Chain = slices.Insert(deps.Chain, 0, lies("watch", "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		res, err := next(ctx, c)
		if e, ok := errors.AsType[*mcpcore.Error](err); c.Tool().Name == "ticket_update" && (!ok || e.Code != mcpcore.CodeCancelled) {
			t.Errorf("the layer sees %v", err)
		}
		if c.Tool().Name == "ticket_update" {
			close(ended)
		}
		return res, err
	}))
	deps.Tools[1] = acting(d, func(ctx context.Context, _ *mcpcore.Call) error { close(running); <-ctx.Done(); return ctx.Err() })
	c := connect(t, deps)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-running; cancel() }()
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}); err == nil {
		t.Error("it succeeded")
	}
	<-ended
	c.passed(t, "tickets_list", goodList)
}

func TestUnknownToolIsTheProtocolsError(t *testing.T) {
	t.Parallel()
	c := connect(t, new(desk).deps())
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "tickets_purge"})
	if wire := wireError(t, err); wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("code %d, want -32602", wire.Code)
	}
}

func TestL04AbsentArgumentsThroughTheProtocol(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := connect(t, d.deps())
	c.passed(t, "tickets_list", "")
	c.passed(t, "tickets_list", "null")
	c.passed(t, "tickets_list", "{}")
	c.passed(t, "tickets_list", `{"limit":null,"query":null}`)
	for _, args := range []string{"[]", "5", `"x"`, "true"} {
		c.refused(t, "tickets_list", args, mcpcore.CodeValidation)
	}
	if got := d.runs(); !slices.Equal(got, []string{"tickets_list {}", "tickets_list {}", "tickets_list {}", "tickets_list {}"}) {
		t.Errorf("ran %v", got)
	}
}

func TestHiddenToolIsNotListedAndStillGuarded(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Hide = func(t *mcpcore.Tool) bool { return t.Effect == mcpcore.Destroy }
	c := connect(t, deps)
	for range 2 { // the list is not the SDK's own
		listed, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, []string{"notice_send", "ticket_update", "tickets_list"}) {
			t.Errorf("lists %v", names)
		}
	}
	c.refused(t, "ticket_delete", `{"ticket":7}`, mcpcore.CodeDryRun) // Hide is no guard, and opens none
}

func TestListSaysWhatAToolIs(t *testing.T) {
	t.Parallel()
	c := connect(t, new(desk).deps())
	for name, want := range map[string]string{
		"tickets_list":  "readOnly destructive:false idempotent open",
		"ticket_update": "destructive:false idempotent open",
		"ticket_delete": "destructive:true open",
	} {
		a := c.tools[name].Annotations
		var got []string
		if a.ReadOnlyHint {
			got = append(got, "readOnly")
		}
		destructive := "destructive:unset"
		if a.DestructiveHint != nil {
			destructive = fmt.Sprint("destructive:", *a.DestructiveHint)
		}
		got = append(got, destructive)
		if a.IdempotentHint {
			got = append(got, "idempotent")
		}
		if a.OpenWorldHint != nil && *a.OpenWorldHint {
			got = append(got, "open")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	if got := c.tools["ticket_delete"].Description; got != "Deletes a ticket. Without __confirm it only previews." {
		t.Errorf("the description is %q", got)
	}
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		identify func(context.Context, *mcp.CallToolRequest) (string, error)
		want     string // "" when it is refused
	}{
		"nobody says":       {nil, "stdio"},
		"the embedder says": {func(context.Context, *mcp.CallToolRequest) (string, error) { return "ann", nil }, "ann"},
		"an empty name":     {func(context.Context, *mcp.CallToolRequest) (string, error) { return "", nil }, ""},
		"an error":          {func(context.Context, *mcp.CallToolRequest) (string, error) { return "ann", errors.New("canary") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := &desk{}, &sink{}
			deps := d.deps()
			deps.Identify, deps.Audit = row.identify, s
			c := connect(t, deps)
			if row.want == "" {
				if a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeAuthInvalid); strings.Contains(a.everything(), "canary") {
					t.Errorf("%s", a.everything())
				}
				return
			}
			c.passed(t, "ticket_update", goodUpdate)
			if got := s.events[0].Principal; got != row.want {
				t.Errorf("the principal is %q, want %q", got, row.want)
			}
		})
	}
}

// The user of a verified token is the principal, and a token without a user is
// refused: every such caller would be the same one.
func TestPrincipalOfAVerifiedToken(t *testing.T) {
	t.Parallel()
	for user, refused := range map[string]bool{"ann": false, "": true} {
		d, s := &desk{}, &sink{}
		deps := d.deps()
		deps.Audit = s
		server, err := mcpcore.BuildServer(deps)
		if err != nil {
			t.Fatal(err)
		}
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if call, ok := req.(*mcp.CallToolRequest); ok {
					call.Extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{UserID: user}}
				}
				return next(ctx, method, req)
			}
		})
		near, far := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{ClientSession: session}
		if refused {
			c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeAuthInvalid)
		} else if c.passed(t, "ticket_update", goodUpdate); s.events[0].Principal != user {
			t.Errorf("the principal is %q", s.events[0].Principal)
		}
	}
}
