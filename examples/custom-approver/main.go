// Command custom-approver serves Discord's tools and has the community's own
// staff approve what destroys: it writes the question into a channel, where a
// moderator answers with a reaction. It speaks to Discord when DISCORD_TOKEN is
// set, with the channel and the moderators named in STAFF_CHANNEL and STAFF, and
// to a sandbox otherwise.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
	"github.com/guildwarden/guildwarden/preconditions"
)

// The reactions that count.
const (
	yes = "✅"
	no  = "❌"
)

// staffRoom is an approver that asks in a channel. Only the reactions of its
// staff count, a no before a yes.
type staffRoom struct {
	bot     *discordgo.Session
	ledger  mcpcore.Ledger
	channel string
	staff   []string // ids of users

	mu    sync.Mutex
	asked map[mcpcore.ApprovalID]string // the message of each question
}

// Ask implements [mcpcore.Approver]. The ledger issues one approval for the same
// call however often it comes, so that staff is asked once; what they decide is
// written into it and spent there.
func (s *staffRoom) Ask(ctx context.Context, r mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := r.Call.Propose(ctx, mcpcore.Proposal{Purpose: mcpcore.ForPerson, Lifetime: mcpcore.MaxLifetime})
	if err != nil {
		return mcpcore.ApprovalState{}, err
	}
	state := mcpcore.ApprovalState{ID: a.ID, Decision: a.Decision, Expires: a.Expires, Where: "the staff channel"}
	if a.Decision != nil {
		return state, nil
	}
	message, ok := s.asked[a.ID]
	if !ok {
		sent, err := s.bot.ChannelMessageSendComplex(s.channel, &discordgo.MessageSend{
			Content:         "```\n" + strings.ReplaceAll(r.Question, "```", "'''") + "\n```" + yes + " or " + no,
			AllowedMentions: &discordgo.MessageAllowedMentions{},
		}, discordgo.WithContext(ctx))
		if err != nil {
			return state, fmt.Errorf("ask staff: %w", err)
		}
		s.asked[a.ID] = sent.ID
		return state, nil
	}
	if state.Decision, err = s.decision(ctx, message); err != nil || state.Decision == nil {
		return state, err
	}
	delete(s.asked, a.ID)
	return state, s.ledger.Decide(ctx, a.ID, *state.Decision)
}

// decision is what staff answered to a message; nil while nobody did.
func (s *staffRoom) decision(ctx context.Context, message string) (*mcpcore.Decision, error) {
	for _, emoji := range []string{no, yes} {
		users, err := s.bot.MessageReactions(s.channel, message, emoji, 100, "", "", discordgo.WithContext(ctx))
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		for _, u := range users {
			if slices.Contains(s.staff, u.ID) {
				return &mcpcore.Decision{By: u.Username, Approve: emoji == yes}, nil
			}
		}
	}
	return nil, nil
}

// build is a server whose gated calls staff must approve.
func build(bot *discordgo.Session, config discordtools.Config, channel string, staff ...string) (*mcp.Server, error) {
	approvals := ledger.NewMemory(nil)
	return discordtools.BuildServer(discordtools.Deps{
		Session: bot, Config: config, Ledger: approvals,
		Policies: []mcpcore.Policy{preconditions.PersonForGated()},
		Approver: &staffRoom{bot: bot, ledger: approvals, channel: channel, staff: staff, asked: map[mcpcore.ApprovalID]string{}},
	})
}

func main() {
	bot, channel, staff := sandbox.Demo().Session(), string(sandbox.DemoModLog), []string{string(sandbox.DemoModerator)}
	if token := os.Getenv("DISCORD_TOKEN"); token != "" {
		bot, _ = discordgo.New("Bot " + token) // fails in no version so far
		channel, staff = os.Getenv("STAFF_CHANNEL"), strings.Split(os.Getenv("STAFF"), ",")
	}
	server, err := build(bot, discordtools.Config{Armed: os.Getenv("MCP_DRY_RUN") == "false"}, channel, staff...)
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
