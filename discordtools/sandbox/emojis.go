package sandbox

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// emojiRoutes manage a guild's emojis.
//
// Source: https://docs.discord.com/developers/resources/emoji.
var emojiRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/emojis", handle: inGuild(0, listEmojis)},
	{method: "POST", path: "/guilds/{guild_id}/emojis", handle: inGuild(discord.CreateGuildExpressions, createEmoji)},
	{method: "GET", path: "/guilds/{guild_id}/emojis/{emoji_id}", handle: onEmoji(false, getEmoji)},
	{method: "PATCH", path: "/guilds/{guild_id}/emojis/{emoji_id}", handle: onEmoji(true, editEmoji)},
	{method: "DELETE", path: "/guilds/{guild_id}/emojis/{emoji_id}", handle: onEmoji(true, deleteEmoji)},
}

const (
	auditEmojiCreate = 60
	auditEmojiUpdate = 61
	auditEmojiDelete = 62

	largestEmoji = 256 << 10
)

var (
	errNoEmoji       = notFound(10014, "Unknown Emoji")
	errEmojisFull    = badRequest(30008, "Maximum number of emojis reached")
	errAnimatedsFull = badRequest(30018, "Maximum number of animated emojis reached")

	emojiName = regexp.MustCompile(`^[A-Za-z0-9_]*$`)
)

// onEmoji resolves {guild_id} and {emoji_id}. To change an emoji takes
// MANAGE_GUILD_EXPRESSIONS, or CREATE_GUILD_EXPRESSIONS for the bot's own.
func onEmoji(change bool, handle func(*exchange, *guild, *Emoji) (answer, error)) handler {
	return inGuild(0, func(x *exchange, g *guild) (answer, error) {
		e := g.emojis[id[discord.EmojiID](x, "emoji_id")]
		if e == nil {
			return refuse(errNoEmoji)
		}
		if change && !x.managesExpression(g, e.By) {
			return refuse(errMissingPermissions)
		}
		return handle(x, g, e)
	})
}

// managesExpression reports whether the bot may change an emoji or sticker that
// someone uploaded.
func (x *exchange) managesExpression(g *guild, by discord.UserID) bool {
	held := x.world.inGuild(g, x.actor)
	return held.Has(discord.ManageGuildExpressions) || by == x.actor && held.Has(discord.CreateGuildExpressions)
}

// viewEmojiIn is an emoji with who uploaded it, which is shown to those who may
// upload.
func (x *exchange) viewEmojiIn(g *guild, e *Emoji) emojiView {
	v := viewEmoji(e)
	v.User = x.uploader(g, e.By)
	return v
}

func (x *exchange) uploader(g *guild, by discord.UserID) *userView {
	if by == "" || x.world.inGuild(g, x.actor)&(discord.ManageGuildExpressions|discord.CreateGuildExpressions) == 0 {
		return nil
	}
	u := x.user(by)
	return &u
}

func listEmojis(x *exchange, g *guild) (answer, error) {
	return ok(mapped(sorted(g.emojis), func(e *Emoji) emojiView { return x.viewEmojiIn(g, e) }))
}

func getEmoji(x *exchange, g *guild, e *Emoji) (answer, error) { return ok(x.viewEmojiIn(g, e)) }

type newEmojiForm struct {
	Name  string                `json:"name" minLength:"2" maxLength:"32"`
	Image string                `json:"image"`
	Roles opt[[]discord.RoleID] `json:"roles"`
}

func createEmoji(x *exchange, g *guild) (answer, error) {
	var f newEmojiForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := checkEmojiName(f.Name); err != nil {
		return refuse(err)
	}
	kind, err := imageData("image", f.Image, largestEmoji)
	if err != nil {
		return refuse(err)
	}
	if err := g.haveRoles(f.Roles.value); err != nil {
		return refuse(err)
	}
	e := &Emoji{Name: f.Name, Animated: kind == "image/gif", Roles: f.Roles.value, By: x.actor}
	if g.emojiCount(e.Animated) >= g.slots(50, 100, 150, 250) {
		if e.Animated {
			return refuse(errAnimatedsFull)
		}
		return refuse(errEmojisFull)
	}
	e.ID = discord.EmojiID(x.issue())
	g.emojis[e.ID] = e
	x.audit(g.ID, auditEmojiCreate, string(e.ID), AuditOptions{}, changed("name", nil, &e.Name)...)
	return created(x.viewEmojiIn(g, e))
}

type emojiEdit struct {
	Name  opt[string]           `json:"name" minLength:"2" maxLength:"32" null:"no"`
	Roles opt[[]discord.RoleID] `json:"roles"`
}

func editEmoji(x *exchange, g *guild, e *Emoji) (answer, error) {
	var f emojiEdit
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := checkEmojiName(f.Name.value); err != nil {
		return refuse(err)
	}
	if err := g.haveRoles(f.Roles.value); err != nil {
		return refuse(err)
	}
	old := *e
	f.Name.into(&e.Name)
	f.Roles.into(&e.Roles)
	changes := append(changed("name", old.Name, e.Name), changed("roles", list(old.Roles), list(e.Roles))...)
	x.audit(g.ID, auditEmojiUpdate, string(e.ID), AuditOptions{}, changes...)
	return ok(x.viewEmojiIn(g, e))
}

func deleteEmoji(x *exchange, g *guild, e *Emoji) (answer, error) {
	delete(g.emojis, e.ID)
	x.audit(g.ID, auditEmojiDelete, string(e.ID), AuditOptions{}, changed("name", &e.Name, nil)...)
	return done()
}

func checkEmojiName(name string) error {
	if emojiName.MatchString(name) {
		return nil
	}
	return invalid("name", "STRING_TYPE_REGEX", "String value did not match validation regex.")
}

// haveRoles demands that every role exists.
func (g *guild) haveRoles(roles []discord.RoleID) error {
	for _, id := range roles {
		if g.roles[id] == nil {
			return errUnknownRole
		}
	}
	return nil
}

func (g *guild) emojiCount(animated bool) int {
	n := 0
	for _, e := range g.emojis {
		if e.Animated == animated && !e.Managed {
			n++
		}
	}
	return n
}

// slots is what a guild has room for at its boost level.
func (g *guild) slots(byTier ...int) int { return byTier[min(g.PremiumTier, len(byTier)-1)] }

// imageData checks a data URI of an image of at most so many bytes and gives
// its type.
func imageData(field, uri string, most int) (kind string, err error) {
	kind, data, ok := dataURI(uri)
	switch {
	case !ok || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}, kind):
		return "", invalid(field, "IMAGE_INVALID", "Invalid image data")
	case len(data) > most:
		return "", tooLarge(field, most)
	}
	return kind, nil
}

// dataURI splits data:TYPE;base64,DATA. It is false for anything else, and for
// no data.
func dataURI(uri string) (kind string, data []byte, ok bool) {
	head, text, comma := strings.Cut(uri, ",")
	kind, isURI := strings.CutPrefix(head, "data:")
	kind, isBase64 := strings.CutSuffix(kind, ";base64")
	data, err := base64.StdEncoding.DecodeString(text)
	return kind, data, comma && isURI && isBase64 && err == nil && len(data) > 0
}

func tooLarge(field string, most int) error {
	return invalid(field, "BINARY_TYPE_MAX_SIZE", "File cannot be larger than "+strconv.FormatFloat(float64(most)/1024, 'f', 1, 64)+" kb.")
}
