package discordtools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// catalogue is the operator's list of guild templates. A nil one is empty.
type catalogue struct {
	Schema  int               `json:"schema_version"`
	Version string            `json:"version"`
	Records []catalogueRecord `json:"records"`

	byCode map[codeOfTemplate]*catalogueRecord
}

type catalogueRecord struct {
	Code         codeOfTemplate  `json:"code"`
	Name         string          `json:"name"`
	Description  *string         `json:"description"`
	Usage        int             `json:"usage_count"`
	Tags         []string        `json:"tags"`
	Guild        discord.GuildID `json:"source_guild_id"`
	Availability string          `json:"availability"` // active, which "" stands for, or deleted
}

// Bounds of a catalogue.
const (
	maxCatalogue = 32 << 20
	maxRecords   = 100_000
	maxTags      = 16
)

// readCatalogue reads a catalogue; nil for an empty text.
func readCatalogue(raw []byte) (*catalogue, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if len(raw) > maxCatalogue {
		return nil, fmt.Errorf("the template catalogue has %d bytes, and at most %d are read", len(raw), maxCatalogue)
	}
	c := &catalogue{byCode: map[codeOfTemplate]*catalogueRecord{}}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("read the template catalogue: %w", err)
	}
	switch {
	case c.Schema != 1:
		return nil, fmt.Errorf("the template catalogue has schema_version %d; there is 1", c.Schema)
	case c.Version == "" || len(c.Version) > 200:
		return nil, errors.New("the template catalogue needs a version of at most 200 bytes")
	case len(c.Records) > maxRecords:
		return nil, fmt.Errorf("the template catalogue has %d records, and at most %d are read", len(c.Records), maxRecords)
	}
	for i := range c.Records {
		r := &c.Records[i]
		if r.Availability == "deleted" {
			continue
		}
		switch {
		case r.Availability != "" && r.Availability != "active":
			return nil, fmt.Errorf("the template catalogue: records.%d.availability must be active or deleted", i)
		case !templateCode.MatchString(string(r.Code)):
			return nil, fmt.Errorf("the template catalogue: records.%d.code is not a template's code", i)
		case c.byCode[r.Code] != nil:
			return nil, fmt.Errorf("the template catalogue: records.%d.code stands there twice", i)
		case len(r.Tags) > maxTags:
			return nil, fmt.Errorf("the template catalogue: records.%d.tags has more than %d", i, maxTags)
		}
		c.byCode[r.Code] = r
	}
	return c, nil
}

func (c *catalogue) version() string {
	if c == nil {
		return "none"
	}
	return c.Version
}

func (c *catalogue) usage(code codeOfTemplate) int {
	if c == nil || c.byCode[code] == nil {
		return 0
	}
	return c.byCode[code].Usage
}

var stopWords = strings.Fields("a an and cho co cua for in la mot no of server such the to va voi where")

// usefulWords are the words of a request that say something.
func usefulWords(request string) (words []string) {
	for _, w := range strings.Fields(blueprint.Plain(request)) {
		if !slices.Contains(stopWords, w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// candidates are the records that fit a request, the best first.
func (c *catalogue) candidates(request string, wants []blueprint.Capability, count *templatesChecked) (list []candidate) {
	if c == nil {
		return nil
	}
	count.Records = len(c.byCode)
	words := usefulWords(request)
	for i := range c.Records {
		r := &c.Records[i]
		if c.byCode[r.Code] != r {
			continue
		}
		x := r.score(blueprint.Plain(request), words, wants)
		if len(wants) > 0 && len(x.has) > 0 || len(wants) == 0 && x.words >= 8 {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.meta, a.meta), cmp.Compare(b.fit, a.fit), cmp.Compare(a.code, b.code))
	})
	if count.Capped = len(list) > maxCandidates; count.Capped {
		list = list[:maxCandidates]
	}
	count.Candidates = len(list)
	return list
}

// score is what a record's own words say about it: up to 70 for what it is asked
// for, 20 for words, 5 for being described and 5 for use.
func (r *catalogueRecord) score(request string, words []string, wants []blueprint.Capability) candidate {
	about := ""
	if r.Description != nil {
		about = *r.Description
	}
	x := candidate{code: r.Code}
	told := blueprint.Asked(r.Name + " " + about)
	tagged := blueprint.Asked(strings.Join(r.Tags, " , "))
	for _, w := range wants {
		switch {
		case slices.Contains(told, w):
			x.fit++
			x.has = append(x.has, w)
		case slices.Contains(tagged, w):
			x.fit += 0.55
			x.has = append(x.has, w)
		}
	}
	if len(wants) > 0 {
		x.fit /= float64(len(wants))
	}
	name := blueprint.Plain(r.Name)
	x.words = wordOverlap(words, name, blueprint.Plain(strings.Join(r.Tags, " ")), blueprint.Plain(about))
	if name != "" && strings.Contains(" "+request+" ", " "+name+" ") {
		x.words += 5
	}
	x.meta = 70*x.fit + x.words + usageScore(r.Usage)
	if r.Name != "" {
		x.meta += 2
	}
	if about != "" {
		x.meta += 3
	}
	return x
}

// wordOverlap is how many of the words stand in a name, in tags or in a description,
// up to 15.
func wordOverlap(words []string, name, tags, about string) float64 {
	if len(words) == 0 {
		return 0
	}
	points := 0
	for _, w := range words {
		for _, in := range []struct {
			text   string
			points int
		}{{name, 3}, {tags, 2}, {about, 1}} {
			if strings.Contains(" "+in.text+" ", " "+w+" ") {
				points += in.points
				break
			}
		}
	}
	return float64(points) / float64(3*len(words)) * 15
}

func usageScore(n int) float64 { return min(5, math.Log10(float64(max(n, 0)+1))) }
