package discordtools

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// inspiration looks for ideas outside Discord, and is off until the operator
// names an address. It sends nothing of Discord anywhere.
//
// Source: https://emoji.gg/api/.
func inspiration() category {
	return category{Name: "inspiration", Scope: mcpcore.ExternalScope, Tools: []declaration{
		read[emojiSearch, emojiIdeas]{
			Name:  "inspiration_emoji_gg_search",
			Title: "Search emoji.gg",
			Doc: `Searches emoji.gg's public list for emojis by name. Whether one may be used is for a person
				to check on its page; to add it to a guild use emojis_create with the image's data.`,
			Anonymous: true,
			Fence:     fence.Embed,
			Run:       searchEmojiGG,
		},
	}}
}

type emojiSearch struct {
	Query string `json:"query" in:"local" jsonschema:"words of a name" minLength:"1" maxLength:"80"`
	Limit int    `json:"limit,omitempty" in:"local" jsonschema:"how many at most" minimum:"1" maximum:"20" default:"8"`
}

type emojiIdeas struct {
	Provider   string      `json:"provider_url"`
	Candidates []emojiIdea `json:"candidates"`
	Count      int         `json:"count"`
	Review     bool        `json:"license_review_required"`
}

type emojiIdea struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Image    string  `json:"image_url"`
	Page     string  `json:"page_url"`
	Animated bool    `json:"animated"`
	License  *string `json:"license_code"`
}

func searchEmojiGG(ctx context.Context, a *api, in emojiSearch) (v emojiIdeas, err error) {
	all, err := a.emojiGG.list(ctx)
	if err != nil {
		return v, err
	}
	type scored struct {
		emojiIdea
		score int
	}
	query := words(in.Query)
	var found []scored
	for _, e := range all {
		if n := resemblance(query, words(e.Name)); n > 0 {
			found = append(found, scored{e, n})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(b.score-a.score, strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	v = emojiIdeas{Provider: emojiGGPage, Review: true}
	for _, f := range found[:min(len(found), cmp.Or(in.Limit, 8))] {
		v.Candidates = append(v.Candidates, f.emojiIdea)
	}
	v.Count = len(v.Candidates)
	return v, nil
}

// words are the words of a name or a query, in small letters: what is between
// other signs than letters and digits, and the humps of camelCase.
func words(s string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// technical are words that a search for technology means as well.
var technical = []string{"code", "developer", "dev", "computer", "terminal", "server", "cloud", "robot"}

// What a resemblance is worth.
const (
	sameName    = 10_000
	wordFound   = 100
	wordIsSame  = 10
	exactBonus  = 20
	looserBonus = 10
)

// resemblance is how well a name fits a query, 0 for not at all.
func resemblance(query, name []string) (score int) {
	if len(query) == 0 {
		return 0
	}
	if slices.Equal(query, name) {
		return sameName
	}
	for _, word := range query {
		switch {
		case slices.Contains(name, word):
			score += wordFound + wordIsSame + exactBonus
		case slices.ContainsFunc(name, func(n string) bool { return strings.Contains(n, word) }),
			(word == "tech" || word == "technology") && slices.ContainsFunc(name, func(n string) bool { return slices.Contains(technical, n) }):
			score += wordFound + looserBonus
		}
	}
	return score
}
