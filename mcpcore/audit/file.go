package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// FileOptions are what a [File] needs beside its path.
type FileOptions struct {
	// StateKey is the operator's secret, of at least 32 bytes, from which the
	// chain's key is derived. Nil makes a chain of plain digests, which finds
	// accidents but not somebody who can write the file.
	StateKey []byte
}

// ErrLocked is the error of a file on which another process has been writing
// for too long.
var ErrLocked = errors.New("another process holds the lock of the audit file")

// FileSink is made by [File]. It is safe for concurrent use, and several
// processes may write one file: they take turns.
type FileSink struct {
	path string
	seal sealer
	wait time.Duration // for the lock, and for Close
	// probe is called before each step that lasts, with what is about to be
	// written to f; tests interrupt there.
	probe func(step string, f *os.File, b []byte)

	mu     sync.Mutex
	queue  []*pending
	idle   chan struct{} // closed when nothing is being written; nil before the first record
	busy   bool
	closed bool

	// Owned by the goroutine that writes: by drain while busy, else by who
	// holds mu.
	f  *os.File // nil after a fault, until the next record
	at position
}

// pending is a record that waits to be written.
type pending struct {
	object []byte
	done   chan error // gets one answer
}

// maxBatch is how many records are forced to the disk at once.
const maxBatch = 64

// File appends intents and outcomes to the regular file at path, one line of
// JSON each. The lines are a chain: each holds the digest of the one before it
// and its own, keyed with the options' StateKey, and the file path.head holds
// how far the chain reaches; [Verify] tells what was changed, removed or cut
// off. Missing files are created with mode 0600. A missing folder, a folder, a
// pipe or a device is an error, and so is a file that does not continue its
// chain: it is left as it is.
//
// Record returns when the line and the head are forced to the disk; records of
// concurrent calls share that. An event that cannot be written is an error of
// its Record, which stops a call that is about to act; the next Record opens
// the file anew, so that the sink recovers by itself when the disk has room
// again.
//
// After a crash File takes up what was written behind the head. A line that was
// not finished stays and is followed by a record that marks it. A file that was
// renamed or removed is followed by a new one whose first record continues the
// chain. The lock file path.lock stays; its lock ends with the process.
func File(path string, o FileOptions) (*FileSink, error) {
	return newFile(path, o, 5*time.Second, nil)
}

func newFile(path string, o FileOptions, wait time.Duration, probe func(string, *os.File, []byte)) (*FileSink, error) {
	seal, err := newSealer(o.StateKey)
	if err != nil {
		return nil, fmt.Errorf("open audit file: %w", err)
	}
	s := &FileSink{path: path, seal: seal, wait: wait, probe: probe}
	if err := s.write(nil); err != nil {
		return nil, err
	}
	return s, nil
}

// The steps that a crash can come between.
const (
	stepAppend = "append" // to the audit file
	stepHead   = "head"   // content of the next head file
	stepSync   = "sync"
	stepRename = "rename" // the next head file becomes the head file
)

func (s *FileSink) step(step string, f *os.File, b []byte) {
	if s.probe != nil {
		s.probe(step, f, b)
	}
}

// Record appends the event; see [File]. When ctx ends while the event is being
// written it may be kept although the answer is an error.
func (s *FileSink) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	object, err := object(e)
	if err != nil {
		return err
	}
	if len(object) > maxRecord-1024 { // room for number and digests
		return fmt.Errorf("write audit event: a record of %d bytes is too long", len(object))
	}
	p := &pending{object, make(chan error, 1)}
	if err := s.enqueue(p); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		s.withdraw(p)
		if len(p.done) > 0 {
			return <-p.done
		}
		return fmt.Errorf("write audit event: %w", ctx.Err())
	}
}

func (s *FileSink) enqueue(p *pending) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("write audit event: %w", os.ErrClosed)
	}
	s.queue = append(s.queue, p)
	if !s.busy {
		s.busy, s.idle = true, make(chan struct{})
		go s.drain()
	}
	return nil
}

func (s *FileSink) withdraw(p *pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(q *pending) bool { return q == p })
}

// drain writes what is queued, in batches, until nothing is.
func (s *FileSink) drain() {
	for {
		s.mu.Lock()
		n := min(len(s.queue), maxBatch)
		batch := slices.Clone(s.queue[:n])
		s.queue = slices.Delete(s.queue, 0, n)
		if n == 0 {
			s.busy = false
			close(s.idle)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		err := s.write(batch)
		for _, p := range batch {
			p.done <- err
		}
	}
}

// Ready is an error when records could not be appended: the file cannot be
// written, or its folder is gone. A disk that is full is found out by Record.
func (s *FileSink) Ready(context.Context) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, os.ErrNotExist) { // the next record makes it
		_, err = os.Stat(filepath.Dir(s.path))
	}
	if err != nil {
		return fmt.Errorf("reach audit file: %w", err)
	}
	return nil
}

// Close waits until what was recorded is written, at most five seconds, and
// closes the file. Later records are errors.
func (s *FileSink) Close() error {
	s.mu.Lock()
	s.closed = true
	busy, idle := s.busy, s.idle
	s.mu.Unlock()
	if busy {
		select {
		case <-idle:
		case <-time.After(s.wait):
			return fmt.Errorf("close audit file: records are still being written: %w", os.ErrDeadlineExceeded)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop()
}

// drop closes the file that is open.
func (s *FileSink) drop() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}
