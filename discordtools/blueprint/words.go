package blueprint

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Capability is something that a request asks for, or that a template has.
type Capability string

// capabilities are the capabilities, in the order of reports, with the words
// that stand for them in a request. The words of Vietnamese are without marks.
var capabilities = []struct {
	name  Capability
	words string
}{
	{"gaming", "gaming, game, games, gamer, gamers, choi game, tro choi, video game, esport, esports, fivem, roblox, minecraft, fortnite"},
	{"community", "community, communities, cong dong"},
	{"roleplay", "roleplay, role play, rp, nhap vai"},
	{"lfg", "lfg, looking for group, squad, teammate, team up, tim dong doi, tim team, tim nguoi choi"},
	{"platform", "platform, pc, mobile, console, playstation, xbox, switch, nen tang"},
	{"staff", "staff, moderation, moderator, moderators, admin, administrator, quan tri"},
	{"support", "support, help, ticket, tickets, troubleshooting, tro giup"},
	{"events", "event, events, tournament, tournaments, contest, su kien, giai dau"},
	{"technology", "technology, tech, coding, code, developer, developers, programming, software, open source, opensource, artificial intelligence, cong nghe"},
	{"learning", "learning, learn, education, study, course, courses, hoc tap"},
	{"art", "art, design, drawing, artist, artists, nghe thuat"},
	{"music", "music, song, spotify, musician, musicians, nhac"},
	{"voice", "voice, voice chat, call, vc, thoai"},
	{"forum", "forum, discussion, discussions, dien dan"},
}

// Capabilities lists all, in the order of reports.
func Capabilities() []Capability {
	all := make([]Capability, len(capabilities))
	for i, c := range capabilities {
		all[i] = c.name
	}
	return all
}

// Asked are the capabilities that a text asks for, by whole words.
func Asked(text string) []Capability {
	return Matched(text, func(c Capability) string { return wordsOf(c) })
}

func wordsOf(c Capability) string {
	for _, of := range capabilities {
		if of.name == c {
			return of.words
		}
	}
	return ""
}

// Matched are the capabilities of whose words the text has one. words is a comma
// list, "" for a capability that is not looked for.
func Matched(text string, words func(Capability) string) []Capability {
	found, plain := []Capability{}, " "+Plain(text)+" "
	for _, c := range capabilities {
		if has(plain, words(c.name)) {
			found = append(found, c.name)
		}
	}
	return found
}

// has reports whether a plain text between spaces has one of the words.
func has(plain, words string) bool {
	for w := range strings.SplitSeq(words, ",") {
		if w = strings.TrimSpace(w); w != "" && strings.Contains(plain, " "+w+" ") {
			return true
		}
	}
	return false
}

// Plain is a text in lower case, without marks, its words apart by one space.
func Plain(text string) string {
	text = strings.NewReplacer("đ", "d", "Đ", "d").Replace(text)
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r), unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(text))
	return strings.Join(strings.Fields(text), " ")
}

// vietnamese reports whether a request is Vietnamese or asks for it.
func vietnamese(text string) bool {
	if has(" "+Plain(text)+" ", "vietnamese, tieng viet, viet nam") {
		return true
	}
	letters := "ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
	return strings.ContainsFunc(strings.ToLower(norm.NFC.String(text)), func(r rune) bool { return strings.ContainsRune(letters, r) })
}

// with is a list with more capabilities, each once and in the order of reports.
func with(list []Capability, more ...Capability) []Capability {
	all := []Capability{}
	for _, c := range Capabilities() {
		if slices.Contains(list, c) || slices.Contains(more, c) {
			all = append(all, c)
		}
	}
	return all
}
