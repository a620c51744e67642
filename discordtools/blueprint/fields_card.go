package blueprint

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// cards looks for publications by their marks.
func (f *Draft) cards() {
	for i := range f.Document.publications() {
		p := &f.Document.Components.Publications[i]
		channel := f.Bindings.Channels[p.Channel]
		card := p.card(f.Bindings.Channels)
		at := resCard + ":" + string(p.Key)
		var mine []liveCard
		for _, c := range f.Guild.Cards {
			if c.Key == p.Key && channel != "" && string(c.Channel) == channel {
				mine = append(mine, c)
			}
		}
		same := slices.IndexFunc(mine, func(c liveCard) bool {
			return card != nil && c.Digest == cardDigest(layoutTree(splitList(card)))
		})
		switch {
		case same >= 0:
			f.Bindings.Publications[p.Key] = string(mine[same].Message)
		case len(mine) > 0:
			f.block(CodeConflict, at, "Delete the old message by hand, or give the publication another key.", "the bot's message %s says something else than the blueprint", mine[0].Message)
		case f.shut(p.Channel):
			f.block(CodePermissions, at, "Let the bot see the channel, read its history and write in it.", "the bot cannot publish into %s, or see whether it did", p.Channel)
		case channel != "" && slices.Contains(f.Guild.Unread, channel):
			f.block(CodeHistory, at, "Send it by hand, or publish into a channel with fewer messages.", "the channel has more messages than are read, so that nobody can tell whether it was sent")
		default:
			f.do(PhasePublications, doSend, resCard, p.Key, medium, fmt.Sprintf("send %s into %s", p.Key, p.Channel), nil)
			f.needs |= discord.ViewChannel | discord.SendMessages | discord.ReadMessageHistory
		}
	}
}

// splitList are the items of a JSON list.
func splitList(raw json.RawMessage) (items []json.RawMessage) {
	_ = json.Unmarshal(raw, &items) // of a list of our own making
	return items
}

// shut reports whether the bot cannot use a channel that is there and stays as it
// is: without its history nobody could tell whether something was sent.
func (f *Draft) shut(key Symbol) bool {
	l := f.Guild.channel(discord.ChannelID(f.Bindings.Channels[key]))
	return l != nil && f.change(resChannel, key) == "" && !f.Guild.inChannel(*l).Has(discord.ViewChannel|discord.SendMessages|discord.ReadMessageHistory)
}
