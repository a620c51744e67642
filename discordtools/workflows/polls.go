package workflows

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// poll is a poll as Discord tells it.
type poll struct {
	pollAsked
	Expiry  *time.Time      `json:"expiry"`
	Results *pollResultsNow `json:"results"`
}

// pollAsked is what a poll asks, which never changes.
type pollAsked struct {
	Question pollText       `json:"question"`
	Answers  []pollAnswerIs `json:"answers"`
	Multi    bool           `json:"allow_multiselect"`
	Layout   int            `json:"layout_type"`
}

type pollText struct {
	Text  string         `json:"text"`
	Emoji *pollEmojiName `json:"emoji,omitempty"`
}

type pollEmojiName struct {
	ID   *discord.EmojiID `json:"id,omitempty"`
	Name string           `json:"name"`
}

type pollAnswerIs struct {
	ID    int      `json:"answer_id,omitempty"`
	Media pollText `json:"poll_media"`
}

type pollResultsNow struct {
	Final  bool        `json:"is_finalized"`
	Counts []pollVotes `json:"answer_counts"`
}

// pollVotes is how often an answer was chosen; Discord leaves out those that
// nobody chose, at will.
type pollVotes struct {
	Answer int `json:"id"`
	Count  int `json:"count"`
}

// poll reads the poll of a message.
func (m *message) poll() (p poll, err error) {
	switch {
	case m.Poll == nil:
		return p, refused("no-poll", "%s is no poll", m.ID)
	case json.Unmarshal(m.Poll, &p) != nil || p.Results == nil || p.Expiry == nil || len(p.Answers) == 0:
		return p, incomplete("the poll")
	}
	return p, nil
}

// same reports whether two polls ask the same. Discord numbers the answers, and
// leaves out variation selectors at will.
func (p pollAsked) same(other pollAsked) bool { return snapshot(p.plain()) == snapshot(other.plain()) }

func (p pollAsked) plain() pollAsked {
	answers := p.Answers
	p.Answers = nil
	for _, a := range answers {
		if e := a.Media.Emoji; e != nil {
			a.Media.Emoji = &pollEmojiName{e.ID, emoji.Plain(e.Name)}
		}
		p.Answers = append(p.Answers, pollAnswerIs{Media: a.Media})
	}
	return p
}

// votes are how often each answer was chosen, in their order.
func (p *poll) votes() []int {
	all := make([]int, len(p.Answers))
	for i, a := range p.Answers {
		for _, v := range p.Results.Counts {
			if v.Answer == a.ID {
				all[i] += v.Count
			}
		}
	}
	return all
}

// ended reports whether nobody can vote any more at a moment.
func (p *poll) ended(now time.Time) bool { return p.Results.Final || !now.Before(*p.Expiry) }

// text is an answer for people.
func (a pollAnswerIs) text() string {
	if a.Media.Emoji == nil {
		return a.Media.Text
	}
	return a.Media.Emoji.Name + " " + a.Media.Text
}

// pollReads are what plans of polls read.
var pollReads = append(slices.Clone(placeRoutes), routeMessage)

// ownPoll reads the poll of a message that the bot itself wrote.
func (r *reads) ownPoll(ctx context.Context, in discord.ChannelID, id discord.MessageID, bot discord.UserID) (p poll, err error) {
	m, err := r.message(ctx, in, id)
	switch {
	case err != nil:
		return p, err
	case !m.wroteIt(bot):
		return p, refused("not-own", "the bot did not post %s, and only its own polls can be ended", id)
	}
	return m.poll()
}
