package discord

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// Identifiers. Each is a snowflake: 17 to 20 ASCII digits that fit an unsigned
// 64-bit integer, always written as text because numbers above 2^53 lose digits
// in JSON. The zero value "" means "none".
type (
	ApplicationID  string
	AttachmentID   string
	ChannelID      string
	CommandID      string
	EmojiID        string
	EntitlementID  string
	EventID        string
	GranteeID      string // a role's, a member's or a channel's id, to whom a command is open
	GuildID        string
	IntegrationID  string
	InteractionID  string
	MessageID      string
	OptionID       string // of a prompt
	OverwriteID    string // a role's or a member's id, as an overwrite's type says
	OwnerID        string // a guild's or a user's id, who has something bought
	PromptID       string // of an onboarding
	RoleID         string
	RuleID         string
	SKUID          string
	SoundID        string // Discord's own sounds have short ones
	StickerID      string
	SubscriptionID string
	TagID          string
	UserID         string
	WebhookID      string
)

// IDSchema is the JSON Schema that every identifier type publishes.
const IDSchema = `{"type":"string","pattern":"^[0-9]{17,20}$"}`

func (ApplicationID) JSONSchema() string  { return IDSchema }
func (AttachmentID) JSONSchema() string   { return IDSchema }
func (ChannelID) JSONSchema() string      { return IDSchema }
func (CommandID) JSONSchema() string      { return IDSchema }
func (EmojiID) JSONSchema() string        { return IDSchema }
func (EntitlementID) JSONSchema() string  { return IDSchema }
func (EventID) JSONSchema() string        { return IDSchema }
func (GranteeID) JSONSchema() string      { return IDSchema }
func (GuildID) JSONSchema() string        { return IDSchema }
func (IntegrationID) JSONSchema() string  { return IDSchema }
func (InteractionID) JSONSchema() string  { return IDSchema }
func (MessageID) JSONSchema() string      { return IDSchema }
func (OptionID) JSONSchema() string       { return IDSchema }
func (OverwriteID) JSONSchema() string    { return IDSchema }
func (OwnerID) JSONSchema() string        { return IDSchema }
func (PromptID) JSONSchema() string       { return IDSchema }
func (RoleID) JSONSchema() string         { return IDSchema }
func (RuleID) JSONSchema() string         { return IDSchema }
func (SKUID) JSONSchema() string          { return IDSchema }
func (SoundID) JSONSchema() string        { return `{"type":"string","pattern":"^[0-9]{1,20}$"}` }
func (StickerID) JSONSchema() string      { return IDSchema }
func (SubscriptionID) JSONSchema() string { return IDSchema }
func (TagID) JSONSchema() string          { return IDSchema }
func (UserID) JSONSchema() string         { return IDSchema }
func (WebhookID) JSONSchema() string      { return IDSchema }

// epoch is the first millisecond that a snowflake can name.
const epoch = 1420070400000 // 2015-01-01T00:00:00Z

// CheckID reports why s is not an identifier, or nil.
func CheckID(s string) error {
	if len(s) < 17 || len(s) > 20 {
		return fmt.Errorf("an id has 17 to 20 digits, this has %d characters", len(s))
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return fmt.Errorf("an id has digits only")
		}
	}
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return fmt.Errorf("an id fits an unsigned 64-bit number")
	}
	return nil
}

// IDTime is the moment an identifier was issued, to the millisecond. It is the
// zero time when id is not an identifier.
func IDTime(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch).UTC()
}

// IDAt is the smallest identifier issued at t or later, the form in which
// Discord takes a moment as a paging cursor. Moments that a snowflake cannot
// name are moved to the nearest one it can.
func IDAt(t time.Time) string {
	const last = 1<<42 - 1
	ms := min(max(t.UnixMilli()-epoch, 0), last)
	return fmt.Sprintf("%017d", uint64(ms)<<22)
}

// CompareIDs orders identifiers by age, the oldest first.
func CompareIDs[ID ~string](a, b ID) int {
	if n := cmp.Compare(len(a), len(b)); n != 0 {
		return n
	}
	return cmp.Compare(a, b)
}
