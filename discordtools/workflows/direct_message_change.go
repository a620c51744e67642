package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeDMOpen = "POST /users/@me/channels"

type dmChange struct {
	Action string `json:"action" enum:"send,reply,edit,delete"`
	dmWith
	MessageID    discord.MessageID `json:"messageId,omitempty" jsonschema:"message to reply to, to edit or to delete"`
	Content      string            `json:"content,omitempty" jsonschema:"text; for send, reply and edit, where there are no components" minLength:"1" maxLength:"2000"`
	Components   []layoutPart      `json:"components,omitempty" jsonschema:"layout as of execute_component_message, instead of content" minItems:"1" maxItems:"40"`
	File         *dmFile           `json:"file,omitempty" jsonschema:"one file, with or without content; for send and reply"`
	Contact      bool              `json:"acknowledgeExpectedContact,omitempty" jsonschema:"true, with send and reply: the recipient expects to be written to"`
	Irreversible bool              `json:"acknowledgeIrreversible,omitempty" jsonschema:"true, with delete: the message cannot be brought back"`
}

// dmWith names a conversation.
type dmWith struct {
	UserID    discord.UserID    `json:"userId" jsonschema:"the recipient"`
	ChannelID discord.ChannelID `json:"channelId,omitempty" jsonschema:"the conversation, but for send, which answers with it"`
}

type dmState struct {
	Bot       discord.UserID    `json:"botId"`
	Recipient dmRecipient       `json:"recipient"`
	Channel   discord.ChannelID `json:"channelId,omitempty"`
	Message   *messageSeen      `json:"message" jsonschema:"what is replied to, edited or deleted, as it is"`
	Wanted    dmContent         `json:"wanted"`
}

// directMessageChange writes to one person.
func directMessageChange(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[dmChange, dmState]{
		Name: "direct-message-change", Category: "direct-messages", Title: "Write to a person",
		Doc: `Sends a direct message to one person whom the policy names, replies in the conversation, or edits or deletes a message of the
			bot's there. It notifies by itself and mentions nobody. Write to people only when they expect it: Discord stops bots that
			do not. At most 5 messages a minute to one person, 5 seconds apart. The answer's resourceId is channel/message.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.UserScope,
		Scopes: []mcpcore.PolicyScope{
			{Name: "users", Arg: "userId", Doc: "people who may be written to, each by itself"},
			{Name: "linkOrigins", Doc: "origins that buttons may lead to, such as https://example.com", Pattern: `https://[a-z0-9.-]+(:[0-9]{1,5})?`},
		},
		Rules: []mcpcore.Rule{dmRule, dmLayoutRule}, Redact: []string{"content", "components", "file"},
		Companions: dmCompanions(rest),
		Reads:      append(slices.Clone(dmReads), routeUser), Write: []string{routeDMOpen, routeMessageCreate, routeMessageEdit, routeMessageDelete},
		Writes: func(in dmChange, _ dmState) int {
			if in.Action == "send" {
				return 2 // the conversation, then the message
			}
			return 1
		},
		Paced: pacing[dmChange, dmState]{by: paced, fixed: dmTempo, where: func(in dmChange, _ dmState) string {
			if in.Action == "send" || in.Action == "reply" {
				return "recipient " + string(in.UserID)
			}
			return ""
		}},
		Plan: planDM,
		Targets: func(in dmChange, s dmState) []mcpcore.Target {
			claims := []mcpcore.Target{{Kind: "recipient", ID: string(in.UserID)}}
			if s.Channel != "" {
				claims = append(claims, theChannel(s.Channel), theMessage(s.Channel, in.MessageID))
			}
			return claims
		},
		Apply: func(ctx context.Context, w *write, in dmChange, s dmState) (mcpcore.Written, error) {
			return w.dm(ctx, in, s)
		},
		ReadBack: func(ctx context.Context, r *reads, in dmChange, s dmState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			channel, message, err := dmPlace(w.ID)
			if err != nil {
				return found, err
			}
			if err := r.conversation(ctx, channel, in.UserID); err != nil {
				return found, err
			}
			m, err := r.message(ctx, channel, message)
			switch {
			case in.Action == "delete":
				return found, vanished(err, "message")
			case err != nil:
				return found, err
			case !m.wroteIt(s.Bot):
				return found, errors.New("the bot did not write what was read back")
			}
			var d drift
			s.compare(in, m, &d)
			return mcpcore.Reading{Drift: d}, nil
		},
		Verify: verifyDM,
	}.on(rest)
}

func planDM(ctx context.Context, r *reads, in dmChange) (plan mcpcore.Change[dmState], err error) {
	s := dmState{Channel: in.ChannelID}
	shown, err := r.recipient(ctx, in.UserID, &s)
	if err != nil {
		return plan, err
	}
	if s.Wanted, err = in.wanted(r.Call); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[dmState]{
		Action: in.Action, Facts: append(mcpcore.Facts{{Name: "recipient", Value: s.Recipient.Name + ", " + string(in.UserID)}}, s.Wanted.facts()...),
		Unbound: mcpcore.Facts{{Name: "who is shown as", Value: shown}},
	}
	if in.Action == "send" || in.Action == "reply" {
		plan.Risks, plan.Warnings = []string{"contacts-a-person"}, []string{"The recipient is notified, and cannot be made to forget it."}
	}
	if in.Action != "send" {
		if err := r.dmTarget(ctx, in, &s, &plan); err != nil {
			return plan, err
		}
	}
	plan.State = s
	return plan, nil
}

// dmTarget reads what is replied to, edited or deleted.
func (r *reads) dmTarget(ctx context.Context, in dmChange, s *dmState, plan *mcpcore.Change[dmState]) error {
	if err := r.conversation(ctx, s.Channel, in.UserID); err != nil {
		return err
	}
	m, err := r.message(ctx, s.Channel, in.MessageID)
	if gone(err) && in.Action == "delete" {
		nothing(plan)
		return nil
	}
	if err != nil {
		return err
	}
	s.Message = &messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, snapshot(m)}
	plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "message", Value: excerpt(m.Content)})
	switch {
	case in.Action == "reply" && !slices.Contains(spoken, m.Type):
		return refused("system-message", "nobody can reply to a message of Discord itself")
	case in.Action == "reply":
		return nil
	case !m.wroteIt(s.Bot):
		return refused("not-own", "the bot did not write %s", m.ID)
	case in.Action == "delete":
		plan.Risks = []string{"irreversible"}
		return nil
	case m.Poll != nil || len(m.Stickers) > 0 || m.Type != 0 && m.Type != typeReply:
		return refused("not-plain", "%s is a poll, a forward or an answer, or has stickers", m.ID)
	case (m.Flags&flagComponentsV2 != 0) != (len(in.Components) > 0):
		return refused("other-kind", "a text stays a text, and a layout consists of components for good")
	}
	var d drift
	if s.Wanted.compare(m, &d); len(d) == 0 {
		nothing(plan)
	}
	return nil
}

// dm sends what was planned; a new message goes into the conversation that
// Discord opens, or has. When that was opened and the message is refused, nothing
// reached the recipient.
func (w *write) dm(ctx context.Context, in dmChange, s dmState) (done mcpcore.Written, err error) {
	channel, m := s.Channel, message{}
	if in.Action == "send" {
		var c dmChannel
		if err := w.sendWith(ctx, routeDMOpen, discordtools.Request{}, dmOpen{in.UserID}, &c); err != nil {
			return done, err
		}
		if err := c.with(c.ID, in.UserID); err != nil {
			return done, mcpcore.NotDone(fmt.Errorf("Discord opened another conversation, and nothing was written into it: %w", err))
		}
		channel = c.ID
	}
	switch in.Action {
	case "delete":
		err = w.sendWith(ctx, routeMessageDelete, discordtools.Request{Path: onMessage(channel, in.MessageID)}, nil, nil)
		return mcpcore.Written{ID: string(channel) + "/" + string(in.MessageID)}, err
	case "edit":
		err = w.sendWith(ctx, routeMessageEdit, discordtools.Request{Path: onMessage(channel, in.MessageID)}, s.Wanted.edit(), &m)
	default:
		err = w.sendWith(ctx, routeMessageCreate, discordtools.Request{Path: inChannel(channel), Form: in.File.form()}, s.Wanted.body(in, w.nonce()), &m)
	}
	if err != nil {
		return done, err
	}
	made, err := id(m.ID)
	if err != nil {
		return done, err
	}
	if m.Channel != channel || !m.wroteIt(s.Bot) || in.Action == "edit" && m.ID != in.MessageID {
		err = errors.New("the answer is of another message than was asked for")
	}
	return mcpcore.Written{ID: string(channel) + "/" + made}, err
}

// verifyDM reads the message that a receipt speaks of.
func verifyDM(ctx context.Context, r *reads, in dmChange, receipt mcpcore.Receipt) (found mcpcore.Reading, err error) {
	channel, message, err := dmPlace(receipt.ResourceID)
	if err != nil {
		return found, err
	}
	s := dmState{}
	if _, err := r.recipient(ctx, in.UserID, &s); err != nil {
		return found, err
	}
	if err := r.conversation(ctx, channel, in.UserID); err != nil {
		return found, err
	}
	m, err := r.message(ctx, channel, message)
	switch {
	case gone(err) && in.Action == "delete":
		return found, nil
	case gone(err):
		return mcpcore.Reading{Absent: true}, nil
	case err != nil:
		return found, err
	case in.Action == "delete":
		return mcpcore.Reading{Drift: []string{"deleted"}}, nil
	case !m.wroteIt(s.Bot):
		return found, errors.New("the bot did not write what was read")
	}
	if s.Wanted, err = in.wanted(r.Call); err != nil {
		return found, err
	}
	var d drift
	s.compare(in, m, &d)
	return mcpcore.Reading{Drift: d}, nil
}
