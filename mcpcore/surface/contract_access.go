package surface

import (
	"encoding/json"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Access is what the contract says of one tool.
type Access struct {
	Name           string         `json:"name"`
	Class          Class          `json:"class"`
	Toolset        string         `json:"toolset"`
	Workflow       *Membership    `json:"workflow,omitempty"` // nil for a tool that stands alone
	Effect         string         `json:"effect"`             // read, write or destroy
	Repeatable     bool           `json:"repeatable"`
	Authentication Authentication `json:"authentication"`
	TargetScope    string         `json:"targetScope"`   // the kind of thing it acts on
	IdentityLock   bool           `json:"identityLock"`  // it runs only where the operator has locked the bot's identity
	CrossesGuilds  bool           `json:"crossesGuilds"` // one call may touch several guilds
	Permissions    Permissions    `json:"permissions"`
	Outranks       string         `json:"outranks,omitempty"` // the argument naming users or roles that the bot must stand above
	Intents        []string       `json:"intents"`            // privileged ones, of the application
	Gate           Gate           `json:"gate"`
	Routes         []string       `json:"routes"` // every route of Discord's that it may use
}

// Membership is a tool's place in a reviewed workflow.
type Membership struct {
	Name       string   `json:"name"`
	Role       string   `json:"role"`       // plan, execute, verify or companion
	Companions []string `json:"companions"` // the workflow's other tools, sorted
}

// Authentication is whose credential a call uses.
type Authentication string

// The kinds of authentication.
const (
	NoAuthentication Authentication = "none"               // nobody's
	BotToken         Authentication = "bot-token"          // the server's
	TokenInArguments Authentication = "token-in-arguments" // one that the caller brings, such as a webhook's
	ExternalService  Authentication = "external-service"   // none of Discord's: it asks another service
	ByStep           Authentication = "by-step"            // that of each tool which it calls
)

// PermissionMode is how the permissions of a tool are to be read.
type PermissionMode string

// The modes.
const (
	NoPermissions PermissionMode = "none"
	AllListed     PermissionMode = "all-listed"  // all of Always, in every call
	Conditional   PermissionMode = "conditional" // Always, and what the arguments add
	PerStep       PermissionMode = "by-step"     // those of each tool which it calls
)

// Permissions are what the bot needs in the target. They are looked at before a
// call where the operator asks for that, and Discord checks them in any case.
type Permissions struct {
	Mode   PermissionMode `json:"mode"`
	Always []string       `json:"always"`
	When   []Condition    `json:"when"`
	// In is the argument naming the channel or guild in which they count. ""
	// is every channel that a top-level argument names, or the guild when none
	// does.
	In string `json:"in,omitempty"`
}

// Condition adds permissions for an argument that is given; none says that it
// calls for nothing. Where one of an argument's conditions has an Equals that is
// met, those without one do not count.
type Condition struct {
	Argument    string          `json:"argument"`
	Equals      json.RawMessage `json:"equals,omitempty"` // with this value alone; nil for any
	Unless      json.RawMessage `json:"unless,omitempty"` // not with this value; nil for none
	Permissions []string        `json:"permissions"`
}

// Gate is what a call must bring beside its arguments before it acts.
type Gate struct {
	Kind          string   `json:"kind"`          // none, two-key, payload, consent or reviewed
	Fields        []string `json:"fields"`        // the arguments that confirm
	Person        bool     `json:"person"`        // a person must approve each call
	Preconditions []string `json:"preconditions"` // the tool's own by name, in the order in which they are checked
}

func access(t *mcpcore.Tool, of []Workflow, toolsets []Toolset, policies []mcpcore.Policy) Access {
	return Access{
		Name: t.Name, Class: ClassOf(t), Toolset: home(t, toolsets), Workflow: membership(t, of),
		Effect: t.Effect.String(), Repeatable: t.Repeatable,
		Authentication: authentication(t), TargetScope: t.Scope.String(), IdentityLock: t.NeedsLock(), CrossesGuilds: t.Crosses,
		Permissions: permissions(t), Outranks: t.Outranks, Intents: t.Intents.Names(),
		Gate:   gate(t, policies),
		Routes: listed(t.Routes),
	}
}

func membership(t *mcpcore.Tool, of []Workflow) *Membership {
	for _, w := range of {
		if w.Name != t.Part.Workflow {
			continue
		}
		others := append([]string{w.Plan, w.Execute}, w.Companions...)
		if w.Verify != "" {
			others = append(others, w.Verify)
		}
		slices.Sort(others)
		return &Membership{w.Name, t.Part.Role.String(), slices.DeleteFunc(others, func(name string) bool { return name == t.Name })}
	}
	return nil
}

func authentication(t *mcpcore.Tool) Authentication {
	switch {
	case t.Steps != nil:
		return ByStep
	case t.Scope == mcpcore.ExternalScope:
		return ExternalService
	case t.Scope == mcpcore.LocalScope:
		return NoAuthentication
	case t.Anonymous && t.TakesSecret():
		return TokenInArguments
	case t.Anonymous:
		return NoAuthentication
	}
	return BotToken
}

func permissions(t *mcpcore.Tool) Permissions {
	p := Permissions{Mode: NoPermissions, Always: t.Always().Names(), When: []Condition{}, In: t.NeedsIn}
	for _, n := range t.NeedsWhen {
		p.When = append(p.When, Condition{n.Arg, value(n.Equals), value(n.Unless), n.Permissions.Names()})
	}
	switch {
	case t.Steps != nil:
		p.Mode = PerStep
	case len(p.When) > 0:
		p.Mode = Conditional
	case len(p.Always) > 0:
		p.Mode = AllListed
	}
	return p
}

// value is the JSON text of a need, nil for none.
func value(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func gate(t *mcpcore.Tool, policies []mcpcore.Policy) Gate {
	g := Gate{Kind: t.EffectiveGate().String(), Fields: listed(t.Fields(policies)), Person: t.NeedsPerson(policies), Preconditions: []string{}}
	for _, p := range t.Require {
		g.Preconditions = append(g.Preconditions, p.Name)
	}
	return g
}
