package workflows_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	talk      discord.ChannelID = "1200000000000000395" // with the member
	otherTalk discord.ChannelID = "1200000000000000394" // with the moderator
	ownWord   discord.MessageID = "1200000000000000591"
	theirWord discord.MessageID = "1200000000000000590"

	expected = `,"acknowledgeExpectedContact":true`
	emptyTo  = `"allowed_mentions":{"parse":[],"users":[],"replied_user":false}`
)

func addTalks(d *sandbox.Discord) {
	d.AddChannel(sandbox.Channel{ID: talk, Type: discord.DM, Recipients: []discord.UserID{sandbox.DemoMember}})
	d.AddChannel(sandbox.Channel{ID: otherTalk, Type: discord.DM, Recipients: []discord.UserID{sandbox.DemoModerator}})
	d.AddMessage(talk, sandbox.Message{ID: theirWord, Author: sandbox.DemoMember, Content: "canary-question"})
	d.AddMessage(talk, sandbox.Message{ID: ownWord, Content: "canary-answer"})
	d.ChangeUser(sandbox.DemoMember, func(u *sandbox.User) { u.Name, u.GlobalName = "canary_name", "Canary-shown" })
}

// toMember is a change of the conversation with the member.
func toMember(action, more string) string {
	return fmt.Sprintf(`{"action":"%s","userId":"%s",%s}`, action, sandbox.DemoMember, more)
}

func inTalk(action, message, more string) string {
	return toMember(action, fmt.Sprintf(`"channelId":"%s","messageId":"%s"%s`, talk, message, more))
}

// writing sends a first message, which takes two requests.
func writing() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "direct-message-change", Plan: "plan_direct_message_change", Execute: "execute_direct_message_change", Verify: "verify_direct_message_change",
			Args: toMember("send", `"content":" canary-hello <@1200000000000000104> "`+expected),
			Sends: []string{
				`POST /users/@me/channels {"recipient_id":"1200000000000000104"}`,
				`POST /channels/1200000000000000395/messages {"content":"canary-hello <@1200000000000000104>",` + emptyTo + `,"nonce":"` + nonceOf(firstKey) + `","enforce_nonce":true}`,
			},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"users": {string(sandbox.DemoMember)}}},
			Secrets: []string{"canary", "Canary"},
		},
		Route: "POST /users/@me/channels", ReadBack: "GET /channels/{channel_id}/messages/{message_id}",
		Before: addTalks,
		Change: func(d *sandbox.Discord) { d.ChangeUser(sandbox.DemoMember, func(u *sandbox.User) { u.Name = "other" }) },
		Rename: func(d *sandbox.Discord) {
			d.ChangeUser(sandbox.DemoMember, func(u *sandbox.User) { u.GlobalName = "Other" })
		},
	}
}

func replying() scene {
	s := writing()
	s.Args = inTalk("reply", string(theirWord), `,"content":"canary-reply"`+expected)
	s.Sends = []string{`POST /channels/1200000000000000395/messages {"content":"canary-reply","message_reference":{"message_id":"1200000000000000590","fail_if_not_exists":true},` +
		emptyTo + `,"nonce":"` + nonceOf(firstKey) + `","enforce_nonce":true}`}
	s.Route, s.Skip = "POST /channels/{channel_id}/messages", 4
	s.Change = word(theirWord, func(m *sandbox.Message) { m.Content = "canary-other" })
	return s
}

func rewriting() scene {
	s := writing()
	s.Args = inTalk("edit", string(ownWord), `,"content":"canary-edited"`)
	s.Sends = []string{`PATCH /channels/1200000000000000395/messages/1200000000000000591 {"content":"canary-edited",` + emptyTo + `}`}
	s.Route, s.Skip, s.Resource = "PATCH /channels/{channel_id}/messages/{message_id}", 4, string(talk)+"/"+string(ownWord)
	s.Change = word(ownWord, func(m *sandbox.Message) { m.Content = "canary-other" })
	s.Settle = word(ownWord, func(m *sandbox.Message) { m.Content = "canary-edited" })
	return s
}

func unsaying() scene {
	s := writing()
	s.Args = inTalk("delete", string(ownWord), `,"acknowledgeIrreversible":true`)
	s.Sends = []string{`DELETE /channels/1200000000000000395/messages/1200000000000000591`}
	s.Route, s.Skip, s.Resource = "DELETE /channels/{channel_id}/messages/{message_id}", 4, string(talk)+"/"+string(ownWord)
	s.Change = word(ownWord, func(m *sandbox.Message) { m.Content = "canary-other" })
	s.Settle = func(d *sandbox.Discord) { d.RemoveMessages(talk, ownWord) }
	return s
}

func word(id discord.MessageID, f func(m *sandbox.Message)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.ChangeMessage(talk, id, f) }
}

func TestDirectMessage(t *testing.T) {
	t.Parallel()
	s := writing()
	to := func(name string, user discord.UserID, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: code, Reason: reason, Args: strings.ReplaceAll(s.Args, string(sandbox.DemoMember), string(user)),
			Policy: permits(s.Workflow, "users", string(user))}
	}
	invalid := func(name, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: args}
	}
	stranger := to("a person whom the policy does not name", sandbox.DemoModerator, mcpcore.CodeWorkflowScope, "")
	stranger.Policy = nil
	other := to("another bot", "1200000000000000198", mcpcore.CodePlanRefused, "not-ordinary")
	other.Before = world(func(d *sandbox.Discord) {
		d.AddUser(sandbox.User{ID: "1200000000000000198", Name: "helper", Bot: true})
	})
	button := `"components":[{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"https://a.example"}]}]`
	s.Refusals = []operationtest.Refusal{
		stranger,
		to("the bot itself", sandbox.BotID, mcpcore.CodePlanRefused, "not-ordinary"),
		other,
		to("nobody", "1200000000000000199", mcpcore.CodeNotFound, ""),
		{Name: "a link that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: toMember("send", button+expected)},
		{Name: "a file that is none", Code: mcpcore.CodePlanRefused, Reason: "file", Args: toMember("send", `"file":{"name":"a.txt","data":"%"}`+expected)},
		invalid("contact that nobody expects", toMember("send", `"content":"x"`)),
		invalid("contact that is not acknowledged", toMember("send", `"content":"x","acknowledgeExpectedContact":false`)),
		invalid("a first message into a channel", toMember("send", `"content":"x","channelId":"`+string(talk)+`"`+expected)),
		invalid("nothing", toMember("send", `"userId":"1200000000000000104"`+expected)),
		invalid("blanks", toMember("send", `"content":"  "`+expected)),
		invalid("2001 characters", toMember("send", `"content":"`+strings.Repeat("x", 2001)+`"`+expected)),
		invalid("text above a layout", toMember("send", `"content":"x",`+button+expected)),
		invalid("a button that acts", toMember("send", `"components":[{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"x"}]}]`+expected)),
		invalid("a file with a path", toMember("send", `"file":{"name":"../a.txt","data":"eA=="}`+expected)),
		invalid("an acknowledgement of another action", toMember("send", `"content":"x","acknowledgeIrreversible":true`+expected)),
	}
	s.run(t)
}

func TestDirectReply(t *testing.T) {
	t.Parallel()
	s := replying()
	s.Refusals = []operationtest.Refusal{
		{Name: "the conversation with another", Code: mcpcore.CodePlanRefused, Reason: "other-recipient", Args: strings.Replace(s.Args, string(talk), string(otherTalk), 1)},
		{Name: "a channel of a guild", Code: mcpcore.CodePlanRefused, Reason: "other-recipient", Args: strings.Replace(s.Args, string(talk), string(sandbox.DemoGeneral), 1)},
		{Name: "a conversation of several", Code: mcpcore.CodePlanRefused, Reason: "other-recipient", Args: strings.Replace(s.Args, string(talk), "1200000000000000393", 1),
			Before: world(func(d *sandbox.Discord) {
				d.AddChannel(sandbox.Channel{ID: "1200000000000000393", Type: discord.GroupDM, Recipients: []discord.UserID{sandbox.DemoMember}})
			})},
		{Name: "no such message", Code: mcpcore.CodeNotFound, Args: strings.Replace(s.Args, string(theirWord), "1200000000000000589", 1)},
		{Name: "a message of Discord", Code: mcpcore.CodePlanRefused, Reason: "system-message", Before: world(word(theirWord, func(m *sandbox.Message) { m.Type = 3 }))},
		{Name: "no message", Code: mcpcore.CodeValidation, Args: toMember("reply", `"content":"x","channelId":"`+string(talk)+`"`+expected)},
	}
	s.run(t)
}

func TestDirectMessageEdit(t *testing.T) {
	t.Parallel()
	s := rewriting()
	other := func(name, reason string, f func(m *sandbox.Message)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Before: world(word(ownWord, f))}
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "their message", Code: mcpcore.CodePlanRefused, Reason: "not-own", Args: strings.Replace(s.Args, string(ownWord), string(theirWord), 1)},
		{Name: "another's conversation", Code: mcpcore.CodePlanRefused, Reason: "other-recipient", Args: strings.Replace(s.Args, string(talk), string(otherTalk), 1)},
		other("a poll", "not-plain", func(m *sandbox.Message) { m.Poll = &sandbox.Poll{Question: "x", Expires: at} }),
		other("a layout", "other-kind", func(m *sandbox.Message) { m.Flags = 1 << 15 }),
		{Name: "a new file", Code: mcpcore.CodeValidation, Args: inTalk("edit", string(ownWord), `,"file":{"name":"a.txt","data":"eA=="}`)},
	}
	s.run(t)
}

func TestDirectMessageDeletion(t *testing.T) {
	t.Parallel()
	s := unsaying()
	s.Refusals = []operationtest.Refusal{
		{Name: "their message", Code: mcpcore.CodePlanRefused, Reason: "not-own", Args: strings.Replace(s.Args, string(ownWord), string(theirWord), 1)},
		{Name: "another's conversation", Code: mcpcore.CodePlanRefused, Reason: "other-recipient", Args: strings.Replace(s.Args, string(talk), string(otherTalk), 1)},
		{Name: "nothing acknowledged", Code: mcpcore.CodeValidation, Args: inTalk("delete", string(ownWord), ``)},
		{Name: "with a text", Code: mcpcore.CodeValidation, Args: inTalk("delete", string(ownWord), `,"content":"x","acknowledgeIrreversible":true`)},
	}
	s.run(t)
}

// A layout and a file go out as they were planned, and a conversation that is
// there is used again.
func TestDirectMessagesOfOtherKinds(t *testing.T) {
	t.Parallel()
	s, nonce := writing(), `,"nonce":"`+nonceOf(firstKey)+`","enforce_nonce":true}`
	s.Permit.Scopes["linkOrigins"] = []string{"https://a.example"}
	button := `{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"https://a.example"}]}`
	s.writes(t, toMember("send", `"components":[`+button+`]`+expected), s.Sends[0],
		`POST /channels/1200000000000000395/messages {"components":[`+button+`],"flags":32768,`+emptyTo+nonce)
	file := base64.StdEncoding.EncodeToString([]byte("canary-file"))
	s.writes(t, toMember("send", `"content":"see","file":{"name":"a.txt","data":"`+file+`"}`+expected), s.Sends[0],
		`POST /channels/1200000000000000395/messages payload_json={"content":"see",`+emptyTo+nonce+` files[0]=application/octet-stream of 11 bytes`)
	unsaying().observed(func(d *sandbox.Discord) { d.RemoveMessages(talk, ownWord) }).ends(t, "gone already", "", "already-current", "")
}

// What becomes of the message decides, not that the conversation is open.
func TestDirectMessageThatIsRefused(t *testing.T) {
	t.Parallel()
	fails := func(f sandbox.Fault) scene {
		f.Method, f.Route = "POST", "/channels/{channel_id}/messages"
		return writing().observed(func(d *sandbox.Discord) { d.Inject(f) })
	}
	fails(sandbox.Fault{Status: 403}).ends(t, "a recipient who takes no messages", mcpcore.CodePermission, "failed", mcpcore.StatusFailed)
	fails(sandbox.Fault{Status: 500}).ends(t, "nobody knows", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	fails(sandbox.Fault{Reset: true, AfterExecution: true}).ends(t, "a lost answer", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s := writing()
	s.answered(s.Route, `"recipients":[{"id":"1200000000000000104"`, `"recipients":[{"id":"1200000000000000103"`).
		ends(t, "another conversation", mcpcore.CodePlanRefused, "failed", mcpcore.StatusFailed)
}

func TestDirectMessageThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	open := func(s scene, name string) {
		t.Helper()
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	const create = "POST /channels/{channel_id}/messages"
	s, edit, deletion := writing(), rewriting(), unsaying()
	open(s.answered(create, `"channel_id":"1200000000000000395"`, `"channel_id":"1200000000000000394"`), "an answer from another conversation")
	open(s.answered(create, `"id":"1100000000000000001"`, `"id":"1100000000000000002"`), "an answer of somebody else")
	open(s.answered(create, `"id":"14`, `"id":"x`), "an answer without an id")
	open(edit.answered(edit.Route, `"id":"1200000000000000591"`, `"id":"1200000000000000592"`), "another message")
	open(s.after("GET /channels/{channel_id}", string(sandbox.DemoMember), string(sandbox.DemoModerator)), "another conversation")
	open(s.after(s.ReadBack, `"id":"1100000000000000001"`, `"id":"1100000000000000002"`), "somebody else's message")
	open(deletion.afterWrite(func(d *sandbox.Discord) { d.AddMessage(talk, sandbox.Message{ID: ownWord, Content: "again"}) }), "one that is still there")
	s.after(s.ReadBack, "canary-hello", "canary-bye").drifts(t, "content")
	s.after(s.ReadBack, `"mention_everyone":false`, `"mention_everyone":true`).drifts(t, "mentions")
	replying().after(s.ReadBack, `"message_id":"1200000000000000590"`, `"message_id":"1200000000000000589"`).drifts(t, "messageId")
	filed := writing()
	filed.Args = toMember("send", `"file":{"name":"a.txt","data":"eA=="}`+expected)
	filed.after(s.ReadBack, `"size":1`, `"size":2`).drifts(t, "file")
}

// Nobody is written to twice within five seconds, by any key.
func TestDirectMessagesArePaced(t *testing.T) {
	t.Parallel()
	s := writing()
	c := s.client(t)
	c.want(s.Execute, s.Args, "completed")
	c.call(s.Execute, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	if c.field("code") != string(mcpcore.CodeRateLimited) || c.field("scope") != "recipient" {
		t.Errorf("it answers %s", c.raw)
	}
	// An edit reaches nobody anew.
	c.call(s.Execute, strings.TrimSuffix(rewriting().Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	if c.field("status") != "completed" {
		t.Errorf("it answers %s", c.raw)
	}
}

func TestDirectMessagesAreRead(t *testing.T) {
	t.Parallel()
	s := writing()
	with := func(c discord.ChannelID, u discord.UserID) string {
		return fmt.Sprintf(`{"channelId":"%s","userId":"%s"`, c, u)
	}
	c := s.client(t)
	c.call("list_direct_messages", with(talk, sandbox.DemoMember)+`}`)
	var list struct {
		Messages []struct {
			ID  discord.MessageID `json:"messageId"`
			Own bool              `json:"own"`
		} `json:"messages"`
		Text string `json:"untrusted_text"`
	}
	c.into(&list)
	if len(list.Messages) != 2 || list.Messages[0].ID != ownWord || !list.Messages[0].Own || list.Messages[1].Own ||
		!strings.Contains(list.Text, "canary-question") || !strings.Contains(list.Text, "<untrusted_discord_messages") {
		t.Errorf("the list tells %s", c.raw)
	}
	c.call("list_direct_messages", with(talk, sandbox.DemoMember)+`,"before":"`+string(ownWord)+`","limit":1}`)
	if strings.Contains(c.raw, "canary-answer") || !strings.Contains(c.raw, "canary-question") {
		t.Errorf("the list before tells %s", c.raw)
	}
	c.call("get_direct_message", with(talk, sandbox.DemoMember)+`,"messageId":"`+string(theirWord)+`"}`)
	if strings.Contains(c.raw, "canary-answer") || !strings.Contains(c.raw, "canary-question") {
		t.Errorf("the message is %s", c.raw)
	}
	for _, row := range []struct {
		args string
		code mcpcore.Code
	}{
		{with(otherTalk, sandbox.DemoModerator), mcpcore.CodeWorkflowScope},
		{with(otherTalk, sandbox.DemoMember), mcpcore.CodePlanRefused},
		{with(sandbox.DemoGeneral, sandbox.DemoMember), mcpcore.CodePlanRefused},
	} {
		c.call("list_direct_messages", row.args+`}`)
		if c.field("code") != string(row.code) {
			t.Errorf("%s: it answers %s", row.args, c.raw)
		}
		c.call("get_direct_message", row.args+`,"messageId":"`+string(ownWord)+`"}`)
		if c.field("code") != string(row.code) {
			t.Errorf("%s: it answers %s", row.args, c.raw)
		}
	}
}

func TestDirectMessageIsVerified(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	see := func(made *sandbox.Discord) { d = made }
	edit := rewriting().observed(see)
	c := edit.client(t)
	c.want(edit.Execute, edit.Args, "completed")
	c.want(edit.Verify, edit.Args, "verified")
	word(ownWord, func(m *sandbox.Message) { m.Content = "other" })(d)
	c.want(edit.Verify, edit.Args, "drifted")
	d.RemoveMessages(talk, ownWord)
	c.want(edit.Verify, edit.Args, "absent")
	deletion := unsaying().observed(see)
	c = deletion.client(t)
	c.want(deletion.Execute, deletion.Args, "completed")
	c.want(deletion.Verify, deletion.Args, "verified")
	d.AddMessage(talk, sandbox.Message{ID: ownWord, Content: "again"})
	c.want(deletion.Verify, deletion.Args, "drifted")
}

// The plan opens no conversation.
func TestDirectMessagePlanOpensNothing(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := writing().observed(func(made *sandbox.Discord) { d = made })
	s.REST = func(rest discordtools.REST) discordtools.REST {
		return meanwhile{rest, func(r discordtools.Request) {
			if r.Method != "GET" {
				t.Errorf("the plan sends %s %s", r.Method, r.Route)
			}
		}}
	}
	if told := s.plans(t); told["status"] != "planned" || len(d.Writes()) != 0 || slices.Contains([]any{"", nil}, told["digest"]) {
		t.Errorf("it plans %v", told)
	}
}

// Where opening a conversation takes a consent, a first message takes one too, and
// then its review.
func TestDirectMessageTakesConsent(t *testing.T) {
	t.Parallel()
	permits := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"direct-message-change": writing().Permit}}
	d := serve(t, discordtools.Config{RequireConsent: true}, permits)
	addTalks(d.world)
	d.world.ResetRequests()
	args := strings.TrimSuffix(writing().Args, "}") + `,"operationKey":"` + firstKey + `"`
	code, answer := d.call("execute_direct_message_change", args+`}`)
	var asks struct {
		Hash string `json:"consent_hash"`
		ID   string `json:"consent_id"`
		To   string `json:"recipient_id"`
	}
	if err := json.Unmarshal([]byte(answer), &asks); err != nil || code != string(mcpcore.CodeConsentRequired) || asks.To != string(sandbox.DemoMember) || len(d.world.Writes()) > 0 {
		t.Fatalf("it answers %s: %s, %v", code, answer, err)
	}
	given := fmt.Sprintf(`,"__consent":true,"__consent_hash":%q,"__consent_id":%q}`, asks.Hash, asks.ID)
	if code, answer := d.call("execute_direct_message_change", strings.Replace(args, "canary-hello", "other", 1)+given); code == "" || len(d.world.Writes()) > 0 {
		t.Errorf("another message goes out by the consent: %s", answer)
	}
	if code, answer := d.call("execute_direct_message_change", args+given); code != "" || len(d.world.Writes()) != 2 {
		t.Errorf("with the consent it answers %s: %s", code, answer)
	}
	// In the conversation nothing is opened.
	edit := strings.TrimSuffix(rewriting().Args, "}") + `,"operationKey":"` + secondKey + `"}`
	if code, answer := d.call("execute_direct_message_change", edit); code != "" {
		t.Errorf("an edit answers %s: %s", code, answer)
	}
}

// With an allowlist of guilds a first message goes where what acts on users is let
// through. What names a conversation, which is in no guild, does not.
func TestDirectMessagesUnderAnAllowlist(t *testing.T) {
	t.Parallel()
	permits := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"direct-message-change": writing().Permit}}
	only := discordtools.Config{AllowedGuilds: []discord.GuildID{sandbox.DemoGuild}, ExpectedBot: sandbox.BotID}
	if d := serve(t, only, permits); d.listed()["execute_direct_message_change"] {
		t.Error("it is listed")
	}
	only.UserScoped = true
	d := serve(t, only, permits)
	addTalks(d.world)
	for key, row := range map[string]struct {
		scene
		code mcpcore.Code
	}{firstKey: {writing(), ""}, secondKey: {rewriting(), mcpcore.CodeGuildUnresolved}} {
		if code, answer := d.call("execute_direct_message_change", strings.TrimSuffix(row.Args, "}")+`,"operationKey":"`+key+`"}`); code != string(row.code) {
			t.Errorf("it answers %s: %s", code, answer)
		}
	}
}
