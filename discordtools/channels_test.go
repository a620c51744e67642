package discordtools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	help     = string(sandbox.DemoHelp)
	thread   = string(sandbox.DemoThread)
	archived = string(sandbox.DemoArchived)
	post     = string(sandbox.DemoPost)
	lounge   = string(sandbox.DemoLounge)
	bugTag   = string(sandbox.DemoBugTag)
	ideaTag  = string(sandbox.DemoIdeaTag)
	solved   = string(sandbox.DemoSolvedTag)
	member   = string(sandbox.DemoMember)
	muted    = string(sandbox.DemoMutedRole)
)

func TestChannels(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{
			shows: "private from the first moment", tool: "channels_create_guild_channel",
			args: `{"guild_id":` + id(guild) + `,"name":"Plans","parent_id":` + id(sandbox.DemoCommunity) + `,"audit_reason":"asked for",
				"permission_overwrites":[{"id":` + id(guild) + `,"type":0,"deny":"1024"},{"id":` + id(member) + `,"type":1,"allow":"1024"}]}`,
			sent: []string{"POST /guilds/" + guild + `/channels {"name":"Plans","parent_id":` + id(sandbox.DemoCommunity) + `,
				"permission_overwrites":[{"id":` + id(guild) + `,"type":0,"deny":"1024"},{"id":` + id(member) + `,"type":1,"allow":"1024"}]}`},
			want: `{"id":"*","name":"plans","type":0,"parent_id":` + id(sandbox.DemoCommunity) + `}`, says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "a forum with tags", tool: "channels_create_guild_channel",
			args: `{"guild_id":` + id(guild) + `,"name":"ideas","type":15,"default_reaction_emoji":{"emoji_name":"👍"},"default_sort_order":0,
				"available_tags":[{"name":"Art","moderated":true,"emoji_id":null,"emoji_name":"🎨"},{"name":"Sound"}]}`,
			sent: []string{"POST /guilds/" + guild + `/channels {"name":"ideas","type":15,"default_reaction_emoji":{"emoji_name":"👍"},"default_sort_order":0,
				"available_tags":[{"name":"Art","moderated":true,"emoji_id":null,"emoji_name":"🎨"},{"name":"Sound"}]}`},
			want: `{"type":15,"parent_id":null,"available_tags":[{"id":"*","name":"Art","moderated":true,"emoji_id":null,"emoji_name":"🎨"},{"name":"Sound","moderated":false,"emoji_name":null}]}`,
		},
		{
			shows: "tags without a forum", tool: "channels_create_guild_channel", args: `{"guild_id":` + id(guild) + `,"name":"ideas","available_tags":[{"name":"Art"}]}`,
			code: mcpcore.CodeValidation, says: "available_tags: needs type 15",
		},
		{
			shows: "two emojis on a tag", tool: "channels_create_guild_channel",
			args: `{"guild_id":` + id(guild) + `,"name":"ideas","type":15,"available_tags":[{"name":"Art","emoji_id":` + id(sandbox.DemoEmoji) + `,"emoji_name":"🎨"}]}`,
			code: mcpcore.CodeValidation, says: "available_tags.0.emoji_name: excludes emoji_id",
		},
		{
			shows: "two default reactions", tool: "channels_create_guild_channel",
			args: `{"guild_id":` + id(guild) + `,"name":"ideas","type":15,"default_reaction_emoji":{"emoji_id":` + id(sandbox.DemoEmoji) + `,"emoji_name":"🎨"}}`,
			code: mcpcore.CodeValidation, says: "default_reaction_emoji.emoji_name: excludes emoji_id",
		},
		{
			shows: "a parent that is no category", tool: "channels_create_guild_channel", args: `{"guild_id":` + id(guild) + `,"name":"x","parent_id":` + id(general) + `}`,
			sent: []string{"POST /guilds/" + guild + `/channels {"name":"x","parent_id":` + id(general) + `}`}, code: mcpcore.CodeValidation, says: "parent_id",
		},
		{
			shows: "the follower is a webhook", tool: "channels_follow_announcement", args: `{"channel_id":` + id(announc) + `,"webhook_channel_id":` + id(general) + `}`,
			sent: []string{"POST /channels/" + announc + `/followers {"webhook_channel_id":` + id(general) + `}`},
			want: `{"channel_id":` + id(announc) + `,"webhook_id":"*"}`,
		},
		{
			shows: "a text channel cannot be followed", tool: "channels_follow_announcement", args: `{"channel_id":` + id(general) + `,"webhook_channel_id":` + id(general) + `}`,
			sent: []string{"POST /channels/" + general + `/followers {"webhook_channel_id":` + id(general) + `}`}, code: mcpcore.CodeValidation,
		},
		{
			shows: "a text channel", tool: "channels_get", args: `{"channel_id":` + id(general) + `}`,
			sent: []string{"GET /channels/" + general},
			want: `{"id":` + id(general) + `,"name":"general","type":0,"nsfw":false,"topic":"*","rate_limit_per_user":0,"position":7,"guild_id":` + id(guild) + `,
				"permission_overwrites":[{"id":` + id(muted) + `,"type":0,"allow":"0","deny":"*"}]}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "an archived thread", tool: "channels_get", args: `{"channel_id":` + id(archived) + `}`,
			sent: []string{"GET /channels/" + archived}, want: `{"type":11,"topic":null,"thread":{"archived":true,"locked":false,"archive_timestamp":"*"}}`,
		},
		{
			shows: "a post has its tags", tool: "channels_get", args: `{"channel_id":` + id(post) + `}`,
			sent: []string{"GET /channels/" + post}, want: `{"parent_id":` + id(help) + `,"applied_tags":[` + id(bugTag) + `]}`,
		},
		{
			shows: "a hidden channel", tool: "channels_get", args: `{"channel_id":` + id(sandbox.DemoStaff) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoStaff)}, code: mcpcore.CodePermission,
		},
		{
			shows: "an unknown type", tool: "channels_list", args: `{"guild_id":` + id(guild) + `,"type":99}`,
			code: mcpcore.CodeValidation, says: "type: must be one of 0, 2, 4, 5, 13, 15, 16",
		},
		{
			shows: "the posts of a forum", tool: "channels_list_active_threads_guild", args: `{"guild_id":` + id(guild) + `,"parent_id":` + id(help) + `}`,
			sent: []string{"GET /guilds/" + guild + "/threads/active"},
			want: `{"count":1,"guild_id":` + id(guild) + `,"threads":[{"id":` + id(post) + `,"parent_id":` + id(help) + `,"owner_id":"*","archived":false,"locked":false,"applied_tags":[` + id(bugTag) + `]}]}`,
			says: "<untrusted_discord_message ",
		},
		{
			shows: "all of a guild", tool: "channels_list_active_threads_guild", args: `{"guild_id":` + id(guild) + `}`,
			sent: []string{"GET /guilds/" + guild + "/threads/active"}, want: `{"count":2}`,
		},
		{
			shows: "an unknown guild", tool: "channels_list_active_threads_guild", args: `{"guild_id":"1200000000000000999"}`,
			sent: []string{"GET /guilds/1200000000000000999/threads/active"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "by time", tool: "channels_list_public_archived_threads", args: `{"channel_id":` + id(general) + `,"before":"2026-03-14T00:00:00Z","limit":2}`,
			sent: []string{"GET /channels/" + general + "/threads/archived/public?before=2026-03-14T00:00:00Z&limit=2"},
			want: `{"channel_id":` + id(general) + `,"count":1,"has_more":false,"threads":[{"id":` + id(archived) + `,"type":11,"parent_id":` + id(general) + `,"archive_timestamp":"*"}]}`,
			says: "<untrusted_discord_message ",
		},
		{
			shows: "an id is no time", tool: "channels_list_public_archived_threads", args: `{"channel_id":` + id(general) + `,"before":` + id(archived) + `}`,
			code: mcpcore.CodeValidation, says: "before: must be a time with an offset",
		},
		{
			shows: "says where to go on", tool: "channels_list_public_archived_threads", args: `{"channel_id":` + id(general) + `,"limit":2}`, setup: archive(discord.PublicThread),
			sent: []string{"GET /channels/" + general + "/threads/archived/public?limit=2"},
			want: `{"count":2,"has_more":true,"next_before":"2026-03-12T15:09:26.000000+00:00"}`,
		},
		{
			shows: "private ones", tool: "channels_list_private_archived_threads", args: `{"channel_id":` + id(general) + `}`, setup: archive(discord.PrivateThread),
			sent: []string{"GET /channels/" + general + "/threads/archived/private"}, want: `{"count":3,"has_more":false,"threads":[{"type":12},{},{}]}`,
		},
		{
			shows: "a page has at least two", tool: "channels_list_private_archived_threads", args: `{"channel_id":` + id(general) + `,"limit":1}`,
			code: mcpcore.CodeValidation, says: "limit: must be at least 2",
		},
		{
			shows: "pages by id", tool: "channels_list_joined_private_archived_threads", args: `{"channel_id":` + id(general) + `,"limit":2}`, setup: archive(discord.PrivateThread),
			sent: []string{"GET /channels/" + general + "/users/@me/threads/archived/private?limit=2"},
			want: `{"count":2,"has_more":true,"next_before":"1200000000000000802"}`,
		},
		{
			shows: "a time is no id", tool: "channels_list_joined_private_archived_threads", args: `{"channel_id":` + id(general) + `,"before":"2026-03-14T00:00:00Z"}`,
			code: mcpcore.CodeValidation, says: "before: must be an id",
		},
		{
			shows: "an empty overwrite goes", tool: "channels_delete_permissions", args: `{"channel_id":` + id(general) + `,"overwrite_id":` + id(muted) + `}`,
			sent: []string{"DELETE /channels/" + general + "/permissions/" + muted}, want: `{"deleted":true,"overwrite_id":` + id(muted) + `}`,
		},
		{
			shows: "there is none", tool: "channels_delete_permissions", args: `{"channel_id":` + id(general) + `,"overwrite_id":` + id(member) + `}`,
			sent: []string{"DELETE /channels/" + general + "/permissions/" + member}, code: mcpcore.CodeNotFound, says: "no overwrite for this role or member",
		},
		{
			shows: "in a forum post", tool: "channels_trigger_typing", args: `{"channel_id":` + id(post) + `}`,
			sent: []string{"POST /channels/" + post + "/typing"}, want: `{"ok":true,"channel_id":` + id(post) + `}`,
		},
		{
			shows: "where the bot may not write", tool: "channels_trigger_typing", args: `{"channel_id":` + id(sandbox.DemoClubReads) + `}`,
			sent: []string{"POST /channels/" + string(sandbox.DemoClubReads) + "/typing"}, code: mcpcore.CodePermission,
		},
	})
}

// asBot sends a request past the server, as another program with the bot's token.
func asBot(t *testing.T, d *sandbox.Discord, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://discord.com/api/v10"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bot "+d.Token())
	r.Header.Set("Content-Type", "application/json")
	res, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if res.StatusCode/100 != 2 {
		t.Errorf("%s %s: status %d", method, path, res.StatusCode)
	}
}

// archive puts three archived threads of the kind into general, two days and
// more ago.
func archive(kind discord.ChannelType) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		for i := range 3 {
			d.AddChannel(sandbox.Channel{
				ID: discord.ChannelID(fmt.Sprint(1200000000000000801 + i)), Guild: sandbox.DemoGuild, Type: kind, Name: "old", Parent: sandbox.DemoGeneral,
				Thread: &sandbox.Thread{
					Owner: sandbox.DemoMember, Archived: true, ArchivedAt: now.AddDate(0, 0, -1-i),
					Members: []sandbox.ThreadMember{{User: sandbox.BotID, Joined: now.AddDate(0, 0, -9)}},
				},
			})
		}
	}
}

func TestChannelsDelete(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{
			shows: "a text channel with its threads", tool: "channels_delete", args: `{"channel_id":` + id(general) + `}`,
			sent: []string{"GET /channels/" + general, "GET /guilds/" + guild + "/channels", "GET /guilds/" + guild + "/threads/active"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"kind","value":"text channel"},{"name":"name","value":"general"},{"name":"category","value":"Community"},{"name":"active threads","value":"1"}]}`,
		},
		{
			shows: "a forum with its posts", tool: "channels_delete", args: `{"channel_id":` + id(help) + `}`,
			sent: []string{"GET /channels/" + help, "GET /guilds/" + guild + "/channels", "GET /guilds/" + guild + "/threads/active"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"forum"},{"value":"help"},{},{"name":"active posts","value":"1"}]}`,
		},
		{
			shows: "a category and who loses it", tool: "channels_delete", args: `{"channel_id":` + id(sandbox.DemoCommunity) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoCommunity), "GET /guilds/" + guild + "/channels"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"category"},{"value":"Community"},{"name":"channels that stay without a category","value":"3"}]}`,
		},
		{
			shows: "a thread with its messages", tool: "channels_delete", args: `{"channel_id":` + id(thread) + `}`,
			sent: []string{"GET /channels/" + thread, "GET /channels/" + general}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"public thread"},{"value":"Storm level feedback"},{"name":"in","value":"general"},{"name":"messages","value":"2"}]}`,
		},
		{
			shows: "what cannot be read is unknown", tool: "channels_delete", args: `{"channel_id":` + id(lounge) + `}`,
			setup: func(d *sandbox.Discord) {
				d.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/channels", Status: 404})
			},
			sent: []string{"GET /channels/" + lounge, "GET /guilds/" + guild + "/channels"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"voice channel"},{"value":"Lounge"},{"name":"category","value":"unknown"}]}`,
		},
		{
			shows: "no preview of what is not there", tool: "channels_delete", args: `{"channel_id":"1200000000000009999"}`,
			sent: []string{"GET /channels/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "confirmed", tool: "channels_delete", args: `{"channel_id":` + id(lounge) + `,"__confirm":true}`,
			sent: []string{"DELETE /channels/" + lounge}, want: `{"deleted":true,"channel_id":` + id(lounge) + `}`,
		},
		{
			shows: "a channel that Community needs", tool: "channels_delete", args: `{"channel_id":` + id(sandbox.DemoRules) + `,"__confirm":true}`,
			sent: []string{"DELETE /channels/" + string(sandbox.DemoRules)}, code: mcpcore.CodeValidation, says: "Community",
		},
	})
}

func TestChannelsModify(t *testing.T) {
	t.Parallel()
	readHelp, readPost := "GET /channels/"+help, "GET /channels/"+post
	tags := func(list string, more ...string) string {
		return `{"channel_id":` + id(help) + `,"available_tags":[` + list + `]` + strings.Join(more, "") + `}`
	}
	keep := `{"id":` + id(bugTag) + `,"name":"Bug"},{"id":` + id(ideaTag) + `,"name":"Idea"}`
	run(t, []row{
		{
			shows: "null clears", tool: "channels_modify", args: `{"channel_id":` + id(general) + `,"topic":null,"parent_id":null,"default_auto_archive_duration":null,"nsfw":false}`,
			sent: []string{"PATCH /channels/" + general + ` {"topic":null,"parent_id":null,"default_auto_archive_duration":null,"nsfw":false}`},
			want: `{"id":` + id(general) + `,"name":"general","type":0,"parent_id":null}`, says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "an automatic region", tool: "channels_modify", args: `{"channel_id":` + id(lounge) + `,"rtc_region":null,"user_limit":0,"bitrate":64000}`,
			sent: []string{"PATCH /channels/" + lounge + ` {"rtc_region":null,"user_limit":0,"bitrate":64000}`}, want: `{"name":"Lounge"}`,
		},
		{
			shows: "nothing to change", tool: "channels_modify", args: `{"channel_id":` + id(general) + `,"audit_reason":"x"}`,
			code: mcpcore.CodeValidation, says: "Give at least one setting to change",
		},
		{
			shows: "a thread's setting and a channel's", tool: "channels_modify", args: `{"channel_id":` + id(thread) + `,"archived":true,"topic":"x"}`,
			code: mcpcore.CodeValidation, says: "topic: is of channels, and archived of threads",
		},
		{
			shows: "other kinds do not change", tool: "channels_modify", args: `{"channel_id":` + id(lounge) + `,"type":15}`,
			code: mcpcore.CodeValidation, says: "type: must be one of 0, 5",
		},
		{
			shows: "tags are read before and after", tool: "channels_modify",
			args: tags(keep + `,{"id":` + id(solved) + `,"name":"Solved","moderated":true},{"name":"Question","emoji_name":"❓"}`),
			sent: []string{readHelp, "PATCH /channels/" + help + ` {"available_tags":[` + keep + `,{"id":` + id(solved) + `,"name":"Solved","moderated":true},{"name":"Question","emoji_name":"❓"}]}`, readHelp},
			want: `{"tags_verified":true,"available_tags":[{},{},{},{"id":"*","name":"Question"}]}`,
		},
		{
			shows: "a tag goes when it is named", tool: "channels_modify", args: tags(keep, `,"remove_available_tag_ids":[`+id(solved)+`]`),
			sent: []string{readHelp, "PATCH /channels/" + help + ` {"available_tags":[` + keep + `]}`, readHelp}, want: `{"tags_verified":true,"available_tags":[{},{}]}`,
		},
		{
			shows: "all tags go when all are named", tool: "channels_modify",
			args: tags("", fmt.Sprintf(`,"remove_available_tag_ids":[%s,%s,%s]`, id(bugTag), id(ideaTag), id(solved))),
			sent: []string{readHelp, "PATCH /channels/" + help + ` {"available_tags":[]}`, readHelp}, want: `{"tags_verified":true}`,
		},
		{
			shows: "no tag is lost by leaving it out", tool: "channels_modify", args: tags(keep),
			sent: []string{readHelp}, code: mcpcore.CodeValidation, says: "would drop existing tags: " + solved,
		},
		{
			shows: "a tag of another forum", tool: "channels_modify", args: tags(keep + `,{"id":` + id(solved) + `,"name":"Solved"},{"id":"1200000000000000339","name":"New"}`),
			sent: []string{readHelp}, code: mcpcore.CodeValidation, says: "available_tags.3.id: is no tag of this channel",
		},
		{
			shows: "an unknown tag to remove", tool: "channels_modify", args: tags(keep+`,{"id":`+id(solved)+`,"name":"Solved"}`, `,"remove_available_tag_ids":["1200000000000000339"]`),
			sent: []string{readHelp}, code: mcpcore.CodeValidation, says: "remove_available_tag_ids.0: is no tag of this channel",
		},
		{
			shows: "the same tag twice", tool: "channels_modify", args: tags(keep + `,{"id":` + id(bugTag) + `,"name":"Bugs"}`),
			code: mcpcore.CodeValidation, says: "available_tags.2.id: stands twice",
		},
		{
			shows: "kept and removed", tool: "channels_modify", args: tags(keep, `,"remove_available_tag_ids":[`+id(bugTag)+`]`),
			code: mcpcore.CodeValidation, says: "available_tags.0.id: is in remove_available_tag_ids as well",
		},
		{
			shows: "removal needs the list", tool: "channels_modify", args: `{"channel_id":` + id(help) + `,"remove_available_tag_ids":[` + id(bugTag) + `]}`,
			code: mcpcore.CodeValidation, says: "available_tags: is required when remove_available_tag_ids is given",
		},
		{
			shows: "tags of a forum and of a post", tool: "channels_modify", args: tags(keep, `,"applied_tags":[]`),
			code: mcpcore.CodeValidation, says: "available_tags: is of channels, and applied_tags of threads",
		},
		{
			shows: "tags on a text channel", tool: "channels_modify", args: `{"channel_id":` + id(general) + `,"available_tags":[]}`,
			sent: []string{"GET /channels/" + general}, code: mcpcore.CodeValidation, says: "this is a text channel",
		},
		{
			shows: "tags of a post", tool: "channels_modify", args: `{"channel_id":` + id(post) + `,"applied_tags":[` + id(solved) + `,` + id(bugTag) + `]}`,
			sent: []string{readPost, "PATCH /channels/" + post + ` {"applied_tags":[` + id(solved) + `,` + id(bugTag) + `]}`, readPost},
			want: `{"tags_verified":true,"applied_tags":["*","*"]}`,
		},
		{
			shows: "a forum has no tags applied", tool: "channels_modify", args: `{"channel_id":` + id(help) + `,"applied_tags":[]}`,
			sent: []string{readHelp}, code: mcpcore.CodeValidation, says: "this is a forum; its own tags are available_tags",
		},
		{
			shows: "an unknown tag on a post", tool: "channels_modify", args: `{"channel_id":` + id(post) + `,"applied_tags":["1200000000000000339"]}`,
			sent: []string{readPost, "PATCH /channels/" + post + ` {"applied_tags":["1200000000000000339"]}`}, code: mcpcore.CodeNotFound, says: "No such tag in this forum",
		},
	})
}

// TestChannelsModifyTagsVerified shows what comes of a change that went through
// and does not read back.
func TestChannelsModifyTagsVerified(t *testing.T) {
	t.Parallel()
	args := `{"channel_id":` + id(post) + `,"applied_tags":[` + id(ideaTag) + `]}`
	want := `{"channel_id":` + id(post) + `,"patch_succeeded":true}`
	t.Run("read back differs", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		b.world.Observe(func(r sandbox.Request) { // somebody else is quicker
			if r.Method == "PATCH" && strings.Contains(string(r.Body), ideaTag) {
				asBot(t, b.world, "PATCH", "/channels/"+post, `{"applied_tags":[`+id(bugTag)+`]}`)
			}
		})
		a := b.call("channels_modify", args)
		if a.code != mcpcore.CodeTagVerification || missing(t, a.data, want) != "" {
			t.Errorf("answer %s", a.data)
		}
	})
	t.Run("read back fails", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		b.world.Observe(func(r sandbox.Request) {
			if r.Method == "PATCH" {
				b.world.Inject(sandbox.Fault{Method: "GET", Route: "/channels/{channel_id}", Status: 403})
			}
		})
		a := b.call("channels_modify", args)
		if a.code != mcpcore.CodeTagVerification || missing(t, a.data, want) != "" || !strings.Contains(a.text, "could not be read back") {
			t.Errorf("answer %s", a.data)
		}
	})
}

// L12 Permission bits and overwrite type on the wire
func TestL12PermissionBits(t *testing.T) {
	t.Parallel()
	at := "/channels/" + general + "/permissions/"
	set := func(rest string) string {
		return `{"channel_id":` + id(general) + `,"overwrite_id":` + id(muted) + `,"type":0,` + rest + `}`
	}
	put := func(shows, rest string, code mcpcore.Code, says string) row {
		return row{shows: shows, tool: "channels_modify_permissions", args: set(rest), code: code, says: says}
	}
	create := func(overwrites string) string {
		return `{"guild_id":` + id(guild) + `,"name":"x","permission_overwrites":[` + overwrites + `]}`
	}
	run(t, []row{
		{
			shows: "a role is type 0, sets are text", tool: "channels_modify_permissions", args: set(`"allow":"2251799813685248","deny":"1024"`),
			sent: []string{"PUT " + at + muted + ` {"type":0,"allow":"2251799813685248","deny":"1024"}`}, want: `{"updated":true,"overwrite_id":` + id(muted) + `}`,
		},
		{
			shows: "a member is type 1", tool: "channels_modify_permissions",
			args: `{"channel_id":` + id(general) + `,"overwrite_id":` + id(member) + `,"type":1,"deny":"2048"}`,
			sent: []string{"PUT " + at + member + ` {"type":1,"deny":"2048"}`}, want: `{"updated":true}`,
		},
		{
			shows: "what is no number's business arrives whole", tool: "channels_modify_permissions", args: set(`"allow":"0","deny":"36893488147419103232"`),
			sent: []string{"PUT " + at + muted + ` {"type":0,"allow":"0","deny":"36893488147419103232"}`}, want: `{"updated":true}`,
		},
		{
			shows: "a role given as a member", tool: "channels_modify_permissions", args: `{"channel_id":` + id(general) + `,"overwrite_id":` + id(muted) + `,"type":1}`,
			sent: []string{"PUT " + at + muted + ` {"type":1}`}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "the type is never guessed", tool: "channels_modify_permissions", args: `{"channel_id":` + id(general) + `,"overwrite_id":` + id(muted) + `,"allow":"1024"}`,
			code: mcpcore.CodeValidation, says: "type: is required",
		},
		put("a negative number", `"allow":-1`, mcpcore.CodeValidation, "allow: must be text"),
		put("a negative number as text", `"allow":"-1"`, mcpcore.CodeValidation, "allow: must match ^[0-9]{1,32}$"),
		put("hexadecimal", `"deny":"0x400"`, mcpcore.CodeValidation, "deny: must match ^[0-9]{1,32}$"),
		put("an exponent", `"deny":1e3`, mcpcore.CodeValidation, "deny: must be text"),
		put("an exponent as text", `"deny":"1e3"`, mcpcore.CodeValidation, "deny: must match ^[0-9]{1,32}$"),
		put("a name", `"allow":"VIEW_CHANEL"`, mcpcore.CodeValidation, "allow: must match ^[0-9]{1,32}$"),
		put("allowed and denied", `"allow":"3072","deny":"1024"`, mcpcore.CodeValidation, "deny: VIEW_CHANNEL is in allow and in deny"),
		put("allowed and denied above 64 bits", `"allow":"36893488147419103232","deny":"36893488147419103233"`, mcpcore.CodeValidation, "deny: BIT_65 is in allow and in deny"),
		{
			shows: "allowed and denied at creation", tool: "channels_create_guild_channel", args: create(`{"id":` + id(guild) + `,"type":0,"allow":"2251799813685248","deny":"2251799813686272"}`),
			code: mcpcore.CodeValidation, says: "permission_overwrites.0.deny: PIN_MESSAGES is in allow and in deny",
		},
		{
			shows: "bits as a number at creation", tool: "channels_create_guild_channel", args: create(`{"id":` + id(guild) + `,"type":0,"deny":1024}`),
			code: mcpcore.CodeValidation, says: "permission_overwrites.0.deny: must be text",
		},
		{
			shows: "no third kind", tool: "channels_create_guild_channel", args: create(`{"id":` + id(guild) + `,"type":2,"deny":"1024"}`),
			code: mcpcore.CodeValidation, says: "permission_overwrites.0.type: must be one of 0, 1",
		},
		{
			shows: "two for one role", tool: "channels_modify", args: `{"channel_id":` + id(general) + `,"permission_overwrites":[{"id":` + id(muted) + `,"type":0},{"id":` + id(muted) + `,"type":0}]}`,
			code: mcpcore.CodeValidation, says: "permission_overwrites.1.id: stands twice",
		},
		{
			shows: "a channel's own overwrites", tool: "channels_modify", args: `{"channel_id":` + id(general) + `,"permission_overwrites":[{"id":` + id(muted) + `,"type":0,"allow":"0","deny":"2048"}]}`,
			sent: []string{"PATCH /channels/" + general + ` {"permission_overwrites":[{"id":` + id(muted) + `,"type":0,"allow":"0","deny":"2048"}]}`}, want: `{"name":"general"}`,
		},
	})
}

// L16 Forum and media posts
func TestL16ForumPosts(t *testing.T) {
	t.Parallel()
	const media = "1200000000000000811"
	addMedia := func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: media, Guild: sandbox.DemoGuild, Type: discord.GuildMedia, Name: "art"})
	}
	create := func(channel, rest string) string {
		return `{"channel_id":` + id(channel) + `,"name":"Fog",` + rest + `}`
	}
	nobody := `"allowed_mentions":{"parse":[],"replied_user":false}`
	read := "GET /channels/" + help
	posted := func(body string) []string {
		return []string{read, "POST /channels/" + help + `/threads {"name":"Fog",` + body + `}`}
	}
	tagged := `"applied_tags":[` + id(bugTag) + `]`
	run(t, []row{
		{
			shows: "the message is nested", tool: "channels_forum_create_thread",
			args: create(help, tagged+`,"message":{"content":"Too thick","embeds":[{"title":"Map"}]},"auto_archive_duration":60,"audit_reason":"asked for"`),
			sent: posted(tagged + `,"auto_archive_duration":60,"message":{"content":"Too thick","embeds":[{"title":"Map"}],` + nobody + `}`),
			want: `{"thread_id":"*","message_id":"*","parent_id":` + id(help) + `,"applied_tags":[` + id(bugTag) + `],"jump_url":"*"}`,
		},
		{
			shows: "in a media channel", tool: "channels_forum_create_thread", setup: addMedia, args: create(media, `"message":{"sticker_ids":[`+id(sandbox.DemoSticker)+`]}`),
			sent: []string{"GET /channels/" + media, "POST /channels/" + media + `/threads {"name":"Fog","message":{"sticker_ids":[` + id(sandbox.DemoSticker) + `],` + nobody + `}}`},
			want: `{"parent_id":"` + media + `"}`,
		},
		{
			shows: "files go along", tool: "channels_forum_create_thread",
			args: create(help, tagged+`,"message":{"files":[{"name":"a.txt","data":"aGVsbG8=","description":"hello"}]}`),
			sent: []string{read, "POST /channels/" + help + "/threads (multipart)"}, want: `{"thread_id":"*"}`,
		},
		{
			shows: "no message", tool: "channels_forum_create_thread", args: create(help, tagged), code: mcpcore.CodeValidation, says: "message: is required",
		},
		{
			shows: "an empty message", tool: "channels_forum_create_thread", args: create(help, `"message":{"content":"","embeds":[]}`),
			code: mcpcore.CodeValidation, says: "message: a post starts with a message: give content, embeds, files",
		},
		{
			shows: "no tag where one is wanted", tool: "channels_forum_create_thread", args: create(help, `"message":{"content":"x"}`),
			sent: posted(`"message":{"content":"x",` + nobody + `}`), code: mcpcore.CodeValidation, says: "This forum wants a tag on each post",
		},
		{
			shows: "six tags", tool: "channels_forum_create_thread",
			args: create(help, `"message":{"content":"x"},"applied_tags":["1200000000000000331","1200000000000000332","1200000000000000333","1200000000000000334","1200000000000000335","1200000000000000336"]`),
			code: mcpcore.CodeValidation, says: "applied_tags: must have at most 5 items",
		},
		{
			shows: "a tag by name", tool: "channels_forum_create_thread", args: create(help, `"message":{"content":"x"},"applied_tags":["Bug"]`),
			code: mcpcore.CodeValidation, says: "applied_tags.0: must be an id",
		},
		{
			shows: "a type is not taken", tool: "channels_forum_create_thread", args: create(help, `"message":{"content":"x"},"type":11`), code: mcpcore.CodeValidation, says: "type: is not an argument here",
		},
		{
			shows: "a text channel holds no posts", tool: "channels_forum_create_thread", args: create(general, `"message":{"content":"x"}`),
			sent: []string{"GET /channels/" + general}, code: mcpcore.CodeValidation, says: "channel_id: is a text channel, which holds no posts; send a message with messages_send",
		},
		{
			shows: "nor does a post", tool: "channels_forum_create_thread", args: create(post, `"message":{"content":"x"}`),
			sent: []string{"GET /channels/" + post}, code: mcpcore.CodeValidation, says: "posts are started in the forum",
		},
		{
			shows: "files are data, never paths", tool: "channels_forum_create_thread", args: create(help, `"message":{"content":"x","files":[{"name":"a","data":"/etc/passwd"}]}`),
			code: mcpcore.CodeValidation, says: "message.files.0.data: must be base64 or a data URI",
		},
		{
			shows: "an attachment and a file", tool: "channels_forum_create_thread",
			args: create(help, `"message":{"files":[{"name":"a.txt","data":"aGVsbG8="}],"attachments":[{"id":"0"}]}`),
			code: mcpcore.CodeValidation, says: "message.attachments: excludes files",
		},
		{
			shows: "this id is a forum, list its posts", tool: "channels_get", args: `{"channel_id":` + id(help) + `}`,
			sent: []string{read}, want: `{"type":15,"available_tags":[{"name":"Bug"},{},{"moderated":true}]}`, says: "it holds posts, not messages. List its posts with channels_list_active_threads_guild",
		},
	})
}

// L20 Unwanted pings
func TestL20ForumFirstMessage(t *testing.T) {
	t.Parallel()
	create := func(message string) string {
		return `{"channel_id":` + id(help) + `,"name":"Fog","applied_tags":[` + id(bugTag) + `],"message":` + message + `}`
	}
	posted := func(message string) []string {
		return []string{"GET /channels/" + help, "POST /channels/" + help + `/threads {"name":"Fog","applied_tags":[` + id(bugTag) + `],"message":` + message + `}`}
	}
	run(t, []row{
		{
			shows: "the first message notifies nobody by itself", tool: "channels_forum_create_thread", args: create(`{"content":"Deploy done @everyone"}`),
			sent: posted(`{"content":"Deploy done @everyone","allowed_mentions":{"parse":[],"replied_user":false}}`), want: `{"thread_id":"*"}`,
		},
		{
			shows: "unless told to", tool: "channels_forum_create_thread", args: create(`{"content":"hi","allowed_mentions":{"users":[` + id(member) + `]}}`),
			sent: posted(`{"content":"hi","allowed_mentions":{"users":[` + id(member) + `]}}`), want: `{"thread_id":"*"}`,
		},
		{
			shows: "kind and list of the same mentions", tool: "channels_forum_create_thread",
			args: create(`{"content":"hi","allowed_mentions":{"parse":["users"],"users":[` + id(member) + `]}}`),
			code: mcpcore.CodeValidation, says: "message.allowed_mentions.users",
		},
		{
			shows: "null would notify everybody", tool: "channels_forum_create_thread", args: create(`{"content":"hi","allowed_mentions":null}`),
			code: mcpcore.CodeValidation, says: "message.allowed_mentions: null would notify",
		},
	})
}

// L17 Archived and locked threads
func TestL17ArchivedThreads(t *testing.T) {
	t.Parallel()
	patch := "PATCH /channels/" + archived
	run(t, []row{
		{
			shows: "locking says how", tool: "channels_modify", args: `{"channel_id":` + id(archived) + `,"locked":true}`,
			sent: []string{patch + ` {"locked":true}`}, code: mcpcore.CodeValidation, says: "send archived: false in the same call",
		},
		{
			shows: "reopened only as asked for", tool: "channels_modify", args: `{"channel_id":` + id(archived) + `,"locked":true,"archived":false}`,
			sent: []string{patch + ` {"locked":true,"archived":false}`}, want: `{"thread":{"archived":false,"locked":true}}`,
		},
		{
			shows: "adding a member", tool: "threads_add_member", args: `{"thread_id":` + id(archived) + `,"user_id":` + id(member) + `}`,
			sent: []string{"PUT /channels/" + archived + "/thread-members/" + member}, code: mcpcore.CodeValidation, says: "The thread is archived. Set archived to false first",
		},
		{
			shows: "a locked one is opened by moderators alone", tool: "channels_modify", args: `{"channel_id":` + id(archived) + `,"archived":false}`,
			setup: func(d *sandbox.Discord) {
				asBot(t, d, "PATCH", "/channels/"+archived, `{"archived":false,"locked":true}`)
				asBot(t, d, "PATCH", "/channels/"+archived, `{"archived":true}`)
				asBot(t, d, "PUT", "/channels/"+general+"/permissions/"+string(sandbox.BotID), `{"type":1,"deny":"17179869184"}`)
			},
			sent: []string{patch + ` {"archived":false}`}, code: mcpcore.CodePermission,
		},
	})
}

func TestChannelsListOfUnknownGuild(t *testing.T) {
	t.Parallel()
	if a := start(t).call("channels_list", `{"guild_id":"1200000000000000999"}`); a.code != mcpcore.CodeNotFound {
		t.Errorf("code %q: %s", a.code, a.data)
	}
}

// L28 Listing shows channels the bot cannot read
func TestL28ChannelsListMarks(t *testing.T) {
	t.Parallel()
	type marks struct{ view, history string }
	reads := []string{
		"GET /guilds/" + guild + "/channels", "GET /guilds/" + guild + "/members/" + string(sandbox.BotID), "GET /guilds/" + guild + "/roles", "GET /users/@me",
	}
	overwrite := func(d *sandbox.Discord, channel, target string, kind int, bits string) {
		asBot(t, d, "PUT", "/channels/"+channel+"/permissions/"+target, fmt.Sprintf(`{"type":%d,%s}`, kind, bits))
	}
	for _, c := range []struct {
		shows string
		setup func(*sandbox.Discord)
		args  string
		want  map[string]marks
		count int
		says  string
		not   string
	}{
		{
			shows: "hidden and open ones", count: 13, says: "The bot cannot read 1 of these.",
			want: map[string]marks{
				general: {"true", "true"}, string(sandbox.DemoStaff): {"false", "false"}, string(sandbox.DemoModLog): {"true", "true"}, lounge: {"true", "true"},
			},
		},
		{
			shows: "without history alone", count: 13, says: "The bot cannot read 2 of these.",
			setup: func(d *sandbox.Discord) { overwrite(d, general, guild, 0, `"deny":"65536"`) },
			want:  map[string]marks{general: {"true", "false"}},
		},
		{
			shows: "an overwrite on the member counts last", count: 13, says: "The bot cannot read 1 of these.",
			setup: func(d *sandbox.Discord) {
				overwrite(d, general, string(sandbox.BotID), 1, `"allow":"65536"`)
				overwrite(d, general, guild, 0, `"deny":"65536"`)
			},
			want: map[string]marks{general: {"true", "true"}},
		},
		{
			shows: "voice needs to connect", count: 13, says: "The bot cannot read 2 of these.",
			setup: func(d *sandbox.Discord) { overwrite(d, lounge, guild, 0, `"deny":"1048576"`) },
			want:  map[string]marks{lounge: {"true", "false"}},
		},
		{
			shows: "an administrator sees all", count: 13, not: "cannot read",
			setup: func(d *sandbox.Discord) {
				d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000821", Name: "All", Position: 7, Permissions: discord.Administrator})
				d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{sandbox.DemoBotRole, "1200000000000000821"}})
			},
			want: map[string]marks{string(sandbox.DemoStaff): {"true", "true"}},
		},
		{
			shows: "unknown is not guessed", count: 13, says: "What the bot can read here is unknown", not: "cannot read",
			setup: func(d *sandbox.Discord) {
				d.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/roles", Status: 403})
			},
			want: map[string]marks{general: {"<nil>", "<nil>"}, string(sandbox.DemoStaff): {"<nil>", "<nil>"}},
		},
		{
			shows: "one category", args: `,"parent_id":` + id(sandbox.DemoCommunity), count: 3, want: map[string]marks{help: {"true", "true"}}, not: "cannot read",
		},
		{
			shows: "one type", args: `,"type":0`, count: 5, want: map[string]marks{general: {"true", "true"}}, says: "cannot read 1",
		},
	} {
		t.Run(c.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			if c.setup != nil {
				c.setup(b.world)
			}
			b.world.ResetRequests()
			a := b.call("channels_list", `{"guild_id":`+id(guild)+c.args+`}`)
			if got := slices.Sorted(slices.Values(b.sent())); !slices.Equal(got, reads) { // they are read at once
				t.Errorf("Discord saw %q, want %q", got, reads)
			}
			list := asList(tree(t, json.RawMessage(a.data))["channels"])
			if len(list) != c.count {
				t.Errorf("%d channels, want %d", len(list), c.count)
			}
			got := map[string]marks{}
			for _, item := range list {
				channel := item.(map[string]any)
				view, known := channel["can_view"]
				if !known {
					t.Fatalf("no mark: %v", channel)
				}
				got[channel["id"].(string)] = marks{fmt.Sprint(view), fmt.Sprint(channel["can_read_history"])}
			}
			for channel, want := range c.want {
				if got[channel] != want {
					t.Errorf("%s is marked %v, want %v", channel, got[channel], want)
				}
			}
			if !strings.Contains(a.text, c.says) || c.not != "" && strings.Contains(a.text, c.not) {
				t.Errorf("text\n%s\nmust hold %q and not %q", a.text, c.says, c.not)
			}
			covered.note("channels_list", a.code == "")
		})
	}
}
