package discord_test

import (
	"math/rand/v2"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// channelCase is a member in a channel of a guild.
type channelCase struct {
	owner bool
	roles map[discord.RoleID]discord.Permissions // of the guild, @everyone included
	held  []discord.RoleID
	over  []discord.Overwrite
}

const (
	caseGuild  discord.GuildID = "700000000000000001"
	caseMember discord.UserID  = "700000000000000002"
)

// naive decides one permission by walking the rules of Discord's documentation
// in words, without any set of bits.
//
// Source: https://docs.discord.com/developers/topics/permissions#permission-overwrites.
func (c channelCase) naive(p discord.Permissions) bool {
	holds := func(id discord.OverwriteID) bool {
		for _, r := range c.held {
			if string(r) == string(id) {
				return true
			}
		}
		return false
	}
	has := func(want discord.Permissions) bool {
		for id, granted := range c.roles {
			if (string(id) == string(caseGuild) || holds(discord.OverwriteID(id))) && granted&want != 0 {
				return true
			}
		}
		return false
	}
	if c.owner || has(discord.Administrator) {
		return p&discord.KnownPermissions != 0 || has(p)
	}
	allowed := has(p)
	for _, o := range c.over {
		if o.Type == discord.OverwriteRole && string(o.ID) == string(caseGuild) {
			if o.Deny&p != 0 {
				allowed = false
			}
			if o.Allow&p != 0 {
				allowed = true
			}
		}
	}
	denied, granted := false, false
	for _, o := range c.over {
		if o.Type == discord.OverwriteRole && string(o.ID) != string(caseGuild) && holds(o.ID) {
			denied = denied || o.Deny&p != 0
			granted = granted || o.Allow&p != 0
		}
	}
	if denied {
		allowed = false
	}
	if granted {
		allowed = true
	}
	for _, o := range c.over {
		if o.Type == discord.OverwriteMember && string(o.ID) == string(caseMember) {
			if o.Deny&p != 0 {
				allowed = false
			}
			if o.Allow&p != 0 {
				allowed = true
			}
		}
	}
	return allowed
}

func (c channelCase) computed() discord.Permissions {
	sets := []discord.Permissions{c.roles[discord.RoleID(caseGuild)]}
	for _, r := range c.held {
		sets = append(sets, c.roles[r])
	}
	return discord.InChannel(discord.Base(c.owner, sets...), caseGuild, caseMember, c.held, c.over)
}

// drawn is a case of few ids, so that they meet. A quarter of the cases could
// hold ADMINISTRATOR; in the others overwrites decide.
func drawn(r *rand.Rand) channelCase {
	ids := []string{string(caseGuild), string(caseMember), "700000000000000003", "700000000000000004", "700000000000000005"}
	set := func() discord.Permissions {
		p := discord.Permissions(r.Uint64() & r.Uint64())
		if r.IntN(4) > 0 {
			p &^= discord.Administrator
		}
		return p
	}
	c := channelCase{owner: r.IntN(12) == 0, roles: map[discord.RoleID]discord.Permissions{discord.RoleID(caseGuild): set()}}
	for _, id := range ids[2:] {
		c.roles[discord.RoleID(id)] = set()
		if r.IntN(2) == 0 {
			c.held = append(c.held, discord.RoleID(id))
		}
	}
	for _, i := range r.Perm(len(ids)) { // Discord has one overwrite per id
		if r.IntN(3) > 0 {
			c.over = append(c.over, discord.Overwrite{ID: discord.OverwriteID(ids[i]), Type: r.IntN(2), Allow: set(), Deny: set()})
		}
	}
	return c
}

func TestPermissionsAreWhatTheRulesSayOneByOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	limited := 0
	for range 3000 {
		c := drawn(r)
		got := c.computed()
		if !got.Has(discord.Administrator) {
			limited++
		}
		for bit := range 64 {
			p := discord.Permissions(1) << bit
			if want := c.naive(p); got.Has(p) != want {
				t.Fatalf("%v: computed %v, by the rules %v\n%+v", p, got.Has(p), want, c)
			}
		}
	}
	if limited < 1000 {
		t.Errorf("in only %d cases overwrites counted", limited)
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	all := discord.KnownPermissions
	for name, row := range map[string]struct {
		p    discord.Permissions
		kind discord.ChannelType
		want discord.Permissions
	}{
		"everything":              {all, discord.GuildText, all},
		"unseen":                  {all &^ discord.ViewChannel, discord.GuildText, discord.GuildWide},
		"unseen, little":          {discord.SendMessages | discord.BanMembers, discord.GuildText, discord.BanMembers},
		"voice":                   {all, discord.GuildVoice, all},
		"voice without connect":   {discord.ViewChannel | discord.MuteMembers | discord.BanMembers, discord.GuildVoice, discord.ViewChannel | discord.BanMembers},
		"stage without connect":   {discord.ViewChannel | discord.ManageChannels, discord.GuildStageVoice, discord.ViewChannel},
		"text without connect":    {discord.ViewChannel | discord.ManageChannels, discord.GuildText, discord.ViewChannel | discord.ManageChannels},
		"nothing":                 {0, discord.GuildText, 0},
		"voice unseen, connected": {discord.Connect | discord.Speak, discord.GuildVoice, 0},
	} {
		if got := discord.Effective(row.p, row.kind); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestKindsOfIdentifiers(t *testing.T) {
	t.Parallel()
	seen := map[discord.Kind]discord.Identifier{}
	for _, id := range []discord.Identifier{
		discord.ApplicationID(""), discord.AttachmentID(""), discord.ChannelID(""), discord.CommandID(""), discord.EmojiID(""),
		discord.EntitlementID(""), discord.EventID(""), discord.GuildID(""), discord.IntegrationID(""), discord.InteractionID(""),
		discord.InviteCode(""), discord.MessageID(""), discord.OptionID(""), discord.OverwriteID(""), discord.PromptID(""), discord.RoleID(""), discord.RuleID(""),
		discord.SKUID(""), discord.Snowflake(""), discord.SoundID(""), discord.StickerID(""), discord.SubscriptionID(""),
		discord.TagID(""), discord.TemplateCode(""), discord.UserID(""), discord.WebhookID(""), discord.WebhookToken(""),
	} {
		if other := seen[id.Kind()]; id.Kind() == "" || other != nil {
			t.Errorf("%T has the kind %q of %T", id, id.Kind(), other)
		}
		seen[id.Kind()] = id
	}
}
