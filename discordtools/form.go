package discordtools

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

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
	"emoji":    {readEmoji},
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

var (
	customEmoji = regexp.MustCompile(`^(?:<a?:)?([A-Za-z0-9_]{1,32}):([0-9]{17,20})>?$`)
	errEmoji    = errors.New("must be one unicode emoji such as 👍, or a custom one as name:id; take the id from emojis_list_guild")
)

// readEmoji accepts a unicode emoji, name:id, and the form of a mention. A bare
// id and a :shortcode: do not say which emoji is meant.
func readEmoji(s string) (string, error) {
	if m := customEmoji.FindStringSubmatch(s); m != nil && strings.HasPrefix(s, "<") == strings.HasSuffix(s, ">") && discord.CheckID(m[2]) == nil {
		return m[1] + ":" + m[2], nil
	}
	if len(s) > 64 || !isEmoji(s) {
		return "", errEmoji
	}
	return s, nil
}

// isEmoji reports whether s is one emoji as Unicode composes them: a symbol, a
// keycap, a flag, each with what modifies it, or several linked by joiners.
//
// Source: https://www.unicode.org/reports/tr51/#EBNF_and_Regex.
func isEmoji(s string) bool {
	const joiner, selector, keycap = '\u200D', '\uFE0F', '\u20E3'
	for {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch next, width := utf8.DecodeRuneInString(s); {
		case r >= '0' && r <= '9' || r == '#' || r == '*':
			s = strings.TrimPrefix(s, string(selector))
			return s == string(keycap)
		case isRegion(r):
			return isRegion(next) && len(s) == width
		case !isSymbol(r):
			return false
		}
		s = strings.TrimLeftFunc(s, func(r rune) bool { return r == selector || r >= 0x1F3FB && r <= 0x1F3FF })
		if tags, tagged := strings.CutSuffix(s, "\U000E007F"); tagged { // those of a regional flag
			return tags != "" && strings.TrimLeftFunc(tags, func(r rune) bool { return r >= 0xE0020 && r <= 0xE007E }) == ""
		}
		if s == "" {
			return true
		}
		var linked bool
		if s, linked = strings.CutPrefix(s, string(joiner)); !linked {
			return false
		}
	}
}

func isRegion(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// isSymbol reports whether emoji can begin with r: the blocks that hold them,
// so that emoji newer than this code pass.
func isSymbol(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2190 && r <= 0x21FF, r >= 0x2300 && r <= 0x27BF, r >= 0x2900 && r <= 0x297F, r >= 0x2B00 && r <= 0x2BFF:
		return true
	}
	return strings.ContainsRune("©®‼⁉™ℹ〰〽㊗㊙", r)
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
