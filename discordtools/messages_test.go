package discordtools_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The demo world's ids as they stand in arguments and paths.
const (
	guild   = string(sandbox.DemoGuild)
	general = string(sandbox.DemoGeneral)
	news    = string(sandbox.DemoNews)
	announc = string(sandbox.DemoAnnouncements)
)

func TestMessages(t *testing.T) {
	t.Parallel()
	fresh := discord.MessageID(discord.IDAt(now.Add(-time.Hour)))
	fresher := discord.MessageID(discord.IDAt(now.Add(-time.Minute)))
	old := discord.MessageID(discord.IDAt(now.Add(-15 * 24 * time.Hour)))
	write := func(ids ...discord.MessageID) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			for _, id := range ids {
				d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: id, Author: sandbox.DemoMember, Content: "spam"})
			}
		}
	}
	look := func(newest discord.MessageID) string { // for what there is of them
		return "GET /channels/" + general + "/messages?before=" + discord.IDAt(discord.IDTime(string(newest)).Add(time.Millisecond)) + "&limit=100"
	}
	run(t, []row{
		{
			shows: "newest first, limit always sent", tool: "messages_read", args: `{"channel_id":` + id(general) + `,"limit":2}`,
			sent: []string{"GET /channels/" + general + "/messages?limit=2"},
			want: `{"count":2,"has_more":true,"messages":[{"author_name":"Tomasz","content":"*"},{"author_name":"pebble42"}]}`,
			says: "<untrusted_discord_messages",
		},
		{
			shows: "cursors exclude each other", tool: "messages_read",
			args: `{"channel_id":` + id(general) + `,"before":` + id(fresh) + `,"after":` + id(old) + `}`,
			code: mcpcore.CodeValidation, says: "excludes before",
		},
		{
			shows: "around a message", tool: "messages_read", args: `{"channel_id":` + id(general) + `,"limit":1,"around":` + id(sandbox.DemoPoll) + `}`,
			sent: []string{"GET /channels/" + general + "/messages?around=" + string(sandbox.DemoPoll) + "&limit=1"},
			want: `{"messages":[{"id":"` + string(sandbox.DemoPoll) + `","poll":{"question":"*"}}]}`,
		},
		{
			shows: "hidden channel", tool: "messages_read", args: `{"channel_id":` + id(sandbox.DemoStaff) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoStaff) + "/messages?limit=50"}, code: mcpcore.CodePermission,
		},
		{
			shows: "one with an embed", tool: "messages_get", args: `{"channel_id":` + id(announc) + `,"message_id":` + id(news) + `}`,
			sent: []string{"GET /channels/" + announc + "/messages/" + news},
			want: `{"message_id":` + id(news) + `,"edited":false,"pinned":false,"embeds":[{"title":"Keeper 1.4 is out","fields":[{"name":"Platforms"},{}]}]}`,
			says: "Fog, a harbour map and 23 fixes.",
		},
		{
			shows: "unknown message", tool: "messages_get", args: `{"channel_id":` + id(general) + `,"message_id":"1200000000000009999"}`,
			sent: []string{"GET /channels/" + general + "/messages/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "whatever the case", tool: "messages_search_recent", args: `{"channel_id":` + id(general) + `,"query":"LAMP bug"}`,
			sent: []string{"GET /channels/" + general + "/messages?limit=100"},
			want: `{"scanned_count":8,"oldest_scanned_id":"*","matches":[{"author_name":"Tomasz"}]}`,
		},
		{
			shows: "nothing found says where to go on", tool: "messages_search_recent", args: `{"channel_id":` + id(general) + `,"query":"zebra"}`,
			sent: []string{"GET /channels/" + general + "/messages?limit=100"},
			want: `{"matches":[],"scanned_count":8,"oldest_scanned_id":"*"}`,
		},
		{
			shows: "query is needed", tool: "messages_search_recent", args: `{"channel_id":` + id(general) + `}`,
			code: mcpcore.CodeValidation, says: "query: is required",
		},
		{
			shows: "notifies nobody by itself", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":"Deploy done @everyone"}`,
			sent: []string{
				"POST /channels/" + general + `/messages {"content":"Deploy done @everyone","allowed_mentions":{"parse":[],"replied_user":false},"tts":false,"nonce":"*","enforce_nonce":true}`,
				"GET /channels/" + general,
			},
			want: `{"channel_id":` + id(general) + `,"jump_url":"*","timestamp":"*"}`,
		},
		{
			shows: "nothing to send", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":""}`,
			code: mcpcore.CodeValidation, says: "Give at least one of content, embeds, files",
		},
		{
			shows: "kind and list of the same mentions", tool: "messages_send",
			args: `{"channel_id":` + id(general) + `,"content":"hi","allowed_mentions":{"parse":["users"],"users":[` + id(sandbox.DemoMember) + `]}}`,
			code: mcpcore.CodeValidation, says: "allowed_mentions.users",
		},
		{
			shows: "its own", tool: "messages_edit", args: `{"channel_id":` + id(general) + `,"message_id":` + id(fresh) + `,"content":"better"}`,
			setup: func(d *sandbox.Discord) {
				d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: fresh, Author: sandbox.BotID, Content: "good"})
			},
			sent: []string{"PATCH /channels/" + general + "/messages/" + string(fresh) + ` {"content":"better","allowed_mentions":{"parse":[],"replied_user":false}}`},
			want: `{"message_id":` + id(fresh) + `,"edited_timestamp":"*"}`,
		},
		{
			shows: "only the bot's own", tool: "messages_edit", args: `{"channel_id":` + id(announc) + `,"message_id":` + id(news) + `,"content":"x"}`,
			sent: []string{"PATCH /channels/" + announc + "/messages/" + news + ` {"content":"x","allowed_mentions":{"parse":[],"replied_user":false}}`},
			code: mcpcore.CodePermission,
		},
		{
			shows: "preview with facts, nothing sent but the read", tool: "messages_delete", args: `{"channel_id":` + id(announc) + `,"message_id":` + id(news) + `}`,
			sent: []string{"GET /channels/" + announc + "/messages/" + news},
			code: mcpcore.CodeDryRun, want: `{"facts":[{"name":"author","value":"marina (Marina Holt)"},{},{}]}`,
		},
		{
			shows: "confirmed", tool: "messages_delete", args: `{"channel_id":` + id(announc) + `,"message_id":` + id(news) + `,"__confirm":true}`,
			sent: []string{"DELETE /channels/" + announc + "/messages/" + news},
			want: `{"deleted":true,"message_id":` + id(news) + `}`,
		},
		{
			shows: "old ones are left and listed", tool: "messages_bulk_delete", setup: write(fresh, fresher),
			args: fmt.Sprintf(`{"channel_id":%s,"message_ids":[%s,%s,%s],"__confirm":true}`, id(general), id(fresh), id(old), id(fresher)),
			sent: []string{
				look(fresher), fmt.Sprintf(`POST /channels/%s/messages/bulk-delete {"messages":[%s,%s]}`, general, id(fresh), id(fresher)),
			},
			want: `{"count":2,"deleted_ids":[` + id(fresh) + `,` + id(fresher) + `],"too_old":[` + id(old) + `]}`,
		},
		{
			shows: "one fresh goes the single way", tool: "messages_bulk_delete", setup: write(fresh),
			args: fmt.Sprintf(`{"channel_id":%s,"message_ids":[%s,%s],"__confirm":true}`, id(general), id(fresh), id(old)),
			sent: []string{look(fresh), fmt.Sprintf(`DELETE /channels/%s/messages/%s`, general, fresh)}, want: `{"count":1}`,
		},
		{
			shows: "twice the same", tool: "messages_bulk_delete",
			args: fmt.Sprintf(`{"channel_id":%s,"message_ids":[%s,%s],"__confirm":true}`, id(general), id(fresh), id(fresh)),
			code: mcpcore.CodeValidation, says: "must not repeat an item",
		},
		{
			shows: "an announcement", tool: "messages_crosspost", args: `{"channel_id":` + id(announc) + `,"message_id":` + id(news) + `}`,
			sent: []string{"POST /channels/" + announc + "/messages/" + news + "/crosspost"}, want: `{"crossposted":true}`,
		},
		{
			shows: "not in a text channel", tool: "messages_crosspost", args: `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `}`,
			sent: []string{"POST /channels/" + general + "/messages/" + string(sandbox.DemoPoll) + "/crosspost"}, code: mcpcore.CodeValidation,
		},
		{
			shows: "with a slow mode", tool: "messages_create_thread",
			args: `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"name":"Game night","rate_limit_per_user":0}`,
			sent: []string{"POST /channels/" + general + "/messages/" + string(sandbox.DemoPoll) + `/threads {"name":"Game night","rate_limit_per_user":0}`},
			want: `{"name":"Game night","parent_id":` + id(general) + `}`,
		},
		{
			shows: "a name is needed", tool: "messages_create_thread", args: `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"name":""}`,
			code: mcpcore.CodeValidation, says: "name: must have at least 1 characters",
		},
		{
			shows: "latest first", tool: "messages_list_pins", args: `{"channel_id":` + id(sandbox.DemoRules) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoRules) + "/messages/pins?limit=50"},
			want: `{"count":1,"has_more":false,"pins":[{"message_id":` + id(sandbox.DemoRulesMessage) + `,"pinned_at":"*"}]}`, says: "Be kind",
		},
		{
			shows: "a time without an offset", tool: "messages_list_pins", args: `{"channel_id":` + id(general) + `,"before":"2031-05-01T18:00:00"}`,
			code: mcpcore.CodeValidation, says: "offset",
		},
		{
			shows: "with a reason", tool: "messages_pin", args: `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"audit_reason":"vote"}`,
			sent: []string{"PUT /channels/" + general + "/messages/pins/" + string(sandbox.DemoPoll)}, want: `{"pinned":true}`,
		},
		{
			shows: "hidden channel", tool: "messages_pin", args: `{"channel_id":` + id(sandbox.DemoStaff) + `,"message_id":` + id(sandbox.DemoPoll) + `}`,
			sent: []string{"PUT /channels/" + string(sandbox.DemoStaff) + "/messages/pins/" + string(sandbox.DemoPoll)}, code: mcpcore.CodePermission,
		},
		{
			shows: "the message stays", tool: "messages_unpin", args: `{"channel_id":` + id(sandbox.DemoRules) + `,"message_id":` + id(sandbox.DemoRulesMessage) + `}`,
			sent: []string{"DELETE /channels/" + string(sandbox.DemoRules) + "/messages/pins/" + string(sandbox.DemoRulesMessage)}, want: `{"unpinned":true}`,
		},
		{
			shows: "unknown message", tool: "messages_unpin", args: `{"channel_id":` + id(general) + `,"message_id":"1200000000000009999"}`,
			sent: []string{"DELETE /channels/" + general + "/messages/pins/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
	})
}
