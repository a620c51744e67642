package sandbox

import (
	"fmt"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// What follows is what people do in their clients while a bot works: it leaves
// no request and no audit entry.

// ChangeMessage changes a message.
func (d *Discord) ChangeMessage(in discord.ChannelID, id discord.MessageID, change func(*Message)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, m := known(d.world.channels, in).find(id)
	if m == nil {
		panic(fmt.Sprintf("sandbox: there is no message %s", id))
	}
	change(m)
}

// RemoveMessages deletes messages of a channel.
func (d *Discord) RemoveMessages(in discord.ChannelID, ids ...discord.MessageID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		known(d.world.channels, in).remove(id)
	}
}

// SetApplicationFlags says which privileged intents the bot's application has,
// by Discord's flags of it.
func (d *Discord) SetApplicationFlags(flags int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world.app.flags = &flags
}

// ChangeWebhook changes a webhook.
func (d *Discord) ChangeWebhook(id discord.WebhookID, change func(*Webhook)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(d.world.webhooks, id))
}

// ChangeGuild changes a guild's own settings.
func (d *Discord) ChangeGuild(id discord.GuildID, change func(*Guild)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&known(d.world.guilds, id).Guild)
}

// ChangeTemplate changes a guild's template.
func (d *Discord) ChangeTemplate(of discord.GuildID, change func(*Template)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, of)
	if g.template == nil {
		panic(fmt.Sprintf("sandbox: guild %s has no template", of))
	}
	change(g.template)
}

// ChangeAutoModRule changes a rule.
func (d *Discord) ChangeAutoModRule(in discord.GuildID, id discord.RuleID, change func(*AutoModRule)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(known(d.world.guilds, in).rules, id))
}

// RemoveAutoModRule deletes a rule.
func (d *Discord) RemoveAutoModRule(in discord.GuildID, id discord.RuleID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(known(d.world.guilds, in).rules, id)
}

// ChangeEvent changes a scheduled event.
func (d *Discord) ChangeEvent(in discord.GuildID, id discord.EventID, change func(*Event)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(known(d.world.guilds, in).events, id))
}

// ChangeEmoji changes an emoji.
func (d *Discord) ChangeEmoji(in discord.GuildID, id discord.EmojiID, change func(*Emoji)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(known(d.world.guilds, in).emojis, id))
}

// ChangeSticker changes a sticker.
func (d *Discord) ChangeSticker(in discord.GuildID, id discord.StickerID, change func(*Sticker)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(known(d.world.guilds, in).stickers, id))
}

// ChangeCommand changes a command, in whichever guild it is or everywhere.
func (d *Discord) ChangeCommand(id discord.CommandID, change func(*Command)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.world.app.commands[id]; c != nil {
		change(c)
	}
	for _, g := range d.world.guilds {
		if c := g.commands[id]; c != nil {
			change(c)
		}
	}
}

// ChangeApplicationEmoji changes an emoji of the application.
func (d *Discord) ChangeApplicationEmoji(id discord.EmojiID, change func(*Emoji)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(d.world.app.emojis, id))
}

// ChangeUser changes a user's account.
func (d *Discord) ChangeUser(id discord.UserID, change func(*User)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(d.world.users, id))
}

// ChangeEntitlement changes what somebody has of the application's offers.
func (d *Discord) ChangeEntitlement(id discord.EntitlementID, change func(*Entitlement)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(d.world.app.entitlements, id))
}

// ChangeSound changes a guild's own sound.
func (d *Discord) ChangeSound(in discord.GuildID, id discord.SoundID, change func(*Sound)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(known(known(d.world.guilds, in).sounds, id))
}
