package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routePollExpire = "POST /channels/{channel_id}/polls/{message_id}/expire"

type pollEnd struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel or thread of the poll"`
	MessageID discord.MessageID `json:"messageId" jsonschema:"the poll, which the bot itself posted"`
}

type pollEndState struct {
	placeSeen
	Message discord.MessageID `json:"messageId"`
	Poll    pollAsked         `json:"poll"`
	Votes   []int             `json:"votes" jsonschema:"how often each answer was chosen"`
	Expiry  string            `json:"expiry"`
	Ended   bool              `json:"ended"`
}

// pollEnding ends a poll before its time.
func pollEnding(rest discordtools.REST) mcpcore.Workflow {
	return change[pollEnd, pollEndState]{
		Name: "poll-end", Category: "polls", Title: "End a poll",
		Doc: `Ends a poll that the bot itself posted, before its time and for good. The plan binds how often each answer was chosen:
			a vote that comes meanwhile needs another plan. Discord tells the channel how the poll ended.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.ManageMessages,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads, each by itself, in which polls may be ended"}},
		Reads:  pollReads, Write: []string{routePollExpire},
		Plan: planPollEnd,
		Targets: func(in pollEnd, _ pollEndState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), theMessage(in.ChannelID, in.MessageID)}
		},
		Apply: func(ctx context.Context, w *write, in pollEnd, s pollEndState) (mcpcore.Written, error) {
			var m message
			done := mcpcore.Written{ID: string(in.MessageID)}
			if err := w.send(ctx, routePollExpire, onMessage(in.ChannelID, in.MessageID), nil, &m); err != nil {
				return done, err
			}
			if p, err := m.poll(); m.ID != in.MessageID || m.Channel != in.ChannelID || !m.wroteIt(s.Permission.Bot) || err != nil || !p.over(w.Call.Now()) {
				return done, errors.New("the answer is not of the poll that was ended")
			}
			return done, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in pollEnd, s pollEndState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			p, err := r.ownPoll(ctx, in.ChannelID, in.MessageID, s.Permission.Bot)
			switch {
			case err != nil:
				return found, err
			case !p.over(r.Call.Now()):
				return found, errors.New("the poll goes on")
			}
			var d drift
			d.unless(p.same(s.Poll), "poll")
			d.unless(p.Results.Final, "finalized") // Discord still counts
			d.unless(slices.Equal(p.votes(), s.Votes), "votes")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planPollEnd(ctx context.Context, r *reads, in pollEnd) (plan mcpcore.Change[pollEndState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := at.needs(at.reading() | discord.ManageMessages); err != nil {
		return plan, err
	}
	p, err := r.ownPoll(ctx, in.ChannelID, in.MessageID, at.bot.Bot)
	if err != nil {
		return plan, err
	}
	plan = mcpcore.Change[pollEndState]{
		Action: "end", State: pollEndState{at.placeSeen, in.MessageID, p.pollAsked, p.votes(), p.Expiry.UTC().Format(time.RFC3339), p.ended(r.Call.Now())},
		Risks: []string{"irreversible"}, Warnings: []string{"A poll that has ended cannot be opened again."},
		Facts: mcpcore.Facts{{Name: "guild", Value: at.Guild.Name}, {Name: "channel", Value: at.Channel.Name}, {Name: "question", Value: p.Question.Text}},
	}
	for i, a := range p.Answers {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: fmt.Sprintf("votes for answer %d", i+1), Value: strconv.Itoa(plan.State.Votes[i]) + " × " + a.text()})
	}
	if plan.State.Ended {
		nothing(&plan)
	}
	return plan, nil
}

// over is [poll.ended] after Discord said so, whose clock may be a minute ahead.
func (p *poll) over(now time.Time) bool { return p.ended(now.Add(time.Minute)) }
