package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

// edit replaces the last occurrence of a text in a file.
func edit(t *testing.T, path, from, to string) {
	t.Helper()
	b := read(t, path)
	i := bytes.LastIndex(b, []byte(from))
	if i < 0 {
		t.Fatalf("%s does not hold %s", path, from)
	}
	put(t, path, slices.Concat(b[:i], []byte(to), b[i+len(from):]))
}

// without is the text without a line.
func without(b []byte, line int) []byte {
	all := bytes.SplitAfter(b, []byte("\n"))
	return bytes.Join(slices.Delete(all, line, line+1), nil)
}

func swapped(b []byte, i, j int) []byte {
	all := bytes.SplitAfter(b, []byte("\n"))
	all[i], all[j] = all[j], all[i]
	return bytes.Join(all, nil)
}

// chained is a file with a begin, three calls and, in the middle, a torn line
// with its mark: 8 records on 9 lines.
func chained(t testing.TB, k []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for i, ids := range [][]string{{"r1"}, {"r2", "r3"}} {
		s, err := audit.File(path, audit.FileOptions{StateKey: k})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, s, ids...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			put(t, path, append(read(t, path), `{"level":"audit","pha`...))
		}
	}
	return path
}

// Every single change of the file or its head is found, whatever the key.
func TestVerifyFindsEveryChange(t *testing.T) {
	t.Parallel()
	for name, k := range map[string][]byte{"with a key": key, "without a key": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := chained(t, k)
			whole, head := read(t, path), read(t, path+".head")
			if r, err := audit.Verify(k, path); err != nil || !r.Intact() || r.Records != 8 || len(r.Torn) != 1 || r.Torn[0].Marked != 4 {
				t.Fatalf("the file as it was written: %v\n%s", err, r)
			}
			broken := func(file, head []byte, format string, args ...any) {
				t.Helper()
				r, err := audit.VerifyBytes(k, path, file, head)
				// Without a key a file that claims one cannot be looked at.
				if err != nil && !errors.Is(err, audit.ErrKeyNeeded) {
					t.Fatalf(format+": %v", append(args, err)...)
				}
				if err == nil && r.Intact() {
					t.Errorf(format+": not found", args...)
				}
			}
			changed := func(b []byte, i int) []byte {
				b = bytes.Clone(b)
				b[i] ^= 1
				return b
			}
			for i := range whole {
				broken(changed(whole, i), head, "byte %d changed", i)
				broken(whole[:i], head, "cut at byte %d", i)
			}
			for i := range head {
				broken(whole, changed(head, i), "byte %d of the head changed", i)
				broken(whole, head[:i], "the head cut at byte %d", i)
			}
			for i := range bytes.Count(whole, []byte("\n")) {
				broken(without(whole, i), head, "line %d removed", i+1)
				for j := range i {
					broken(swapped(whole, j, i), head, "lines %d and %d swapped", j+1, i+1)
				}
			}
			broken(append(bytes.Clone(whole), "{}\n"...), head, "a line added")
			broken(whole, nil, "the head removed")
		})
	}
}

// What is wrong is named, with its place and the last good record.
func TestVerifyNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	path := chained(t, key) // lines: 1 begin, 2-3 r1, 4 torn, 5 mark, 6-7 r2, 8-9 r3; records 1, 2, 3, 4, 5, …, 8
	whole, head := read(t, path), read(t, path+".head")
	cut := func(line int) []byte { return bytes.Join(bytes.SplitAfter(whole, []byte("\n"))[:line], nil) }
	other := filepath.Join(filepath.Dir(path), "other.jsonl")
	keep(t, start(t, other), "x1", "x2", "x3", "x4")
	foreign := bytes.SplitAfter(read(t, other), []byte("\n"))
	for name, row := range map[string]struct {
		file []byte
		head []byte
		want string // fault, line, …
		says string
		good uint64
	}{
		"a byte changed":       {bytes.Replace(whole, []byte(`"request_id":"r2"`), []byte(`"request_id":"r9"`), 1), head, "changed 6", "record 5 belongs here", 4},
		"the first changed":    {bytes.Replace(whole, []byte(`"begin"`), []byte(`"begun"`), 1), head, "changed 1, missing 2", "record 1 belongs here", 0},
		"two changed":          {bytes.ReplaceAll(whole, []byte(`"request_id":"r2"`), []byte(`"request_id":"r9"`)), head, "changed 6", "this line and the 1 after it", 4},
		"the last changed":     {bytes.Replace(whole, []byte(`"status":"success","transport":"","seq":8`), []byte(`"status":"Success","transport":"","seq":8`), 1), head, "changed 9", "record 8 belongs here", 7},
		"a line removed":       {without(whole, 5), head, "missing 6", "record 5 is missing", 4},
		"two lines removed":    {without(without(whole, 5), 5), head, "missing 6", "records 5 to 6 are missing", 4},
		"the first removed":    {without(whole, 0), head, "missing 1", "does not begin with its first record", 0},
		"the torn one removed": {without(whole, 3), head, "missing 4", "torn line that record 4 marks is missing", 3},
		"the mark removed":     {without(whole, 4), head, "changed 4", "record 4 belongs here", 3},
		"neighbours swapped":   {swapped(whole, 5, 6), head, "reordered 7", "record 5 stands behind record 6", 4},
		"far ones swapped":     {swapped(whole, 5, 8), head, "reordered 7, reordered 8, reordered 9", "record 5 stands behind record 8", 4},
		"a line twice":         {append(bytes.Clone(whole), bytes.SplitAfter(whole, []byte("\n"))[7]...), head, "reordered 10", "record 7 stands here again", 8},
		"the last removed":     {cut(8), head, "cut 0", "record 8 is missing at the end", 7},
		"cut at a line end":    {cut(6), head, "cut 0", "records 6 to 8 are missing at the end", 5},
		"cut inside a line":    {cut(9)[:len(whole)-30], head, "cut 9", "in the middle of record 8", 7},
		"cut at the newline":   {whole[:len(whole)-1], head, "cut 9", "in the middle of record 8", 7},
		"emptied":              {nil, head, "cut 0", "the head counts 8", 0},
		"a line added":         {append(bytes.Clone(whole), "{\"level\":\"audit\",\"phase\":\"outcome\"}\n"...), head, "changed 10", "put there", 8},
		"a line added, open":   {append(bytes.Clone(whole), `{"level":"audit"}`...), head, "changed 10", "put there", 8},
		"another chain's":      {append(cut(8), foreign[7]...), head, "unlinked 9, head -1", "does not follow the record 7", 7},
		"another head":         {whole, read(t, other+".head"), "cut 0", "record 9 is missing at the end", 8},
	} {
		put(t, path, row.file)
		put(t, path+".head", row.head)
		r := verify(t, path)
		var got []string
		for _, p := range r.Problems {
			line := p.Line
			if strings.HasSuffix(p.File, ".head") {
				line = -1
			}
			got = append(got, fmt.Sprintf("%s %d", p.Fault, line))
		}
		slices.Sort(got)
		want := strings.Split(row.want, ", ")
		slices.Sort(want)
		if !slices.Equal(got, want) || !strings.Contains(r.String(), row.says) {
			t.Errorf("%s: got %q, want %q and %q:\n%s", name, got, want, row.says, r)
		}
		var good uint64
		if r.LastGood != nil {
			good = r.LastGood.Number
		}
		if good != row.good {
			t.Errorf("%s: the last good record is %d, want %d:\n%s", name, good, row.good, r)
		}
	}
}

func TestVerifyNamesTheLastGoodRecord(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	e := outcome("9f0c")
	e.Time = e.Time.AddDate(2030, 0, 0)
	if err := f.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	keep(t, f, "r2")
	edit(t, f.path, `"r2"`, `"r3"`)
	edit(t, f.path, `"r2"`, `"r3"`)
	r := verify(t, f.path)
	want := audit.Record{File: f.path, Line: 2, Number: 2, Phase: mcpcore.Outcome, RequestID: "9f0c", Time: e.Time}
	if r.LastGood == nil || *r.LastGood != want {
		t.Errorf("the last good record is %+v, want %+v", r.LastGood, want)
	}
	if text := r.String(); !strings.Contains(text, `BROKEN`) || !strings.Contains(text, `outcome of request "9f0c", 2031-01-01T00:00:00Z`) {
		t.Errorf("it says %s", text)
	}
}

// A chain that somebody without the key made is not taken for a keyed one.
func TestVerifyIsNotTalkedOutOfItsKey(t *testing.T) {
	t.Parallel()
	for name, k := range map[string][]byte{"no key": nil, "another key": bytes.ToUpper(key)} {
		r := verify(t, chained(t, k))
		if r.Intact() || r.Problems[0].Fault != audit.FaultKey {
			t.Errorf("%s: %s", name, r)
		}
	}
	if _, err := audit.Verify(nil, chained(t, key)); !errors.Is(err, audit.ErrKeyNeeded) {
		t.Errorf("without the key: %v", err)
	}
}

func TestVerifySaysWhatItCannotLookAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, files := range map[string][]string{"nothing": nil, "no such file": {filepath.Join(dir, "missing")}, "a folder": {dir}} {
		if r, err := audit.Verify(key, files...); err == nil {
			t.Errorf("%s: %s", name, r)
		}
	}
}

func TestVerifyBoundsItsReport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s := start(t, path)
	for range 150 {
		keep(t, s, "r")
	}
	all := bytes.SplitAfter(read(t, path), []byte("\n"))
	for i := 1; i < len(all)-1; i += 2 {
		all[i] = []byte("{}\n")
	}
	put(t, path, bytes.Join(all, nil))
	if r := verify(t, path); len(r.Problems) != 100 {
		t.Errorf("%d problems", len(r.Problems))
	}
}

// FuzzVerify: whatever is put in place of a part of the file or of its head, Verify
// answers, and what is not what was written is not intact.
func FuzzVerify(f *testing.F) {
	path := chained(f, key)
	whole, head := read(f, path), read(f, path+".head")
	f.Add(uint16(0), uint16(0), []byte{}, false)
	f.Add(uint16(300), uint16(5000), []byte("{}\n\n\x00"), false)
	f.Add(uint16(0), uint16(5000), []byte(`{"records":18446744073709551615}`), true)
	f.Add(uint16(60000), uint16(0), []byte(`{"level":"audit"`), false)
	f.Add(uint16(60000), uint16(0), []byte("{\"level\":\n\n{"), false)
	f.Add(uint16(60000), uint16(0), []byte("{\n{}\n"), false)
	f.Fuzz(func(t *testing.T, at, length uint16, instead []byte, inHead bool) {
		file, h := whole, head
		changed := &file
		if inHead {
			changed = &h
		}
		from := min(int(at), len(*changed))
		*changed = slices.Concat((*changed)[:from], instead, (*changed)[min(from+int(length), len(*changed)):])
		r, err := audit.VerifyBytes(key, path, file, h)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.String()
		// What is no JSON behind the end may be an interrupted write's.
		rest, want := bytes.CutPrefix(file, whole)
		want = want && bytes.Equal(h, head)
		for line := range bytes.Lines(rest) {
			want = want && !json.Valid(line)
		}
		if r.Intact() != want {
			t.Errorf("intact: %t, of %q with %q", r.Intact(), file, h)
		}
	})
}
