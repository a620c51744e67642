package discordtools_test

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// covered is which tools had a row that succeeded and one that was refused.
var covered coverage

type coverage struct {
	mu    sync.Mutex
	tools map[string][2]bool // succeeded, refused
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

// withoutRows reports tools that lack a row; 0 when none does.
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
	return status
}
