package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever a shape finds has what the shape says it must have.
func TestShapesAreLookedFor(t *testing.T) {
	t.Parallel()
	parts := []string{
		"webhooks/", "interactions%2F", `webhooks\/`, "1200000000000000101", "/", `\/`, "%2F", "aW50ZXJhY3Rpb24", "Bot ", "bearer\t", strings.Repeat("k", 30),
		".", "abcdef", ".", approverPrefix, strings.Repeat("a2", 12), "https://", "user:pass", "@", "?", "token=", "&", "my_secret=", "x y", "\n", "ſ", "K", "=",
	}
	source := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
	found := 0
	for range 20000 {
		var b strings.Builder
		for range 1 + source.IntN(9) {
			b.WriteString(parts[source.IntN(len(parts))])
		}
		for i, shape := range shapes {
			if shape.find.MatchString(b.String()) {
				if found++; !shape.may(b.String()) {
					t.Fatalf("shape %d is not looked for in %q", i, b.String())
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d texts had a shape", found)
	}
}
