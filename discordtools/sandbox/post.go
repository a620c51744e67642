package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Refused is a refusal of Discord's, as its client would show one.
type Refused struct {
	Status  int // of HTTP
	Code    int // Discord's own
	Message string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d (%d): %s", r.Status, r.Code, r.Message) }

// PostAs sends a text as a person, with their permissions and past the guild's
// AutoMod. A refusal is a [*Refused]. [Discord.AddMessage] asks nobody.
func (d *Discord) PostAs(by discord.UserID, in discord.ChannelID, text string) (discord.MessageID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.users, by)
	body, err := json.Marshal(struct {
		Content string `json:"content"`
	}{text})
	if err != nil {
		return "", err
	}
	x := &exchange{
		world: &d.world, options: d.options, query: url.Values{}, header: http.Header{}, body: body, now: d.options.Clock(), actor: by,
	}
	c, err := x.channel(in)
	if err != nil {
		return "", refused(err)
	}
	reply, err := createMessage(x, c)
	if err != nil {
		return "", refused(err)
	}
	return reply.body.(messageView).ID, nil
}

func refused(err error) error {
	if e, ok := errors.AsType[*apiError](err); ok {
		return &Refused{e.status, e.code, e.message}
	}
	return err
}
