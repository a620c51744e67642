package workflows_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	someEmoji   discord.EmojiID   = "1200000000000000831"
	someSticker discord.StickerID = "1200000000000000832"
)

func uri(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// pngOf is a PNG of a size; each of frames is how long it stays, in hundredths of
// a second.
func pngOf(side int, frames ...uint16) []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))) // to a buffer
	if len(frames) == 0 {
		return out.Bytes()
	}
	chunk := func(name string, data []byte) (c []byte) {
		c = binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		c = append(append(c, name...), data...)
		return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
	}
	const header = 8 + 25 // the signature and IHDR
	made := append(bytes.Clone(out.Bytes()[:header]), chunk("acTL", make([]byte, 8))...)
	for _, stays := range frames {
		control := make([]byte, 26)
		binary.BigEndian.PutUint16(control[20:], stays)
		binary.BigEndian.PutUint16(control[22:], 100)
		made = append(made, chunk("fcTL", control)...)
	}
	return append(made, out.Bytes()[header:]...)
}

// gifOf is a GIF of a size with frames of so many hundredths of a second.
func gifOf(side int, frames ...int) []byte {
	var out bytes.Buffer
	g := &gif.GIF{Delay: frames}
	for range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Black, color.White}))
	}
	_ = gif.EncodeAll(&out, g) // to a buffer
	return out.Bytes()
}

func lottie(side, frames int) []byte {
	return fmt.Appendf(nil, `{"v":"5.7","fr":60,"ip":0,"op":%d,"w":%d,"h":%d,"layers":[]}`, frames, side, side)
}

func addExpressions(d *sandbox.Discord) {
	d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{ID: someEmoji, Name: "canary_old", By: sandbox.BotID})
	d.AddSticker(sandbox.DemoGuild, sandbox.Sticker{ID: someSticker, Name: "canary-old", Tags: "canary-tag", By: sandbox.DemoOwner})
}

func expressing() scene {
	small := uri("image/png", pngOf(16))
	create := func(name, kind, more, reason string, before func(*sandbox.Discord)) operationtest.Refusal {
		r := operationtest.Refusal{Name: name, Args: ofGuild(`"kind":"` + kind + `","action":"create",` + more), Code: mcpcore.CodePlanRefused, Reason: reason}
		if reason == "" {
			r.Code = mcpcore.CodeValidation
		}
		if before != nil {
			r.Before = world(before)
		}
		return r
	}
	sticker := func(name, kind string, data []byte, reason string) operationtest.Refusal {
		return create(name, "sticker", `"name":"xx","tags":"x","image":"`+uri(kind, data)+`"`, reason, nil)
	}
	of := func(name, kind, action, more string, code mcpcore.Code, reason string, before func(*sandbox.Discord)) operationtest.Refusal {
		id := string(someEmoji)
		if kind == "sticker" {
			id = string(someSticker)
		}
		return operationtest.Refusal{Name: name, Args: ofGuild(`"kind":"` + kind + `","action":"` + action + `","expressionId":"` + id + `"` + more), Code: code, Reason: reason, Before: world(before)}
	}
	may := func(p discord.Permissions) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			addExpressions(d)
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, p)
		}
	}
	image := `"image":"` + small + `"`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-expression-change", Plan: "plan_guild_expression_change", Execute: "execute_guild_expression_change",
			Args:   ofGuild(`"kind":"emoji","action":"create","name":"canary_new","roles":["1200000000000000203"],` + image + `,"auditReason":"canary-reason"`),
			Sends:  []string{`POST /guilds/1200000000000000001/emojis {"name":"canary_new","image":"` + small + `","roles":["1200000000000000203"]}`},
			Permit: guildPermit, Secrets: []string{"canary", "Lighthouse", small},
			Refusals: []operationtest.Refusal{
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageGuildExpressions)},
				create("an emoji without a picture", "emoji", `"name":"xx"`, "", nil),
				create("a sticker without words", "sticker", `"name":"xx",`+image, "", nil),
				create("an emoji with words", "emoji", `"name":"xx","tags":"x",`+image, "", nil),
				create("a sticker with roles", "sticker", `"name":"xx","tags":"x","roles":[],`+image, "", nil),
				create("a name with a space", "emoji", `"name":"x y",`+image, "", nil),
				create("a long name of a sticker", "sticker", `"name":"`+strings.Repeat("x", 31)+`","tags":"x",`+image, "", nil),
				create("a name that is taken", "emoji", `"name":"LIGHTHOUSE",`+image, "name-taken", nil),
				create("a role that is not there", "emoji", `"name":"xx","roles":["1200000000000000298"],`+image, "role-missing", nil),
				create("a full guild", "emoji", `"name":"xx",`+image, "full", func(d *sandbox.Discord) {
					for i := range 49 {
						d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: fmt.Sprint("e", i)})
					}
				}),
				create("a large picture", "emoji", `"name":"xx","image":"`+dataURI("image/png", pngHead, 256<<10+1)+`"`, "picture", nil),
				create("a picture of another kind than it says", "emoji", `"name":"xx","image":"`+uri("image/gif", pngOf(16))+`"`, "picture", nil),
				create("a path", "emoji", `"name":"xx","image":"/etc/hostname"`, "picture", nil),
				create("a sticker by its path", "sticker", `"name":"xx","tags":"x","image":"/etc/hostname"`, "sticker-file", nil),
				sticker("a small sticker", "image/png", pngOf(319), "sticker-file"),
				sticker("a large file of a sticker", "image/png", append(pngOf(320), make([]byte, 512<<10)...), "sticker-file"),
				sticker("a sticker that moves too long", "image/png", pngOf(320, 300, 201), "sticker-file"),
				sticker("a GIF that moves too long", "image/gif", gifOf(320, 300, 201), "sticker-file"),
				sticker("a GIF that is cut off", "image/gif", gifOf(320, 300)[:40], "sticker-file"),
				sticker("a PNG that is cut off", "image/png", pngOf(320)[:40], "sticker-file"),
				sticker("a JPEG as a sticker", "image/jpeg", []byte("\xff\xd8\xff\xe0"), "sticker-file"),
				sticker("a Lottie that lasts too long", "application/json", lottie(320, 301), "sticker-file"),
				sticker("a Lottie that never ends", "application/json", []byte(`{"fr":1e-300,"ip":0,"op":1e300,"w":320,"h":320,"layers":[]}`), "sticker-file"),
				sticker("a Lottie that ends before it begins", "application/json", lottie(320, -1), "sticker-file"),
				sticker("JSON that is no Lottie", "application/json", []byte(`{"w":320,"h":320}`), "sticker-file"),
				sticker("a Lottie in a guild that may not", "application/json", lottie(320, 300), "lottie"),
				of("one that is not there", "emoji", "delete", "", mcpcore.CodePlanRefused, "missing", func(*sandbox.Discord) {}),
				of("another's without MANAGE_GUILD_EXPRESSIONS", "sticker", "delete", "", mcpcore.CodePermission, "", may(discord.CreateGuildExpressions)),
				of("an own one with neither", "emoji", "delete", "", mcpcore.CodePermission, "", may(discord.ManageGuild)),
				of("an integration's emoji", "emoji", "update", `,"name":"xx"`, mcpcore.CodePlanRefused, "managed", func(d *sandbox.Discord) {
					addExpressions(d)
					d.ChangeEmoji(sandbox.DemoGuild, someEmoji, func(e *sandbox.Emoji) { e.Managed = true })
				}),
				of("another picture", "emoji", "update", `,`+image, mcpcore.CodeValidation, "", addExpressions),
				of("nothing to change", "emoji", "update", "", mcpcore.CodeValidation, "", addExpressions),
				of("a change by the way", "sticker", "delete", `,"name":"xx"`, mcpcore.CodeValidation, "", addExpressions),
			},
		},
		Route: "POST /guilds/{guild_id}/emojis", ReadBack: "GET /guilds/{guild_id}/emojis", Skip: 4,
		Change: func(d *sandbox.Discord) { d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: "another"}) },
	}
}

func TestEmojiCreated(t *testing.T) {
	t.Parallel()
	expressing().run(t)
}

func TestEmojiUpdated(t *testing.T) {
	t.Parallel()
	s := expressing()
	s.Args = ofGuild(`"kind":"emoji","action":"update","expressionId":"` + string(someEmoji) + `","name":"canary_new","roles":["1200000000000000203"],"auditReason":"canary-reason"`)
	s.Sends = []string{`PATCH /guilds/1200000000000000001/emojis/1200000000000000831 {"name":"canary_new","roles":["1200000000000000203"]}`}
	s.Refusals, s.Resource, s.Route, s.Before = nil, string(someEmoji), "PATCH /guilds/{guild_id}/emojis/{emoji_id}", addExpressions
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeEmoji(sandbox.DemoGuild, someEmoji, func(e *sandbox.Emoji) {
			e.Name, e.Roles = "canary_new", []discord.RoleID{sandbox.DemoModeratorRole}
		})
	}
	s.run(t)
}

// ofStickers is a scene of stickers.
func ofStickers(s scene, route string) scene {
	s.Route, s.ReadBack = route, "GET /guilds/{guild_id}/stickers"
	s.Refusals, s.Before = nil, addExpressions
	s.Change = func(d *sandbox.Discord) {
		d.AddSticker(sandbox.DemoGuild, sandbox.Sticker{Name: "another", Tags: "x"})
	}
	return s
}

func TestStickerCreated(t *testing.T) {
	t.Parallel()
	s, file := ofStickers(expressing(), "POST /guilds/{guild_id}/stickers"), pngOf(320, 300, 200)
	s.Args = ofGuild(`"kind":"sticker","action":"create","name":"canary-new","description":"canary-words","tags":"canary-tag","image":"` + uri("image/png", file) + `","auditReason":"canary-reason"`)
	s.Sends = []string{fmt.Sprintf(`POST /guilds/1200000000000000001/stickers name=canary-new description=canary-words tags=canary-tag file=image/png of %d bytes`, len(file))}
	s.run(t)
}

func TestStickerDeleted(t *testing.T) {
	t.Parallel()
	s := ofStickers(expressing(), "DELETE /guilds/{guild_id}/stickers/{sticker_id}")
	s.Args = ofGuild(`"kind":"sticker","action":"delete","expressionId":"` + string(someSticker) + `","auditReason":"canary-reason"`)
	s.Sends, s.Resource = []string{`DELETE /guilds/1200000000000000001/stickers/1200000000000000832`}, string(someSticker)
	s.run(t)
}

// Each kind of file that Discord takes goes through, own ones take either
// permission, and what is otherwise afterwards is told.
func TestExpressionsFurther(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"PNG": uri("image/png", pngOf(320)), "APNG": uri("image/png", pngOf(320, 500)), "GIF": uri("image/gif", gifOf(320, 200, 300)),
		"Lottie": uri("application/json", lottie(320, 300)),
	} {
		s := ofStickers(expressing(), "POST /guilds/{guild_id}/stickers")
		s.Args = ofGuild(`"kind":"sticker","action":"create","name":"xx","tags":"x","image":"` + file + `"`)
		s.Before = func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = append(g.Features, "VERIFIED") })
		}
		if e, _ := s.once(t); e.Status != "completed" {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
	for _, p := range []discord.Permissions{discord.CreateGuildExpressions, discord.ManageGuildExpressions} {
		s := expressing()
		s.Args = ofGuild(`"kind":"emoji","action":"delete","expressionId":"` + string(someEmoji) + `"`)
		s.Before = func(d *sandbox.Discord) {
			addExpressions(d)
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, p)
		}
		if e, _ := s.once(t); e.Status != "completed" {
			t.Errorf("with %s it answers %+v", p, e)
		}
	}
	var d *sandbox.Discord
	s := ofStickers(expressing(), "")
	s.Args = ofGuild(`"kind":"sticker","action":"update","expressionId":"` + string(someSticker) + `","tags":"y","description":"z"`)
	s.Before = func(made *sandbox.Discord) { d = made; addExpressions(d) }
	s.REST = later(&d, "/guilds/{guild_id}/stickers", 5, func(d *sandbox.Discord) {
		d.ChangeSticker(sandbox.DemoGuild, someSticker, func(s *sandbox.Sticker) { s.Tags = "w" })
		d.AddSticker(sandbox.DemoGuild, sandbox.Sticker{Name: "another", Tags: "x"})
	})
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[tags others]" || string(d.Writes()[0].Body) != `{"description":"z","tags":"y"}` {
		t.Errorf("it answers %+v after %s", e, d.Writes()[0].Body)
	}
}
