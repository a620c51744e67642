package boot

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Names are the variables that mean something here, for the tests.
var Names = names

// Stop ends telemetry whose parts end by these functions.
func Stop(log *slog.Logger, stops ...func(context.Context) error) {
	observers{stops: stops, log: log}.stop()
}

// Undocumented are the fields whose tags lack what a page and a report need.
func Undocumented() (all []string) {
	for _, s := range settings() {
		if s.group == "" || s.takes == "" || s.doc == "" {
			all = append(all, s.field)
		}
	}
	return all
}

// Tables are the tables of the page about settings, in its order: one for each
// group, then the settings that this version cannot keep or does not use.
func Tables() (titles []string, table map[string]string) {
	table = map[string]string{}
	for _, s := range settings() {
		if table[s.group] == "" {
			titles = append(titles, s.group)
			table[s.group] = "| variable | takes | default | what it does |\n|---|---|---|---|\n"
		}
		fallback := markdown(s.unset)
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		table[s.group] += fmt.Sprintf("| `%s` | %s | %s | %s |\n", s.name, markdown(s.takes), fallback, markdown(s.doc))
	}
	const idle = "What has no effect"
	table[idle] = "`" + strings.Join(slices.Sorted(slices.Values(withoutEffect)), "`, `") + "`\n"
	for title, text := range table {
		table[title] = strings.ReplaceAll(text, "|  |", "| |")
	}
	return append(titles, idle), table
}

var aVariable = regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)+\b`)

// markdown is the text of a tag for a page.
func markdown(text string) string {
	return aVariable.ReplaceAllString(code.ReplaceAllString(text, "$1`$2`"), "`$0`")
}

// Approver is how a server with these settings asks a person.
func (c Config) Approver() mcpcore.Approver { return c.approver() }
