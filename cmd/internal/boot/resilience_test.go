package boot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
)

// resilienceOf is what the settings make of a server's calls to Discord.
func resilienceOf(t *testing.T, vars ...string) discordtools.Resilience {
	t.Helper()
	c, err := boot.Read(with(vars...), false)
	if err != nil {
		t.Fatal(err)
	}
	deps, done, err := boot.Deps(c, boot.Options{Stderr: new(strings.Builder)})
	if err != nil {
		t.Fatal(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	return deps.Client.Resilience
}

func TestResilienceSettings(t *testing.T) {
	t.Parallel()
	defaults := discordtools.Resilience{
		InFlight: 100, Failures: 10, HalfOpenAfter: time.Minute, Retries: 3, BaseDelay: 200 * time.Millisecond,
		MaxDelay: 10 * time.Second, Jitter: discordtools.JitterFull, Timeout: 30 * time.Second,
	}
	for _, row := range []struct {
		set    string
		change func(*discordtools.Resilience)
	}{
		{"PATH=/usr/bin", func(*discordtools.Resilience) {}},
		{"MCP_BULKHEAD_LIMIT=7", func(r *discordtools.Resilience) { r.InFlight = 7 }},
		{"MCP_CIRCUIT_FAILURE_THRESHOLD=3", func(r *discordtools.Resilience) { r.Failures = 3 }},
		{"MCP_CIRCUIT_HALF_OPEN_AFTER_MS=5000", func(r *discordtools.Resilience) { r.HalfOpenAfter = 5 * time.Second }},
		{"MCP_CIRCUIT_ENABLED=false", func(r *discordtools.Resilience) { r.NoBreaker = true }},
		{"MCP_CIRCUIT_ENABLED=no", func(*discordtools.Resilience) {}},
		{"MCP_RETRY_ENABLED=false", func(r *discordtools.Resilience) { r.NoRetry = true }},
		{"MCP_RETRY_ENABLED=0", func(*discordtools.Resilience) {}},
		{"MCP_RETRY_MAX_ATTEMPTS=10", func(r *discordtools.Resilience) { r.Retries = 10 }},
		{"MCP_RETRY_BASE_DELAY_MS=50", func(r *discordtools.Resilience) { r.BaseDelay = 50 * time.Millisecond }},
		{"MCP_RETRY_MAX_DELAY_MS=500", func(r *discordtools.Resilience) { r.MaxDelay = 500 * time.Millisecond }},
		{"MCP_RETRY_JITTER=decorrelated", func(r *discordtools.Resilience) { r.Jitter = discordtools.JitterDecorrelated }},
		{"MCP_RETRY_JITTER=none", func(r *discordtools.Resilience) { r.Jitter = discordtools.JitterNone }},
		{"MCP_TIMEOUT_DEFAULT_MS=1000", func(r *discordtools.Resilience) { r.Timeout = time.Second }},
	} {
		want := defaults
		row.change(&want)
		if got := resilienceOf(t, row.set); got != want {
			t.Errorf("%s: %+v, want %+v", row.set, got, want)
		}
	}
}

func TestResilienceSettingsHaveRanges(t *testing.T) {
	t.Parallel()
	var outside, names []string
	for _, row := range []struct {
		name        string
		least, most int
	}{
		{"MCP_RETRY_MAX_ATTEMPTS", 1, 10},
		{"MCP_RETRY_BASE_DELAY_MS", 50, 5000},
		{"MCP_RETRY_MAX_DELAY_MS", 500, 60000},
		{"MCP_TIMEOUT_DEFAULT_MS", 1000, 120000},
		{"MCP_CIRCUIT_FAILURE_THRESHOLD", 3, 100},
		{"MCP_CIRCUIT_HALF_OPEN_AFTER_MS", 5000, 600000},
		{"MCP_BULKHEAD_LIMIT", 1, 1000},
	} {
		for _, v := range []string{"", fmt.Sprint(row.least), fmt.Sprint(row.most)} {
			if _, err := boot.Read(with(row.name+"="+v), false); err != nil {
				t.Errorf("%s=%q does not start: %v", row.name, v, err)
			}
		}
		for _, v := range []string{fmt.Sprint(row.least - 1), fmt.Sprint(row.most + 1), "0", "-1", "many", "1.5", "1e3", "30s"} {
			_, err := boot.Read(with(row.name+"="+v), false)
			if want := fmt.Sprintf("%d to %d", row.least, row.most); err == nil || !strings.HasPrefix(err.Error(), row.name+" ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s=%q: got %v, want an error with %q", row.name, v, err, want)
			}
		}
		outside, names = append(outside, fmt.Sprintf("%s=%d", row.name, row.most+1)), append(names, row.name)
	}
	_, err := boot.Read(with(append(outside, "MCP_RETRY_JITTER=Full")...), false)
	for _, name := range append(names, "MCP_RETRY_JITTER") {
		if err == nil || !strings.Contains(err.Error(), name+" ") {
			t.Errorf("%s is not among the problems: %v", name, err)
		}
	}
}
