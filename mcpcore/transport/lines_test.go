package transport_test

import (
	"bytes"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

const limit = 1 << 20

func TestBadLineIsAnsweredAndSessionGoesOn(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	tests := []struct {
		name, line string
		code       int
		id         string
		says       string
	}{
		{"plain text", `Listening on port 3000`, -32700, "null", "not valid JSON"},
		{"cut off JSON", `{"jsonrpc":"2.0","id":1,"meth`, -32700, "null", "one complete JSON-RPC message a line"},
		{"byte order mark", "\ufeff" + ping, -32700, "null", "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00", -32700, "null", "UTF-8"},
		{"invalid UTF-8", `{"jsonrpc":"2.0","id":1,"method":"` + "\xff" + `"}`, -32700, "null", "UTF-8"},
		{"two messages", ping + ping, -32700, "null", "end each message with a newline"},
		{"text after a message", ping + " ok", -32700, "null", "end each message with a newline"},
		{"null byte", "\x00", -32700, "null", "not valid JSON"},
		{"lone carriage returns", ping + "\r" + ping, -32700, "null", "newline"},
		{"batch", `[` + ping + `]`, -32600, "null", "batches"},
		{"empty batch", `[]`, -32600, "null", "batches"},
		{"number", `1`, -32600, "null", "not a JSON object"},
		{"null", `null`, -32600, "null", "not a JSON object"},
		{"no request", `{"foo":1}`, -32600, "null", `"method"`},
		{"no request with id", `{"id":7}`, -32600, "7", `"method"`},
		{"no version", `{"id":7,"method":"ping"}`, -32600, "7", `"2.0"`},
		{"wrong version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, -32600, `"a"`, `"2.0"`},
		{"version as a number", `{"jsonrpc":2.0,"id":"a","method":"ping"}`, -32600, `"a"`, `"2.0"`},
		{"other case of a member", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, -32600, "1", `"method"`},
		{"method is no string", `{"jsonrpc":"2.0","id":1,"method":1}`, -32600, "1", `"method"`},
		{"method is no string, without id", `{"jsonrpc":"2.0","method":1,"params":"bar"}`, -32600, "null", `"method"`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null", `"id"`},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null", `"id"`},
		{"fraction id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5", `"id"`},
		{"id of 54 bits", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "9007199254740993", `"id"`},
		{"id beyond any number", `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, -32600, "null", `"id"`},
		{"nested 1001", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + nested(1000) + `}`, -32600, "1", "nested"},
		{"nested 20000", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + nested(20_000) + `}`, -32600, "null", "nested"},
		{"nested and never closed", strings.Repeat("[", 20_000), -32600, "null", "nested"},
		{"one byte over the limit", strings.Repeat("x", limit+1), -32600, "null", "longer than 1048576 bytes"},
		{"far over the limit", strings.Repeat(ping, limit/len(ping)*3), -32600, "null", "longer than 1048576 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := start(t.Context(), t, newServer(echo), transport.StdioOptions{MaxLine: limit})
			r.send(test.line)
			wantError(t, r.read(), test.code, test.id, test.says)
			r.send(ping)
			if got := r.read(); got != pong {
				t.Errorf("next call: got %s", got)
			}
			if more := r.end(); len(more) > 0 {
				t.Errorf("also written: %q", more)
			}
		})
	}
}

func TestGoodLinePasses(t *testing.T) {
	t.Parallel()
	full := call(`"next"`, `{"a":""}`)
	full = strings.Replace(full, `{"a":""}`, `{"a":"`+strings.Repeat("x", limit-len(full))+`"}`, 1)
	if len(full) != limit {
		t.Fatalf("the line has %d bytes", len(full))
	}
	tests := []struct{ name, input, says string }{
		{"plain", ping + "\n", `"result":{}`},
		{"CRLF", ping + "\r\n", `"result":{}`},
		{"blank lines", "\n \t\r\n\n" + ping + "\n", `"result":{}`},
		{"spaces around", "  " + ping + "\t\n", `"result":{}`},
		{"last line without newline", ping, `"result":{}`},
		{"line separator in a string", call(`"next"`, `{"a":"`+"\u2028"+`"}`) + "\n", `\u2028`},
		{"100 KB", call(`"next"`, `{"a":"`+strings.Repeat("x", 100_000)+`"}`) + "\n", "xxxx"},
		{"as long as the limit", full + "\n", "xxxx"},
		{"notification with null id", `{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}` + "\n" + ping + "\n", `"result":{}`},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/none"}` + "\n" + ping + "\n", `"result":{}`},
		{"notification that is a request", `{"jsonrpc":"2.0","method":"tools/list"}` + "\n" + ping + "\n", `"result":{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := start(t.Context(), t, newServer(echo), transport.StdioOptions{MaxLine: limit})
			if _, err := io.WriteString(r.in, test.input); err != nil {
				t.Fatal(err)
			}
			got := r.end()
			if len(got) != 1 {
				t.Fatalf("got %d lines: %.500q", len(got), got)
			}
			if a := parse(t, got[0]); string(a.ID) != `"next"` || !strings.Contains(got[0], test.says) {
				t.Errorf("got %.500s", got[0])
			}
		})
	}
}

func TestDefaultLimitTakes12MiB(t *testing.T) {
	t.Parallel()
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
	r.send(call("1", `{"a":"`+strings.Repeat("x", 12<<20)+`"}`))
	if line := r.read(); parse(t, line).Error != nil || len(line) < 12<<20 {
		t.Errorf("got %.200s", line)
	}
	r.end()
}

func TestIDComesBackUnchanged(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`0`, `-1`, `9007199254740991`, `"1"`, `""`, `"é\n\""`} {
		r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
		r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		if a := parse(t, r.read()); string(a.ID) != id {
			t.Errorf("got id %s, want %s", a.ID, id)
		}
		r.end()
	}
}

func TestResponseIsNeverAnswered(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}`,
		`{"jsonrpc":"2.0","id":99,"result":{}}`,
		`{"jsonrpc":"1.0","id":99,"result":{}}`,
		`{"jsonrpc":"2.0","id":[],"result":{}}`,
		`{"jsonrpc":"2.0","id":99,"error":"broken"}`,
		`{"jsonrpc":"2.0","id":99,"error":null}`,
		`{"jsonrpc":"2.0","id":99,"result":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
		r.send(line, ping)
		if got := r.read(); got != pong {
			t.Errorf("%.80s was answered with %s", line, got)
		}
		r.end()
	}
}

func TestHalfLineWaitsForItsRest(t *testing.T) {
	t.Parallel()
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{})
	for _, part := range []string{ping[:10], ping[10:20], ping[20:], "\n"} { // each write returns once it was read
		if len(r.lines) > 0 {
			t.Fatalf("answered half a line: %s", r.read())
		}
		if _, err := io.WriteString(r.in, part); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.read(); got != pong {
		t.Errorf("got %s", got)
	}
	r.end()
}

// Not parallel: it measures what the whole process allocates.
func TestMemoryIsBoundedOnEndlessLine(t *testing.T) {
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{MaxLine: limit})
	r.send(ping)
	r.read()
	chunk := bytes.Repeat([]byte("x"), 32<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 64 << 20 / len(chunk) {
		if _, err := r.in.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	r.send("")
	wantError(t, r.read(), -32600, "null", "longer")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8*limit {
		t.Errorf("allocated %d bytes for a line of 64 MiB and a limit of %d", got, limit)
	}
	r.send(ping)
	if got := r.read(); got != pong {
		t.Errorf("next call: got %s", got)
	}
	r.end()
}

func TestLogNamesReasonAndNoContent(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // read after the session has ended
	r := start(t.Context(), t, newServer(echo), transport.StdioOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r.send(`token=canary-3141`)
	if line := r.read(); strings.Contains(line, "canary") {
		t.Errorf("the answer repeats the line: %s", line)
	}
	r.end()
	if got := log.String(); !strings.Contains(got, "not valid JSON") || strings.Contains(got, "canary") {
		t.Errorf("log: %s", got)
	}
}

func TestBadLimitDoesNotConnect(t *testing.T) {
	t.Parallel()
	if err := transport.Serve(t.Context(), newServer(echo), transport.NewStdio(transport.StdioOptions{MaxLine: -1})); err == nil {
		t.Error("a negative limit was accepted")
	}
}
