package workflows

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMessages = "GET /channels/{channel_id}/messages"
	routeMessage  = "GET /channels/{channel_id}/messages/{message_id}"
)

// placeRoutes are what [reads.place] reads.
var placeRoutes = append(slices.Clone(standingRoutes), routeChannel)

// spoken are the types of messages of people and of applications: plain ones,
// replies and answers to commands. All others are Discord's own.
//
// Source: https://docs.discord.com/developers/resources/message#message-object-message-types.
var spoken = []int{0, 19, 20, 23}

func onMessage(in discord.ChannelID, id discord.MessageID) path {
	return path{"channel_id": string(in), "message_id": string(id)}
}

// place is a channel or thread of a guild with what the bot may do there.
type place struct {
	placeSeen
	bot        standing
	kind       discord.ChannelType
	may        discord.Permissions
	restricted bool // to adults
}

// placeSeen is a place as a plan binds it.
type placeSeen struct {
	Guild      guildSeen         `json:"guild"`
	Channel    channelSeen       `json:"channel"`
	Type       string            `json:"channelType"`
	Parent     discord.ChannelID `json:"parentId,omitempty"`
	Archived   bool              `json:"archived,omitempty"`
	Locked     bool              `json:"locked,omitempty"`
	Permission evidence          `json:"permission"`
	Here       []string          `json:"channelPermissions"`
}

// place reads a channel, the one it is a thread of, and the bot's standing.
func (r *reads) place(ctx context.Context, id discord.ChannelID) (p place, err error) {
	var c struct {
		channel
		NSFW   bool `json:"nsfw"`
		Thread *struct {
			Archived bool `json:"archived"`
			Locked   bool `json:"locked"`
		} `json:"thread_metadata"`
	}
	if err := r.get(ctx, routeChannel, inChannel(id), &c); err != nil {
		return p, err
	}
	switch {
	case c.ID != id:
		return p, incomplete("the channel")
	case c.Guild == "":
		return p, refused("no-guild", "%s is no channel of a guild", id)
	case c.Type.IsThread() && (c.Thread == nil || c.Parent == ""):
		return p, incomplete("the thread")
	}
	if p.bot, err = r.standing(ctx, c.Guild); err != nil {
		return p, err
	}
	counts := c.channel
	if c.Type.IsThread() {
		p.Archived, p.Locked = c.Thread.Archived, c.Thread.Locked
		if err := r.get(ctx, routeChannel, inChannel(c.Parent), &counts); err != nil {
			return p, err
		}
		if counts.ID != c.Parent || counts.Guild != c.Guild {
			return p, incomplete("the channel of the thread")
		}
		counts.Type = c.Type // what counts in a thread is decided by its channel's overwrites
	}
	if p.may, err = p.bot.in(counts); err != nil {
		return p, err
	}
	p.Guild, p.Channel, p.Type, p.Parent = p.bot.Guild, channelSeen{c.ID, c.Name}, c.Type.String(), c.Parent
	p.kind, p.restricted = c.Type, c.NSFW
	p.Permission, p.Here = p.bot.evidence(), p.may.Names()
	return p, nil
}

func (p *place) needs(all discord.Permissions) error {
	return lacks(p.may, all, "the channel")
}

// reading is what it takes to read the messages there.
func (p *place) reading() discord.Permissions {
	if p.kind == discord.GuildVoice || p.kind == discord.GuildStageVoice {
		return discord.ViewChannel | discord.ReadMessageHistory | discord.Connect
	}
	return discord.ViewChannel | discord.ReadMessageHistory
}

// message is a message as Discord tells it, as far as a plan may depend on it.
// Addresses of attachments expire, and are left out.
type message struct {
	ID      discord.MessageID `json:"id"`
	Channel discord.ChannelID `json:"channel_id"`
	Author  struct {
		ID discord.UserID `json:"id"`
	} `json:"author"`
	Webhook     discord.WebhookID `json:"webhook_id"`
	Type        int               `json:"type"`
	Content     string            `json:"content"`
	Embeds      []json.RawMessage `json:"embeds"`
	Components  []json.RawMessage `json:"components"`
	Attachments []struct {
		ID          discord.AttachmentID `json:"id"`
		Filename    string               `json:"filename"`
		Size        int                  `json:"size"`
		Description string               `json:"description"`
	} `json:"attachments"`
	Stickers []struct {
		ID discord.StickerID `json:"id"`
	} `json:"sticker_items"`
	Poll      json.RawMessage `json:"poll"`
	Reference json.RawMessage `json:"message_reference"`
	Pinned    bool            `json:"pinned"`
	Flags     int             `json:"flags"`
	Edited    *time.Time      `json:"edited_timestamp"`
	Everyone  bool            `json:"mention_everyone"`
	Mentions  []struct {
		ID discord.UserID `json:"id"`
	} `json:"mentions"`
	MentionRoles []discord.RoleID `json:"mention_roles"`
}

// wroteIt reports whether the bot itself wrote the message.
func (m *message) wroteIt(bot discord.UserID) bool { return m.Author.ID == bot && m.Webhook == "" }

// facts are what people must see of a message.
func (m *message) facts() mcpcore.Facts {
	return mcpcore.Facts{
		{Name: "author", Value: string(m.Author.ID)}, {Name: "says", Value: excerpt(m.Content)},
		{Name: "attachments", Value: strconv.Itoa(len(m.Attachments))}, {Name: "embeds", Value: strconv.Itoa(len(m.Embeds))},
	}
}

// message reads one message.
func (r *reads) message(ctx context.Context, in discord.ChannelID, id discord.MessageID) (m message, err error) {
	if err := r.get(ctx, routeMessage, onMessage(in, id), &m); err != nil {
		return m, err
	}
	if m.ID != id || m.Channel != in || m.Author.ID == "" {
		return m, incomplete("the message")
	}
	return m, nil
}

// messages finds messages of a channel in its history, and which of them are not
// there. It needs READ_MESSAGE_HISTORY, without which everything looks gone.
func (r *reads) messages(ctx context.Context, in discord.ChannelID, ids []discord.MessageID) (found map[discord.MessageID]message, missing []discord.MessageID, err error) {
	left := slices.SortedFunc(slices.Values(ids), discord.CompareIDs)
	found = map[discord.MessageID]message{}
	for len(left) > 0 { // each page settles at least the newest that is left
		newest, err := strconv.ParseUint(string(left[len(left)-1]), 10, 64)
		if err != nil || newest == math.MaxUint64 {
			return nil, nil, incomplete("the message " + string(left[len(left)-1]))
		}
		var page []message
		query := map[string][]string{"limit": {"100"}, "before": {strconv.FormatUint(newest+1, 10)}}
		if err := r.query(ctx, routeMessages, inChannel(in), query, &page); err != nil {
			return nil, nil, err
		}
		oldest := discord.MessageID("")
		if len(page) == 100 {
			oldest = page[len(page)-1].ID
		}
		for _, m := range page {
			found[m.ID] = m
		}
		for len(left) > 0 && discord.CompareIDs(left[len(left)-1], oldest) >= 0 {
			last := left[len(left)-1]
			left = left[:len(left)-1]
			if m, ok := found[last]; !ok {
				missing = append(missing, last)
			} else if m.Channel != in {
				return nil, nil, incomplete("the messages of the channel")
			}
		}
	}
	slices.Reverse(missing)
	return found, missing, nil
}
