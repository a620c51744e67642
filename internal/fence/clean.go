package fence

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// name is the beginning of a tag's name, as [fold] writes it and without what
// [ignored] passes over.
type name struct {
	text  string
	whole bool // the tag's whole name: msg is one, msgpack is not
}

var (
	fenceTag   = name{text: "untrusteddiscord"}
	messageTag = name{text: "msg", whole: true}
)

// longestTag is how many characters a tag may have that is taken out whole. Of
// a longer one its beginning goes.
const longestTag = 200

// clean replaces every piece of s that could pass for an opening or closing tag
// of one of the names.
func clean(s string, names ...name) string {
	var b strings.Builder
	start := 0
	for i := 0; i < len(s); {
		width, opens := bracket(s[i:], '<')
		end := 0
		if opens {
			end = tagEnd(s[i:], width, names)
		}
		if end == 0 {
			i += width
			continue
		}
		b.WriteString(s[start:i])
		b.WriteString(filtered)
		i += end
		start = i
	}
	if start == 0 {
		return s
	}
	return b.String() + s[start:]
}

// tagEnd is where a tag of one of the names ends that s begins with, 0 when
// there is none. The bracket has width bytes.
//
// Every name is followed at once, as the set of lengths up to which it may have
// been read: in JSON "\n" is a line break, elsewhere it may be a letter.
func tagEnd(s string, width int, names []name) int {
	read := make([]uint32, len(names))
	for i := range read {
		read[i] = 1
	}
	for i := width; i < len(s); {
		if _, opens := bracket(s[i:], '<'); opens {
			return 0
		}
		r, size, escape := character(s[i:])
		i += size
		if ignored(r) {
			continue
		}
		alive := false
		for k, n := range names {
			next := n.step(read[k], fold(r))
			if escape {
				next |= read[k]
			}
			if next&(1<<len(n.text)) != 0 {
				if !n.whole || !continues(s[i:]) {
					return closing(s, i)
				}
				next &^= 1 << len(n.text)
			}
			read[k] = next
			alive = alive || next != 0
		}
		if !alive {
			return 0
		}
	}
	return 0
}

// step is the lengths read after one more piece of text.
func (n name) step(read uint32, text string) (next uint32) {
	for l := range n.text {
		if read&(1<<l) != 0 && text != "" && strings.HasPrefix(n.text[l:], text) {
			next |= 1 << (l + len(text))
		}
	}
	return next
}

// continues reports whether s goes on with a character of a name, invisible
// ones aside.
func continues(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError {
			return false // shown as a mark that ends the name
		}
		if !invisible(r) {
			return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
		}
	}
	return false
}

// closing is the end of a tag whose name ends at i: behind the closing bracket,
// or i where none is near, so that a tag that is not closed takes nothing else
// with it.
func closing(s string, i int) int {
	for at, left := i, longestTag; at < len(s) && left > 0; left-- {
		if width, closes := bracket(s[at:], '>'); closes {
			return at + width
		}
		width, opens := bracket(s[at:], '<')
		if opens || s[at] == '\n' || s[at] == '"' && endsJSON(s, at) {
			break
		}
		at += width
	}
	return i
}

// endsJSON reports whether the quote at i looks like the end of a JSON string.
func endsJSON(s string, i int) bool {
	return s[i-1] != '\\' && i+1 < len(s) && strings.IndexByte(",:}]", s[i+1]) >= 0
}

// character decodes the first character of s, which may be written as an escape
// of JSON. escape says that it is one that may as well be a letter behind a
// backslash.
func character(s string) (r rune, size int, escape bool) {
	if len(s) > 1 && s[0] == '\\' {
		switch {
		case strings.IndexByte("bfnrt", s[1]) >= 0:
			return rune(s[1]), 2, true
		case s[1] == 'u' && len(s) >= 6:
			if n, err := strconv.ParseUint(s[2:6], 16, 32); err == nil {
				return rune(n), 6, false
			}
		}
	}
	r, size = utf8.DecodeRuneInString(s)
	return r, size, false
}

// written are brackets in the escapes of HTML and JSON.
var written = map[rune]*regexp.Regexp{
	'<': regexp.MustCompile(`^(?i:&lt;|&#0*60;|&#x0*3c;|\\u003c|\\x3c)`),
	'>': regexp.MustCompile(`^(?i:&gt;|&#0*62;|&#x0*3e;|\\u003e|\\x3e)`),
}

// brackets look like the ASCII ones. What NFKD makes ASCII need not be here.
var brackets = map[rune]string{
	'<': "\u00AB\u02C2\u1438\u16B2\u2039\u226A\u227A\u2329\u276E\u2770\u27E8\u27EA\u29FC\u3008\u300A\U0001D236",
	'>': "\u00BB\u02C3\u1433\u203A\u226B\u227B\u232A\u276F\u2771\u27E9\u27EB\u29FD\u3009\u300B\U0001D237\U00016F3F",
}

// bracket reports whether s begins with what is, or looks like, the ASCII
// bracket, and the width of its first character in any case.
func bracket(s string, ascii rune) (width int, is bool) {
	r, width := utf8.DecodeRuneInString(s)
	switch {
	case r == ascii:
		return width, true
	case r == '&' || r == '\\':
		if at := written[ascii].FindString(s); at != "" {
			return len(at), true
		}
	case r > 0x7f:
		if strings.ContainsRune(brackets[ascii], r) || strings.HasPrefix(norm.NFKD.String(s[:width]), string(ascii)) {
			return width, true
		}
	}
	return width, false
}

// ignored is what a reader would overlook at the beginning of a tag.
func ignored(r rune) bool {
	return r == '/' || r == '\\' || unicode.IsSpace(r) || unicode.In(r, unicode.Pc, unicode.Pd) || invisible(r)
}

func invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsControl(r) || r == brailleBlank || r == utf8.RuneError ||
		unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lookalikes are characters that pass for the letters of the names and are not
// the same to Unicode.
//
// Source: https://www.unicode.org/reports/tr39/#Confusable_Detection, those for
// the letters that occur.
var lookalikes = letters(map[byte]string{
	'u': "\u03BC\u03C5\u028B\u057D\u1D1C\uAB52",
	'n': "\u039D\u03B7\u043F\u0438\u0274\u014B\u0578\u057C",
	't': "\u0442\u03C4\u1D1B\u0163\u01AD7+",
	'r': "\u0433\u1D26\u0280\uAB47\u027E",
	's': "\u0455\uA731\u01BD5$",
	'e': "\u0435\u0454\u04BD\u03B5\u1D07\u212E3",
	'd': "\u0501\u056A\u1D05\u0257\u13E7",
	'i': "\u0456\u03B9\u0131\u0269\u026A\u04CF\u13A5\uAB75\u05C0l1|!",
	'c': "\u0441\u03C2\u03F2\u1D04\u2CA5",
	'o': "\u043E\u03BF\u03C3\u0585\u1D0F\u05E1\u10FF\u2C9F0",
	'm': "\u039C\u043C\u1D0D",
	'g': "\u0581\u0261\u0262\u018D\u1D839",
})

func letters(of map[byte]string) map[rune]string {
	m := map[rune]string{}
	for letter, alike := range of {
		for _, r := range alike {
			m[r] = string(letter)
		}
	}
	return m
}

// fold is the plain small letters that r passes for.
func fold(r rune) string {
	if letter, ok := lookalikes[r]; ok {
		return letter
	}
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	for _, block := range [...]rune{0x1F150, 0x1F170, 0x1F1E6} { // letters in black circles, in black squares, of flags
		if r >= block && r < block+26 {
			r = 'a' + r - block
		}
	}
	var b strings.Builder
	for _, plain := range strings.ToLower(norm.NFKD.String(string(r))) {
		if letter, ok := lookalikes[plain]; ok {
			b.WriteString(letter)
		} else if !ignored(plain) {
			b.WriteRune(plain)
		}
	}
	return b.String()
}
