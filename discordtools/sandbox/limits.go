package sandbox

import (
	"crypto/md5" //nolint:gosec // names a bucket, guards nothing
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limit is a rate limit to enforce.
//
// Source: https://docs.discord.com/developers/topics/rate-limits.
type Limit struct {
	Method, Route string        // which requests; "" is any
	Max           int           // requests in a window
	Per           time.Duration // length of a window
	// Scope is "user" (also ""), "shared", or "global": one count for all
	// requests that match.
	Scope string
}

// bucket counts the requests of one window.
type bucket struct {
	left  int
	reset time.Time
}

// window is the state of a bucket after a request was counted.
type window struct {
	name  string
	limit Limit
	left  int
	reset time.Time
	wait  time.Duration // above 0: the request is refused
}

// count takes a request from its bucket: route and major parameter.
func (d *Discord) count(r *route, params map[string]string, now time.Time) window {
	limit, enforced := d.limit(r)
	key := r.method + " " + r.path + " " + params["channel_id"] + params["guild_id"] + params["webhook_id"]
	if limit.Scope == "global" {
		key = "global"
	}
	b := d.buckets[key]
	if b == nil || !now.Before(b.reset) || b.left == 0 && !enforced {
		b = &bucket{left: limit.Max, reset: now.Add(limit.Per)}
		d.buckets[key] = b
	}
	sum := md5.Sum([]byte(r.method + r.path)) //nolint:gosec // see the import
	w := window{name: hex.EncodeToString(sum[:]), limit: limit, reset: b.reset}
	if b.left == 0 {
		w.wait = b.reset.Sub(now)
		return w
	}
	b.left--
	if w.left = b.left; w.left == 0 && !enforced {
		w.left = 1 // a client that trusts the header must not wait
	}
	return w
}

// limit is the enforced limit of a route, or else what Discord's usually looks
// like.
func (d *Discord) limit(r *route) (limit Limit, enforced bool) {
	for _, l := range d.options.Limits {
		if (l.Method == "" || l.Method == r.method) && (l.Route == "" || l.Route == r.path) {
			return l, true
		}
	}
	if r.method == http.MethodGet {
		return Limit{Max: 50, Per: time.Second}, false
	}
	return Limit{Max: 10, Per: 5 * time.Second}, false
}

// headers are the X-RateLimit headers of an answer.
func (w window) headers(h http.Header, now time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.limit.Max))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(w.left))
	h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(w.reset.UnixMilli())/1000))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", w.reset.Sub(now).Seconds()))
	h.Set("X-RateLimit-Bucket", w.name)
}

// limited is a 429 of Discord itself.
func limited(scope string, after time.Duration) *response {
	if scope == "" {
		scope = "user"
	}
	r := &response{status: http.StatusTooManyRequests, header: http.Header{}}
	r.json(struct {
		Message string  `json:"message"`
		After   float64 `json:"retry_after"`
		Global  bool    `json:"global"`
	}{"You are being rate limited.", math.Round(after.Seconds()*1000) / 1000, scope == "global"})
	r.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	r.header.Set("X-RateLimit-Scope", scope)
	if scope == "global" {
		r.header.Set("X-RateLimit-Global", "true")
	}
	return r
}
