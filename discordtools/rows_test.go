package discordtools_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// covered is which tools had a row that succeeded and one that was refused, and
// which arguments a successful call had.
var covered coverage

type coverage struct {
	mu    sync.Mutex
	tools map[string][2]bool // succeeded, refused
	given map[string]bool    // "tool.argument"
}

// took notes the arguments of a call that succeeded.
func (c *coverage) took(tool, args string) {
	var given map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &given) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given == nil {
		c.given = map[string]bool{}
	}
	for name := range given {
		c.given[tool+"."+name] = true
	}
}

func (c *coverage) note(tool string, succeeded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tools == nil {
		c.tools = map[string][2]bool{}
	}
	seen := c.tools[tool]
	if succeeded {
		seen[0] = true
	} else {
		seen[1] = true
	}
	c.tools[tool] = seen
}

// TestMain demands rows of every tool, whenever all tests ran.
func TestMain(m *testing.M) {
	status := m.Run()
	if status == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" {
		status = withoutRows()
	}
	os.Exit(status)
}

// withoutRows reports tools that lack a row, and arguments in [local] that no
// successful call had; 0 when there are none.
func withoutRows() (status int) {
	client, err := discordtools.NewClient(sandbox.New(sandbox.Options{}).Session(), discordtools.ClientOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, t := range discordtools.Tools(client) {
		seen := covered.tools[t.Name]
		for i, kind := range []string{"that succeeds", "that is refused"} {
			if !seen[i] {
				fmt.Fprintf(os.Stderr, "FAIL: %s has no row %s\n", t.Name, kind)
				status = 1
			}
		}
	}
	for tool, args := range local {
		for _, arg := range args {
			if !covered.given[tool+"."+arg] {
				fmt.Fprintf(os.Stderr, "FAIL: no call of %s sets %s\n", tool, arg)
				status = 1
			}
		}
	}
	return status
}
