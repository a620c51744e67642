package sandbox

import (
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// pollRoutes list a poll's voters and end it.
//
// Source: https://docs.discord.com/developers/resources/poll.
var pollRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}/polls/{message_id}/answers/{answer_id}", handle: onMessage(discord.ReadMessageHistory, listVoters)},
	{method: "POST", path: "/channels/{channel_id}/polls/{message_id}/expire", handle: onMessage(0, endPoll)},
}

var (
	errNoPoll   = badRequest(520006, "Cannot expire a non-poll message")
	errPollOver = badRequest(520001, "Poll expired")
)

// listVoters lists who chose an answer, by id.
func listVoters(x *exchange, _ *channel, m *Message) (answer, error) {
	n, err := strconv.Atoi(x.params["answer_id"])
	if m.Poll == nil {
		return refuse(errUnknownMessage)
	}
	if err != nil || n < 1 || n > len(m.Poll.Answers) {
		return refuse(invalid("answer_id", "POLL_ANSWER_INVALID", "Unknown answer"))
	}
	who := slices.Clone(m.Poll.Answers[n-1].Voters)
	slices.SortFunc(who, discord.CompareIDs)
	who, err = page(x, who, func(u discord.UserID) string { return string(u) }, 25, 100)
	if err != nil {
		return refuse(err)
	}
	return ok(struct {
		Users []userView `json:"users"`
	}{mapped(who, x.user)})
}

// endPoll ends a poll of the bot's own.
func endPoll(x *exchange, c *channel, m *Message) (answer, error) {
	switch {
	case m.Poll == nil:
		return refuse(errNoPoll)
	case m.Author != x.actor:
		return refuse(errForeignEdit)
	case m.Poll.Final || !x.now.Before(m.Poll.Expires):
		return refuse(errPollOver)
	}
	m.Poll.Final, m.Poll.Expires = true, x.now
	return ok(x.viewMessage(c, m))
}
