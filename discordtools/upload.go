package discordtools

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// upload is a file that the caller passes as data. Nothing is ever read from a
// path or fetched from an address.
type upload struct {
	Name        string `json:"name" jsonschema:"file name" minLength:"1" maxLength:"260"`
	Data        string `json:"data" jsonschema:"its bytes as base64 or a data URI; paths and addresses are not read" minLength:"1"`
	Description string `json:"description,omitempty" jsonschema:"alt text" maxLength:"1024"`
}

// maxUpload is Discord's limit for one file without boosts.
//
// Source: https://docs.discord.com/developers/reference#uploading-files.
const maxUpload = 10 << 20

func (u upload) bytes() ([]byte, error) {
	if strings.HasPrefix(u.Data, "data:") {
		_, data, err := decodeDataURI(u.Data)
		return data, err
	}
	data, err := decodeBase64(u.Data)
	if err != nil {
		return nil, errors.New("must be base64 or a data URI; paths and addresses are not read")
	}
	return data, nil
}

// attach makes parts of the files, and what the body says of them as its
// attachments. path is where the files stand in the arguments.
func attach(path string, files []upload) (parts []Part, attachments json.RawMessage, err error) {
	parts, list := make([]Part, len(files)), make([]any, len(files))
	for i, f := range files {
		issue := mcpcore.Issue{Path: fmt.Sprintf("%s.%d.data", path, i), Code: mcpcore.IssueFormat}
		data, err := f.bytes()
		if err != nil {
			issue.Message = err.Error()
			return nil, nil, mcpcore.Invalid(issue)
		}
		if len(data) > maxUpload {
			issue.Message, issue.Code = tooBig(len(data), maxUpload), mcpcore.IssueBig
			return nil, nil, mcpcore.Invalid(issue)
		}
		name := cleanFilename(f.Name)
		parts[i] = Part{Name: fmt.Sprintf("files[%d]", i), Filename: name, ContentType: contentType(name), Data: data}
		about := map[string]any{"id": strconv.Itoa(i), "filename": name}
		if f.Description != "" {
			about["description"] = f.Description
		}
		list[i] = about
	}
	return parts, canon.Append(nil, list), nil
}

func tooBig(size, limit int) string {
	return fmt.Sprintf("has %d bytes, Discord takes at most %d", size, limit)
}

// formFile is the one file of a form, from a data URI.
func formFile(field, name, uri string) (Part, error) {
	kind, data, err := decodeDataURI(uri)
	if err != nil {
		return Part{}, err
	}
	ext := ".bin"
	switch kind {
	case "image/png", "image/apng":
		ext = ".png"
	case "image/gif":
		ext = ".gif"
	case "application/json":
		ext = ".json"
	}
	return Part{Name: field, Filename: name + ext, ContentType: kind, Data: data}, nil
}

// contentType is what a file's name says of its type.
func contentType(name string) string {
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
