package workflows_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func leaving() scene {
	const all = `"acknowledgeAccessLoss":true,"acknowledgeSeparateReentry":true,"acknowledgeStoppedWork":true,"auditReason":"canary-reason"`
	without := func(name, word string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofGuild(strings.Replace(all, word+`":true`, word+`":false`, 1)), Code: mcpcore.CodeValidation}
	}
	elsewhere := operationtest.Refusal{
		Name: "a guild that it is not in", Args: strings.Replace(ofGuild(all), "001\"", "009\"", 1), Policy: permits("guild-departure", "guilds", "1200000000000000009"),
		Code: mcpcore.CodePlanRefused, Reason: "guild-missing",
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-departure", Plan: "plan_guild_departure", Execute: "execute_guild_departure",
			Args: ofGuild(all), Sends: []string{"DELETE /users/@me/guilds/1200000000000000001"},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				without("access that is lost", "AccessLoss"), without("a way back", "SeparateReentry"), without("work that stops", "StoppedWork"), elsewhere,
				blocked("owner", func(d *sandbox.Discord) {
					d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Owner = sandbox.BotID })
				}),
				blocked("too-many-guilds", func(d *sandbox.Discord) {
					for i := range 1998 {
						d.AddGuild(sandbox.Guild{Name: fmt.Sprint("harbour ", i), Owner: sandbox.DemoOwner}, 0)
					}
				}),
			},
		},
		Route: "DELETE /users/@me/guilds/{guild_id}", ReadBack: "GET /users/@me/guilds", Skip: 4,
		Change: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Owner = sandbox.DemoAdmin })
		},
		Rename: func(d *sandbox.Discord) { d.AddGuild(sandbox.Guild{Name: "harbour", Owner: sandbox.DemoOwner}, 0) },
	}
}

func TestGuildDeparture(t *testing.T) {
	t.Parallel()
	leaving().run(t)
}

// All guilds are looked through, on as many pages as they take.
func TestDepartureAmongManyGuilds(t *testing.T) {
	t.Parallel()
	s := leaving()
	s.Before = func(d *sandbox.Discord) {
		for i := range 450 {
			d.AddGuild(sandbox.Guild{Name: fmt.Sprint("harbour ", i), Owner: sandbox.DemoOwner}, 0)
		}
	}
	s.sends(t, s.Sends...)
}

func TestDepartureThatIsNotProven(t *testing.T) {
	t.Parallel()
	s := leaving()
	s.after(s.ReadBack, string(sandbox.DemoClub), string(sandbox.DemoGuild)).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(s.ReadBack, string(sandbox.DemoClub), string(sandbox.DemoGuild)).ends(t, "a guild twice", mcpcore.CodeAccessUnknown, "", "")
}

// A departure claims every collection of a guild that some workflow claims, so that
// none is being written when the bot leaves.
func TestDepartureClaimsAllCollections(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	claimed := map[string]bool{"emojis": true, "stickers": true} // which are claimed by their kind
	var claims []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\ball\("([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			claimed[found[1]] = claimed[found[1]] || !strings.HasSuffix(path, "_test.go")
		}
		if path == "guild_departure.go" {
			_, list, _ := strings.Cut(string(text), "departureClaims = []string{")
			list, _, _ = strings.Cut(list, "}")
			for _, found := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(list, -1) {
				claims = append(claims, found[1])
			}
		}
	}
	for collection := range claimed {
		if !slices.Contains(claims, collection) {
			t.Errorf("a departure does not claim %s", collection)
		}
	}
	if len(claimed) < 15 {
		t.Errorf("only %d collections: this test looks at too little", len(claimed))
	}
}
