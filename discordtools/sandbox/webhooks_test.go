package sandbox

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()
	const in, one, own = "/channels/{general}/webhooks", "/webhooks/{hook}", "/webhooks/{hook}/{hooktoken}"
	recorded := func(action int, by discord.UserID) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			if e := lastAct(t, d); e.Action != action || e.User != by {
				t.Errorf("recorded %+v", e)
			}
		}
	}
	full := func(d *Discord) {
		for range maxWebhooks {
			d.AddWebhook(Webhook{Channel: DemoGeneral, Name: "buoy"})
		}
	}
	powerless := func(d *Discord) {
		d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= discord.ManageWebhooks
	}
	rows(t, []row{
		{name: "in a channel", method: "GET", path: "/channels/{news}/webhooks", status: 200, has: `"name":"Release feed"`},
		{name: "in a channel without", method: "GET", path: in, status: 200, has: `[]`},
		{name: "in a guild", method: "GET", path: "/guilds/{guild}/webhooks", status: 200, has: `"token":"{hooktoken}"`},
		{name: "one that follows", method: "GET", path: in, status: 200, has: `"source_channel":{"id":"{news}","name":"announcements"}`, before: func(d *Discord) {
			d.AddWebhook(Webhook{Type: 2, Channel: DemoGeneral, Source: DemoAnnouncements, Name: "x"})
		}},
		{name: "another application's token stays hidden", method: "GET", path: in, status: 200, has: `"user":{"id":"1200000000000009002"`, before: func(d *Discord) {
			d.AddWebhook(Webhook{Channel: DemoGeneral, By: d.AddUser(User{ID: "1200000000000009002", Name: "tracker", Bot: true}), Token: "x"})
		}, after: func(t *testing.T, d *Discord) {
			if log := d.Requests(); strings.Contains(string(log[len(log)-1].Reply), `"token"`) {
				t.Errorf("the token shows: %s", log[len(log)-1].Reply)
			}
		}},
		{name: "in a guild where the bot may not look", method: "GET", path: "/guilds/{club}/webhooks", status: 403, code: 50013},
		{name: "in a channel where it may not look", method: "GET", path: "/channels/{clubgeneral}/webhooks", status: 403, code: 50013},
		{name: "get", method: "GET", path: one, status: 200, has: `"user":{"id":"{owner}"`},
		{name: "get without the permission", method: "GET", path: one, status: 403, code: 50013, before: powerless},
		{name: "get unknown", method: "GET", path: "/webhooks/{nowhere}", status: 404, code: 10015},
		{name: "get by token", method: "GET", path: own, status: 200, has: `"name":"Release feed"`, before: powerless},
		{name: "get by another token", method: "GET", path: one + "/x", status: 401, code: 50027},
		{name: "create", method: "POST", path: in, body: `{"name":"Feed","avatar":"` + imageURI("image/png", 9) + `"}`, status: 200, has: `"application_id":"{app}"`, after: recorded(auditWebhookCreate, BotID)},
		{name: "create in a forum", method: "POST", path: "/channels/{help}/webhooks", body: `{"name":"Feed"}`, status: 200},
		{name: "create in a thread", method: "POST", path: "/channels/{thread}/webhooks", body: `{"name":"Feed"}`, status: 400, code: 50024},
		{name: "create in a category", method: "POST", path: "/channels/{category}/webhooks", body: `{"name":"Feed"}`, status: 400, code: 50024},
		{name: "create without the permission", method: "POST", path: in, body: `{"name":"Feed"}`, status: 403, code: 50013, before: powerless},
		{name: "a name that Discord keeps", method: "POST", path: in, body: `{"name":"My DISCORD feed"}`, status: 400, code: 50035, has: `Username cannot contain \"discord\"`},
		{name: "no name", method: "POST", path: in, body: `{"name":""}`, status: 400, code: 50035},
		{name: "no image", method: "POST", path: in, body: `{"name":"Feed","avatar":"https://a.example/i.png"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "full", method: "POST", path: in, body: `{"name":"Feed"}`, status: 400, code: 30007, before: full},
		{name: "rename", method: "PATCH", path: one, body: `{"name":"News"}`, status: 200, has: `"name":"News"`, after: recorded(auditWebhookUpdate, BotID)},
		{name: "move", method: "PATCH", path: one, body: `{"channel_id":"{general}"}`, status: 200, has: `"channel_id":"{general}"`},
		{name: "move to where the bot may not", method: "PATCH", path: one, body: `{"channel_id":"{clubgeneral}"}`, status: 403, code: 50013},
		{name: "move to a full channel", method: "PATCH", path: one, body: `{"channel_id":"{general}"}`, status: 400, code: 30007, before: full},
		{name: "rename by token", method: "PATCH", path: own, body: `{"name":"News"}`, status: 200, has: `"channel_id":"{news}"`, after: recorded(auditWebhookUpdate, "")},
		{name: "delete", method: "DELETE", path: one, status: 204, after: recorded(auditWebhookDelete, BotID)},
		{name: "delete by token", method: "DELETE", path: own, status: 204, after: recorded(auditWebhookDelete, "")},
		{name: "delete by another token", method: "DELETE", path: one + "/x", status: 401, code: 50027},
	})
}

func TestWebhookMessages(t *testing.T) {
	t.Parallel()
	const own = "/webhooks/{hook}/{hooktoken}"
	const sent discord.MessageID = "1510976205619200001"
	inForum := func(d *Discord) { d.MoveWebhook(DemoWebhook, DemoHelp) }
	inGeneral := func(d *Discord) { d.MoveWebhook(DemoWebhook, DemoGeneral) }
	wrote := func(in discord.ChannelID) func(*Discord) {
		return func(d *Discord) {
			inGeneral(d)
			d.AddMessage(in, Message{ID: sent, Author: discord.UserID(DemoWebhook), Webhook: DemoWebhook, AuthorName: "Release feed", Content: "1.4.3"})
		}
	}
	latest := func(in discord.ChannelID, want func(Message) bool) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			all := d.Messages(in)
			if len(all) == 0 || !want(all[len(all)-1]) {
				t.Errorf("the latest message is %+v", all[max(0, len(all)-1):])
			}
		}
	}
	button := `"components":[{"type":1,"components":[{"type":2,"style":1,"label":"Ok","custom_id":"ok"}]}]`
	rows(t, []row{
		{name: "without wait", method: "POST", path: own, body: `{"content":"1.4.3"}`, status: 204, after: latest(DemoAnnouncements, func(m Message) bool {
			return m.Content == "1.4.3" && m.Webhook == DemoWebhook && m.AuthorName == "Release feed"
		})},
		{name: "with wait", method: "POST", path: own + "?wait=true", body: `{"content":"1.4.3","username":"Foghorn"}`, status: 200, has: `"username":"Foghorn"`},
		{name: "it may mention all", method: "POST", path: own, body: `{"content":"@everyone"}`, status: 204, after: latest(DemoAnnouncements, func(m Message) bool { return m.Notified.Everyone })},
		{name: "and is told not to", method: "POST", path: own, body: `{"content":"@everyone","allowed_mentions":{"parse":[]}}`, status: 204, after: latest(DemoAnnouncements, func(m Message) bool { return m.Notified.Nobody() })},
		{name: "nothing", method: "POST", path: own, body: `{}`, status: 400, code: 50006},
		{name: "a name that Discord keeps", method: "POST", path: own, body: `{"content":"x","username":"clyde"}`, status: 400, code: 50035},
		{name: "by another token", method: "POST", path: "/webhooks/{hook}/x", body: `{"content":"x"}`, status: 401, code: 50027},
		{name: "unknown", method: "POST", path: "/webhooks/{nowhere}/x", body: `{"content":"x"}`, status: 404, code: 10015},
		{name: "a person's webhook drops components", method: "POST", path: own + "?wait=true", body: `{"content":"x",` + button + `}`, status: 200, has: `"components":[]`},
		{name: "unless asked", method: "POST", path: own + "?wait=true&with_components=true", body: `{"content":"x",` + button + `}`, status: 200, has: `"custom_id":"ok"`},
		{name: "an application's keeps them", method: "POST", path: own + "?wait=true", body: `{"content":"x",` + button + `}`, status: 200, has: `"custom_id":"ok"`, before: func(d *Discord) {
			d.world.webhooks[DemoWebhook].By = BotID
		}},
		{name: "into a thread", method: "POST", path: own + "?wait=true&thread_id={thread}", body: `{"content":"x"}`, status: 200, has: `"channel_id":"{thread}"`, before: inGeneral,
			after: func(t *testing.T, d *Discord) {
				if c, _ := d.Channel(DemoThread); len(c.Thread.Members) != 2 {
					t.Errorf("it joined: %+v", c.Thread.Members)
				}
			}},
		{name: "into another channel's thread", method: "POST", path: own + "?thread_id={thread}", body: `{"content":"x"}`, status: 404, code: 10003},
		{name: "into a forum", method: "POST", path: own, body: `{"content":"x"}`, status: 400, code: 220001, before: inForum},
		{name: "into a post", method: "POST", path: own + "?wait=true&thread_id={post}", body: `{"content":"x"}`, status: 200, has: `"channel_id":"{post}"`, before: inForum},
		{name: "a post", method: "POST", path: own + "?wait=true", body: `{"content":"x","thread_name":"Fog","applied_tags":["{bug}"]}`, status: 200, before: inForum,
			after: func(t *testing.T, d *Discord) {
				posts := d.Threads(DemoHelp)
				if p := posts[len(posts)-1]; p.Name != "Fog" || p.Thread.Owner != discord.UserID(DemoWebhook) || len(p.Thread.Members) != 0 || len(d.Messages(p.ID)) != 1 {
					t.Errorf("the post is %+v", p)
				}
			}},
		{name: "a post without the tag", method: "POST", path: own, body: `{"content":"x","thread_name":"Fog"}`, status: 400, code: 40067, before: inForum},
		{name: "a post in a post", method: "POST", path: own + "?thread_id={post}", body: `{"content":"x","thread_name":"Fog"}`, status: 400, code: 220002, before: inForum},
		{name: "a post in a text channel", method: "POST", path: own, body: `{"content":"x","thread_name":"Fog"}`, status: 400, code: 220003},
		{name: "read", method: "GET", path: own + "/messages/" + string(sent), status: 200, has: `"content":"1.4.3"`, before: wrote(DemoGeneral)},
		{name: "read in a thread", method: "GET", path: own + "/messages/" + string(sent) + "?thread_id={thread}", status: 200, has: `"content":"1.4.3"`, before: wrote(DemoThread)},
		{name: "read in a thread that is not named", method: "GET", path: own + "/messages/" + string(sent), status: 404, code: 10008, before: wrote(DemoThread)},
		{name: "read another's", method: "GET", path: own + "/messages/{mine}", status: 404, code: 10008, before: inGeneral},
		{name: "edit", method: "PATCH", path: own + "/messages/" + string(sent), body: `{"content":"1.4.4"}`, status: 200, has: `"content":"1.4.4"`, before: wrote(DemoGeneral)},
		{name: "edit to nothing", method: "PATCH", path: own + "/messages/" + string(sent), body: `{"content":null}`, status: 400, code: 50006, before: wrote(DemoGeneral)},
		{name: "delete", method: "DELETE", path: own + "/messages/" + string(sent), status: 204, before: wrote(DemoGeneral)},
		{name: "delete another's", method: "DELETE", path: own + "/messages/{mine}", status: 404, code: 10008, before: inGeneral},
		{name: "a webhook has no response", method: "GET", path: own + "/messages/@original", status: 404, code: 10008},
	})
}

func TestTokensNeedNoAuthorization(t *testing.T) {
	t.Parallel()
	d := demo(t)
	r := request(t, d, "GET", demoNames.Replace("/webhooks/{hook}/{hooktoken}"), "")
	r.Header.Del("Authorization")
	if status, reply := send(t, d, r); status != 200 {
		t.Errorf("status %d: %s", status, reply)
	}
	r = request(t, d, "GET", demoNames.Replace("/webhooks/{hook}"), "")
	r.Header.Del("Authorization")
	if status, reply := send(t, d, r); status != 401 {
		t.Errorf("status %d: %s", status, reply)
	}
}
