package ledger

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// maxRecords is how many records a [Store] of one process keeps of a kind.
const maxRecords = 1024

// Store is a [mcpcore.Store] that ends with the process. Of each kind it keeps
// 1,024 records; the oldest makes room for one more. It is safe for concurrent
// use.
type Store struct {
	clock func() time.Time

	mu    sync.Mutex
	kinds map[string]*kept
}

var _ mcpcore.Store = (*Store)(nil)

// NewStore is an empty store. A nil clock is time.Now.
func NewStore(clock func() time.Time) *Store {
	if clock == nil {
		clock = time.Now
	}
	return &Store{clock: clock, kinds: map[string]*kept{}}
}

type kept struct {
	byName map[string]stored
	last   int64 // version that was given
}

type stored struct {
	version int64
	data    []byte
	until   time.Time // zero for ever
}

// Load implements [mcpcore.Store].
func (s *Store) Load(ctx context.Context, kind, name string) (int64, []byte, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.alive(kind, name)
	return r.version, bytes.Clone(r.data), nil
}

// alive is a record whose life is not over, the zero value for none.
func (s *Store) alive(kind, name string) stored {
	k := s.kinds[kind]
	if k == nil {
		return stored{}
	}
	r := k.byName[name]
	if !r.until.IsZero() && !s.clock().Before(r.until) {
		return stored{}
	}
	return r
}

// Save implements [mcpcore.Store].
func (s *Store) Save(ctx context.Context, kind, name string, last int64, data []byte, life time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(data) > mcpcore.MaxStored {
		return 0, fmt.Errorf("save %s: %d bytes are more than %d", kind, len(data), mcpcore.MaxStored)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive(kind, name).version != last {
		return 0, mcpcore.ErrStale
	}
	k := s.kinds[kind]
	if k == nil {
		k = &kept{byName: map[string]stored{}}
		s.kinds[kind] = k
	}
	k.last++
	r := stored{version: k.last, data: bytes.Clone(data)}
	if life > 0 {
		r.until = s.clock().Add(life)
	}
	k.byName[name] = r
	if len(k.byName) > maxRecords {
		k.dropOldest()
	}
	return r.version, nil
}

func (k *kept) dropOldest() {
	oldest, version := "", k.last+1
	for name, r := range k.byName {
		if r.version < version {
			oldest, version = name, r.version
		}
	}
	delete(k.byName, oldest)
}

// Drop implements [mcpcore.Store].
func (s *Store) Drop(ctx context.Context, kind, name string, version int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kinds[kind]; k != nil && k.byName[name].version == version {
		delete(k.byName, name)
	}
	return nil
}
