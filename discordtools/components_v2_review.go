package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/internal/redact"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// layoutRule refuses a layout that Discord would refuse, and files that no
// component shows.
var layoutRule = mcpcore.Rule{All: func(call *mcpcore.Call) []mcpcore.Issue {
	parts, _ := argument[[]json.RawMessage](call, "components")
	files, _ := argument[[]upload](call, "files")
	names, shown := make([]string, len(files)), map[string]bool{}
	for i, f := range files {
		names[i] = cleanFilename(f.Name)
	}
	edits := call.Tool().Takes("message_id") // whose message may have the file already
	issues := layoutIssues(components.Check("components", parts, func(name string) bool {
		shown[name] = true
		return edits || slices.Contains(names, name)
	}))
	for i, name := range names {
		if !shown[name] {
			issues = append(issues, *contradiction(fmt.Sprintf("files.%d.name", i), "no component shows it; name it in one as attachment://%s", name))
		}
	}
	return issues
}}

// layoutIssues are a layout's issues as every tool tells its own.
func layoutIssues(found []components.Issue) []mcpcore.Issue {
	issues := make([]mcpcore.Issue, len(found))
	for i, f := range found {
		issues[i] = mcpcore.Issue{Path: f.Path, Message: f.Message, Code: f.Code}
		if f.Hint != "" {
			issues[i].Message += ". " + strings.TrimSuffix(f.Hint, ".")
		}
	}
	return issues
}

// messagePlace is what an approval of a message is for.
type messagePlace struct {
	ChannelID discord.ChannelID `json:"channel_id"`
	MessageID discord.MessageID `json:"message_id,omitempty"`
}

// placeFacts tell in which channel the message is to stand: an id says nothing
// to a person.
func placeFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var c struct {
		standing
		Recipients []person `json:"recipients"` // of a direct message, which has no name
	}
	if err := a.do(ctx, routeChannel, sub{}, &c); err != nil {
		return nil, err
	}
	names := []string{}
	if c.Name != "" {
		names = append(names, c.Name)
	}
	for _, p := range c.Recipients {
		names = append(names, p.String())
	}
	return mcpcore.Facts{{Name: "channel", Value: strings.Join(names, ", ")}, {Name: "kind", Value: c.Type.String()}}, nil
}

// replacedFacts tell also what the new layout takes the place of.
func replacedFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	place, err := placeFacts(ctx, a)
	if err != nil {
		return nil, err
	}
	old, err := messageFacts(ctx, a)
	if err != nil {
		return nil, err
	}
	return append(place, old...), nil
}

// reviewLayout is what an approval of a layout shows.
func reviewLayout(at messagePlace, parts []json.RawMessage, risks ...string) mcpcore.PayloadReview {
	r := components.NewReview(parts)
	return mcpcore.PayloadReview{
		Target: at, RiskFlags: append(risks, r.Risks()...),
		Details: []mcpcore.Detail{{Name: "component_count", Value: len(parts)}, {Name: "component_review", Value: r}},
	}
}

// reviewSend and reviewEdit bind the arguments.
func reviewSend(call *mcpcore.Call) (mcpcore.PayloadReview, error) {
	return reviewArguments(call)
}

func reviewEdit(call *mcpcore.Call) (mcpcore.PayloadReview, error) {
	return reviewArguments(call, "edit_existing_message")
}

func reviewArguments(call *mcpcore.Call, risks ...string) (mcpcore.PayloadReview, error) {
	var at messagePlace
	if err := call.Bind(&at); err != nil {
		return mcpcore.PayloadReview{}, err
	}
	if call.Has("allowed_mentions") {
		risks = append(risks, "allowed_mentions")
	}
	parts, _ := argument[[]json.RawMessage](call, "components")
	return reviewLayout(at, parts, risks...), nil
}

// reviewTemplate binds the layout that the template makes, and shows it with
// markers in the places of the caller's texts.
func reviewTemplate(call *mcpcore.Call) (mcpcore.PayloadReview, error) {
	var in templateSend
	if err := call.Bind(&in); err != nil {
		return mcpcore.PayloadReview{}, err
	}
	type message struct {
		ChannelID  discord.ChannelID `json:"channel_id"`
		Components []json.RawMessage `json:"components"`
	}
	marked := map[string]string{}
	for name, text := range in.Vars {
		marked[name] = redact.Marker(text)
	}
	parts := in.filled(in.Vars)
	r := reviewLayout(messagePlace{ChannelID: in.ChannelID}, parts)
	r.Sent, r.Shown = message{in.ChannelID, parts}, message{in.ChannelID, in.filled(marked)}
	places := components.Named(in.Template).Vars
	if open := slices.DeleteFunc(places, func(name string) bool { _, given := in.Vars[name]; return given }); len(open) > 0 {
		r.Details = append(r.Details, mcpcore.Detail{Name: "unfilled", Value: open})
	}
	return r, nil
}

// templateRule refuses texts that the template has no place for, and a layout
// that Discord would refuse with them.
var templateRule = mcpcore.Rule{All: func(call *mcpcore.Call) (issues []mcpcore.Issue) {
	in := templateSend{Template: call.Text("template")}
	in.Vars, _ = argument[map[string]string](call, "vars")
	places := components.Named(in.Template).Vars
	for _, name := range slices.Sorted(maps.Keys(in.Vars)) {
		if slices.Contains(places, name) {
			continue
		}
		i := mcpcore.Issue{Path: "vars." + excerpt(name), Code: mcpcore.IssueUnknown, Message: "is no place of this layout; there are: " + strings.Join(places, ", ")}
		if near := args.Nearest(name, places); near != "" {
			i.Message = fmt.Sprintf("is no place of this layout; did you mean %q?", near)
		}
		issues = append(issues, i)
	}
	return append(issues, layoutIssues(components.Check("components", in.filled(in.Vars), nil))...)
}}
