package discordtools

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// form is a text argument that is written in several ways and sent in one.
type form struct {
	// read gives the way it is sent, or says what is accepted.
	read func(s string) (string, error)
}

// forms are the values of the tag as.
var forms = map[string]form{
	"emoji": {readEmoji},
	"image": {readImage},
}

func (f form) rule(name string) mcpcore.Rule {
	return mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
		s := call.Text(name)
		if s == "" {
			return nil
		}
		if _, err := f.read(s); err != nil {
			return &mcpcore.Issue{Path: name, Message: err.Error(), Code: mcpcore.IssueFormat}
		}
		return nil
	}}
}

var (
	customEmoji = regexp.MustCompile(`^(?:<a?:)?([A-Za-z0-9_]{1,32}):([0-9]{17,20})>?$`)
	errEmoji    = errors.New("must be a unicode emoji such as 👍, or a custom one as name:id; take the id from emojis_list_guild")
)

// readEmoji accepts a unicode emoji, name:id, and the form of a mention. A bare
// id and a :shortcode: do not say which emoji is meant.
func readEmoji(s string) (string, error) {
	if m := customEmoji.FindStringSubmatch(s); m != nil && strings.HasPrefix(s, "<") == strings.HasSuffix(s, ">") {
		return m[1] + ":" + m[2], nil
	}
	if !utf8.ValidString(s) || len(s) > 64 {
		return "", errEmoji
	}
	exotic := false
	for _, r := range s {
		switch {
		case r <= ' ' || r == '/' || r == '%' || r == ':' || r == '<' || r == '>' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			return "", errEmoji
		case r > 0x7f:
			exotic = true
		}
	}
	if !exotic {
		return "", errEmoji
	}
	return s, nil
}

var dataURI = regexp.MustCompile(`^data:([a-z]+/[a-z0-9.+-]+);base64,`)

// readImage demands a data URI of an image that Discord takes.
func readImage(s string) (string, error) {
	kind, data, err := decodeDataURI(s)
	if err != nil {
		return "", err
	}
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif":
	default:
		return "", fmt.Errorf("must be an image of type png, jpeg, gif, webp or avif, this is %.40s", kind)
	}
	if len(data) == 0 {
		return "", errors.New("must not be empty")
	}
	return s, nil
}

// decodeDataURI splits data:TYPE;base64,DATA.
func decodeDataURI(s string) (kind string, data []byte, err error) {
	m := dataURI.FindStringSubmatch(s)
	if m == nil {
		return "", nil, errors.New("must be a data URI such as data:image/png;base64,…; paths and addresses are not read")
	}
	data, err = base64.StdEncoding.Strict().DecodeString(s[len(m[0]):])
	if err != nil {
		return "", nil, errors.New("its base64 is broken")
	}
	return m[1], data, nil
}
