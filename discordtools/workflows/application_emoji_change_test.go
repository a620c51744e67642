package workflows_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func anotherAppEmoji(d *sandbox.Discord) { d.AddApplicationEmoji(sandbox.Emoji{Name: "another"}) }

func addAppEmoji(d *sandbox.Discord) {
	d.AddApplicationEmoji(sandbox.Emoji{ID: someEmoji, Name: "canary_old"})
}

func appEmoji() scene {
	small := uri("image/png", pngOf(16))
	create := func(name, more string, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofTheApplication(`"action":"create",` + more), Code: code, Reason: reason}
	}
	image := `"image":"` + small + `"`
	full := create("a full application", `"name":"xx",`+image, mcpcore.CodePlanRefused, "full")
	full.Before = world(func(d *sandbox.Discord) {
		for i := range 1999 { // and one that is there
			d.AddApplicationEmoji(sandbox.Emoji{Name: fmt.Sprint("e", i)})
		}
	})
	return scene{
		Subject: operationtest.Subject{
			Workflow: "application-emoji-change", Plan: "plan_application_emoji_change", Execute: "execute_application_emoji_change",
			Args:   ofTheApplication(`"action":"create","name":"canary_new",` + image),
			Sends:  []string{`POST /applications/1100000000000000001/emojis {"name":"canary_new","image":"` + small + `"}`},
			Permit: applicationPermit, Secrets: []string{"canary", small},
			Refusals: []operationtest.Refusal{
				otherApplication("application-emoji-change", `"action":"create","name":"xx",`+image),
				create("an emoji without a picture", `"name":"xx"`, mcpcore.CodeValidation, ""),
				create("an emoji without a name", image, mcpcore.CodeValidation, ""),
				create("a new emoji with an id", `"emojiId":"1200000000000000804","name":"xx",`+image, mcpcore.CodeValidation, ""),
				create("a name with a space", `"name":"x y",`+image, mcpcore.CodeValidation, ""),
				create("a name that is taken", `"name":"foghorn",`+image, mcpcore.CodePlanRefused, "name-taken"),
				create("a path", `"name":"xx","image":"/tmp/x.png"`, mcpcore.CodePlanRefused, "picture"),
				create("a text as a picture", `"name":"xx","image":"`+uri("image/png", []byte("text"))+`"`, mcpcore.CodePlanRefused, "picture"),
				create("a picture of another kind", `"name":"xx","image":"`+uri("image/avif", pngOf(16))+`"`, mcpcore.CodePlanRefused, "picture"),
				create("a large picture", `"name":"xx","image":"`+uri("image/png", append(pngOf(16), make([]byte, 256<<10)...))+`"`, mcpcore.CodePlanRefused, "picture"),
				full,
				{Name: "nothing to rename", Args: ofTheApplication(`"action":"rename","name":"xx"`), Code: mcpcore.CodeValidation},
				{Name: "an emoji that is not there", Args: ofTheApplication(`"action":"rename","name":"xx","emojiId":"1200000000000000831"`), Code: mcpcore.CodePlanRefused, Reason: "emoji-missing"},
				{Name: "a picture to rename", Args: ofTheApplication(`"action":"rename","name":"xx","emojiId":"1200000000000000804",` + image), Code: mcpcore.CodeValidation},
				{Name: "the name of another", Args: ofTheApplication(`"action":"rename","name":"another","emojiId":"1200000000000000804"`), Code: mcpcore.CodePlanRefused, Reason: "name-taken", Before: world(anotherAppEmoji)},
				{Name: "a deletion with a name", Args: ofTheApplication(`"action":"delete","name":"xx","emojiId":"1200000000000000804","acknowledgeGlobalImpact":true`), Code: mcpcore.CodeValidation},
				{Name: "a deletion that is not acknowledged", Args: ofTheApplication(`"action":"delete","emojiId":"1200000000000000804"`), Code: mcpcore.CodeValidation},
				{Name: "a managed one", Args: ofTheApplication(`"action":"delete","emojiId":"1200000000000000804","acknowledgeGlobalImpact":true`), Code: mcpcore.CodePlanRefused, Reason: "managed",
					Before: world(func(d *sandbox.Discord) {
						d.ChangeApplicationEmoji(sandbox.DemoFoghorn, func(e *sandbox.Emoji) { e.Managed = true })
					})},
			},
		},
		Route: "POST /applications/{application_id}/emojis", ReadBack: "GET /applications/{application_id}/emojis", Skip: 4,
		Change: anotherAppEmoji,
	}
}

// onAppEmoji is the scene with another action on an emoji that is there.
func (s scene) onAppEmoji(action, more, sends string) scene {
	s.Args = ofTheApplication(`"action":"` + action + `","emojiId":"` + string(someEmoji) + `"` + more)
	s.Sends, s.Refusals, s.Before, s.Resource = []string{sends}, nil, addAppEmoji, string(someEmoji)
	s.Route = map[string]string{"rename": "PATCH ", "delete": "DELETE "}[action] + "/applications/{application_id}/emojis/{emoji_id}"
	return s
}

func renamedAppEmoji() scene {
	s := appEmoji().onAppEmoji("rename", `,"name":"canary_new"`, `PATCH /applications/1100000000000000001/emojis/1200000000000000831 {"name":"canary_new"}`)
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeApplicationEmoji(someEmoji, func(e *sandbox.Emoji) { e.Name = "canary_new" })
	}
	return s
}

func deletedAppEmoji() scene {
	return appEmoji().onAppEmoji("delete", `,"acknowledgeGlobalImpact":true`, `DELETE /applications/1100000000000000001/emojis/1200000000000000831`)
}

func TestApplicationEmojiCreation(t *testing.T) {
	t.Parallel()
	appEmoji().run(t)
}

func TestApplicationEmojiRenaming(t *testing.T) {
	t.Parallel()
	renamedAppEmoji().run(t)
}

func TestApplicationEmojiDeletion(t *testing.T) {
	t.Parallel()
	deletedAppEmoji().run(t)
}

func TestApplicationEmojiKinds(t *testing.T) {
	t.Parallel()
	for kind, data := range map[string][]byte{
		"image/gif": gifOf(16, 10, 10), "image/avif": []byte("\x00\x00\x00\x1cftypavif\x00\x00\x00\x00"), "image/webp": []byte("RIFF\x10\x00\x00\x00WEBPVP8 "), "image/jpeg": []byte("\xff\xd8\xff\xe0\x00\x10JFIF"),
	} {
		s := appEmoji()
		s.Args = ofTheApplication(`"action":"create","name":"canary_new","image":"` + uri(kind, data) + `"`)
		if e, _ := s.once(t); e.Status != "completed" {
			t.Errorf("%s: it answers %+v", kind, e)
		}
	}
}

// What happens to emojis between the write and its read-back is told; what proves
// nothing leaves the outcome open.
func TestApplicationEmojisThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		scene  scene
		do     func(d *sandbox.Discord)
		status string
		drift  string
	}{
		"another one is made": {appEmoji(), anotherAppEmoji, "completed-with-drift", "[others]"},
		"it is renamed on": {renamedAppEmoji(), func(d *sandbox.Discord) {
			d.ChangeApplicationEmoji(someEmoji, func(e *sandbox.Emoji) { e.Name = "newer" })
		}, "completed-with-drift", "[name]"},
		"it is there again": {deletedAppEmoji(), addAppEmoji, "outcome-uncertain", "[]"},
	} {
		var d *sandbox.Discord
		before := row.scene.Before
		row.scene.Before = func(made *sandbox.Discord) {
			if d = made; before != nil {
				before(d)
			}
		}
		row.scene.REST = later(&d, "/applications/{application_id}/emojis", 5, row.do)
		if e, _ := row.scene.once(t); e.Status != row.status || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
	for name, row := range map[string]struct {
		scene    scene
		from, to string
	}{
		"an emoji without an id": {appEmoji(), `"id":"`, `"id":"x`},
		"another emoji":          {renamedAppEmoji(), `"id":"1200000000000000831"`, `"id":"1200000000000000832"`},
		"a managed emoji":        {appEmoji(), `"managed":false`, `"managed":true`},
	} {
		row.scene.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				r.Body = bytes.Replace(r.Body, []byte(row.from), []byte(row.to), 1)
				return r
			}}
		}
		if e, r := row.scene.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}
