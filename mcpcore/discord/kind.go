package discord

// Kind is what an identifier names. Guards read from it what an argument
// touches, so an id that is declared with the wrong type is guarded wrongly.
type Kind string

// The kinds.
const (
	KindApplication  Kind = "application"
	KindAttachment   Kind = "attachment"
	KindChannel      Kind = "channel" // threads and direct messages included
	KindCommand      Kind = "command"
	KindEmoji        Kind = "emoji"
	KindEntitlement  Kind = "entitlement"
	KindEvent        Kind = "event"
	KindGrantee      Kind = "grantee" // a role, a member or a channel
	KindGuild        Kind = "guild"
	KindIntegration  Kind = "integration"
	KindInteraction  Kind = "interaction" // also by its token, a secret
	KindInvite       Kind = "invite"      // by its code
	KindMessage      Kind = "message"
	KindOption       Kind = "option"
	KindOverwrite    Kind = "overwrite" // a role or a member
	KindOwner        Kind = "owner"     // a guild or a user
	KindPrompt       Kind = "prompt"
	KindRole         Kind = "role"
	KindRule         Kind = "rule"
	KindSKU          Kind = "sku"
	KindSound        Kind = "sound"
	KindSticker      Kind = "sticker"
	KindSubscription Kind = "subscription"
	KindTag          Kind = "tag"
	KindTemplate     Kind = "template" // by its code
	KindUser         Kind = "user"
	KindWebhook      Kind = "webhook"
	KindWebhookToken Kind = "webhook token" // a secret
	KindNothing      Kind = "nothing"       // a cursor or a filter
)

// Identifier is implemented by every identifier type, also by the zero value.
type Identifier interface {
	// Kind is the same for all values of a type.
	Kind() Kind
}

func (ApplicationID) Kind() Kind    { return KindApplication }
func (AttachmentID) Kind() Kind     { return KindAttachment }
func (ChannelID) Kind() Kind        { return KindChannel }
func (CommandID) Kind() Kind        { return KindCommand }
func (EmojiID) Kind() Kind          { return KindEmoji }
func (EntitlementID) Kind() Kind    { return KindEntitlement }
func (EventID) Kind() Kind          { return KindEvent }
func (GranteeID) Kind() Kind        { return KindGrantee }
func (GuildID) Kind() Kind          { return KindGuild }
func (IntegrationID) Kind() Kind    { return KindIntegration }
func (InteractionID) Kind() Kind    { return KindInteraction }
func (InteractionToken) Kind() Kind { return KindInteraction }
func (InviteCode) Kind() Kind       { return KindInvite }
func (MessageID) Kind() Kind        { return KindMessage }
func (OptionID) Kind() Kind         { return KindOption }
func (OverwriteID) Kind() Kind      { return KindOverwrite }
func (OwnerID) Kind() Kind          { return KindOwner }
func (PromptID) Kind() Kind         { return KindPrompt }
func (RoleID) Kind() Kind           { return KindRole }
func (RuleID) Kind() Kind           { return KindRule }
func (SKUID) Kind() Kind            { return KindSKU }
func (Snowflake) Kind() Kind        { return KindNothing }
func (SoundID) Kind() Kind          { return KindSound }
func (StickerID) Kind() Kind        { return KindSticker }
func (SubscriptionID) Kind() Kind   { return KindSubscription }
func (TagID) Kind() Kind            { return KindTag }
func (TemplateCode) Kind() Kind     { return KindTemplate }
func (UserID) Kind() Kind           { return KindUser }
func (WebhookID) Kind() Kind        { return KindWebhook }
func (WebhookToken) Kind() Kind     { return KindWebhookToken }

// Snowflake is an id that names no target of a call: the cursor of a page, or a
// value that results are compared with. Guards do not look at it.
type Snowflake string

// What is named by other texts than snowflakes.
type (
	InviteCode       string // what follows discord.gg/
	TemplateCode     string // what follows discord.new/
	WebhookToken     string // a secret: whoever has it can use the webhook
	InteractionToken string // a secret: whoever has it can answer the interaction
)

const (
	textSchema = `{"type":"string"}`
	// tokenSchema allows what a path takes as one segment unescaped.
	tokenSchema = `{"type":"string","pattern":"^[A-Za-z0-9_-][A-Za-z0-9._~=+-]*$","maxLength":2048}`
)

func (Snowflake) JSONSchema() string        { return IDSchema }
func (InviteCode) JSONSchema() string       { return textSchema }
func (TemplateCode) JSONSchema() string     { return textSchema }
func (WebhookToken) JSONSchema() string     { return tokenSchema }
func (InteractionToken) JSONSchema() string { return tokenSchema }
