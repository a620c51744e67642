package console

import (
	"fmt"
	"strings"
	"unicode"
)

// piece is a part of a text that callers or Discord wrote. Odd is one character
// that would be invisible, or change how what stands around it looks; it is drawn
// by its name.
type piece struct {
	Text string
	Odd  bool
}

// maxMarks is how many accents may stand on one letter before they are drawn
// apart: more of them cover the lines above and below.
const maxMarks = 4

// pieces takes a text apart. Line breaks and tabs stay.
func pieces(text string) (all []piece) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			all = append(all, piece{Text: plain.String()})
			plain.Reset()
		}
	}
	marks := 0
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		if marks <= maxMarks && !odd(r) {
			plain.WriteRune(r)
			continue
		}
		flush()
		all = append(all, piece{fmt.Sprintf("U+%04X", r), true})
	}
	flush()
	return all
}

// odd reports whether a character cannot be shown as itself.
func odd(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ' || r == 0xFE0F: // which makes a sign an emoji
		return false
	case r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0100 && r <= 0xE01EF: // other variants
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2800, r == 0x3164, r == 0xFFA0: // blanks that count as letters
		return true
	case unicode.Is(unicode.Z, r), unicode.Is(unicode.C, r):
		return true
	}
	return !unicode.IsGraphic(r)
}

// hides reports whether a text holds odd characters.
func hides(text string) bool {
	for _, p := range pieces(text) {
		if p.Odd {
			return true
		}
	}
	return false
}

// oneLine is a text of ours or a name, with nothing odd and no line break, cut.
func oneLine(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			b.WriteRune('…')
			break
		}
		if r == '\n' || r == '\t' {
			r = ' '
		}
		if odd(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
