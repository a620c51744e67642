package console

import (
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// How many attempts to sign in may fail within a window, from one address and
// from all, which bounds how many addresses are remembered. A token cannot be
// guessed; this keeps guessing from costing anything.
const (
	window     = time.Minute
	failsOfOne = 5
	failsOfAll = 100
)

// attempts counts what failed in the current window.
type attempts struct {
	clock func() time.Time

	mu    sync.Mutex
	began time.Time
	all   int
	of    map[string]int
}

func newAttempts(clock func() time.Time) *attempts {
	return &attempts{clock: clock, of: map[string]int{}}
}

// wait is how long nobody from there may try; 0 lets them.
func (a *attempts) wait(remote string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.left()
	if a.all >= failsOfAll || a.of[source(remote)] >= failsOfOne {
		return left
	}
	return 0
}

func (a *attempts) failed(remote string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left()
	if a.all < failsOfAll {
		a.all++
		a.of[source(remote)]++
	}
}

// left is what is left of the window. A new one begins when it is over.
func (a *attempts) left() time.Duration {
	now := a.clock()
	left := a.began.Add(window).Sub(now)
	if left <= 0 || left > window {
		a.began, a.all, left = now, 0, window
		clear(a.of)
	}
	return left
}

// source is what counts as one address: of IPv6 a network of 64 bits.
func source(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}

// seconds are whole ones, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}
