package sandbox

import (
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// BotID is the bot user of every sandbox; as at Discord, its application has
// the same id: [ApplicationID].
const (
	BotID         discord.UserID        = "1100000000000000001"
	ApplicationID discord.ApplicationID = "1100000000000000001"
)

// Options choose how a [Discord] behaves. The zero value is a sandbox on the
// real clock whose application holds every privileged intent and is never rate
// limited.
type Options struct {
	// Clock gives the present. It is called with the sandbox locked and must
	// not call it back. Nil means time.Now. Before 2015, as in a testing/synctest
	// bubble, new ids are all of February 2015 and still in order.
	Clock func() time.Time

	// WithoutMessageContent takes the message content intent from the
	// application: contents of other people's messages are blank to it unless
	// they mention it or are direct messages.
	WithoutMessageContent bool

	// BotName is the bot's user name; "" means "Guildwarden".
	BotName string

	// Limits are rate limits to enforce, the first that matches a request
	// counting. Nil enforces none: headers still count down, but a window that
	// runs out begins anew.
	Limits []Limit
}

// Discord is a stateful Discord in the process. Create it with [New] or [Demo];
// it is safe for concurrent use. Requests are executed one at a time, so that
// each sees the whole effect of those before it.
type Discord struct {
	options Options
	token   string

	mu        sync.Mutex // guards all below
	world     world
	buckets   map[string]*bucket
	faults    []*Fault
	requests  []Request
	observers []func(Request)
}

// New is an empty Discord: one application with its bot user, no guild.
func New(o Options) *Discord {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.BotName == "" {
		o.BotName = "Guildwarden"
	}
	d := &Discord{
		options: o,
		token:   base64.RawURLEncoding.EncodeToString([]byte(BotID)) + ".sandbox.not-a-secret",
		world:   newWorld(o.Clock),
		buckets: map[string]*bucket{},
	}
	d.world.users[BotID] = &User{ID: BotID, Name: o.BotName, Bot: true, Discriminator: "0001"}
	return d
}

// Token is what the sandbox accepts as a bot token, without the "Bot " prefix.
func (d *Discord) Token() string { return d.token }

// Client is an HTTP client whose every request goes to the sandbox, whatever
// its host.
func (d *Discord) Client() *http.Client { return &http.Client{Transport: d} }

// Session is a new session that speaks with the sandbox. It has no gateway: do
// not call Open.
func (d *Discord) Session() *discordgo.Session {
	s, err := discordgo.New("Bot " + d.token)
	if err != nil { // New has no way to fail
		panic("sandbox: " + err.Error())
	}
	s.Client = d.Client()
	s.StateEnabled = false
	return s
}
