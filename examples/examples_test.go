// Package examples_test shows that the examples stay what they are for: short
// programs outside the library's walls.
package examples_test

import (
	"bytes"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/guildwarden/guildwarden"

func TestExamplesCompileFromOutside(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range mains {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, module) && strings.Contains(name, "/internal") {
				t.Errorf("%s imports %s", path, name)
			}
		}
		compile(t, "./"+filepath.Dir(path))
	}
}

// compile checks a package or file; the time of linking it is saved.
func compile(t *testing.T, what string) {
	t.Helper()
	if out, err := exec.Command("go", "vet", what).CombinedOutput(); err != nil {
		t.Errorf("go vet %s: %v\n%s", what, err, out)
	}
}

// codeLines counts the lines that hold more than space and comments.
func codeLines(t *testing.T, src []byte) int {
	t.Helper()
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(at token.Position, msg string) { t.Errorf("%v: %s", at, msg) }, 0)
	lines := map[int]bool{}
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok != token.SEMICOLON || text == ";" { // not one that the end of a line stands for
			lines[fset.Position(at).Line] = true
		}
	}
}

func TestEmbeddingIsShort(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("embedded-bot/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := codeLines(t, src); n > 25 {
		t.Errorf("embedding a server with a tool of one's own takes %d lines of code, not 25", n)
	}
	// The counter itself: a blank line, a comment and an empty file are nothing.
	for text, want := range map[string]int{"package x\n\n// no\nvar y = 1 // no\n": 2, "// no\n\n": 0} {
		if got := codeLines(t, []byte(text)); got != want {
			t.Errorf("%q has %d lines, want %d", text, got, want)
		}
	}
}

// TestFrontPageProgramCompiles takes the program out of the module's package
// comment, compiles it, and finds the same lines in README.md.
func TestFrontPageProgramCompiles(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var program bytes.Buffer
	for line := range strings.Lines(string(doc)) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			program.WriteString(code)
		}
	}
	if n := strings.Count(program.String(), "\n"); n < 5 || n > 20 {
		t.Fatalf("the program has %d lines:\n%s", n, &program)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, program.Bytes()) {
		t.Errorf("README.md shows another program than doc.go:\n%s", &program)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	head := `package main

import (
	"context"
	"log"
	"os"

	"github.com/bwmarrin/discordgo"

	"` + module + `/discordtools"
	"` + module + `/mcpcore/transport"
)

`
	if err := os.WriteFile(file, []byte(head+program.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	compile(t, file)
}
