package mcpcore

import (
	"context"
	"errors"
	"time"
)

// ErrStale says that a record is no longer at the version that was given.
var ErrStale = errors.New("the record was changed by somebody else")

// MaxStored is how many bytes a record of a [Store] may have.
const MaxStored = 1 << 20

// Store keeps small records by kind and name, for what must outlive a call: a
// plan, how far it was carried out, what was proven. Every ledger of this module
// is one. It is safe for concurrent use, between processes as far as it is
// shared; each method does all that it says at once, or nothing. Time is the
// store's clock.
//
// An error other than ErrStale means that the store is not available, and after
// a Save that the record may have been written.
type Store interface {
	// Load is a record and its version, which is at least 1; version 0 and nil
	// when there is none, or its life is over.
	Load(ctx context.Context, kind, name string) (version int64, data []byte, err error)
	// Save writes the record whose version was last, 0 for one that is not there,
	// and is its new version. ErrStale when it has another one. It lives so long;
	// life 0 is for ever.
	Save(ctx context.Context, kind, name string, last int64, data []byte, life time.Duration) (version int64, err error)
	// Drop forgets a record of that version. One that has another version, or is
	// not there, is left alone.
	Drop(ctx context.Context, kind, name string, version int64) error
}
