package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// write appends the batch as one piece: all of it is kept, or none. An empty
// batch only takes up the chain.
func (s *FileSink) write(batch []*pending) error {
	// Before the lock file is made beside it.
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("open audit file %s: it is not a regular file: %w", s.path, fs.ErrInvalid)
	}
	release, err := lock(s.path+lockSuffix, s.wait)
	if err != nil {
		return fmt.Errorf("open audit file: %w", err)
	}
	defer release()
	if err := s.catchUp(); err != nil {
		return fmt.Errorf("open audit file: %w", err)
	}
	if len(batch) == 0 {
		return nil
	}
	var b []byte
	at := s.at
	for _, p := range batch {
		var line []byte
		line, at = s.seal.record(p.object, at)
		b = append(b, line...)
	}
	if err := s.append(b, at); err != nil {
		return fmt.Errorf("write audit event: %w", err)
	}
	return nil
}

// append writes b, which makes the chain reach to next: first the records, then
// the head, each forced to the disk.
func (s *FileSink) append(b []byte, next position) error {
	s.step(stepAppend, s.f, b)
	_, err := s.f.Write(b)
	if err == nil {
		s.step(stepSync, s.f, nil)
		err = s.f.Sync()
	}
	if err == nil {
		err = s.writeHead(next)
	}
	if err != nil {
		// Take back what is there of it. If that fails as well, catchUp takes
		// up or marks what is left.
		_ = s.f.Truncate(next.Size - int64(len(b)))
		_ = s.drop()
		return err
	}
	s.at = next
	return nil
}

// catchUp makes s.f the file at the path and s.at the end of its chain. There is
// nothing to do unless the file is new, was renamed or removed, or somebody
// else has written.
func (s *FileSink) catchUp() error {
	if s.f != nil && s.untouched() {
		return nil
	}
	_ = s.drop()
	from, err := s.vouched()
	if err != nil {
		return err
	}
	if s.f, err = openRegular(s.path); err != nil {
		return err
	}
	at, rest, err := s.resume(from)
	if err == nil {
		err = s.take(at, rest, from)
	}
	if err != nil {
		_ = s.drop()
	}
	return err
}

func (s *FileSink) untouched() bool {
	there, err := os.Stat(s.path)
	if err != nil {
		return false
	}
	ours, err := s.f.Stat()
	return err == nil && os.SameFile(there, ours) && ours.Size() == s.at.Size
}

// vouched is how far the chain reaches for certain: what the head says, or what
// this process wrote itself if the head was removed or set back.
func (s *FileSink) vouched() (position, error) {
	name := s.path + headSuffix
	b, err := os.ReadFile(name)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && s.at.Records > 0:
		return s.at, nil
	case missing:
		if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
			return position{}, fmt.Errorf("%s has no head file %s; move it away to begin a new chain", s.path, name)
		}
		// The head comes first, so that no file is without one.
		return position{}, s.writeHead(position{})
	case err != nil:
		return position{}, err
	}
	h, err := s.seal.parseHead(b)
	switch {
	case h.Algorithm != "" && (h.Algorithm != s.seal.algorithm() || h.KeyID != s.seal.id):
		return position{}, fmt.Errorf("%s was written %s, not %s; move it and %s away to begin a new chain",
			s.path, under(h.Algorithm, h.KeyID), under(s.seal.algorithm(), s.seal.id), name)
	case err != nil:
		return position{}, fmt.Errorf("%s: %w; look with \"discord-mcp audit verify\", then move it and %s away to begin a new chain", name, err, s.path)
	case s.at.Records > h.Records:
		return s.at, nil
	}
	return h.position, nil
}

func under(algorithm, keyID string) string {
	if algorithm == algPlain {
		return "without a key"
	}
	return "with the key " + keyID
}

func openRegular(path string) (*os.File, error) {
	// Without O_NONBLOCK the opening of a pipe waits for its reader.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: %w", path, fs.ErrInvalid)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// resume reads the file from the vouched end on, or from its start if that is
// in an earlier file. It gives the end of the chain and what stands behind it.
func (s *FileSink) resume(from position) (position, *rest, error) {
	at, behind := from, &rest{}
	if !s.reaches(from) {
		at.Size = 0
	}
	info, err := s.f.Stat()
	if err != nil {
		return at, nil, err
	}
	start := at.Size
	in := newLines(io.NewSectionReader(s.f, start, info.Size()-start))
	for {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return at, nil, err
		}
		line, ended := bytes.CutSuffix(raw, []byte("\n"))
		e, ok := s.seal.open(line)
		if !ok || !e.follows(at) || !behind.marked(e) {
			behind.add(raw)
			continue
		}
		end := start + in.end
		if !ended { // all but the newline was written
			s.step(stepAppend, s.f, []byte("\n"))
			if _, err := s.f.Write([]byte("\n")); err != nil {
				return at, nil, err
			}
			end++
		}
		at, behind = position{e.Seq, e.digest, end}, &rest{}
	}
	if behind.whole {
		return at, nil, fmt.Errorf("%s does not continue its chain after record %d; look with \"discord-mcp audit verify\", then move it away: the next file goes on from its head",
			s.path, at.Records)
	}
	return at, behind, nil
}

// reaches reports whether the record that the position ends with is in the file
// as it was written.
func (s *FileSink) reaches(at position) bool {
	for size := int64(4 << 10); ; size *= 8 {
		start := max(at.Size-size, 0)
		b := make([]byte, at.Size-start)
		if _, err := s.f.ReadAt(b, start); err != nil || len(b) == 0 {
			return false
		}
		b, ended := bytes.CutSuffix(b, []byte("\n"))
		i := bytes.LastIndexByte(b, '\n')
		if i < 0 && start > 0 && size < maxRecord {
			continue // the record is longer
		}
		e, ok := s.seal.open(b[i+1:])
		return ok && ended && e.Seq == at.Records && e.digest == at.Last
	}
}

// take goes on from at: it marks what stands behind it, begins a new file, and
// writes the head if that lags.
func (s *FileSink) take(at position, behind *rest, from position) error {
	s.at = at
	chain := chainTorn
	switch {
	case at.Size == 0:
		chain = chainBegin
	case behind.bytes == 0 && at != from:
		return s.writeHead(at)
	case behind.bytes == 0:
		return nil
	}
	var b []byte
	at.Size += behind.bytes
	if behind.bytes > 0 && behind.last != '\n' {
		b = []byte("\n")
		behind.add(b)
		at.Size++
	}
	object, err := s.seal.marker(chain, behind.torn())
	if err != nil {
		return err
	}
	line, next := s.seal.record(object, at)
	if err := s.append(append(b, line...), next); err != nil {
		return err
	}
	s.syncFolder()
	return nil
}
