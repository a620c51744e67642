package sandbox

import (
	"strconv"
	"time"
)

// epoch is the first millisecond that a snowflake can name.
const epoch = 1420070400000

// Ids made for the present and for a chosen moment differ in the bits that
// Discord gives to its worker, and both from ids that a test derives from a
// moment alone, whose low bits are zero.
const (
	presentWorker = 1 << 17
	pastWorker    = 2 << 17
)

// issue is a new snowflake of the present: unique, and above every one issued
// before.
func (w *world) issue() string {
	w.last = max(w.last+1, millisecond(w.clock())<<22|presentWorker)
	return strconv.FormatUint(w.last, 10)
}

// issueAt is a new snowflake of the moment t, unique among those issued.
func (w *world) issueAt(t time.Time) string {
	ms := millisecond(t)
	n := ms<<22 | pastWorker | w.serials[ms]
	w.serials[ms]++
	return strconv.FormatUint(n, 10)
}

// firstMonth is the age in milliseconds from which ids have 17 digits.
const firstMonth = 31 * 24 * 60 * 60 * 1000

// millisecond is a moment as snowflakes count. Moments before Discord, where
// the clock of a testing/synctest bubble begins, are taken for its second month.
func millisecond(t time.Time) uint64 { return uint64(max(t.UnixMilli()-epoch, firstMonth)) }

// number is a snowflake as the number it is; 0 for "".
func number[ID ~string](id ID) uint64 {
	n, _ := strconv.ParseUint(string(id), 10, 64)
	return n
}

// stamp writes a moment as Discord does: ISO 8601 with microseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// stampOrNull is nil for the zero time, which Discord writes as null.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := stamp(t)
	return &s
}
