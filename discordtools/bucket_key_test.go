package discordtools

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
)

const (
	keyGuild   = "700000000000000001"
	keyChannel = "710000000000000001"
	keyUser    = "720000000000000001"
	keyMessage = "730000000000000001"
	keyRole    = "740000000000000001"
	keyWebhook = "750000000000000001"
	keyEmoji   = "760000000000000001"
	keyApp     = "770000000000000001"
	keyOther   = "780000000000000001"
	keyToken   = "whk-FAKE-token"
)

var keyValues = map[string]string{
	"guild_id": keyGuild, "channel_id": keyChannel, "user_id": keyUser, "message_id": keyMessage, "role_id": keyRole,
	"webhook_id": keyWebhook, "webhook_token": keyToken, "interaction_id": keyOther, "interaction_token": keyToken,
	"emoji_id": keyEmoji, "emoji_name": "party:" + keyEmoji, "application_id": keyApp, "code": "abc", "overwrite_id": keyRole,
	"integration_id": keyOther, "entitlement_id": keyOther, "command_id": keyOther, "rule_id": keyOther,
	"guild_scheduled_event_id": keyOther, "answer_id": "1", "sku_id": keyOther, "subscription_id": keyRole,
}

// discordgoKeys calls do on a fresh session and returns the buckets it used.
func discordgoKeys(t *testing.T, do func(*discordgo.Session)) []string {
	t.Helper()
	s, _ := discordgo.New("Bot x")
	s.Client = &http.Client{Transport: transportFunc(func(*http.Request) (*http.Response, error) {
		return respond(404, nil, `{}`), nil
	})}
	do(s)
	var keys []string
	for _, key := range reflect.ValueOf(s.Ratelimiter).Elem().FieldByName("buckets").MapKeys() {
		keys = append(keys, key.String())
	}
	return keys
}

func TestBucketKeysAreDiscordgos(t *testing.T) {
	t.Parallel()
	interaction := &discordgo.Interaction{ID: keyOther, AppID: keyWebhook, Token: keyToken}
	rows := []struct {
		route string
		query url.Values
		do    func(*discordgo.Session)
	}{
		// Every exception of the table.
		{"GET /channels/{channel_id}/messages/{message_id}", nil, func(s *discordgo.Session) { s.ChannelMessage(keyChannel, keyMessage) }},
		{"PATCH /channels/{channel_id}/messages/{message_id}", nil, func(s *discordgo.Session) { s.ChannelMessageEdit(keyChannel, keyMessage, "x") }},
		{"DELETE /channels/{channel_id}/messages/{message_id}", nil, func(s *discordgo.Session) { s.ChannelMessageDelete(keyChannel, keyMessage) }},
		{"PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me", nil, func(s *discordgo.Session) { s.MessageReactionAdd(keyChannel, keyMessage, "party:"+keyEmoji) }},
		{"DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me", nil, func(s *discordgo.Session) { s.MessageReactionRemove(keyChannel, keyMessage, "party:"+keyEmoji, "@me") }},
		{"DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/{user_id}", nil, func(s *discordgo.Session) {
			s.MessageReactionRemove(keyChannel, keyMessage, "party:"+keyEmoji, keyUser)
		}},
		{"GET /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}", nil, func(s *discordgo.Session) {
			s.MessageReactions(keyChannel, keyMessage, "party:"+keyEmoji, 5, "", "")
		}},
		{"PUT /channels/{channel_id}/permissions/{overwrite_id}", nil, func(s *discordgo.Session) { s.ChannelPermissionSet(keyChannel, keyRole, 0, 0, 0) }},
		{"DELETE /channels/{channel_id}/permissions/{overwrite_id}", nil, func(s *discordgo.Session) { s.ChannelPermissionDelete(keyChannel, keyRole) }},
		{"PUT /channels/{channel_id}/pins/{message_id}", nil, func(s *discordgo.Session) { s.ChannelMessagePin(keyChannel, keyMessage) }},
		{"DELETE /channels/{channel_id}/pins/{message_id}", nil, func(s *discordgo.Session) { s.ChannelMessageUnpin(keyChannel, keyMessage) }},
		{"PATCH /guilds/{guild_id}/members/@me", nil, func(s *discordgo.Session) { s.GuildMemberMute(keyGuild, "@me", true) }},
		{"GET /guilds/{guild_id}/members/{user_id}", nil, func(s *discordgo.Session) { s.GuildMember(keyGuild, keyUser) }},
		{"PATCH /guilds/{guild_id}/members/{user_id}", nil, func(s *discordgo.Session) { s.GuildMemberMute(keyGuild, keyUser, true) }},
		{"DELETE /guilds/{guild_id}/members/{user_id}", nil, func(s *discordgo.Session) { s.GuildMemberDelete(keyGuild, keyUser) }},
		{"PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}", nil, func(s *discordgo.Session) { s.GuildMemberRoleAdd(keyGuild, keyUser, keyRole) }},
		{"PUT /guilds/{guild_id}/bans/{user_id}", nil, func(s *discordgo.Session) { s.GuildBanCreate(keyGuild, keyUser, 0) }},
		{"DELETE /guilds/{guild_id}/bans/{user_id}", nil, func(s *discordgo.Session) { s.GuildBanDelete(keyGuild, keyUser) }},
		{"PATCH /guilds/{guild_id}/roles/{role_id}", nil, func(s *discordgo.Session) { s.GuildRoleEdit(keyGuild, keyRole, &discordgo.RoleParams{}) }},
		{"DELETE /guilds/{guild_id}/roles/{role_id}", nil, func(s *discordgo.Session) { s.GuildRoleDelete(keyGuild, keyRole) }},
		{"DELETE /guilds/{guild_id}/integrations/{integration_id}", nil, func(s *discordgo.Session) { s.GuildIntegrationDelete(keyGuild, keyOther) }},
		{"PATCH /guilds/{guild_id}/emojis/{emoji_id}", nil, func(s *discordgo.Session) { s.GuildEmojiEdit(keyGuild, keyEmoji, &discordgo.EmojiParams{}) }},
		{"DELETE /guilds/{guild_id}/emojis/{emoji_id}", nil, func(s *discordgo.Session) { s.GuildEmojiDelete(keyGuild, keyEmoji) }},
		{"PATCH /guilds/{guild_id}/templates/{code}", nil, func(s *discordgo.Session) {
			s.GuildTemplateEdit(keyGuild, "abc", &discordgo.GuildTemplateParams{})
		}},
		{"PATCH /applications/{application_id}/emojis/{emoji_id}", nil, func(s *discordgo.Session) {
			s.ApplicationEmojiEdit(keyApp, keyEmoji, &discordgo.EmojiParams{})
		}},
		{"DELETE /applications/{application_id}/emojis/{emoji_id}", nil, func(s *discordgo.Session) { s.ApplicationEmojiDelete(keyApp, keyEmoji) }},
		{"DELETE /applications/{application_id}/entitlements/{entitlement_id}", nil, func(s *discordgo.Session) { s.EntitlementTestDelete(keyApp, keyOther) }},
		{"POST /applications/{application_id}/entitlements/{entitlement_id}/consume", nil, func(s *discordgo.Session) { s.EntitlementConsume(keyApp, keyOther) }},
		{"GET /invites/{code}", nil, func(s *discordgo.Session) { s.Invite("abc") }},
		{"GET /users/@me", nil, func(s *discordgo.Session) { s.User("@me") }},
		{"GET /users/{user_id}", nil, func(s *discordgo.Session) { s.User(keyUser) }},
		{"POST /users/@me/channels", nil, func(s *discordgo.Session) { s.UserChannelCreate(keyUser) }},
		{"GET /users/@me/guilds", nil, func(s *discordgo.Session) { s.UserGuilds(10, "", "", false) }},
		{"DELETE /users/@me/guilds/{guild_id}", nil, func(s *discordgo.Session) { s.GuildLeave(keyGuild) }},
		{"GET /voice/regions", nil, func(s *discordgo.Session) { s.VoiceRegions() }},
		{"GET /webhooks/{webhook_id}", nil, func(s *discordgo.Session) { s.Webhook(keyWebhook) }},
		{"GET /webhooks/{webhook_id}/{webhook_token}", nil, func(s *discordgo.Session) { s.WebhookWithToken(keyWebhook, keyToken) }},
		{"POST /webhooks/{webhook_id}/{webhook_token}", nil, func(s *discordgo.Session) {
			s.WebhookExecute(keyWebhook, keyToken, false, &discordgo.WebhookParams{})
		}},
		{"POST /webhooks/{webhook_id}/{webhook_token}", url.Values{"wait": {"true"}, "thread_id": {keyChannel}}, func(s *discordgo.Session) {
			s.WebhookThreadExecute(keyWebhook, keyToken, true, keyChannel, &discordgo.WebhookParams{})
		}},
		{"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", nil, func(s *discordgo.Session) {
			s.WebhookMessageEdit(keyWebhook, keyToken, keyMessage, &discordgo.WebhookEdit{})
		}},
		{"GET /webhooks/{webhook_id}/{webhook_token}/messages/@original", nil, func(s *discordgo.Session) { s.InteractionResponse(interaction) }},
		{"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original", nil, func(s *discordgo.Session) { s.InteractionResponseDelete(interaction) }},
		{"GET /applications/{application_id}/commands", nil, func(s *discordgo.Session) { s.ApplicationCommands(keyApp, "") }},
		{"GET /applications/{application_id}/guilds/{guild_id}/commands", nil, func(s *discordgo.Session) { s.ApplicationCommands(keyApp, keyGuild) }},

		// The rule: the path.
		{"GET /channels/{channel_id}", nil, func(s *discordgo.Session) { s.Channel(keyChannel) }},
		{"GET /channels/{channel_id}/messages", nil, func(s *discordgo.Session) { s.ChannelMessages(keyChannel, 5, "", "", "") }},
		{"POST /channels/{channel_id}/messages", nil, func(s *discordgo.Session) { s.ChannelMessageSend(keyChannel, "x") }},
		{"POST /channels/{channel_id}/messages/bulk-delete", nil, func(s *discordgo.Session) {
			s.ChannelMessagesBulkDelete(keyChannel, []string{keyMessage, keyOther})
		}},
		{"POST /channels/{channel_id}/messages/{message_id}/crosspost", nil, func(s *discordgo.Session) { s.ChannelMessageCrosspost(keyChannel, keyMessage) }},
		{"DELETE /channels/{channel_id}/messages/{message_id}/reactions", nil, func(s *discordgo.Session) { s.MessageReactionsRemoveAll(keyChannel, keyMessage) }},
		{"DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}", nil, func(s *discordgo.Session) {
			s.MessageReactionsRemoveEmoji(keyChannel, keyMessage, "party:"+keyEmoji)
		}},
		{"PUT /channels/{channel_id}/thread-members/{user_id}", nil, func(s *discordgo.Session) { s.ThreadMemberAdd(keyChannel, keyUser) }},
		{"GET /guilds/{guild_id}", nil, func(s *discordgo.Session) { s.Guild(keyGuild) }},
		{"GET /guilds/{guild_id}/bans/{user_id}", nil, func(s *discordgo.Session) { s.GuildBan(keyGuild, keyUser) }},
		{"GET /guilds/{guild_id}/members", nil, func(s *discordgo.Session) { s.GuildMembers(keyGuild, "", 5) }},
		{"GET /guilds/{guild_id}/emojis/{emoji_id}", nil, func(s *discordgo.Session) { s.GuildEmoji(keyGuild, keyEmoji) }},
		{"GET /guilds/{guild_id}/audit-logs", nil, func(s *discordgo.Session) { s.GuildAuditLog(keyGuild, "", "", 0, 5) }},
		{"GET /guilds/templates/{code}", nil, func(s *discordgo.Session) { s.GuildTemplate("abc") }},
		{"DELETE /guilds/{guild_id}/auto-moderation/rules/{rule_id}", nil, func(s *discordgo.Session) { s.AutoModerationRuleDelete(keyGuild, keyOther) }},
		{"GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", nil, func(s *discordgo.Session) { s.GuildScheduledEvent(keyGuild, keyOther, false) }},
		{"DELETE /applications/{application_id}/commands/{command_id}", nil, func(s *discordgo.Session) { s.ApplicationCommandDelete(keyApp, "", keyOther) }},
		{"POST /interactions/{interaction_id}/{interaction_token}/callback", nil, func(s *discordgo.Session) {
			s.InteractionRespond(interaction, &discordgo.InteractionResponse{})
		}},
		{"GET /channels/{channel_id}/threads/archived/public", nil, func(s *discordgo.Session) { s.ThreadsArchived(keyChannel, nil, 0) }},
		{"GET /channels/{channel_id}/polls/{message_id}/answers/{answer_id}", nil, func(s *discordgo.Session) { s.PollAnswerVoters(keyChannel, keyMessage, 1) }},
		{"GET /skus/{sku_id}/subscriptions/{subscription_id}", nil, func(s *discordgo.Session) { s.Subscription(keyOther, keyRole, keyUser) }},
	}
	shown := map[string]bool{}
	for _, row := range rows {
		method, route, _ := strings.Cut(row.route, " ")
		shown[route], shown[row.route] = true, true
		want := discordgoKeys(t, row.do)
		if got := bucketKey(method, route, keyValues, row.query); len(want) != 1 || got != want[0] {
			t.Errorf("%s: key %q, discordgo uses %q", row.route, got, want)
		}
	}
	raw := false
	for route := range sharedKeys {
		if _, after, ok := strings.Cut(route, " "); ok {
			raw = !shown[route] && after != ""
		} else {
			raw = !shown[route]
		}
		if raw && !discordgoLacks[route] {
			t.Errorf("%s is in the table but no row compares it with discordgo", route)
		}
	}
}

// discordgoLacks are the routes of the table that no typed method reaches.
var discordgoLacks = map[string]bool{
	"/channels/{channel_id}/messages/pins/{message_id}":                                                         true,
	"/channels/{channel_id}/recipients/{user_id}":                                                               true,
	"/guilds/{guild_id}/requests/{request_id}":                                                                  true,
	"/guilds/{guild_id}/soundboard-sounds/{sound_id}":                                                           true,
	"/guilds/{guild_id}/stickers/{sticker_id}":                                                                  true,
	"/guilds/{guild_id}/voice-states/{user_id}":                                                                 true,
	"/stickers/{sticker_id}":                                                                                    true,
	"/sticker-packs/{pack_id}":                                                                                  true,
	"/invites/{code}/target-users":                                                                              true,
	"/invites/{code}/target-users/job-status":                                                                   true,
	"/applications/{application_id}/activity-instances/{instance_id}":                                           true,
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/users/counts":                               true,
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/exceptions":                                 true,
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/exceptions/{exception_id}":                  true,
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/{guild_scheduled_event_exception_id}/users": true,
}

func TestBucketKeyKeepsGuildsApartAndMinorIDsTogether(t *testing.T) {
	t.Parallel()
	key := func(guild, sound string) string {
		return bucketKey("PATCH", "/guilds/{guild_id}/soundboard-sounds/{sound_id}", map[string]string{"guild_id": guild, "sound_id": sound}, nil)
	}
	if key("1", "2") != key("1", "3") {
		t.Error("two sounds of one guild have two buckets")
	}
	if key("1", "2") == key("4", "2") {
		t.Error("two guilds share a bucket")
	}
}
