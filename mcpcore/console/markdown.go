package console

import (
	"regexp"
	"strings"
)

// block is a paragraph of a text in Discord's Markdown. Kind is h1, h2, h3, sub,
// quote, item, code or text.
type block struct {
	Kind  string
	Spans []span
}

// span is a run of a line. Kind is text, strong, em, u, s, spoiler, code,
// mention, or link, whose address is drawn beside it.
type span struct {
	Kind  string
	Text  string // of text, code and mention
	To    string // of a link
	Spans []span
}

// markdown takes a text apart as Discord draws it. What it does not know it
// leaves as text, so that nothing is lost.
func markdown(text string) (all []block) {
	var code []string
	opened, inCode := "", false
	for line := range strings.SplitSeq(text, "\n") {
		if fence := strings.HasPrefix(line, "```"); fence || inCode {
			switch {
			case fence && inCode:
				all = append(all, block{"code", []span{{Kind: "text", Text: strings.Join(code, "\n")}}})
				code, inCode = nil, false
			case fence:
				opened, inCode = line, true
				if rest := strings.TrimPrefix(line, "```"); rest != "" { // often a language
					code = append(code, rest)
				}
			default:
				code = append(code, line)
			}
			continue
		}
		kind := "text"
		for _, form := range []struct{ mark, kind string }{
			{"# ", "h1"}, {"## ", "h2"}, {"### ", "h3"}, {"-# ", "sub"}, {"> ", "quote"}, {"- ", "item"}, {"* ", "item"},
		} {
			if rest, ok := strings.CutPrefix(line, form.mark); ok {
				line, kind = rest, form.kind
				break
			}
		}
		all = append(all, block{kind, spans(line, 0)})
	}
	if inCode { // that never ends is text
		if opened == "```" {
			code = append([]string{""}, code...)
		}
		all = append(all, block{"text", []span{{Kind: "text", Text: "```" + strings.Join(code, "\n")}}})
	}
	return all
}

var (
	masked  = regexp.MustCompile(`^\[([^\[\]\n]{1,300})\]\(<?([^\s()<>]{1,512})>?\)`)
	mention = regexp.MustCompile(`^(?:<(?:@[!&]?|#|a?:[A-Za-z0-9_]{1,32}:|/[^:>\n]{1,64}:|t:)-?[0-9]{1,20}(?::[tTdDfFR])?>|@everyone|@here)`)
	address = regexp.MustCompile(`^https?://[^\s<>]{1,512}`)
)

// pairs are the marks that stand around a run, longer ones first.
var pairs = []struct{ mark, kind string }{{"**", "strong"}, {"__", "u"}, {"~~", "s"}, {"||", "spoiler"}, {"*", "em"}, {"_", "em"}}

const maxNested = 6

// spans takes a line apart.
func spans(line string, depth int) (all []span) {
	plain := 0 // where text began
	flush := func(to int) {
		if to > plain {
			all = append(all, span{Kind: "text", Text: line[plain:to]})
		}
	}
	for i := 0; i < len(line); {
		s, n := spanAt(line[i:], depth)
		if n == 0 {
			i++
			continue
		}
		flush(i)
		all = append(all, s)
		i += n
		plain = i
	}
	flush(len(line))
	return all
}

// spanAt is the run that a text begins with, and its length; 0 for plain text.
func spanAt(text string, depth int) (s span, n int) {
	switch text[0] {
	case '\\':
		if len(text) > 1 && strings.ContainsRune("\\*_~|`[<@#>-", rune(text[1])) {
			return span{Kind: "text", Text: text[1:2]}, 2
		}
	case '`':
		if end := strings.IndexByte(text[1:], '`'); end > 0 {
			return span{Kind: "code", Text: text[1 : end+1]}, end + 2
		}
	case '[':
		if m := masked.FindStringSubmatch(text); m != nil && depth < maxNested {
			return span{Kind: "link", Spans: spans(m[1], maxNested), To: m[2]}, len(m[0])
		}
	case '<', '@':
		if m := mention.FindString(text); m != "" {
			return span{Kind: "mention", Text: m}, len(m)
		}
	case 'h':
		if m := address.FindString(text); m != "" {
			return span{Kind: "link", To: m}, len(m)
		}
	case '*', '_', '~', '|':
		if depth >= maxNested {
			return s, 0
		}
		for _, p := range pairs {
			rest, ok := strings.CutPrefix(text, p.mark)
			if !ok {
				continue
			}
			if end := strings.Index(rest, p.mark); end > 0 && rest[0] != ' ' {
				return span{Kind: p.kind, Spans: spans(rest[:end], depth+1)}, end + 2*len(p.mark)
			}
		}
	}
	return s, 0
}
