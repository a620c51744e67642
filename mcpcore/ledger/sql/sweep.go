package sql

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// between is the least time from one sweep to the next.
const between = 10 * time.Second

// sweeper has the next sweep done when an approval ends, so that an idle server
// erases too.
type sweeper struct {
	mu      sync.Mutex
	due     time.Time // of the next one; zero for none
	timer   *time.Timer
	stopped bool
}

func (s *sweeper) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// sweepIn has a sweep done after so long, or sooner when one is due sooner.
func (l *Ledger) sweepIn(d time.Duration) {
	s := &l.sweeper
	s.mu.Lock()
	defer s.mu.Unlock()
	d = max(d, between)
	due := time.Now().Add(d)
	if s.stopped || !s.due.IsZero() && !due.Before(s.due) {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.due = due
	s.timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		s.due = time.Time{}
		s.mu.Unlock()
		_ = l.sweep(context.Background()) // the next proposal has another one done
	})
}

// sweep erases what is sealed of approvals that are over, and drops those that
// are forgotten.
func (l *Ledger) sweep(ctx context.Context) error {
	var now time.Time
	var next sql.NullInt64
	err := l.write(ctx, func(ctx context.Context, tx *sql.Tx, at time.Time) error {
		now = at
		if err := l.exec(ctx, tx, `DELETE FROM guildwarden_approvals WHERE forgotten_at <= $1`, now.UnixNano()); err != nil {
			return err
		}
		if err := l.exec(ctx, tx, `UPDATE guildwarden_approvals SET sealed_id = NULL, sealed_shown = NULL
			WHERE expires_at <= $1 AND (sealed_id IS NOT NULL OR sealed_shown IS NOT NULL)`, now.UnixNano()); err != nil {
			return err
		}
		return l.row(ctx, tx, `SELECT min(CASE WHEN expires_at > $1 THEN expires_at ELSE forgotten_at END) FROM guildwarden_approvals`, now.UnixNano()).Scan(&next)
	})
	if err == nil && next.Valid {
		l.sweepIn(time.Unix(0, next.Int64).Sub(now)) //nolint:contextcheck // the next sweep is done long after this one
	}
	return err
}
