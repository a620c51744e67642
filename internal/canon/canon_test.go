package canon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/canon"
)

func tree(t testing.TB, raw []byte) (any, bool) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	return v, dec.Decode(&v) == nil && !dec.More()
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`null`: `null`, `true`: `true`, ` false `: `false`, `""`: `""`, `[]`: `[]`, `{}`: `{}`,
		`{"b":1,"a":{"d":[2,1],"c":null}}`:        `{"a":{"c":null,"d":[2,1]},"b":1}`,
		`[1, 1.0, 1e2, -0, 12345678901234567890]`: `[1,1.0,1e2,-0,12345678901234567890]`,
		`"<@1> a && b <https://x/?a=1&b=2>"`:      `"<@1> a && b <https://x/?a=1&b=2>"`,
		`"\u003c\u0041\/\u00e9\ud83d\ude00"`:      `"<A/é😀"`,
		`"\"\\\n\r\t\b\u0000\u001f\u007f"`:        `"\"\\\n\r\t\u0008\u0000\u001f` + "\x7f" + `"`,
		`"\u2028"`:                                "\"\u2028\"",
		`"\ud800"`:                                "\"\ufffd\"",
		`{"é":1,"z":2,"a":3,"A":4}`:               `{"A":4,"a":3,"z":2,"é":1}`,
	} {
		v, ok := tree(t, []byte(raw))
		if !ok {
			t.Fatalf("%s is not JSON", raw)
		}
		if got := string(canon.Append(nil, v)); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
	if got := string(canon.Append([]byte("x"), "y")); got != `x"y"` {
		t.Errorf("it does not append: %s", got)
	}
	if got := string(canon.AppendString(nil, "a\xffb")); got != "\"a\ufffdb\"" {
		t.Errorf("invalid UTF-8 becomes %q", got)
	}
}

func TestAppendOfWhatIsNoTree(t *testing.T) {
	t.Parallel()
	for _, v := range []any{1, 1.5, []string{"a"}, map[string]string{}, struct{}{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was written", v)
				}
			}()
			canon.Append(nil, v)
		}()
	}
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	got, err := canon.Marshal(map[string]string{"a": "<@1> && \n"})
	if err != nil || string(got) != `{"a":"<@1> && \n"}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := canon.Marshal(make(chan int)); err == nil {
		t.Error("a channel was written")
	}
}

// FuzzAppend: the canonical form is JSON, reads as the same value, and is its
// own canonical form.
func FuzzAppend(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,"x"],"a":null}`, `"\ud800\u2028<>&"`, `[[],{},""]`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, ok := tree(t, raw)
		if !ok {
			return
		}
		first := canon.Append(nil, v)
		if !json.Valid(first) || !utf8.Valid(first) {
			t.Fatalf("%q becomes %q, which is not JSON", raw, first)
		}
		again, ok := tree(t, first)
		if !ok {
			t.Fatalf("%q does not read", first)
		}
		if second := canon.Append(nil, again); !bytes.Equal(first, second) {
			t.Errorf("%q becomes %q, then %q", raw, first, second)
		}
	})
}

// FuzzAppendString: what Go's encoder writes and what we write read the same.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\u2028<>&\xff😀")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(canon.AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); got != want {
			t.Errorf("%q reads as %q, want %q", s, got, want)
		}
	})
}
