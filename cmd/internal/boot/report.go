package boot

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/caarlos0/env/v11"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// Hidden stands for a value that is set and not shown.
const Hidden = "[REDACTED]"

// Report is what an environment means, without a secret.
type Report struct {
	Starts   bool      `json:"starts"` // whether a server would start
	Sandbox  bool      `json:"sandbox"`
	Settings []Setting `json:"settings"`
	Problems []string  `json:"problems"` // what keeps it from starting
	Warnings []string  `json:"warnings"`
}

// Source is where a value comes from.
type Source string

// These are all sources.
const (
	FromEnvironment Source = "environment"
	FromDefault     Source = "default"
	FromSandbox     Source = "sandbox" // which needs none and uses none
)

// Setting is a variable and its value.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"` // [Hidden] when it must not be shown, "" when there is none
	Source Source `json:"source"`
	Group  string `json:"group"`
	Takes  string `json:"takes"`           // which values it has
	Unset  string `json:"unset,omitempty"` // what it means to have none
	About  string `json:"about"`           // what it does
	Secret bool   `json:"secret"`          // whether it is never shown
}

// Examine reads the settings from environ as [Read] does and tells of all of
// them. It reads the token's file and looks whether the files of the audit and
// the ledger can be written; it makes no file and contacts nothing.
func Examine(environ []string, sandbox bool) Report {
	vars := env.ToMap(environ)
	c, errs := read(vars, sandbox, "")
	if c.AuditSink == "file" && c.AuditEnabled != "false" {
		errs = append(errs, checkFile("MCP_AUDIT_FILE", c.AuditFile))
	}
	if place, err := parseLedger(c.Ledger); err == nil && place.kind == "sqlite" {
		errs = append(errs, checkFile("MCP_LEDGER", place.at))
	}
	r := Report{Sandbox: sandbox, Settings: []Setting{}, Problems: []string{}, Warnings: []string{}}
	hide := secrets(vars, c)
	for _, err := range errs {
		for _, line := range lines(err) {
			r.Problems = append(r.Problems, hide.in(line))
		}
	}
	for _, w := range c.Warnings {
		r.Warnings = append(r.Warnings, hide.in(w))
	}
	r.Starts = len(r.Problems) == 0
	for _, s := range settings() {
		got := Setting{
			Name: s.name, Value: vars[s.name], Source: FromEnvironment, Group: s.group,
			Takes: plain(s.takes), Unset: plain(s.unset), About: plain(s.doc), Secret: s.secret == "all",
		}
		switch {
		case sandbox && (s.field == "Token" || s.field == "TokenFile"):
			got.Value, got.Source = "", FromSandbox
		case got.Value == "":
			got.Value, got.Source = s.fallback, FromDefault
		case s.field == "TokenFile" && !isPath(got.Value):
			got.Value = Hidden
		default:
			got.Value = hide.in(s.shown(got.Value))
		}
		r.Settings = append(r.Settings, got)
	}
	return r
}

// shown is a value without what of it is secret.
func (s setting) shown(value string) string {
	switch s.secret {
	case "all":
		return Hidden
	case "address":
		return address(value)
	case "ledger":
		if value != "memory" && !strings.HasPrefix(value, "sqlite:") {
			return address(value)
		}
	case "hashes":
		all, err := console.ParseApprovers(value)
		if err != nil {
			return Hidden
		}
		names := all.Names()
		for i := range names {
			names[i] += "=sha256:" + Hidden
		}
		return strings.Join(names, ",")
	}
	return value
}

// isPath reports whether a value is a path and not, by mistake, what the file
// holds.
func isPath(value string) bool {
	_, err := os.Stat(value)
	return err == nil || strings.ContainsAny(value, `/\`)
}

// lines are the errors that one joins, each on one line.
func lines(err error) (all []string) {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, lines(e)...)
		}
		return all
	}
	return []string{strings.ReplaceAll(err.Error(), "\n", " ")}
}

// address is one without what may be a credential in it, and [Hidden] when it
// cannot be told apart.
func address(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return Hidden
	}
	user, query := u.User != nil, u.RawQuery != "" || u.Fragment != ""
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	shown := u.String()
	if user {
		shown = strings.Replace(shown, "://", "://"+Hidden+"@", 1)
	}
	if query {
		shown += "?" + Hidden
	}
	return shown
}

// hider takes known secrets out of texts.
type hider []string

// secrets are all that are known, since people put them into the wrong variable
// too.
func secrets(vars map[string]string, c Config) (all hider) {
	add := func(text string) {
		if text = strings.TrimSpace(text); len(text) >= 8 { // less is a word like true
			all = append(all, text)
		}
	}
	add(c.Token)
	for _, s := range settings() {
		if s.secret == "all" {
			add(vars[s.name])
		}
	}
	for item := range strings.SplitSeq(vars["OTEL_EXPORTER_OTLP_HEADERS"], ",") {
		_, value, _ := strings.Cut(item, "=")
		add(value)
		if decoded, err := url.PathUnescape(value); err == nil {
			add(decoded)
		}
	}
	return all
}

// in is the text on one line without secrets, known ones and those that have the
// shape of one.
func (h hider) in(text string) string {
	for _, secret := range h {
		text = strings.ReplaceAll(text, secret, Hidden)
	}
	if tokenShape.MatchString(text) {
		return Hidden
	}
	text = mcpcore.Redact(text)
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// quoted is an item of a list for a message: whole, or not at all when it is long
// enough for a key or a token.
func quoted(item string) string {
	if len(item) >= minStateKey {
		return fmt.Sprintf("an item of %d bytes", len(item))
	}
	return strconv.Quote(mcpcore.Redact(item))
}

// checkFile finds out without making it that a file cannot be a setting's.
func checkFile(name, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New(name + " must be the path of a file")
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil:
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return f.Close()
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return errors.New(name + " must be in a folder that exists")
	}
	return nil
}
