package workflows_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const someSound, otherSound discord.SoundID = "1200000000000000841", "1200000000000000842"

// silence is an MP3 of so many frames of 24 ms.
func silence(frames int) string {
	return uri("audio/mpeg", bytes.Repeat(append([]byte{0xFF, 0xFB, 0x94, 0xC4}, make([]byte, 380)...), frames))
}

func addSounds(d *sandbox.Discord) {
	d.AddSound(sandbox.DemoGuild, sandbox.Sound{ID: someSound, Name: "canary-old", Volume: 0.5, Emoji: sandbox.EmojiRef{Name: "🦆"}, By: sandbox.BotID})
	d.AddSound(sandbox.DemoGuild, sandbox.Sound{ID: otherSound, Name: "canary-other", Volume: 1, By: sandbox.DemoMember})
}

func sounding() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-soundboard-change", Plan: "plan_guild_soundboard_change", Execute: "execute_guild_soundboard_change",
			Args:    ofGuild(`"action":"create","name":"canary-horn","sound":"` + silence(2) + `","emojiName":"📯","auditReason":"canary-reason"`),
			Sends:   []string{`POST /guilds/1200000000000000001/soundboard-sounds {"name":"canary-horn","sound":"` + silence(2) + `","volume":1,"emoji_name":"📯"}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}}},
			Secrets: []string{"canary", "Lighthouse", "//uUxA"},
		},
		Route: "POST /guilds/{guild_id}/soundboard-sounds", ReadBack: "GET /guilds/{guild_id}/soundboard-sounds", Skip: 4,
		Before: addSounds,
		Change: func(d *sandbox.Discord) { d.AddSound(sandbox.DemoGuild, sandbox.Sound{Name: "another", Volume: 1}) },
	}
}

func resounding() scene {
	s := sounding()
	s.Args = ofGuild(`"action":"update","soundId":"` + string(someSound) + `","name":"canary-new","volume":0,"emojiId":"` + string(sandbox.DemoEmoji) + `","auditReason":"canary-reason"`)
	s.Sends = []string{`PATCH /guilds/1200000000000000001/soundboard-sounds/1200000000000000841 {"name":"canary-new","volume":0,"emoji_id":"1200000000000000401","emoji_name":null}`}
	s.Route, s.Resource = "PATCH /guilds/{guild_id}/soundboard-sounds/{sound_id}", string(someSound)
	s.Settle = soundAs(func(v *sandbox.Sound) {
		v.Name, v.Volume, v.Emoji = "canary-new", 0, sandbox.EmojiRef{ID: sandbox.DemoEmoji}
	})
	return s
}

func silencing() scene {
	s := sounding()
	s.Args = ofGuild(`"action":"delete","soundId":"` + string(someSound) + `","auditReason":"canary-reason"`)
	s.Sends = []string{`DELETE /guilds/1200000000000000001/soundboard-sounds/1200000000000000841`}
	s.Route, s.Resource = "DELETE /guilds/{guild_id}/soundboard-sounds/{sound_id}", string(someSound)
	return s
}

func soundAs(f func(v *sandbox.Sound)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.ChangeSound(sandbox.DemoGuild, someSound, f) }
}

func TestSoundCreation(t *testing.T) {
	t.Parallel()
	s := sounding()
	invalid := func(name, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: ofGuild(more)}
	}
	refuse := func(name, reason, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: ofGuild(more)}
	}
	file := `"sound":"` + silence(1) + `"`
	own := func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.CreateGuildExpressions)
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "a bot that may not create", Code: mcpcore.CodePermission, Before: weaker(discord.CreateGuildExpressions)},
		{Name: "another's sound without managing", Code: mcpcore.CodePermission, Before: world(own),
			Args: ofGuild(`"action":"update","soundId":"` + string(otherSound) + `","name":"canary"`)},
		{Name: "a full soundboard", Code: mcpcore.CodePlanRefused, Reason: "full", Before: world(fullOfSounds)},
		refuse("a name that is there", "name-taken", `"action":"create","name":"CANARY-old",`+file),
		refuse("an update to a name that is there", "name-taken", `"action":"update","soundId":"`+string(someSound)+`","name":"canary-other"`),
		refuse("an emoji of no guild", "emoji-missing", `"action":"create","name":"horn","emojiId":"1200000000000000499",`+file),
		refuse("a sound that is not there", "missing", `"action":"delete","soundId":"1200000000000000849"`),
		refuse("a long sound", "sound-file", `"action":"create","name":"horn","sound":"`+silence(217)+`"`),
		refuse("no sound", "sound-file", `"action":"create","name":"horn","sound":"`+uri("audio/ogg", []byte("OggS"))+`"`),
		refuse("a path", "sound-file", `"action":"create","name":"horn","sound":"/tmp/horn.mp3"`),
		invalid("a new one with an id", `"action":"create","soundId":"`+string(someSound)+`","name":"horn",`+file),
		invalid("a new one without a name", `"action":"create",`+file),
		invalid("a new one without a sound", `"action":"create","name":"horn"`),
		invalid("an update of nothing", `"action":"update","soundId":"`+string(someSound)+`"`),
		invalid("another sound for it", `"action":"update","soundId":"`+string(someSound)+`",`+file),
		invalid("a delete with a name", `"action":"delete","soundId":"`+string(someSound)+`","name":"horn"`),
		invalid("a blank name", `"action":"update","soundId":"`+string(someSound)+`","name":"   "`),
		invalid("a name of one character", `"action":"create","name":"h",`+file),
		invalid("a long name", `"action":"create","name":"`+strings.Repeat("h", 33)+`",`+file),
		invalid("too loud", `"action":"create","name":"horn","volume":1.1,`+file),
		invalid("two emojis", `"action":"create","name":"horn","emojiName":"📯","emojiId":"`+string(sandbox.DemoEmoji)+`",`+file),
		invalid("a word as an emoji", `"action":"create","name":"horn","emojiName":"horn",`+file),
	}
	s.run(t)
}

func TestSoundUpdate(t *testing.T) {
	t.Parallel()
	resounding().run(t)
}

func TestSoundDeletion(t *testing.T) {
	t.Parallel()
	silencing().run(t)
}

func TestSoundsChange(t *testing.T) {
	t.Parallel()
	s := resounding()
	const at = `PATCH /guilds/1200000000000000001/soundboard-sounds/1200000000000000841 `
	s.writes(t, ofGuild(`"action":"update","soundId":"`+string(someSound)+`","emojiName":null`), at+`{"emoji_id":null,"emoji_name":null}`)
	s.writes(t, ofGuild(`"action":"update","soundId":"`+string(someSound)+`","volume":1,"name":"canary-old"`), at+`{"volume":1}`)
	// Its own sounds the bot changes without managing those of others.
	s.observed(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.CreateGuildExpressions)
	}).writes(t, ofGuild(`"action":"update","soundId":"`+string(someSound)+`","volume":1`), at+`{"volume":1}`)
	// With more slots than its boosts give, Discord alone knows how many.
	s = sounding().observed(func(d *sandbox.Discord) {
		fullOfSounds(d)
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = append(g.Features, "MORE_SOUNDBOARD") })
	})
	if told := s.plans(t); told["status"] != "planned" {
		t.Errorf("it plans %v", told)
	}
}

// fullOfSounds fills the soundboard of a guild that nobody boosts.
func fullOfSounds(d *sandbox.Discord) {
	d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.PremiumTier = 0 })
	for i := range 6 {
		d.AddSound(sandbox.DemoGuild, sandbox.Sound{Name: fmt.Sprintf("sound %d", i), Volume: 1})
	}
}

func TestSoundsThatAreNotAsWritten(t *testing.T) {
	t.Parallel()
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s := resounding()
	open(sounding().answered(sounding().Route, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`), "another guild")
	open(s.answered(s.Route, `"sound_id":"1200000000000000841"`, `"sound_id":"1200000000000000843"`), "another sound")
	open(sounding().after(s.ReadBack, `"sound_id":"14`, `"sound_id":"15`), "a new one that is not there")
	open(silencing().after(s.ReadBack, string(otherSound), string(someSound)), "one that is still there")
	s.after(s.ReadBack, `"canary-new"`, `"canary-newer"`).drifts(t, "name")
	s.after(s.ReadBack, `"volume":0,`, `"volume":0.25,`).drifts(t, "volume")
	s.afterWrite(soundAs(func(v *sandbox.Sound) { v.Emoji = sandbox.EmojiRef{} })).drifts(t, "emoji")
	s.after(s.ReadBack, `"canary-other"`, `"canary-others"`).drifts(t, "others")
	s.answered(s.ReadBack, `"volume"`, `"value"`).ends(t, "a list that is not whole", mcpcore.CodeAccessUnknown, "", "")
}
