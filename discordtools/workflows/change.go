package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/internal/claims"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// change declares a workflow of Discord. It is [mcpcore.Operation] with what
// holds for all of them: Plan, ReadBack and Verify read the declared routes and
// no others, Apply sends one request of a declared route, once.
type change[In, State any] struct {
	Name, Noun, Executes string
	Title, Doc           string
	Category             string // the toolset
	Effect               mcpcore.Effect
	Scope                mcpcore.Scope
	Scopes               []mcpcore.PolicyScope
	Limits               []mcpcore.PolicyLimit
	Protects             []string
	Acknowledge          []string
	Redact               []string
	Rules                []mcpcore.Rule
	Companions           []mcpcore.Tool // there with the workflow
	Audits               []mcpcore.Tool // there without it too
	Needs                discord.Permissions
	NeedsWhen            []mcpcore.Need
	NeedsIn              string
	Intents              discord.Intents
	Outranks             string
	Crosses              bool // it may touch two guilds
	Locked               bool // see [mcpcore.Tool]

	Reads []string // the routes that are read, "GET /template"
	Write []string // the route that is written; several where the input decides
	// Writes is how many requests the change takes, where it is not one.
	Writes func(in In, s State) int
	Takes  time.Duration // how long they may take; see [mcpcore.Operation]
	Paced  pacing[In, State]

	Plan     func(ctx context.Context, r *reads, in In) (mcpcore.Change[State], error)
	Targets  func(in In, s State) []mcpcore.Target
	Children func(in In, s State) []mcpcore.Child[State] // one request each; see [mcpcore.Operation]
	Apply    func(ctx context.Context, w *write, in In, s State) (mcpcore.Written, error)
	ReadBack func(ctx context.Context, r *reads, in In, s State, w mcpcore.Written) (mcpcore.Reading, error)
	Verify   func(ctx context.Context, r *reads, in In, receipt mcpcore.Receipt) (mcpcore.Reading, error)
}

// on is the workflow on a client.
func (c change[In, State]) on(rest discordtools.REST) mcpcore.Workflow {
	reading := func(call *mcpcore.Call) *reads { return &reads{rest, call, c.Reads} }
	op := mcpcore.Operation[In, State]{
		Name: c.Name, Noun: c.Noun, Executes: c.Executes, Title: c.Title, Doc: strings.Join(strings.Fields(c.Doc), " "), Category: c.Category,
		Effect: c.Effect, Scope: c.Scope, Scopes: c.Scopes, Limits: slices.Concat(c.Limits, c.Paced.limits()), Protects: c.Protects, Acknowledge: c.Acknowledge,
		Redact: c.Redact, Rules: c.Rules, Companions: c.Companions, Audits: c.Audits, Takes: c.Takes,
		Tool: mcpcore.Tool{
			Needs: c.Needs, NeedsWhen: c.NeedsWhen, NeedsIn: c.NeedsIn, Intents: c.Intents, Outranks: c.Outranks, Crosses: c.Crosses, Locked: c.Locked,
			Routes: slices.Concat(c.Reads, c.Write),
		},
		Targets: c.Targets, Children: c.Children,
		Plan: func(ctx context.Context, call *mcpcore.Call, in In) (mcpcore.Change[State], error) {
			plan, err := c.Plan(ctx, reading(call), in)
			if err == nil && !plan.Current {
				err = c.Paced.may(call, in, plan.State)
			}
			return plan, err
		},
		Apply: func(ctx context.Context, call *mcpcore.Call, in In, s State) (mcpcore.Written, error) {
			w := &write{rest: rest, reason: call.Text("auditReason"), routes: c.Write, left: 1, Call: call}
			if c.Writes != nil {
				w.left = c.Writes(in, s)
			}
			c.Paced.note(call, in, s)
			return c.Apply(ctx, w, in, s)
		},
		ReadBack: func(ctx context.Context, call *mcpcore.Call, in In, s State, w mcpcore.Written) (mcpcore.Reading, error) {
			return c.ReadBack(ctx, reading(call), in, s, w)
		},
	}
	if c.Verify != nil {
		op.Verify = func(ctx context.Context, call *mcpcore.Call, in In, receipt mcpcore.Receipt) (mcpcore.Reading, error) {
			return c.Verify(ctx, reading(call), in, receipt)
		}
	}
	return op.Workflow()
}

// path are the values of a route's names.
type path map[string]string

// reads reads Discord for a workflow, its declared routes alone.
type reads struct {
	rest   discordtools.REST
	Call   *mcpcore.Call // for what the policy says: Permitted, Protected, Limit
	routes []string
}

// get reads what is at a declared route, "GET /template", into out.
func (r *reads) get(ctx context.Context, route string, at path, out any) error {
	return r.query(ctx, route, at, nil, out)
}

// query is [reads.get] with values behind the question mark.
func (r *reads) query(ctx context.Context, route string, at path, values map[string][]string, out any) error {
	body, err := r.raw(ctx, route, at, values)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("decode reply of %s: %w", route, err)
	}
	return nil
}

// raw is [reads.query] for an answer that is not JSON.
func (r *reads) raw(ctx context.Context, route string, at path, values map[string][]string) ([]byte, error) {
	method, template, _ := strings.Cut(route, " ")
	if method != "GET" || !slices.Contains(r.routes, route) {
		return nil, fmt.Errorf("the workflow reads the undeclared route %s", route)
	}
	res, err := r.rest.Do(ctx, discordtools.Request{Method: method, Route: template, Path: at, Query: values, Anonymous: byToken(template)})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// byToken reports whether a route bears its own token, beside which the bot's has
// no place.
func byToken(template string) bool { return strings.Contains(template, "{webhook_token}") }

// gone reports whether Discord says that what was asked for does not exist.
func gone(err error) bool {
	e, ok := errors.AsType[*mcpcore.Error](err)
	return ok && e.Code == mcpcore.CodeNotFound
}

// write sends the one request of a workflow.
type write struct {
	rest   discordtools.REST
	reason string // the caller's, for the audit log
	routes []string
	left   int
	status int           // of the last answer
	Call   *mcpcore.Call // for references, and the time
}

// nonce is what tells Discord that two posts are one: the same for the same
// operation key. Discord takes 25 characters.
func (w *write) nonce() string {
	_, sum, _ := strings.Cut(string(mcpcore.HashKey(w.Call.Text("operationKey"))), ":")
	return sum[:25]
}

// send sends a request of a declared route, "METHOD /template", and reads the
// answer into out, which may be nil. body may be nil. Its error leaves the
// outcome open, unless Discord refused the request or never got it.
func (w *write) send(ctx context.Context, route string, at path, body, out any) error {
	return w.sendWith(ctx, route, discordtools.Request{Path: at, Reason: w.reason}, body, out)
}

// sendWith is [write.send] for a request with more than a path: a query, or a
// reason that stays here.
func (w *write) sendWith(ctx context.Context, route string, r discordtools.Request, body, out any) error {
	switch {
	case w.left < 1:
		return fmt.Errorf("the workflow sends more requests than it may")
	case !slices.Contains(w.routes, route):
		return mcpcore.NotDone(fmt.Errorf("the workflow sends the undeclared route %s", route))
	}
	w.left--
	r.Method, r.Route, _ = strings.Cut(route, " ")
	r.Once, r.Anonymous = true, byToken(r.Route)
	if body != nil {
		raw, err := canon.Marshal(body)
		if err != nil {
			return mcpcore.NotDone(fmt.Errorf("encode %s: %w", route, err))
		}
		r.Body = raw
	}
	res, err := w.rest.Do(ctx, r)
	switch {
	case err != nil && discordtools.Refused(err):
		return mcpcore.NotDone(err)
	case err != nil:
		return err
	}
	if w.status = res.Status; out == nil {
		return nil
	}
	if raw, ok := out.(*json.RawMessage); ok { // whoever asks for it as it is decodes it
		*raw = res.Body
		return nil
	}
	if err := json.Unmarshal(res.Body, out); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", route, err)
	}
	return nil
}

// refusedLater reports whether a write of several was definitely not done when
// others were done before: then the change is done in part, and ReadBack proves
// which.
func refusedLater(err error, done int) bool { return done > 0 && mcpcore.IsNotDone(err) }

// refused is the error of a plan that cannot be made as it was asked for. reason
// is a fixed word for programs.
func refused(reason, format string, with ...any) error {
	return mcpcore.Errorf(mcpcore.CodePlanRefused, format, with...).With("reason", reason)
}

// id is an answer's id, checked: an answer without one proves nothing.
func id[T ~string](v T) (string, error) {
	if err := discord.CheckID(string(v)); err != nil {
		return "", fmt.Errorf("the answer has no id: %w", err)
	}
	return string(v), nil
}

// drift collects the fields that differ from the plan, by fixed names.
type drift []string

func (d *drift) unless(same bool, field string) {
	if !same {
		*d = append(*d, field)
	}
}

// The targets that workflows claim.
var (
	theRole    = claims.Role
	theChannel = claims.Channel
	theMember  = claims.Member
	theMessage = claims.Message
	all        = claims.All // of a guild: "channels", "roles", "invites"
)

// reason is the argument of workflows whose request goes to the audit log.
type reason struct {
	AuditReason string `json:"auditReason,omitempty" jsonschema:"why, for the guild's audit log" maxLength:"512"`
}

// guildsScope is the scope of workflows that the argument guildId leads to.
func guildsScope(doc string) mcpcore.PolicyScope {
	return mcpcore.PolicyScope{Name: "guilds", Arg: "guildId", Doc: doc}
}

// orNull is an id or a text in JSON, null for none.
func orNull[T ~string](v T) json.RawMessage {
	if v == "" {
		return json.RawMessage("null")
	}
	return canon.AppendString(nil, string(v))
}

// issue is what a rule says of the argument at a path, which does not go with the
// others.
func issue(path, format string, with ...any) *mcpcore.Issue {
	return &mcpcore.Issue{Path: path, Message: fmt.Sprintf(format, with...), Code: mcpcore.IssueRule}
}

// companion is a reading tool that belongs to a workflow and shares its reads.
func companion[In, Out any](rest discordtools.REST, t mcpcore.Tool, run func(ctx context.Context, r *reads, in In) (Out, error)) mcpcore.Tool {
	t.Effect, t.Repeatable = mcpcore.Read, true
	return mcpcore.Define(t, func(ctx context.Context, call *mcpcore.Call, in In) (Out, error) {
		return run(ctx, &reads{rest, call, t.Routes}, in)
	})
}
