package discordtools

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestMultipartOnTheWire(t *testing.T) {
	t.Parallel()
	var tries int
	c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		tries++
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		form := multipart.NewReader(r.Body, params["boundary"])
		for _, want := range []struct{ name, file, kind, data string }{
			{"payload_json", "", "application/json", `{"content":"<@1> a && b"}`},
			{"files[0]", "SPOILER_evil.png", "image/png", "PNG"},
			{"files[1]", "ü.bin", "application/octet-stream", ""},
			{"tags", "", "", "a, b"},
		} {
			part, err := form.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(part)
			_, d, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
			if d["name"] != want.name || d["filename"] != want.file || part.Header.Get("Content-Type") != want.kind || string(data) != want.data {
				t.Errorf("part %v %q %q, want %v", part.Header, d, data, want)
			}
			if part.Header.Get("X-Extra") != "" {
				t.Error("a file name made a header")
			}
		}
		if _, err := form.NextPart(); err != io.EOF {
			t.Errorf("more parts: %v", err)
		}
		return respond(200, nil, `{}`), nil
	}))
	r := sendMessage(keyChannel)
	r.Body = []byte(`{"content":"<@1> a && b"}`)
	r.Form = []Part{
		{Name: "files[0]", Filename: "../../SPOILER_ev\"il\r\nX-Extra: 1.png"[:len("../../SPOILER_ev\"il")] + ".png", ContentType: "image/png", Data: []byte("PNG")},
		{Name: "files[1]", Filename: "ü.bin\r\n", ContentType: "x\r\nX-Extra: 1"},
		{Name: "tags", Data: []byte("a, b")},
	}
	if _, err := c.Do(t.Context(), r); err != nil || tries != 1 {
		t.Error(err)
	}
}

func TestFormWithoutAPayload(t *testing.T) {
	t.Parallel()
	kind, body, err := multipartBody(nil, []Part{{Name: "name", Data: []byte("x")}})
	if err != nil || bytes.Contains(body, []byte("payload_json")) || !strings.HasPrefix(kind, "multipart/form-data; boundary=") {
		t.Errorf("%v %s\n%s", err, kind, body)
	}
}

func TestFieldNameThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a\"b", "a\r\nb", strings.Repeat("a", 65)} {
		_, _, err := multipartBody(nil, []Part{{Name: name}})
		if err == nil || err.Code != mcpcore.CodeInternal {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCleanFilename(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	for in, want := range map[string]string{
		"a.png":                         "a.png",
		"SPOILER_a b.png":               "SPOILER_a b.png",
		"/etc/passwd":                   "passwd",
		`C:\x\y.txt`:                    "y.txt",
		"a\r\nX: 1":                     "aX 1",
		`a"b.png`:                       "ab.png",
		"..":                            "file",
		"dir/":                          "file",
		"\x00\x7f":                      "file",
		"gpj\u202e.exe":                 "gpj.exe",
		"a\xffb":                        "a\uFFFDb",
		"SPOILER_" + long + ".jpeg":     "SPOILER_" + strings.Repeat("é", 247) + ".jpeg",
		long:                            strings.Repeat("é", 260),
		"x." + strings.Repeat("y", 300): "x." + strings.Repeat("y", 258),
	} {
		got := cleanFilename(in)
		if got != want || utf8.RuneCountInString(got) > maxFilename {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
