package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeThreadOnMessage = "POST /channels/{channel_id}/messages/{message_id}/threads"

type threadCreate struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"text or announcement channel to start it in"`
	Kind      string            `json:"kind" jsonschema:"on a message, or by itself, for all or for those who are added" enum:"from-message,standalone-public,standalone-private"`
	MessageID discord.MessageID `json:"messageId,omitempty" jsonschema:"from-message: the message"`
	newThread
	Invitable *bool `json:"invitable,omitempty" jsonschema:"standalone-private: whether members may add others"`
	reason
}

type threadCreateState struct {
	placeSeen
	Message   *messageSeen        `json:"message" jsonschema:"what it is started on"`
	Existing  discord.ChannelID   `json:"existingThread,omitempty"`
	Kind      discord.ChannelType `json:"type"`
	Wanted    newThread           `json:"wanted"`
	Invitable *bool               `json:"invitable,omitempty"`
}

// threadCreateBody is the request for a thread without a message.
type threadCreateBody struct {
	newThreadBody
	Type      discord.ChannelType `json:"type"`
	Invitable *bool               `json:"invitable,omitempty"`
}

// threadCreation starts a thread in a text or announcement channel.
func threadCreation(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[threadCreate, threadCreateState]{
		Name: "thread-creation", Category: "threads", Title: "Start a thread",
		Doc: `Starts a thread on a message, or a public or private one without a message; in announcement channels no private one. A
			message that has a thread keeps it, archived or not, and nothing is done.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels in which threads may be started"}},
		Rules: []mcpcore.Rule{newThreadRule, {Check: func(c *mcpcore.Call) *mcpcore.Issue {
			switch kind := c.Text("kind"); {
			case c.Has("messageId") != (kind == "from-message"):
				return issue("messageId", "goes with the kind from-message, which needs it")
			case c.Has("invitable") && kind != "standalone-private":
				return issue("invitable", "goes with the kind standalone-private")
			}
			return nil
		}}},
		Reads: append(slices.Clone(placeRoutes), routeMessage),
		Write: []string{routeThreadStart, routeThreadOnMessage},
		Paced: posts(paced, func(in threadCreate, _ threadCreateState) discord.ChannelID { return in.ChannelID }),
		Plan:  planThreadCreation,
		Targets: func(in threadCreate, _ threadCreateState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID)}
		},
		Apply: func(ctx context.Context, w *write, in threadCreate, s threadCreateState) (done mcpcore.Written, err error) {
			var made thread
			if s.Message != nil {
				err = w.send(ctx, routeThreadOnMessage, onMessage(in.ChannelID, in.MessageID), s.Wanted.body(), &made)
			} else {
				err = w.send(ctx, routeThreadStart, inChannel(in.ChannelID), threadCreateBody{s.Wanted.body(), s.Kind, s.Invitable}, &made)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil {
				err = s.is(made)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in threadCreate, s threadCreateState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			t, err := r.thread(ctx, s.Guild.ID, discord.ChannelID(w.ID))
			if err == nil {
				err = s.is(t)
			}
			var d drift
			s.Wanted.compare(t, &d)
			d.unless(s.Invitable == nil || t.Meta.Invitable == *s.Invitable, "invitable")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// is is an error unless the thread is the one that was asked for. One that was
// started on a message has its id.
func (s *threadCreateState) is(t thread) error {
	if s.Message != nil && string(t.ID) != string(s.Message.ID) {
		return errOtherChannel
	}
	return t.started(s.Permission.Bot, s.placeSeen, s.Kind)
}

func planThreadCreation(ctx context.Context, r *reads, in threadCreate) (plan mcpcore.Change[threadCreateState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	s := threadCreateState{placeSeen: at.placeSeen, Wanted: in.newThread.tidy(), Invitable: in.Invitable}
	needs := discord.ViewChannel
	switch private := in.Kind == "standalone-private"; {
	case private && at.kind == discord.GuildText:
		s.Kind, needs = discord.PrivateThread, needs|discord.CreatePrivateThreads
	case !private && at.kind == discord.GuildText:
		s.Kind, needs = discord.PublicThread, needs|discord.CreatePublicThreads
	case !private && at.kind == discord.GuildAnnouncement:
		s.Kind, needs = discord.AnnouncementThread, needs|discord.CreatePublicThreads
	default:
		return plan, refused("channel-type", "in %s, a %s, no %s thread can be started", in.ChannelID, at.kind, in.Kind)
	}
	if in.MessageID != "" {
		needs |= discord.ReadMessageHistory
	}
	if err := at.needs(needs); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[threadCreateState]{Action: "create", Facts: append(mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "starts", Value: s.Kind.String() + " " + s.Wanted.Name},
	}, s.Wanted.facts()...)}
	if in.MessageID != "" {
		m, err := r.message(ctx, in.ChannelID, in.MessageID)
		if err != nil {
			return plan, err
		}
		s.Message = &messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, said(m)}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "on the message", Value: excerpt(m.Content)})
		if s.Existing, err = r.threadOf(ctx, m); err != nil {
			return plan, err
		}
	}
	if s.Existing != "" {
		nothing(&plan)
		plan.Warnings = []string{"The message has a thread already."}
	}
	plan.State = s
	return plan, nil
}

// threadOf is the thread that was started on a message, "" for none.
func (r *reads) threadOf(ctx context.Context, m message) (discord.ChannelID, error) {
	var t channel
	switch err := r.get(ctx, routeChannel, path{"channel_id": string(m.ID)}, &t); {
	case gone(err):
		return "", nil
	case err != nil:
		return "", err
	case string(t.ID) != string(m.ID) || t.Parent != m.Channel || !t.Type.IsThread():
		return "", incomplete("the thread of the message")
	}
	return t.ID, nil
}
