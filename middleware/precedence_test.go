package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/middleware"
)

// violations are the ways in which a call can break what the layers keep, in
// the order of the layers, and the code with which each is answered.
var violations = []struct {
	layer string
	code  mcpcore.Code
}{
	{"validate", mcpcore.CodeValidation},
	{"guild_scope", mcpcore.CodeGuildNotAllowed},
	{"category_gate", mcpcore.CodeScopeRejected},
	{"runtime_access", mcpcore.CodeAccessDenied},
	{"write_mode", mcpcore.CodeWritePreview},
	{"preconditions", mcpcore.CodePrecondition},
	{"approval", mcpcore.CodePayloadRequired},
	{"audit", mcpcore.CodeAuditUnavailable},
}

// TestFirstLayerAnswersForEverySubsetOfViolations breaks each subset of what
// the layers keep at once, in one call of a tool that needs every guard: the
// first layer in the order of the chain answers, and whatever the others would
// have said, nothing ran and no approval was spent.
func TestFirstLayerAnswersForEverySubsetOfViolations(t *testing.T) {
	t.Parallel()
	for set := range 1 << len(violations) {
		var broken []string
		want := "{}" // the handler's
		for i, v := range violations {
			if set>>i&1 == 0 {
				continue
			}
			if broken = append(broken, v.layer); len(broken) == 1 {
				want = string(v.code)
			}
		}
		t.Run(strings.Join(append([]string{"broken"}, broken...), " "), func(t *testing.T) {
			t.Parallel()
			var acted atomic.Int32
			approvals := &onePage{Memory: ledger.NewMemory(nil)}
			call, answer := brokenCall(t, broken, approvals, &acted)
			if answer != want {
				t.Errorf("%s answers %s, want %s", call, answer, want)
			}
			passes := want == "{}"
			if ran := acted.Load() == 1; ran != passes {
				t.Errorf("the handler ran %d times", acted.Load())
			}
			if spent := approvals.spent.Load() == 1; spent != passes {
				t.Errorf("the approval was spent %d times", approvals.spent.Load())
			}
		})
	}
}

// brokenCall makes a server and a call that break what is named, and no more.
func brokenCall(t *testing.T, broken []string, approvals mcpcore.Ledger, acted *atomic.Int32) (call, answer string) {
	t.Helper()
	is := func(layer string) bool { return slices.Contains(broken, layer) }
	act := mcpcore.Define(mcpcore.Tool{
		Name: "act", Doc: "Acts.", Category: "writes", Effect: mcpcore.Write, Gate: mcpcore.Payload, Scope: mcpcore.GuildScope,
		Needs: discord.BanMembers,
		Require: []mcpcore.Precondition{{Name: "open", Check: func(context.Context, *mcpcore.Call) error {
			if is("preconditions") {
				return errors.New("closed")
			}
			return nil
		}}},
	}, func(context.Context, *mcpcore.Call, where) (seen, error) {
		acted.Add(1)
		return seen{"{}"}, nil
	})
	may := discord.BanMembers
	if is("runtime_access") {
		may = discord.KickMembers
	}
	resolver := &facts{known: map[string]any{"identity": discord.UserID(bot)}}
	for _, g := range []discord.GuildID{home, other} {
		resolver.known["guild "+string(g)] = middleware.GuildRights{Guild: g, Permissions: may}
	}
	options := middleware.Options{
		Categories: []string{"writes"}, PreviewOnly: is("write_mode"),
		Scope:  middleware.Scope{Guilds: []discord.GuildID{home}},
		Access: middleware.Access{Mode: middleware.Enforce},
	}
	if is("category_gate") {
		options.Categories = []string{"reads"}
	}
	sink := sinkFunc(func(mcpcore.AuditEvent) error {
		if is("audit") {
			return errors.New("full")
		}
		return nil
	})

	args := `"guild_id":"` + string(home) + `"`
	if is("guild_scope") {
		args = `"guild_id":"` + string(other) + `"`
	}
	confirm := ""
	if !is("approval") { // it was approved by a server that nothing is wrong with
		free := serve(t, middleware.Standard(middleware.Options{}), func(d *mcpcore.Deps) {
			open := act
			open.Require = nil
			d.Tools, d.Ledger, d.Armed = []mcpcore.Tool{open}, approvals, true
		})
		preview := free.want("act", "{"+args+"}", string(mcpcore.CodePayloadRequired))
		confirm = fmt.Sprintf(`,"__confirm":true,"__confirm_hash":%q,"__confirm_id":%q`, preview["payload_hash"], preview["approval_id"])
	}
	if is("validate") {
		args += `,"text":5`
	}
	call = "{" + args + confirm + "}"
	answer, _ = serve(t, middleware.Standard(options), func(d *mcpcore.Deps) {
		d.Tools, d.Evidence, d.Audit = []mcpcore.Tool{act}, []mcpcore.EvidenceResolver{resolver}, sink
		d.Ledger, d.Armed = approvals, true
	}).call("act", call)
	return call, answer
}

// onePage is a ledger that counts what is spent.
type onePage struct {
	*ledger.Memory
	spent atomic.Int32
}

func (l *onePage) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	err := l.Memory.Spend(ctx, spends...)
	if err == nil {
		l.spent.Add(1)
	}
	return err
}
