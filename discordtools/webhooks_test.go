package discordtools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The demo guild's webhook, its token, and a message that it sent.
const (
	hook                       = string(sandbox.DemoWebhook)
	hookPath                   = "/webhooks/" + hook
	hookSent discord.MessageID = "1200000000000000590"
)

var (
	hookToken   = sandbox.Demo().Webhooks(sandbox.DemoGuild)[0].Token
	hookOwn     = hookPath + "/" + hookToken
	hookMessage = hookOwn + "/messages/" + string(hookSent)
	byHook      = `"webhook_id":` + id(hook) + `,"token":` + id(hookToken)
	ofHook      = byHook + `,"message_id":` + id(hookSent)
)

// hookWrote lets the webhook have sent a message into a channel.
func hookWrote(in discord.ChannelID) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddMessage(in, sandbox.Message{ID: hookSent, Author: discord.UserID(hook), Webhook: sandbox.DemoWebhook, AuthorName: "Release feed", Content: "1.4.3 is out"})
	}
}

// hookIn points the webhook to a channel.
func hookIn(c discord.ChannelID) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) { d.MoveWebhook(sandbox.DemoWebhook, c) }
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	in := "/channels/" + general + "/webhooks"
	run(t, []row{
		{
			shows: "quietly", tool: "webhooks_create", args: `{"channel_id":` + id(general) + `,"name":"Deploys","audit_reason":"ci"}`,
			sent: []string{"POST " + in + ` {"name":"Deploys"}`}, says: "<untrusted_discord_username",
			want: `{"id":"*","type":1,"channel_id":` + id(general) + `,"guild_id":` + id(guild) + `,"application_id":` + id(sandbox.ApplicationID) + `,"name":"Deploys","avatar":null,"untrusted_name":"*"}`,
		},
		{
			shows: "with a picture and its token", tool: "webhooks_create",
			args: `{"channel_id":` + id(general) + `,"name":"Deploys","avatar":` + id(uri("image/png", 9)) + `,"reveal_token":true}`,
			sent: []string{"POST " + in + ` {"name":"Deploys","avatar":` + id(uri("image/png", 9)) + `}`},
			want: `{"avatar":"*","token":"*","warnings":["*"]}`, says: "keep it to yourself",
		},
		{
			shows: "a picture from an address", tool: "webhooks_create", args: `{"channel_id":` + id(general) + `,"name":"Deploys","avatar":"https://a.example/i.png"}`,
			code: mcpcore.CodeValidation, says: "avatar: must be a data URI",
		},
		{
			shows: "full", tool: "webhooks_create", args: `{"channel_id":` + id(general) + `,"name":"Deploys"}`,
			setup: func(d *sandbox.Discord) {
				for range 15 {
					d.AddWebhook(sandbox.Webhook{Channel: sandbox.DemoGeneral, Name: "buoy"})
				}
			},
			sent: []string{"POST " + in + ` {"name":"Deploys"}`}, code: mcpcore.CodeValidation, says: "full of webhooks",
		},
		{
			shows: "one", tool: "webhooks_get", args: `{"webhook_id":` + id(hook) + `}`, sent: []string{"GET " + hookPath}, says: "<untrusted_discord_username",
			want: `{"id":` + id(hook) + `,"type":1,"channel_id":` + id(announc) + `,"guild_id":` + id(guild) + `,"application_id":null,"name":"Release feed","user_id":` + id(sandbox.DemoOwner) + `}`,
		},
		{
			shows: "unknown", tool: "webhooks_get", args: `{"webhook_id":"1200000000000009999"}`, sent: []string{"GET /webhooks/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one", tool: "webhooks_get_with_token", args: `{` + byHook + `}`, sent: []string{"GET " + hookOwn}, want: `{"id":` + id(hook) + `,"name":"Release feed"}`,
		},
		{
			shows: "another token", tool: "webhooks_get_with_token", args: `{"webhook_id":` + id(hook) + `,"token":"another-token"}`,
			sent: []string{"GET " + hookPath + "/another-token"}, code: mcpcore.CodeAuthInvalid, says: "The token does not count",
		},
		{
			shows: "all", tool: "webhooks_list_channel", args: `{"channel_id":` + id(announc) + `}`, sent: []string{"GET /channels/" + announc + "/webhooks"},
			says: "<untrusted_discord_webhook", want: `{"count":1,"webhooks":[{"id":` + id(hook) + `,"name":"Release feed","type":1,"channel_id":` + id(announc) + `,"application_id":null}]}`,
		},
		{
			shows: "beyond the end", tool: "webhooks_list_channel", args: `{"channel_id":` + id(announc) + `,"offset":1}`, sent: []string{"GET /channels/" + announc + "/webhooks"},
			want: `{"count":0,"webhooks":[]}`,
		},
		{
			shows: "not allowed", tool: "webhooks_list_channel", args: `{"channel_id":` + id(sandbox.DemoClubGeneral) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoClubGeneral) + "/webhooks"}, code: mcpcore.CodePermission,
		},
		{
			shows: "followers too", tool: "webhooks_list_guild", args: `{"guild_id":` + id(guild) + `,"offset":1}`, sent: []string{"GET /guilds/" + guild + "/webhooks"}, says: "<untrusted_discord_username",
			setup: func(d *sandbox.Discord) {
				d.AddWebhook(sandbox.Webhook{Type: 2, Channel: sandbox.DemoGeneral, Source: sandbox.DemoAnnouncements, Name: "Lighthouse Games #announcements"})
			},
			want: `{"count":1,"webhooks":[{"type":2,"channel_id":` + id(general) + `,"name":"Lighthouse Games #announcements"}]}`,
		},
		{
			shows: "not allowed", tool: "webhooks_list_guild", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/webhooks"}, code: mcpcore.CodePermission,
		},
		{
			shows: "elsewhere", tool: "webhooks_modify", args: `{"webhook_id":` + id(hook) + `,"channel_id":` + id(general) + `,"name":"News","avatar":null,"audit_reason":"moved"}`,
			sent: []string{"PATCH " + hookPath + ` {"channel_id":` + id(general) + `,"name":"News","avatar":null}`}, want: `{"channel_id":` + id(general) + `,"name":"News"}`,
		},
		{
			shows: "nothing to change", tool: "webhooks_modify", args: `{"webhook_id":` + id(hook) + `}`, code: mcpcore.CodeValidation, says: "at least one of name, avatar, channel_id",
		},
		{
			shows: "a new name and picture", tool: "webhooks_modify_with_token", args: `{` + byHook + `,"name":"News","avatar":` + id(uri("image/gif", 9)) + `}`,
			sent: []string{"PATCH " + hookOwn + ` {"name":"News","avatar":` + id(uri("image/gif", 9)) + `}`}, want: `{"name":"News","avatar":"*"}`,
		},
		{
			shows: "a channel", tool: "webhooks_modify_with_token", args: `{` + byHook + `,"channel_id":` + id(general) + `}`, code: mcpcore.CodeValidation, says: "channel_id: is not an argument here",
		},
		{
			shows: "preview", tool: "webhooks_delete", args: `{"webhook_id":` + id(hook) + `}`, sent: []string{"GET " + hookPath, "GET /channels/" + announc}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"webhook","value":"Release feed"},{"value":"posts for who has its token"},{"name":"channel","value":"announcements"},{"name":"made by"}]}`,
		},
		{
			shows: "confirmed", tool: "webhooks_delete", args: `{"webhook_id":` + id(hook) + `,"audit_reason":"old","__confirm":true}`, sent: []string{"DELETE " + hookPath},
			want: `{"deleted":true,"webhook_id":` + id(hook) + `}`,
		},
		{
			shows: "preview", tool: "webhooks_delete_with_token", args: `{` + byHook + `}`, sent: []string{"GET " + hookOwn}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"Release feed"},{"name":"kind"},{"name":"channel","value":` + id(announc) + `}]}`,
		},
		{
			shows: "confirmed", tool: "webhooks_delete_with_token", args: `{` + byHook + `,"__confirm":true}`, sent: []string{"DELETE " + hookOwn}, want: `{"deleted":true}`,
		},
	})
}

func TestWebhookMessages(t *testing.T) {
	t.Parallel()
	const quiet = `"allowed_mentions":{"parse":[],"replied_user":false}`
	const button = `[{"type":1,"components":[{"type":2,"style":1,"label":"Ok","custom_id":"ok"}]}]`
	const poll = `{"question":{"text":"Fog?"},"answers":[{"poll_media":{"text":"Aye"}}]}`
	run(t, []row{
		{
			shows: "taken on", tool: "webhooks_execute", args: `{` + byHook + `,"content":"1.4.3"}`,
			sent: []string{"POST " + hookOwn + ` {"content":"1.4.3",` + quiet + `}`}, want: `{"enqueued":true,"webhook_id":` + id(hook) + `}`,
		},
		{
			shows: "with everything", tool: "webhooks_execute",
			args: `{` + byHook + `,"wait":true,"content":"1.4.3","username":"Foghorn","avatar_url":"https://a.example/i.png","tts":true,"embeds":[{"title":"Notes"}],"poll":` + poll +
				`,"flags":4096,"components":` + button + `,"allowed_mentions":{"users":[` + id(sandbox.DemoMember) + `]}}`,
			sent: []string{"POST " + hookOwn + `?wait=true&with_components=true {"content":"1.4.3","username":"Foghorn","avatar_url":"https://a.example/i.png","tts":true,"embeds":[{"title":"Notes"}],"poll":` + poll +
				`,"flags":4096,"components":` + button + `,"allowed_mentions":{"users":[` + id(sandbox.DemoMember) + `]}}`},
			want: `{"message_id":"*","channel_id":` + id(announc) + `,"webhook_id":` + id(hook) + `}`,
		},
		{
			shows: "components dropped", tool: "webhooks_execute", args: `{` + byHook + `,"content":"x","components":` + button + `,"with_components":false}`,
			sent: []string{"POST " + hookOwn + `?with_components=false {"content":"x","components":` + button + `,` + quiet + `}`},
		},
		{
			shows: "a file", tool: "webhooks_execute", args: `{` + byHook + `,"wait":true,"files":[{"name":"notes.txt","data":"aGVsbG8=","description":"notes"}]}`,
			sent: []string{"POST " + hookOwn + "?wait=true (multipart)"}, want: `{"message_id":"*"}`,
		},
		{
			shows: "in a thread", tool: "webhooks_execute", setup: hookIn(sandbox.DemoGeneral), args: `{` + byHook + `,"wait":true,"content":"x","thread_id":` + id(sandbox.DemoThread) + `}`,
			sent: []string{"POST " + hookOwn + "?thread_id=" + string(sandbox.DemoThread) + `&wait=true {"content":"x",` + quiet + `}`}, want: `{"channel_id":` + id(sandbox.DemoThread) + `}`,
		},
		{
			shows: "attachments and files", tool: "webhooks_execute", args: `{` + byHook + `,"files":[{"name":"a","data":"aGVsbG8="}],"attachments":[{"id":"0"}]}`,
			code: mcpcore.CodeValidation, says: "excludes attachments",
		},
		{
			shows: "attachments that nobody knows", tool: "webhooks_execute", args: `{` + byHook + `,"attachments":[{"id":"0"}]}`,
			sent: []string{"POST " + hookOwn + ` {"attachments":[{"id":"0"}],` + quiet + `}`}, code: mcpcore.CodeValidation, says: "attachments.0.id",
		},
		{
			shows: "nothing", tool: "webhooks_execute", args: `{` + byHook + `,"content":""}`, code: mcpcore.CodeValidation, says: "at least one of content",
		},
		{
			shows: "gone", tool: "webhooks_execute", args: `{"webhook_id":"1200000000000009999","token":` + id(hookToken) + `,"content":"x"}`,
			sent: []string{"POST /webhooks/1200000000000009999/" + hookToken + ` {"content":"x",` + quiet + `}`}, code: mcpcore.CodeNotFound, says: "There is no such webhook",
		},
		{
			shows: "new text", tool: "webhooks_edit_message", setup: hookWrote(sandbox.DemoAnnouncements), args: `{` + ofHook + `,"content":"1.4.4 is out","flags":0}`,
			sent: []string{"PATCH " + hookMessage + ` {"content":"1.4.4 is out","flags":0,` + quiet + `}`},
			want: `{"message_id":` + id(hookSent) + `,"channel_id":` + id(announc) + `,"edited_timestamp":"*"}`,
		},
		{
			shows: "in a thread, with components and a file", tool: "webhooks_edit_message",
			setup: func(d *sandbox.Discord) { hookIn(sandbox.DemoGeneral)(d); hookWrote(sandbox.DemoThread)(d) },
			args:  `{` + ofHook + `,"thread_id":` + id(sandbox.DemoThread) + `,"components":` + button + `,"embeds":null,"files":[{"name":"a.txt","data":"aGVsbG8="}]}`,
			sent:  []string{"PATCH " + hookMessage + "?thread_id=" + string(sandbox.DemoThread) + "&with_components=true (multipart)"},
		},
		{
			shows: "attachments stay, components do not count, a poll", tool: "webhooks_edit_message", setup: hookWrote(sandbox.DemoAnnouncements),
			args: `{` + ofHook + `,"attachments":[],"components":[],"with_components":false,"poll":` + poll + `}`,
			sent: []string{"PATCH " + hookMessage + `?with_components=false {"attachments":[],"components":[],"poll":` + poll + `,` + quiet + `}`},
		},
		{
			shows: "nothing to change", tool: "webhooks_edit_message", args: `{` + ofHook + `}`, code: mcpcore.CodeValidation, says: "at least one of content",
		},
		{
			shows: "another's message", tool: "webhooks_edit_message", args: `{` + byHook + `,"message_id":` + id(news) + `,"content":"x"}`,
			sent: []string{"PATCH " + hookOwn + "/messages/" + news + ` {"content":"x",` + quiet + `}`}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one", tool: "webhooks_get_message", setup: hookWrote(sandbox.DemoAnnouncements), args: `{` + ofHook + `}`, sent: []string{"GET " + hookMessage},
			want: `{"message_id":` + id(hookSent) + `,"channel_id":` + id(announc) + `,"content":"1.4.3 is out","untrusted_content":"*","author_name":"Release feed"}`, says: "<untrusted_discord_messages",
		},
		{
			shows: "one in a thread", tool: "webhooks_get_message",
			setup: func(d *sandbox.Discord) { hookIn(sandbox.DemoGeneral)(d); hookWrote(sandbox.DemoThread)(d) },
			args:  `{` + ofHook + `,"thread_id":` + id(sandbox.DemoThread) + `}`, sent: []string{"GET " + hookMessage + "?thread_id=" + string(sandbox.DemoThread)},
			want: `{"channel_id":` + id(sandbox.DemoThread) + `}`,
		},
		{
			shows: "none", tool: "webhooks_get_message", args: `{` + ofHook + `}`, sent: []string{"GET " + hookMessage}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "preview", tool: "webhooks_delete_message",
			setup: func(d *sandbox.Discord) { hookIn(sandbox.DemoGeneral)(d); hookWrote(sandbox.DemoThread)(d) },
			args:  `{` + ofHook + `,"thread_id":` + id(sandbox.DemoThread) + `}`, sent: []string{"GET " + hookMessage + "?thread_id=" + string(sandbox.DemoThread)},
			code: mcpcore.CodeDryRun, want: `{"facts":[{"name":"author","value":"Release feed, a bot"},{"name":"sent"},{"name":"text","value":"1.4.3 is out"}]}`,
		},
		{
			shows: "confirmed", tool: "webhooks_delete_message", setup: hookWrote(sandbox.DemoAnnouncements), args: `{` + ofHook + `,"__confirm":true}`,
			sent: []string{"DELETE " + hookMessage}, want: `{"deleted":true,"message_id":` + id(hookSent) + `}`,
		},
	})
}

// L16 Forum and media posts.
func TestL16WebhooksInForums(t *testing.T) {
	t.Parallel()
	const quiet = `"allowed_mentions":{"parse":[],"replied_user":false}`
	run(t, []row{
		{
			shows: "a post", tool: "webhooks_execute", setup: hookIn(sandbox.DemoHelp),
			args: `{` + byHook + `,"wait":true,"content":"x","thread_name":"Fog","applied_tags":[` + id(sandbox.DemoBugTag) + `]}`,
			sent: []string{"POST " + hookOwn + `?wait=true {"content":"x","thread_name":"Fog","applied_tags":[` + id(sandbox.DemoBugTag) + `],` + quiet + `}`}, want: `{"message_id":"*"}`,
		},
		{
			shows: "into a post", tool: "webhooks_execute", setup: hookIn(sandbox.DemoHelp), args: `{` + byHook + `,"content":"x","thread_id":` + id(sandbox.DemoPost) + `}`,
			sent: []string{"POST " + hookOwn + "?thread_id=" + string(sandbox.DemoPost) + ` {"content":"x",` + quiet + `}`},
		},
		{
			shows: "neither", tool: "webhooks_execute", setup: hookIn(sandbox.DemoHelp), args: `{` + byHook + `,"content":"x"}`,
			sent: []string{"POST " + hookOwn + ` {"content":"x",` + quiet + `}`}, code: mcpcore.CodeValidation, says: "give thread_name or thread_id",
		},
		{
			shows: "both", tool: "webhooks_execute", args: `{` + byHook + `,"content":"x","thread_name":"Fog","thread_id":` + id(sandbox.DemoPost) + `}`,
			code: mcpcore.CodeValidation, says: "thread_name: excludes thread_id",
		},
		{
			shows: "tags without a post", tool: "webhooks_execute", args: `{` + byHook + `,"content":"x","applied_tags":[` + id(sandbox.DemoBugTag) + `]}`,
			code: mcpcore.CodeValidation, says: "thread_name: is required when applied_tags is given",
		},
		{
			shows: "a post in a text channel", tool: "webhooks_execute", args: `{` + byHook + `,"content":"x","thread_name":"Fog"}`,
			sent: []string{"POST " + hookOwn + ` {"content":"x","thread_name":"Fog",` + quiet + `}`}, code: mcpcore.CodeValidation, says: "thread_name works in forums only",
		},
	})
}

// TestEditKeepsAttachments: with new files those stay that are listed; without
// either all stay.
func TestEditKeepsAttachments(t *testing.T) {
	t.Parallel()
	const first, second = "1200000000000000691", "1200000000000000692"
	layout := func(name string) string {
		return `"components":[{"type":10,"content":"x"},{"type":13,"file":{"url":"attachment://` + name + `"}}]`
	}
	const file, keep = `"files":[{"name":"c.txt","data":"aGVsbG8="}]`, `"attachments":[{"id":"` + first + `"}]`
	for _, tool := range []struct {
		name, at, says string
		shows          func(file string) string
	}{
		{"webhooks_edit_message", ofHook, `"content":"x"`, func(string) string { return `"content":"x"` }},
		{"messages_edit", `"channel_id":` + id(announc) + `,"message_id":` + id(hookSent), `"content":"x"`, func(string) string { return `"content":"x"` }},
		{"components_v2_edit", `"channel_id":` + id(announc) + `,"message_id":` + id(hookSent), `"components":[{"type":10,"content":"x"}]`, layout},
	} {
		for more, want := range map[string][]string{
			tool.says:                                     {first, second},
			tool.shows("c.txt") + `,` + file:              {"c.txt"},
			tool.shows("a.txt") + `,` + keep:              {first},
			tool.shows("c.txt") + `,` + file + `,` + keep: {first, "c.txt"},
			tool.says + `,"attachments":[]`:               {},
		} {
			b := start(t)
			m := sandbox.Message{ID: hookSent, Author: sandbox.BotID, Content: "1.4.3", Attachments: []sandbox.Attachment{{ID: first, Name: "a.txt"}, {ID: second, Name: "b.txt"}}}
			if tool.name == "webhooks_edit_message" {
				m.Author, m.Webhook = discord.UserID(hook), sandbox.DemoWebhook
			}
			b.world.AddMessage(sandbox.DemoAnnouncements, m)
			args := `{` + tool.at + `,` + more + `}`
			if tool.name == "components_v2_edit" {
				args = b.approve(tool.name, args)
			}
			if a := b.call(tool.name, args); a.code != "" {
				t.Fatal(tool.name, more, a.text)
			}
			m, _ = b.world.Message(sandbox.DemoAnnouncements, hookSent)
			var got []string
			for _, a := range m.Attachments {
				if a.ID == first || a.ID == second {
					got = append(got, string(a.ID))
				} else {
					got = append(got, a.Name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %q, want %q", tool.name, more, got, want)
			}
		}
	}
}

// TestRevealedTokenWorks: the token that a new webhook shows once, and in the
// structured content alone, is the one to post with.
func TestRevealedTokenWorks(t *testing.T) {
	t.Parallel()
	b := start(t)
	a := b.call("webhooks_create", object(t, "channel_id", general, "name", "Deploys", "reveal_token", true))
	var made struct {
		ID    discord.WebhookID `json:"id"`
		Token string            `json:"token"`
	}
	a.into(t, &made)
	if len(made.Token) < 60 || strings.Contains(a.text, made.Token) {
		t.Fatalf("token %q, text %s", made.Token, a.text)
	}
	if a := b.call("webhooks_execute", object(t, "webhook_id", made.ID, "token", made.Token, "content", "deployed")); a.code != "" {
		t.Fatal(a.text)
	}
	if m := last(t, b.world, sandbox.DemoGeneral); m.Webhook != made.ID || m.Content != "deployed" {
		t.Errorf("the latest message is %+v", m)
	}
	events, err := json.Marshal(b.audit.all())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(events), made.Token) {
		t.Errorf("the audit holds the token: %s", events)
	}
}

// L02 Id that is not an id reaches the URL path.
func TestL02TokenIsOneSegment(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for name, tool := range listed(t) {
		properties := tree(t, tool.InputSchema)["properties"].(map[string]any)
		for _, arg := range []string{"token", "interaction_token"} {
			if properties[arg] == nil {
				continue
			}
			for _, bad := range []string{
				"a/b", "a%2Fb", "..", ".", "", "a?wait=true", "a#b", "a b", "a\\b", "https://discord.com/api/webhooks/1/a", "ａ", "a\r\nX-Extra: 1", strings.Repeat("a", 2049),
			} {
				given := map[string]any{arg: bad, "webhook_id": hook, "application_id": sandbox.ApplicationID, "interaction_id": hook, "message_id": news, "type": 5, "content": "x", "name": "x", "__confirm": true}
				for k := range given {
					if properties[k] == nil {
						delete(given, k)
					}
				}
				raw, err := json.Marshal(given)
				if err != nil {
					t.Fatal(err)
				}
				a := b.call(name, string(raw))
				if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, arg+": ") || len(bad) > 6 && strings.Contains(a.text, bad) {
					t.Errorf("%s with %.40q: code %q: %.300s", name, bad, a.code, a.text)
				}
			}
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
}
