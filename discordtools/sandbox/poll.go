package sandbox

import (
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type emojiForm struct {
	ID       opt[discord.EmojiID] `json:"id"`
	Name     opt[string]          `json:"name" maxLength:"32"`
	Animated opt[bool]            `json:"animated"`
}

func (e opt[T]) pointer() *T {
	if !e.has() {
		return nil
	}
	return &e.value
}

type pollForm struct {
	Question struct {
		Text string `json:"text" minLength:"1" maxLength:"300"`
	} `json:"question"`
	Answers []struct {
		Media struct {
			Text  opt[string]    `json:"text" minLength:"1" maxLength:"55"`
			Emoji opt[emojiForm] `json:"emoji"`
		} `json:"poll_media"`
	} `json:"answers" minItems:"1" maxItems:"10"`
	Multi    opt[bool] `json:"allow_multiselect"`
	Layout   opt[int]  `json:"layout_type" enum:"1"`
	Duration opt[int]  `json:"duration" minimum:"1" maximum:"768"`
}

// poll makes the poll that a form asks for; it lasts a day unless told.
func (f pollForm) poll(x *exchange) (*Poll, error) {
	p := &Poll{Question: f.Question.Text, Multi: f.Multi.value, Expires: x.now.Add(time.Duration(f.Duration.or(24)) * time.Hour)}
	for i, a := range f.Answers {
		answer := PollAnswer{Text: a.Media.Text.value}
		if e := a.Media.Emoji; e.has() {
			ref, err := x.emoji(e.value.ID.value, e.value.Name.value)
			if err != nil {
				return nil, err
			}
			answer.Emoji = &ref
		}
		if answer.Text == "" && answer.Emoji == nil {
			return nil, invalid("poll.answers."+strconv.Itoa(i)+".poll_media.text", "BASE_TYPE_REQUIRED", "This field is required")
		}
		p.Answers = append(p.Answers, answer)
	}
	return p, nil
}

type pollView struct {
	Question pollMedia    `json:"question"`
	Answers  []pollAnswer `json:"answers"`
	Expiry   string       `json:"expiry"`
	Multi    bool         `json:"allow_multiselect"`
	Layout   int          `json:"layout_type"`
	Results  struct {
		Counts []pollCount `json:"answer_counts"`
		Final  bool        `json:"is_finalized"`
	} `json:"results"`
}

type pollMedia struct {
	Text  string        `json:"text,omitempty"`
	Emoji *emojiRefView `json:"emoji,omitempty"`
}

type pollAnswer struct {
	ID    int       `json:"answer_id"`
	Media pollMedia `json:"poll_media"`
}

type pollCount struct {
	ID    int  `json:"id"`
	Count int  `json:"count"`
	Mine  bool `json:"me_voted"`
}

type emojiRefView struct {
	ID       *discord.EmojiID `json:"id"`
	Name     *string          `json:"name"`
	Animated bool             `json:"animated,omitempty"`
}

func viewEmojiRef(e EmojiRef) emojiRefView {
	return emojiRefView{textOrNull(e.ID), textOrNull(e.Name), e.Animated}
}

func (x *exchange) viewPoll(p *Poll) *pollView {
	v := &pollView{Question: pollMedia{Text: p.Question}, Expiry: stamp(p.Expires), Multi: p.Multi, Layout: 1}
	v.Results.Counts, v.Results.Final = []pollCount{}, p.Final
	for i, a := range p.Answers {
		media := pollMedia{Text: a.Text}
		if a.Emoji != nil {
			ref := viewEmojiRef(*a.Emoji)
			media.Emoji = &ref
		}
		v.Answers = append(v.Answers, pollAnswer{i + 1, media})
		if len(a.Voters) > 0 {
			v.Results.Counts = append(v.Results.Counts, pollCount{i + 1, len(a.Voters), slices.Contains(a.Voters, x.actor)})
		}
	}
	return v
}
