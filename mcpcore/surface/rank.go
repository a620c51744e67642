package surface

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// The fields of a tool that are searched, with what a word in them counts. How
// long a field is counts against it.
const (
	inName = iota
	inTitle
	inSummary
	inDoc
	inCategory
	inArgs
	inArgDocs
	fields
)

var weight = [fields]float64{inName: 3, inTitle: 3, inSummary: 1.5, inDoc: 0.5, inCategory: 1.5, inArgs: 0.8, inArgDocs: 0.3}

// common is how much a word's standing in a field makes it common. What a word is
// rare in are names: arguments speak of channels and guilds everywhere.
var common = [fields]float64{inName: 1, inTitle: 1, inSummary: 0.5, inDoc: 0.25, inCategory: 1, inArgs: 0.25, inArgDocs: 0.25}

// saturation is how soon more of the same word stops to count.
const saturation = 1.6

// index ranks tools by words: BM25 over several fields.
type index struct {
	tools    []*mcpcore.Tool
	named    map[string]*mcpcore.Tool // by the words of the name
	does     []action                 // by tool
	title    [][]string               // its words
	counts   [][fields]map[string]int // of stems, by tool
	length   [][fields]int
	mean     [fields]float64
	rarity   map[string]float64 // of each stem
	nouns    map[string]bool    // what the categories are about
	synonyms []synonym          // longest first
}

type synonym struct {
	said  []string // stems
	means []string
}

func newIndex(tools []*mcpcore.Tool, synonyms []Synonym) *index {
	x := &index{tools: tools, rarity: map[string]float64{}, nouns: map[string]bool{}}
	x.counts, x.length = make([][fields]map[string]int, len(tools)), make([][fields]int, len(tools))
	x.named, x.does, x.title = make(map[string]*mcpcore.Tool, len(tools)), make([]action, len(tools)), make([][]string, len(tools))
	for i, t := range tools {
		x.title[i], x.does[i] = fold(t.Title), does(t)
		x.named[strings.Join(fold(t.Name), " ")] = t
		in := map[string]float64{}
		for f, text := range texts(t) {
			words := stems(text)
			x.counts[i][f] = map[string]int{}
			x.length[i][f] = len(words)
			x.mean[f] += float64(len(words)) / float64(len(tools))
			for _, w := range words {
				x.counts[i][f][w]++
				in[w] = max(in[w], common[f])
				if f == inCategory {
					x.nouns[w] = true
				}
			}
		}
		for w, n := range in {
			x.rarity[w] += n
		}
	}
	for w, n := range x.rarity {
		x.rarity[w] = math.Pow(math.Log(1+(float64(len(tools))-n+0.5)/(n+0.5)), 0.75)
	}
	for _, s := range synonyms {
		for said := range strings.SplitSeq(s.Said, ",") {
			x.synonyms = append(x.synonyms, synonym{said: stems(said), means: stems(s.Means)})
		}
	}
	slices.SortStableFunc(x.synonyms, func(a, b synonym) int { return cmp.Compare(len(b.said), len(a.said)) })
	return x
}

// texts are the fields of a tool.
func texts(t *mcpcore.Tool) (all [fields]string) {
	all[inName], all[inTitle], all[inCategory] = t.Name, t.Title, t.Category
	doc := strings.Join(strings.Fields(t.Doc), " ")
	all[inSummary], all[inDoc], _ = strings.Cut(doc, ". ")
	var input struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema(), &input) == nil {
		for name, p := range input.Properties {
			all[inArgs] += " " + name
			all[inArgDocs] += " " + p.Description
		}
	}
	return all
}

// term is a word that is looked for and what it counts.
type term struct {
	stem string
	by   float64
}

// terms are what a query looks for: its words, and what they mean.
func (x *index) terms(query string) []term {
	words := stems(query)
	var found []term
	add := func(stem string, by float64) {
		for i := range found {
			if found[i].stem == stem {
				found[i].by = max(found[i].by, by)
				return
			}
		}
		found = append(found, term{stem, by})
	}
	covered := make([]bool, len(words)) // by a phrase
	for _, s := range x.synonyms {
		for at := 0; at+len(s.said) <= len(words); at++ {
			if !slices.Equal(words[at:at+len(s.said)], s.said) || len(s.said) == 1 && covered[at] {
				continue
			}
			by := meant / math.Pow(float64(len(s.means)), 0.35)
			if x.modifies(words, at+len(s.said)) {
				by *= modifier
			}
			for _, m := range s.means {
				add(m, by)
			}
			for i := range s.said {
				covered[at+i] = covered[at+i] || len(s.said) > 1
			}
		}
	}
	for i, w := range words {
		switch {
		case idle[w]:
		case actions[w] != acts && !telling[w]:
			add(w, verb)
		case covered[i]:
			add(w, asides)
		case x.modifies(words, i+1):
			add(w, modifier)
		default:
			add(w, 1)
		}
	}
	return found
}

// modifies reports whether the word before the place only says more of the one
// there: a role in "the event role".
func (x *index) modifies(words []string, at int) bool {
	return at < len(words) && x.nouns[words[at]] && !idle[words[at]]
}

const (
	meant    = 0.9  // what a word means, beside the word
	asides   = 0.4  // a word of a phrase that means something of its own
	modifier = 0.6  // a word before another that it only says more of
	verb     = 0.05 // a word that says what is done

	subject = 1.15 // a tool of the category that is spoken of
	titled  = 0.3  // what a title that says just that adds
	strange = 0.95 // a word in a tool's name that nobody asked for
)

// hit is a tool that was found.
type hit struct {
	tool  *mcpcore.Tool
	score float64
	named bool // the query is its name
}

// search is the tools that a query may mean, the likeliest first. A query that is
// a tool's name means that tool alone.
func (x *index) search(query string) []hit {
	if t := x.named[strings.Join(fold(query), " ")]; t != nil {
		return []hit{{tool: t, named: true}}
	}
	query = asked(query)
	terms, wants, many := x.terms(query), x.asks(query), several(fold(query))
	wanted := 0.0
	for _, q := range terms {
		wanted += q.by * x.rarity[q.stem]
	}
	var hits []hit
	for i, t := range x.tools {
		score, met := 0.0, 0.0
		for _, q := range terms {
			if s := x.score(i, q.stem); s > 0 {
				score += q.by * x.rarity[q.stem] * s
				met += q.by * x.rarity[q.stem]
			}
		}
		if score > 0 {
			hits = append(hits, hit{tool: t, score: score * (0.4 + 0.6*met/wanted) * agree(wants, x.does[i]) * x.number(i, many) * x.fit(i, terms)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool.Effect, b.tool.Effect), cmp.Compare(a.tool.Name, b.tool.Name))
	})
	return hits
}

// fit is more than 1 where a tool's category is what is spoken of and its title
// says no more than was asked, and less where it is called after other things.
func (x *index) fit(i int, terms []term) float64 {
	asked := func(w string) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.stem == w && t.by > modifier })
	}
	by := 1.0
	for w := range x.counts[i][inCategory] {
		if asked(w) {
			by = subject
		}
	}
	met, all := 0, 0
	for w := range x.counts[i][inTitle] {
		if !idle[w] && actions[w] == acts {
			all++
			if asked(w) {
				met++
			}
		}
	}
	if all > 0 {
		by *= 1 + titled*float64(met)/float64(all)
	}
	for w := range x.counts[i][inName] {
		if !asked(w) && !idle[w] && actions[w] == acts && x.counts[i][inCategory][w] == 0 {
			by *= strange
		}
	}
	return by
}

// score is how much a tool is about a word, 0 to 1.
func (x *index) score(i int, word string) float64 {
	sum := 0.0
	for f := range fields {
		if n := x.counts[i][f][word]; n > 0 {
			sum += weight[f] * float64(n) / (0.4 + 0.6*float64(x.length[i][f])/x.mean[f])
		}
	}
	return sum / (sum + saturation)
}
