package mcpcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

type (
	ticketPlace struct {
		GuildID discord.GuildID `json:"guild_id" jsonschema:"guild"`
	}
	ticketMove struct {
		ticketPlace
		Parent *discord.ChannelID         `json:"parent_id,omitempty" jsonschema:"channel"`
		Seen   []discord.ChannelID        `json:"seen,omitempty" jsonschema:"channels"`
		Steps  []ticketStep               `json:"steps,omitempty" jsonschema:"steps"`
		Named  map[string]discord.UserID  `json:"named,omitempty" jsonschema:"users"`
		Invite discord.InviteCode         `json:"code,omitempty" jsonschema:"code"`
		Cursor discord.Snowflake          `json:"after,omitempty" jsonschema:"cursor"`
		Plain  string                     `json:"plain,omitempty" jsonschema:"id" pattern:"^[0-9]{17,20}$"`
		Text   string                     `json:"text,omitempty" jsonschema:"text"`
		Opaque json.RawMessage            `json:"opaque,omitempty" jsonschema:"anything"`
		Form   *ticketForm                `json:"form,omitempty" jsonschema:"form"`
		Count  int                        `json:"count,omitempty" jsonschema:"number"`
		Pairs  [][]discord.RoleID         `json:"pairs,omitempty" jsonschema:"roles"`
		Deep   map[string]map[string]step `json:"deep,omitempty" jsonschema:"steps"`
	}
	ticketStep struct {
		Role  discord.RoleID `json:"role_id"`
		Inner []ticketStep   `json:"inner,omitempty"`
	}
	step struct {
		Webhook discord.WebhookID `json:"webhook_id"`
	}
)

// moved answers a call with the ids that it carries.
func moved(t *testing.T, args string) []string {
	t.Helper()
	var got []string
	tool := mcpcore.Define(mcpcore.Tool{Name: "ticket_move", Doc: "Moves.", Effect: mcpcore.Read, Scope: mcpcore.GuildScope},
		func(_ context.Context, call *mcpcore.Call, _ ticketMove) (done, error) {
			for _, id := range call.IDs() {
				got = append(got, fmt.Sprintf("%s %s %s", id.Path, id.Kind, id.Value))
			}
			return done{Done: true}, nil
		})
	var before []mcpcore.ID
	early := mcpcore.Middleware{Name: "early", Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			before = call.IDs()
			return next(ctx, call)
		}
	}}
	c := connect(t, mcpcore.Deps{Tools: []mcpcore.Tool{tool}, Chain: append([]mcpcore.Middleware{early}, middleware.Standard(middleware.Options{})...)})
	if r := c.call(t, "ticket_move", args); r.code() != "" {
		t.Fatalf("%s: %s", args, r.code())
	}
	if before != nil {
		t.Errorf("arguments that nobody validated have ids: %v", before)
	}
	slices.Sort(got)
	return got
}

func TestIDsAreFoundByTypeAtAnyDepth(t *testing.T) {
	t.Parallel()
	const a, b, c = "700000000000000001", "700000000000000002", "700000000000000003"
	got := moved(t, `{"guild_id":"`+a+`","parent_id":null,"seen":["`+b+`","`+c+`"],"steps":[{"role_id":"`+a+`","inner":[{"role_id":"`+b+`"}]}],
		"named":{"x":"`+c+`"},"code":"abc","after":"`+a+`","plain":"`+b+`","text":"`+c+`","opaque":{"guild_id":"`+c+`"},
		"pairs":[["`+a+`"],["`+b+`"]],"deep":{"p":{"q":{"webhook_id":"`+c+`"}}}}`)
	want := []string{
		"after nothing " + a, "code invite abc", "deep.p.q.webhook_id webhook " + c, "guild_id guild " + a, "named.x user " + c,
		"pairs.0.0 role " + a, "pairs.1.0 role " + b, "plain  " + b, "seen.0 channel " + b, "seen.1 channel " + c,
		"steps.0.inner.0.role_id role " + b, "steps.0.role_id role " + a,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := moved(t, `{"guild_id":"`+a+`","parent_id":"`+b+`"}`); !slices.Equal(got, []string{"guild_id guild " + a, "parent_id channel " + b}) {
		t.Errorf("got %v", got)
	}
}

func TestIDPathsOfATool(t *testing.T) {
	t.Parallel()
	tool := mcpcore.Define(mcpcore.Tool{}, func(context.Context, *mcpcore.Call, ticketMove) (done, error) { return done{}, nil })
	var got []string
	for _, p := range tool.IDs() {
		got = append(got, p.Path+" "+string(p.Kind))
	}
	want := []string{
		"guild_id guild", "parent_id channel", "seen.* channel", "steps.*.role_id role", "steps.*.inner.*.role_id role",
		"steps.*.inner.*.inner.*.role_id role", "named.* user", "code invite", "after nothing", "plain ", "pairs.*.* role", "deep.*.*.webhook_id webhook",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if ids := new(mcpcore.Tool).IDs(); ids != nil {
		t.Errorf("a tool without types has ids: %v", ids)
	}
}

func TestKeysThatAreIDsDoNotBuild(t *testing.T) {
	t.Parallel()
	type byRole struct {
		GuildID discord.GuildID        `json:"guild_id" jsonschema:"guild"`
		Counts  map[discord.RoleID]int `json:"counts" jsonschema:"counts"`
	}
	tool := mcpcore.Define(mcpcore.Tool{Name: "counts"}, func(context.Context, *mcpcore.Call, byRole) (done, error) { return done{}, nil })
	if err := tool.Compile(); err == nil || !strings.Contains(err.Error(), "counts: the keys of an object cannot be ids") {
		t.Errorf("it builds: %v", err)
	}
}

func TestLayersHaveASayInTheBuild(t *testing.T) {
	t.Parallel()
	d := new(desk).deps()
	d.Chain = append(d.Chain, mcpcore.Middleware{
		Name: "picky", Wrap: func(next mcpcore.Handler) mcpcore.Handler { return next },
		Check: func(t *mcpcore.Tool) error {
			if t.Effect == mcpcore.Destroy {
				return fmt.Errorf("it destroys")
			}
			return nil
		},
	})
	_, err := mcpcore.BuildServer(d)
	if err == nil || strings.Count(err.Error(), `layer "picky"`) != 1 || !strings.Contains(err.Error(), `tool "ticket_delete": layer "picky": it destroys`) {
		t.Errorf("error %v", err)
	}
	d.Tools = []mcpcore.Tool{new(desk).list()}
	if _, err := mcpcore.BuildServer(d); err != nil {
		t.Errorf("a tool that it likes does not build: %v", err)
	}
}
