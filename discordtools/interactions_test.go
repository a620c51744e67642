package discordtools_test

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// An interaction of now, its token, and a follow-up.
const (
	useToken                      = "interaction-token-for-tests-0123456789abcdefghijklmnopqrstuvwxyzABCDEF"
	useOwn                        = "/webhooks/" + string(sandbox.ApplicationID) + "/" + useToken
	useOriginal                   = useOwn + "/messages/@original"
	followed    discord.MessageID = "1200000000000000591"
	useFollow                     = useOwn + "/messages/" + string(followed)
)

var (
	use        = discord.InteractionID(discord.IDAt(now))
	useAnswer  = "/interactions/" + string(use) + "/" + useToken + "/callback"
	byUse      = `"application_id":` + id(sandbox.ApplicationID) + `,"interaction_token":` + id(useToken)
	answersUse = `{"interaction_id":` + id(use) + `,"interaction_token":` + id(useToken)
)

// uses lets a member use the bot in general: kind is the interaction's type.
func uses(kind int, deferred bool) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		i := sandbox.Interaction{ID: use, Token: useToken, Type: kind, Channel: sandbox.DemoGeneral, User: sandbox.DemoMember, Deferred: deferred}
		if kind == sandbox.ComponentInteraction {
			i.Message = d.AddMessage(sandbox.DemoGeneral, sandbox.Message{Content: "press here"})
		}
		d.AddInteraction(i)
	}
}

// follows lets the bot have answered with a message and a follow-up.
func follows(d *sandbox.Discord) {
	uses(0, true)(d)
	d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: followed, Interaction: use, Application: sandbox.ApplicationID, Content: "and one more"})
}

func TestInteractionResponses(t *testing.T) {
	t.Parallel()
	const quiet = `"allowed_mentions":{"parse":[],"replied_user":false}`
	const modal = `{"custom_id":"report","title":"Report a bug","components":[{"type":18,"label":"What happened?","component":{"type":4,"custom_id":"what","style":2}}]}`
	at := func(age time.Duration) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			d.AddInteraction(sandbox.Interaction{ID: discord.InteractionID(discord.IDAt(now.Add(-age))), Token: useToken, Channel: sandbox.DemoGeneral, User: sandbox.DemoMember})
		}
	}
	run(t, []row{
		{
			shows: "a message", tool: "interactions_create_response", setup: uses(0, false), args: answersUse + `,"type":4,"data":{"content":"aye","flags":64,"tts":true}}`,
			sent: []string{"POST " + useAnswer + ` {"type":4,"data":{"content":"aye","flags":64,"tts":true,` + quiet + `}}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "told of it", tool: "interactions_create_response", setup: uses(0, false),
			args: answersUse + `,"type":4,"with_response":true,"data":{"embeds":[{"title":"Aye"}],"allowed_mentions":{"parse":["users"]}}}`,
			sent: []string{"POST " + useAnswer + `?with_response=true {"type":4,"data":{"embeds":[{"title":"Aye"}],"allowed_mentions":{"parse":["users"]}}}`},
			want: `{"acknowledged":true,"message":{"id":"*","channel_id":` + id(general) + `,"flags":0}}`,
		},
		{
			shows: "a file and a poll", tool: "interactions_create_response", setup: uses(0, false),
			args: answersUse + `,"type":4,"data":{"files":[{"name":"a.txt","data":"aGVsbG8="}],"poll":{"question":{"text":"?"},"answers":[{"poll_media":{"text":"aye"}}]}}}`,
			sent: []string{"POST " + useAnswer + " (multipart)"}, want: `{"acknowledged":true}`,
		},
		{
			shows: "deferred", tool: "interactions_create_response", setup: uses(0, false), args: answersUse + `,"type":5,"data":{"flags":64}}`,
			sent: []string{"POST " + useAnswer + ` {"type":5,"data":{"flags":64}}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "deferred update", tool: "interactions_create_response", setup: uses(sandbox.ComponentInteraction, false), args: answersUse + `,"type":6}`,
			sent: []string{"POST " + useAnswer + ` {"type":6}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "update", tool: "interactions_create_response", setup: uses(sandbox.ComponentInteraction, false), args: answersUse + `,"type":7,"with_response":true,"data":{"content":"pressed","components":[],"attachments":[]}}`,
			sent: []string{"POST " + useAnswer + `?with_response=true {"type":7,"data":{"content":"pressed","components":[],"attachments":[],` + quiet + `}}`}, want: `{"message":{"id":"*"}}`,
		},
		{
			shows: "choices", tool: "interactions_create_response", setup: uses(sandbox.AutocompleteInteraction, false), args: answersUse + `,"type":8,"data":{"choices":[{"name":"Fog","value":"fog"}]}}`,
			sent: []string{"POST " + useAnswer + ` {"type":8,"data":{"choices":[{"name":"Fog","value":"fog"}]}}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "a form", tool: "interactions_create_response", setup: uses(0, false), args: answersUse + `,"type":9,"data":` + modal + `}`,
			sent: []string{"POST " + useAnswer + ` {"type":9,"data":` + modal + `}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "an activity", tool: "interactions_create_response", setup: uses(0, false), args: answersUse + `,"type":12}`,
			sent: []string{"POST " + useAnswer + ` {"type":12}`}, want: `{"acknowledged":true}`,
		},
		{
			shows: "at the last moment", tool: "interactions_create_response", setup: at(3 * time.Second),
			args: `{"interaction_id":` + id(discord.IDAt(now.Add(-3*time.Second))) + `,"interaction_token":` + id(useToken) + `,"type":5}`,
			sent: []string{"POST /interactions/" + discord.IDAt(now.Add(-3*time.Second)) + "/" + useToken + `/callback {"type":5}`},
		},
		{
			shows: "too late", tool: "interactions_create_response", setup: at(4 * time.Second),
			args: `{"interaction_id":` + id(discord.IDAt(now.Add(-4*time.Second))) + `,"interaction_token":` + id(useToken) + `,"type":5}`,
			sent: []string{"POST /interactions/" + discord.IDAt(now.Add(-4*time.Second)) + "/" + useToken + `/callback {"type":5}`}, code: mcpcore.CodeNotFound, says: "within 3 seconds",
		},
		{
			shows: "twice", tool: "interactions_create_response", setup: uses(0, true), args: answersUse + `,"type":5}`,
			sent: []string{"POST " + useAnswer + ` {"type":5}`}, code: mcpcore.CodeValidation, says: "was answered before",
		},
		{shows: "no message", tool: "interactions_create_response", args: answersUse + `,"type":4}`, code: mcpcore.CodeValidation, says: "data: give at least one of content"},
		{shows: "an empty message", tool: "interactions_create_response", args: answersUse + `,"type":4,"data":{"content":"","embeds":[]}}`, code: mcpcore.CodeValidation, says: "data: give at least one of content"},
		{shows: "choices in a message", tool: "interactions_create_response", args: answersUse + `,"type":4,"data":{"content":"x","choices":[]}}`, code: mcpcore.CodeValidation, says: "data.choices: does not go with type 4"},
		{shows: "text while deferring", tool: "interactions_create_response", args: answersUse + `,"type":5,"data":{"content":"x"}}`, code: mcpcore.CodeValidation, says: "data.content: does not go with type 5"},
		{shows: "data of an activity", tool: "interactions_create_response", args: answersUse + `,"type":12,"data":{}}`, code: mcpcore.CodeValidation, says: "data: does not go with type 12"},
		{shows: "a form without a title", tool: "interactions_create_response", args: answersUse + `,"type":9,"data":{"custom_id":"a","components":[{"type":10,"content":"x"}]}}`, code: mcpcore.CodeValidation, says: "data.title: is required for type 9"},
		{shows: "no choices", tool: "interactions_create_response", args: answersUse + `,"type":8,"data":{}}`, code: mcpcore.CodeValidation, says: "data.choices: is required for type 8"},
		{shows: "files and attachments", tool: "interactions_create_response", args: answersUse + `,"type":4,"data":{"files":[{"name":"a","data":"aGVsbG8="}],"attachments":[{"id":"0"}]}}`, code: mcpcore.CodeValidation, says: "data.attachments: excludes files"},
		{shows: "premium", tool: "interactions_create_response", args: answersUse + `,"type":10}`, code: mcpcore.CodeValidation, says: "type: must be one of"},
	})
}

func TestInteractionMessages(t *testing.T) {
	t.Parallel()
	const quiet = `"allowed_mentions":{"parse":[],"replied_user":false}`
	const poll = `{"question":{"text":"Fog?"},"answers":[{"poll_media":{"text":"Aye"}}]}`
	const row1 = `[{"type":1,"components":[{"type":2,"style":1,"label":"Ok","custom_id":"ok"}]}]`
	late := func(d *sandbox.Discord) {
		d.AddInteraction(sandbox.Interaction{ID: discord.InteractionID(discord.IDAt(now.Add(-15*time.Minute - time.Second))), Token: useToken, Channel: sandbox.DemoGeneral, User: sandbox.DemoMember, Deferred: true})
	}
	run(t, []row{
		{
			shows: "ephemeral", tool: "interactions_create_followup", setup: uses(0, true), args: `{` + byUse + `,"content":"and","ephemeral":true,"flags":4}`,
			sent: []string{"POST " + useOwn + ` {"content":"and","flags":68,` + quiet + `}`}, want: `{"message_id":"*","channel_id":` + id(general) + `}`,
		},
		{
			shows: "not ephemeral", tool: "interactions_create_followup", setup: uses(0, true), args: `{` + byUse + `,"content":"and","ephemeral":false}`,
			sent: []string{"POST " + useOwn + ` {"content":"and",` + quiet + `}`},
		},
		{
			shows: "with everything", tool: "interactions_create_followup", setup: follows,
			args: `{` + byUse + `,"content":"and","tts":true,"embeds":[{"title":"x"}],"components":` + row1 + `,"poll":` + poll + `,"flags":64,"allowed_mentions":{"parse":["users"]}}`,
			sent: []string{"POST " + useOwn + ` {"content":"and","tts":true,"embeds":[{"title":"x"}],"components":` + row1 + `,"poll":` + poll + `,"flags":64,"allowed_mentions":{"parse":["users"]}}`},
		},
		{
			shows: "a file", tool: "interactions_create_followup", setup: uses(0, true), args: `{` + byUse + `,"files":[{"name":"a.txt","data":"aGVsbG8="}]}`,
			sent: []string{"POST " + useOwn + " (multipart)"}, want: `{"message_id":"*"}`,
		},
		{
			shows: "attachments that nobody knows", tool: "interactions_create_followup", setup: follows, args: `{` + byUse + `,"content":"x","attachments":[{"id":"0"}]}`,
			sent: []string{"POST " + useOwn + ` {"content":"x","attachments":[{"id":"0"}],` + quiet + `}`}, code: mcpcore.CodeValidation,
		},
		{
			shows: "before the answer", tool: "interactions_create_followup", setup: uses(0, false), args: `{` + byUse + `,"content":"and"}`,
			sent: []string{"POST " + useOwn + ` {"content":"and",` + quiet + `}`}, code: mcpcore.CodeNotFound, says: "no response yet",
		},
		{
			shows: "after 15 minutes", tool: "interactions_create_followup", setup: late, args: `{` + byUse + `,"content":"and"}`,
			sent: []string{"POST " + useOwn + ` {"content":"and",` + quiet + `}`}, code: mcpcore.CodeAuthInvalid, says: "older than 15 minutes",
		},
		{
			shows: "what was deferred", tool: "interactions_edit_original_response", setup: uses(0, true), args: `{` + byUse + `,"content":"aye","poll":` + poll + `,"flags":4}`,
			sent: []string{"PATCH " + useOriginal + ` {"content":"aye","poll":` + poll + `,"flags":4,` + quiet + `}`}, want: `{"message_id":"*","channel_id":` + id(general) + `}`,
		},
		{
			shows: "all of it", tool: "interactions_edit_original_response", setup: uses(0, true), args: `{` + byUse + `,"content":"aye","embeds":[{"title":"x"}],"components":` + row1 + `,"attachments":[],"allowed_mentions":{"parse":["roles"]}}`,
			sent: []string{"PATCH " + useOriginal + ` {"content":"aye","embeds":[{"title":"x"}],"components":` + row1 + `,"attachments":[],"allowed_mentions":{"parse":["roles"]}}`},
		},
		{
			shows: "a file", tool: "interactions_edit_original_response", setup: uses(0, true), args: `{` + byUse + `,"files":[{"name":"a.txt","data":"aGVsbG8="}]}`,
			sent: []string{"PATCH " + useOriginal + " (multipart)"},
		},
		{shows: "nothing", tool: "interactions_edit_original_response", args: `{` + byUse + `}`, code: mcpcore.CodeValidation, says: "at least one of content"},
		{
			shows: "new text", tool: "interactions_edit_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `,"content":"no more","embeds":null,"components":null,"flags":0}`,
			sent: []string{"PATCH " + useFollow + ` {"content":"no more","embeds":null,"components":null,"flags":0,` + quiet + `}`}, want: `{"message_id":` + id(followed) + `,"edited_timestamp":"*"}`,
		},
		{
			shows: "attachments and a poll", tool: "interactions_edit_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `,"attachments":[],"poll":` + poll + `,"allowed_mentions":{"parse":["users"]}}`,
			sent: []string{"PATCH " + useFollow + ` {"attachments":[],"poll":` + poll + `,"allowed_mentions":{"parse":["users"]}}`},
		},
		{
			shows: "a file", tool: "interactions_edit_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `,"files":[{"name":"a.txt","data":"aGVsbG8="}]}`,
			sent: []string{"PATCH " + useFollow + " (multipart)"},
		},
		{
			shows: "none", tool: "interactions_edit_followup", setup: uses(0, true), args: `{` + byUse + `,"message_id":` + id(followed) + `,"content":"x"}`,
			sent: []string{"PATCH " + useFollow + ` {"content":"x",` + quiet + `}`}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one", tool: "interactions_get_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `}`, sent: []string{"GET " + useFollow},
			want: `{"message_id":` + id(followed) + `,"channel_id":` + id(general) + `,"content":"and one more","untrusted_messages":"*"}`, says: "<untrusted_discord_messages",
		},
		{
			shows: "none", tool: "interactions_get_followup", setup: uses(0, true), args: `{` + byUse + `,"message_id":` + id(followed) + `}`, sent: []string{"GET " + useFollow}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one that is put off", tool: "interactions_get_original_response", setup: uses(0, true), args: `{` + byUse + `}`, sent: []string{"GET " + useOriginal},
			want: `{"content":"","flags":128,"untrusted_messages":"*"}`,
		},
		{
			shows: "none yet", tool: "interactions_get_original_response", setup: uses(0, false), args: `{` + byUse + `}`, sent: []string{"GET " + useOriginal}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "preview", tool: "interactions_delete_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `}`, sent: []string{"GET " + useFollow}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"author"},{"name":"sent"},{"name":"text","value":"and one more"}]}`,
		},
		{
			shows: "confirmed", tool: "interactions_delete_followup", setup: follows, args: `{` + byUse + `,"message_id":` + id(followed) + `,"__confirm":true}`, sent: []string{"DELETE " + useFollow},
			want: `{"deleted":true,"message_id":` + id(followed) + `}`,
		},
		{
			shows: "preview", tool: "interactions_delete_original_response", setup: uses(0, true), args: `{` + byUse + `}`, sent: []string{"GET " + useOriginal}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"author"},{"name":"sent"},{"name":"text"}]}`,
		},
		{
			shows: "confirmed", tool: "interactions_delete_original_response", setup: uses(0, true), args: `{` + byUse + `,"__confirm":true}`, sent: []string{"DELETE " + useOriginal}, want: `{"deleted":true}`,
		},
	})
}

// TestInteractionsTellNoGuild: with an allowlist of guilds their tools are neither
// listed nor run; the identity lock holds them to its application.
func TestInteractionsTellNoGuild(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild} })
	list, err := b.mcp.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if len(tool.Name) > 13 && tool.Name[:13] == "interactions_" {
			t.Errorf("%s is listed", tool.Name)
		}
	}
	locked := func(d *discordtools.Deps) { d.Config.ExpectedBot = sandbox.BotID }
	run(t, []row{
		{
			shows: "of the locked bot", tool: "interactions_get_original_response", setup: uses(0, true), deps: locked, args: `{` + byUse + `}`,
			sent: []string{"GET /users/@me", "GET " + useOriginal},
		},
		{
			shows: "of another application", tool: "interactions_get_original_response", setup: uses(0, true), deps: locked,
			args: `{"application_id":"1200000000000009999","interaction_token":` + id(useToken) + `}`, sent: []string{"GET /users/@me"}, code: mcpcore.CodeBotUnresolved,
		},
	})
}
