package blueprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func drawn(b *strings.Builder, list []mcpcore.Branch, in string) {
	for _, l := range list {
		fmt.Fprintf(b, "%s%s", in, l.Name)
		for _, word := range append([]string{string(l.Mark)}, l.Notes...) {
			if word != "" {
				fmt.Fprintf(b, " %s", word)
			}
		}
		if l.Moved {
			b.WriteString(" moved")
		}
		b.WriteByte('\n')
		drawn(b, l.Inside, in+"  ")
	}
}

// bare are the names of a tree, in order.
func bare(nodes []blueprint.Node) (s string) {
	for _, n := range nodes {
		s += fmt.Sprintf("%s %v (%s)\n", n.Name, n.Private, bare(n.Inside))
	}
	return s
}

// A plan shows the guild before and after, and says of each thing what becomes of
// it: moved is only what others were not moved around.
func TestPictures(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		s.build(parse(t, `{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"},{"key":"b","name":"B"}],
			"categories":[{"key":"one","name":"One"},{"key":"two","name":"Two"}],
			"channels":[{"key":"p","name":"p","type":"text","parent_key":"one"},{"key":"q","name":"q","type":"text","parent_key":"one"},
				{"key":"r","name":"r","type":"text","parent_key":"one"},{"key":"s","name":"s","type":"text","parent_key":"two"}]}`))
		s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "foreign"})
		f := s.draft(parse(t, `{"schema_version":"guild_blueprint.v1","roles":[{"key":"b","name":"B"},{"key":"a","name":"A"},{"key":"c","name":"C"}],
			"categories":[{"key":"one","name":"One"},{"key":"two","name":"Two"},{"key":"three","name":"Three","private":true,"overwrites":[{"subject":{"kind":"everyone"},"deny":["VIEW_CHANNEL"]}]}],
			"channels":[{"key":"r","name":"r","type":"text","parent_key":"one"},{"key":"p","name":"p","type":"text","parent_key":"one","topic":"new"},{"key":"q","name":"q","type":"text","parent_key":"one"},
				{"key":"t","name":"t","type":"text","parent_key":"three"}]}`), true)
		var b strings.Builder
		for _, p := range f.Plan().Pictures() {
			fmt.Fprintf(&b, "%s\n", p.Title)
			drawn(&b, p.Before, "- ")
			drawn(&b, p.After, "+ ")
		}
		const want = `Channels
- foreign
- One
-   p
-   q
-   r
- Two
-   s
+ foreign
+ One
+   r moved
+   p changed
+   q
+ Two
+   s
+ Three added private
+   t added private
Roles, the highest first
- Bot
- B
- A
- @everyone
+ Bot
+ C added
+ A
+ B moved
+ @everyone
`
		if b.String() != want {
			t.Errorf("drawn is\n%s", b.String())
		}
		if !strings.Contains(f.Diff(), "r [moved]") {
			t.Errorf("the text does not tell:\n%s", f.Diff())
		}
		// What was shown is what comes.
		if o := s.apply(f.Plan(), 1000); o.Status != blueprint.Complete {
			t.Fatalf("%s", show(o))
		}
		came := s.draft(f.Document, true).Trees()
		if got, want := bare(came.Before)+bare(came.Roles.Before), bare(f.Trees().After)+bare(f.Trees().Roles.After); got != want {
			t.Errorf("shown was\n%s\nand it is\n%s", want, got)
		}
	})
}
