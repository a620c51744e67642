package workflows_test

import (
	"bytes"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// An answer about something else than was asked for leaves the outcome open,
// whatever was written, and what id it gave is kept.
func TestAnswersAboutSomethingElse(t *testing.T) {
	t.Parallel()
	lock, _ := locking()
	renamed := expressing()
	renamed.Args = ofGuild(`"kind":"emoji","action":"update","expressionId":"` + string(someEmoji) + `","name":"canary_new"`)
	renamed.Before = addExpressions
	for name, row := range map[string]struct {
		scene
		from, to string
		resource bool
	}{
		"a post in another channel":       {embedding(), `"channel_id":"1200000000000000313"`, `"channel_id":"1200000000000000314"`, true},
		"a post of somebody else":         {embedding(), `"id":"1100000000000000001"`, `"id":"1100000000000000002"`, true},
		"another message than was edited": {embedEditing(), `"id":"` + string(someOne) + `"`, `"id":"1400000000000000002"`, true},
		"a layout without an id":          {layingOut(), `"id":"14`, `"id":"x`, false},
		"a webhook of another channel":    {hooking(), `"channel_id":"1200000000000000313"`, `"channel_id":"1200000000000000314"`, true},
		"a webhook of another type":       {hooking(), `"type":1`, `"type":3`, true},
		"a webhook that did not move":     {movingWebhook(), `"channel_id":"1200000000000000314"`, `"channel_id":"1200000000000000313"`, true},
		"another webhook":                 {movingWebhook(), `"id":"1200000000000000711"`, `"id":"1200000000000000712"`, true},
		"another guild's settings":        {settling(), `"id":"1200000000000000001"`, `"id":"1200000000000000002"`, false},
		"settings with an unknown level":  {settling(), `"verification_level":3`, `"verification_level":7`, false},
		"another deadline":                {lock, `"invites_disabled_until":"20`, `"invites_disabled_until":"21`, true},
		"a rule of another trigger":       {ruling(), `"trigger_type":1`, `"trigger_type":3`, true},
		"a rule of another guild":         {ruling(), `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`, true},
		"an event of another guild":       {planning(), `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`, true},
		"an emoji without an id":          {expressing(), `"id":"14`, `"id":"x`, false},
		"another emoji":                   {renamed, `"id":"` + string(someEmoji) + `"`, `"id":"1200000000000000899"`, true},
	} {
		row.scene.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				if !bytes.Contains(r.Body, []byte(row.from)) {
					t.Errorf("%s: %s is not in the answer %s", name, row.from, r.Body)
				}
				r.Body = bytes.Replace(r.Body, []byte(row.from), []byte(row.to), 1)
				return r
			}}
		}
		e, r := row.once(t)
		if e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || (r.ResourceID != "") != row.resource || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}

// What is there again, or still, after it was deleted leaves the outcome open.
func TestDeletedAndThere(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	remove := onEvent("delete", "", "DELETE /")
	remove.Before = func(made *sandbox.Discord) { d = made; addEvent(sandbox.EventScheduled, "")(d) }
	remove.REST = later(&d, "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", 5, addEvent(sandbox.EventScheduled, ""))

	rule := acting("delete", "", "DELETE /")
	rule.Before = func(made *sandbox.Discord) { d = made; addRule(d) }
	rule.REST = later(&d, "/guilds/{guild_id}/auto-moderation/rules", 5, addRule)

	sticker := ofStickers(expressing(), "")
	sticker.Args = ofGuild(`"kind":"sticker","action":"delete","expressionId":"` + string(someSticker) + `"`)
	sticker.Before = func(made *sandbox.Discord) { d = made; addExpressions(d) }
	sticker.REST = later(&d, "/guilds/{guild_id}/stickers", 5, func(d *sandbox.Discord) {
		d.AddSticker(sandbox.DemoGuild, sandbox.Sticker{ID: someSticker, Name: "canary-old", Tags: "x"})
	})
	for name, s := range map[string]scene{"an event": remove, "a rule": rule, "a sticker": sticker} {
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || r.ResourceID == "" {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}
