package boot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// withoutEffect are settings of convenience that this version does not have.
var withoutEffect = []string{
	"GATEWAY",
}

func ignored(vars map[string]string) (warnings []string) {
	for _, name := range withoutEffect {
		if vars[name] != "" {
			warnings = append(warnings, name+" has no effect in this version")
		}
	}
	return warnings
}

// dryRunWarnings speak up when somebody seems to have tried to disarm the dry
// run.
func dryRunWarnings(value string) []string {
	switch value {
	case "", "false", "true", "1", "yes", "on":
		return nil
	}
	return []string{`MCP_DRY_RUN is not exactly "false", so destructive tools only preview`}
}

// otherNames are what people call these settings elsewhere.
var otherNames = map[string]string{
	"ALLOWED_GUILD_IDS":      "ALLOWED_GUILDS",
	"BOT_TOKEN":              "DISCORD_TOKEN",
	"DISCORD_ALLOWED_GUILDS": "ALLOWED_GUILDS",
	"DISCORD_API_BASE_URL":   "DISCORD_API_BASE",
	"DISCORD_BOT_TOKEN":      "DISCORD_TOKEN",
	"DISCORD_GUILD_ID":       "DISCORD_DEFAULT_GUILD_ID",
	"DRY_RUN":                "MCP_DRY_RUN",
	"MCP_ALLOWED_GUILDS":     "ALLOWED_GUILDS",
	"MCP_APPROVAL_HMAC_KEY":  "MCP_STATE_KEY",
	"MCP_APPROVAL_STATE_DIR": "MCP_LEDGER",
	"MCP_CATEGORY":           "MCP_CATEGORIES",
	"MCP_LOG_LEVEL":          "LOG_LEVEL",
}

// lookalikes warns of variables that are probably misspelt.
func lookalikes(vars map[string]string) (warnings []string) {
	known := names()
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] == "" || slices.Contains(known, name) {
			continue
		}
		if meant := cmp.Or(otherNames[name], nearest(name, known)); meant != "" {
			warnings = append(warnings, fmt.Sprintf("%s is not a setting; did you mean %s?", name, meant))
		}
	}
	return warnings
}

// families begin the names of settings. Among them two letters may be wrong, and
// one elsewhere, where other programs have their names.
var families = []string{"MCP_", "DISCORD_", "ALLOWED_", "LOG_", "OTEL_"}

// nearest is the known name that a name is most probably meant to be; "" when it
// looks like none.
func nearest(name string, known []string) (meant string) {
	name = strings.ToUpper(name)
	best := 1
	if slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) }) {
		best = 2
	}
	for _, k := range known {
		if d := distance(name, k); d < best || d == best && meant == "" {
			best, meant = d, k
		}
	}
	return meant
}

// names are the variables that mean something here.
func names() []string {
	all := slices.Clone(withoutEffect)
	for _, s := range settings() {
		all = append(all, s.name)
	}
	slices.Sort(all)
	return all
}

// distance is how many letters must be put in, left out or changed to make one
// name of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
