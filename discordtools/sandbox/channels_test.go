package sandbox

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestGuildsAndMembers(t *testing.T) {
	t.Parallel()
	outside := func(d *Discord) { delete(d.world.guilds[DemoClub].members, BotID) }
	rows(t, []row{
		{name: "me", method: "GET", path: "/users/@me", status: 200, has: `"username":"Guildwarden Demo"`},
		{name: "my guilds", method: "GET", path: "/users/@me/guilds", status: 200, has: `"name":"Harbour Book Club"`},
		{name: "my guilds with counts", method: "GET", path: "/users/@me/guilds?with_counts=true&limit=1", status: 200, has: `"approximate_member_count":7`},
		{name: "my guilds after the first", method: "GET", path: "/users/@me/guilds?after={guild}", status: 200, has: `[{"id":"{club}"`},
		{name: "my guilds, bad limit", method: "GET", path: "/users/@me/guilds?limit=201", status: 400, code: 50035},
		{name: "guild", method: "GET", path: "/guilds/{guild}", status: 200, has: `"name":"Lighthouse Games"`},
		{name: "guild with counts", method: "GET", path: "/guilds/{guild}?with_counts=true", status: 200, has: `"approximate_member_count":7`},
		{name: "unknown guild", method: "GET", path: "/guilds/{nowhere}", status: 404, code: 10004},
		{name: "a guild without the bot", method: "GET", path: "/guilds/{club}", status: 403, code: 50001, before: outside},
		{name: "roles", method: "GET", path: "/guilds/{guild}/roles", status: 200, has: `"tags":{"bot_id":"{bot}"}`},
		{name: "member", method: "GET", path: "/guilds/{guild}/members/{member}", status: 200, has: `"nick":"Tomo"`},
		{name: "no member", method: "GET", path: "/guilds/{guild}/members/{reader}", status: 404, code: 10007},
		{name: "no user", method: "GET", path: "/guilds/{guild}/members/{nowhere}", status: 404, code: 10013},
		{name: "channels", method: "GET", path: "/guilds/{guild}/channels", status: 200, has: `"available_tags":[{`},
	})
}

func TestCreateChannel(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/channels"
	rows(t, []row{
		{name: "text", method: "POST", path: path, body: `{"name":"Big News","topic":"t","parent_id":"{category}"}`, status: 201, has: `"name":"big-news"`,
			after: func(t *testing.T, d *Discord) {
				log := d.AuditLog(DemoGuild)
				c, ok := d.Channel(discord.ChannelID(log[0].Target))
				if !ok || log[0].Action != auditChannelCreate || c.Parent != DemoCommunity {
					t.Errorf("channel %+v, audit log %+v", c, log)
				}
				if len(c.Overwrites) != 1 || c.Overwrites[0].ID != discord.OverwriteID(DemoMutedRole) {
					t.Errorf("the category's overwrites were not taken over: %+v", c.Overwrites)
				}
			}},
		{name: "voice", method: "POST", path: path, body: `{"name":"Den","type":2,"bitrate":96000,"user_limit":5}`, status: 201, has: `"bitrate":96000`},
		{name: "voice with a bitrate of a boosted guild", method: "POST", path: path, body: `{"name":"Den","type":2,"bitrate":256000}`, status: 400, code: 50035, has: `"bitrate"`},
		{name: "forum", method: "POST", path: path, body: `{"name":"Ideas","type":15,"available_tags":[{"name":"New","emoji_name":"💡"}],"default_sort_order":1,"default_forum_layout":2}`, status: 201, has: `"emoji_name":"💡"`},
		{name: "media", method: "POST", path: path, body: `{"name":"Pictures","type":16}`, status: 201, has: `"type":16`},
		{name: "forum without COMMUNITY", method: "POST", path: path, body: `{"name":"Ideas","type":15}`, status: 400, code: 50035, has: `"type"`,
			before: func(d *Discord) { d.world.guilds[DemoGuild].Features = nil }},
		{name: "private", method: "POST", path: path, body: `{"name":"x","permission_overwrites":[{"id":"{everyone}","type":0,"deny":"1024"},{"id":"{member}","type":1,"allow":"1024"}]}`, status: 201, has: `"deny":"1024"`},
		{name: "gives what the bot lacks", method: "POST", path: path, body: `{"name":"x","permission_overwrites":[{"id":"{mods}","type":0,"allow":"8"}]}`, status: 403, code: 50013},
		{name: "overwrite of no role", method: "POST", path: path, body: `{"name":"x","permission_overwrites":[{"id":"{nowhere}","type":0,"allow":"0"}]}`, status: 404, code: 10009},
		{name: "no name", method: "POST", path: path, body: `{"topic":"x"}`, status: 400, code: 50035, has: `"name":{"_errors":[{"code":"BASE_TYPE_REQUIRED"`},
		{name: "all violations at once", method: "POST", path: path, body: `{"name":"","rate_limit_per_user":-1,"type":99}`, status: 400, code: 50035, has: `"rate_limit_per_user"`},
		{name: "name too long", method: "POST", path: path, body: `{"name":"` + strings.Repeat("n", 101) + `"}`, status: 400, code: 50035, has: "between 1 and 100"},
		{name: "parent is no category", method: "POST", path: path, body: `{"name":"x","parent_id":"{general}"}`, status: 400, code: 50035, has: "CHANNEL_PARENT_INVALID_TYPE"},
		{name: "parent does not exist", method: "POST", path: path, body: `{"name":"x","parent_id":"{nowhere}"}`, status: 400, code: 50035, has: "CHANNEL_PARENT_INVALID"},
		{name: "full category", method: "POST", path: path, body: `{"name":"x","parent_id":"{category}"}`, status: 400, code: 50035, has: "CHANNEL_PARENT_MAX_CHANNELS",
			before: func(d *Discord) {
				for range 50 {
					d.AddChannel(Channel{Guild: DemoGuild, Type: discord.GuildText, Name: "x", Parent: DemoCommunity})
				}
			}},
		{name: "full guild", method: "POST", path: path, body: `{"name":"x"}`, status: 400, code: 30013,
			before: func(d *Discord) {
				for range 500 {
					d.AddChannel(Channel{Guild: DemoGuild, Type: discord.GuildText, Name: "x"})
				}
			}},
		{name: "without the permission", method: "POST", path: "/guilds/{club}/channels", body: `{"name":"x"}`, status: 403, code: 50013},
	})
}

func TestEditChannel(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "get", method: "GET", path: "/channels/{general}", status: 200, has: `"topic":"Anything about our games`},
		{name: "get hidden", method: "GET", path: "/channels/{staff}", status: 403, code: 50001},
		{name: "topic and slow mode", method: "PATCH", path: "/channels/{general}", body: `{"topic":"new","rate_limit_per_user":10}`, status: 200, has: `"topic":"new"`,
			after: func(t *testing.T, d *Discord) {
				c, _ := d.Channel(DemoGeneral)
				if c.SlowMode != 10 || c.Name != "general" || c.Parent != DemoCommunity {
					t.Errorf("channel %+v", c)
				}
				if log := d.AuditLog(DemoGuild); len(log) != 1 || len(log[0].Changes) != 2 {
					t.Errorf("audit log %+v", log)
				}
			}},
		{name: "zero is a value", method: "PATCH", path: "/channels/{showcase}", body: `{"rate_limit_per_user":0}`, status: 200, has: `"rate_limit_per_user":0`},
		{name: "null clears", method: "PATCH", path: "/channels/{general}", body: `{"topic":null,"parent_id":null}`, status: 200, has: `"parent_id":null`},
		{name: "name cannot be cleared", method: "PATCH", path: "/channels/{general}", body: `{"name":null}`, status: 400, code: 50035},
		{name: "topic too long", method: "PATCH", path: "/channels/{general}", body: `{"topic":"` + strings.Repeat("t", 1025) + `"}`, status: 400, code: 50035, has: "1024 or fewer"},
		{name: "a forum's topic is longer", method: "PATCH", path: "/channels/{help}", body: `{"topic":"` + strings.Repeat("t", 1025) + `"}`, status: 200},
		{name: "text to announcement", method: "PATCH", path: "/channels/{general}", body: `{"type":5}`, status: 200, has: `"type":5`},
		{name: "text to voice", method: "PATCH", path: "/channels/{general}", body: `{"type":2}`, status: 400, code: 50024},
		{name: "tags keep their ids", method: "PATCH", path: "/channels/{help}", body: `{"available_tags":[{"id":"{bug}","name":"Defect"},{"name":"Art"}]}`, status: 200, has: `{"id":"{bug}","name":"Defect"`},
		{name: "unknown tag", method: "PATCH", path: "/channels/{help}", body: `{"available_tags":[{"id":"{nowhere}","name":"Defect"}]}`, status: 400, code: 50035},
		{name: "without the permission", method: "PATCH", path: "/channels/{clubgeneral}", body: `{"topic":"x"}`, status: 403, code: 50013},
		{name: "hidden", method: "PATCH", path: "/channels/{staff}", body: `{"topic":"x"}`, status: 403, code: 50001},
	})
}

func TestDeleteChannel(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "takes its threads along", method: "DELETE", path: "/channels/{general}", status: 200, has: `"id":"{general}"`,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.Channel(DemoThread); there {
					t.Error("the thread is still there")
				}
				if g, _ := d.Guild(DemoGuild); g.SystemChannel != "" {
					t.Error("it is still the system channel")
				}
			}},
		{name: "a category leaves its channels", method: "DELETE", path: "/channels/{category}", status: 200,
			after: func(t *testing.T, d *Discord) {
				if c, there := d.Channel(DemoGeneral); !there || c.Parent != "" {
					t.Errorf("channel %+v", c)
				}
			}},
		{name: "rules of a community", method: "DELETE", path: "/channels/{rules}", status: 400, code: 50074},
		{name: "thread", method: "DELETE", path: "/channels/{thread}", status: 200, has: `"thread_metadata"`,
			after: func(t *testing.T, d *Discord) {
				if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditThreadDelete {
					t.Errorf("audit log %+v", log)
				}
			}},
		{name: "unknown", method: "DELETE", path: "/channels/{nowhere}", status: 404, code: 10003},
		{name: "without the permission", method: "DELETE", path: "/channels/{clubgeneral}", status: 403, code: 50013},
		{name: "voice without CONNECT", method: "DELETE", path: "/channels/{lounge}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoLounge, discord.Connect) }},
		{name: "voice", method: "DELETE", path: "/channels/{lounge}", status: 200},
	})
}

func TestOverwrites(t *testing.T) {
	t.Parallel()
	const path = "/channels/{general}/permissions/"
	over := func(d *Discord, id discord.OverwriteID) (o discord.Overwrite) {
		c, _ := d.Channel(DemoGeneral)
		for _, o = range c.Overwrites {
			if o.ID == id {
				return o
			}
		}
		return discord.Overwrite{}
	}
	rows(t, []row{
		{name: "new", method: "PUT", path: path + "{mods}", body: `{"type":0,"allow":"2048","deny":"64"}`, status: 204,
			after: func(t *testing.T, d *Discord) {
				if o := over(d, discord.OverwriteID(DemoModeratorRole)); o.Allow != discord.SendMessages || o.Deny != discord.AddReactions {
					t.Errorf("overwrite %+v", o)
				}
				if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditOverwriteCreate || log[0].Options.RoleName != "Moderator" {
					t.Errorf("audit log %+v", log)
				}
			}},
		{name: "replaces", method: "PUT", path: path + "{muted}", body: `{"type":0,"deny":"64"}`, status: 204,
			after: func(t *testing.T, d *Discord) {
				if o := over(d, discord.OverwriteID(DemoMutedRole)); o.Deny != discord.AddReactions {
					t.Errorf("overwrite %+v", o)
				}
			}},
		{name: "member", method: "PUT", path: path + "{member}", body: `{"type":1,"deny":"2048"}`, status: 204},
		{name: "no such role", method: "PUT", path: path + "{nowhere}", body: `{"type":0,"deny":"64"}`, status: 404, code: 10009},
		{name: "not a set", method: "PUT", path: path + "{mods}", body: `{"type":0,"deny":"SEND"}`, status: 400, code: 50035, has: `"deny"`},
		{name: "gives what the bot lacks", method: "PUT", path: path + "{mods}", body: `{"type":0,"allow":"8"}`, status: 403, code: 50013},
		{name: "MANAGE_ROLES is not the bot's to give", method: "PUT", path: path + "{mods}", body: `{"type":0,"allow":"268435456"}`, status: 403, code: 50013},
		{name: "unless the channel gives it to the bot", method: "PUT", path: path + "{mods}", body: `{"type":0,"allow":"268435456"}`, status: 204,
			before: func(d *Discord) {
				c := d.world.channels[DemoGeneral]
				c.Overwrites = append(c.Overwrites, discord.Overwrite{ID: discord.OverwriteID(BotID), Type: 1, Allow: discord.ManageRoles})
			}},
		{name: "in a thread", method: "PUT", path: "/channels/{thread}/permissions/{mods}", body: `{"type":0}`, status: 400, code: 50024},
		{name: "without the permission", method: "PUT", path: "/channels/{clubgeneral}/permissions/{club}", body: `{"type":0}`, status: 403, code: 50013},
		{name: "delete", method: "DELETE", path: path + "{muted}", status: 204,
			after: func(t *testing.T, d *Discord) {
				if o := over(d, discord.OverwriteID(DemoMutedRole)); o.ID != "" {
					t.Errorf("overwrite %+v", o)
				}
			}},
		{name: "delete nothing", method: "DELETE", path: path + "{mods}", status: 404, code: 10009},
	})
}

func TestTypingAndFollowing(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "typing", method: "POST", path: "/channels/{general}/typing", status: 204},
		{name: "typing where it may not write", method: "POST", path: "/channels/{reads}/typing", status: 403, code: 50013},
		{name: "follow", method: "POST", path: "/channels/{news}/followers", body: `{"webhook_channel_id":"{general}"}`, status: 200, has: `"channel_id":"{news}"`,
			after: func(t *testing.T, d *Discord) {
				if all := d.Webhooks(DemoGuild); len(all) != 2 || all[1].Source != DemoAnnouncements || all[1].Channel != DemoGeneral {
					t.Errorf("webhooks %+v", all)
				}
			}},
		{name: "follow a text channel", method: "POST", path: "/channels/{general}/followers", body: `{"webhook_channel_id":"{general}"}`, status: 400, code: 50024},
		{name: "follow from where it may not", method: "POST", path: "/channels/{news}/followers", body: `{"webhook_channel_id":"{clubgeneral}"}`, status: 403, code: 50013},
		{name: "follow into nothing", method: "POST", path: "/channels/{news}/followers", body: `{"webhook_channel_id":"{nowhere}"}`, status: 404, code: 10003},
		{name: "too many webhooks", method: "POST", path: "/channels/{news}/followers", body: `{"webhook_channel_id":"{general}"}`, status: 400, code: 30007,
			before: func(d *Discord) {
				for range 15 {
					id := discord.WebhookID(d.IDAt(noon))
					d.world.webhooks[id] = &Webhook{ID: id, Type: 1, Guild: DemoGuild, Channel: DemoGeneral}
				}
			}},
	})
}

func TestMoveChannels(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/channels"
	rows(t, []row{
		{name: "positions", method: "PATCH", path: path, body: `[{"id":"{showcase}","position":0},{"id":"{general}","position":1}]`, status: 204,
			after: func(t *testing.T, d *Discord) {
				c, _ := d.Channel(DemoShowcase)
				if e := d.AuditLog(DemoGuild); c.Position != 0 || c.Parent != DemoCommunity || len(e) != 2 || e[0].Action != auditChannelUpdate {
					t.Errorf("it stands at %d in %s; audit log %+v", c.Position, c.Parent, e)
				}
			}},
		{name: "into a category, with its own overwrites", method: "PATCH", path: path, body: `[{"id":"{rules}","position":0,"parent_id":"{category}","lock_permissions":false}]`, status: 204,
			after: func(t *testing.T, d *Discord) {
				if c, _ := d.Channel(DemoRules); c.Parent != DemoCommunity || len(c.Overwrites) != 3 {
					t.Errorf("it is %+v", c)
				}
			}},
		{name: "into a category, with those of it", method: "PATCH", path: path, body: `[{"id":"{rules}","parent_id":"{category}","lock_permissions":true}]`, status: 204,
			after: func(t *testing.T, d *Discord) {
				if c, _ := d.Channel(DemoRules); c.Position != 5 || len(c.Overwrites) != 1 {
					t.Errorf("it is %+v", c)
				}
			}},
		{name: "out of its category", method: "PATCH", path: path, body: `[{"id":"{general}","position":0,"parent_id":null}]`, status: 204,
			after: func(t *testing.T, d *Discord) {
				if c, _ := d.Channel(DemoGeneral); c.Parent != "" {
					t.Errorf("it is in %s", c.Parent)
				}
			}},
		{name: "unknown", method: "PATCH", path: path, body: `[{"id":"{nowhere}","position":0}]`, status: 404, code: 10003},
		{name: "a thread", method: "PATCH", path: path, body: `[{"id":"{thread}","position":0}]`, status: 404, code: 10003},
		{name: "into no category", method: "PATCH", path: path, body: `[{"id":"{general}","parent_id":"{rules}"}]`, status: 400, code: 50035, has: "CHANNEL_PARENT_INVALID"},
		{name: "below the first", method: "PATCH", path: path, body: `[{"id":"{general}","position":-1}]`, status: 400, code: 50035},
		{name: "without the permission", method: "PATCH", path: path, body: `[{"id":"{general}","position":0}]`, status: 403, code: 50013, before: mayNot(discord.ManageChannels)},
		{name: "with it in the channel", method: "PATCH", path: path, body: `[{"id":"{general}","position":0}]`, status: 204, before: func(d *Discord) {
			mayNot(discord.ManageChannels)(d)
			d.SetOverwrite(DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(DemoBotRole), Allow: discord.ManageChannels})
		}},
	})
}
