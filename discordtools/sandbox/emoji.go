package sandbox

import (
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// emoji resolves an emoji by a guild emoji's id, or by the character itself.
func (x *exchange) emoji(id discord.EmojiID, name string) (EmojiRef, error) {
	if id == "" {
		if !isUnicodeEmoji(name) {
			return EmojiRef{}, errUnknownEmoji
		}
		return EmojiRef{Name: name}, nil
	}
	for _, g := range x.guilds {
		if e := g.emojis[id]; e != nil && g.members[x.actor] != nil {
			return EmojiRef{ID: id, Name: e.Name, Animated: e.Animated}, nil
		}
	}
	return EmojiRef{}, errUnknownEmoji
}

// pathEmoji resolves {emoji_name}: a character, or name:id.
func (x *exchange) pathEmoji() (EmojiRef, error) {
	name, id, custom := strings.Cut(x.params["emoji_name"], ":")
	if custom {
		if discord.CheckID(id) != nil {
			return EmojiRef{}, errUnknownEmoji
		}
		return x.emoji(discord.EmojiID(id), name)
	}
	return x.emoji("", name)
}

// same reports whether two references name one emoji, variation selectors
// aside.
func (e EmojiRef) same(other EmojiRef) bool {
	if e.ID != "" || other.ID != "" {
		return e.ID == other.ID
	}
	bare := strings.NewReplacer("\ufe0f", "")
	return bare.Replace(e.Name) == bare.Replace(other.Name)
}

// isUnicodeEmoji reports whether s looks like an emoji: symbols and what joins
// and modifies them, no letters and no spaces.
func isUnicodeEmoji(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	symbol, keycap := false, false
	for _, r := range s {
		switch {
		case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2190 && r <= 0x2BFF, r == 0xA9, r == 0xAE, r == 0x203C, r == 0x2049,
			r == 0x2122, r == 0x2139, r == 0x3030, r == 0x303D, r == 0x3297, r == 0x3299:
			symbol = true
		case r == 0x20E3:
			symbol = keycap
		case r >= '0' && r <= '9', r == '#', r == '*':
			keycap = true
		case r == 0xFE0F, r == 0x200D, r >= 0xE0020 && r <= 0xE007F:
		default:
			return false
		}
	}
	return symbol && (!keycap || strings.ContainsRune(s, 0x20E3))
}
