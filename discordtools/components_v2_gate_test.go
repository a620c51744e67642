package discordtools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/middleware"
)

// gate is the payload gate over the real tools: servers on one sandbox and one
// ledger, with a clock, a caller and counts of what was issued and spent.
type gate struct {
	*testing.T
	world *sandbox.Discord
	tools []mcpcore.Tool
	audit *recorder
	shows string // what the next attempts show, for errors

	mu     sync.Mutex
	ledger mcpcore.Ledger
	now    time.Time
	who    string
	issued map[mcpcore.ApprovalID]mcpcore.Approval
	news   int // issued since the last count
	spends int // spent since the last count

	servers map[string]*bench
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{T: t, world: sandbox.Demo(), now: now, who: "ann", audit: &recorder{}, issued: map[mcpcore.ApprovalID]mcpcore.Approval{}, servers: map[string]*bench{}}
	g.world.Observe(func(r sandbox.Request) { checkExchange(t, r) })
	own(sandbox.Message{Content: "old"})(g.world)
	g.world.AddMessage(sandbox.DemoShowcase, sandbox.Message{ID: ownMessage, Author: sandbox.BotID, Content: "old"}) // its facts can be read too
	g.forget()
	client, err := discordtools.NewClient(g.world.Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range discordtools.Tools(client) {
		if tool.Category == "components_v2" {
			g.tools = append(g.tools, tool)
		}
	}
	return g
}

// forget is a start with an empty ledger.
func (g *gate) forget() {
	g.ledger = ledger.NewMemory(func() time.Time { g.mu.Lock(); defer g.mu.Unlock(); return g.now })
}

// Propose and Spend count what the ledger does for payloads.
func (g *gate) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	a, err := g.ledger.Propose(ctx, p)
	if err == nil && p.Purpose == mcpcore.ForPayload {
		g.issued[a.ID], g.news = a, g.news+1
	}
	return a, err
}

func (g *gate) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	err := g.ledger.Spend(ctx, spends...)
	if err == nil {
		g.spends += len(spends)
	}
	return err
}

func (g *gate) Preview(ctx context.Context, f mcpcore.Fingerprint) (mcpcore.Approval, error) {
	return g.ledger.Preview(ctx, f)
}

func (g *gate) Pending(ctx context.Context, by mcpcore.Filter) ([]mcpcore.Approval, error) {
	return g.ledger.Pending(ctx, by)
}

func (g *gate) Decide(ctx context.Context, id mcpcore.ApprovalID, d mcpcore.Decision) error {
	return g.ledger.Decide(ctx, id, d)
}

// spend uses an approval up without a call.
func (g *gate) spend(id mcpcore.ApprovalID) {
	g.Helper()
	if err := g.ledger.Spend(context.Background(), mcpcore.Spend{ID: id, Fingerprint: g.issued[id].Fingerprint, Facts: g.issued[id].Facts}); err != nil {
		g.Fatal(err)
	}
}

func (g *gate) pass(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

// server is a server of the gate; those of the same kind are one.
func (g *gate) server(armed bool, bot string) *bench {
	g.Helper()
	name := fmt.Sprint(armed, bot)
	if g.servers[name] != nil {
		return g.servers[name]
	}
	server, err := mcpcore.BuildServer(mcpcore.Deps{
		Tools: g.tools, Chain: middleware.Standard(middleware.Options{}), Ledger: g, Audit: g.audit, Armed: armed, Identity: bot,
		Identify: func(context.Context, *mcp.CallToolRequest) (string, error) { return g.who, nil },
	})
	if err != nil {
		g.Fatal(err)
	}
	g.servers[name] = &bench{T: g.T, world: g.world, mcp: connect(g.T, server)}
	return g.servers[name]
}

// attempt is a call with the authorization of an earlier preview, and all that
// can be otherwise about it.
type attempt struct {
	tool, args string
	flag       string // JSON of __confirm, "" for none
	hash, id   string // "" for none
	armed      bool
	bot, who   string
}

// preview makes an armed server preview the payload, and is the attempt that
// goes through.
func (g *gate) preview(tool, args string) attempt {
	g.Helper()
	g.who = "ann"
	a := g.server(true, lockedBot).call(tool, args)
	var told struct {
		Hash string `json:"payload_hash"`
		ID   string `json:"approval_id"`
	}
	if err := json.Unmarshal(a.data, &told); err != nil || a.code != mcpcore.CodePayloadRequired || told.ID == "" {
		g.Fatalf("%s %s is not previewed: %s", tool, args, a.data)
	}
	return attempt{tool, args, "true", told.Hash, told.ID, true, lockedBot, "ann"}
}

const (
	lockedBot = "740000000000000001"
	otherBot  = "740000000000000002"
)

// make makes the attempt. What comes of it must be as stated: the code, how many
// approvals were issued and spent, and that Discord saw a write where one was
// spent and only there.
func (g *gate) make(a attempt, code mcpcore.Code, issued, spent int) answer {
	g.Helper()
	args := strings.TrimSuffix(a.args, "}")
	if a.flag != "" {
		args += `,"__confirm":` + a.flag
	}
	if a.hash != "" {
		args += `,"__confirm_hash":` + id(a.hash)
	}
	if a.id != "" {
		args += `,"__confirm_id":` + id(a.id)
	}
	g.who, g.news, g.spends = a.who, 0, 0
	server := g.server(a.armed, a.bot)
	g.world.ResetRequests()
	got := server.call(a.tool, args+"}")
	covered.note(a.tool, got.code == "")
	if got.code != code || g.news != issued || g.spends != spent {
		g.Errorf("%s: %s: %q, issued %d, spent %d; want %q, %d, %d\n%s", g.shows, args, got.code, g.news, g.spends, code, issued, spent, got.data)
	}
	if writes := len(server.writes()); writes != spent {
		g.Errorf("%s: %s: Discord saw %d writes, want %d", g.shows, args, writes, spent)
	}
	return got
}

// TestPayloadGateInEveryState walks all combinations of what the operator, the
// call, the clock and the caller can be.
func TestPayloadGateInEveryState(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	const tool = "components_v2_send"
	args, other := `{"channel_id":`+id(general)+`,"components":`+plain+`}`, `{"channel_id":`+id(general)+`,"components":[{"type":14}]}`
	tried := 0
	for _, armed := range []bool{true, false} {
		for _, flag := range []string{"", "false", `"true"`, "true"} {
			for _, hash := range []string{"none", "malformed", "other", "right"} {
				for _, approval := range []string{"none", "unknown", "of another payload", "right", "spent"} {
					for _, late := range []bool{false, true} {
						for _, who := range []string{"ann", "bob", "another bot"} {
							a, elsewhere := g.preview(tool, args), attempt{}
							if hash == "other" || approval == "of another payload" {
								elsewhere = g.preview(tool, other)
							}
							a.armed, a.flag = armed, flag
							switch hash {
							case "none":
								a.hash = ""
							case "malformed":
								a.hash = strings.ToUpper(a.hash)
							case "other":
								a.hash = elsewhere.hash
							}
							switch approval {
							case "none":
								a.id = ""
							case "unknown":
								a.id = "00000000-0000-4000-8000-000000000000"
							case "of another payload":
								a.id = elsewhere.id
							case "spent":
								g.spend(mcpcore.ApprovalID(a.id))
							}
							if who == "another bot" {
								a.bot = otherBot
							} else {
								a.who = who
							}
							if late {
								g.pass(6 * time.Minute)
							}
							code, issued, spent := mcpcore.Code(""), 0, 0
							switch {
							case !armed, flag != "true", hash == "none":
								code, issued = mcpcore.CodePayloadRequired, 1
							case hash != "right":
								code, issued = mcpcore.CodePayloadMismatch, 1
							case approval == "none":
								code, issued = mcpcore.CodePayloadRequired, 1
							case approval == "unknown":
								code = mcpcore.CodeApprovalMissing
							case approval == "of another payload", who != "ann":
								code = mcpcore.CodeApprovalMismatch
							case approval == "spent":
								code = mcpcore.CodeApprovalReplayed
							case late:
								code = mcpcore.CodeApprovalExpired
							default:
								spent = 1
							}
							g.make(a, code, issued, spent)
							tried++
						}
					}
				}
			}
		}
	}
	if want := 2 * 4 * 4 * 5 * 2 * 3; tried != want {
		t.Errorf("tried %d of %d states", tried, want)
	}
}

// TestPayloadGateOfEachTool walks the gate's ways over each tool that has it.
func TestPayloadGateOfEachTool(t *testing.T) {
	t.Parallel()
	const required, changed, missing, mismatch, replayed, expired = mcpcore.CodePayloadRequired, mcpcore.CodePayloadMismatch, mcpcore.CodeApprovalMissing,
		mcpcore.CodeApprovalMismatch, mcpcore.CodeApprovalReplayed, mcpcore.CodeApprovalExpired
	elsewhere := id(sandbox.DemoShowcase)
	for tool, args := range map[string]string{
		"components_v2_send":               `{"channel_id":` + id(general) + `,"components":` + framed + `}`,
		"components_v2_edit":               `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":` + framed + `}`,
		"components_v2_send_from_template": `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"question":"Tea?","bars_text":"3","winner":"Ahoy"}}`,
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			for _, r := range []struct {
				shows         string
				change        func(*attempt)
				code          mcpcore.Code
				issued, spent int
			}{
				{"as previewed", func(*attempt) {}, "", 0, 1},
				{"nothing given", func(a *attempt) { a.flag, a.hash, a.id = "", "", "" }, required, 1, 0},
				{"not armed, all given", func(a *attempt) { a.armed = false }, required, 1, 0},
				{"not armed, nothing given", func(a *attempt) { a.armed, a.flag, a.hash, a.id = false, "", "", "" }, required, 1, 0},
				{"no flag", func(a *attempt) { a.flag = "" }, required, 1, 0},
				{"a flag that is false", func(a *attempt) { a.flag = "false" }, required, 1, 0},
				{"a flag that is text", func(a *attempt) { a.flag = `"true"` }, required, 1, 0},
				{"a flag that is a number", func(a *attempt) { a.flag = "1" }, required, 1, 0},
				{"no hash", func(a *attempt) { a.hash = "" }, required, 1, 0},
				{"no hash and no id", func(a *attempt) { a.hash, a.id = "", "" }, required, 1, 0},
				{"a malformed hash", func(a *attempt) { a.hash = "abc" }, changed, 1, 0},
				{"a hash in upper case", func(a *attempt) { a.hash = strings.ToUpper(a.hash) }, changed, 1, 0},
				{"another hash", func(a *attempt) { a.hash = strings.Repeat("0", 64) }, changed, 1, 0},
				{"no id", func(a *attempt) { a.id = "" }, required, 1, 0},
				{"an id nobody issued", func(a *attempt) { a.id = "00000000-0000-4000-8000-000000000000" }, missing, 0, 0},
				{"an id that is none", func(a *attempt) { a.id = "x" }, missing, 0, 0},
				{"the payload changed", func(a *attempt) { a.args = strings.Replace(a.args, "Ahoy", "Ahem", 1) }, changed, 1, 0},
				{"the target changed", func(a *attempt) { a.args = strings.Replace(a.args, id(general), elsewhere, 1) }, changed, 1, 0},
				{"the approval of another payload", func(a *attempt) { a.id = g.preview(tool, strings.Replace(args, "Ahoy", "Ahem", 1)).id }, mismatch, 0, 0},
				{"the approval of another target", func(a *attempt) { a.id = g.preview(tool, strings.Replace(args, id(general), elsewhere, 1)).id }, mismatch, 0, 0},
				{"another principal", func(a *attempt) { a.who = "bob" }, mismatch, 0, 0},
				{"another bot", func(a *attempt) { a.bot = otherBot }, mismatch, 0, 0},
				{"no bot locked", func(a *attempt) { a.bot = "" }, mismatch, 0, 0},
				{"just in time", func(*attempt) { g.pass(5*time.Minute - time.Nanosecond) }, "", 0, 1},
				{"too late", func(*attempt) { g.pass(5 * time.Minute) }, expired, 0, 0},
				{"too late with a changed payload", func(a *attempt) {
					g.pass(5 * time.Minute)
					a.args = strings.Replace(a.args, "Ahoy", "Ahem", 1)
				}, changed, 1, 0},
				{"so late that it is forgotten", func(*attempt) { g.pass(11 * time.Minute) }, missing, 0, 0},
				{"a replay", func(a *attempt) { g.make(*a, "", 0, 1) }, replayed, 0, 0},
				{"a replay by another principal", func(a *attempt) { g.make(*a, "", 0, 1); a.who = "bob" }, mismatch, 0, 0},
				{"a replay after the hash was refused", func(a *attempt) {
					wrong := *a
					wrong.hash = strings.Repeat("0", 64)
					g.make(wrong, changed, 1, 0)
				}, "", 0, 1},
				{"after somebody else tried it", func(a *attempt) {
					theirs := *a
					theirs.who = "bob"
					g.make(theirs, mismatch, 0, 0)
				}, "", 0, 1},
				{"after another payload tried it", func(a *attempt) {
					wrong := g.preview(tool, strings.Replace(args, "Ahoy", "Ahem", 1))
					wrong.id = a.id
					g.make(wrong, mismatch, 0, 0)
				}, "", 0, 1},
				{"armed after it was not", func(a *attempt) {
					unarmed := *a
					unarmed.armed = false
					g.make(unarmed, required, 1, 0)
				}, "", 0, 1},
				{"an empty ledger", func(*attempt) { g.forget() }, missing, 0, 0},
			} {
				g.shows = r.shows
				a := g.preview(tool, args)
				r.change(&a)
				g.make(a, r.code, r.issued, r.spent)
			}
		})
	}
}

// A fresh approval is in every refusal that issues one, and goes through.
func TestRefusalsOfferAFreshApproval(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	a := g.preview("components_v2_send", `{"channel_id":`+id(general)+`,"components":`+plain+`}`)
	stale := a
	stale.hash = strings.Repeat("0", 64)
	got := g.make(stale, mcpcore.CodePayloadMismatch, 1, 0)
	var told struct {
		Hash     string `json:"payload_hash"`
		Received string `json:"received_hash"`
		ID       string `json:"approval_id"`
		Preview  struct {
			ID string `json:"approval_id"`
		}
	}
	if err := json.Unmarshal(got.data, &told); err != nil {
		t.Fatal(err)
	}
	if told.Hash != a.hash || told.Received != stale.hash || told.ID == a.id || told.ID != told.Preview.ID {
		t.Errorf("answers %s", got.data)
	}
	stale.hash, stale.id = told.Hash, told.ID
	g.make(stale, "", 0, 1)
}

// An approval of one tool is none of another, though both would send the same.
func TestApprovalOfAnotherTool(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	filled := g.preview("components_v2_send_from_template", `{"channel_id":`+id(general)+`,"template":"poll_results","vars":{"question":"Tea?","bars_text":"3","winner":"Ahoy"}}`)
	plainly := g.preview("components_v2_send", `{"channel_id":`+id(general)+`,"components":[{"type":17,"accent_color":16776960,"components":[{"type":10,"content":"# Tea?"},{"type":10,"content":"3"},{"type":14},{"type":10,"content":"**Winner:** Ahoy"}]}]}`)
	if filled.hash != plainly.hash {
		t.Fatal("the same payload has two hashes")
	}
	filled.id, plainly.id = plainly.id, filled.id
	g.make(filled, mcpcore.CodeApprovalMismatch, 0, 0)
	g.make(plainly, mcpcore.CodeApprovalMismatch, 0, 0)
	filled.id, plainly.id = plainly.id, filled.id
	g.make(filled, "", 0, 1)
	g.make(plainly, "", 0, 1)
}

// A write that fails has used its approval up.
func TestFailedWriteDoesNotGiveTheApprovalBack(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	a := g.preview("components_v2_send", `{"channel_id":`+id(general)+`,"components":`+plain+`}`)
	g.world.Inject(sandbox.Fault{Method: "POST", Status: 403})
	if got := g.make(a, mcpcore.CodePermission, 0, 1); got.code == "" {
		t.Error("it passed")
	}
	g.make(a, mcpcore.CodeApprovalReplayed, 0, 0)
}

// What is not valid is never proposed, whoever confirms it.
func TestBrokenLayoutIsNeverProposed(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for tool, args := range map[string]string{
		"components_v2_send":               `{"channel_id":` + id(general) + `,"components":[{"type":10}]}`,
		"components_v2_edit":               `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":[{"type":99}]}`,
		"components_v2_send_from_template": `{"channel_id":` + id(general) + `,"template":"announcement","vars":{}}`,
	} {
		for _, armed := range []bool{true, false} {
			g.make(attempt{tool: tool, args: args, armed: armed, bot: lockedBot, who: "ann"}, mcpcore.CodeValidation, 0, 0)
			g.make(attempt{tool: tool, args: args, flag: "true", hash: strings.Repeat("0", 64), id: "x", armed: armed, bot: lockedBot, who: "ann"}, mcpcore.CodeValidation, 0, 0)
		}
	}
	if len(g.audit.all()) > 0 {
		t.Errorf("recorded %v", g.audit.all())
	}
}
