package workflows_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

var canaryFile = `"filename":"canary-notes.txt","data":"` + base64.StdEncoding.EncodeToString([]byte("canary-bytes")) + `"`

const (
	noMentionsSent = `"allowed_mentions":{"parse":[],"users":[],"replied_user":false}`
	fileSent       = `"attachments":[{"id":"0","filename":"canary-notes.txt"}],` + noMentionsSent
	filePart       = ` files[0]=text/plain; charset=utf-8 of 12 bytes`
)

// attaching posts a file to general as a reply.
func attaching() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "attachment-message", Plan: "plan_attachment_message", Execute: "execute_attachment_message",
			Args: in(sandbox.DemoGeneral, canaryFile+`,"description":"canary-alt","content":" canary-text <@1200000000000000104> ","replyToMessageId":"`+string(someOne)+`"`),
			Sends: []string{`POST /channels/1200000000000000313/messages payload_json={"content":"canary-text <@1200000000000000104>",` +
				`"attachments":[{"id":"0","filename":"canary-notes.txt","description":"canary-alt"}],` + noMentionsSent +
				`,"message_reference":{"message_id":"` + string(someOne) + `","fail_if_not_exists":true}}` + filePart},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Secrets: []string{"canary", base64.StdEncoding.EncodeToString([]byte("canary-bytes")), "cdn.discordapp.com", "Lighthouse", "general"},
		},
		Route: "POST /channels/{channel_id}/messages", ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Before: posted(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Author: sandbox.DemoMember, Content: "canary-question"}),
		Change: func(d *sandbox.Discord) {
			d.EditMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Content = "canary-edited" })
		},
	}
}

func TestAttachmentMessage(t *testing.T) {
	t.Parallel()
	s := attaching()
	ofGeneral := func(more string) string { return in(sandbox.DemoGeneral, more) }
	data := func(name, data string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "file", Args: ofGeneral(fmt.Sprintf(`"filename":"x.txt","data":"%s"`, data))}
	}
	wrong := func(name, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: ofGeneral(more)}
	}
	into := func(name, reason string, c discord.ChannelID, before func(*operationtest.World)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: in(c, canaryFile), Policy: permits(s.Workflow, "channels", string(c)), Before: before}
	}
	lacks := func(p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "without " + p.String(), Code: mcpcore.CodePermission, Before: without(p)}
	}
	inThread := into("a thread without the permission", "", sandbox.DemoThread, without(discord.SendMessagesInThreads))
	inThread.Code = mcpcore.CodePermission
	s.Refusals = []operationtest.Refusal{
		data("a path", "/etc/passwd"), data("an address", "https://a.example/a.txt"), data("nothing", "data:text/plain;base64,"), data("bytes with line breaks", `eHh4\neHh4`),
		wrong("no data", `"filename":"x.txt","data":""`), wrong("a path as the name", `"filename":"../x.txt","data":"eA=="`), wrong("a hidden name", `"filename":".x","data":"eA=="`),
		{Name: "more bytes than Discord takes", Code: mcpcore.CodePlanRefused, Reason: "file-size",
			Args: ofGeneral(`"filename":"x.bin","data":"` + base64.StdEncoding.EncodeToString(make([]byte, 10<<20+1)) + `"`)},
		{Name: "more bytes than the policy says", Code: mcpcore.CodePlanRefused, Reason: "file-size", Policy: func(p *mcpcore.WorkflowPolicy) {
			permit := p.Permits[s.Workflow]
			permit.Limits = map[string]int{"maxBytes": 11}
			p.Permits[s.Workflow] = permit
		}},
		into("a forum", "no-text", sandbox.DemoHelp, nil), into("an archived thread", "thread-closed", sandbox.DemoArchived, nil), inThread,
		{Name: "a reply to nothing", Code: mcpcore.CodeNotFound, Args: ofGeneral(canaryFile + `,"replyToMessageId":"1200000000000000599"`)},
		{Name: "a reply to Discord", Code: mcpcore.CodePlanRefused, Reason: "system-message", Before: world(func(d *sandbox.Discord) {
			d.EditMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Type = 7 })
		})},
		lacks(discord.ViewChannel), lacks(discord.ReadMessageHistory), lacks(discord.SendMessages), lacks(discord.AttachFiles),
	}
	s.run(t)
}

func TestFilesThatAreAttached(t *testing.T) {
	t.Parallel()
	s := attaching()
	// Neither the intent nor MANAGE_MESSAGES is needed: the bot reads its own.
	s.Before = func(d *sandbox.Discord) { d.SetApplicationFlags(0) }
	s.writes(t, in(sandbox.DemoGeneral, canaryFile), `POST /channels/1200000000000000313/messages payload_json={`+fileSent+`}`+filePart)
	s.writes(t, in(sandbox.DemoGeneral, `"filename":"a.png","data":"`+picture(1)+`"`),
		`POST /channels/1200000000000000313/messages payload_json={"attachments":[{"id":"0","filename":"a.png"}],`+noMentionsSent+`} files[0]=image/png of 71 bytes`)
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoThread)}}
	s.writes(t, in(sandbox.DemoThread, canaryFile), `POST /channels/1200000000000000321/messages payload_json={`+fileSent+`}`+filePart)
}

// The bytes and the address are in no plan and no answer.
func TestAttachmentIsNotTold(t *testing.T) {
	t.Parallel()
	s := attaching()
	c := s.client(t)
	c.call(s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	told := c.raw
	c.want(s.Execute, s.Args, "completed")
	told += c.raw
	for _, secret := range []string{"canary-bytes", base64.StdEncoding.EncodeToString([]byte("canary-bytes")), "cdn.discordapp.com"} {
		if strings.Contains(told, secret) {
			t.Errorf("%s is told: %s", secret, told)
		}
	}
	if digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("canary-bytes"))); !strings.Contains(told, digest) || !strings.Contains(told, "canary-notes.txt") {
		t.Errorf("the plan does not tell the file: %s", told)
	}
}

func TestAttachmentThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := attaching()
	for name, row := range map[string][3]string{
		"in another channel":      {s.Route, `"channel_id":"1200000000000000313"`, `"channel_id":"1200000000000000314"`},
		"another's":               {s.Route, `"id":"1100000000000000001"`, `"id":"1200000000000000104"`},
		"another size":            {s.Route, `"size":12`, `"size":11`},
		"another name":            {s.Route, `"filename":"canary-notes.txt"`, `"filename":"else.txt"`},
		"another description":     {s.ReadBack, `canary-alt`, `else`},
		"another text":            {s.ReadBack, `canary-text`, `else`},
		"no file":                 {s.ReadBack, `"attachments"`, `"attached"`},
		"a reply to another":      {s.ReadBack, `"message_id":"` + string(someOne) + `"`, `"message_id":"1200000000000000599"`},
		"somebody notified":       {s.ReadBack, `"mention_everyone":false`, `"mention_everyone":true`},
		"another one's message":   {s.ReadBack, `"id":"1100000000000000001"`, `"id":"1200000000000000104"`},
		"a message without an id": {s.Route, `"id":"14`, `"id":"x`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
