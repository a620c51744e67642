package discordtools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// argument decodes a top-level argument. It is false when there is none, or
// when the schema has refused it.
func argument[T any](call *mcpcore.Call, name string) (v T, ok bool) {
	raw, given := call.Arg(name)
	return v, given && json.Unmarshal(raw, &v) == nil
}

// contradiction is what a rule between arguments finds wrong.
func contradiction(path, format string, args ...any) *mcpcore.Issue {
	return &mcpcore.Issue{Path: path, Message: fmt.Sprintf(format, args...), Code: mcpcore.IssueRule}
}

// anyGiven demands at least one of the arguments. An empty one counts: it
// clears.
func anyGiven(names ...string) mcpcore.Rule {
	list := strings.Join(names, ", ")
	return mcpcore.Rule{Doc: "Give at least one of " + list + ".", Check: func(call *mcpcore.Call) *mcpcore.Issue {
		for _, name := range names {
			if call.Has(name) {
				return nil
			}
		}
		return contradiction("", "give at least one of %s", list)
	}}
}

// changeRule demands a change of what the tool's path names.
var changeRule = anyBeside("channel_id", "audit_reason")

// anyBeside demands an argument beside those that say what is changed.
func anyBeside(named ...string) mcpcore.Rule {
	return mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
		for _, name := range call.Names() {
			if !slices.Contains(named, name) {
				return nil
			}
		}
		return contradiction("", "give at least one setting to change")
	}}
}
