package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

// disk is what a crash leaves, by name.
type disk map[string][]byte

func (d disk) unpack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range d {
		put(t, filepath.Join(dir, name), b)
	}
	return filepath.Join(dir, "audit.jsonl")
}

func pack(t *testing.T, dir string) disk {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := disk{}
	for _, e := range entries {
		d[e.Name()] = read(t, filepath.Join(dir, e.Name()))
	}
	return d
}

// files are those that Verify needs.
func files(path string) []string {
	if _, err := os.Stat(path + ".1"); err == nil {
		return []string{path + ".1", path}
	}
	return []string{path}
}

// crashes collects what a crash would leave before each step of a run, and in
// the middle of each write.
type crashes struct {
	t    *testing.T
	path string

	mu    sync.Mutex
	acked []string // calls whose records were answered for
	found []crash
}

type crash struct {
	disk  disk
	acked []string
}

func (c *crashes) probe(_ string, f *os.File, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cuts := []int{0}
	if len(b) > 0 {
		cuts = []int{0, 1, len(b) / 2, len(b) - 1, len(b)}
	}
	for _, n := range slices.Compact(cuts) {
		d := pack(c.t, filepath.Dir(c.path))
		if n > 0 {
			name := filepath.Base(f.Name())
			d[name] = slices.Concat(d[name], b[:n])
		}
		c.found = append(c.found, crash{d, slices.Clone(c.acked)})
	}
}

// run records calls in a new sink at the path, and rotates before those named
// so. It gives what a crash would have left.
func run(t *testing.T, path string, acked []string, ids ...string) []crash {
	t.Helper()
	c := &crashes{t: t, path: path, acked: slices.Clone(acked)}
	s, err := audit.Probed(path, key, 5*time.Second, c.probe)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id == "rotate" {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		keep(t, s, id)
		c.mu.Lock()
		c.acked = append(c.acked, id)
		c.mu.Unlock()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return c.found
}

// holds fails unless the files verify and hold the calls.
func holds(t *testing.T, path string, acked []string) audit.Report {
	t.Helper()
	r, err := audit.Verify(key, files(path)...)
	if err != nil {
		if _, there := os.Stat(path + ".head"); there == nil || len(acked) > 0 {
			t.Fatal(err)
		}
		return r // nothing was written yet
	}
	if !r.Intact() {
		t.Errorf("after a crash:\n%s", r)
	}
	var all []byte
	for _, f := range files(path) {
		if b, err := os.ReadFile(f); err == nil {
			all = append(all, b...)
		}
	}
	for _, id := range acked {
		if !bytes.Contains(all, []byte(`"phase":"outcome","timestamp":"0001-01-01T00:00:00Z","request_id":"`+id+`"`)) {
			t.Errorf("the record of %s was answered for and is not there", id)
		}
	}
	return r
}

// A crash at any step, also of the start after a crash, leaves files that
// verify, and that the next start goes on from. What is torn is told.
func TestCrashAtAnyStepLeavesAFileThatVerifies(t *testing.T) {
	t.Parallel()
	fresh := disk{}
	path := fresh.unpack(t)
	run(t, path, nil, "before")
	begun := pack(t, filepath.Dir(path))
	for name, row := range map[string]struct {
		disk disk
		ids  []string
	}{
		"a new file":    {fresh, []string{"r1"}},
		"an old file":   {begun, []string{"r1"}},
		"with rotation": {begun, []string{"rotate", "r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			torn, lagging := 0, 0
			for _, first := range run(t, row.disk.unpack(t), nil, row.ids...) {
				path := first.disk.unpack(t)
				r := holds(t, path, first.acked)
				torn += len(r.Torn)
				if r.PastHead > 0 {
					lagging++
				}
				for _, second := range run(t, path, first.acked) { // the start alone
					path := second.disk.unpack(t)
					holds(t, path, second.acked)
					run(t, path, second.acked)
					r := holds(t, path, second.acked)
					for _, torn := range r.Torn {
						if torn.Marked == 0 && torn.File == path {
							t.Errorf("a torn line was not marked:\n%s", r)
						}
					}
				}
				run(t, path, first.acked, "again")
				holds(t, path, append(first.acked, "again"))
			}
			if torn == 0 || lagging == 0 {
				t.Errorf("%d torn lines, and %d times the head lagged: the crashes came at the wrong moments", torn, lagging)
			}
		})
	}
}

// A torn line is closed with a record that says so, and stays.
func TestTornLineStaysAndIsMarked(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	keep(t, f, "r1")
	const rest = `{"level":"audit","phase":"int`
	put(t, f.path, append(read(t, f.path), rest...))
	r := verify(t, f.path)
	if len(r.Torn) != 1 || r.Torn[0] != (audit.Torn{File: f.path, Line: 4, Bytes: int64(len(rest))}) || !r.Intact() {
		t.Errorf("before the start: %s", r)
	}
	keep(t, start(t, f.path), "r2")
	r = intact(t, 6, f.path)
	if len(r.Torn) != 1 || r.Torn[0] != (audit.Torn{File: f.path, Line: 4, Bytes: int64(len(rest)) + 1, Marked: 4}) {
		t.Errorf("after it: %s", r)
	}
	b := read(t, f.path)
	if !bytes.Contains(b, []byte("\n"+rest+"\n"+`{"level":"audit","chain":"torn",`)) {
		t.Errorf("it became\n%s", b)
	}
	if text := r.String(); !strings.Contains(text, "30 bytes of a write that was cut short, marked by record 4") {
		t.Errorf("it says %s", text)
	}
	edit(t, f.path, rest, strings.ToUpper(rest))
	if r := verify(t, f.path); r.Intact() {
		t.Error("a change of the torn line is not found")
	}
}

// The newline alone was missing: the record is whole and counts.
func TestRecordWithoutItsNewlineIsTakenUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	crashes := run(t, path, nil, "r1")
	n := 0
	for _, c := range crashes {
		b := c.disk["audit.jsonl"]
		if !bytes.HasSuffix(b, []byte(`"}`)) || !bytes.Contains(b, []byte(`"outcome"`)) {
			continue
		}
		n++
		path := c.disk.unpack(t)
		run(t, path, nil)
		if r := holds(t, path, []string{"r1"}); len(r.Torn) > 0 || r.Records != 3 {
			t.Errorf("%s", r)
		}
	}
	if n != 1 {
		t.Fatalf("%d crashes in front of the last newline", n)
	}
}
