// Command custom-evidence serves Discord's tools, and lets destructive ones act
// only while somebody is on duty who could help if it goes wrong. Who is on duty
// is evidence of a kind of its own: it is read once per call, and the audit
// record says that it was asked for. It speaks to Discord when DISCORD_TOKEN is
// set and to a sandbox otherwise.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// EvidenceOnCall is who is on duty. Key a team, data a [Shift].
const EvidenceOnCall mcpcore.EvidenceKind = "on_call"

// Shift is a team's duty at one moment.
type Shift struct{ Person string } // "" for nobody

// rota resolves [EvidenceOnCall].
type rota struct {
	read func(ctx context.Context, team string) (person string, err error)
}

func (rota) Kinds() []mcpcore.EvidenceKind { return []mcpcore.EvidenceKind{EvidenceOnCall} }

// Resolve asks anew each time: a call keeps its answer, and nothing else does.
func (r rota) Resolve(ctx context.Context, ref mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	person, err := r.read(ctx, ref.Key)
	if err != nil {
		return mcpcore.Evidence{}, err
	}
	return mcpcore.Evidence{Complete: true, Source: "rota", Data: Shift{person}}, nil
}

// onDuty demands that somebody of the team is on duty. Evidence that is missing
// or partial proves nothing, so it refuses.
func onDuty(team string) mcpcore.Precondition {
	return mcpcore.Precondition{
		Name:  "on_duty",
		Doc:   "Acts only while somebody of the team " + team + " is on duty.",
		Needs: []mcpcore.EvidenceKind{EvidenceOnCall},
		Check: func(ctx context.Context, call *mcpcore.Call) error {
			e, err := call.Evidence(ctx, EvidenceOnCall, team)
			shift, known := e.Data.(Shift)
			switch {
			case err != nil, !e.Complete, !known:
				return errors.New("who is on duty is not known; try again later")
			case shift.Person == "":
				return errors.New("nobody of the team " + team + " is on duty; wait for the next shift")
			}
			return nil
		},
	}
}

// build is the server.
func build(bot *discordgo.Session, config discordtools.Config, sink mcpcore.AuditSink, duty mcpcore.EvidenceResolver) (*mcp.Server, error) {
	return discordtools.BuildServer(discordtools.Deps{
		Session: bot, Config: config, Audit: sink,
		Evidence: []mcpcore.EvidenceResolver{duty},
		Policies: []mcpcore.Policy{{
			Name:    "watched",
			Match:   func(t *mcpcore.Tool) bool { return t.Effect == mcpcore.Destroy },
			Require: []mcpcore.Precondition{onDuty("moderators")},
		}},
	})
}

// officeHours is a rota of one person.
func officeHours(context.Context, string) (person string, err error) {
	if hour := time.Now().Hour(); hour < 9 || hour >= 17 {
		return "", nil
	}
	return "Tomo", nil
}

func main() {
	bot := sandbox.Demo().Session()
	if token := os.Getenv("DISCORD_TOKEN"); token != "" {
		bot, _ = discordgo.New("Bot " + token) // fails in no version so far
	}
	config := discordtools.Config{Armed: os.Getenv("MCP_DRY_RUN") == "false"}
	server, err := build(bot, config, audit.Writer(os.Stderr), rota{officeHours})
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
