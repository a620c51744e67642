// Package emoji reads emojis as people write them and as Discord names them.
package emoji

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Emoji is an emoji as Discord refers to it: a custom one by its id, another by
// itself as its name.
type Emoji struct {
	ID   discord.EmojiID
	Name string
}

// Of is the emoji that a text of [Read] names.
func Of(read string) Emoji {
	name, id, _ := strings.Cut(read, ":")
	return Emoji{discord.EmojiID(id), name}
}

// Same compares custom emojis by id, others without variation selectors, which
// Discord leaves out at will.
func (e Emoji) Same(other Emoji) bool {
	if e.ID != "" || other.ID != "" {
		return e.ID == other.ID
	}
	return Plain(e.Name) == Plain(other.Name)
}

// Plain is an emoji without the selector of its coloured form.
func Plain(s string) string { return strings.ReplaceAll(s, "\uFE0F", "") }

var (
	custom   = regexp.MustCompile(`^(?:<a?:)?([A-Za-z0-9_]{1,32}):([0-9]{17,20})>?$`)
	errOther = errors.New("must be one unicode emoji such as 👍, or a custom one as name:id; take the id from emojis_list_guild")
)

// Read accepts a unicode emoji, name:id, and the form of a mention. A bare
// id and a :shortcode: do not say which emoji is meant.
func Read(s string) (string, error) {
	if m := custom.FindStringSubmatch(s); m != nil && strings.HasPrefix(s, "<") == strings.HasSuffix(s, ">") && discord.CheckID(m[2]) == nil {
		return m[1] + ":" + m[2], nil
	}
	if len(s) > 64 || !Is(s) {
		return "", errOther
	}
	return s, nil
}

// Is reports whether s is one emoji as Unicode composes them: a symbol, a
// keycap, a flag, each with what modifies it, or several linked by joiners.
//
// Source: https://www.unicode.org/reports/tr51/#EBNF_and_Regex.
func Is(s string) bool {
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
