package console_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// What becomes of each thing in a picture is said in words, so that colours and
// signs can be missed.
func TestAPictureSaysWhatChanges(t *testing.T) {
	t.Parallel()
	d := open(t)
	raw, err := json.Marshal(mcpcore.Shown{Question: "Really?", Effect: "destroy", Pictures: []mcpcore.Picture{
		{
			Title:  "Channels",
			Before: []mcpcore.Branch{{Name: "talk", Kind: "category", Inside: []mcpcore.Branch{{Name: "old \u202eeman"}}}},
			After: []mcpcore.Branch{{Name: "talk", Kind: "category", Mark: mcpcore.Changed, Inside: []mcpcore.Branch{
				{Name: "new", Mark: mcpcore.Added, Notes: []string{"private"}}, {Name: "old", Mark: mcpcore.Changed, Moved: true}, {Name: "same"},
			}}},
		},
		{Title: "Roles", After: []mcpcore.Branch{{Name: "as it is"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.ledger.Propose(t.Context(), mcpcore.Proposal{Purpose: mcpcore.ForPerson, Tool: "rebuild", Principal: "stdio", Fingerprint: "f", Shown: raw})
	if err != nil {
		t.Fatal(err)
	}
	page := d.signsIn().get("/console/approvals/" + string(a.ID)).text
	_, page, _ = strings.Cut(page, `class="outlook"`)
	page, _, _ = strings.Cut(page, `class="needs"`)
	page = strings.ReplaceAll(page, "\u2068", "")
	for _, want := range []string{
		"1 added, 2 changed, 1 moved, of 4.", "Nothing of it changes.", ">Before</h3>", ">After</h3>", "Nothing.</p>",
		`<li class="added">`, `<span class="tag mark">added</span>`, `<span class="tag">private</span>`,
		`<span class="tag mark">changed</span> <span class="tag mark">moved</span>`, `<span class="kind">category</span>`, "[U&#43;202E]",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("nothing of %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "\u202e") {
		t.Error("a name turns the text around it")
	}
}
