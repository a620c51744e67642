package guildwarden_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/guildwarden/guildwarden"

// listed is what go list says of a package, without its tests.
type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// load lists the packages that match, with -deps everything they link too.
func load(t *testing.T, args ...string) map[string]listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e", "-json=ImportPath,Imports,Standard"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	packages := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// within reports whether path is the package root or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// ours is the path inside the module, and whether it is in it.
func ours(path string) (string, bool) {
	if !within(path, module) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), true
}

// layers are the parts of the module, each of which may import itself and what
// stands below it. The kernel's own packages come before the packages around
// it, which import it and never the other way.
var layers = [][]string{
	{"cmd", "examples"},
	{"discordtools"},
	{"middleware"},
	{"preconditions"},
	{"mcpcore/"}, // the subpackages
	{"mcpcore"},
	{"mcpcore/discord"},
}

// layer is the index of a package's layer, the lower the further up; -1 for a
// package of none: the module's root and internal.
func layer(path string) int {
	switch {
	case path == "mcpcore":
		return 5
	case within(path, "mcpcore/discord"):
		return 6
	case within(path, "mcpcore"):
		return 4
	}
	return slices.IndexFunc(layers, func(roots []string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
	})
}

func TestImportsPointDownwards(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range load(t, "./...") {
		from, _ := ours(p.ImportPath)
		for _, imported := range p.Imports {
			to, inModule := ours(imported)
			if !inModule {
				continue
			}
			checked++
			if above, below := layer(from), layer(to); above >= 0 && below >= 0 && below < above {
				t.Errorf("%s imports %s, which stands above it", from, to)
			}
			if within(from, "internal") && !within(to, "internal") && to != "mcpcore/discord" {
				t.Errorf("%s imports %s; internal packages serve the others", from, to)
			}
			if (within(from, "cmd") || within(from, "examples")) && within(to, "internal") {
				t.Errorf("%s imports %s: it is the proof that the library can be embedded", from, to)
			}
			if from == "" {
				t.Errorf("the module's root imports %s", to)
			}
		}
	}
	if checked < 20 {
		t.Fatalf("checked %d imports", checked)
	}
}

func TestVocabularyNeedsTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	for path, p := range load(t, "-deps", "./mcpcore/discord") {
		if path != module+"/mcpcore/discord" && !p.Standard {
			t.Errorf("mcpcore/discord links %s", path)
		}
	}
}

// owners are the packages that may import a dependency, by its path. Whoever
// links the others does not link it.
var owners = map[string][]string{
	"github.com/bwmarrin/discordgo":         {"discordtools", "cmd", "examples"},
	"github.com/spf13/cobra":                {"cmd"},
	"github.com/lmittmann/tint":             {"cmd"},
	"github.com/caarlos0/env":               {"cmd"},
	"golang.org/x/term":                     {"cmd"},
	"modernc.org/sqlite":                    {"mcpcore/ledger/sqlite"},
	"github.com/jackc/pgx":                  {"mcpcore/ledger/postgres"},
	module + "/mcpcore/ledger/sqlite":       {"cmd", "examples"},
	module + "/mcpcore/ledger/postgres":     {"cmd", "examples"},
	module + "/mcpcore/ledger/internal":     nil, // tests alone
	module + "/internal/postgrestest":       nil, // tests alone
	"go.opentelemetry.io/otel/exporters":    {"cmd"},
	"go.opentelemetry.io/otel/sdk":          {"cmd"},
	"go.opentelemetry.io/contrib":           {"cmd"},
	"go.opentelemetry.io/proto":             {"cmd"},
	"google.golang.org/protobuf":            {"cmd"},
	"google.golang.org/grpc":                {"cmd"},
	"github.com/failsafe-go/failsafe-go":    {"discordtools"},
	"github.com/go-playground/validator":    {"discordtools", "cmd"},
	"github.com/santhosh-tekuri/jsonschema": {"internal", "mcpcore/policy", "discordtools"},
}

func TestDependenciesHaveOwners(t *testing.T) {
	t.Parallel()
	for _, p := range load(t, "./...") {
		from, _ := ours(p.ImportPath)
		for _, imported := range p.Imports {
			for dependency, allowed := range owners {
				if within(imported, dependency) && !slices.ContainsFunc(allowed, func(owner string) bool { return within(from, owner) }) {
					t.Errorf("%s imports %s, which is for %s", from, imported, strings.Join(allowed, ", "))
				}
			}
		}
	}
}

// An embedder's providers of telemetry are its own: the library links the API
// alone, and no audit sink brings more.
func TestLibraryLinksNoTelemetrySDK(t *testing.T) {
	t.Parallel()
	linked := load(t, "-deps", "./discordtools/...", "./middleware", "./preconditions", "./mcpcore/...")
	if _, ok := linked["go.opentelemetry.io/otel/trace"]; !ok {
		t.Fatal("the list of what is linked is not whole")
	}
	for path := range linked {
		for _, dependency := range []string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/proto", "google.golang.org"} {
			if within(path, dependency) {
				t.Errorf("the library links %s", path)
			}
		}
	}
}

// A ledger's driver is linked by whoever opens that ledger. An embedder with a
// database of its own brings the driver that it has.
func TestLedgersLinkNoDriverButTheirOwn(t *testing.T) {
	t.Parallel()
	const lite, pg = "modernc.org/sqlite", "github.com/jackc/pgx/v5"
	for ledger, want := range map[string][]string{"./discordtools/...": nil, "./mcpcore/ledger/sql": nil, "./mcpcore/ledger/sqlite": {lite}, "./mcpcore/ledger/postgres": {pg}} {
		linked := load(t, "-deps", ledger)
		for _, driver := range []string{lite, pg} {
			if _, got := linked[driver]; got != slices.Contains(want, driver) {
				t.Errorf("%s links %s: %t", ledger, driver, got)
			}
		}
	}
}

// An embedder with tools of its own links the kernel and the layers, and none of
// Discord.
func TestKernelLinksNoDiscordAndNoDriver(t *testing.T) {
	t.Parallel()
	linked := load(t, "-deps", "./mcpcore", "./middleware", "./preconditions")
	if _, ok := linked["github.com/modelcontextprotocol/go-sdk/mcp"]; !ok {
		t.Fatal("the list of what is linked is not whole")
	}
	for path := range linked {
		if in, ok := ours(path); ok && (within(in, "discordtools") || within(in, "cmd")) {
			t.Errorf("the kernel links %s", path)
		}
		for dependency, allowed := range owners {
			if within(path, dependency) && !slices.Contains(allowed, "internal") {
				t.Errorf("the kernel links %s", path)
			}
		}
		if path == "database/sql" { // its driver part comes with the uuids
			t.Errorf("the kernel links %s", path)
		}
	}
}
