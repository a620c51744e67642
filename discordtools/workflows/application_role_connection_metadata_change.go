package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	routeConnections    = "GET /applications/{application_id}/role-connections/metadata"
	routeConnectionsPut = "PUT /applications/{application_id}/role-connections/metadata"
)

type connectionsChange struct {
	ofApplication
	Action   string            `json:"action" enum:"replace,clear"`
	Records  []connectionField `json:"records,omitempty" jsonschema:"with replace, all fields there will be, in their order, as application_get_role_connection_metadata tells them" minItems:"1" maxItems:"5"`
	Replaces bool              `json:"acknowledgeReplacement,omitempty" jsonschema:"with replace, true: fields that are not given are gone, and roles that demand them with them"`
	Clears   bool              `json:"acknowledgeClearing,omitempty" jsonschema:"with clear, true: all fields are gone, and roles that demand them with them"`
}

// connectionField is a field of linked accounts that guilds can demand for a role,
// under the names that Discord gives it.
//
// Source: https://docs.discord.com/developers/resources/application-role-connection-metadata.
type connectionField struct {
	Type         int                            `json:"type" jsonschema:"the account's value: 1 at most, 2 at least, 3 equal to, 4 not equal to a number; 5 at most, 6 at least so many days ago; 7 is, 8 is not" enum:"1,2,3,4,5,6,7,8"`
	Key          string                         `json:"key" minLength:"1" maxLength:"50" pattern:"^[a-z0-9_]+$"`
	Name         string                         `json:"name" minLength:"1" maxLength:"100"`
	Names        map[string]localText           `json:"name_localizations,omitempty" jsonschema:"by locale, such as de"`
	Description  string                         `json:"description" minLength:"1" maxLength:"200"`
	Descriptions map[string]localConnectionText `json:"description_localizations,omitempty" jsonschema:"by locale"`
}

// localConnectionText is a field's description in another language.
type localConnectionText string

func (localConnectionText) JSONSchema() string {
	return `{"type":"string","minLength":1,"maxLength":200}`
}

type connectionsState struct {
	Application applicationSeen   `json:"application"`
	Now         []connectionField `json:"current"`
	Wanted      []connectionField `json:"wanted"`
}

// applicationRoleConnectionMetadataChange replaces the fields of linked accounts.
func applicationRoleConnectionMetadataChange(rest discordtools.REST) mcpcore.Workflow {
	return change[connectionsChange, connectionsState]{
		Name: "application-role-connection-metadata-change", Category: "linked-roles", Title: "Change the fields of linked roles",
		Doc: `Replaces all fields by which guilds can demand something of a linked account before they give a role, or clears them.
			The list is given whole and in its order; no single field can be changed.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ApplicationScope,
		Scopes: []mcpcore.PolicyScope{theApplication("applications whose fields of linked roles may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkConnectionArguments}},
		Reads:  append(slices.Clone(applicationRoutes), routeConnections), Write: []string{routeConnectionsPut},
		Plan: func(ctx context.Context, r *reads, in connectionsChange) (plan mcpcore.Change[connectionsState], err error) {
			s := connectionsState{Wanted: append([]connectionField{}, in.Records...)}
			if s.Application, _, err = r.application(ctx, in.ApplicationID); err != nil {
				return plan, err
			}
			if s.Now, err = r.connections(ctx, in.path()); err != nil {
				return plan, err
			}
			plan.Action, plan.State = in.Action, s
			if plan.Facts = connectionFacts(s.Now, s.Wanted); compact(s.Now) == compact(s.Wanted) {
				nothing(&plan)
			}
			plan.Risks = []string{"application-wide"}
			plan.Warnings = []string{"Guilds whose roles demand a field that is gone or different stop giving them; which do cannot be told."}
			return plan, nil
		},
		Targets: func(in connectionsChange, _ connectionsState) []mcpcore.Target {
			return []mcpcore.Target{allOf("role-connection-metadata", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in connectionsChange, s connectionsState) (done mcpcore.Written, err error) {
			var answer []connectionField
			if err := w.send(ctx, routeConnectionsPut, in.path(), s.Wanted, &answer); err != nil {
				return done, err
			}
			if answer == nil || compact(answer) != compact(s.Wanted) {
				return done, errors.New("the answer is not the list that was sent")
			}
			return mcpcore.Written{ID: string(in.ApplicationID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in connectionsChange, s connectionsState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.connections(ctx, in.path())
			if err != nil {
				return found, err
			}
			var d drift
			d.unless(compact(now) == compact(s.Wanted), "records")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// checkConnectionArguments refuses arguments that do not go with the action, and
// keys that are there twice.
func checkConnectionArguments(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	switch {
	case (action == "replace") != c.Has("records"):
		return issue("records", "is needed with replace, and does not go with clear")
	case action == "replace" && !argument[bool](c, "acknowledgeReplacement"):
		return issue("acknowledgeReplacement", "must be true with replace")
	case action == "clear" && !argument[bool](c, "acknowledgeClearing"):
		return issue("acknowledgeClearing", "must be true with clear")
	}
	var records []connectionField
	if raw, there := c.Arg("records"); there {
		if err := json.Unmarshal(raw, &records); err != nil {
			return issue("records", "%v", err)
		}
	}
	keys := map[string]bool{}
	for _, f := range records {
		if keys[f.Key] {
			return issue("records", "has the key %s twice", f.Key)
		}
		keys[f.Key] = true
	}
	return nil
}

// connections reads all fields, in their order.
func (r *reads) connections(ctx context.Context, of path) (all []connectionField, err error) {
	if err := r.get(ctx, routeConnections, of, &all); err != nil {
		return nil, err
	}
	if all == nil || slices.ContainsFunc(all, func(f connectionField) bool { return f.Key == "" || f.Type < 1 || f.Type > 8 }) {
		return nil, incomplete("the fields of linked roles")
	}
	return all, nil
}

// connectionFacts say for each field what becomes of it.
func connectionFacts(now, wanted []connectionField) (facts mcpcore.Facts) {
	keys := func(all []connectionField) string {
		names := make([]string, len(all))
		for i, f := range all {
			names[i] = f.Key
		}
		return orNone(strings.Join(names, ", "))
	}
	facts = mcpcore.Facts{{Name: "fields now", Value: keys(now)}, {Name: "fields then", Value: keys(wanted)}}
	for _, f := range now {
		i := slices.IndexFunc(wanted, func(w connectionField) bool { return w.Key == f.Key })
		switch {
		case i < 0:
			facts = append(facts, mcpcore.Fact{Name: f.Key, Value: "is gone"})
		case compact(wanted[i]) != compact(f):
			facts = append(facts, mcpcore.Fact{Name: f.Key, Value: "is changed"})
		}
	}
	return facts
}
