package discordtools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxKept bounds each [memory].
const maxKept = 1024

// memory keeps what was read of Discord: at most [maxKept] answers, the oldest
// going first, each for its lifetime. Reads of one key that are under way are
// shared. A failed read is not kept. The zero value keeps answers for ever; it is
// safe for concurrent use.
type memory[K comparable, V any] struct {
	life time.Duration    // 0 is for ever
	now  func() time.Time // needed with life

	mu    sync.Mutex
	kept  map[K]kept[V]
	order []K // of kept, oldest first
	under map[K]*reading[V]
	age   int // how often it was emptied
}

type kept[V any] struct {
	value V
	until time.Time
}

// reading is a read under way.
type reading[V any] struct {
	done    chan struct{}
	value   V
	err     error
	waiting int
	stop    context.CancelFunc
}

// get is the kept answer, or that of read. keep false gives the answer to those
// who wait and to nobody later. The read goes on while somebody waits for it; who
// waits waits within ctx.
func (m *memory[K, V]) get(ctx context.Context, key K, read func(context.Context) (v V, keep bool, err error)) (V, error) {
	m.mu.Lock()
	if k, ok := m.kept[key]; ok && (m.life == 0 || m.now().Before(k.until)) {
		m.mu.Unlock()
		return k.value, nil
	}
	r := m.under[key]
	if r == nil {
		within, stop := context.WithCancel(context.WithoutCancel(ctx))
		r = &reading[V]{done: make(chan struct{}), stop: stop}
		if m.under == nil {
			m.under = map[K]*reading[V]{}
		}
		m.under[key] = r
		go m.run(within, key, r, m.age, read)
	}
	r.waiting++
	m.mu.Unlock()
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		if r.waiting--; r.waiting == 0 {
			r.stop()
			m.forgetReading(key, r)
		}
		var none V
		return none, ctx.Err()
	}
}

func (m *memory[K, V]) run(ctx context.Context, key K, r *reading[V], age int, read func(context.Context) (V, bool, error)) {
	v, keep, err := attempt(ctx, read)
	r.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	r.value, r.err = v, err
	m.forgetReading(key, r)
	if err == nil && keep && age == m.age {
		m.put(key, v)
	}
	close(r.done)
}

// attempt is read, whose panic is an error: it runs where nobody else would
// catch it.
func attempt[V any](ctx context.Context, read func(context.Context) (V, bool, error)) (v V, keep bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			keep, err = false, fmt.Errorf("a read of Discord panicked: %T", p)
		}
	}()
	return read(ctx)
}

func (m *memory[K, V]) forgetReading(key K, r *reading[V]) {
	if m.under[key] == r {
		delete(m.under, key)
	}
}

// set keeps an answer that was read in another way.
func (m *memory[K, V]) set(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, v)
}

// has reports whether an answer is kept.
func (m *memory[K, V]) has(key K) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[key]
	return ok && (m.life == 0 || m.now().Before(k.until))
}

func (m *memory[K, V]) put(key K, v V) {
	k := kept[V]{value: v}
	if m.life > 0 {
		k.until = m.now().Add(m.life)
	}
	if m.kept == nil {
		m.kept = map[K]kept[V]{}
	}
	if _, again := m.kept[key]; again {
		m.order = slices.DeleteFunc(m.order, func(other K) bool { return other == key })
	}
	m.kept[key] = k
	m.order = append(m.order, key)
	for len(m.order) > maxKept {
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
}

// drop forgets one answer.
func (m *memory[K, V]) drop(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.kept[key]; ok {
		delete(m.kept, key)
		m.order = slices.DeleteFunc(m.order, func(other K) bool { return other == key })
	}
}

// empty forgets everything. Reads under way answer those who wait and are not
// kept; who asks from now on gets a read of their own.
func (m *memory[K, V]) empty() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.age++
	m.kept, m.order, m.under = nil, nil, nil
}
