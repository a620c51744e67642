package discordtools

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	deniedMost   = 10               // 403s of one kind before they are slowed
	deniedWindow = time.Minute      // in which they count
	deniedHold   = 30 * time.Second // how long the client then answers itself, before one call may look again
	deniedKinds  = 512              // kinds remembered; beyond it new ones are not slowed
)

// denials slow calls that Discord keeps refusing: 10,000 answers with 401, 403
// or 429 in ten minutes block this server's address. Calls are of one kind when
// method, route and target are the same. An answer that is no 403 forgets the
// kind. It is safe for concurrent use; the zero value is ready.
//
// Source: https://docs.discord.com/developers/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans.
type denials struct {
	mu    sync.Mutex
	kinds map[denial]*denied
}

// denial names a kind of call. It can hold a webhook's token: never log it.
type denial struct{ method, path string }

func denialOf(p *restCall) denial {
	path, _, _ := strings.Cut(p.url, "?")
	return denial{p.method, path}
}

type denied struct {
	times int
	since time.Time // when the first of them came
	until time.Time // answered here until then
	code  any       // Discord's, or nil
}

// over reports whether the kind has no say any more.
func (d *denied) over(now time.Time) bool {
	return now.After(d.since.Add(deniedWindow)) && now.After(d.until.Add(deniedWindow))
}

// check is the error of a call that is answered here, or nil. After a hold one
// call passes to look whether Discord still refuses it.
func (l *denials) check(p *restCall) *mcpcore.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, now := l.kinds[denialOf(p)], time.Now()
	if d == nil || d.times < deniedMost || d.over(now) {
		return nil
	}
	wait := d.until.Sub(now)
	if wait <= 0 {
		d.until = now.Add(deniedHold)
		return nil
	}
	e := mcpcore.Errorf(mcpcore.CodePermission, "Discord refused %s for this target %d times in a row; it was not sent again", p, d.times).
		WithHint("Stop repeating this call. Give the bot the permission it lacks there, or choose another target; then wait for retry_after_ms.").
		With("status", http.StatusForbidden).With("retry_after_ms", milliseconds(wait))
	if d.code != nil {
		e.With("discord_code", d.code)
	}
	return e
}

// note counts a refusal of Discord's.
func (l *denials) note(ctx context.Context, p *restCall, e *mcpcore.Error, log *slog.Logger) {
	if e.Code != mcpcore.CodePermission {
		l.clear(p)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kind, now, code := denialOf(p), time.Now(), e.Fields["discord_code"]
	d := l.kinds[kind]
	if d == nil || d.over(now) || d.code != code {
		if d == nil && !l.room(now) {
			return
		}
		d = &denied{since: now, code: code}
		l.kinds[kind] = d
	}
	if d.times++; d.times >= deniedMost {
		d.until = now.Add(deniedHold)
		log.WarnContext(ctx, "Discord keeps refusing this call; it is slowed",
			"method", p.method, "route", p.route, "refusals", d.times, "discord_code", code, "wait", deniedHold)
	}
}

// clear forgets a kind: Discord answered something else.
func (l *denials) clear(p *restCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kinds) > 0 {
		delete(l.kinds, denialOf(p))
	}
}

// room makes a place for one more kind.
func (l *denials) room(now time.Time) bool {
	if l.kinds == nil {
		l.kinds = map[denial]*denied{}
	}
	if len(l.kinds) < deniedKinds {
		return true
	}
	for kind, d := range l.kinds {
		if d.over(now) {
			delete(l.kinds, kind)
		}
	}
	return len(l.kinds) < deniedKinds
}
