package blueprint_test

import (
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// requests are one for each archetype and size.
var requests = []struct{ request, archetype, size, profile string }{
	{"A gaming server for Minecraft with events", "gaming", "large", "professional_gaming"},
	{"a small gaming server for friends", "gaming", "small", "professional_gaming"},
	{"roleplay in a haunted castle", "gaming", "large", "professional_roleplay"},
	{"A community for our town, with staff and events", "community", "large", "professional_community"},
	{"a tiny community", "community", "small", "professional_community"},
	{"study group for physics courses", "study", "large", "professional_technology"},
	{"a little study group", "study", "small", "professional_technology"},
	{"open source project in Go", "open_source", "large", "professional_technology"},
	{"small open source library", "open_source", "small", "professional_technology"},
	{"for a drawing artist and their fans", "creator", "large", "professional_creative"},
	{"small podcast", "creator", "small", "professional_creative"},
	{"support desk with tickets", "support", "large", "professional_community"},
	{"small help desk", "support", "small", "professional_community"},
	{"tournaments and other events", "events", "large", "professional_community"},
	{"small events", "events", "small", "professional_community"},
	{"internal server of our team", "staff", "large", "professional_community"},
	{"small workspace", "staff", "small", "professional_community"},
	{"something else entirely", "community", "large", "professional_community"},
	{"cộng đồng chơi game", "gaming", "large", "professional_gaming"},
}

// Each archetype goes from a request to a guild that is proven to be like it,
// after which there is nothing left to plan.
func TestArchetypes(t *testing.T) {
	t.Parallel()
	for _, r := range requests {
		t.Run(r.request, func(t *testing.T) {
			t.Parallel()
			d := compile(r.request)
			if d.Archetype != r.archetype || d.Size != r.size || d.Profile != r.profile {
				t.Errorf("compiled as %s, %s, %s; want %s, %s, %s", d.Archetype, d.Size, d.Profile, r.archetype, r.size, r.profile)
			}
			if again := compile(r.request); again.ID() != d.ID() {
				t.Error("the same request gives another blueprint")
			}
			parsed, issues := blueprint.Parse(d.JSON())
			if issues != nil || parsed.ID() != d.ID() {
				t.Fatalf("what was compiled does not parse to itself: %v", issues)
			}
			if stated, issues := blueprint.Parse(canonical(t, d.Stated())); issues != nil || stated.ID() != d.ID() {
				t.Fatalf("what a tool shows does not parse to the blueprint: %v", issues)
			}
			onSite(t, func(s *site) {
				p := s.build(d)
				if f := s.draft(d, false); !f.Current() {
					s.Errorf("a second plan is not empty:\n%s", f.Diff())
				}
				v := s.applier().Review(s.Context(), p.ID(), "stdio", blueprint.Target{Guild: s.guild, Bot: sandbox.BotID})
				if v.Status != "verified" || v.Unchanged == nil || !*v.Unchanged {
					s.Errorf("the evidence is %s: %v", v.Status, v.Blockers)
				}
				if o := s.apply(p, 1000); o.Status != blueprint.AlreadyCurrent || len(o.Attempts) > 0 {
					s.Errorf("carried out again: %s", show(o))
				}
				writes := slices.DeleteFunc(s.requests(), func(r string) bool { return r[:4] == "GET " })
				if len(writes) != len(p.Operations) {
					s.Errorf("%d operations were planned and %d writes sent", len(p.Operations), len(writes))
				}
			})
		})
	}
}

// Any words make a document that is valid: Compile panics otherwise.
func TestCompileAnyWords(t *testing.T) {
	t.Parallel()
	words := []string{"gaming", "community", "roleplay", "lfg", "platform", "staff", "support", "events", "technology", "learning", "art", "music", "voice", "forum", "github", "internal", "podcast", "nothing"}
	seen := map[string]bool{}
	for _, a := range words {
		for _, b := range words {
			for _, size := range []string{"small", "large"} {
				seen[compile(size+" "+a+" "+b).ID()] = true
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d different blueprints", len(seen))
	}
}
