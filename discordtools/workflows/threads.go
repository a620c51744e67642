package workflows

import (
	"errors"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeThreadStart = "POST /channels/{channel_id}/threads"

// newThread is what a thread that is started is given.
type newThread struct {
	Name        string `json:"name" jsonschema:"its name" minLength:"1" maxLength:"100"`
	AutoArchive int    `json:"autoArchiveDuration,omitempty" jsonschema:"minutes without activity until it is archived; without it as the channel says" enum:"60,1440,4320,10080"`
	SlowMode    *int   `json:"rateLimitPerUser,omitempty" jsonschema:"slow mode in seconds; without it as the channel says" minimum:"0" maximum:"21600"`
}

// newThreadBody is the request.
type newThreadBody struct {
	Name        string `json:"name"`
	AutoArchive int    `json:"auto_archive_duration,omitempty"`
	SlowMode    *int   `json:"rate_limit_per_user,omitempty"`
}

func (n newThread) body() newThreadBody { return newThreadBody(n) }

// tidy is the thread as Discord keeps it: its name without space around it.
func (n newThread) tidy() newThread {
	n.Name = strings.TrimSpace(n.Name)
	return n
}

// facts are what people must see of it, where it is to be otherwise than the
// channel says.
func (n newThread) facts() (all mcpcore.Facts) {
	if n.AutoArchive != 0 {
		all = append(all, mcpcore.Fact{Name: "archived after", Value: (time.Duration(n.AutoArchive) * time.Minute).String()})
	}
	if n.SlowMode != nil {
		all = append(all, mcpcore.Fact{Name: "slow mode", Value: (time.Duration(*n.SlowMode) * time.Second).String()})
	}
	return all
}

// newThreadRule refuses a name of spaces.
var newThreadRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	if strings.TrimSpace(c.Text("name")) == "" {
		return issue("name", "is empty")
	}
	return nil
}}

// compare notes what of a thread differs.
func (n newThread) compare(t thread, d *drift) {
	d.unless(t.Name == n.Name, "name")
	d.unless(n.AutoArchive == 0 || t.Meta.AutoArchive == n.AutoArchive, "autoArchiveDuration")
	d.unless(n.SlowMode == nil || t.SlowMode == *n.SlowMode, "rateLimitPerUser")
}

// started is an error unless the thread is one that the bot started there, and
// open.
func (t *thread) started(by discord.UserID, in placeSeen, kind discord.ChannelType) error {
	if t.Guild != in.Guild.ID || t.Parent != in.Channel.ID || t.Type != kind || t.Owner != by || t.Meta.Archived || t.Meta.Locked {
		return errors.New("what is there is no open thread of the bot's as it was asked for")
	}
	return nil
}
