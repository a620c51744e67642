package sandbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestStartThread(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "from a message", method: "POST", path: "/channels/{general}/messages/{poll}/threads", body: `{"name":"When"}`, status: 201, has: `"id":"{poll}","type":11`,
			after: func(t *testing.T, d *Discord) {
				m, _ := d.Message(DemoGeneral, DemoPoll)
				if m.Flags&flagHasThread == 0 || m.Thread != discord.ChannelID(DemoPoll) {
					t.Errorf("message %+v", m)
				}
			}},
		{name: "from a message that has one", method: "POST", path: "/channels/{general}/messages/{mine}/threads", body: `{"name":"When"}`, status: 400, code: 160004,
			before: setThread},
		{name: "from an announcement", method: "POST", path: "/channels/{news}/messages/{release}/threads", body: `{"name":"1.4"}`, status: 201, has: `"type":10`},
		{name: "from no message", method: "POST", path: "/channels/{general}/messages/{nowhere}/threads", body: `{"name":"When"}`, status: 404, code: 10008},
		{name: "from a message without the permission", method: "POST", path: "/channels/{general}/messages/{poll}/threads", body: `{"name":"When"}`, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.CreatePublicThreads) }},
		{name: "public", method: "POST", path: "/channels/{general}/threads", body: `{"name":"Open","type":11,"auto_archive_duration":60}`, status: 201, has: `"auto_archive_duration":60`},
		{name: "private by default", method: "POST", path: "/channels/{general}/threads", body: `{"name":"Closed"}`, status: 201, has: `"type":12`},
		{name: "private without the permission", method: "POST", path: "/channels/{general}/threads", body: `{"name":"Closed"}`, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.CreatePrivateThreads) }},
		{name: "private in an announcement channel", method: "POST", path: "/channels/{news}/threads", body: `{"name":"Closed","type":12}`, status: 400, code: 50024},
		{name: "in a category", method: "POST", path: "/channels/{category}/threads", body: `{"name":"x","type":11}`, status: 400, code: 50024},
		{name: "odd duration", method: "POST", path: "/channels/{general}/threads", body: `{"name":"x","type":11,"auto_archive_duration":61}`, status: 400, code: 50035, has: "BASE_TYPE_CHOICES"},
		{name: "no name", method: "POST", path: "/channels/{general}/threads", body: `{"type":11}`, status: 400, code: 50035},
		{name: "post", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{bug}"],"message":{"content":"It crashed, <@{member}>"}}`, status: 201, has: `"applied_tags":["{bug}"]`,
			after: func(t *testing.T, d *Discord) {
				all := d.Threads(DemoHelp)
				first := d.Messages(all[len(all)-1].ID)[0]
				if string(first.ID) != string(first.Channel) || !slices.Equal(first.Notified.Users, []discord.UserID{DemoMember}) {
					t.Errorf("first message %+v", first)
				}
			}},
		{name: "post without a tag", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","message":{"content":"x"}}`, status: 400, code: 40067},
		{name: "post with an unknown tag", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{nowhere}"],"message":{"content":"x"}}`, status: 404, code: 10087},
		{name: "post with a moderated tag", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{solved}"],"message":{"content":"x"}}`, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoHelp, discord.ManageThreads) }},
		{name: "post without a message", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{bug}"]}`, status: 400, code: 50035, has: `"message"`},
		{name: "post with an empty message", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{bug}"],"message":{}}`, status: 400, code: 50006},
		{name: "post without the permission", method: "POST", path: "/channels/{help}/threads", body: `{"name":"Crash","applied_tags":["{bug}"],"message":{"content":"x"}}`, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoHelp, discord.SendMessages) }},
	})
}

// setThread gives the bot's own message in general a thread.
func setThread(d *Discord) {
	_, m := d.world.channels[DemoGeneral].find(mine)
	m.Thread = DemoThread
}

func TestEditThread(t *testing.T) {
	t.Parallel()
	own := func(d *Discord) {
		deny(d, DemoGeneral, discord.ManageThreads)
		d.world.channels[DemoThread].Thread.Owner = BotID
	}
	rows(t, []row{
		{name: "archive and lock", method: "PATCH", path: "/channels/{thread}", body: `{"archived":true,"locked":true}`, status: 200, has: `"archived":true,"archive_timestamp":"2026-06-01T12:00:00.000000+00:00"`},
		{name: "unarchive and rename", method: "PATCH", path: "/channels/{archived}", body: `{"archived":false,"name":"Again"}`, status: 200, has: `"name":"Again"`},
		{name: "rename archived", method: "PATCH", path: "/channels/{archived}", body: `{"name":"Again"}`, status: 400, code: 50083},
		{name: "tags", method: "PATCH", path: "/channels/{post}", body: `{"applied_tags":["{bug}","{solved}"]}`, status: 200, has: `"applied_tags":["{bug}","{solved}"]`},
		{name: "the last tag", method: "PATCH", path: "/channels/{post}", body: `{"applied_tags":[]}`, status: 400, code: 40067},
		{name: "tags outside a forum", method: "PATCH", path: "/channels/{thread}", body: `{"applied_tags":["{bug}"]}`, status: 400, code: 50024},
		{name: "pin a post", method: "PATCH", path: "/channels/{post}", body: `{"flags":2}`, status: 200, has: `"flags":2`},
		{name: "its creator renames it", method: "PATCH", path: "/channels/{thread}", body: `{"name":"Mine"}`, status: 200, before: own},
		{name: "its creator cannot lock it", method: "PATCH", path: "/channels/{thread}", body: `{"locked":true}`, status: 403, code: 50013, before: own},
		{name: "someone else's", method: "PATCH", path: "/channels/{thread}", body: `{"name":"Mine"}`, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ManageThreads) }},
		{name: "anyone opens it again", method: "PATCH", path: "/channels/{archived}", body: `{"archived":false}`, status: 200,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ManageThreads) }},
		{name: "not when it is locked", method: "PATCH", path: "/channels/{archived}", body: `{"archived":false}`, status: 403, code: 50013,
			before: func(d *Discord) {
				deny(d, DemoGeneral, discord.ManageThreads)
				d.world.channels[DemoArchived].Thread.Locked = true
			}},
		{name: "writing in a locked one", method: "POST", path: "/channels/{archived}/messages", body: `{"content":"x"}`, status: 400, code: 160005,
			before: func(d *Discord) {
				deny(d, DemoGeneral, discord.ManageThreads)
				d.world.channels[DemoArchived].Thread.Locked = true
			}},
	})
}

func TestThreadMembers(t *testing.T) {
	t.Parallel()
	members := func(who ...discord.UserID) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			c, _ := d.Channel(DemoThread)
			var got []discord.UserID
			for _, m := range c.Thread.Members {
				got = append(got, m.User)
			}
			if !slices.Equal(got, who) {
				t.Errorf("members %v, want %v", got, who)
			}
		}
	}
	const path = "/channels/{thread}/thread-members"
	rows(t, []row{
		{name: "list", method: "GET", path: path, status: 200, has: `"user_id":"{member}"`},
		{name: "list with members", method: "GET", path: path + "?with_member=true&limit=1&after={bot}", status: 200, has: `"nick":"Tomo"`},
		{name: "list of a channel", method: "GET", path: "/channels/{general}/thread-members", status: 400, code: 50024},
		{name: "one", method: "GET", path: path + "/{member}?with_member=true", status: 200, has: `"nick":"Tomo"`},
		{name: "no member", method: "GET", path: path + "/{mod}", status: 404, code: 10007},
		{name: "join again", method: "PUT", path: path + "/@me", status: 204, after: members(DemoMember, BotID)},
		{name: "join archived", method: "PUT", path: "/channels/{archived}/thread-members/@me", status: 400, code: 50083},
		{name: "leave", method: "DELETE", path: path + "/@me", status: 204, after: members(DemoMember)},
		{name: "add", method: "PUT", path: path + "/{mod}", status: 204, after: members(DemoMember, BotID, DemoModerator)},
		{name: "add a stranger", method: "PUT", path: path + "/{reader}", status: 404, code: 10007},
		{name: "add nobody", method: "PUT", path: path + "/{nowhere}", status: 404, code: 10013},
		{name: "add to archived", method: "PUT", path: "/channels/{archived}/thread-members/{mod}", status: 400, code: 50083},
		{name: "remove", method: "DELETE", path: path + "/{member}", status: 204, after: members(BotID)},
		{name: "remove without the permission", method: "DELETE", path: path + "/{member}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ManageThreads) }},
	})
}

type threadsReply struct {
	Threads []struct {
		ID discord.ChannelID `json:"id"`
	} `json:"threads"`
	Members []struct {
		ID discord.ChannelID `json:"id"`
	} `json:"members"`
	More bool `json:"has_more"`
}

func TestListThreads(t *testing.T) {
	t.Parallel()
	d := demo(t)
	hidden := d.AddChannel(Channel{Guild: DemoGuild, Type: discord.PublicThread, Name: "secret", Parent: DemoStaff})
	var private []discord.ChannelID
	for i := range 3 {
		private = append(private, d.AddChannel(Channel{
			Guild: DemoGuild, Type: discord.PrivateThread, Name: fmt.Sprint("p", i), Parent: DemoGeneral,
			Thread: &Thread{Owner: DemoMember, Archived: true, ArchivedAt: noon.Add(time.Duration(i) * time.Hour), Members: []ThreadMember{{BotID, noon}}},
		}))
	}
	list := func(path string) (out []discord.ChannelID, reply threadsReply) {
		t.Helper()
		reply = get[threadsReply](t, d, "GET", path, "")
		for _, thread := range reply.Threads {
			out = append(out, thread.ID)
		}
		return out, reply
	}
	general := "/channels/" + string(DemoGeneral)

	active, reply := list("/guilds/" + string(DemoGuild) + "/threads/active")
	if !slices.Equal(active, []discord.ChannelID{DemoPost, DemoThread}) || slices.Contains(active, hidden) {
		t.Errorf("active %v", active)
	}
	if len(reply.Members) != 1 || reply.Members[0].ID != DemoThread {
		t.Errorf("own memberships %v", reply.Members)
	}
	if got, _ := list(general + "/threads/archived/public"); !slices.Equal(got, []discord.ChannelID{DemoArchived}) {
		t.Errorf("public %v", got)
	}
	if got, _ := list(general + "/threads/archived/public?before=2020-01-01T00:00:00Z"); got != nil {
		t.Errorf("public before 2020 %v", got)
	}
	got, reply := list(general + "/threads/archived/private?limit=2")
	if !slices.Equal(got, []discord.ChannelID{private[2], private[1]}) || !reply.More {
		t.Errorf("private %v, more %t", got, reply.More)
	}
	got, reply = list(general + "/threads/archived/private?limit=2&before=2026-06-01T13:00:00%2B00:00")
	if !slices.Equal(got, []discord.ChannelID{private[0]}) || reply.More {
		t.Errorf("private before one o'clock %v, more %t", got, reply.More)
	}
	if got, _ := list(general + "/users/@me/threads/archived/private?before=" + string(private[2])); !slices.Equal(got, []discord.ChannelID{private[1], private[0]}) {
		t.Errorf("own private %v", got)
	}
	deny(d, DemoGeneral, discord.ManageThreads)
	if status, _ := do(t, d, "GET", general+"/threads/archived/private", ""); status != 403 {
		t.Errorf("private without MANAGE_THREADS: %d", status)
	}
	if status, _ := do(t, d, "GET", general+"/threads/archived/public?limit=1", ""); status != 400 {
		t.Errorf("limit 1: %d", status)
	}
}
