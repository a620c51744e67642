package audit

import (
	"context"
	"log/slog"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// StatusLate is the status of an intent that [BestEffort] recorded after the
// call had gone on without it.
const StatusLate = "late"

// BestEffort lets calls go on whose intent the sink cannot take: it logs a
// warning to log, and records the intent with [StatusLate] in front of the
// call's outcome if the sink takes records again by then. Outcomes fail as the
// sink says. A nil log is slog's default.
//
// It trades the promise that nothing is done without a record for calls that do
// not stop when the sink does.
func BestEffort(sink mcpcore.AuditSink, log *slog.Logger) mcpcore.AuditSink {
	if log == nil {
		log = slog.Default()
	}
	return &bestEffort{sink: sink, log: log, owed: map[string]mcpcore.AuditEvent{}}
}

type bestEffort struct {
	sink mcpcore.AuditSink
	log  *slog.Logger

	mu   sync.Mutex
	owed map[string]mcpcore.AuditEvent // intents of calls that are running, by request
}

func (s *bestEffort) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	if e.Phase != mcpcore.Intent {
		if intent, owed := s.take(e.RequestID); owed {
			_ = record(ctx, s.sink, intent) // the outcome's own error tells of a sink that is still broken
		}
		return s.sink.Record(ctx, e)
	}
	err := record(ctx, s.sink, e)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the call is over, so it must not act
		return err
	}
	s.log.WarnContext(ctx, "audit intent lost; the call goes on", slog.String("tool", e.Tool), slog.String("request_id", e.RequestID), slog.Any("error", err))
	e.Status = StatusLate
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed[e.RequestID] = e
	return nil
}

func (s *bestEffort) take(id string) (mcpcore.AuditEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, owed := s.owed[id]
	delete(s.owed, id)
	return e, owed
}
