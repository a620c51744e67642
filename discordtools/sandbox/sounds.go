package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// soundRoutes are the soundboard: Discord's sounds and a guild's, and playing
// them.
//
// Source: https://docs.discord.com/developers/resources/soundboard.
var soundRoutes = []route{
	{method: "GET", path: "/soundboard-default-sounds", handle: listDefaultSounds},
	{method: "GET", path: "/guilds/{guild_id}/soundboard-sounds", handle: inGuild(0, listSounds)},
	{method: "POST", path: "/guilds/{guild_id}/soundboard-sounds", handle: inGuild(discord.CreateGuildExpressions, createSound)},
	{method: "GET", path: "/guilds/{guild_id}/soundboard-sounds/{sound_id}", handle: onSound(false, getSound)},
	{method: "PATCH", path: "/guilds/{guild_id}/soundboard-sounds/{sound_id}", handle: onSound(true, editSound)},
	{method: "DELETE", path: "/guilds/{guild_id}/soundboard-sounds/{sound_id}", handle: onSound(true, deleteSound)},
	{method: "POST", path: "/channels/{channel_id}/send-soundboard-sound", handle: inChannel(discord.Speak|discord.UseSoundboard, playSound)},
}

const (
	auditSoundCreate = 130
	auditSoundUpdate = 131
	auditSoundDelete = 132

	largestSound = 512 << 10
)

var (
	errUnknownSound = notFound(10097, "Unknown sound")
	errSoundsFull   = badRequest(30045, "Maximum number of soundboard sounds reached")
	errSoundType    = badRequest(50123, "The provided file type is invalid.")
	errSilenced     = forbidden(50167, "Cannot send voice effect when user is server muted, deafened, or suppressed")
	errNotThere     = forbidden(50168, "User must be in voice channel to send voice channel effect")
)

// Sound is a guild's own sound. Its bytes are not kept.
type Sound struct {
	ID     discord.SoundID
	Name   string
	Volume float64 // 0 is silent
	Emoji  EmojiRef
	By     discord.UserID
}

// Played is a sound that was played in a voice channel.
type Played struct {
	Channel discord.ChannelID
	Sound   discord.SoundID
	By      discord.UserID
}

// DemoDefaultSound is one of Discord's own sounds, the same in every sandbox.
const DemoDefaultSound discord.SoundID = "1"

// defaultSounds are Discord's own, whose ids are short.
var defaultSounds = []Sound{
	{ID: DemoDefaultSound, Name: "quack", Volume: 1, Emoji: EmojiRef{Name: "🦆"}},
	{ID: "2", Name: "airhorn", Volume: 1, Emoji: EmojiRef{Name: "🔊"}},
	{ID: "3", Name: "cricket", Volume: 1, Emoji: EmojiRef{Name: "🦗"}},
}

// AddSound adds a sound of a guild.
func (d *Discord) AddSound(in discord.GuildID, s Sound) discord.SoundID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &s.ID)
	unused(g.sounds, s.ID)
	g.setSound(&s)
	return s.ID
}

// Sounds lists a guild's own sounds, the oldest first.
func (d *Discord) Sounds(in discord.GuildID) []Sound {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil {
		return mapped(sorted(g.sounds), func(s *Sound) Sound { return *s })
	}
	return nil
}

// Played lists the sounds that were played, the first one first.
func (d *Discord) Played() []Played {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.world.played)
}

func (g *guild) setSound(s *Sound) {
	if g.sounds == nil {
		g.sounds = map[discord.SoundID]*Sound{}
	}
	g.sounds[s.ID] = s
}

// onSound resolves {guild_id} and {sound_id}. To change a sound takes
// MANAGE_GUILD_EXPRESSIONS, or CREATE_GUILD_EXPRESSIONS for the bot's own.
func onSound(change bool, handle func(*exchange, *guild, *Sound) (answer, error)) handler {
	return inGuild(0, func(x *exchange, g *guild) (answer, error) {
		s := g.sounds[id[discord.SoundID](x, "sound_id")]
		switch {
		case s == nil:
			return refuse(errUnknownSound)
		case change && !x.managesExpression(g, s.By):
			return refuse(errMissingPermissions)
		}
		return handle(x, g, s)
	})
}

type soundView struct {
	ID        discord.SoundID  `json:"sound_id"`
	Name      string           `json:"name"`
	Volume    float64          `json:"volume"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
	Available bool             `json:"available"`
	Guild     discord.GuildID  `json:"guild_id,omitempty"`
	User      *userView        `json:"user,omitempty"`
}

func viewSound(s *Sound) soundView {
	v := soundView{ID: s.ID, Name: s.Name, Volume: s.Volume, EmojiID: textOrNull(s.Emoji.ID), Available: true}
	if s.Emoji.ID == "" {
		v.EmojiName = textOrNull(s.Emoji.Name)
	}
	return v
}

func (x *exchange) viewSoundIn(g *guild, s *Sound) soundView {
	v := viewSound(s)
	v.Guild, v.User = g.ID, x.uploader(g, s.By)
	return v
}

func listDefaultSounds(*exchange) (answer, error) {
	return ok(mapped(defaultSounds, func(s Sound) soundView { return viewSound(&s) }))
}

func listSounds(x *exchange, g *guild) (answer, error) {
	return ok(struct {
		Items []soundView `json:"items"`
	}{mapped(sorted(g.sounds), func(s *Sound) soundView { return x.viewSoundIn(g, s) })})
}

func getSound(x *exchange, g *guild, s *Sound) (answer, error) { return ok(x.viewSoundIn(g, s)) }

// soundForm is what both a new and a changed sound may have.
type soundForm struct {
	Volume    opt[float64]         `json:"volume" minimum:"0" maximum:"1"`
	EmojiID   opt[discord.EmojiID] `json:"emoji_id"`
	EmojiName opt[string]          `json:"emoji_name" minLength:"1" maxLength:"32"`
}

// into puts the form into a sound. A sound has one emoji: a custom one of the
// guild, or a standard one.
func (f soundForm) into(x *exchange, g *guild, s *Sound) error {
	if f.Volume.sent {
		s.Volume = f.Volume.or(1)
	}
	switch {
	case f.EmojiID.has() && f.EmojiName.has():
		return invalid("emoji_id", "BASE_TYPE_CHOICES", "Only one of emoji_id and emoji_name may be set.")
	case f.EmojiID.has() && g.emojis[f.EmojiID.value] == nil:
		return errUnknownEmoji
	case f.EmojiID.has():
		s.Emoji = EmojiRef{ID: f.EmojiID.value}
	case f.EmojiName.has():
		ref, err := x.emoji("", f.EmojiName.value)
		if err != nil {
			return err
		}
		s.Emoji = ref
	case f.EmojiID.sent && s.Emoji.ID != "", f.EmojiName.sent && s.Emoji.ID == "":
		s.Emoji = EmojiRef{}
	}
	return nil
}

func createSound(x *exchange, g *guild) (answer, error) {
	var f struct {
		Name  string `json:"name" minLength:"2" maxLength:"32"`
		Sound string `json:"sound"`
		soundForm
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	switch kind, data, ok := dataURI(f.Sound); {
	case !ok:
		return refuse(invalid("sound", "BASE_TYPE_REQUIRED", "Invalid sound data"))
	case kind != "audio/mpeg" && kind != "audio/mp3" && kind != "audio/ogg":
		return refuse(errSoundType)
	case len(data) > largestSound:
		return refuse(tooLarge("sound", largestSound))
	}
	s := &Sound{Name: f.Name, Volume: 1, By: x.actor}
	if err := f.into(x, g, s); err != nil {
		return refuse(err)
	}
	if len(g.sounds) >= g.slots(8, 24, 36, 48) {
		return refuse(errSoundsFull)
	}
	s.ID = discord.SoundID(x.issue())
	g.setSound(s)
	x.audit(g.ID, auditSoundCreate, string(s.ID), AuditOptions{}, changed("name", nil, &s.Name)...)
	return created(x.viewSoundIn(g, s))
}

func editSound(x *exchange, g *guild, s *Sound) (answer, error) {
	var f struct {
		Name opt[string] `json:"name" minLength:"2" maxLength:"32" null:"no"`
		soundForm
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	edited := *s
	f.Name.into(&edited.Name)
	if err := f.soundForm.into(x, g, &edited); err != nil {
		return refuse(err)
	}
	changes := append(changed("name", s.Name, edited.Name), changed("volume", s.Volume, edited.Volume)...)
	*s = edited
	x.audit(g.ID, auditSoundUpdate, string(s.ID), AuditOptions{}, changes...)
	return ok(x.viewSoundIn(g, s))
}

func deleteSound(x *exchange, g *guild, s *Sound) (answer, error) {
	delete(g.sounds, s.ID)
	x.audit(g.ID, auditSoundDelete, string(s.ID), AuditOptions{}, changed("name", &s.Name, nil)...)
	return done()
}

// playSound plays a sound in the voice channel in which the bot is and can be
// heard.
func playSound(x *exchange, c *channel) (answer, error) {
	var f struct {
		Sound  discord.SoundID      `json:"sound_id"`
		Source opt[discord.GuildID] `json:"source_guild_id"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Type != discord.GuildVoice && c.Type != discord.GuildStageVoice {
		return refuse(errChannelType)
	}
	g := x.guilds[c.Guild]
	m, state := g.members[x.actor], g.voice[x.actor]
	switch {
	case state == nil || state.Channel != c.ID:
		return refuse(errNotThere)
	case m.Mute || m.Deaf || state.SelfDeaf || state.Suppress:
		return refuse(errSilenced)
	}
	from := g
	if f.Source.has() && f.Source.value != g.ID {
		other, err := x.guild(f.Source.value)
		if err != nil {
			return refuse(err)
		}
		if err := x.need(c, discord.UseExternalSounds); err != nil {
			return refuse(err)
		}
		from = other
	}
	own := slices.ContainsFunc(defaultSounds, func(s Sound) bool { return s.ID == f.Sound })
	if from.sounds[f.Sound] == nil && !own {
		return refuse(errUnknownSound)
	}
	x.played = append(x.played, Played{c.ID, f.Sound, x.actor})
	return done()
}
