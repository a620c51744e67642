// Package storetest checks that a [mcpcore.Store] keeps its contract. An embedder
// runs it on an implementation of its own:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, clock func() time.Time) mcpcore.Store { return mystore.New(clock) })
//	}
package storetest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Run checks the stores that open makes, each of them empty and on the clock.
func Run(t *testing.T, open func(t *testing.T, clock func() time.Time) mcpcore.Store) {
	for name, check := range map[string]func(*bench){
		"what was saved is loaded":                 (*bench).loads,
		"a record is saved once at a version":      (*bench).once,
		"of many at once one saves":                (*bench).race,
		"a life ends":                              (*bench).ends,
		"a dropped record is gone, a newer stays":  (*bench).drops,
		"kinds and names do not meet":              (*bench).apart,
		"a record that is too long is not saved":   (*bench).long,
		"a cancelled call saves nothing":           (*bench).cancelled,
		"a version is never given twice to a name": (*bench).grows,
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, now: time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)}
			b.store = open(t, func() time.Time { return b.now })
			check(b)
		})
	}
}

type bench struct {
	*testing.T
	store mcpcore.Store
	now   time.Time
}

func (b *bench) save(kind, name string, last int64, data string, life time.Duration) int64 {
	b.Helper()
	v, err := b.store.Save(b.Context(), kind, name, last, []byte(data), life)
	if err != nil {
		b.Fatalf("save %s %s after %d: %v", kind, name, last, err)
	}
	return v
}

func (b *bench) holds(kind, name, want string) int64 {
	b.Helper()
	v, data, err := b.store.Load(b.Context(), kind, name)
	if err != nil || string(data) != want || (v == 0) != (want == "") {
		b.Fatalf("load %s %s: version %d, %q, %v; want %q", kind, name, v, data, err, want)
	}
	return v
}

func (b *bench) stale(kind, name string, last int64) {
	b.Helper()
	if _, err := b.store.Save(b.Context(), kind, name, last, []byte("other"), 0); !errors.Is(err, mcpcore.ErrStale) {
		b.Fatalf("save after %d: %v, want ErrStale", last, err)
	}
}

func (b *bench) loads() {
	b.holds("k", "n", "")
	v := b.save("k", "n", 0, "one", 0)
	if got := b.holds("k", "n", "one"); got != v {
		b.Errorf("version %d was saved and %d loaded", v, got)
	}
	b.save("k", "n", v, "two", 0)
	b.holds("k", "n", "two")
}

func (b *bench) once() {
	b.stale("k", "n", 7)
	v := b.save("k", "n", 0, "one", 0)
	b.stale("k", "n", 0)
	b.save("k", "n", v, "two", 0)
	b.stale("k", "n", v)
	b.holds("k", "n", "two")
}

func (b *bench) race() {
	v := b.save("k", "n", 0, "one", 0)
	var wait sync.WaitGroup
	var won atomic.Int32
	for range 16 {
		wait.Go(func() {
			switch _, err := b.store.Save(b.Context(), "k", "n", v, []byte("two"), 0); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, mcpcore.ErrStale):
				b.Errorf("save: %v", err)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 {
		b.Errorf("%d saved", won.Load())
	}
}

func (b *bench) ends() {
	v := b.save("k", "n", 0, "one", time.Minute)
	b.now = b.now.Add(time.Minute - 1)
	b.holds("k", "n", "one")
	b.now = b.now.Add(1)
	b.holds("k", "n", "")
	b.stale("k", "n", v)
	b.save("k", "n", 0, "two", 0)
	b.now = b.now.Add(1000 * time.Hour)
	b.holds("k", "n", "two")
}

func (b *bench) drops() {
	v := b.save("k", "n", 0, "one", 0)
	w := b.save("k", "n", v, "two", 0)
	for _, version := range []int64{v, w, w} {
		if err := b.store.Drop(b.Context(), "k", "n", version); err != nil {
			b.Fatal(err)
		}
		if version == v {
			b.holds("k", "n", "two")
		}
	}
	b.holds("k", "n", "")
}

func (b *bench) apart() {
	b.save("a", "bc", 0, "one", 0)
	b.save("ab", "c", 0, "two", 0)
	b.holds("a", "bc", "one")
	b.holds("ab", "c", "two")
	b.holds("a", "c", "")
}

func (b *bench) long() {
	if _, err := b.store.Save(b.Context(), "k", "n", 0, bytes.Repeat([]byte("x"), mcpcore.MaxStored+1), 0); err == nil {
		b.Error("it was saved")
	}
	b.holds("k", "n", "")
	b.save("k", "n", 0, string(bytes.Repeat([]byte("x"), mcpcore.MaxStored)), 0)
}

func (b *bench) cancelled() {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if _, err := b.store.Save(ctx, "k", "n", 0, []byte("one"), 0); err == nil {
		b.Error("it was saved")
	}
	b.holds("k", "n", "")
}

func (b *bench) grows() {
	seen := map[int64]bool{}
	for range 3 {
		v := b.save("k", "n", 0, "one", 0)
		if seen[v] {
			b.Errorf("version %d was given twice", v)
		}
		seen[v] = true
		if err := b.store.Drop(b.Context(), "k", "n", v); err != nil {
			b.Fatal(err)
		}
	}
}
