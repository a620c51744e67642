package mcpcore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/internal/redact"
)

// Result is what a handler made: data for programs and text for clients that
// show no structured content.
type Result struct {
	Data  json.RawMessage // one JSON object
	Text  string          // "" for the data itself
	Notes []string        // said after the text, such as arguments that were ignored

	valid bool // Data is known to be a JSON object
}

// MaxText is how many bytes of a result's JSON are repeated as text. A longer
// one is replaced by a pointer to the structured content; nothing is cut inside
// JSON.
const MaxText = 32 << 10

// View makes a result of a pointer to a struct, in the way [Define] does. Nil
// lists become [] and nil maps {}, in place: what out points to, lists and
// their items included, must not be shared with other goroutines.
func View(out any) (*Result, error) {
	v := reflect.ValueOf(out)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, fmt.Errorf("encode result: %T is not a pointer to a struct", out)
	}
	fillLists(v.Elem())
	data, err := canon.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	if data[0] != '{' {
		return nil, fmt.Errorf("encode result: %T is not a JSON object", out)
	}
	res := &Result{Data: data, valid: true}
	if t, ok := out.(interface{ Text() string }); ok {
		res.Text = t.Text()
	}
	return res, nil
}

// check reports data that the output schema cannot describe and that the
// protocol's encoder would choke on.
func (r *Result) check() error {
	if r.valid || len(r.Data) == 0 || bytes.HasPrefix(bytes.TrimSpace(r.Data), []byte("{")) && json.Valid(r.Data) {
		return nil
	}
	return asError(errors.New("the handler's data is not a JSON object"))
}

// fillLists replaces nil slices and maps, which JSON would show as null, by
// empty ones.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// The exported fields of an embedded struct can be set even where its
			// own name is not exported.
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous {
				fillLists(f)
			}
		}
	case reflect.Map:
		if !v.CanSet() {
			return
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		if !mayHoldLists(v.Type().Elem().Kind()) {
			return
		}
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			fillLists(item)
			v.SetMapIndex(key, item)
		}
	case reflect.Slice:
		if !v.CanSet() {
			return
		}
		if v.Type() == rawJSON {
			return // its null is a value
		}
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if !mayHoldLists(v.Type().Elem().Kind()) {
			return
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

func mayHoldLists(k reflect.Kind) bool {
	return k == reflect.Struct || k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

// reply is the protocol's form of a result.
func (r *Result) reply(c *Call) *mcp.CallToolResult {
	text := r.Text
	if text == "" {
		text = string(r.Data)
		if len(text) > MaxText {
			text = fmt.Sprintf("The result has %d bytes and is in the structured content. Ask for less at once if you cannot see it.", len(r.Data))
		}
	}
	for _, n := range r.Notes {
		text += "\n\n" + sentence(n)
	}
	if len(c.extra) > 0 {
		text += "\n\nIgnored, because this tool does not take it: " + strings.Join(c.extra, ", ") + "."
	}
	data := r.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: data,
	}
}

// Reply is the error as the client of a call gets it, for servers that answer
// beside the chain.
func (e *Error) Reply() *mcp.CallToolResult { return e.envelope() }

// envelope is the protocol's form of an error. What looks like a credential in
// its words is masked: they may repeat what a caller or Discord wrote.
func (e *Error) envelope() *mcp.CallToolResult {
	e = e.masked()
	hint := e.Hint
	if hint == "" {
		hint = e.Code.Hint()
	}
	body := map[string]any{
		"code": e.Code, "retriable": e.Code.Retriable(), "category": e.Code.Category(), "recovery_hint": hint,
	}
	if e.Detail != "" {
		body["detail"] = e.Detail
	}
	for k, v := range e.Fields {
		if _, reserved := body[k]; !reserved {
			if raw, err := encode(v); err == nil { // what JSON cannot hold is left out
				body[k] = raw
			}
		}
	}
	data, err := canon.Marshal(body)
	if err != nil { // cannot be: every member is text, a boolean or JSON
		data = fmt.Appendf(nil, `{"code":%q}`, e.Code)
	}
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{&mcp.TextContent{Text: e.text(hint)}},
		StructuredContent: json.RawMessage(data),
	}
}

// invalidParams is the same as an error of the protocol, with the envelope as its
// data.
func (e *Error) invalidParams() error {
	m, envelope := e.masked(), e.envelope()
	data, _ := envelope.StructuredContent.(json.RawMessage)
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: m.Detail + ". " + m.Hint, Data: data}
}

func (e *Error) masked() *Error {
	m := *e
	m.Detail, m.Hint = redact.Text(e.Detail), redact.Text(e.Hint)
	if issues, ok := e.Fields["issues"].([]Issue); ok {
		masked := slices.Clone(issues)
		for i := range masked {
			masked[i].Path, masked[i].Message = redact.Text(masked[i].Path), redact.Text(masked[i].Message)
		}
		m.Fields = maps.Clone(e.Fields)
		m.Fields["issues"] = masked
	}
	return &m
}

func encode(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil { // of a MarshalJSON
			err = fmt.Errorf("encode %T: panic", v)
		}
	}()
	return canon.Marshal(v)
}

// text is the error for people: a heading, what is wrong, what to do, and what
// there is to see before a decision.
func (e *Error) text(hint string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", e.Code)
	if issues, ok := e.Fields["issues"].([]Issue); ok && len(issues) > 1 {
		for _, i := range issues {
			fmt.Fprintf(&b, "- %s\n", issueText(i))
		}
		b.WriteByte('\n')
	} else if e.Detail != "" {
		fmt.Fprintf(&b, "%s\n\n", sentence(e.Detail))
	}
	if facts, ok := e.Fields["facts"].(Facts); ok {
		b.WriteString(fence.Text(fence.Facts, facts.lines()))
		b.WriteString("\n\n")
	}
	if preview, ok := e.Fields["preview"].(json.RawMessage); ok {
		fmt.Fprintf(&b, "Preview: `%s`\n\n", visible(preview))
	} else if lines := e.carried(); lines != "" {
		b.WriteString(lines)
		b.WriteByte('\n')
	}
	b.WriteString(hint)
	return b.String()
}

// carried lists the fields that the next call or its user needs, for hosts that
// show a model the text alone. A preview holds them itself.
func (e *Error) carried() string {
	var b strings.Builder
	for _, name := range []string{"recipient_id", "consent_hash", "consent_id", "consent_expires_at", "approval_id", "approval_expires_at"} {
		if value, ok := e.Fields[name]; ok {
			if raw, err := encode(value); err == nil {
				fmt.Fprintf(&b, "- %s: %s\n", name, visible(raw))
			}
		}
	}
	return b.String()
}

// visible is JSON in which characters that change the look of what stands
// around them are escaped: line separators, controls and directions of writing.
func visible(raw []byte) string {
	var b strings.Builder
	for _, r := range string(raw) {
		switch {
		case r >= 0x7f && r <= 0x9f, r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// sentence is s with an end, and with its first letter in upper case, unless it
// starts with the name of an argument.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "_:.") && r != utf8.RuneError {
		s = strings.ToUpper(string(r)) + s[size:]
	}
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// classify makes an [*Error] of what a chain returned, telling a client that
// gave up from a deadline that passed.
func classify(ctx context.Context, err error) *Error {
	if _, ok := errors.AsType[*Error](err); ok {
		return asError(err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeUpstreamTimeout, Detail: "the call's deadline passed", Cause: err}
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return &Error{Code: CodeCancelled, Detail: "the client cancelled the call", Cause: err}
	}
	return asError(err)
}
