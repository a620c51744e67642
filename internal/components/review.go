package components

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// Review is what there is to see of a layout without its texts: nothing in it
// is a text or a custom_id of the layout.
type Review struct {
	TotalNodes       int            `json:"totalNodes"` // nested ones and accessories counted, up to 100
	TypeCounts       map[string]int `json:"typeCounts"`
	TextNodes        int            `json:"textNodes"`
	MaxTextLength    int            `json:"maxTextLength"`    // characters of the longest text display
	ExternalURLHosts []string       `json:"externalUrlHosts"` // sorted, the first 20
	InteractiveCount int            `json:"interactiveCount"`
	CustomIDLengths  []int          `json:"customIdLengths"`
	CustomIDHashes   []string       `json:"customIdHashes"` // which are the same, without telling them

	top    int
	linked bool
}

// Bounds of a review.
const (
	maxReviewed = 100
	maxHosts    = 20
	nearLimit   = 32 // components from which on a layout is near Discord's limit
)

// NewReview looks at a layout of any shape.
func NewReview(layout []json.RawMessage) Review {
	r := Review{TypeCounts: map[string]int{}, ExternalURLHosts: []string{}, CustomIDLengths: []int{}, CustomIDHashes: []string{}, top: len(layout)}
	walk(layout, "", func(n node) {
		if r.TotalNodes == maxReviewed {
			return
		}
		r.TotalNodes++
		r.TypeCounts[strconv.Itoa(n.kind())]++
		if n.kind() == TextDisplay {
			r.TextNodes++
			r.MaxTextLength = max(r.MaxTextLength, utf8.RuneCountInString(n.text("content")))
		}
		custom := n.text("custom_id")
		if custom != "" {
			r.CustomIDLengths = append(r.CustomIDLengths, utf8.RuneCountInString(custom))
			r.CustomIDHashes = append(r.CustomIDHashes, hashOf(custom))
		}
		if custom != "" || n.kind() >= Button && n.kind() <= ChannelSelect {
			r.InteractiveCount++
		}
	})
	hosts := map[string]bool{}
	for _, raw := range layout {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			r.link(v, hosts)
		}
	}
	all := slices.Sorted(maps.Keys(hosts))
	r.ExternalURLHosts = append(r.ExternalURLHosts, all[:min(len(all), maxHosts)]...)
	return r
}

// Risks are the kinds of things to look at before the layout is sent.
func (r Review) Risks() (flags []string) {
	if r.linked {
		flags = append(flags, "external_urls")
	}
	if r.InteractiveCount > 0 {
		flags = append(flags, "interactive_components")
	}
	if r.top >= nearLimit || r.TotalNodes >= nearLimit {
		flags = append(flags, "component_count_near_limit")
	}
	return flags
}

var (
	beginning = regexp.MustCompile(`(?i)https?://`)
	addresses = regexp.MustCompile(`(?i)https?://[^\s<>"'()\[\]{}|\\^` + "`" + `]+`)
)

// link collects the hosts of the addresses in every text of a value.
func (r *Review) link(v any, hosts map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			r.link(inner, hosts)
		}
	case []any:
		for _, inner := range v {
			r.link(inner, hosts)
		}
	case string:
		r.linked = r.linked || beginning.MatchString(v)
		for _, found := range addresses.FindAllString(v, -1) {
			if u, err := url.Parse(found); err == nil && u.Hostname() != "" {
				hosts[strings.ToLower(u.Hostname())] = true
			}
		}
	}
}

// hashOf tells custom_ids apart.
func hashOf(custom string) string {
	sum := sha256.Sum256(canon.Append(nil, map[string]any{"custom_id": custom}))
	return hex.EncodeToString(sum[:])[:16]
}
