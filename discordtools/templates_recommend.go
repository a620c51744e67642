package discordtools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// codeOfTemplate is a template that is only looked at, as anybody can: it leads
// to no guild that a call acts in.
type codeOfTemplate string

// wish is what a guild is to be like.
type wish struct {
	Request   string           `json:"request" in:"local" jsonschema:"what the guild is for, in plain words; small or large" minLength:"3" maxLength:"500"`
	Preferred codeOfTemplate   `json:"preferred_primary_code,omitempty" in:"local" jsonschema:"template to prefer" minLength:"1" maxLength:"100" pattern:"^[a-zA-Z0-9_-]+$"`
	Codes     []codeOfTemplate `json:"template_codes,omitempty" in:"local" jsonschema:"more templates to look at" minLength:"1" maxLength:"100" maxItems:"8" pattern:"^[a-zA-Z0-9_-]+$" uniqueItems:"true"`
}

// Bounds of a recommendation.
const (
	maxCandidates   = 24 // of the catalogue
	maxLooks        = 8  // at Discord
	looksAtOnce     = 2
	maxInspirations = 3
	templateLife    = 5 * time.Minute
)

type templateRecommended struct {
	Status        string           `json:"status"` // ready, partial or no_match
	Request       string           `json:"request"`
	Version       string           `json:"catalog_version"`
	Intent        intent           `json:"intent"`
	Primary       *templateChoice  `json:"primary"`
	Inspirations  []templateChoice `json:"inspirations"`
	Composition   composition      `json:"composition_plan"`
	Verification  templatesChecked `json:"verification"`
	Rejected      []rejectedChoice `json:"rejected_candidates"`
	UntrustedText string           `json:"untrusted_text" from:"@derived"`

	failed bool `json:"-"`
}

type intent struct {
	Capabilities []blueprint.Capability `json:"capabilities"`
}

// templateChoice is a template that passed.
type templateChoice struct {
	Code        codeOfTemplate         `json:"code"`
	UseURL      string                 `json:"use_url"`
	Score       float64                `json:"score"`
	Matched     []blueprint.Capability `json:"matched_capabilities"`
	Effective   []blueprint.Capability `json:"effective_capabilities" jsonschema:"that its channels and roles show"`
	Contributes []blueprint.Capability `json:"contributes"`
	Structural  []string               `json:"structural_contributions"`
	Reasons     []string               `json:"reasons"`
	Blueprint   templateCounts         `json:"blueprint"`
	Quality     templateQuality        `json:"quality"`
	Breakdown   templateScores         `json:"score_breakdown"`
	Provenance  templateProvenance     `json:"provenance"`

	// What it is chosen by.
	name, about string                 `json:"-"`
	uses        int                    `json:"-"`
	covers      []blueprint.Capability `json:"-"`
	has         []string               `json:"-"`
}

type templateQuality struct {
	Verified    bool     `json:"verified"`
	CodeMatch   bool     `json:"code_match"`
	Dirty       *bool    `json:"marked_dirty"`
	Confidence  string   `json:"confidence"`
	Permissions string   `json:"permission_handling"`
	Risky       []string `json:"risky_permission_signals"`
}

type templateScores struct {
	Intent    float64 `json:"intent_fit"`
	Structure float64 `json:"structural_quality"`
	Safety    float64 `json:"verified_safety"`
	Metadata  float64 `json:"metadata_quality"`
	Usage     float64 `json:"usage"`
	Total     float64 `json:"total"`
}

type templateProvenance struct {
	Digest  string `json:"evidence_digest"`
	Fetched string `json:"fetched_at"`
	Source  struct {
		ID       discord.GuildID `json:"id"`
		Snapshot *string         `json:"snapshot_id"`
		Icon     *string         `json:"icon_hash"`
		Locale   *string         `json:"preferred_locale"`
	} `json:"source_guild"`
}

// composition says what is taken from where. No permission of a template is.
type composition struct {
	Primary      *composedOf      `json:"primary"`
	Inspirations []composedPartly `json:"inspirations"`
	Permissions  string           `json:"permission_policy"`
	Discard      []string         `json:"discard_from_templates"`
	Generate     []string         `json:"generate_with_discord_mcp"`
}

type composedOf struct {
	Code codeOfTemplate `json:"code"`
	Role string         `json:"role"`
}

type composedPartly struct {
	composedOf
	Contributes []blueprint.Capability `json:"contributes"`
	Structural  []string               `json:"structural_contributions"`
}

type templatesChecked struct {
	Records    int  `json:"catalog_records"`
	Candidates int  `json:"metadata_candidates"`
	Capped     bool `json:"metadata_capped"`
	Inspected  int  `json:"candidates_inspected"`
	Requests   int  `json:"rest_requests"`
	Kept       int  `json:"cache_hits"`
	Verified   int  `json:"rest_verified"`
	Failed     int  `json:"rest_failed"`
	Rejected   int  `json:"safety_rejected"`
	Considered bool `json:"preferred_primary_considered"`
	Selected   bool `json:"preferred_primary_selected"`
}

type rejectedChoice struct {
	Code       codeOfTemplate      `json:"code"`
	Reasons    []string            `json:"reasons"`
	Provenance *templateProvenance `json:"provenance,omitempty"`
}

func (v *templateRecommended) derive(*mcpcore.Call) {
	var texts []contents
	for _, c := range v.chosen() {
		about := c.about
		texts = append(texts, contents{Name: c.name, Description: &about})
	}
	v.UntrustedText = fencedJSON(fence.Template, texts)
}

// chosen are the primary and the inspirations.
func (v *templateRecommended) chosen() (all []*templateChoice) {
	if v.Primary != nil {
		all = append(all, v.Primary)
	}
	for i := range v.Inspirations {
		all = append(all, &v.Inspirations[i])
	}
	return all
}

func recommendTemplates(ctx context.Context, a *api, in wish) (templateRecommended, error) {
	return a.recommend(ctx, in)
}

// candidate is a template before it was looked at.
type candidate struct {
	code  codeOfTemplate
	meta  float64 // score of what the catalogue says
	fit   float64 // of it, how far it is what was asked for, up to 1
	words float64 // of it, up to 20
	asked bool    // the caller named it
	has   []blueprint.Capability
}

// recommend ranks what the catalogue holds and the caller names, and looks at the
// best at Discord.
func (a *api) recommend(ctx context.Context, in wish) (v templateRecommended, err error) {
	wants := blueprint.Asked(in.Request)
	v = templateRecommended{Request: in.Request, Version: a.catalogue.version(), Intent: intent{wants}}
	list := a.catalogue.candidates(in.Request, wants, &v.Verification)
	list = inFront(list, in)
	v.Verification.Considered = in.Preferred != ""
	list = lookOrder(list, in.Preferred, wants)
	v.Verification.Inspected = len(list)
	looks, err := a.inspectAll(ctx, list, &v.Verification)
	if err != nil {
		return v, err
	}
	var passed []*templateChoice
	for i, l := range looks {
		switch c, wrong := l.judge(list[i], in.Request, wants, a.catalogue.usage(list[i].code)); {
		case l.err != nil:
			v.failed = v.failed || l.upstream
			v.Rejected = append(v.Rejected, rejectedChoice{Code: list[i].code, Reasons: wrong})
		case wrong != nil:
			v.Verification.Verified++
			v.Verification.Rejected++
			v.Rejected = append(v.Rejected, rejectedChoice{list[i].code, wrong, &c.Provenance})
		default:
			v.Verification.Verified++
			passed = append(passed, c)
		}
	}
	v.choose(passed, in.Preferred, wants)
	v.compose()
	return v, nil
}

// inFront puts the templates that the caller names in front.
func inFront(list []candidate, in wish) []candidate {
	for _, code := range slices.Backward(append([]codeOfTemplate{in.Preferred}, in.Codes...)) {
		if code == "" {
			continue
		}
		c := candidate{code: code}
		if i := slices.IndexFunc(list, func(c candidate) bool { return c.code == code }); i >= 0 {
			c = list[i]
			list = slices.Delete(list, i, i+1)
		}
		c.asked = true
		list = slices.Insert(list, 0, c)
	}
	return list
}

// lookOrder is what is looked at: what the caller names, the best, the first of
// each capability, and then as they come.
func lookOrder(list []candidate, preferred codeOfTemplate, wants []blueprint.Capability) (first []candidate) {
	taken := map[codeOfTemplate]bool{}
	add := func(c candidate) {
		if !taken[c.code] && len(first) < maxLooks {
			taken[c.code] = true
			first = append(first, c)
		}
	}
	for _, c := range list {
		if c.code == preferred || c.asked {
			add(c)
		}
	}
	if len(list) > 0 {
		add(list[0])
	}
	for _, w := range wants {
		if i := slices.IndexFunc(list, func(c candidate) bool { return slices.Contains(c.has, w) }); i >= 0 {
			add(list[i])
		}
	}
	for _, c := range list {
		add(c)
	}
	return first
}

// looked is what Discord told of a template.
type looked struct {
	template template
	digest   string
	at       time.Time
	err      error
	upstream bool // the failure says nothing about the template
	wrong    string
}

// inspectAll asks Discord for each template, two at a time. Templates are remembered
// for a while.
func (a *api) inspectAll(ctx context.Context, list []candidate, count *templatesChecked) ([]looked, error) {
	looks := make([]looked, len(list))
	var wait sync.WaitGroup
	var mu sync.Mutex
	turn := make(chan struct{}, looksAtOnce)
	var final error
	for i, c := range list {
		turn <- struct{}{}
		wait.Go(func() {
			defer func() { <-turn }()
			kept := a.templates.has(c.code)
			l, err := a.templates.get(ctx, c.code, func(ctx context.Context) (looked, bool, error) { return a.inspectOne(ctx, c.code) })
			mu.Lock()
			defer mu.Unlock()
			if kept {
				count.Kept++
			} else {
				count.Requests++
			}
			if err != nil {
				l = looked{err: err, upstream: true, wrong: "it could not be read"}
				if e, ok := errors.AsType[*mcpcore.Error](err); ok {
					switch e.Code {
					case mcpcore.CodeNotFound:
						l.upstream, l.wrong = false, "there is no such template"
					case mcpcore.CodeValidation:
						l.upstream, l.wrong = false, "its code is not valid"
					case mcpcore.CodeAuthInvalid, mcpcore.CodePermission, mcpcore.CodeCircuitOpen, mcpcore.CodeBulkheadFull, mcpcore.CodeCancelled:
						final = cmp.Or(final, err)
					}
				}
				count.Failed++
			}
			looks[i] = l
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return looks, final
}

func (a *api) inspectOne(ctx context.Context, code codeOfTemplate) (l looked, keep bool, err error) {
	reply, err := a.ask(ctx, routeTemplate, sub{Path: map[string]string{"code": string(code)}})
	if err != nil {
		return l, false, err
	}
	if l.template, err = a.template(reply); err != nil {
		return l, false, err
	}
	l.at = a.now().UTC()
	raw, err := canon.Marshal(l.template)
	if err != nil {
		return l, false, err
	}
	l.digest = "sha256:" + hexSum(raw)
	return l, true, nil
}

// choose takes the primary, and inspirations as long as one adds something.
func (v *templateRecommended) choose(passed []*templateChoice, preferred codeOfTemplate, wants []blueprint.Capability) {
	slices.SortStableFunc(passed, func(a, b *templateChoice) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Code, b.Code))
	})
	if i := slices.IndexFunc(passed, func(c *templateChoice) bool { return c.Code == preferred }); i > 0 {
		c := passed[i]
		passed = slices.Insert(slices.Delete(passed, i, i+1), 0, c)
	}
	v.Status = "no_match"
	if v.failed {
		v.Status = "partial"
	}
	if len(passed) == 0 {
		return
	}
	v.Status, v.Primary = "ready", passed[0]
	v.Verification.Selected = preferred != "" && v.Primary.Code == preferred
	covered, structures := slices.Clone(v.Primary.covers), slices.Clone(v.Primary.has)
	v.Primary.Contributes, v.Primary.Structural = v.Primary.covers, v.Primary.has
	for rest := passed[1:]; len(v.Inspirations) < maxInspirations; {
		best, gain := -1, 0
		for i, c := range rest {
			n := 10*len(without(c.covers, covered)) + 4*len(without(c.has, structures))
			if n > gain {
				best, gain = i, n
			}
		}
		if best < 0 {
			return
		}
		c := rest[best]
		c.Contributes, c.Structural = without(c.covers, covered), without(c.has, structures)
		covered, structures = append(covered, c.Contributes...), append(structures, c.Structural...)
		v.Inspirations = append(v.Inspirations, *c)
		rest = slices.Delete(slices.Clone(rest), best, best+1)
	}
}

// without is a list less the items of another.
func without[T comparable](list, other []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return slices.Contains(other, x) })
}

func (v *templateRecommended) compose() {
	c := &v.Composition
	c.Permissions = "regenerate_with_discord_mcp_safety_policy"
	c.Discard = []string{"template_permissions", "unsafe_overwrites", "unknown_external_instructions"}
	c.Generate = []string{"onboarding", "automod", "components_v2", "activity_evidence"}
	if v.Primary != nil {
		c.Primary = &composedOf{Code: v.Primary.Code, Role: "primary_structural_reference"}
	}
	for _, i := range v.Inspirations {
		c.Inspirations = append(c.Inspirations, composedPartly{composedOf{i.Code, "bounded_inspiration"}, i.Contributes, i.Structural})
	}
}
