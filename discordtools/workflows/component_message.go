package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// layoutPart is one component as the caller wrote it; [componentRule] checks it.
type layoutPart map[string]json.RawMessage

type layoutContent struct {
	Components []layoutPart `json:"components" jsonschema:"by type: 10 text {content}, 14 separator {divider, spacing}, 17 container {components, accent_color, spoiler}, 1 row of link buttons 2 {style: 5, label, url, disabled}" minItems:"1" maxItems:"40"`
}

type componentPost struct {
	post
	layoutContent
}

type componentState struct {
	postState
	Wanted []part   `json:"wanted"`
	Links  []string `json:"linkOrigins"`
}

type componentBody struct {
	Flags      int             `json:"flags"`
	Components []part          `json:"components"`
	Mentions   allowedMentions `json:"allowed_mentions"`
}

// part is a component that only shows something, with what Discord fills in and
// without the number that it assigns.
type part struct {
	Type       int    `json:"type"`
	Content    string `json:"content,omitempty"`
	Divider    *bool  `json:"divider,omitempty"`
	Spacing    int    `json:"spacing,omitempty"`
	Color      *int   `json:"accent_color,omitempty"`
	Spoiler    bool   `json:"spoiler,omitempty"`
	Style      int    `json:"style,omitempty"`
	Label      string `json:"label,omitempty"`
	URL        string `json:"url,omitempty"`
	Disabled   bool   `json:"disabled,omitempty"`
	Components []part `json:"components,omitempty"`
}

// componentMessage posts a layout of texts and links, or replaces that of an own
// message.
func componentMessage(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[componentPost, componentState]{
		Name: "component-message", Category: "interactions", Title: "Post a layout",
		Doc: `Posts a Components V2 message of texts, separators, containers and link buttons, or replaces the layout of an own
			one that is neither pinned nor a reply. Such a message consists of components for good. Links lead to origins
			that the policy names. It notifies the listed users alone.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory, Intents: discord.MessageContent,
		Scopes: append(slices.Clone(postScopes), mcpcore.PolicyScope{Name: "linkOrigins", Doc: "origins that buttons may lead to, such as https://example.com", Pattern: `https://[a-z0-9.-]+(:[0-9]{1,5})?`}),
		Rules:  []mcpcore.Rule{postRule, componentRule}, Redact: []string{"components"},
		Companions: layoutCompanions(rest),
		Reads:      postReads, Write: postWrites,
		Paced:   posts(paced, func(in componentPost, _ componentState) discord.ChannelID { return in.ChannelID }),
		Plan:    planComponents,
		Targets: func(in componentPost, _ componentState) []mcpcore.Target { return postTargets(in.post) },
		Apply: func(ctx context.Context, w *write, in componentPost, s componentState) (mcpcore.Written, error) {
			return w.post(ctx, in.post, s.Permission.Bot, componentBody{flagComponentsV2, s.Wanted, notifies(s.Notify)})
		},
		ReadBack: func(ctx context.Context, r *reads, in componentPost, s componentState, w mcpcore.Written) (mcpcore.Reading, error) {
			m, d, err := r.posted(ctx, in.post, s.Permission.Bot, w.ID)
			if err == nil {
				compareParts(s.Wanted, m, &d)
			}
			return mcpcore.Reading{Drift: d}, err
		},
		Verify: func(ctx context.Context, r *reads, in componentPost, receipt mcpcore.Receipt) (mcpcore.Reading, error) {
			wanted, err := parts(in.raw(), true)
			if err != nil {
				return mcpcore.Reading{}, err
			}
			return r.verifies(ctx, in.post, receipt, func(m message, d *drift) { compareParts(wanted, m, d) })
		},
	}.on(rest)
}

// planComponents plans a post, or a change of one.
func planComponents(ctx context.Context, r *reads, in componentPost) (plan mcpcore.Change[componentState], err error) {
	var s componentState
	if s.Wanted, err = parts(in.raw(), true); err != nil {
		return plan, err
	}
	if s.Links, err = origins(s.Wanted); err != nil {
		return plan, err
	}
	for _, origin := range s.Links {
		if err := r.Call.Permitted("linkOrigins", origin); err != nil {
			return plan, err
		}
	}
	var now *message
	if s.postState, now, err = r.post(ctx, in.post, 0, texts(s.Wanted)); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[componentState]{
		Action: in.Action, Risks: components.NewReview(in.raw()).Risks(), Warnings: []string{"The message consists of components for good."},
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name},
			{Name: "layout", Value: components.Text(in.raw())}, {Name: "links to", Value: strings.Join(s.Links, " ")},
		},
	}
	if now != nil {
		if now.Flags&flagComponentsV2 == 0 {
			return plan, refused("no-components-v2", "%s does not consist of components", now.ID)
		}
		var d drift
		compareParts(s.Wanted, *now, &d)
		if plan.Current = len(d) == 0 && len(s.Notify) == 0; plan.Current {
			plan.Action = "none"
		}
	}
	plan.State = s
	return plan, nil
}

// componentRule refuses what Discord would refuse, and every component that does
// more than show something.
var componentRule = mcpcore.Rule{All: func(c *mcpcore.Call) (all []mcpcore.Issue) {
	raw := argument[[]json.RawMessage](c, "components")
	for _, i := range components.Check("components", raw, nil) {
		all = append(all, mcpcore.Issue{Path: i.Path, Message: i.Message, Code: i.Code})
	}
	wanted, err := parts(raw, true)
	if err == nil {
		_, err = origins(wanted)
	}
	if err != nil && len(all) == 0 {
		all = append(all, mcpcore.Issue{Path: "components", Message: err.Error(), Code: mcpcore.IssueRule})
	}
	return all
}}

func (c layoutContent) raw() []json.RawMessage {
	all := make([]json.RawMessage, len(c.Components))
	for i, p := range c.Components {
		all[i], _ = json.Marshal(p) // of raw JSON that was decoded
	}
	return all
}

// parts reads components. strictly refuses members that a part has not, such as
// the number that Discord assigns.
func parts(raw []json.RawMessage, strictly bool) ([]part, error) {
	all := make([]part, len(raw))
	for i, c := range raw {
		d := json.NewDecoder(bytes.NewReader(c))
		if strictly {
			d.DisallowUnknownFields()
		}
		if err := d.Decode(&all[i]); err != nil {
			return nil, fmt.Errorf("component %d has a member that texts, separators, containers and rows of link buttons do not have here", i)
		}
	}
	return all, fill(all)
}

// fill completes parts as Discord does, and refuses kinds that do more than show
// something.
func fill(all []part) error {
	for i := range all {
		p := &all[i]
		switch {
		case p.Type == components.Separator:
			if p.Divider == nil {
				p.Divider = new(bool)
				*p.Divider = true
			}
			p.Spacing = max(p.Spacing, 1)
		case p.Type == components.Button && p.Style != 5:
			return fmt.Errorf("a button here is a link: style 5 with an address")
		case !slices.Contains([]int{components.TextDisplay, components.Container, components.ActionRow, components.Button}, p.Type):
			return fmt.Errorf("a component of type %d is not posted by this workflow, which takes texts, separators, containers and rows of link buttons", p.Type)
		}
		if err := fill(p.Components); err != nil {
			return err
		}
	}
	return nil
}

// origins are where the links of parts lead, each once. They are HTTPS and name
// nobody.
func origins(all []part) (found []string, err error) {
	for _, p := range all {
		if p.URL != "" {
			u, err := url.Parse(p.URL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
				return nil, fmt.Errorf("a link is an https address without a user name")
			}
			found = append(found, "https://"+strings.ToLower(u.Host))
		}
		inner, err := origins(p.Components)
		if err != nil {
			return nil, err
		}
		found = append(found, inner...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// texts is all that parts say.
func texts(all []part) (said string) {
	for _, p := range all {
		said += p.Content + "\n" + texts(p.Components)
	}
	return said
}

// compareParts notes whether a message shows something else.
func compareParts(wanted []part, m message, d *drift) {
	shown, err := parts(m.Components, false)
	d.unless(err == nil && m.Flags&flagComponentsV2 != 0 && snapshot(shown) == snapshot(wanted), "components")
}
