package sandbox

import "github.com/guildwarden/guildwarden/mcpcore/discord"

// Activity is a running instance of the application's activity.
type Activity struct {
	ID      string
	Launch  string
	Channel discord.ChannelID
	Users   []discord.UserID
}

// AddActivity adds a running instance.
func (d *Discord) AddActivity(a Activity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.channels, a.Channel)
	d.world.app.activities[a.ID] = &a
}

type activityView struct {
	Application discord.ApplicationID `json:"application_id"`
	ID          string                `json:"instance_id"`
	Launch      string                `json:"launch_id"`
	Location    activityPlace         `json:"location"`
	Users       []discord.UserID      `json:"users"`
}

type activityPlace struct {
	ID      string            `json:"id"`
	Kind    string            `json:"kind"`
	Channel discord.ChannelID `json:"channel_id"`
	Guild   discord.GuildID   `json:"guild_id,omitempty"`
}

func getActivity(x *exchange) (answer, error) {
	a := x.app.activities[x.params["instance_id"]]
	if a == nil {
		return refuse(errNoRoute)
	}
	c := x.channels[a.Channel]
	place := activityPlace{ID: "pc-" + string(c.ID), Kind: "pc", Channel: c.ID}
	if c.Guild != "" {
		place = activityPlace{"gc-" + string(c.Guild) + "-" + string(c.ID), "gc", c.ID, c.Guild}
	}
	return ok(activityView{ApplicationID, a.ID, a.Launch, place, list(a.Users)})
}
