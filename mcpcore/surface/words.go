package surface

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Synonym is what people say and what the tools call it.
type Synonym struct {
	Said  string // words and phrases, comma list
	Means string // words of the tools
}

// possessive takes off what makes a plural of "the bot's".
var possessive = strings.NewReplacer("'s ", " ", "’s ", " ")

// fold is the text's words: lower case, without marks, letters and digits alone.
func fold(text string) []string {
	text = possessive.Replace(text + " ")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’': // can't is cant
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(text))
	return strings.Fields(text)
}

// asked is a request without the words in it that are data: what is quoted, and
// names of channels and people. All of it when nothing else is left.
func asked(request string) string {
	if rest := data.ReplaceAllString(request, " "); len(fold(rest)) > 0 {
		return rest
	}
	return request
}

var data = regexp.MustCompile(`"[^"]*"|“[^”]*”|[#@][\pL\pN_-]+`)

// stem takes the endings off a word that make no difference to what it is about.
// It need not be right, it must be the same for both sides.
func stem(word string) string {
	if len(word) < 4 || word == "news" {
		return word
	}
	for _, e := range endings {
		if root, ok := strings.CutSuffix(word, e.end); ok && len(root) >= 3 {
			word = root + e.by
			break
		}
	}
	if n := len(word); n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeiousl", rune(word[n-1])) {
		word = word[:n-1] // pinned, pin
	}
	return strings.TrimSuffix(word, "e") // moving, move
}

var endings = []struct{ end, by string }{
	{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}, {"ss", "ss"}, {"us", "us"}, {"s", ""},
	{"ied", "y"}, {"ing", ""}, {"ed", ""},
}

// stems are the stems of a text's words.
func stems(text string) []string {
	words := fold(text)
	for i, w := range words {
		words[i] = stem(w)
	}
	return words
}

// idle are words that say nothing about a tool.
var idle = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range stems(`a an and any are as at be been being but by can cannot could did do does doing for from had has have he her here hers him
		his i if in into is it its just let like me my now of off on once or our ours out please she so some somebody someone that the their them then
		there these they this those to too up us want was we were will with would you your yours every everyone everybody anybody something anything
		than no not need needs behind through about exactly very really that which who what whats whose how why when where whom there did show tell give
		called named have has`) {
		all[w] = true
	}
	return all
}()
