package discordtools_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestStickers(t *testing.T) {
	t.Parallel()
	const sticker, path = string(sandbox.DemoSticker), "/guilds/" + guild + "/stickers"
	one := `"guild_id":` + id(guild) + `,"sticker_id":` + id(sticker)
	full := func(d *sandbox.Discord) {
		for range 4 {
			d.AddSticker(sandbox.DemoGuild, sandbox.Sticker{Name: "Buoy", Tags: "buoy"})
		}
	}
	run(t, []row{
		{
			shows: "a guild's", tool: "stickers_get", args: `{"sticker_id":` + id(sticker) + `}`, sent: []string{"GET /stickers/" + sticker}, says: "<untrusted_discord_embed",
			want: `{"id":` + id(sticker) + `,"name":"Ahoy","description":"A waving lighthouse keeper","tags":"wave","type":2,"format_type":1,"available":true,"guild_id":` + id(guild) + `,"user_id":` + id(sandbox.DemoOwner) + `}`,
		},
		{
			shows: "Discord's own is available", tool: "stickers_get", args: `{"sticker_id":` + id(sandbox.DemoStandardSticker) + `}`,
			sent: []string{"GET /stickers/" + string(sandbox.DemoStandardSticker)}, want: `{"type":1,"format_type":3,"available":true,"pack_id":"*"}`,
		},
		{
			shows: "unknown", tool: "stickers_get", args: `{"sticker_id":"1200000000000009999"}`, sent: []string{"GET /stickers/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "L02 a sticker id that is not an id", tool: "stickers_get", args: `{"sticker_id":"` + sticker + `%2F.."}`, code: mcpcore.CodeValidation, says: "sticker_id: must be an id",
		},
		{
			shows: "one", tool: "stickers_get_guild_sticker", args: `{` + one + `}`, sent: []string{"GET " + path + "/" + sticker}, want: `{"name":"Ahoy","available":true}`,
		},
		{
			shows: "another guild's", tool: "stickers_get_guild_sticker", args: `{"guild_id":` + id(sandbox.DemoClub) + `,"sticker_id":` + id(sticker) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/stickers/" + sticker}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "all", tool: "stickers_list_guild", args: `{"guild_id":` + id(guild) + `}`, sent: []string{"GET " + path},
			want: `{"count":1,"stickers":[{"id":` + id(sticker) + `,"name":"Ahoy","tags":"wave","format_type":1,"available":true}]}`, says: "<untrusted_discord_embed",
		},
		{
			shows: "not an id", tool: "stickers_list_guild", args: `{"guild_id":"@me"}`, code: mcpcore.CodeValidation, says: "guild_id: must be an id",
		},
		{
			shows: "with their stickers", tool: "stickers_list_packs", args: `{}`, sent: []string{"GET /sticker-packs"},
			want: `{"count":1,"packs":[{"id":"*","name":"Gulls","description":"*","stickers":[{"id":"*","name":"Hello"},{}]}]}`,
		},
		{
			shows: "Discord is down", tool: "stickers_list_packs", args: `{}`,
			setup: func(d *sandbox.Discord) { d.Inject(sandbox.Fault{Route: "/sticker-packs", Status: 403}) },
			sent:  []string{"GET /sticker-packs"}, code: mcpcore.CodePermission,
		},
		{
			shows: "a form with the file", tool: "stickers_create_guild_sticker",
			args: `{"guild_id":` + id(guild) + `,"name":"Fog","description":"","tags":"fog","file_format":1,"file_data":` + id(uri("image/png", 20)) + `,"audit_reason":"new"}`,
			sent: []string{"POST " + path + " (multipart)"}, want: `{"id":"*","name":"Fog","description":null,"tags":"fog","format_type":1,"available":true}`,
		},
		{
			shows: "no slot left", tool: "stickers_create_guild_sticker", setup: full,
			args: `{"guild_id":` + id(guild) + `,"name":"Fog","description":"fog","tags":"fog","file_format":4,"file_data":` + id(uri("image/gif", 20)) + `}`,
			sent: []string{"POST " + path + " (multipart)"}, code: mcpcore.CodeValidation, says: "no free sticker slot",
		},
		{
			shows: "the description goes", tool: "stickers_modify_guild_sticker", args: `{` + one + `,"description":null,"tags":"hello"}`,
			sent: []string{"PATCH " + path + "/" + sticker + ` {"description":null,"tags":"hello"}`}, want: `{"name":"Ahoy","description":null,"tags":"hello"}`,
		},
		{
			shows: "nothing to change", tool: "stickers_modify_guild_sticker", args: `{` + one + `}`, code: mcpcore.CodeValidation, says: "at least one of name, description, tags",
		},
		{
			shows: "preview", tool: "stickers_delete_guild_sticker", args: `{` + one + `}`, sent: []string{"GET " + path + "/" + sticker}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"sticker","value":"Ahoy"},{"name":"description","value":"A waving lighthouse keeper"},{"name":"tags"},{"name":"uploaded by","value":"marina (Marina Holt)"}]}`,
		},
		{
			shows: "preview of none", tool: "stickers_delete_guild_sticker", args: `{"guild_id":` + id(guild) + `,"sticker_id":"1200000000000009999"}`,
			sent: []string{"GET " + path + "/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "confirmed", tool: "stickers_delete_guild_sticker", args: `{` + one + `,"__confirm":true}`,
			sent: []string{"DELETE " + path + "/" + sticker}, want: `{"deleted":true,"guild_id":` + id(guild) + `,"sticker_id":` + id(sticker) + `}`,
		},
	})
}

// TestStickerForm shows what the form holds for each format.
func TestStickerForm(t *testing.T) {
	t.Parallel()
	lottie := "data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(`{"v":"5.5.2"}`))
	for _, c := range []struct{ format, data, filename, kind string }{
		{"1", uri("image/png", 20), "sticker.png", "image/png"},
		{"2", uri("image/png", 20), "sticker.png", "image/png"},
		{"2", uri("image/apng", 20), "sticker.png", "image/apng"},
		{"3", lottie, "sticker.json", "application/json"},
		{"4", uri("image/gif", 20), "sticker.gif", "image/gif"},
	} {
		b := start(t)
		b.call("stickers_create_guild_sticker", `{"guild_id":`+id(guild)+`,"name":"Fog","description":"a \"thick\" one","tags":"fog","file_format":`+c.format+`,"file_data":`+id(c.data)+`}`)
		requests := b.world.Requests()
		if len(requests) != 1 {
			t.Fatalf("%s: Discord saw %q", c.filename, b.sent())
		}
		_, params, err := mime.ParseMediaType(requests[0].Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for form := multipart.NewReader(bytes.NewReader(requests[0].Body), params["boundary"]); ; {
			part, err := form.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(part)
			if part.FormName() == "file" {
				_, encoded, _ := strings.Cut(c.data, ",")
				if want, _ := base64.StdEncoding.DecodeString(encoded); !bytes.Equal(data, want) {
					t.Errorf("%s: the file changed on its way: %q", c.filename, data)
				}
				data = []byte(part.FileName() + " " + part.Header.Get("Content-Type"))
			}
			got = append(got, part.FormName()+"="+string(data))
		}
		want := `name=Fog;description=a "thick" one;tags=fog;file=` + c.filename + " " + c.kind
		if strings.Join(got, ";") != want {
			t.Errorf("form %q, want %q", strings.Join(got, ";"), want)
		}
	}
}

// L62 Upload of any local file, L63 Server fetches a URL for the caller
func TestL62StickerFileIsDataOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, c := range []struct{ more, file, says string }{
		{`,"file_format":1`, "../../secrets/id_demo", "paths and addresses are not read"},
		{`,"file_format":1`, "/etc/hostname", "paths and addresses are not read"},
		{`,"file_format":1`, "https://lighthouse.example/fog.png", "paths and addresses are not read"},
		{`,"file_format":1`, "http://127.0.0.1:9/", "paths and addresses are not read"},
		{`,"file_format":1`, "data:image/png;base64,eA=", "base64 is broken"},
		{`,"file_format":1`, "data:image/png;base64,", "must not be empty"},
		{`,"file_format":1`, uri("image/gif", 9), "must be of type image/png for this file_format"},
		{`,"file_format":4`, uri("image/png", 9), "must be of type image/gif for this file_format"},
		{`,"file_format":3`, uri("image/png", 9), "must be of type application/json for this file_format"},
		{``, uri("image/jpeg", 9), "must be of type image/png, image/apng, image/gif or application/json"},
		{`,"file_format":1`, uri("image/png", 512<<10+1), "has 524289 bytes, Discord takes at most 524288"},
	} {
		a := b.call("stickers_create_guild_sticker", `{"guild_id":`+id(guild)+`,"name":"Fog","description":"fog","tags":"fog","file_data":`+id(c.file)+c.more+`}`)
		if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "file_data: "+c.says) && !strings.Contains(a.text, c.says) {
			t.Errorf("%.60s: code %q: %s", c.file, a.code, a.text)
		}
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
	if a := b.call("stickers_create_guild_sticker", `{"guild_id":`+id(guild)+`,"name":"Fog","tags":"fog","file_data":`+id(uri("image/png", 512<<10))+`}`); a.code != "" {
		t.Errorf("the largest file: code %q: %s", a.code, a.text)
	}
}
