package transport

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	methodListen    = "subscriptions/listen"
	methodCancelled = "notifications/cancelled"
)

type admission int

const (
	admitted admission = iota
	inUse              // a running call has the id
	stopping           // no new calls
)

// calls knows what is in flight in both directions. It is safe for concurrent use; newCalls makes one.
type calls struct {
	mu sync.Mutex
	// running holds the client's calls that have no answer yet, and whether they run until cancelled.
	running map[jsonrpc.ID]bool
	// unwritten counts the client's calls whose answer is not on the wire. An id leaves running when its answer is
	// about to be written, since the client may use it again as soon as it has read the answer.
	unwritten int
	// asked holds the server's calls to the client that have no answer yet.
	asked    map[jsonrpc.ID]struct{}
	deaf     bool          // the client can answer no more
	stopping bool          // no call is admitted
	idle     chan struct{} // closed when stopping and nothing is unwritten
}

func newCalls() *calls {
	return &calls{
		running: map[jsonrpc.ID]bool{},
		asked:   map[jsonrpc.ID]struct{}{},
		idle:    make(chan struct{}),
	}
}

func (c *calls) admit(call *jsonrpc.Request) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.running[call.ID]; used {
		return inUse
	}
	if c.stopping {
		return stopping
	}
	c.running[call.ID] = call.Method == methodListen
	c.unwritten++
	return admitted
}

func (c *calls) isRunning(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.running[id]
	return ok
}

// answering frees the id before its answer is written. If it reports true, written must follow.
func (c *calls) answering(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.running[id]
	delete(c.running, id)
	return ok
}

func (c *calls) written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwritten--
	if c.stopping && c.unwritten == 0 {
		close(c.idle)
	}
}

func (c *calls) missing() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unwritten
}

// stop admits no more calls and returns those that would run until cancelled. It must be called once.
func (c *calls) stop() (endless []jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	if c.unwritten == 0 {
		close(c.idle)
	}
	for id, listens := range c.running {
		if listens {
			endless = append(endless, id)
		}
	}
	return endless
}

// ask notes a call to the client. It reports false if the client can answer no more.
func (c *calls) ask(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.deaf {
		c.asked[id] = struct{}{}
	}
	return !c.deaf
}

// settle forgets a call to the client: it was answered or given up.
func (c *calls) settle(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, id)
}

// deafen notes that no answer can come any more and returns the calls that wait for one.
func (c *calls) deafen() []jsonrpc.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = true
	var waiting []jsonrpc.ID
	for id := range c.asked {
		waiting = append(waiting, id)
	}
	clear(c.asked)
	return waiting
}
