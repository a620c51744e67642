package workflows_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func TestChannelCreation(t *testing.T) {
	t.Parallel()
	creation().run(t)
}

func creation() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-creation", Plan: "plan_channel_creation", Execute: "execute_channel_creation",
			Args:    `{"guildId":"1200000000000000001","kind":"text","name":"canary-harbour","parentId":"1200000000000000302","topic":"canary-topic","auditReason":"canary-reason"}`,
			Sends:   []string{`POST /guilds/1200000000000000001/channels {"name":"canary-harbour","type":0,"parent_id":"1200000000000000302","topic":"canary-topic"}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "a parent that is no category", Args: `{"guildId":"1200000000000000001","kind":"text","name":"x","parentId":"1200000000000000313"}`,
					Code: mcpcore.CodePlanRefused, Reason: "parent-missing"},
				{Name: "a category in a category", Args: `{"guildId":"1200000000000000001","kind":"category","name":"x","parentId":"1200000000000000302"}`,
					Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: func(w *operationtest.World) {
					w.Any.(*sandbox.Discord).SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
				}},
				{Name: "two of the name", Code: mcpcore.CodePlanRefused, Reason: "ambiguous", Before: func(w *operationtest.World) {
					for _, name := range []string{"canary_harbour", "Canary-Harbour"} {
						w.Any.(*sandbox.Discord).AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: name, Parent: sandbox.DemoCommunity})
					}
				}},
			},
		},
		Route: "POST /guilds/{guild_id}/channels", ReadBack: "GET /channels/{channel_id}",
		Change: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "another", Parent: sandbox.DemoCommunity})
		},
		Settle: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "canary-harbour", Parent: sandbox.DemoCommunity})
		},
	}
}

// What an answer says is believed only when it is about what was asked for.
func TestAnswersThatProveNothing(t *testing.T) {
	t.Parallel()
	replace := func(from, to string) func(*discordtools.Response) *discordtools.Response {
		return func(r *discordtools.Response) *discordtools.Response {
			if !bytes.Contains(r.Body, []byte(from)) {
				t.Errorf("%s is not in the answer %s", from, r.Body)
			}
			r.Body = bytes.Replace(r.Body, []byte(from), []byte(to), 1)
			return r
		}
	}
	for name, row := range map[string]struct {
		answer   func(*discordtools.Response) *discordtools.Response
		unsent   error
		code     mcpcore.Code
		status   mcpcore.Status
		resource bool
	}{
		"another type":  {replace(`"type":0`, `"type":2`), nil, mcpcore.CodeOutcomeUnknown, mcpcore.StatusUncertain, true},
		"another guild": {replace(`"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`), nil, mcpcore.CodeOutcomeUnknown, mcpcore.StatusUncertain, true},
		"no id":         {replace(`"id":"`, `"id":"x`), nil, mcpcore.CodeOutcomeUnknown, mcpcore.StatusUncertain, false},
		"no JSON":       {replace(`{`, ``), nil, mcpcore.CodeOutcomeUnknown, mcpcore.StatusUncertain, false},
		"not sent": {nil, &mcpcore.Error{Code: mcpcore.CodeServerError, Cause: discordtools.ErrUnsent},
			mcpcore.CodeServerError, mcpcore.StatusFailed, false},
		"a full bulkhead":     {nil, &mcpcore.Error{Code: mcpcore.CodeBulkheadFull}, mcpcore.CodeBulkheadFull, mcpcore.StatusFailed, false},
		"a timeout by status": {nil, (&mcpcore.Error{Code: mcpcore.CodeValidation}).With("status", 408), mcpcore.CodeOutcomeUnknown, mcpcore.StatusUncertain, false},
		"a conflict":          {nil, (&mcpcore.Error{Code: mcpcore.CodeValidation}).With("status", 409), mcpcore.CodeValidation, mcpcore.StatusFailed, false},
	} {
		s := creation()
		s.REST = func(rest discordtools.REST) discordtools.REST { return answering{rest, row.unsent, row.answer} }
		e, r := s.once(t)
		if e.Code != row.code || r.Status != row.status || (r.ResourceID != "") != row.resource {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}

// What Discord makes of it is told, by the names of the fields.
func TestCreatedChannelDrifts(t *testing.T) {
	t.Parallel()
	s := creation()
	s.REST = func(rest discordtools.REST) discordtools.REST { return topicless{rest} }
	if e, r := s.once(t); e.Status != "completed-with-drift" || r.Verification != mcpcore.Drift {
		t.Errorf("it answers %+v and keeps %+v", e, r)
	}
}

// topicless reads channels without their topics.
type topicless struct{ discordtools.REST }

func (l topicless) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	res, err := l.REST.Do(ctx, r)
	if err == nil && r.Method == "GET" && r.Route == "/channels/{channel_id}" {
		res.Body = bytes.Replace(res.Body, []byte("canary-topic"), []byte("something else"), 1)
	}
	return res, err
}
