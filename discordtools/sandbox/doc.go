// Package sandbox is a stateful Discord in the process, behind an
// [http.RoundTripper]: for tests, demonstrations and trying things out, with no
// token and no network.
//
//	d := sandbox.Demo()
//	s := d.Session() // a *discordgo.Session that speaks with d
//	s.ChannelMessageSend(string(sandbox.DemoGeneral), "Ahoy!")
//	fmt.Println(len(d.Writes()), "write")
//
// It computes permissions and role order for real, validates bodies, answers
// Discord's own status and error codes, writes the audit log, and records every
// request ([Discord.Requests]) and whom each message pinged
// ([Message.Notified]). AutoMod refuses what people post ([Discord.PostAs]). [Options] sets the clock and rate limits, [Discord.Inject]
// breaks things on demand. [New] is empty, to be filled with the Add methods;
// [Demo] is furnished.
//
// It listens to any host under /api/v9 and /api/v10. What it does not imitate:
// the gateway, what happens with time alone (threads do not archive themselves,
// polls and events do not end), what people do by themselves (a test lets them
// use the bot with [Discord.AddInteraction]), what Discord's own models find in
// messages, and files' bytes.
//
// # Adding a route
//
// A route is one line in the table of its subject and one function. Tables are
// named in routes (route.go), nowhere else.
//
//		var topicRoutes = []route{
//			{method: "PUT", path: "/channels/{channel_id}/topic", handle: inChannel(discord.ManageChannels, putTopic)},
//		}
//
//		func putTopic(x *exchange, c *channel) (answer, error) {
//			var f struct {
//				Topic opt[string] `json:"topic" maxLength:"1024"`
//			}
//			if err := x.bind(&f); err != nil {
//				return refuse(err)
//			}
//			old := c.Topic
//			f.Topic.into(&c.Topic)
//			x.audit(c.Guild, auditChannelUpdate, string(c.ID), AuditOptions{}, changed("topic", old, c.Topic)...)
//			return ok(x.viewChannel(c))
//		}
//
//	  - The path has the parameter names of Discord's OpenAPI file. A parameter
//	    called ..._id is checked before the handler runs; read it with id. Set open
//	    where no Authorization is needed.
//	  - inChannel, inGuild, onMessage and inThread resolve the path and demand
//	    permissions: 10003, 10004, 10008, 50001, 50013. x.need and x.needInGuild
//	    demand more; g.outranks and g.above check role order.
//	  - x.bind decodes into a struct: a plain field is required, an opt keeps
//	    absent, null and zero apart, tags carry limits, all violations are reported
//	    at once (50035). What tags cannot say is added with invalid or a form.
//	    x.number, x.cursor, x.moment, x.flag and page read the query.
//	  - A handler checks everything before it changes anything.
//	  - Answers are view structs (ok, created, done); a pointer is a member that may
//	    be null. Errors of one subject are variables of its file.
//	  - New kinds of things are a type in world.go, a map in world or guild (made
//	    in newWorld or AddGuild), an Add method and a reader.
//	  - Tests are rows (see rows in support_test.go): one for success, one for each
//	    refusal. Every exchange is checked against the OpenAPI file where it is at
//	    hand: $DISCORD_OPENAPI, or ../shared/discord/openapi.json beside the project.
package sandbox
