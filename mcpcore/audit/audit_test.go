package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/audittest"
)

// lines decodes one event a line and fails on anything else. Records of a chain
// about its file are no events.
func lines(t *testing.T, b []byte) (events []mcpcore.AuditEvent) {
	t.Helper()
	if len(b) > 0 && b[len(b)-1] != '\n' {
		t.Errorf("the last line does not end: %q", b[max(0, len(b)-80):])
	}
	for l := range bytes.Lines(b) {
		var e mcpcore.AuditEvent
		if err := json.Unmarshal(l, &e); err != nil {
			t.Errorf("the line %q is not an event: %v", l, err)
		}
		if e.Phase != "" {
			events = append(events, e)
		}
	}
	return events
}

// buffer is a writer that can be broken. It is not safe for concurrent use,
// which is the sink's business.
type buffer struct {
	bytes.Buffer
	broken bool
	short  bool
}

func (b *buffer) Write(p []byte) (int, error) {
	switch {
	case b.broken:
		return 0, errors.New("no room")
	case b.short:
		return len(p) / 2, nil
	}
	return b.Buffer.Write(p)
}

type written struct {
	mcpcore.AuditSink
	b *buffer
}

func (w written) Events(t *testing.T) []mcpcore.AuditEvent { return lines(t, w.b.Bytes()) }
func (w written) Break(*testing.T)                         { w.b.broken = true }
func (w written) Repair(*testing.T)                        { w.b.broken = false }

func TestWriterKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(*testing.T) mcpcore.AuditSink {
		b := &buffer{}
		return written{audit.Writer(b), b}
	})
}

func TestSlogKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(*testing.T) mcpcore.AuditSink {
		b := &buffer{}
		return slogged{written{audit.Slog(slog.New(slog.NewJSONHandler(b, nil))), b}}
	})
}

// slogged has slog's own name for the time.
type slogged struct{ written }

func (s slogged) Events(t *testing.T) []mcpcore.AuditEvent {
	return lines(t, bytes.ReplaceAll(s.b.Bytes(), []byte(`"time":`), []byte(`"timestamp":`)))
}

func TestTeeKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(t *testing.T) mcpcore.AuditSink {
		b, f := &buffer{}, openFile(t)
		return written{audit.Tee(f, nil, audit.Writer(b)), b}
	})
}

func intent(id string) mcpcore.AuditEvent {
	return mcpcore.AuditEvent{Phase: mcpcore.Intent, RequestID: id, Args: json.RawMessage(`{"a":"<&>"}`)}
}

func outcome(id string) mcpcore.AuditEvent {
	e := intent(id)
	e.Phase, e.Status = mcpcore.Outcome, "success"
	return e
}

func TestWriterWritesOutcomesOnlyAndLevelFirst(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := audit.Writer(&b)
	for _, e := range []mcpcore.AuditEvent{intent("r1"), outcome("r1")} {
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	got := b.String()
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, `{"level":"audit",`) || !strings.Contains(got, `{"a":"<&>"}`) {
		t.Errorf("wrote %s", got)
	}
}

func TestWriterTellsAShortWrite(t *testing.T) {
	t.Parallel()
	if err := audit.Writer(&buffer{short: true}).Record(t.Context(), outcome("r1")); err == nil {
		t.Error("half a line was taken for a record")
	}
}

func TestSlogLeavesOutWhatTheLevelLeavesOut(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := audit.Slog(slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := s.Record(t.Context(), outcome("r1")); err != nil || b.Len() > 0 {
		t.Errorf("wrote %q, error %v", b.String(), err)
	}
}

func TestSlogTellsEverythingThatHappened(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	e := outcome("r1")
	e.Status, e.ResultCode, e.Evidence, e.TraceID, e.SpanID = "tool_error", mcpcore.CodeNotFound, []mcpcore.EvidenceKind{"identity"}, "t1", "s1"
	if err := audit.Slog(slog.New(slog.NewJSONHandler(&b, nil))).Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"msg":"audit"`, `"result_code":"DISCORD_NOT_FOUND"`, `"evidence":["identity"]`, `"trace_id":"t1"`, `"span_id":"s1"`, `{"a":"<&>"}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s", b.String(), want)
		}
	}
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// stub answers as told and counts.
type stub struct {
	mu     sync.Mutex
	err    error
	panics bool
	seen   []mcpcore.Phase
	events []mcpcore.AuditEvent
}

func (s *stub) Record(_ context.Context, e mcpcore.AuditEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, e.Phase)
	s.events = append(s.events, e)
	if s.panics {
		panic("sink")
	}
	return s.err
}

func TestTee(t *testing.T) {
	t.Parallel()
	full, gone := errors.New("full"), errors.New("gone")
	t.Run("an intent stops at the first failure", func(t *testing.T) {
		t.Parallel()
		a, b, c := &stub{}, &stub{err: full}, &stub{}
		if err := audit.Tee(a, b, c).Record(t.Context(), intent("r1")); !errors.Is(err, full) {
			t.Errorf("error %v, want %v", err, full)
		}
		if len(a.seen) != 1 || len(b.seen) != 1 || len(c.seen) != 0 {
			t.Errorf("asked %d, %d and %d times", len(a.seen), len(b.seen), len(c.seen))
		}
	})
	t.Run("an outcome goes to all", func(t *testing.T) {
		t.Parallel()
		a, b, c, d := &stub{err: full}, &stub{panics: true}, &stub{err: gone}, &stub{}
		err := audit.Tee(a, b, c, d).Record(t.Context(), outcome("r1"))
		if !errors.Is(err, full) || !errors.Is(err, gone) || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("error %v", err)
		}
		for i, s := range []*stub{a, b, c, d} {
			if len(s.seen) != 1 {
				t.Errorf("sink %d was asked %d times", i, len(s.seen))
			}
		}
	})
	t.Run("none keeps nothing", func(t *testing.T) {
		t.Parallel()
		if err := audit.Tee().Record(t.Context(), intent("r1")); err != nil {
			t.Error(err)
		}
	})
}

func ExampleWriter() {
	s := audit.Writer(os.Stdout)
	_ = s.Record(context.Background(), mcpcore.AuditEvent{
		Phase: mcpcore.Outcome, Time: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC), RequestID: "9f0c", Principal: "stdio",
		Tool: "ticket_close", Category: "tickets", Effect: "write", Args: json.RawMessage(`{"ticket":7}`), Status: "success", Transport: "stdio",
	})
	// Output:
	// {"level":"audit","phase":"outcome","timestamp":"2031-05-01T18:00:00Z","request_id":"9f0c","principal":"stdio","tool":"ticket_close","category":"tickets","effect":"write","idempotent":false,"args_redacted":{"ticket":7},"status":"success","transport":"stdio"}
}
