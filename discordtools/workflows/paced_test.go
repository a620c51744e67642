package workflows_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// What different workflows post into one channel is slowed down together, and what
// they post into another one is not; the policy says how much.
func TestPostsArePaced(t *testing.T) {
	t.Parallel()
	const here, there = "1200000000000000313", "1200000000000000314"
	permit := mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {here, there}}, Limits: map[string]int{"postsPerMinute": 2}}
	var ahead atomic.Int64
	d := serve(t, discordtools.Config{}, mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"poll-creation": permit, "embed-message": permit}},
		func(deps *discordtools.Deps) {
			deps.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
	const (
		poll  = `{"channelId":"%s","question":"When?","answers":[{"text":"now"},{"text":"later"}],"durationHours":24,"operationKey":"an-intent-of-its-own-%04d"}`
		embed = `{"action":"create","channelId":"%s","embeds":[{"title":"News"}],"operationKey":"an-intent-of-its-own-%04d"}`
	)
	for n, row := range []struct {
		after      time.Duration
		tool, args string
		in, code   string
	}{
		{0, "execute_poll_creation", poll, here, ""},
		{0, "execute_embed_message", embed, here, "DISCORD_RATE_LIMITED"},
		{0, "plan_embed_message", embed, here, "DISCORD_RATE_LIMITED"},
		{0, "execute_embed_message", embed, there, ""},
		{4 * time.Second, "execute_embed_message", embed, here, ""},
		{8 * time.Second, "execute_poll_creation", poll, here, "DISCORD_RATE_LIMITED"}, // the third within a minute
		{70 * time.Second, "execute_poll_creation", poll, here, ""},
	} {
		ahead.Store(int64(row.after))
		before := len(d.world.Writes())
		code, answer := d.call(row.tool, fmt.Sprintf(row.args, row.in, n))
		if code != row.code || code != "" && (!strings.Contains(answer, "retry_after_ms") || len(d.world.Writes()) != before) {
			t.Errorf("%d: %s answers %s", n, row.tool, answer)
		}
		if row.code == "" && len(d.world.Writes()) != before+1 {
			t.Errorf("%d: %s wrote %d times", n, row.tool, len(d.world.Writes())-before)
		}
	}
}
