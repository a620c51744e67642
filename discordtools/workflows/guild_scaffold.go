package workflows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// How much one scaffold makes, and how much of it one plan.
const (
	scaffoldSteps    = 25
	scaffoldFrontier = 10
)

type scaffold struct {
	GuildID  discord.GuildID   `json:"guildId" jsonschema:"guild to create them in"`
	Roles    []scaffoldRole    `json:"roles,omitempty" jsonschema:"roles to create" minItems:"1" maxItems:"10"`
	Channels []scaffoldChannel `json:"channels,omitempty" jsonschema:"categories, and the channels in them" minItems:"1" maxItems:"20"`
	reason
}

type scaffoldRole struct {
	Symbol      string                   `json:"symbol" jsonschema:"names it in this request" pattern:"^[a-z][a-z0-9_-]{0,31}$"`
	Name        string                   `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	Permissions []discord.PermissionName `json:"permissions,omitempty" jsonschema:"what it gives; none when left out" uniqueItems:"true"`
	Color       int                      `json:"color,omitempty" jsonschema:"0xRRGGBB as a number; 0 is none" minimum:"0" maximum:"16777215"`
	Hoist       bool                     `json:"hoist,omitempty" jsonschema:"show its members apart"`
	Mentionable bool                     `json:"mentionable,omitempty" jsonschema:"anyone may mention it"`
}

type scaffoldChannel struct {
	Symbol string `json:"symbol" jsonschema:"names it in this request" pattern:"^[a-z][a-z0-9_-]{0,31}$"`
	Kind   string `json:"kind" jsonschema:"what is created" enum:"category,text,forum"`
	Name   string `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	Parent string `json:"parent,omitempty" jsonschema:"symbol of its category; every channel that is no category has one"`
	Topic  string `json:"topic,omitempty" jsonschema:"topic, or a forum's guidelines" maxLength:"1024"`
}

type scaffoldState struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	Steps      []scaffoldStep `json:"steps" jsonschema:"in the order in which they are made"`
	Later      int            `json:"later" jsonschema:"steps that can be planned when these are done"`
	Channels   string         `json:"channels" jsonschema:"digest of all visible channels"`

	one scaffoldStep `json:"-"` // which a child is about
}

// scaffoldStep is a role or a channel that is there or is to be made.
type scaffoldStep struct {
	Name    string       `json:"step" jsonschema:"role/ or channel/ and its symbol"`
	ID      string       `json:"id,omitempty" jsonschema:"of what is there"`
	Current bool         `json:"current" jsonschema:"it is so already"`
	Role    *roleBody    `json:"role,omitempty"`
	Channel *channelBody `json:"channel,omitempty"`
}

// guildScaffold makes roles, categories and the channels in them, one by one.
func guildScaffold(rest discordtools.REST) mcpcore.Workflow {
	return change[scaffold, scaffoldState]{
		Name: "guild-scaffold", Category: "guild-scaffolds", Title: "Create roles, categories and channels",
		Doc: `Creates up to 10 roles and 20 channels, at most 25 together: roles, then categories, then the text channels and
			forums in them. It only adds; what is there already, equal and under the same name, stays as it is.
			One call makes at most 10, and no channels before their categories are there: while more is to be
			done the end is paused, and the same call with the same operationKey goes on, when a person has
			approved what comes next. What an earlier call made must still be as it was.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope,
		NeedsWhen: []mcpcore.Need{{Arg: "roles", Permissions: discord.ManageRoles}, {Arg: "channels", Permissions: discord.ManageChannels | discord.ViewChannel}},
		Scopes:    []mcpcore.PolicyScope{guildsScope("guilds in which roles and channels may be created")},
		Rules:     []mcpcore.Rule{mcpcore.AnyOf("roles", "channels")},
		Reads:     append(slices.Clone(standingRoutes), routeChannels, routeRole, routeChannel),
		Write:     []string{routeRoleCreate, routeChannelCreate},
		Takes:     3 * time.Minute,
		Plan:      planScaffold,
		Targets: func(in scaffold, _ scaffoldState) []mcpcore.Target {
			return []mcpcore.Target{all("roles", in.GuildID), all("channels", in.GuildID)}
		},
		Children: func(_ scaffold, s scaffoldState) (row []mcpcore.Child[scaffoldState]) {
			for _, step := range s.Steps {
				row = append(row, mcpcore.Child[scaffoldState]{Name: step.Name, Current: step.Current, State: scaffoldState{one: step}})
			}
			return row
		},
		Apply: func(ctx context.Context, w *write, in scaffold, s scaffoldState) (mcpcore.Written, error) {
			if s.one.Role != nil {
				return w.role(ctx, in.GuildID, *s.one.Role)
			}
			return w.channel(ctx, in.GuildID, *s.one.Channel)
		},
		ReadBack: func(ctx context.Context, r *reads, in scaffold, s scaffoldState, w mcpcore.Written) (mcpcore.Reading, error) {
			if s.one.Role != nil {
				return r.madeRole(ctx, in.GuildID, *s.one.Role, w)
			}
			return r.madeChannel(ctx, in.GuildID, *s.one.Channel, w)
		},
		Verify: verifyScaffold,
	}.on(rest)
}

// scaffolding is a scaffold while it is planned.
type scaffolding struct {
	call     *mcpcore.Call
	bot      standing
	channels []channel
	state    scaffoldState
	left     int // how much the frontier takes still
}

func planScaffold(ctx context.Context, r *reads, in scaffold) (plan mcpcore.Change[scaffoldState], err error) {
	if err := in.check(); err != nil {
		return plan, err
	}
	p := scaffolding{call: r.Call, left: scaffoldFrontier}
	if p.bot, err = r.standing(ctx, in.GuildID); err != nil {
		return plan, err
	}
	if p.channels, err = r.channels(ctx, in.GuildID); err != nil {
		return plan, err
	}
	p.state = scaffoldState{Guild: p.bot.Guild, Permission: p.bot.evidence(), Channels: snapshot(p.channels)}
	if err := p.roles(in.Roles); err != nil {
		return plan, err
	}
	if err := p.all(in.Channels); err != nil {
		return plan, err
	}
	plan.Action, plan.State, plan.More = "create", p.state, p.state.Later > 0
	made := 0
	for _, step := range p.state.Steps {
		if step.Current {
			made++
			continue
		}
		plan.Affected = append(plan.Affected, mcpcore.Affected{ID: step.Name})
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: step.Name, Value: step.title()})
	}
	plan.Facts = append(mcpcore.Facts{{Name: "guild", Value: p.bot.Guild.Name}, {Name: "there already", Value: strconv.Itoa(made)}, {Name: "later", Value: strconv.Itoa(p.state.Later)}},
		plan.Facts...)
	if plan.Current = len(plan.Affected) == 0; plan.Current {
		plan.Action = "none"
	}
	plan.Warnings = []string{"The inventory holds the channels that the bot can see; there may be others."}
	return plan, nil
}

// check refuses a request that contradicts itself.
func (in *scaffold) check() error {
	if n := len(in.Roles) + len(in.Channels); n > scaffoldSteps {
		return refused("too-many-steps", "it makes %d roles and channels, and can make %d", n, scaffoldSteps)
	}
	seen := map[string]bool{}
	once := func(what ...string) error {
		key := fmt.Sprint(what)
		if seen[key] {
			return refused("twice", "%s is in the request twice", what[len(what)-1])
		}
		seen[key] = true
		return nil
	}
	for _, r := range in.Roles {
		if err := once("role", r.Symbol); err != nil {
			return err
		}
		if err := once("role name", logical(r.Name)); err != nil {
			return err
		}
	}
	categories := map[string]bool{}
	for _, c := range in.Channels {
		if err := once("channel", c.Symbol); err != nil {
			return err
		}
		if err := once("channel name", c.Kind, c.Parent, logical(c.Name)); err != nil {
			return err
		}
		categories[c.Symbol] = c.Kind == "category"
	}
	for _, c := range in.Channels {
		switch {
		case c.Kind == "category" && (c.Parent != "" || c.Topic != ""):
			return refused("category", "the category %s has a parent or a topic, which categories have not", c.Symbol)
		case c.Kind != "category" && !categories[c.Parent]:
			return refused("parent", "the channel %s has no category of this request as its parent", c.Symbol)
		}
	}
	return nil
}

// add puts a step where it belongs: into this plan, or after it. id is of what is
// there, "" for nothing.
func (p *scaffolding) add(step scaffoldStep, id string, current bool) {
	step.ID, step.Current = id, current
	switch {
	case current:
	case p.left == 0:
		p.state.Later++
		return
	default:
		p.left--
	}
	p.state.Steps = append(p.state.Steps, step)
}

// roles plans the roles.
func (p *scaffolding) roles(wanted []scaffoldRole) error {
	if len(wanted) == 0 {
		return nil
	}
	if err := p.bot.makesRoles(); err != nil {
		return err
	}
	missing := 0
	for _, want := range wanted {
		gives := discord.WideBits(permissionsOf(want.Permissions))
		if err := p.bot.gives(gives); err != nil {
			return err
		}
		body := roleBody{want.Name, gives.Set(), roleColors{Primary: want.Color}, want.Hoist, want.Mentionable}
		step := scaffoldStep{Name: "role/" + want.Symbol, Role: &body}
		if id, done := p.call.Completed(step.Name); done {
			now, there := p.bot.role(discord.RoleID(id))
			var d drift
			d.role(now, body.role())
			p.add(step, id, there && !now.Managed && len(d) == 0)
			continue
		}
		id, err := p.bot.existing(body)
		if err != nil {
			return err
		}
		if p.add(step, string(id), id != ""); id == "" {
			missing++
		}
	}
	if len(p.bot.Roles)+missing > guildRoles {
		return refused("full", "the guild has %d roles and would get %d, and can have %d", len(p.bot.Roles), missing, guildRoles)
	}
	return nil
}

// all plans the channels: the categories, and when these are all there, what is in
// them.
func (p *scaffolding) all(wanted []scaffoldChannel) error {
	if len(wanted) == 0 {
		return nil
	}
	if err := p.bot.needs(discord.ManageChannels | discord.ViewChannel); err != nil {
		return err
	}
	ids, missing, waiting := map[string]discord.ChannelID{}, 0, 0
	for _, want := range wanted {
		if want.Kind != "category" {
			waiting++
			continue
		}
		id, err := p.channel(want, "")
		if err != nil {
			return err
		}
		if ids[want.Symbol] = id; id == "" {
			missing++
		}
	}
	if missing > 0 {
		p.state.Later += waiting
		missing += waiting
	} else {
		for _, want := range wanted {
			if want.Kind == "category" {
				continue
			}
			id, err := p.channel(want, ids[want.Parent])
			if err != nil {
				return err
			}
			if id == "" {
				missing++
			}
		}
	}
	if len(p.channels)+missing > guildChannels {
		return refused("full", "the guild has %d channels and would get %d, and can have %d", len(p.channels), missing, guildChannels)
	}
	return nil
}

// channel plans a channel and answers its id, "" when it is not there as it should
// be.
func (p *scaffolding) channel(want scaffoldChannel, parent discord.ChannelID) (discord.ChannelID, error) {
	body := channelTarget{want.Kind, channelKinds[want.Kind], want.Name, want.Topic}.in(parent)
	step := scaffoldStep{Name: "channel/" + want.Symbol, Channel: &body}
	if id, done := p.call.Completed(step.Name); done {
		i := slices.IndexFunc(p.channels, func(c channel) bool { return string(c.ID) == id && c.Type == body.Type })
		var d drift
		if i >= 0 {
			d.channel(p.channels[i], body)
		}
		if p.add(step, id, i >= 0 && len(d) == 0); i < 0 || len(d) > 0 {
			return "", nil // which ends the key
		}
		return discord.ChannelID(id), nil
	}
	same := body.existing(p.channels)
	switch {
	case len(same) > 1:
		return "", refused("ambiguous", "%d channels have the name %s there already", len(same), want.Name)
	case len(same) == 1:
		p.add(step, string(same[0]), true)
		return same[0], nil
	case parent != "":
		if _, err := p.bot.category(p.channels, parent); err != nil {
			return "", err
		}
		if n := childrenOf(p.channels, parent) + p.planned(parent); n >= categoryChildren {
			return "", refused("parent-full", "the category %s would have more than %d channels", want.Parent, categoryChildren)
		}
	}
	p.add(step, "", false)
	return "", nil
}

// planned is how many channels the plan makes in a category.
func (p *scaffolding) planned(parent discord.ChannelID) (n int) {
	for _, step := range p.state.Steps {
		if step.Channel != nil && step.Channel.Parent == parent && !step.Current {
			n++
		}
	}
	return n
}

// title is what a step makes, for people.
func (s *scaffoldStep) title() string {
	if s.Role != nil {
		bits, err := s.Role.Permissions.Bits()
		if err != nil {
			return s.Role.Name // of ours
		}
		return fmt.Sprintf("role %s, gives %s", s.Role.Name, cmp.Or(strings.Join(bits.Names(), ", "), "nothing"))
	}
	return s.Channel.Type.String() + " " + s.Channel.Name
}

// verifyScaffold looks whether all that was made is there as it was asked for; of a
// paused scaffold, all that was made before.
func verifyScaffold(ctx context.Context, r *reads, in scaffold, receipt mcpcore.Receipt) (found mcpcore.Reading, err error) {
	plan, err := planScaffold(ctx, r, in)
	if err != nil {
		return found, err
	}
	for _, step := range plan.State.Steps {
		if _, done := r.Call.Completed(step.Name); !step.Current && (done || receipt.Status == mcpcore.StatusCompleted) {
			found.Drift = append(found.Drift, step.Name)
		}
	}
	if plan.More && receipt.Status == mcpcore.StatusCompleted {
		found.Drift = append(found.Drift, "more")
	}
	return found, nil
}
