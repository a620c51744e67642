package sandbox

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
)

// upload is a part of a multipart body that is not the JSON.
type upload struct {
	field       string // "files[0]"
	index       int    // n of files[n]; -1 for another field
	name        string // file name; "" for a plain field
	contentType string
	data        []byte
}

// maxUpload is what a file may hold in a guild that is not boosted.
const maxUpload = 10 << 20

var errMultipart = badRequest(50035, "Invalid multipart body")

// parts reads a body: JSON, or a multipart form whose payload_json is the JSON.
func (x *exchange) parts(contentType string, body []byte) error {
	kind, params, _ := mime.ParseMediaType(contentType)
	if kind != "multipart/form-data" {
		if len(body) > 0 && kind != "application/json" {
			return invalid("", "CONTENT_TYPE_INVALID", `Expected "Content-Type" header to be one of {'application/json'}.`)
		}
		x.body = body
		return nil
	}
	form := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errMultipart
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return errMultipart
		}
		if part.FormName() == "payload_json" {
			x.body = data
			continue
		}
		if part.FileName() != "" && len(data) > maxUpload {
			return errTooLarge
		}
		x.files = append(x.files, upload{
			field: part.FormName(), index: fileIndex(part.FormName()), name: part.FileName(),
			contentType: part.Header.Get("Content-Type"), data: data,
		})
	}
}

func fileIndex(field string) int {
	digits, ok := strings.CutPrefix(field, "files[")
	if n, err := strconv.Atoi(strings.TrimSuffix(digits, "]")); ok && err == nil && n >= 0 {
		return n
	}
	return -1
}
