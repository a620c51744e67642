package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// ErrKeyNeeded is the error of a keyed chain that is verified without a key.
var ErrKeyNeeded = errors.New("the audit file was written with a key and cannot be checked without it")

// maxProblems bounds a report. One that reaches it may leave some out.
const maxProblems = 100

// Verify checks the chain of a [File], with its head. Files that were renamed
// away are given in front of it, oldest first. stateKey is that of
// [FileOptions].
//
// The report says what is wrong with the files. The error says that they could
// not be looked at: ErrKeyNeeded, or a file that cannot be read. Verify only
// reads, and may run while the file is written.
func Verify(stateKey []byte, files ...string) (Report, error) {
	if len(files) == 0 {
		return Report{}, errors.New("no audit file to verify")
	}
	seal, err := newSealer(stateKey)
	if err != nil {
		return Report{}, err
	}
	name := files[len(files)-1] + headSuffix
	for try := 1; ; try++ {
		before, err := readHead(name)
		if err != nil {
			return Report{}, err
		}
		v := &verifier{seal: seal, files: files, open: openFile}
		if err := v.run(before); err != nil {
			return Report{}, err
		}
		// A writer may have begun a new file meanwhile.
		after, err := readHead(name)
		if err != nil || v.report.Intact() || bytes.Equal(before, after) || try == 3 {
			return v.report, err
		}
	}
}

// readHead gives nil for a file that is missing.
func readHead(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// openFile opens what can be read to its end.
func openFile(name string) (io.ReadCloser, error) { return os.Open(name) }

type verifier struct {
	seal   sealer
	files  []string
	open   func(name string) (io.ReadCloser, error)
	report Report

	head     head
	headGood bool
	atHead   string // digest of the record that the head ends with

	at     position   // of the last record; Size is not used
	recent []position // the last ones, up to maxBatch
	seen   bool       // there was a record
	blind  uint64     // lines in front of this place that are no records
	gaps   []gap      // numbers that were left out
	good   *Record    // the last one in front of the first problem
}

// gap is a run of records that were not where they belong.
type gap struct {
	from, to uint64
	file     string
	line     int
}

func (v *verifier) problem(f Fault, file string, line int, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, Problem{f, file, line, fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) run(headBytes []byte) error {
	v.report = Report{Files: v.files, Keyed: v.seal.key != nil, KeyID: v.seal.id}
	live := v.files[len(v.files)-1]
	var headErr error
	if headBytes != nil {
		v.head, headErr = v.seal.parseHead(headBytes)
	}
	v.headGood = headBytes != nil && headErr == nil
	for i, file := range v.files {
		f, err := v.open(file)
		if errors.Is(err, fs.ErrNotExist) && i == len(v.files)-1 && headBytes != nil {
			break // renamed away, and nothing written since; the head knows what is missing
		}
		if err != nil {
			return err
		}
		stop, err := v.file(i, f)
		_ = f.Close() // it was only read
		if stop || err != nil {
			return err
		}
	}
	for _, g := range v.gaps {
		v.problem(FaultMissing, g.file, g.line, "%s missing in front of this line", isAre(g.from, g.to))
	}
	switch {
	case headBytes == nil:
		v.problem(FaultHead, live+headSuffix, 0, "the head file is missing, so nothing vouches for the end; if the file was renamed away, name those that follow it as well")
	case headErr != nil:
		v.problem(FaultHead, live+headSuffix, 0, "%v", headErr)
	default:
		v.checkHead(live)
	}
	slices.SortStableFunc(v.report.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(slices.Index(v.files, a.File), slices.Index(v.files, b.File)), cmp.Compare(a.Line, b.Line))
	})
	v.report.LastGood = v.good
	return nil
}

// file reads one file. stop says that another key was used.
func (v *verifier) file(index int, f io.Reader) (stop bool, err error) {
	name := v.files[index]
	in := newLines(f)
	behind, first := &rest{}, true
	from := 0 // line where behind starts
	for {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, fmt.Errorf("read %s: %w", name, err)
		}
		line, ended := bytes.CutSuffix(raw, []byte("\n"))
		if index == 0 && in.start == 0 {
			if stop, err := v.otherKey(name, line); stop || err != nil {
				return true, err
			}
		}
		e, ok := v.seal.open(line)
		if !ok || !ended {
			if behind.bytes == 0 {
				from = in.number
			}
			onlyNewlineLacks, whole := ok && v.next(e) && behind.marked(e), behind.whole
			behind.add(raw)
			if onlyNewlineLacks { // an interrupted write after all
				behind.whole = whole
			}
			continue
		}
		v.between(name, from, in.number, behind, e)
		v.record(name, in.number, e, first)
		behind, first = &rest{}, false
	}
	v.blind = 0
	if behind.bytes > 0 {
		v.tail(index, from, behind)
	}
	return false, nil
}

// next reports whether a genuine record would be the next one.
func (v *verifier) next(e entry) bool {
	return e.follows(v.at) || !v.seen && v.headGood && e.follows(v.head.position)
}

// otherKey looks at what the first line claims.
func (v *verifier) otherKey(name string, line []byte) (bool, error) {
	var m marker
	if json.Unmarshal(line, &m) != nil || m.Algorithm == "" || m.Algorithm == v.seal.algorithm() && m.KeyID == v.seal.id {
		return false, nil
	}
	if v.seal.key == nil {
		return true, fmt.Errorf("%s: %w", name, ErrKeyNeeded)
	}
	v.problem(FaultKey, name, 1, "the file says that it was written %s; the key given is %s", under(m.Algorithm, m.KeyID), v.seal.id)
	return true, nil
}

// between judges what stands in front of a record and is none.
func (v *verifier) between(name string, from, line int, behind *rest, next entry) {
	v.blind = 0
	switch {
	case behind.marked(next):
		if behind.bytes > 0 {
			v.report.Torn = append(v.report.Torn, Torn{name, from, behind.bytes, next.Seq})
		}
	case behind.bytes == 0:
		v.problem(FaultMissing, name, line, "the torn line that record %d marks is missing", next.Seq)
	default:
		v.blind = uint64(behind.lines)
		v.changed(name, from, behind)
	}
}

func (v *verifier) changed(name string, from int, behind *rest) {
	what := "this line is no record"
	if behind.lines > 1 {
		what = fmt.Sprintf("this line and the %d after it are no records", behind.lines-1)
	}
	v.problem(FaultChanged, name, from, "%s of the chain: changed, or put there; record %d belongs here", what, v.at.Records+1)
}

// record judges a genuine record by its place.
func (v *verifier) record(name string, line int, e entry, first bool) {
	r := Record{name, line, e.Seq, e.Phase, e.RequestID, e.Time}
	v.report.Records++
	if first && e.Chain != chainBegin {
		v.problem(FaultMissing, name, line, "the file does not begin with its first record: what stood in front of record %d is missing", e.Seq)
	}
	at := position{e.Seq, e.digest, 0}
	switch {
	case !v.seen:
		if e.Seq == 1 && e.Prev != "" {
			v.problem(FaultUnlinked, name, line, "record 1 names a record before it")
		}
		v.report.Before = e.Seq - 1
		if v.headGood && v.head.Records == e.Seq-1 {
			v.atHead = e.Prev
		}
	case e.Seq == v.at.Records+1:
		if e.Prev != v.at.Last && v.blind == 0 {
			v.problem(FaultUnlinked, name, line, "record %d is genuine but does not follow the record %d that stands before it", e.Seq, v.at.Records)
		}
	case e.Seq > v.at.Records+1:
		// As many lines that are no records stand in their place: told already.
		if missing := e.Seq - v.at.Records - 1; missing > v.blind {
			v.gaps = append(v.gaps, gap{v.at.Records + 1, e.Seq - 1, name, line})
		}
	case first && e.Chain == chainBegin && slices.ContainsFunc(v.recent, func(p position) bool { return p.Records+1 == e.Seq && p.Last == e.Prev }):
		// The file before was renamed away after a crash, with records at its
		// end that the head never counted.
		v.report.PastHead += v.at.Records - e.Seq + 1
	default:
		v.reordered(name, line, e.Seq)
		return
	}
	v.seen, v.at = true, at
	v.recent = append(v.recent, at)
	if len(v.recent) > maxBatch {
		v.recent = v.recent[1:]
	}
	if v.headGood && e.Seq == v.head.Records {
		v.atHead = e.digest
	}
	if v.report.Intact() && len(v.gaps) == 0 {
		v.good = &r
	}
}

func (v *verifier) reordered(name string, line int, seq uint64) {
	for i, g := range v.gaps {
		if seq < g.from || seq > g.to {
			continue
		}
		v.problem(FaultReordered, name, line, "record %d stands behind record %d", seq, v.at.Records)
		left := slices.DeleteFunc([]gap{{g.from, seq - 1, g.file, g.line}, {seq + 1, g.to, g.file, g.line}}, func(g gap) bool { return g.from > g.to })
		v.gaps = slices.Replace(v.gaps, i, i+1, left...)
		return
	}
	v.problem(FaultReordered, name, line, "record %d stands here again", seq)
}

// tail judges what stands behind the last record of a file.
func (v *verifier) tail(index, from int, behind *rest) {
	name := v.files[index]
	counts := index == len(v.files)-1 && v.headGood && v.head.Records > v.at.Records
	switch {
	case counts && behind.last != '\n' && behind.lines == 1:
		v.blind = 1
		v.problem(FaultCut, name, from, "the file ends in the middle of record %d", v.at.Records+1)
	case counts || behind.whole:
		v.blind = uint64(behind.lines)
		v.changed(name, from, behind)
	default:
		v.report.Torn = append(v.report.Torn, Torn{name, from, behind.bytes, 0})
	}
}

// checkHead holds the end of the last file against the head.
func (v *verifier) checkHead(live string) {
	h := v.head.position
	switch {
	case h.Records > v.at.Records && !v.seen:
		v.problem(FaultCut, live, 0, "there is no record, and the head counts %d; if the file was just renamed away, name it in front of this one", h.Records)
	case h.Records > v.at.Records:
		if from := v.at.Records + 1 + v.blind; from <= h.Records { // the others are told already
			v.problem(FaultCut, live, 0, "%s missing at the end, which the head counts", isAre(from, h.Records))
		}
	case h.Records == 0 && v.report.Before == 0:
		v.report.PastHead += v.at.Records
	case h.Last != v.atHead:
		v.problem(FaultHead, live+headSuffix, 0, "the head counts %d records and does not fit what stands there", h.Records)
	default:
		v.report.PastHead += v.at.Records - h.Records
	}
}

func isAre(from, to uint64) string {
	if from == to {
		return span(from, to) + " is"
	}
	return span(from, to) + " are"
}
