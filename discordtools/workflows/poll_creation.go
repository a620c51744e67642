package workflows

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type pollCreate struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel or thread"`
	Question  string            `json:"question" minLength:"1" maxLength:"300"`
	Answers   []pollChoice      `json:"answers" jsonschema:"in the order in which they stand" minItems:"2" maxItems:"10"`
	Hours     int               `json:"durationHours" jsonschema:"how long people can vote, at most 32 days" minimum:"1" maximum:"768"`
	Multi     bool              `json:"allowMultiselect,omitempty" jsonschema:"people can choose several answers"`
}

type pollChoice struct {
	Text  string `json:"text" minLength:"1" maxLength:"55"`
	Emoji string `json:"emoji,omitempty" jsonschema:"a unicode emoji such as 👍" minLength:"1" maxLength:"64"`
}

type pollCreateState struct {
	placeSeen
	Poll  pollAsked `json:"poll"`
	Hours int       `json:"durationHours"`
}

// pollBody is a message that is a poll and says and mentions nothing else.
type pollBody struct {
	Poll     pollWanted      `json:"poll"`
	Mentions allowedMentions `json:"allowed_mentions"`
	Nonce    string          `json:"nonce"`
	Enforce  bool            `json:"enforce_nonce"`
}

type pollWanted struct {
	pollAsked
	Hours int `json:"duration"`
}

// pollRule refuses blank texts and what is no emoji.
var pollRule = mcpcore.Rule{All: func(c *mcpcore.Call) (all []mcpcore.Issue) {
	add := func(path, message string) {
		all = append(all, mcpcore.Issue{Path: path, Message: message, Code: mcpcore.IssueRule})
	}
	if strings.TrimSpace(c.Text("question")) == "" {
		add("question", "is blank")
	}
	for i, a := range argument[[]pollChoice](c, "answers") {
		if strings.TrimSpace(a.Text) == "" {
			add(fmt.Sprintf("answers.%d.text", i), "is blank")
		}
		if a.Emoji != "" && !emoji.Is(a.Emoji) {
			add(fmt.Sprintf("answers.%d.emoji", i), "is not one unicode emoji")
		}
	}
	return all
}}

// pollCreation posts a poll.
func pollCreation(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[pollCreate, pollCreateState]{
		Name: "poll-creation", Category: "polls", Title: "Post a poll",
		Doc: `Posts a poll of 2 to 10 answers, open for 1 to 768 hours, that notifies nobody. A poll cannot be changed: it can be ended
			with plan_poll_end, or deleted as a message.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.SendPolls,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads, each by itself, that may get polls"}},
		Rules:  []mcpcore.Rule{pollRule}, Redact: []string{"question", "answers"},
		Reads: pollReads, Write: []string{routeMessageCreate},
		Paced: posts(paced, func(in pollCreate, _ pollCreateState) discord.ChannelID { return in.ChannelID }),
		Plan: func(ctx context.Context, r *reads, in pollCreate) (plan mcpcore.Change[pollCreateState], err error) {
			at, err := r.place(ctx, in.ChannelID)
			if err != nil {
				return plan, err
			}
			plan = mcpcore.Change[pollCreateState]{
				Action: "create", State: pollCreateState{at.placeSeen, in.wanted(), in.Hours}, Risks: []string{"cannot-be-changed"},
				Facts: mcpcore.Facts{{Name: "guild", Value: at.Guild.Name}, {Name: "channel", Value: at.Channel.Name}, {Name: "question", Value: in.wanted().Question.Text}},
			}
			for i, a := range plan.State.Poll.Answers {
				plan.Facts = append(plan.Facts, mcpcore.Fact{Name: fmt.Sprintf("answer %d", i+1), Value: a.text()})
			}
			plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "open for hours", Value: strconv.Itoa(in.Hours)}, mcpcore.Fact{Name: "several answers", Value: strconv.FormatBool(in.Multi)})
			return plan, at.takes(at.reading() | discord.SendPolls)
		},
		Targets: func(in pollCreate, _ pollCreateState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID)}
		},
		Apply: func(ctx context.Context, w *write, in pollCreate, s pollCreateState) (mcpcore.Written, error) {
			body := pollBody{pollWanted{s.Poll, s.Hours}, notifies(nil), w.nonce(), true}
			return w.post(ctx, post{ChannelID: in.ChannelID}, s.Permission.Bot, body)
		},
		ReadBack: func(ctx context.Context, r *reads, in pollCreate, s pollCreateState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			m, d, err := r.posted(ctx, post{ChannelID: in.ChannelID}, s.Permission.Bot, w.ID)
			if err != nil {
				return found, err
			}
			p, err := m.poll()
			if err != nil {
				return found, err
			}
			d.unless(m.plainPoll(), "message")
			s.compare(p, discord.IDTime(w.ID), &d)
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// wanted is the poll as Discord keeps it: without space around its texts.
func (in pollCreate) wanted() pollAsked {
	p := pollAsked{Question: pollText{Text: strings.TrimSpace(in.Question)}, Multi: in.Multi, Layout: 1}
	for _, a := range in.Answers {
		media := pollText{Text: strings.TrimSpace(a.Text)}
		if a.Emoji != "" {
			media.Emoji = &pollEmojiName{Name: a.Emoji}
		}
		p.Answers = append(p.Answers, pollAnswerIs{Media: media})
	}
	return p
}

// plainPoll reports whether a message is a poll and nothing besides.
func (m *message) plainPoll() bool {
	return m.Type == 0 && m.Content == "" && len(m.Embeds)+len(m.Components)+len(m.Attachments)+len(m.Stickers) == 0 && m.Reference == nil
}

// compare notes what of a poll that was posted at a moment differs.
func (s *pollCreateState) compare(p poll, posted time.Time, d *drift) {
	d.unless(s.Poll.same(p.pollAsked), "poll")
	off := p.Expiry.Sub(posted.Add(time.Duration(s.Hours) * time.Hour))
	d.unless(off.Abs() <= time.Minute && !p.Results.Final, "durationHours") // Discord reads its clock twice
}
