package workflows

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestDirectMessagePace(t *testing.T) {
	t.Parallel()
	p := &dmPace{sent: map[discord.UserID][]int64{}}
	begun := time.UnixMilli(0)
	for _, row := range []struct {
		after time.Duration
		user  discord.UserID
		may   bool
	}{
		{0, "1", true},
		{time.Second, "1", false},
		{time.Second, "2", true},
		{5 * time.Second, "1", true},
		{10 * time.Second, "1", true},
		{15 * time.Second, "1", true},
		{20 * time.Second, "1", true},
		{30 * time.Second, "1", false}, // the sixth within a minute
		{59 * time.Second, "1", false},
		{60 * time.Second, "1", true},
		{64 * time.Second, "1", false},
		{65 * time.Second, "1", true},
		{200 * time.Second, "2", true},
	} {
		now := begun.Add(row.after)
		err := p.may(row.user, now)
		if (err == nil) != row.may {
			t.Errorf("after %v: %v", row.after, err)
		}
		if err == nil {
			p.note(row.user, now)
		}
	}
}
