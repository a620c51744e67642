package workflows

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	p, begun := &pace{}, time.UnixMilli(0)
	for _, row := range []struct {
		after time.Duration
		where string
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
		err := p.may(row.where, now, tempo{PerMinute: 5, Apart: 5 * time.Second})
		if (err == nil) != row.may {
			t.Errorf("after %v: %v", row.after, err)
		}
		if err == nil {
			p.note(row.where, now)
		}
	}
	if err := p.may("2", begun.Add(261*time.Second), dmTempo); err != nil || len(p.sent["2"]) > 0 {
		t.Errorf("a place is remembered for longer than a minute: %v, %v", err, p.sent)
	}
}
