package discordtools

import (
	"bytes"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// maxFilename is how many characters of a file's name are sent.
const maxFilename = 260

// multipartBody writes a form: payload as the part payload_json, unless nil,
// then the parts in their order.
//
// Source: https://docs.discord.com/developers/reference#uploading-files.
func multipartBody(payload []byte, parts []Part) (contentType string, body []byte, err *mcpcore.Error) {
	size := len(payload) + 512
	for _, p := range parts {
		size += len(p.Data) + 512
	}
	buf := bytes.NewBuffer(make([]byte, 0, size))
	form := multipart.NewWriter(buf)
	if payload != nil {
		writePart(form, "payload_json", "", "application/json", payload)
	}
	for _, p := range parts {
		if !fieldName(p.Name) {
			return "", nil, mcpcore.Errorf(mcpcore.CodeInternal, "a form field has a name that cannot be sent")
		}
		filename, kind := "", mediaType(p.ContentType)
		if p.Filename != "" {
			filename = cleanFilename(p.Filename)
			if kind == "" {
				kind = "application/octet-stream"
			}
		}
		writePart(form, p.Name, filename, kind, p.Data)
	}
	_ = form.Close() // a bytes.Buffer takes everything
	return form.FormDataContentType(), buf.Bytes(), nil
}

func writePart(form *multipart.Writer, name, filename, kind string, data []byte) {
	h := textproto.MIMEHeader{}
	disposition := fmt.Sprintf(`form-data; name="%s"`, name)
	if filename != "" {
		disposition += fmt.Sprintf(`; filename="%s"`, filename)
	}
	h.Set("Content-Disposition", disposition)
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	w, _ := form.CreatePart(h)
	_, _ = w.Write(data)
}

// fieldName reports whether name is plain enough to stand in a header.
func fieldName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]") == ""
}

// mediaType returns a content type that is safe in a header, or "".
func mediaType(s string) string {
	kind, params, err := mime.ParseMediaType(s)
	if err != nil {
		return ""
	}
	return mime.FormatMediaType(kind, params)
}

// cleanFilename makes a caller's file name safe in a header and on a disk: the
// last element of a path, without leading dots and without control, direction
// and wildcard characters, at most [maxFilename] characters with its extension
// kept. A leading SPOILER_ stays. What leaves nothing becomes "file".
func cleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"*:<>?|\u2028\u2029", r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "file"
	}
	if over := utf8.RuneCountInString(name) - maxFilename; over > 0 {
		ext := path.Ext(name)
		if utf8.RuneCountInString(ext) > 16 {
			ext = ""
		}
		stem := []rune(strings.TrimSuffix(name, ext))
		name = string(stem[:len(stem)-over]) + ext
	}
	return name
}
