package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	forwarding = 1 // the type of a reference to what is forwarded

	flagSilent      = 1 << 12 // of a message that makes no sound
	flagHasSnapshot = 1 << 14 // of a forward
)

// forwardTypes are the channels between which messages are forwarded.
var forwardTypes = []discord.ChannelType{discord.GuildText, discord.GuildAnnouncement}

type messageForward struct {
	SourceID  discord.ChannelID `json:"sourceChannelId" jsonschema:"text or announcement channel of the message"`
	MessageID discord.MessageID `json:"messageId" jsonschema:"message to forward"`
	TargetID  discord.ChannelID `json:"targetChannelId" jsonschema:"another text or announcement channel"`
}

type messageForwardState struct {
	Source  forwardPlace `json:"source"`
	Target  forwardPlace `json:"target"`
	Message messageSeen  `json:"message"`
	Carries string       `json:"carries" jsonschema:"digest of what the forward carries"`
	Nonce   string       `json:"nonce" jsonschema:"by which Discord knows the same forward again, for some minutes"`
}

type forwardPlace struct {
	placeSeen
	Restricted bool `json:"ageRestricted"`
}

type forwardBody struct {
	Reference forwardReference `json:"message_reference"`
	Mentions  allowedMentions  `json:"allowed_mentions"`
	Flags     int              `json:"flags"`
	Nonce     string           `json:"nonce"`
	Enforce   bool             `json:"enforce_nonce"`
}

type forwardReference struct {
	Type    int               `json:"type"`
	Channel discord.ChannelID `json:"channel_id"`
	Message discord.MessageID `json:"message_id"`
	Must    bool              `json:"fail_if_not_exists"`
}

// forwarded is a message with what it carries.
type forwarded struct {
	message
	Snapshots []struct {
		Message message `json:"message"`
	} `json:"message_snapshots"`
}

// messageForwarding forwards a message to another channel.
func messageForwarding(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[messageForward, messageForwardState]{
		Name: "message-forward", Category: "message-forwarding", Title: "Forward a message",
		Doc: `Forwards a message from one text or announcement channel to another, without a sound and without notifying anybody. What
			is carried is a copy: it stays when the message is edited or deleted. The same forward within some minutes is made once.
			Into another guild it takes a scope of its own.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Crosses: true, Needs: discord.ViewChannel | discord.ReadMessageHistory,
		Intents: discord.MessageContent,
		Scopes: []mcpcore.PolicyScope{
			{Name: "sources", Arg: "sourceChannelId", Doc: "channels whose messages may be forwarded"},
			{Name: "targets", Arg: "targetChannelId", Doc: "channels to which messages may be forwarded"},
			{Name: "crossGuildTargets", Doc: "of the targets, those to which messages of other guilds may be forwarded"},
		},
		Rules: []mcpcore.Rule{{Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if c.Text("sourceChannelId") == c.Text("targetChannelId") {
				return issue("targetChannelId", "is the message's own channel")
			}
			return nil
		}}},
		Reads: append(slices.Clone(placeRoutes), routeMessage, routeApplication), Write: []string{routeMessageCreate},
		Paced: posts(paced, func(in messageForward, _ messageForwardState) discord.ChannelID { return in.TargetID }),
		Plan:  planForward,
		Targets: func(in messageForward, _ messageForwardState) []mcpcore.Target {
			return []mcpcore.Target{theMessage(in.SourceID, in.MessageID), theChannel(in.TargetID)}
		},
		Apply: func(ctx context.Context, w *write, in messageForward, s messageForwardState) (done mcpcore.Written, err error) {
			var m forwarded
			body := forwardBody{forwardReference{forwarding, in.SourceID, in.MessageID, true}, notifies(nil), flagSilent, s.Nonce, true}
			if err := w.send(ctx, routeMessageCreate, inChannel(in.TargetID), body, &m); err != nil {
				return done, err
			}
			if done.ID, err = id(m.ID); err == nil {
				err = s.is(in, m)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in messageForward, s messageForwardState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			var m forwarded
			if err := r.get(ctx, routeMessage, onMessage(in.TargetID, discord.MessageID(w.ID)), &m); err != nil {
				return found, err
			}
			if string(m.ID) != w.ID {
				return found, incomplete("the message")
			}
			return found, s.is(in, m)
		},
	}.on(rest)
}

// is is an error unless the message is the bot's forward of what was reviewed.
func (s *messageForwardState) is(in messageForward, m forwarded) error {
	var of forwardReference
	switch {
	case json.Unmarshal(m.Reference, &of) != nil || of.Type != forwarding || of.Channel != in.SourceID || of.Message != in.MessageID,
		m.Channel != in.TargetID || !m.wroteIt(s.Target.Permission.Bot) || m.Content != "" || !m.mentionsOnly(nil),
		len(m.Snapshots) != 1 || carries(m.Snapshots[0].Message) != s.Carries:
		return errors.New("what is there is not the forward of the message as it was reviewed")
	}
	return nil
}

// carries is a digest of what a forward carries of a message: its text, files and
// stickers. What Discord itself changes is left out, as in [said], and so are the
// type and the ids of files, which a copy may have anew.
func carries(m message) string {
	type file struct {
		Name        string
		Size        int
		Description string
	}
	c := struct {
		Content  string
		Files    []file
		Stickers []discord.StickerID
		Edited   *time.Time
	}{Content: m.Content, Edited: m.Edited}
	for _, a := range m.Attachments {
		c.Files = append(c.Files, file{a.Filename, a.Size, a.Description})
	}
	for _, s := range m.Stickers {
		c.Stickers = append(c.Stickers, s.ID)
	}
	return snapshot(c)
}

func planForward(ctx context.Context, r *reads, in messageForward) (plan mcpcore.Change[messageForwardState], err error) {
	source, err := r.place(ctx, in.SourceID)
	if err != nil {
		return plan, err
	}
	target, err := r.place(ctx, in.TargetID)
	if err != nil {
		return plan, err
	}
	if err := forwards(r.Call, &source, &target); err != nil {
		return plan, err
	}
	if err := r.readsContent(ctx); err != nil {
		return plan, err
	}
	m, err := r.message(ctx, in.SourceID, in.MessageID)
	if err != nil {
		return plan, err
	}
	var reference forwardReference
	if m.Reference != nil && json.Unmarshal(m.Reference, &reference) != nil {
		return plan, incomplete("what the message refers to")
	}
	if !slices.Contains(spoken, m.Type) || m.Poll != nil || reference.Type == forwarding || m.Flags&flagHasSnapshot != 0 {
		return plan, refused("not-plain", "%s is a poll, a forward or a message of Discord itself", m.ID)
	}
	s := messageForwardState{
		Source: forwardPlace{source.placeSeen, source.restricted}, Target: forwardPlace{target.placeSeen, target.restricted},
		Message: messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, snapshot(m)}, Carries: carries(m),
	}
	s.Nonce = digest([]byte(in.SourceID + "/" + discord.ChannelID(in.MessageID) + "/" + in.TargetID))[len("sha256:"):][:25]
	return mcpcore.Change[messageForwardState]{
		Action: "forward", State: s,
		Facts: append(mcpcore.Facts{
			{Name: "from", Value: source.Guild.Name + ", " + source.Channel.Name}, {Name: "to", Value: target.Guild.Name + ", " + target.Channel.Name},
		}, m.facts()...),
		Warnings: []string{"Whoever can read the target reads it, whether or not they can read where it comes from."},
	}, nil
}

// forwards refuses places between which the bot cannot forward, or may not.
func forwards(call *mcpcore.Call, source, target *place) error {
	switch {
	case !slices.Contains(forwardTypes, source.kind):
		return refused("source-type", "%s is a %s", source.Channel.ID, source.kind)
	case !slices.Contains(forwardTypes, target.kind):
		return refused("target-type", "%s is a %s", target.Channel.ID, target.kind)
	case source.restricted && !target.restricted:
		return refused("age-restricted", "what is said in %s is for adults, and %s is for all", source.Channel.ID, target.Channel.ID)
	}
	if source.Guild.ID != target.Guild.ID {
		if err := call.Permitted("crossGuildTargets", string(target.Channel.ID)); err != nil {
			return err
		}
	}
	if err := source.needs(discord.ViewChannel | discord.ReadMessageHistory); err != nil {
		return err
	}
	return target.needs(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages)
}
