package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// FileSink is made by [File]. It is safe for concurrent use, by one process at
// a time.
type FileSink struct {
	path string

	mu     sync.Mutex
	f      *os.File // nil after a failed write, until the next record
	closed bool
}

// File appends intents and outcomes to the regular file at path, one line of
// JSON each. A missing file is created with mode 0600; a missing folder, a
// folder, a pipe or a device is an error.
//
// An event that cannot be written is an error of its Record, which stops a call
// that is about to act; the next Record opens the file anew, so that the sink
// recovers by itself when the disk has room again. A line is there as a whole
// or not at all. A record survives the process, but is not forced to the disk.
func File(path string) (*FileSink, error) {
	s := &FileSink{path: path}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// Record appends the event; see [File].
func (s *FileSink) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := line(e)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("write audit event: %w", os.ErrClosed)
	}
	if s.f == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	if n, err := s.f.Write(b); err != nil {
		s.takeBack(int64(n))
		_ = s.f.Close() // the write's error says it all
		s.f = nil
		return fmt.Errorf("write audit event: %w", err)
	}
	return nil
}

// Close closes the file. Later records are errors.
func (s *FileSink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}

// takeBack removes the first n bytes of a line that did not fit. If that fails
// as well, open ends the broken line.
func (s *FileSink) takeBack(n int64) {
	if info, err := s.f.Stat(); err == nil && n > 0 {
		_ = s.f.Truncate(info.Size() - n)
	}
}

func (s *FileSink) open() error {
	// Without O_NONBLOCK the opening of a pipe waits for its reader.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("open audit file: %w", err)
	}
	if err := endLine(f); err != nil {
		return errors.Join(fmt.Errorf("open audit file %s: %w", s.path, err), f.Close())
	}
	s.f = f
	return nil
}

// endLine ends a line that a crash left unfinished, and refuses what is not a
// regular file.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is not a regular file: %w", fs.ErrInvalid)
	}
	if info.Size() == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err = f.Write([]byte{'\n'})
	return err
}
