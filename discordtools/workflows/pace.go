package workflows

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// tempo is how fast people in one place may be written to.
type tempo struct {
	PerMinute int
	Apart     time.Duration
}

// How fast. No policy makes direct messages faster.
var (
	postLimits = []mcpcore.PolicyLimit{{Name: "postsPerMinute", Default: 10, Max: 60, Doc: "posts of all workflows into one channel within a minute"}}
	dmTempo    = tempo{PerMinute: 5, Apart: 5 * time.Second}
)

const postsApart = 500 * time.Millisecond

// pace holds where this server's workflows wrote in the last minute, and forgets a
// place when it is asked again later. The zero value has written nowhere; it is safe
// for concurrent use.
type pace struct {
	mu   sync.Mutex
	sent map[string][]time.Time // by "channel 123" and "recipient 123", the oldest first
}

// may refuses to write to a place too fast.
func (p *pace) may(where string, now time.Time, t tempo) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := slices.DeleteFunc(p.sent[where], func(sent time.Time) bool { return now.Sub(sent) >= time.Minute })
	if len(last) == 0 {
		delete(p.sent, where)
		return nil
	}
	p.sent[where] = last
	wait := t.Apart - now.Sub(last[len(last)-1])
	if len(last) >= t.PerMinute {
		wait = max(wait, time.Minute-now.Sub(last[len(last)-max(t.PerMinute, 1)]))
	}
	if wait <= 0 {
		return nil
	}
	scope, _, _ := strings.Cut(where, " ")
	return mcpcore.Errorf(mcpcore.CodeRateLimited, "this %s was written to just now: at most %d times a minute, %v apart", scope, t.PerMinute, t.Apart).
		With("retry_after_ms", wait.Milliseconds()).With("scope", scope)
}

func (p *pace) note(where string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == nil {
		p.sent = map[string][]time.Time{}
	}
	p.sent[where] = append(p.sent[where], now)
}

// pacing slows a workflow down where people notice what it writes. The zero value
// does not.
type pacing[In, State any] struct {
	by    *pace
	where func(in In, s State) string // "" for a change that nobody notices
	fixed tempo                       // the zero value is what the policy says
}

// posts paces what is posted into a channel together with the other workflows of the
// same pace; "" is no channel.
func posts[In, State any](by *pace, channel func(in In, s State) discord.ChannelID) pacing[In, State] {
	return pacing[In, State]{by: by, where: func(in In, s State) string {
		if c := channel(in, s); c != "" {
			return "channel " + string(c)
		}
		return ""
	}}
}

// limits are what a policy may bound.
func (p pacing[In, State]) limits() []mcpcore.PolicyLimit {
	if p.by == nil || p.fixed != (tempo{}) {
		return nil
	}
	return postLimits
}

func (p pacing[In, State]) may(c *mcpcore.Call, in In, s State) error {
	if p.by == nil {
		return nil
	}
	where, t := p.where(in, s), p.fixed
	if where == "" {
		return nil
	}
	if t == (tempo{}) {
		t = tempo{c.Limit("postsPerMinute"), postsApart}
	}
	return p.by.may(where, c.Now(), t)
}

func (p pacing[In, State]) note(c *mcpcore.Call, in In, s State) {
	if p.by == nil {
		return
	}
	if where := p.where(in, s); where != "" {
		p.by.note(where, c.Now())
	}
}
