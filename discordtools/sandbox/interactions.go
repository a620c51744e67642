package sandbox

import (
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// interactionRoutes answer interactions; what follows goes to the routes of
// [webhookMessageRoutes].
//
// Source: https://docs.discord.com/developers/interactions/receiving-and-responding.
var interactionRoutes = []route{
	{method: "POST", path: "/interactions/{interaction_id}/{interaction_token}/callback", handle: respond, open: true},
}

const (
	toRespond = 3 * time.Second  // an interaction is answered within
	toFollow  = 15 * time.Minute // its token counts for
)

var (
	errUnknownInteraction = notFound(10062, "Unknown interaction")
	errAcknowledged       = badRequest(40060, "Interaction has already been acknowledged.")
)

// Types of interactions.
const (
	CommandInteraction      = 2
	ComponentInteraction    = 3
	AutocompleteInteraction = 4
	ModalInteraction        = 5
)

// Types of answers to an interaction.
const (
	respondMessage        = 4
	respondDeferred       = 5
	respondDeferredUpdate = 6
	respondUpdate         = 7
	respondChoices        = 8
	respondModal          = 9
	respondActivity       = 12
)

// Interaction is what somebody did with the application and waits for its answer:
// for three seconds after the time of its id, unless it is put off.
type Interaction struct {
	ID      discord.InteractionID
	Token   string // counts for 15 minutes
	Type    int    // 0 is a command
	Channel discord.ChannelID
	User    discord.UserID
	Message discord.MessageID // whose component was used; for a modal whose component showed it

	// Deferred says that the application answered already, and put off what it
	// has to say.
	Deferred bool
}

// interaction is one with what became of it.
type interaction struct {
	Interaction
	answered bool
	original discord.MessageID // the response; "" for none
	private  *channel          // what only the user sees: the interaction's channel with other messages
}

// AddInteraction is somebody's use of the application: what the gateway would
// tell the bot. The copy that it gives has an id and a token.
func (d *Discord) AddInteraction(i Interaction) Interaction {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &d.world
	named(w, &i.ID)
	unused(w.interactions, i.ID)
	c := known(w.channels, i.Channel)
	known(w.users, i.User)
	if i.Type == 0 {
		i.Type = CommandInteraction
	}
	if i.Token == "" {
		i.Token = secret("interaction", i.ID)
	}
	made := &interaction{Interaction: i, private: &channel{Channel: c.Channel}}
	if w.interactions == nil {
		w.interactions = map[discord.InteractionID]*interaction{}
	}
	w.interactions[i.ID] = made
	if i.Deferred {
		made.answered = true
		w.post(made, &Message{ID: discord.MessageID(w.issue()), Flags: flagLoading})
	}
	return i
}

// Whispers lists what only the user of an interaction sees, the oldest first.
func (d *Discord) Whispers(id discord.InteractionID) []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.world.interactions[id]
	if i == nil {
		return nil
	}
	return mapped(i.private.messages, func(m *Message) Message { return m.clone() })
}

// post puts a message of the application into the interaction's channel, or where
// only its user sees it. The first is the response.
func (w *world) post(i *interaction, m *Message) {
	m.Channel, m.Author = i.Channel, BotID
	m.Interaction, m.Application, m.Webhook = i.ID, ApplicationID, discord.WebhookID(ApplicationID)
	if i.Type == CommandInteraction {
		m.Type = typeCommandAnswer
	}
	if i.original == "" {
		i.original = m.ID
	}
	if m.Flags&flagEphemeral != 0 {
		w.store(i.private, m)
		return
	}
	w.store(w.channels[i.Channel], m)
}

// sentBy is a message that answers an interaction, and where it is.
func (x *exchange) sentBy(i *interaction, id discord.MessageID) (*channel, *Message) {
	for _, c := range []*channel{i.private, x.channels[i.Channel]} {
		if _, m := c.find(id); m != nil && (m.Interaction == i.ID || m.ID == i.original) {
			return c, m
		}
	}
	return nil, nil
}

// byInteraction resolves {webhook_token} to an interaction that was answered.
func byInteraction(handle func(*exchange, *interaction) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		for _, i := range x.interactions {
			if i.Token != x.params["webhook_token"] {
				continue
			}
			switch {
			case x.now.Sub(discord.IDTime(string(i.ID))) > toFollow:
				return refuse(errWebhookToken)
			case !i.answered:
				return refuse(errUnknownWebhook)
			case x.channels[i.Channel] == nil:
				return refuse(errUnknownChannel)
			}
			x.byToken = true
			return handle(x, i)
		}
		return refuse(errWebhookToken)
	}
}

// onOriginal resolves the response of an interaction. A webhook has none.
func onOriginal(handle func(*exchange, *channel, *Message) (answer, error)) handler {
	return byToken(byWebhook(func(*exchange, *Webhook) (answer, error) { return refuse(errUnknownMessage) }),
		byInteraction(func(x *exchange, i *interaction) (answer, error) {
			c, m := x.sentBy(i, i.original)
			if m == nil {
				return refuse(errUnknownMessage)
			}
			return handle(x, c, m)
		}))
}

// createFollowup sends another message. After an answer that was put off, the
// first one is that answer.
func createFollowup(x *exchange) (answer, error) {
	return byInteraction(func(x *exchange, i *interaction) (answer, error) {
		if c, m := x.sentBy(i, i.original); m != nil && m.Flags&flagLoading != 0 {
			return editTokenMessage(x, c, m)
		}
		var f responseForm
		if err := x.bind(&f); err != nil {
			return refuse(err)
		}
		c, m, err := x.say(i, f)
		if err != nil {
			return refuse(err)
		}
		return ok(x.viewMessage(c, m))
	})(x)
}

type responseForm struct {
	messageBody
	TTS opt[bool] `json:"tts"`
}

// say sends a message that answers an interaction.
func (x *exchange) say(i *interaction, f responseForm) (*channel, *Message, error) {
	c := x.channels[i.Channel]
	m := &Message{Channel: c.ID, Author: BotID, TTS: f.TTS.value, Flags: f.Flags.value & flagEphemeral}
	if err := x.compose(c, m, f.messageBody); err != nil {
		return nil, nil, err
	}
	m.ID = discord.MessageID(x.issue())
	x.post(i, m)
	at, _ := x.sentBy(i, m.ID)
	return at, m, nil
}

// answers are the types of answers that a type of interaction takes.
func (i *interaction) answers() []int {
	switch i.Type {
	case ComponentInteraction:
		return []int{respondMessage, respondDeferred, respondDeferredUpdate, respondUpdate, respondModal, respondActivity}
	case AutocompleteInteraction:
		return []int{respondChoices}
	case ModalInteraction:
		if i.Message != "" {
			return []int{respondMessage, respondDeferred, respondDeferredUpdate, respondUpdate, respondActivity}
		}
		return []int{respondMessage, respondDeferred, respondActivity}
	}
	return []int{respondMessage, respondDeferred, respondModal, respondActivity}
}

// respond is the first answer to an interaction, its only one of this kind.
func respond(x *exchange) (answer, error) {
	i := x.interactions[id[discord.InteractionID](x, "interaction_id")]
	if i == nil || i.Token != x.params["interaction_token"] || x.now.Sub(discord.IDTime(string(i.ID))) > toRespond {
		return refuse(errUnknownInteraction)
	}
	switch {
	case i.answered:
		return refuse(errAcknowledged)
	case x.channels[i.Channel] == nil:
		return refuse(errUnknownChannel)
	}
	var f struct {
		Type int `json:"type"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	with, err := x.flag("with_response")
	if err != nil {
		return refuse(err)
	}
	if may := i.answers(); !slices.Contains(may, f.Type) {
		return refuse(invalid("type", "BASE_TYPE_CHOICES", "Value must be one of %v.", may))
	}
	x.byToken = true
	if err := x.carryOut(i, f.Type); err != nil {
		return refuse(err)
	}
	i.answered = true
	if !with {
		return done()
	}
	return ok(x.viewCallback(i, f.Type))
}

func (x *exchange) carryOut(i *interaction, kind int) error {
	switch kind {
	case respondMessage:
		var f struct {
			Data responseForm `json:"data"`
		}
		if err := x.bind(&f); err != nil {
			return err
		}
		_, _, err := x.say(i, f.Data)
		return err
	case respondDeferred:
		var f struct {
			Data opt[struct {
				Flags opt[int] `json:"flags"`
			}] `json:"data"`
		}
		if err := x.bind(&f); err != nil {
			return err
		}
		x.post(i, &Message{ID: discord.MessageID(x.issue()), Flags: flagLoading | f.Data.value.Flags.value&flagEphemeral})
	case respondDeferredUpdate:
		i.original = i.Message
	case respondUpdate:
		return x.update(i)
	case respondChoices:
		var f struct {
			Data struct {
				Choices opt[[]struct {
					Name string `json:"name" minLength:"1" maxLength:"100"`
				}] `json:"choices" maxItems:"25"`
			} `json:"data"`
		}
		return x.bind(&f)
	case respondModal:
		var f struct {
			Data struct {
				CustomID   string `json:"custom_id" minLength:"1" maxLength:"100"`
				Title      string `json:"title" minLength:"1" maxLength:"45"`
				Components []struct {
					Type int `json:"type" enum:"1,10,18"`
				} `json:"components" minItems:"1" maxItems:"5"`
			} `json:"data"`
		}
		return x.bind(&f)
	}
	return nil
}

// update changes the message whose component was used.
func (x *exchange) update(i *interaction) error {
	var f struct {
		Data opt[editForm] `json:"data"`
	}
	if err := x.bind(&f); err != nil {
		return err
	}
	c := x.channels[i.Channel]
	_, m := c.find(i.Message)
	if m == nil {
		return errUnknownMessage
	}
	edited := m.clone()
	if err := x.rewrite(c, &edited, f.Data.value); err != nil {
		return err
	}
	edited.Edited = x.now
	*m, i.original = edited, m.ID
	return nil
}

type callbackView struct {
	Interaction struct {
		ID        discord.InteractionID `json:"id"`
		Type      int                   `json:"type"`
		Channel   discord.ChannelID     `json:"channel_id"`
		Guild     discord.GuildID       `json:"guild_id,omitempty"`
		Message   discord.MessageID     `json:"response_message_id,omitempty"`
		Loading   *bool                 `json:"response_message_loading,omitempty"`
		Ephemeral *bool                 `json:"response_message_ephemeral,omitempty"`
	} `json:"interaction"`
	Resource *resourceView `json:"resource,omitempty"`
}

type resourceView struct {
	Type     int           `json:"type"`
	Message  *messageView  `json:"message,omitempty"`
	Activity *launchedView `json:"activity_instance,omitempty"`
}

type launchedView struct {
	ID string `json:"id"`
}

func (x *exchange) viewCallback(i *interaction, kind int) (v callbackView) {
	c, m := x.sentBy(i, i.original)
	v.Interaction.ID, v.Interaction.Type, v.Interaction.Channel, v.Interaction.Guild = i.ID, i.Type, i.Channel, i.private.Guild
	if m != nil {
		loading, ephemeral := m.Flags&flagLoading != 0, m.Flags&flagEphemeral != 0
		v.Interaction.Message, v.Interaction.Loading, v.Interaction.Ephemeral = m.ID, &loading, &ephemeral
	}
	switch {
	case m != nil && (kind == respondMessage || kind == respondUpdate):
		seen := x.viewMessage(c, m)
		v.Resource = &resourceView{Type: kind, Message: &seen}
	case kind == respondActivity:
		v.Resource = &resourceView{Type: kind, Activity: &launchedView{"i-" + string(i.ID) + "-gc-" + string(i.Channel) + "-" + strconv.Itoa(i.Type)}}
	}
	return v
}
