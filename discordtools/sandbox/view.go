package sandbox

import (
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Views are Discord's objects as its answers write them. A pointer is a member
// that may be null.

type userView struct {
	ID            discord.UserID `json:"id"`
	Username      string         `json:"username"`
	Avatar        *string        `json:"avatar"`
	Discriminator string         `json:"discriminator"`
	PublicFlags   int            `json:"public_flags"`
	Flags         int            `json:"flags"`
	Bot           bool           `json:"bot,omitempty"`
	System        bool           `json:"system,omitempty"`
	Banner        *string        `json:"banner"`
	AccentColor   *int           `json:"accent_color"`
	GlobalName    *string        `json:"global_name"`
	PrimaryGuild  *struct{}      `json:"primary_guild"`
}

func viewUser(u *User) userView {
	v := userView{
		ID: u.ID, Username: u.Name, Avatar: textOrNull(u.Avatar), Discriminator: u.Discriminator, PublicFlags: u.Flags,
		Flags: u.Flags, Bot: u.Bot, System: u.System, Banner: textOrNull(u.Banner), GlobalName: textOrNull(u.GlobalName),
	}
	if v.Discriminator == "" {
		v.Discriminator = "0"
	}
	return v
}

// user is the view of a user by id, also of one that has been deleted.
func (w *world) user(id discord.UserID) userView {
	if u := w.users[id]; u != nil {
		return viewUser(u)
	}
	return userView{ID: id, Username: "Deleted User", Discriminator: "0"}
}

type memberView struct {
	Avatar      *string          `json:"avatar"`
	Banner      *string          `json:"banner"`
	Timeout     *string          `json:"communication_disabled_until"`
	Flags       int              `json:"flags"`
	Joined      string           `json:"joined_at"`
	Nick        *string          `json:"nick"`
	Pending     bool             `json:"pending"`
	PremiumFrom *string          `json:"premium_since"`
	Roles       []discord.RoleID `json:"roles"`
	User        userView         `json:"user"`
	Mute        bool             `json:"mute"`
	Deaf        bool             `json:"deaf"`
}

func (w *world) member(m *Member) memberView {
	return memberView{
		Avatar: textOrNull(m.Avatar), Banner: textOrNull(m.Banner), Timeout: stampOrNull(m.TimeoutUntil), Flags: m.Flags,
		Joined: stamp(m.Joined), Nick: textOrNull(m.Nick), Pending: m.Pending, PremiumFrom: stampOrNull(m.BoostingFrom),
		Roles: list(m.Roles), User: w.user(m.User), Mute: m.Mute, Deaf: m.Deaf,
	}
}

type roleView struct {
	ID          discord.RoleID `json:"id"`
	Name        string         `json:"name"`
	Permissions string         `json:"permissions"`
	Position    int            `json:"position"`
	Color       int            `json:"color"`
	Colors      roleColors     `json:"colors"`
	Hoist       bool           `json:"hoist"`
	Managed     bool           `json:"managed"`
	Mentionable bool           `json:"mentionable"`
	Icon        *string        `json:"icon"`
	Emoji       *string        `json:"unicode_emoji"`
	Tags        *roleTags      `json:"tags,omitempty"`
	Flags       int            `json:"flags"`
}

type roleColors struct {
	Primary   int  `json:"primary_color"`
	Secondary *int `json:"secondary_color"`
	Tertiary  *int `json:"tertiary_color"`
}

type roleTags struct {
	Bot         discord.UserID        `json:"bot_id,omitempty"`
	Integration discord.IntegrationID `json:"integration_id,omitempty"`
	Booster     *null                 `json:"premium_subscriber,omitempty"`
}

// null is a member whose presence is the fact and whose value is null.
type null struct{}

func (*null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func viewRole(r *Role) roleView {
	v := roleView{
		ID: r.ID, Name: r.Name, Permissions: bits(r.Permissions), Position: r.Position, Color: r.Color,
		Colors: roleColors{r.Color, r.Secondary, r.Tertiary}, Hoist: r.Hoist, Managed: r.Managed, Mentionable: r.Mentionable,
		Icon: textOrNull(r.Icon), Emoji: textOrNull(r.UnicodeEmoji), Flags: r.Flags,
	}
	if r.Bot != "" || r.Integration != "" || r.Booster {
		v.Tags = &roleTags{Bot: r.Bot, Integration: r.Integration}
		if r.Booster {
			v.Tags.Booster = &null{}
		}
	}
	return v
}

// rolesByRank lists a guild's roles, the lowest first.
func (g *guild) rolesByRank() []*Role {
	all := make([]*Role, 0, len(g.roles))
	for _, r := range g.roles {
		all = append(all, r)
	}
	slices.SortFunc(all, compareRoles)
	return all
}

type emojiView struct {
	ID            discord.EmojiID  `json:"id"`
	Name          string           `json:"name"`
	User          *userView        `json:"user,omitempty"`
	Roles         []discord.RoleID `json:"roles"`
	RequireColons bool             `json:"require_colons"`
	Managed       bool             `json:"managed"`
	Animated      bool             `json:"animated"`
	Available     bool             `json:"available"`
}

func viewEmoji(e *Emoji) emojiView {
	return emojiView{
		ID: e.ID, Name: e.Name, Roles: list(e.Roles), RequireColons: true, Managed: e.Managed, Animated: e.Animated, Available: true,
	}
}

type stickerView struct {
	ID          discord.StickerID `json:"id"`
	Name        string            `json:"name"`
	Tags        string            `json:"tags"`
	Type        int               `json:"type"`
	Format      int               `json:"format_type"`
	Description *string           `json:"description"`
	Available   bool              `json:"available"`
	Guild       discord.GuildID   `json:"guild_id"`
	User        *userView         `json:"user,omitempty"`
}

func viewSticker(s *Sticker, g discord.GuildID) stickerView {
	return stickerView{
		ID: s.ID, Name: s.Name, Tags: s.Tags, Type: 2, Format: max(s.Format, 1), Description: textOrNull(s.Description),
		Available: true, Guild: g,
	}
}

// sorted lists a map's values by their age.
func sorted[K ~string, V any](m map[K]V) []V {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, discord.CompareIDs)
	values := make([]V, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return values
}

// mapped is f of every item, never nil.
func mapped[A, B any](items []A, f func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = f(item)
	}
	return out
}

// list is items as JSON writes a list: [] instead of null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func bits(p discord.Permissions) string { return strconv.FormatUint(uint64(p), 10) }

// textOrNull is nil for "", which Discord writes as null.
func textOrNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

// orDefault is n, or def where n is 0.
func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

func sentAt(id discord.MessageID) time.Time { return discord.IDTime(string(id)) }
