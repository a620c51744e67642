package discordtools

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// form is a text argument that is written in several ways and sent in one.
type form struct {
	// read gives the way it is sent, or says what is accepted.
	read func(s string) (string, error)
}

// forms are the values of the tag as.
var forms = map[string]form{
	"emoji":    {emoji.Read},
	"image":    {readImage},
	"invite":   {readInvite},
	"moment":   {readMoment},
	"sound":    {readSound},
	"template": {readTemplate},
}

// rule checks the argument before anything is read or sent: its form, and for
// what carries data also the data and their size.
func (p placed) rule() mcpcore.Rule {
	return mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
		s := call.Text(p.name)
		if s == "" {
			return nil
		}
		issue := func(code string, err error) *mcpcore.Issue {
			return &mcpcore.Issue{Path: p.name, Message: err.Error(), Code: code}
		}
		if p.as != nil {
			if _, err := p.as.read(s); err != nil {
				return issue(mcpcore.IssueFormat, err)
			}
		}
		if p.in != "formfile" && p.maxBytes == 0 {
			return nil
		}
		_, data, err := decodeDataURI(s)
		switch {
		case err != nil:
			return issue(mcpcore.IssueFormat, err)
		case len(data) == 0:
			return issue(mcpcore.IssueSmall, errors.New("must not be empty"))
		case p.maxBytes > 0 && len(data) > p.maxBytes:
			return issue(mcpcore.IssueBig, errors.New(tooBig(len(data), p.maxBytes)))
		}
		return nil
	}}
}

var inviteCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// readInvite accepts an invite's code alone. The call is checked for the guild
// of the code as it was given, so an address is not turned into one here.
func readInvite(s string) (string, error) {
	switch {
	case inviteCode.MatchString(s):
		return s, nil
	case strings.Contains(s, "discord.gg/") || strings.Contains(s, "/invite/"):
		return "", errors.New("must be the invite's code alone, which is the last part of its address")
	}
	return "", errors.New("must be an invite's code: 1 to 32 letters, digits and hyphens")
}

// readMoment accepts the id of what was made at a moment, or the moment itself,
// which becomes the id of what is made then.
func readMoment(s string) (string, error) {
	if discord.CheckID(s) == nil {
		return s, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return "", errors.New("must be an id of 17 to 20 digits, or a time with its offset such as 2026-03-14T15:09:26Z")
	}
	return discord.IDAt(t), nil
}

var templateCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// readTemplate accepts a template's code and its address. The guard that tells
// the guild of a template reads it in the same way.
func readTemplate(s string) (string, error) {
	code := strings.TrimPrefix(s, templateAddress)
	if !templateCode.MatchString(code) {
		return "", errors.New("must be a template's code, or " + templateAddress + " and the code")
	}
	return code, nil
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
	if data, err = decodeBase64(s[len(m[0]):]); err != nil {
		return "", nil, errors.New("its base64 is broken")
	}
	return m[1], data, nil
}

// decodeBase64 takes the standard alphabet with padding and no line breaks, as
// Discord does.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("base64 with line breaks")
	}
	return base64.StdEncoding.Strict().DecodeString(s)
}
