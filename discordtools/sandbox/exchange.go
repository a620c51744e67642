package sandbox

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// exchange is a request being executed, with the world locked.
type exchange struct {
	*world
	options Options
	route   *route
	params  map[string]string
	query   url.Values
	header  http.Header
	body    []byte // the JSON part
	files   []upload
	now     time.Time
	actor   discord.UserID // the bot, unless a webhook acts by its token or a person by their access token
	byToken bool           // it acts by the token in the path, which no permission limits
}

// answer is what a handler gives back.
type answer struct {
	status int
	body   any    // marshalled; nil is an empty body
	raw    []byte // sent as it is, with kind
	kind   string // content type of raw
}

// ok answers 200 with a body.
func ok(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

// created answers 201 with a body.
func created(body any) (answer, error) { return answer{status: http.StatusCreated, body: body}, nil }

// done answers 204.
func done() (answer, error) { return answer{status: http.StatusNoContent}, nil }

// refuse answers an error.
func refuse(err error) (answer, error) { return answer{}, err }

// bind decodes the JSON body into the struct that dst points to.
func (x *exchange) bind(dst any) error { return bind(x.body, dst) }

// id is a path parameter as an identifier of the wanted type. Parameters called
// ..._id were checked before the handler runs.
func id[ID ~string](x *exchange, name string) ID { return ID(x.params[name]) }

// Resolvers turn path parameters into what they name and demand permissions.
// They wrap a handler in its route's declaration:
//
//	{method: "GET", path: "/channels/{channel_id}", handle: inChannel(discord.ViewChannel, getChannel)},

// inGuild resolves {guild_id}, of which the bot must be a member with every
// permission of need.
func inGuild(need discord.Permissions, handle func(*exchange, *guild) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		g, err := x.guild(id[discord.GuildID](x, "guild_id"))
		if err != nil {
			return refuse(err)
		}
		if err := x.needInGuild(g, need); err != nil {
			return refuse(err)
		}
		return handle(x, g)
	}
}

// inChannel resolves {channel_id}, which the bot must see, and in which it must
// have every permission of need.
func inChannel(need discord.Permissions, handle func(*exchange, *channel) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		c, err := x.channel(id[discord.ChannelID](x, "channel_id"))
		if err != nil {
			return refuse(err)
		}
		if err := x.need(c, need); err != nil {
			return refuse(err)
		}
		return handle(x, c)
	}
}

// onMessage resolves {channel_id} and {message_id}, with need in the channel.
func onMessage(need discord.Permissions, handle func(*exchange, *channel, *Message) (answer, error)) handler {
	return inChannel(need, func(x *exchange, c *channel) (answer, error) {
		_, m := c.find(id[discord.MessageID](x, "message_id"))
		if m == nil {
			return refuse(errUnknownMessage)
		}
		return handle(x, c, m)
	})
}

// guild is a guild of which the bot is a member.
func (x *exchange) guild(id discord.GuildID) (*guild, error) {
	g := x.guilds[id]
	switch {
	case g == nil:
		return nil, errUnknownGuild
	case g.members[x.actor] == nil:
		return nil, errMissingAccess
	}
	return g, nil
}

// channel is a channel that the bot can see.
func (x *exchange) channel(id discord.ChannelID) (*channel, error) {
	c := x.channels[id]
	switch {
	case c == nil:
		return nil, errUnknownChannel
	case !x.inChannel(c, x.actor).Has(discord.ViewChannel):
		return nil, errMissingAccess
	}
	return c, nil
}

// need demands permissions of the bot in a channel: 50001 without VIEW_CHANNEL,
// 50013 without any other.
func (x *exchange) need(c *channel, want discord.Permissions) error {
	held := x.inChannel(c, x.actor)
	switch {
	case x.byToken:
		return nil
	case !held.Has(discord.ViewChannel):
		return errMissingAccess
	case !held.Has(want):
		return errMissingPermissions
	}
	return nil
}

// needInGuild demands permissions of the bot in a guild.
func (x *exchange) needInGuild(g *guild, want discord.Permissions) error {
	if !x.world.inGuild(g, x.actor).Has(want) {
		return errMissingPermissions
	}
	return nil
}

// allowed reports whether who acts has permissions in a channel.
func (x *exchange) allowed(c *channel, want discord.Permissions) bool {
	return x.byToken || x.inChannel(c, x.actor).Has(want)
}

// number is a query parameter between low and high, def when absent.
func (x *exchange) number(name string, def, low, high int) (int, error) {
	s := x.query.Get(name)
	if s == "" {
		return def, nil
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, invalid(name, "NUMBER_TYPE_COERCE", "Value %q is not int.", s)
	case n < low:
		return 0, invalid(name, "NUMBER_TYPE_MIN", "int value should be greater than or equal to %d.", low)
	case n > high:
		return 0, invalid(name, "NUMBER_TYPE_MAX", "int value should be less than or equal to %d.", high)
	}
	return n, nil
}

// cursor is a snowflake in the query, "" when absent.
func (x *exchange) cursor(name string) (string, error) {
	s := x.query.Get(name)
	if s == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return "", invalid(name, "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", s)
	}
	return s, nil
}

// moment is a point in time in the query, zero when absent.
func (x *exchange) moment(name string) (time.Time, error) {
	s := x.query.Get(name)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, invalid(name, "DATE_TIME_TYPE_PARSE", "Could not parse %s. Should be ISO8601.", s)
	}
	return t, nil
}

// flag is a boolean in the query, false when absent.
func (x *exchange) flag(name string) (bool, error) {
	switch s := x.query.Get(name); s {
	case "", "false", "False", "0":
		return false, nil
	case "true", "True", "1":
		return true, nil
	default:
		return false, invalid(name, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
	}
}

// page is the part of list, sorted ascending by key, that `before`, `after` and
// `limit` of the query ask for.
func page[T any](x *exchange, list []T, key func(T) string, def, most int) ([]T, error) {
	limit, err := x.number("limit", def, 1, most)
	if err != nil {
		return nil, err
	}
	before, err := x.cursor("before")
	if err != nil {
		return nil, err
	}
	after, err := x.cursor("after")
	if err != nil {
		return nil, err
	}
	var kept []T
	for _, item := range list {
		k := number(key(item))
		if before != "" && k >= number(before) || after != "" && k <= number(after) {
			continue
		}
		kept = append(kept, item)
	}
	if len(kept) <= limit {
		return kept, nil
	}
	if before != "" && after == "" {
		return kept[len(kept)-limit:], nil
	}
	return kept[:limit], nil
}
