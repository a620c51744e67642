package sandbox_test

import (
	"fmt"
	"net/http"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// A world of one's own, a fault, and what Discord saw.
func Example() {
	d := sandbox.New(sandbox.Options{})
	guild := d.AddGuild(sandbox.Guild{Name: "Reading Room"}, discord.ViewChannel|discord.SendMessages)
	hall := d.AddChannel(sandbox.Channel{Guild: guild, Type: discord.GuildText, Name: "hall"})

	s := d.Session()
	s.ShouldRetryOnRateLimit = false
	d.Inject(sandbox.Fault{Method: http.MethodPost, Status: http.StatusServiceUnavailable})
	_, err := s.ChannelMessageSend(string(hall), "Good evening, @everyone")
	fmt.Println("first try:", err != nil)
	_, err = s.ChannelMessageSend(string(hall), "Good evening, @everyone")
	fmt.Println("second try:", err != nil)

	for _, r := range d.Writes() {
		fmt.Println(r.Method, r.Route, r.Status)
	}
	for _, m := range d.Messages(hall) {
		fmt.Printf("%s (pinged nobody: %t)\n", m.Content, m.Notified.Nobody())
	}
	// Output:
	// first try: true
	// second try: false
	// POST /channels/{channel_id}/messages 503
	// POST /channels/{channel_id}/messages 200
	// Good evening, @everyone (pinged nobody: true)
}
