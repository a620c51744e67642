package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// embedText is what all embeds of a message may hold together, in characters.
//
// Source: https://docs.discord.com/developers/resources/message#embed-object-embed-limits.
const embedText = 6000

type embedContent struct {
	Content string  `json:"content,omitempty" jsonschema:"text above the embeds, without addresses" maxLength:"2000"`
	Embeds  []embed `json:"embeds" jsonschema:"embeds, 6000 characters in all" minItems:"1" maxItems:"10"`
}

// embed is a static embed: it has no addresses, pictures or times.
type embed struct {
	Title       string       `json:"title,omitempty" maxLength:"256"`
	Description string       `json:"description,omitempty" maxLength:"4096"`
	Color       *int         `json:"color,omitempty" jsonschema:"0xRRGGBB as a number" minimum:"0" maximum:"16777215"`
	Author      *embedAuthor `json:"author,omitempty"`
	Footer      *embedFooter `json:"footer,omitempty"`
	Fields      []embedField `json:"fields,omitempty" maxItems:"25"`
}

type embedAuthor struct {
	Name string `json:"name" minLength:"1" maxLength:"256"`
}

type embedFooter struct {
	Text string `json:"text" minLength:"1" maxLength:"2048"`
}

type embedField struct {
	Name   string `json:"name" minLength:"1" maxLength:"256"`
	Value  string `json:"value" minLength:"1" maxLength:"1024"`
	Inline bool   `json:"inline,omitempty"`
}

type embedPost struct {
	post
	embedContent
}

type embedState struct {
	postState
	Wanted embedContent `json:"wanted"`
}

type embedBody struct {
	embedContent
	Mentions allowedMentions `json:"allowed_mentions"`
}

// embedEdit replaces all that a message can have.
type embedEdit struct {
	Content     string            `json:"content"`
	Embeds      []embed           `json:"embeds"`
	Mentions    allowedMentions   `json:"allowed_mentions"`
	Attachments []json.RawMessage `json:"attachments"`
	Components  []json.RawMessage `json:"components"`
	Flags       int               `json:"flags"`
}

// embedMessage posts static embeds, or makes a message of the bot's into them.
func embedMessage(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[embedPost, embedState]{
		Name: "embed-message", Category: "embed-messages", Title: "Post embeds",
		Doc: `Posts 1 to 10 static embeds, without addresses, pictures or times, or replaces all of an own message that is
			neither pinned nor a reply. It notifies the listed users alone.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.EmbedLinks,
		Intents: discord.MessageContent, Scopes: postScopes, Rules: []mcpcore.Rule{postRule, embedRule}, Redact: []string{"content", "embeds"},
		Companions: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "preview_embed_message", Title: "Draw embeds", Category: "embed-messages",
			Doc:   "Draws a message of embeds as plain text and counts its characters. Nothing is sent.",
			Scope: mcpcore.LocalScope, Rules: []mcpcore.Rule{embedRule}, Redact: []string{"content", "embeds"},
		}, func(_ context.Context, _ *reads, in embedContent) (embedPreview, error) {
			in = in.tidy()
			return embedPreview{in.draw(), in.size(), embedText}, nil
		})},
		Reads: postReads, Write: postWrites,
		Paced: posts(paced, func(in embedPost, _ embedState) discord.ChannelID { return in.ChannelID }),
		Plan: func(ctx context.Context, r *reads, in embedPost) (plan mcpcore.Change[embedState], err error) {
			s := embedState{Wanted: in.tidy()}
			var now *message
			if s.postState, now, err = r.post(ctx, in.post, discord.EmbedLinks, in.Content); err != nil {
				return plan, err
			}
			plan = mcpcore.Change[embedState]{Action: in.Action, Facts: mcpcore.Facts{
				{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "message", Value: s.Wanted.draw()},
			}}
			if now != nil {
				if now.Flags&flagComponentsV2 != 0 {
					return plan, refused("components-v2", "%s consists of components for good", now.ID)
				}
				plan.Warnings = []string{"All that the message has is replaced: its text, embeds, files and buttons."}
				var d drift
				s.Wanted.compare(*now, &d)
				if plan.Current = len(d) == 0 && len(now.Attachments)+len(now.Components)+len(s.Notify) == 0; plan.Current {
					plan.Action = "none"
				}
			}
			plan.State = s
			return plan, nil
		},
		Targets: func(in embedPost, _ embedState) []mcpcore.Target { return postTargets(in.post) },
		Apply: func(ctx context.Context, w *write, in embedPost, s embedState) (mcpcore.Written, error) {
			if in.MessageID == "" {
				return w.post(ctx, in.post, s.Permission.Bot, embedBody{s.Wanted, notifies(s.Notify)})
			}
			none := []json.RawMessage{}
			return w.post(ctx, in.post, s.Permission.Bot, embedEdit{s.Wanted.Content, s.Wanted.Embeds, notifies(s.Notify), none, none, 0})
		},
		ReadBack: func(ctx context.Context, r *reads, in embedPost, s embedState, w mcpcore.Written) (mcpcore.Reading, error) {
			m, d, err := r.posted(ctx, in.post, s.Permission.Bot, w.ID)
			if err == nil {
				s.Wanted.compare(m, &d)
			}
			return mcpcore.Reading{Drift: d}, err
		},
		Verify: func(ctx context.Context, r *reads, in embedPost, receipt mcpcore.Receipt) (mcpcore.Reading, error) {
			return r.verifies(ctx, in.post, receipt, in.tidy().compare)
		},
	}.on(rest)
}

type embedPreview struct {
	Text       string `json:"text"`
	Characters int    `json:"characters" jsonschema:"of all embeds together"`
	Limit      int    `json:"limit"`
}

var httpAddress = regexp.MustCompile(`(?i)https?://`)

// embedRule refuses what Discord would refuse or show otherwise.
var embedRule = mcpcore.Rule{All: func(c *mcpcore.Call) (all []mcpcore.Issue) {
	in := embedContent{Content: c.Text("content"), Embeds: argument[[]embed](c, "embeds")}.tidy()
	add := func(path, message string) {
		all = append(all, mcpcore.Issue{Path: path, Message: message, Code: mcpcore.IssueRule})
	}
	if httpAddress.MatchString(in.Content) {
		add("content", "holds an address, of which Discord would make an embed")
	}
	if n := in.size(); n > embedText {
		add("embeds", fmt.Sprintf("hold %d characters; a message takes %d", n, embedText))
	}
	for i, e := range in.Embeds {
		if e.Title == "" && e.Description == "" && e.Author == nil && e.Footer == nil && len(e.Fields) == 0 {
			add(fmt.Sprintf("embeds.%d", i), "is empty")
		}
	}
	return all
}}

// tidy is the content as Discord keeps it: without space around its texts.
func (c embedContent) tidy() embedContent {
	trim := strings.TrimSpace
	tidied := embedContent{Content: trim(c.Content)}
	for _, e := range c.Embeds {
		e.Title, e.Description = trim(e.Title), trim(e.Description)
		if e.Author != nil {
			e.Author = &embedAuthor{trim(e.Author.Name)}
		}
		if e.Footer != nil {
			e.Footer = &embedFooter{trim(e.Footer.Text)}
		}
		fields := e.Fields
		e.Fields = nil
		for _, f := range fields {
			e.Fields = append(e.Fields, embedField{trim(f.Name), trim(f.Value), f.Inline})
		}
		tidied.Embeds = append(tidied.Embeds, e)
	}
	return tidied
}

// compare notes what of a message differs.
func (c embedContent) compare(m message, d *drift) {
	d.unless(m.Content == c.Content, "content")
	same := len(m.Embeds) == len(c.Embeds)
	for i := range min(len(m.Embeds), len(c.Embeds)) {
		var e struct {
			embed
			URL, Timestamp, Image, Thumbnail, Video json.RawMessage
		}
		same = same && json.Unmarshal(m.Embeds[i], &e) == nil && snapshot(e.embed) == snapshot(c.Embeds[i]) &&
			e.URL == nil && e.Timestamp == nil && e.Image == nil && e.Thumbnail == nil && e.Video == nil
	}
	d.unless(same, "embeds")
}

// size is how many characters count against embedText.
func (c embedContent) size() (n int) {
	for _, e := range c.Embeds {
		n += utf8.RuneCountInString(strings.Join(e.texts(), ""))
	}
	return n
}

func (e embed) texts() (all []string) {
	if e.Author != nil {
		all = append(all, e.Author.Name)
	}
	all = append(all, e.Title, e.Description)
	for _, f := range e.Fields {
		all = append(all, f.Name, f.Value)
	}
	if e.Footer != nil {
		all = append(all, e.Footer.Text)
	}
	return slices.DeleteFunc(all, func(t string) bool { return t == "" })
}

// draw is the message as plain text.
func (c embedContent) draw() string {
	lines := []string{c.Content}
	for _, e := range c.Embeds {
		lines = append(append(lines, "----"), e.texts()...)
	}
	return strings.Join(lines, "\n")
}
