package discordtools_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// sentFile is a file as Discord saw it.
type sentFile struct {
	part, name, kind string
	data             []byte
}

// sentFiles reads the form of the last request: what it says of the attachments,
// and the files.
func sentFiles(t *testing.T, world *sandbox.Discord) (attachments []map[string]string, files []sentFile) {
	t.Helper()
	requests := world.Writes()
	last := requests[len(requests)-1]
	_, params, err := mime.ParseMediaType(last.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for form := multipart.NewReader(bytes.NewReader(last.Body), params["boundary"]); ; {
		part, err := form.NextPart()
		if err == io.EOF {
			return attachments, files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		if part.FormName() == "payload_json" {
			var payload struct {
				Attachments []map[string]string `json:"attachments"`
			}
			if err := json.Unmarshal(data, &payload); err != nil {
				t.Fatal(err)
			}
			attachments = payload.Attachments
			continue
		}
		if len(part.Header) != 2 {
			t.Errorf("part with headers %v", part.Header)
		}
		_, d, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			t.Errorf("disposition %q: %v", part.Header.Get("Content-Disposition"), err)
		}
		files = append(files, sentFile{part.FormName(), d["filename"], part.Header.Get("Content-Type"), data})
	}
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func withFile(name, data string) string {
	quoted, _ := json.Marshal(name)
	return `{"channel_id":` + id(general) + `,"files":[{"name":` + string(quoted) + `,"data":` + id(data) + `}]}`
}

// L62 Upload of any local file
func TestL62FileNamesAreCleaned(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"map.png":                               "map.png",
		"../../x.png":                           "x.png",
		`..\..\x.png`:                           "x.png",
		"/etc/x.png":                            "x.png",
		"C:x.png":                               "Cx.png",
		"x\r\nX-Extra: 1.png":                   "xX-Extra 1.png",
		`x"; filename="y.png`:                   "x; filename=y.png",
		"SPOILER_x.png":                         "SPOILER_x.png",
		".htaccess":                             "htaccess",
		"..":                                    "file",
		"...":                                   "file",
		"/":                                     "file",
		"a/":                                    "file",
		"\x00":                                  "file",
		"<|?*>":                                 "file",
		"Übersicht (2).png":                     "Übersicht (2).png",
		strings.Repeat("ü", 256) + ".png":       strings.Repeat("ü", 256) + ".png",
		"dir/" + strings.Repeat("x", 250) + ".": strings.Repeat("x", 250) + ".",
	} {
		b := start(t)
		if a := b.call("messages_send", withFile(given, base64Of("png"))); a.code != "" {
			t.Errorf("%q: code %q: %s", given, a.code, a.text)
			continue
		}
		attachments, files := sentFiles(t, b.world)
		if len(files) != 1 || files[0].part != "files[0]" || files[0].name != want || string(files[0].data) != "png" {
			t.Errorf("%q was sent as %q, want %q", given, files, want)
		}
		if len(attachments) != 1 || attachments[0]["filename"] != want || attachments[0]["id"] != "0" {
			t.Errorf("%q is attached as %v, want %q", given, attachments, want)
		}
	}
}

// L62 Upload of any local file, L63 Server fetches a URL for the caller
func TestL62FilesAreDataOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, data := range []string{
		"../../secrets/id_demo", "/etc/hostname", "./upload_test.go", "file:///etc/hostname", "https://lighthouse.example/map.png", "http://169.254.169.254/",
		"eA=", "eA", "eB==", "eHh4\neHh4", "eHh4 eHh4", "data:image/png;base64,eA=", "data:image/png,x", "data:image/png;base64,/etc/hostname", "upload.go",
	} {
		a := b.call("messages_send", withFile("x.png", data))
		if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "files.0.data") || !strings.Contains(a.text, "base64") && !strings.Contains(a.text, "not read") {
			t.Errorf("%q: code %q: %s", data, a.code, a.text)
		}
	}
	if a := b.call("messages_send", withFile(strings.Repeat("x", 300), base64Of("png"))); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "at most 260 characters") {
		t.Errorf("300 characters: code %q: %s", a.code, a.text)
	}
	if a := b.call("messages_send", withFile("x.png", base64Of(strings.Repeat("x", 10<<20+1)))); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "at most 10485760") {
		t.Errorf("too large: code %q: %.300s", a.code, a.text)
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// TestFileTypes shows that both ways of writing a file's data are the same, and
// that the name decides on its type.
func TestFileTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, data, kind string }{
		{"x.png", base64Of("abc"), "image/png"},
		{"x.png", "data:image/gif;base64," + base64Of("abc"), "image/png"},
		{"x", base64Of("abc"), "application/octet-stream"},
	} {
		b := start(t)
		b.call("messages_send", withFile(c.name, c.data))
		if _, files := sentFiles(t, b.world); len(files) != 1 || files[0].kind != c.kind || string(files[0].data) != "abc" {
			t.Errorf("%s %s was sent as %q, want %s", c.name, c.data, files, c.kind)
		}
	}
}
