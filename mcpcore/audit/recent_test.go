package audit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

func TestRecentOutcomesOfAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := audit.File(path, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recent := func(limit int, want ...string) {
		t.Helper()
		all, err := f.Recent(t.Context(), limit)
		var got []string
		for _, e := range all {
			got = append(got, e.RequestID)
			if e.Phase != mcpcore.Outcome || e.Tool != "messages_send" {
				t.Errorf("%+v", e)
			}
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	recent(10)
	for i := range 3 {
		for _, phase := range []mcpcore.Phase{mcpcore.Intent, mcpcore.Outcome} {
			if err := f.Record(t.Context(), mcpcore.AuditEvent{Phase: phase, RequestID: fmt.Sprint(i), Tool: "messages_send", Args: json.RawMessage(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	recent(10, "2", "1", "0")
	recent(2, "2", "1")
	recent(0)
	// Of a long file the end is read, and what is torn is no record.
	big := json.RawMessage(`"` + strings.Repeat("a", 700<<10) + `"`)
	for i := range 4 {
		if err := f.Record(t.Context(), mcpcore.AuditEvent{Phase: mcpcore.Outcome, RequestID: fmt.Sprint("big", i), Tool: "messages_send", Args: big}); err != nil {
			t.Fatal(err)
		}
	}
	recent(10, "big3", "big2")
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer torn.Close()
	if _, err := torn.WriteString(`{"level":"audit","phase":"outcome","tool":"never"`); err != nil {
		t.Fatal(err)
	}
	recent(10, "big3", "big2")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	recent(10)
}
