package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// stickerRoutes manage a guild's stickers and show Discord's own.
//
// Source: https://docs.discord.com/developers/resources/sticker.
var stickerRoutes = []route{
	{method: "GET", path: "/stickers/{sticker_id}", handle: getSticker},
	{method: "GET", path: "/sticker-packs", handle: listPacks, open: true},
	{method: "GET", path: "/guilds/{guild_id}/stickers", handle: inGuild(0, listStickers)},
	{method: "POST", path: "/guilds/{guild_id}/stickers", handle: inGuild(discord.CreateGuildExpressions, createSticker)},
	{method: "GET", path: "/guilds/{guild_id}/stickers/{sticker_id}", handle: onSticker(false, getGuildSticker)},
	{method: "PATCH", path: "/guilds/{guild_id}/stickers/{sticker_id}", handle: onSticker(true, editSticker)},
	{method: "DELETE", path: "/guilds/{guild_id}/stickers/{sticker_id}", handle: onSticker(true, deleteSticker)},
}

const (
	auditStickerCreate = 90
	auditStickerUpdate = 91
	auditStickerDelete = 92

	largestSticker = 512 << 10
)

// Formats of stickers.
const (
	formatPNG    = 1
	formatAPNG   = 2
	formatLottie = 3
	formatGIF    = 4
)

var (
	errUnknownSticker  = notFound(10060, "Unknown Sticker")
	errStickersFull    = badRequest(30039, "Maximum number of stickers reached")
	errStickerTooLarge = badRequest(50045, "File uploaded exceeds the maximum size")
	errStickerFile     = badRequest(50046, "Invalid file uploaded")
)

// onSticker resolves {guild_id} and {sticker_id}. To change a sticker takes
// MANAGE_GUILD_EXPRESSIONS, or CREATE_GUILD_EXPRESSIONS for the bot's own.
func onSticker(change bool, handle func(*exchange, *guild, *Sticker) (answer, error)) handler {
	return inGuild(0, func(x *exchange, g *guild) (answer, error) {
		s := g.stickers[id[discord.StickerID](x, "sticker_id")]
		if s == nil {
			return refuse(errUnknownSticker)
		}
		if change && !x.managesExpression(g, s.By) {
			return refuse(errMissingPermissions)
		}
		return handle(x, g, s)
	})
}

func (x *exchange) viewStickerIn(g *guild, s *Sticker) stickerView {
	v := viewSticker(s, g.ID)
	v.User = x.uploader(g, s.By)
	return v
}

// getSticker shows any sticker, also one of a guild that the bot is not in.
func getSticker(x *exchange) (answer, error) {
	wanted := id[discord.StickerID](x, "sticker_id")
	for _, g := range x.guilds {
		if s := g.stickers[wanted]; s != nil {
			return ok(x.viewStickerIn(g, s))
		}
	}
	for _, p := range packs {
		for _, s := range p.Stickers {
			if s.ID == wanted {
				return ok(s)
			}
		}
	}
	return refuse(errUnknownSticker)
}

func listStickers(x *exchange, g *guild) (answer, error) {
	return ok(mapped(sorted(g.stickers), func(s *Sticker) stickerView { return x.viewStickerIn(g, s) }))
}

func getGuildSticker(x *exchange, g *guild, s *Sticker) (answer, error) {
	return ok(x.viewStickerIn(g, s))
}

type newStickerForm struct {
	Name        string      `json:"name" minLength:"2" maxLength:"30"`
	Tags        string      `json:"tags" minLength:"1" maxLength:"200"`
	Description opt[string] `json:"description" maxLength:"100"`
}

// createSticker reads a multipart form: name, description, tags and the file.
func createSticker(x *exchange, g *guild) (answer, error) {
	fields := map[string]string{}
	var file *upload
	for i, part := range x.files {
		if part.name == "" {
			fields[part.field] = string(part.data)
		} else if part.field == "file" {
			file = &x.files[i]
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return refuse(err)
	}
	var f newStickerForm
	if err := bind(raw, &f); err != nil {
		return refuse(err)
	}
	if file == nil {
		return refuse(invalid("file", "BASE_TYPE_REQUIRED", "This field is required"))
	}
	format, err := file.stickerFormat(g)
	if err != nil {
		return refuse(err)
	}
	if len(g.stickers) >= g.slots(5, 15, 30, 60) {
		return refuse(errStickersFull)
	}
	s := &Sticker{
		ID: discord.StickerID(x.issue()), Name: f.Name, Description: f.Description.value, Tags: f.Tags, Format: format, By: x.actor,
	}
	g.stickers[s.ID] = s
	x.audit(g.ID, auditStickerCreate, string(s.ID), AuditOptions{}, changed("name", nil, &s.Name)...)
	return created(x.viewStickerIn(g, s))
}

// stickerFormat checks a sticker's file. Lottie is for verified and partnered
// guilds.
func (u *upload) stickerFormat(g *guild) (int, error) {
	switch {
	case len(u.data) > largestSticker:
		return 0, errStickerTooLarge
	case len(u.data) == 0:
		return 0, errStickerFile
	}
	kind, _, _ := strings.Cut(u.contentType, ";")
	switch kind {
	case "image/png", "image/apng":
		if kind == "image/apng" || bytes.Contains(u.data, []byte("acTL")) {
			return formatAPNG, nil
		}
		return formatPNG, nil
	case "image/gif":
		return formatGIF, nil
	case "application/json":
		if json.Valid(u.data) && (g.has("VERIFIED") || g.has("PARTNERED")) {
			return formatLottie, nil
		}
	}
	return 0, errStickerFile
}

type stickerEdit struct {
	Name        opt[string] `json:"name" minLength:"2" maxLength:"30" null:"no"`
	Tags        opt[string] `json:"tags" minLength:"1" maxLength:"200" null:"no"`
	Description opt[string] `json:"description" maxLength:"100"`
}

func editSticker(x *exchange, g *guild, s *Sticker) (answer, error) {
	var f stickerEdit
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	old := *s
	f.Name.into(&s.Name)
	f.Tags.into(&s.Tags)
	f.Description.into(&s.Description)
	changes := append(changed("name", old.Name, s.Name), changed("tags", old.Tags, s.Tags)...)
	changes = append(changes, changed("description", old.Description, s.Description)...)
	x.audit(g.ID, auditStickerUpdate, string(s.ID), AuditOptions{}, changes...)
	return ok(x.viewStickerIn(g, s))
}

func deleteSticker(x *exchange, g *guild, s *Sticker) (answer, error) {
	delete(g.stickers, s.ID)
	x.audit(g.ID, auditStickerDelete, string(s.ID), AuditOptions{}, changed("name", &s.Name, nil)...)
	return done()
}

// DemoStandardSticker is one of Discord's own stickers, the same in every
// sandbox.
const DemoStandardSticker discord.StickerID = "1200000000000000711"

type packView struct {
	ID          string            `json:"id"`
	SKU         discord.SKUID     `json:"sku_id"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Stickers    []packedView      `json:"stickers"`
	Cover       discord.StickerID `json:"cover_sticker_id"`
}

type packedView struct {
	ID          discord.StickerID `json:"id"`
	Name        string            `json:"name"`
	Tags        string            `json:"tags"`
	Type        int               `json:"type"`
	Format      int               `json:"format_type"`
	Description *string           `json:"description"`
	Pack        string            `json:"pack_id"`
	Sort        int               `json:"sort_value"`
}

var packs = func() []packView {
	about, wave, sleep := "Greetings from the harbour", "A gull waves", "A gull sleeps on a buoy"
	const pack = "1200000000000000701"
	return []packView{{
		ID: pack, SKU: "1200000000000000702", Name: "Gulls", Description: &about, Cover: DemoStandardSticker,
		Stickers: []packedView{
			{DemoStandardSticker, "Hello", "wave, hello", 1, formatLottie, &wave, pack, 1},
			{"1200000000000000712", "Good Night", "sleep, night", 1, formatLottie, &sleep, pack, 2},
		},
	}}
}()

func listPacks(*exchange) (answer, error) {
	return ok(struct {
		Packs []packView `json:"sticker_packs"`
	}{packs})
}
