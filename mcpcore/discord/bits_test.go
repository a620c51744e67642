package discord_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestBitsKeepWhatDiscordWrote(t *testing.T) {
	t.Parallel()
	const widest = "115792089237316195423570985008687907853269984665640564039457584007913129639935" // 2^256 - 1
	for _, s := range []discord.PermissionSet{"0", "8", "18446744073709551615", "18446744073709551616", "1180591620717411303424", widest} {
		b, err := s.Bits()
		if err != nil || b.Set() != s {
			t.Errorf("%s: %s, %v", s, b.Set(), err)
		}
	}
	for _, s := range []discord.PermissionSet{"", "-1", "-0", "+1", "1.5", "0x8", " 8", "1_000", widest + "0", "115792089237316195423570985008687907853269984665640564039457584007913129639936"} {
		if b, err := s.Bits(); err == nil {
			t.Errorf("%q is read as %v", s, b)
		}
		if _, err := s.Permissions(); err == nil {
			t.Errorf("%q is a set of permissions", s)
		}
	}
	if p, err := discord.PermissionSet("18446744073709551624").Permissions(); err != nil || p != discord.Administrator {
		t.Errorf("low bits %v, %v", p, err)
	}
	b, _ := discord.PermissionSet("1180591620717411303434").Bits() // 2^70, 8 and 2
	if got := strings.Join(b.Names(), " "); got != "KICK_MEMBERS ADMINISTRATOR BIT_70" {
		t.Errorf("names %s", got)
	}
	if got := b.Unknown().Set(); got != "1180591620717411303424" {
		t.Errorf("unknown %s", got)
	}
	if got := discord.PermissionSet("1180591620717411303426").Overlap("1180591620717411303432"); !slices.Equal(got, []string{"BIT_70"}) {
		t.Errorf("overlap %v", got)
	}
	if got := discord.PermissionSet("8").Overlap("x"); got != nil {
		t.Errorf("overlap with no set %v", got)
	}
}

// TestRightsAreTheSameOnBits computes each case on both kinds of sets.
func TestRightsAreTheSameOnBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	high := discord.Bits{0, 1, 0, 4}
	for range 500 {
		c := drawn(r)
		sets := []discord.Bits{discord.WideBits(c.roles[discord.RoleID(caseGuild)]).Or(high)}
		for _, role := range c.held {
			sets = append(sets, discord.WideBits(c.roles[role]))
		}
		var over []discord.OverwriteOf[discord.Bits]
		for _, o := range c.over {
			over = append(over, discord.OverwriteOf[discord.Bits]{ID: o.ID, Type: o.Type, Allow: discord.WideBits(o.Allow), Deny: discord.WideBits(o.Deny)})
		}
		got := discord.InChannel(discord.Base(c.owner, sets...), caseGuild, caseMember, c.held, over)
		if want := discord.WideBits(c.computed()).Or(high); got != want {
			t.Fatalf("%v, want %v\n%+v", got, want, c)
		}
		if during := discord.DuringTimeout(got); during != discord.WideBits(discord.DuringTimeout(c.computed())) {
			t.Fatalf("during a timeout %v", during)
		}
	}
}

func TestPermissionNames(t *testing.T) {
	t.Parallel()
	for _, name := range discord.KnownPermissions.Names() {
		if p := discord.PermissionName(name).Permission(); p.String() != name {
			t.Errorf("%s is %v", name, p)
		}
	}
	if p := discord.PermissionName("MANAGE_EMOJIS_AND_STICKERS").Permission(); p != discord.ManageGuildExpressions {
		t.Errorf("the old name is %v", p)
	}
	for _, name := range []discord.PermissionName{"", "FLY", "BIT_47"} {
		if p := name.Permission(); p != 0 {
			t.Errorf("%q is %v", name, p)
		}
	}
}

func TestBlocksSayWhatIsLacking(t *testing.T) {
	t.Parallel()
	blocks := discord.Blocks(discord.EmbedLinks|discord.SendMessages|discord.BanMembers, discord.PublicThread)
	var said []string
	for _, b := range blocks {
		said = append(said, b.Permissions.String()+" lacks "+b.Lacking.String())
	}
	if want := []string{
		"SEND_MESSAGES, EMBED_LINKS lacks VIEW_CHANNEL", "SEND_MESSAGES lacks SEND_MESSAGES_IN_THREADS", "EMBED_LINKS lacks SEND_MESSAGES_IN_THREADS",
	}; !slices.Equal(said, want) {
		t.Errorf("got %q", said)
	}
	if blocks := discord.Blocks(discord.KnownPermissions, discord.GuildVoice); blocks != nil {
		t.Errorf("of everything %v is worth nothing", blocks)
	}
}
