package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/audittest"
)

// key is an operator's secret.
var key = []byte(strings.Repeat("an operator's secret; ", 2))

type filed struct {
	mcpcore.AuditSink
	path string
}

func (f filed) Events(t *testing.T) []mcpcore.AuditEvent { return lines(t, read(t, f.path)) }

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// start opens the file at path, for the time of the test.
func start(t testing.TB, path string) filed {
	t.Helper()
	s, err := audit.File(path, audit.FileOptions{StateKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return filed{s, path}
}

// openFile opens a new file.
func openFile(t *testing.T) filed { return start(t, filepath.Join(t.TempDir(), "audit.jsonl")) }

// keep records calls, an intent and an outcome each.
func keep(t testing.TB, s mcpcore.AuditSink, ids ...string) {
	t.Helper()
	for _, id := range ids {
		for _, e := range []mcpcore.AuditEvent{intent(id), outcome(id)} {
			if err := s.Record(t.Context(), e); err != nil {
				t.Fatalf("%s of %s: %v", e.Phase, id, err)
			}
		}
	}
}

func verify(t testing.TB, files ...string) audit.Report {
	t.Helper()
	r, err := audit.Verify(key, files...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// intact fails unless the files are whole and hold so many records.
func intact(t testing.TB, records uint64, files ...string) audit.Report {
	t.Helper()
	r := verify(t, files...)
	if !r.Intact() || r.Records != records {
		t.Errorf("%d records, want %d, and:\n%s", r.Records, records, r)
	}
	return r
}

func TestFileKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(t *testing.T) mcpcore.AuditSink { return openFile(t) })
}

func TestFileWithoutAKeyKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(t *testing.T) mcpcore.AuditSink {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		s, err := audit.File(path, audit.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if r, err := audit.Verify(nil, path); err != nil || !r.Intact() || r.Keyed || !strings.Contains(r.String(), "no key") {
				t.Errorf("%v, %s", err, r)
			}
		})
		return filed{s, path}
	})
}

func TestFileIsPrivateAndGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, id := range []string{"r1", "r2"} {
		s, err := audit.File(path, audit.FileOptions{StateKey: key})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, s, id)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept := lines(t, read(t, path)); len(kept) != 4 || kept[0].Phase != mcpcore.Intent || kept[3].Phase != mcpcore.Outcome {
		t.Errorf("kept %+v", kept)
	}
	r := intact(t, 5, path)
	if g := r.LastGood; g == nil || g.Number != 5 || g.RequestID != "r2" || g.Phase != mcpcore.Outcome || g.Line != 5 {
		t.Errorf("the last record is %+v", g)
	}
	if !bytes.HasPrefix(read(t, path), []byte(`{"level":"audit","chain":"begin",`)) {
		t.Error("the file does not begin with what it is")
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 3 {
		t.Errorf("there are %v (%v), want the file, its head and its lock", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the mode of %s is %v", f, info.Mode())
		}
	}
}

func TestFileTakesRecordsOfAnySize(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	for _, size := range []int{100, 64 << 10, 1 << 20} {
		e := outcome("big")
		e.Args = json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	e := outcome("too big")
	e.Args = json.RawMessage(`"` + strings.Repeat("x", 16<<20) + `"`)
	if err := f.Record(t.Context(), e); err == nil {
		t.Error("a record that Verify cannot read was taken")
	}
	keep(t, f, "r1")
	intact(t, 6, f.path)
}

func TestFileRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a folder":         below,
		"a missing folder": filepath.Join(dir, "missing", "audit.jsonl"),
		"a device":         os.DevNull,
	} {
		if s, err := audit.File(path, audit.FileOptions{}); err == nil {
			_ = s.Close()
			t.Errorf("%s was taken for a file", name)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("it left %v (%v) behind", left, err)
	}
}

func TestFileRefusesAShortKeyWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for _, k := range [][]byte{{}, []byte("thirty-one-bytes-are-not-enough")} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		_, err := audit.File(path, audit.FileOptions{StateKey: k})
		_, verr := audit.Verify(k, path)
		if err == nil || verr == nil {
			t.Fatalf("a key of %d bytes was taken", len(k))
		}
		if len(k) > 0 && strings.Contains(err.Error()+verr.Error(), string(k[:8])) {
			t.Errorf("the key is shown: %v", err)
		}
	}
}

func TestFileIsClosedOnceAndForAll(t *testing.T) {
	t.Parallel()
	s, err := audit.File(filepath.Join(t.TempDir(), "audit.jsonl"), audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Record(t.Context(), intent("r1")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a record after Close: %v", err)
	}
}

// What does not continue its chain is left as it is, and what to do is said.
func TestFileRefusesToGoOnFromWhatIsNotItsChain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		spoil func(t *testing.T, path string)
		says  string
	}{
		"lines of something else, no head": {func(t *testing.T, path string) {
			put(t, path, []byte("{\"level\":\"info\"}\n"))
			_ = os.Remove(path + ".head")
		}, "no head file"},
		"the head is gone":      {func(t *testing.T, path string) { _ = os.Remove(path + ".head") }, "no head file"},
		"the head is changed":   {func(t *testing.T, path string) { edit(t, path+".head", `"records":3`, `"records":2`) }, "not as it was written"},
		"the last line is gone": {func(t *testing.T, path string) { put(t, path, without(read(t, path), 2)) }, "does not continue"},
		"the last line changed": {func(t *testing.T, path string) { edit(t, path, `"phase":"outcome"`, `"phase":"Outcome"`) }, "does not continue"},
		"a line was added":      {func(t *testing.T, path string) { put(t, path, append(read(t, path), "{\"level\":\"audit\"}\n"...)) }, "does not continue"},
		"a line stands there twice": {func(t *testing.T, path string) {
			b := read(t, path)
			put(t, path, append(b, bytes.SplitAfter(b, []byte("\n"))[2]...))
		}, "does not continue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			s, err := audit.File(path, audit.FileOptions{StateKey: key})
			if err != nil {
				t.Fatal(err)
			}
			keep(t, s, "r1")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			row.spoil(t, path)
			spoilt := read(t, path)
			if _, err := audit.File(path, audit.FileOptions{StateKey: key}); err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "move it") {
				t.Errorf("error %v, want something about %q and the way out", err, row.says)
			}
			if !bytes.Equal(read(t, path), spoilt) {
				t.Error("it was changed")
			}
			// The way out.
			for _, suffix := range []string{"", ".head"} {
				_ = os.Rename(path+suffix, path+suffix+".old")
			}
			keep(t, start(t, path), "r2")
			intact(t, 3, path)
		})
	}
}

func TestFileTellsAnotherKey(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	keep(t, f, "r1")
	other := bytes.ToUpper(key)
	for _, k := range [][]byte{nil, other} {
		if _, err := audit.File(f.path, audit.FileOptions{StateKey: k}); err == nil || !strings.Contains(err.Error(), "was written with the key") {
			t.Errorf("error %v", err)
		}
	}
	plain := filepath.Join(t.TempDir(), "audit.jsonl")
	s, err := audit.File(plain, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := audit.File(plain, audit.FileOptions{StateKey: key}); err == nil || !strings.Contains(err.Error(), "was written without a key") {
		t.Errorf("error %v", err)
	}
}

// A file that is renamed, removed or emptied while it is written to is followed
// by one that continues the chain.
func TestFileRotates(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	keep(t, f, "r1")
	old := f.path + ".1"
	if err := os.Rename(f.path, old); err != nil {
		t.Fatal(err)
	}
	if r := intact(t, 3, old, f.path); r.Before != 0 {
		t.Errorf("%+v", r)
	}
	keep(t, f, "r2", "r3")
	if r := intact(t, 5, f.path); r.Before != 3 || !strings.Contains(r.String(), "3 more records in earlier files") {
		t.Errorf("%+v", r)
	}
	if r := intact(t, 8, old, f.path); r.Before != 0 {
		t.Errorf("%+v", r)
	}
	// An empty file that the rotation made.
	older := f.path + ".2"
	if err := errors.Join(os.Rename(old, older), os.Rename(f.path, old)); err != nil {
		t.Fatal(err)
	}
	put(t, f.path, nil)
	keep(t, f, "r4")
	intact(t, 11, older, old, f.path)
	if r := verify(t, older, f.path); r.Intact() {
		t.Error("a file in the middle is not missed")
	}
	if r := verify(t, old, older, f.path); r.Intact() {
		t.Error("the order of files does not matter")
	}
	if r := verify(t, old); r.Intact() || r.Problems[0].Fault != audit.FaultHead {
		t.Errorf("nothing vouches for the end of a rotated file by itself, and yet: %s", r)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	keep(t, f, "r5")
	if r := intact(t, 3, f.path); r.Before != 11 {
		t.Errorf("%+v", r)
	}
}

// Two processes in one: two sinks on one file take turns.
func TestFileHasOneWriterAtATime(t *testing.T) {
	t.Parallel()
	a := openFile(t)
	b := start(t, a.path)
	var wg sync.WaitGroup
	for i, s := range []mcpcore.AuditSink{a, b} {
		wg.Go(func() {
			for n := range 20 {
				keep(t, s, fmt.Sprintf("r%d-%d", i, n))
			}
		})
	}
	wg.Wait()
	intact(t, 81, a.path)
	if kept := a.Events(t); len(kept) != 80 {
		t.Errorf("kept %d events", len(kept))
	}
}

// stuck is a sink whose writing stops at the first event until released.
func stuck(t *testing.T, path string) (s *audit.FileSink, release func()) {
	t.Helper()
	gate, armed := make(chan struct{}), false
	s, err := audit.Probed(path, key, 50*time.Millisecond, func(step string, _ *os.File, _ []byte) {
		if armed && step == audit.StepAppend {
			<-gate
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	armed = true
	return s, sync.OnceFunc(func() { close(gate) })
}

func TestFileDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s, release := stuck(t, path)
	defer release()
	for _, id := range []string{"taken", "queued"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.Record(ctx, intent(id)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", id, err)
		}
		cancel()
	}
	if _, err := audit.Probed(path, key, 10*time.Millisecond, nil); !errors.Is(err, audit.ErrLocked) {
		t.Errorf("the lock of another writer: %v", err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Close on a disk that hangs: %v", err)
	}
	release()
	if s := start(t, path); len(s.Events(t)) != 1 {
		t.Errorf("kept %+v: what was given up in the queue is not written", s.Events(t))
	}
}

func TestFileSurvivesItsHeadsFailure(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	keep(t, f, "r1")
	blocked := f.path + ".head.tmp"
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Record(t.Context(), intent("r2")); err == nil {
		t.Error("a record whose head could not be written was kept")
	}
	intact(t, 3, f.path)
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	keep(t, f, "r3")
	intact(t, 5, f.path)
}

func TestBestEffort(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	t.Run("keeps the contract", func(t *testing.T) {
		t.Parallel()
		audittest.Run(t, func(t *testing.T) mcpcore.AuditSink { return filedBestEffort{openFile(t)} })
	})
	t.Run("an intent that is lost is logged and recorded late", func(t *testing.T) {
		t.Parallel()
		inner, log := &stub{err: full}, &bytes.Buffer{}
		s := audit.BestEffort(inner, logTo(log))
		if err := s.Record(t.Context(), intent("r1")); err != nil {
			t.Errorf("the call was stopped: %v", err)
		}
		if !strings.Contains(log.String(), "r1") || !strings.Contains(log.String(), "WARN") || !strings.Contains(log.String(), "full") {
			t.Errorf("logged %s", log)
		}
		inner.err = nil
		keep(t, s, "r2")
		if err := s.Record(t.Context(), outcome("r1")); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range inner.events[1:] {
			got = append(got, e.RequestID+" "+string(e.Phase)+" "+e.Status)
		}
		if got, want := strings.Join(got, ", "), "r2 intent , r2 outcome success, r1 intent late, r1 outcome success"; got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
	})
	t.Run("a panic stops no call", func(t *testing.T) {
		t.Parallel()
		if err := audit.BestEffort(&stub{panics: true}, logTo(&bytes.Buffer{})).Record(t.Context(), intent("r1")); err != nil {
			t.Error(err)
		}
	})
	t.Run("an outcome that is lost is told", func(t *testing.T) {
		t.Parallel()
		if err := audit.BestEffort(&stub{err: full}, logTo(&bytes.Buffer{})).Record(t.Context(), outcome("r1")); !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a call that is over does not go on", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := audit.BestEffort(&stub{err: full}, logTo(&bytes.Buffer{})).Record(ctx, intent("r1")); err == nil {
			t.Error("it goes on")
		}
	})
}

type filedBestEffort struct{ filed }

func (f filedBestEffort) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	return audit.BestEffort(f.AuditSink, nil).Record(ctx, e)
}

func TestFileIsReadyWhereItCanBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.jsonl")
	s, err := audit.File(path, audit.FileOptions{StateKey: key})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ready := func(want bool) {
		t.Helper()
		if err := s.Ready(t.Context()); (err == nil) != want {
			t.Errorf("ready: %v", err)
		}
	}
	ready(true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ready(true) // the next record makes it
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	ready(false)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ready(false)
}
