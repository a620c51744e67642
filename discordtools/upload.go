package discordtools

import (
	"errors"
	"fmt"
	"mime"
	"path"
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

// attach adds the files as parts and their descriptions as the body's
// attachments.
func attach(r *Request, body *object, uploads []upload) error {
	list := make([]any, len(uploads))
	for i, u := range uploads {
		data, err := u.bytes()
		if err == nil && len(data) > maxUpload {
			err = fmt.Errorf("has %d bytes, Discord takes at most %d", len(data), maxUpload)
		}
		if err != nil {
			return mcpcore.Invalid(mcpcore.Issue{Path: fmt.Sprintf("files.%d.data", i), Message: err.Error(), Code: mcpcore.IssueFormat})
		}
		name := cleanName(u.Name)
		r.Form = append(r.Form, Part{Name: fmt.Sprintf("files[%d]", i), Filename: name, ContentType: contentType(name), Data: data})
		meta := map[string]any{"id": fmt.Sprint(i), "filename": name}
		if u.Description != "" {
			meta["description"] = u.Description
		}
		list[i] = meta
	}
	body.set("attachments", canon.Append(nil, list))
	return nil
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

// cleanName keeps the last element of a name and drops what a header or a file
// system could take for something else.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`"*:<>?|`, r) {
			return -1
		}
		return r
	}, name)
	if name = strings.TrimLeft(name, "."); name == "" || name == "/" {
		return "file"
	}
	return name
}

func contentType(name string) string {
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
