package sandbox

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// used is an interaction at noon.
const used = "1510976205619200002"

func TestInteractions(t *testing.T) {
	t.Parallel()
	const callback, own, original = "/interactions/{used}/{usedtoken}/callback", "/webhooks/{app}/{usedtoken}", "/webhooks/{app}/{usedtoken}/messages/@original"
	uses := func(change ...func(*Interaction)) func(*Discord) {
		return func(d *Discord) {
			i := Interaction{ID: used, Channel: DemoGeneral, User: DemoMember}
			for _, c := range change {
				c(&i)
			}
			d.AddInteraction(i)
		}
	}
	of := func(kind int) func(*Interaction) {
		return func(i *Interaction) {
			if i.Type = kind; kind == ComponentInteraction {
				i.Message = mine
			}
		}
	}
	deferred := func(i *Interaction) { i.Deferred = true }
	aged := func(age time.Duration, change ...func(*Interaction)) func(*Discord) {
		return func(d *Discord) {
			uses(change...)(d)
			d.options.Clock = func() time.Time { return noon.Add(age) }
		}
	}
	answered := func(body string) func(*Discord) {
		return func(d *Discord) {
			uses()(d)
			r := request(t, d, "POST", demoNames.Replace(callback), body)
			if status, reply := send(t, d, r); status != 204 {
				t.Errorf("status %d: %s", status, reply)
			}
		}
	}
	public := func(want int) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			found := 0
			for _, m := range d.Messages(DemoGeneral) {
				if m.Interaction == used {
					found++
				}
			}
			if found != want {
				t.Errorf("%d messages in the channel, want %d", found, want)
			}
		}
	}
	rows(t, []row{
		{name: "a message", method: "POST", path: callback, body: `{"type":4,"data":{"content":"aye"}}`, status: 204, before: uses(), after: public(1)},
		{name: "told", method: "POST", path: callback + "?with_response=true", body: `{"type":4,"data":{"content":"aye"}}`, status: 200, has: `"content":"aye"`, before: uses()},
		{name: "ephemeral", method: "POST", path: callback + "?with_response=true", body: `{"type":4,"data":{"content":"aye","flags":64}}`, status: 200, has: `"response_message_ephemeral":true`, before: uses(),
			after: func(t *testing.T, d *Discord) {
				public(0)(t, d)
				if all := d.Whispers(used); len(all) != 1 || all[0].Content != "aye" {
					t.Errorf("whispers %+v", all)
				}
			}},
		{name: "put off", method: "POST", path: callback + "?with_response=true", body: `{"type":5}`, status: 200, has: `"response_message_loading":true`, before: uses()},
		{name: "nothing", method: "POST", path: callback, body: `{"type":4,"data":{}}`, status: 400, code: 50006, before: uses(), after: public(0)},
		{name: "an update of a command", method: "POST", path: callback, body: `{"type":7,"data":{"content":"aye"}}`, status: 400, code: 50035, before: uses()},
		{name: "an update", method: "POST", path: callback + "?with_response=true", body: `{"type":7,"data":{"content":"aye"}}`, status: 200, has: `"id":"{mine}"`, before: uses(of(ComponentInteraction))},
		{name: "an update put off", method: "POST", path: callback, body: `{"type":6}`, status: 204, before: uses(of(ComponentInteraction))},
		{name: "choices", method: "POST", path: callback, body: `{"type":8,"data":{"choices":[{"name":"fog","value":"fog"}]}}`, status: 204, before: uses(of(AutocompleteInteraction))},
		{name: "a message instead of choices", method: "POST", path: callback, body: `{"type":4,"data":{"content":"aye"}}`, status: 400, code: 50035, before: uses(of(AutocompleteInteraction))},
		{name: "a form", method: "POST", path: callback, body: `{"type":9,"data":{"custom_id":"f","title":"Fog","components":[{"type":10,"content":"x"}]}}`, status: 204, before: uses()},
		{name: "a form after a form", method: "POST", path: callback, body: `{"type":9,"data":{"custom_id":"f","title":"Fog","components":[{"type":10,"content":"x"}]}}`, status: 400, code: 50035, before: uses(of(ModalInteraction))},
		{name: "an activity", method: "POST", path: callback + "?with_response=true", body: `{"type":12}`, status: 200, has: `"activity_instance"`, before: uses()},
		{name: "twice", method: "POST", path: callback, body: `{"type":5}`, status: 400, code: 40060, before: answered(`{"type":5}`)},
		{name: "at the last moment", method: "POST", path: callback, body: `{"type":5}`, status: 204, before: aged(toRespond)},
		{name: "too late", method: "POST", path: callback, body: `{"type":5}`, status: 404, code: 10062, before: aged(toRespond + time.Second)},
		{name: "by another token", method: "POST", path: "/interactions/{used}/x/callback", body: `{"type":5}`, status: 404, code: 10062, before: uses()},

		{name: "the response", method: "GET", path: original, status: 200, has: `"application_id":"{app}"`, before: answered(`{"type":4,"data":{"content":"aye"}}`)},
		{name: "the response of none", method: "GET", path: original, status: 404, code: 10015, before: uses()},
		{name: "the response, a form", method: "GET", path: original, status: 404, code: 10008, before: answered(`{"type":9,"data":{"custom_id":"f","title":"Fog","components":[{"type":10,"content":"x"}]}}`)},
		{name: "the response after 15 minutes", method: "GET", path: original, status: 401, code: 50027, before: aged(toFollow+time.Second, deferred)},
		{name: "the response before", method: "GET", path: original, status: 200, has: `"flags":128`, before: aged(toFollow, deferred)},
		{name: "what was put off comes", method: "PATCH", path: original, body: `{"poll":{"question":{"text":"fog?"},"answers":[{"poll_media":{"text":"aye"}}]}}`, status: 200, has: `"flags":0`, before: uses(deferred), after: public(1)},
		{name: "it mentions who is allowed", method: "PATCH", path: original, body: `{"content":"@everyone","allowed_mentions":{"parse":[]}}`, status: 200, has: `"mention_everyone":false`, before: uses(deferred)},
		{name: "an ephemeral response is edited", method: "PATCH", path: original, body: `{"content":"nay"}`, status: 200, has: `"flags":64`, before: answered(`{"type":4,"data":{"content":"aye","flags":64}}`), after: public(0)},
		{name: "the response goes", method: "DELETE", path: original, status: 204, before: answered(`{"type":4,"data":{"content":"aye"}}`), after: public(0)},

		{name: "a followup", method: "POST", path: own, body: `{"content":"and"}`, status: 200, has: `"author":{"id":"{bot}"`, before: answered(`{"type":4,"data":{"content":"aye"}}`), after: public(2)},
		{name: "an ephemeral followup", method: "POST", path: own, body: `{"content":"and","flags":64}`, status: 200, has: `"flags":64`, before: answered(`{"type":4,"data":{"content":"aye"}}`), after: public(1)},
		{name: "the first followup is what was put off", method: "POST", path: own, body: `{"content":"and"}`, status: 200, has: `"flags":64`, before: answered(`{"type":5,"data":{"flags":64}}`), after: public(0)},
		{name: "a followup of nothing", method: "POST", path: own, body: `{"content":"and"}`, status: 404, code: 10015, before: uses()},
		{name: "a followup too late", method: "POST", path: own, body: `{"content":"and"}`, status: 401, code: 50027, before: aged(toFollow+time.Second, deferred)},
		{name: "a followup by another token", method: "POST", path: "/webhooks/{app}/x", body: `{"content":"and"}`, status: 401, code: 50027, before: uses()},
		{name: "another's message", method: "PATCH", path: own + "/messages/{mine}", body: `{"content":"and"}`, status: 404, code: 10008, before: answered(`{"type":5}`)},
		{name: "it is no webhook", method: "GET", path: own, status: 404, code: 10015, before: uses(deferred)},
		{name: "the channel is gone", method: "GET", path: original, status: 404, code: 10003, before: func(d *Discord) {
			uses(deferred)(d)
			d.world.drop(d.world.guilds[DemoGuild], d.world.channels[DemoGeneral])
		}},
	})
}

func TestFollowupsAreTheirOwn(t *testing.T) {
	t.Parallel()
	d := demo(t)
	first := d.AddInteraction(Interaction{Channel: DemoGeneral, User: DemoMember, Deferred: true})
	second := d.AddInteraction(Interaction{Channel: DemoGeneral, User: DemoModerator, Deferred: true})
	if first.ID == second.ID || first.Token == second.Token || len(first.Token) < 60 {
		t.Fatalf("%+v, %+v", first, second)
	}
	m := get[struct {
		ID discord.MessageID `json:"id"`
	}](t, d, "PATCH", "/webhooks/"+string(ApplicationID)+"/"+first.Token+"/messages/@original", `{"content":"aye"}`)
	for token, want := range map[string]int{first.Token: 200, second.Token: 404} {
		if status, reply := do(t, d, "GET", "/webhooks/"+string(ApplicationID)+"/"+token+"/messages/"+string(m.ID), ""); status != want {
			t.Errorf("status %d, want %d: %s", status, want, reply)
		}
	}
}
