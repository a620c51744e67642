// Package audit holds sinks for audit events: lines for people and collectors
// ([Writer], [Slog]), a file that keeps intents as well and shows whether it was
// changed ([File], [Verify]), and [Tee] to have several at once. Package otlp
// beside it sends events to a collector.
//
//	file, err := audit.File("/var/lib/bot/audit.jsonl", audit.FileOptions{StateKey: key})
//	if err != nil {
//		return err
//	}
//	defer file.Close()
//	deps.Audit = audit.Tee(file, audit.Writer(os.Stderr))
//
// Package audittest holds the contract that all of them keep.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// levelAudit is the first value of every line; it tells them from the lines of a
// log that shares the stream.
const levelAudit = "audit"

// object is the event as one JSON object.
func object(e mcpcore.AuditEvent) ([]byte, error) {
	b, err := canon.Marshal(struct {
		Level string `json:"level"`
		mcpcore.AuditEvent
	}{levelAudit, e})
	if err != nil {
		return nil, fmt.Errorf("encode audit event: %w", err)
	}
	return b, nil
}

// Writer writes each outcome to w as one line of JSON, in one Write. It keeps
// no intents, so it never stops a call. Calls of w are serialized.
func Writer(w io.Writer) mcpcore.AuditSink { return &writer{w: w} }

type writer struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *writer) Record(_ context.Context, e mcpcore.AuditEvent) error {
	if e.Phase != mcpcore.Outcome {
		return nil
	}
	b, err := object(e)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write audit event: %w", err)
	}
	return nil
}

// Slog logs each outcome with the message "audit" at level Info, one attribute
// a field. It keeps no intents, and what the logger's level leaves out is left
// out here.
func Slog(l *slog.Logger) mcpcore.AuditSink { return logged{l.Handler()} }

type logged struct{ h slog.Handler }

func (s logged) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	if e.Phase != mcpcore.Outcome || !s.h.Enabled(ctx, slog.LevelInfo) {
		return nil
	}
	r := slog.NewRecord(e.Time, slog.LevelInfo, "audit", 0)
	r.AddAttrs(
		slog.String("phase", string(e.Phase)),
		slog.String("request_id", e.RequestID),
		slog.String("principal", e.Principal),
		slog.String("tool", e.Tool),
		slog.String("category", e.Category),
		slog.String("effect", e.Effect),
		slog.Bool("idempotent", e.Idempotent),
		slog.Any("args_redacted", e.Args),
		slog.String("status", e.Status),
		slog.Float64("duration_ms", e.DurationMS),
		slog.String("transport", e.Transport),
	)
	if e.ResultCode != "" {
		r.AddAttrs(slog.String("result_code", string(e.ResultCode)))
	}
	if len(e.Evidence) > 0 {
		r.AddAttrs(slog.Any("evidence", e.Evidence))
	}
	if e.ApprovedBy != "" {
		r.AddAttrs(slog.String("approved_by", e.ApprovedBy))
	}
	if e.Unexpected {
		r.AddAttrs(slog.Bool("unexpected_confirmation", true))
	}
	if e.TraceID != "" {
		r.AddAttrs(slog.String("trace_id", e.TraceID), slog.String("span_id", e.SpanID))
	}
	if err := s.h.Handle(ctx, r); err != nil {
		return fmt.Errorf("log audit event: %w", err)
	}
	return nil
}

// Tee records every event in all sinks, in order; a nil one is left out. An
// intent stops at the first sink that fails, so put the one that fails most
// first: what stands before it keeps an intent without an outcome. An outcome
// goes to all of them, and their errors are joined.
func Tee(sinks ...mcpcore.AuditSink) mcpcore.AuditSink {
	var t tee
	for _, s := range sinks {
		if s != nil {
			t = append(t, s)
		}
	}
	return t
}

type tee []mcpcore.AuditSink

func (t tee) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	var problems []error
	for _, s := range t {
		err := record(ctx, s, e)
		if err != nil && e.Phase != mcpcore.Outcome {
			return err
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// record keeps a sink that panics from hiding an outcome from the others.
func record(ctx context.Context, s mcpcore.AuditSink, e mcpcore.AuditEvent) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("audit sink %T panicked", s)
		}
	}()
	return s.Record(ctx, e)
}
