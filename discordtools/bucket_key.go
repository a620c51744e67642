package discordtools

import (
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// sharedKeys are the bucket keys of discordgo's typed methods where they are not
// simply the request's path, by route or by method and route. A value left out
// of the key is not part of the bucket; a key that ends in "?" takes the query.
//
// Routes that discordgo does not know, at the end, leave out minor ids, so that
// the number of buckets follows channels and guilds and not messages.
var sharedKeys = map[string]string{
	"/channels/{channel_id}/messages/{message_id}":                                  "/channels/{channel_id}/messages/",
	"/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me":       "/channels/{channel_id}/messages//reactions//",
	"/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/{user_id}": "/channels/{channel_id}/messages//reactions//",
	"GET /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}":       "/channels/{channel_id}/messages//reactions//",
	"/channels/{channel_id}/permissions/{overwrite_id}":                             "/channels/{channel_id}/permissions/",
	"/channels/{channel_id}/pins/{message_id}":                                      "/channels/{channel_id}/pins/",
	"/guilds/{guild_id}/members/@me":                                                "/guilds/{guild_id}/members/",
	"/guilds/{guild_id}/members/{user_id}":                                          "/guilds/{guild_id}/members/",
	"/guilds/{guild_id}/members/{user_id}/roles/{role_id}":                          "/guilds/{guild_id}/members//roles/",
	"PUT /guilds/{guild_id}/bans/{user_id}":                                         "/guilds/{guild_id}/bans/",
	"DELETE /guilds/{guild_id}/bans/{user_id}":                                      "/guilds/{guild_id}/bans/",
	"/guilds/{guild_id}/roles/{role_id}":                                            "/guilds/{guild_id}/roles/",
	"/guilds/{guild_id}/integrations/{integration_id}":                              "/guilds/{guild_id}/integrations/",
	"PATCH /guilds/{guild_id}/emojis/{emoji_id}":                                    "/guilds/{guild_id}/emojis",
	"DELETE /guilds/{guild_id}/emojis/{emoji_id}":                                   "/guilds/{guild_id}/emojis",
	"/guilds/{guild_id}/templates/{code}":                                           "/guilds/{guild_id}/templates/",
	"PATCH /applications/{application_id}/emojis/{emoji_id}":                        "/applications/{application_id}/emojis",
	"DELETE /applications/{application_id}/emojis/{emoji_id}":                       "/applications/{application_id}/emojis",
	"/applications/{application_id}/entitlements/{entitlement_id}":                  "/applications/{application_id}/entitlements/",
	"/applications/{application_id}/entitlements/{entitlement_id}/consume":          "/applications/{application_id}/entitlements//consume",
	"/invites/{code}":                             "/invites/",
	"/users/@me":                                  "/users/",
	"/users/{user_id}":                            "/users/",
	"/users/@me/channels":                         "/users//channels",
	"/users/@me/guilds":                           "/users//guilds",
	"/users/@me/guilds/{guild_id}":                "/users//guilds/{guild_id}",
	"/voice/regions":                              "//voice/regions",
	"/webhooks/{webhook_id}":                      "/webhooks/",
	"/webhooks/{webhook_id}/{webhook_token}":      "/webhooks//",
	"POST /webhooks/{webhook_id}/{webhook_token}": "/webhooks/{webhook_id}/{webhook_token}?",
	"/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":     "/webhooks//",
	"/webhooks/{webhook_id}/{webhook_token}/messages/@original":        "/webhooks//",
	"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original": "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
	"GET /applications/{application_id}/commands":                      "GET /applications/{application_id}/commands",
	"GET /applications/{application_id}/guilds/{guild_id}/commands":    "GET /applications/{application_id}/guilds/{guild_id}/commands",

	"/channels/{channel_id}/messages/pins/{message_id}":                                                         "/channels/{channel_id}/messages/pins/",
	"/channels/{channel_id}/recipients/{user_id}":                                                               "/channels/{channel_id}/recipients/",
	"/guilds/{guild_id}/requests/{request_id}":                                                                  "/guilds/{guild_id}/requests/",
	"/guilds/{guild_id}/soundboard-sounds/{sound_id}":                                                           "/guilds/{guild_id}/soundboard-sounds/",
	"/guilds/{guild_id}/stickers/{sticker_id}":                                                                  "/guilds/{guild_id}/stickers/",
	"/guilds/{guild_id}/voice-states/{user_id}":                                                                 "/guilds/{guild_id}/voice-states/",
	"/stickers/{sticker_id}":                                                                                    "/stickers/",
	"/sticker-packs/{pack_id}":                                                                                  "/sticker-packs/",
	"/invites/{code}/target-users":                                                                              "/invites//target-users",
	"/invites/{code}/target-users/job-status":                                                                   "/invites//target-users/job-status",
	"/applications/{application_id}/activity-instances/{instance_id}":                                           "/applications/{application_id}/activity-instances/",
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/users/counts":                               "/guilds/{guild_id}/scheduled-events//users/counts",
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/exceptions":                                 "/guilds/{guild_id}/scheduled-events//exceptions",
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/exceptions/{exception_id}":                  "/guilds/{guild_id}/scheduled-events//exceptions/",
	"/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/{guild_scheduled_event_exception_id}/users": "/guilds/{guild_id}/scheduled-events///users",
}

// bucketKey is the key under which discordgo's typed method for the same route
// finds its rate-limit bucket. It can hold a webhook's token: never log it.
//
// The lists of archived threads and of thread members are the exception:
// discordgo puts their query into the key and so makes a bucket for every page.
func bucketKey(method, route string, values map[string]string, query url.Values) string {
	template, ok := sharedKeys[method+" "+route]
	if !ok {
		if template, ok = sharedKeys[route]; !ok {
			template = route
		}
	}
	var key strings.Builder
	if verb, rest, ok := strings.Cut(template, " "); ok {
		key.WriteString(verb + " ")
		template = rest
	}
	key.WriteString(strings.TrimSuffix(discordgo.EndpointAPI, "/"))
	template, withQuery := strings.CutSuffix(template, "?")
	for {
		before, after, ok := strings.Cut(template, "{")
		key.WriteString(before)
		if !ok {
			break
		}
		name, rest, _ := strings.Cut(after, "}")
		key.WriteString(values[name])
		template = rest
	}
	if withQuery && len(query) > 0 {
		key.WriteString("?" + query.Encode())
	}
	return key.String()
}
