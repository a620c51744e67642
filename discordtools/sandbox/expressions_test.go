package sandbox

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func imageURI(kind string, n int) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), n))
}

func TestEmojis(t *testing.T) {
	t.Parallel()
	const all, one = "/guilds/{guild}/emojis", "/guilds/{guild}/emojis/{emoji}"
	png := imageURI("image/png", 9)
	fill := func(animated bool) func(*Discord) {
		return func(d *Discord) {
			for range 50 {
				d.AddEmoji(DemoGuild, Emoji{Name: "buoy", Animated: animated})
			}
		}
	}
	last := func(action int) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			if log := d.AuditLog(DemoGuild); len(log) == 0 || log[len(log)-1].Action != action {
				t.Errorf("the audit log ends with %v, want action %d", log, action)
			}
		}
	}
	lose := func(p discord.Permissions) func(*Discord) {
		return func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= p }
	}
	rows(t, []row{
		{name: "list", method: "GET", path: all, status: 200, has: `"user":{"id":"{owner}"`},
		{name: "list in a guild where the bot may not upload", method: "GET", path: "/guilds/{club}/emojis", status: 200, has: `[]`},
		{name: "get", method: "GET", path: one, status: 200, has: `"name":"lighthouse"`},
		{name: "get unknown", method: "GET", path: "/guilds/{guild}/emojis/{nowhere}", status: 404, code: 10014},
		{name: "create", method: "POST", path: all, body: `{"name":"fog_1","image":"` + png + `","roles":["{mods}"]}`, status: 201, has: `"roles":["{mods}"]`, after: last(auditEmojiCreate)},
		{name: "animated", method: "POST", path: all, body: `{"name":"fog","image":"` + imageURI("image/gif", 9) + `"}`, status: 201, has: `"animated":true`},
		{name: "short name", method: "POST", path: all, body: `{"name":"f","image":"` + png + `"}`, status: 400, code: 50035, has: `"name":{"_errors":[{"code":"BASE_TYPE_BAD_LENGTH"`},
		{name: "name with a hyphen", method: "POST", path: all, body: `{"name":"fog-horn","image":"` + png + `"}`, status: 400, code: 50035, has: "STRING_TYPE_REGEX"},
		{name: "without an image", method: "POST", path: all, body: `{"name":"fog"}`, status: 400, code: 50035, has: `"image"`},
		{name: "an address", method: "POST", path: all, body: `{"name":"fog","image":"https://a.example/i.png"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "broken base64", method: "POST", path: all, body: `{"name":"fog","image":"data:image/png;base64,eA="}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "as large as can be", method: "POST", path: all, body: `{"name":"fog","image":"` + imageURI("image/png", largestEmoji) + `"}`, status: 201},
		{name: "too large", method: "POST", path: all, body: `{"name":"fog","image":"` + imageURI("image/png", largestEmoji+1) + `"}`, status: 400, code: 50035, has: "256.0 kb"},
		{name: "unknown role", method: "POST", path: all, body: `{"name":"fog","image":"` + png + `","roles":["{nowhere}"]}`, status: 404, code: 10011},
		{name: "full", method: "POST", path: all, body: `{"name":"fog","image":"` + png + `"}`, status: 400, code: 30008, before: fill(false)},
		{name: "full of others", method: "POST", path: all, body: `{"name":"fog","image":"` + png + `"}`, status: 201, before: fill(true)},
		{name: "full of animated ones", method: "POST", path: all, body: `{"name":"fog","image":"` + imageURI("image/gif", 9) + `"}`, status: 400, code: 30018, before: fill(true)},
		{name: "boosted", method: "POST", path: all, body: `{"name":"fog","image":"` + png + `"}`, status: 201, before: func(d *Discord) {
			fill(false)(d)
			d.world.guilds[DemoGuild].PremiumTier = 1
		}},
		{name: "create without the permission", method: "POST", path: "/guilds/{club}/emojis", body: `{"name":"fog","image":"` + png + `"}`, status: 403, code: 50013},
		{name: "rename", method: "PATCH", path: one, body: `{"name":"beacon"}`, status: 200, has: `"name":"beacon"`, after: last(auditEmojiUpdate)},
		{name: "restrict", method: "PATCH", path: one, body: `{"roles":["{mods}"]}`, status: 200, has: `"roles":["{mods}"]`},
		{name: "free", method: "PATCH", path: one, body: `{"roles":null}`, status: 200, has: `"roles":[]`},
		{name: "another's without MANAGE_GUILD_EXPRESSIONS", method: "PATCH", path: one, body: `{"name":"beacon"}`, status: 403, code: 50013, before: lose(discord.ManageGuildExpressions)},
		{name: "delete", method: "DELETE", path: one, status: 204, after: last(auditEmojiDelete)},
		{name: "the bot's own with CREATE_GUILD_EXPRESSIONS", method: "DELETE", path: one, status: 204, before: func(d *Discord) {
			lose(discord.ManageGuildExpressions)(d)
			d.world.guilds[DemoGuild].emojis[DemoEmoji].By = BotID
		}},
	})
}

func TestStickers(t *testing.T) {
	t.Parallel()
	const all, one = "/guilds/{guild}/stickers", "/guilds/{guild}/stickers/{sticker}"
	rows(t, []row{
		{name: "get", method: "GET", path: "/stickers/{sticker}", status: 200, has: `"guild_id":"{guild}"`},
		{name: "get Discord's own", method: "GET", path: "/stickers/" + string(DemoStandardSticker), status: 200, has: `"pack_id"`},
		{name: "get unknown", method: "GET", path: "/stickers/{nowhere}", status: 404, code: 10060},
		{name: "packs", method: "GET", path: "/sticker-packs", status: 200, has: `"sticker_packs":[{`},
		{name: "list", method: "GET", path: all, status: 200, has: `"name":"Ahoy"`},
		{name: "get in the guild", method: "GET", path: one, status: 200, has: `"type":2`},
		{name: "get in another guild", method: "GET", path: "/guilds/{club}/stickers/{sticker}", status: 404, code: 10060},
		{name: "edit", method: "PATCH", path: one, body: `{"name":"Ahoy!","description":null}`, status: 200, has: `"description":null`},
		{name: "edit without tags", method: "PATCH", path: one, body: `{"tags":""}`, status: 400, code: 50035},
		{name: "edit without the permission", method: "PATCH", path: one, body: `{"name":"Ahoy!"}`, status: 403, code: 50013,
			before: func(d *Discord) {
				d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= discord.ManageGuildExpressions
			}},
		{name: "delete", method: "DELETE", path: one, status: 204, after: func(t *testing.T, d *Discord) {
			if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditStickerDelete || log[0].Target != string(DemoSticker) {
				t.Errorf("audit log %v", log)
			}
		}},
		{name: "create without a form", method: "POST", path: all, body: `{"name":"Fog","tags":"fog"}`, status: 400, code: 50035},
	})
}

func TestCreateSticker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, tags string
		size             int
		before           func(*guild)
		status, code     int
	}{
		{name: "png", kind: "image/png", tags: "fog", size: 9, status: 201},
		{name: "as large as can be", kind: "image/gif", tags: "fog", size: largestSticker, status: 201},
		{name: "too large", kind: "image/gif", tags: "fog", size: largestSticker + 1, status: 400, code: 50045},
		{name: "empty", kind: "image/png", tags: "fog", status: 400, code: 50046},
		{name: "jpeg", kind: "image/jpeg", tags: "fog", size: 9, status: 400, code: 50046},
		{name: "no tags", kind: "image/png", size: 9, status: 400, code: 50035},
		{name: "lottie in a guild like any", kind: "application/json", tags: "fog", size: 9, status: 400, code: 50046},
		{name: "full", kind: "image/png", tags: "fog", size: 9, status: 400, code: 30039, before: func(g *guild) {
			for i := range 5 {
				id := discord.StickerID(fmt.Sprint(1200000000000000800 + i))
				g.stickers[id] = &Sticker{ID: id}
			}
		}},
		{name: "without the permission", kind: "image/png", tags: "fog", size: 9, status: 403, code: 50013, before: func(g *guild) {
			g.roles[DemoBotRole].Permissions &^= discord.CreateGuildExpressions
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := DemoWith(Options{})
			if c.status == http.StatusCreated {
				d = demo(t)
			}
			if c.before != nil {
				c.before(d.world.guilds[DemoGuild])
			}
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			_ = form.WriteField("name", "Fog")
			_ = form.WriteField("tags", c.tags)
			_ = form.WriteField("description", "")
			part, err := form.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {`form-data; name="file"; filename="sticker.png"`}, "Content-Type": {c.kind},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write(bytes.Repeat([]byte("x"), c.size))
			_ = form.Close()
			r := request(t, d, "POST", "/guilds/"+string(DemoGuild)+"/stickers", body.String())
			r.Header.Set("Content-Type", form.FormDataContentType())
			status, reply := send(t, d, r)
			if status != c.status || c.code != 0 && !strings.Contains(string(reply), fmt.Sprintf(`"code":%d`, c.code)) {
				t.Errorf("status %d, want %d and code %d: %s", status, c.status, c.code, reply)
			}
		})
	}
}

func TestPolls(t *testing.T) {
	t.Parallel()
	const own = "1200000000000000991"
	add := func(change func(*Poll)) func(*Discord) {
		return func(d *Discord) {
			p := &Poll{Question: "Tea?", Expires: noon.AddDate(0, 0, 1), Answers: []PollAnswer{{Text: "Yes"}, {Text: "No"}}}
			change(p)
			d.AddMessage(DemoGeneral, Message{ID: own, Poll: p})
		}
	}
	same := func(*Poll) {}
	rows(t, []row{
		{name: "voters by id", method: "GET", path: "/channels/{general}/polls/{poll}/answers/1", status: 200, has: `{"users":[{"id":"{admin}"`},
		{name: "voters after one", method: "GET", path: "/channels/{general}/polls/{poll}/answers/1?after={admin}&limit=1", status: 200, has: `{"users":[{"id":"{member}"`},
		{name: "no voters", method: "GET", path: "/channels/{general}/polls/{poll}/answers/3", status: 200, has: `{"users":[]}`},
		{name: "no such answer", method: "GET", path: "/channels/{general}/polls/{poll}/answers/4", status: 400, code: 50035},
		{name: "no poll", method: "GET", path: "/channels/{showcase}/polls/{sketch}/answers/1", status: 404, code: 10008},
		{name: "too many at once", method: "GET", path: "/channels/{general}/polls/{poll}/answers/1?limit=101", status: 400, code: 50035},
		{name: "end", method: "POST", path: "/channels/{general}/polls/" + own + "/expire", status: 200, has: `"is_finalized":true`, before: add(same)},
		{name: "end an ended one", method: "POST", path: "/channels/{general}/polls/" + own + "/expire", status: 400, code: 520001, before: add(func(p *Poll) { p.Final = true })},
		{name: "end one that ran out", method: "POST", path: "/channels/{general}/polls/" + own + "/expire", status: 400, code: 520001, before: add(func(p *Poll) { p.Expires = noon })},
		{name: "end another's", method: "POST", path: "/channels/{general}/polls/{poll}/expire", status: 403, code: 50005},
		{name: "end what is no poll", method: "POST", path: "/channels/{showcase}/polls/{sketch}/expire", status: 400, code: 520006},
	})
}
