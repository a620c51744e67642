package boot_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
)

var update = flag.Bool("update", false, "write the golden files and the tables of docs/configuration.md anew")

func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	for _, field := range boot.Undocumented() {
		t.Errorf("Config.%s lacks a group, the tag doc, or a rule or the tag takes", field)
	}
}

// written is a part of a page between two marks.
var written = regexp.MustCompile(`(?s)(<!-- ([^:\n]+): written by go test \./cmd/internal/boot -update -->\n)(.*?)(<!-- end -->\n)`)

func TestConfigurationPageIsWrittenFromTheTags(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/configuration.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	titles, table := boot.Tables()
	var marked []string
	want := written.ReplaceAllStringFunc(string(page), func(part string) string {
		m := written.FindStringSubmatch(part)
		marked = append(marked, m[2])
		return m[1] + table[m[2]] + m[4]
	})
	if !slices.Equal(marked, titles) {
		t.Fatalf("the page has marks for %q, want %q", marked, titles)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("docs/configuration.md is not what the tags say; run: go test ./cmd/internal/boot -update")
	}
}

// TestReadmeNamesRealSettings holds the table that people write against the
// settings there are.
func TestReadmeNamesRealSettings(t *testing.T) {
	t.Parallel()
	known, a := boot.Names(), regexp.MustCompile("`([A-Z]+(?:_[A-Z]+)+)`")
	page, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Settings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		first, _, _ := strings.Cut(line[2:], " | ")
		for _, m := range a.FindAllStringSubmatch(first, -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("README speaks of %s, which is not a setting", m[1])
			}
		}
	}
	if !found || rows < 5 {
		t.Error("README has no table of settings")
	}
}
