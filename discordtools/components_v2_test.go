package discordtools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Layouts of these tests.
const (
	plain  = `[{"type":10,"content":"Ahoy <@1200000000000000104>"}]`
	framed = `[{"type":17,"accent_color":null,"spoiler":false,"components":[{"type":9,"components":[{"type":10,"content":"# Ahoy"}],"accessory":{"type":11,"media":{"url":"https://a.example/i.png"}}},{"type":1,"components":[{"type":2,"style":1,"label":"Go","custom_id":"go"},{"type":2,"style":5,"label":"More","url":"https://a.example"}]}]},{"type":14,"spacing":2}]`
)

// ownMessage is a message of the bot, to be edited.
const ownMessage discord.MessageID = "1200000000000008001"

func own(m sandbox.Message) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		m.ID, m.Author = ownMessage, sandbox.BotID
		d.AddMessage(sandbox.DemoGeneral, m)
	}
}

func TestComponentsV2(t *testing.T) {
	t.Parallel()
	const post, safe, once = "POST /channels/" + general + "/messages ", `"allowed_mentions":{"parse":[],"replied_user":false}`, `"nonce":"*","enforce_nonce":true`
	target := "PATCH /channels/" + general + "/messages/" + string(ownMessage) + " "
	edit := `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage)
	// What a person sees before is read again when the call acts.
	const seen = "GET /channels/" + general
	old := "GET /channels/" + general + "/messages/" + string(ownMessage)
	const nulls = `"content":null,"embeds":null,"sticker_ids":null`
	run(t, []row{
		// Builders.
		{
			shows: "a container in full", tool: "components_v2_build_container", args: `{"components":` + plain + `,"accent_color":255,"spoiler":true}`,
			want: `{"component":{"type":17,"components":` + plain + `,"accent_color":255,"spoiler":true}}`,
		},
		{
			shows: "a container without a colour", tool: "components_v2_build_container", args: `{"components":[{"type":14}],"accent_color":null}`,
			want: `{"component":{"type":17,"components":[{"type":14}],"accent_color":null}}`,
		},
		{
			shows: "nesting is not checked", tool: "components_v2_build_container", args: `{"components":[{"type":17}]}`,
			want: `{"component":{"type":17,"components":[{"type":17}]}}`,
		},
		{shows: "a container of nothing", tool: "components_v2_build_container", args: `{"components":[]}`, code: mcpcore.CodeValidation, says: "at least 1"},
		{shows: "no such colour", tool: "components_v2_build_container", args: `{"components":[{"type":14}],"accent_color":16777216}`, code: mcpcore.CodeValidation, says: "16777215"},
		{
			shows: "a section with a thumbnail", tool: "components_v2_build_section", args: `{"text":["a","b\n\"c\""],"accessory":{"type":11,"media":{"url":"https://a.example/i.png"},"spoiler":true}}`,
			want: `{"component":{"type":9,"components":[{"type":10,"content":"a"},{"type":10,"content":"b\n\"c\""}],"accessory":{"type":11,"media":{"url":"https://a.example/i.png"},"spoiler":true}}}`,
		},
		{
			shows: "a section with a button", tool: "components_v2_build_section", args: `{"text":["a"],"accessory":{"type":2,"style":6,"sku_id":"790000000000000001"}}`,
			want: `{"component":{"accessory":{"type":2,"style":6}}}`,
		},
		{shows: "text beside a text", tool: "components_v2_build_section", args: `{"text":["a"],"accessory":{"type":10,"content":"b"}}`, code: mcpcore.CodeValidation, says: "accessory: the accessory of a section is a thumbnail or a button"},
		{shows: "a button without anything", tool: "components_v2_build_section", args: `{"text":["a"],"accessory":{"type":2}}`, code: mcpcore.CodeValidation, says: "accessory.style: is required"},
		{shows: "four texts", tool: "components_v2_build_section", args: `{"text":["a","b","c","d"],"accessory":{"type":11,"media":{"url":"https://a.example"}}}`, code: mcpcore.CodeValidation, says: "at most 3"},
		{
			shows: "a gallery", tool: "components_v2_build_media_gallery", args: `{"items":[{"url":"https://a.example/i.png","description":"a cat","spoiler":true},{"url":"attachment://b.png"}]}`,
			want: `{"component":{"type":12,"items":[{"media":{"url":"https://a.example/i.png"},"description":"a cat","spoiler":true},{"media":{"url":"attachment://b.png"}}]}}`,
		},
		{shows: "addresses that show nothing", tool: "components_v2_build_media_gallery", args: `{"items":[{"url":"https://a.example"},{"url":"b.png"},{"url":"ftp://c.example"}]}`, code: mcpcore.CodeValidation, says: "items.2.url"},

		// Looking at a layout.
		{
			shows: "a drawing", tool: "components_v2_preview", args: `{"components":` + framed + `}`,
			says: "[container]\n  [section]\n    # Ahoy\n    [thumbnail] https://a.example/i.png\n  [action row]\n    [Go] (go)\n    [More] -> https://a.example\n----------------------------------------",
			want: `{"ascii":"*"}`,
		},
		{shows: "what cannot be drawn is named", tool: "components_v2_preview", args: `{"components":[{"type":99},5]}`, want: `{"ascii":"[unknown type 99]\n[not a component]"}`},
		{shows: "nothing to draw", tool: "components_v2_preview", args: `{}`, code: mcpcore.CodeValidation, says: "components: is required"},
		{shows: "a valid layout", tool: "components_v2_validate", args: `{"components":` + framed + `}`, want: `{"valid":true,"issues":[]}`},
		{
			shows: "all faults at once", tool: "components_v2_validate", args: `{"components":[{"type":13,"file":{"url":"https://a.example"}},{"type":17,"components":[{"type":17,"components":[{"type":10}]}]},{"type":15},7]}`,
			want: `{"valid":false,"issues":[{"path":"components.2.type","code":"UNKNOWN_TYPE","fix_hint":"*"},{"path":"components.1.components.0.components.0.content","code":"SCHEMA_invalid_type"},{"path":"components.3","code":"SCHEMA_invalid_type"},{"path":"components.0.file.url","code":"FILE_UNSUPPORTED"},{"path":"components.1.components.0","code":"CONTAINER_IN_CONTAINER","message":"*"}]}`,
		},
		{shows: "nothing is no layout", tool: "components_v2_validate", args: `{"components":[]}`, want: `{"valid":false,"issues":[{"path":"components","code":"SCHEMA_too_small"}]}`},
		{shows: "a file that is named is taken on trust", tool: "components_v2_validate", args: `{"components":[{"type":13,"file":{"url":"attachment://a.txt"}}]}`, want: `{"valid":true}`},
		{shows: "no list", tool: "components_v2_validate", args: `{"components":{"type":10}}`, code: mcpcore.CodeValidation, says: "must be a list"},

		// Sending.
		{
			shows: "a layout as the caller wrote it", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + framed + `}`, approved: true,
			sent: []string{seen, post + `{"components":` + framed + `,"flags":32768,` + safe + `,` + once + `}`, "GET /channels/" + general},
			want: `{"message_id":"*","channel_id":` + id(general) + `,"jump_url":"*","component_count":2}`, says: "https://discord.com/channels/" + guild,
		},
		{
			shows: "somebody is notified", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `,"allowed_mentions":{"parse":["users"]}}`, approved: true,
			sent: []string{seen, post + `{"components":` + plain + `,"flags":32768,"allowed_mentions":{"parse":["users"]},` + once + `}`, "GET /channels/" + general},
		},
		{
			shows: "silently, as a reply", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `,"flags":4096,"message_reference":{"message_id":` + id(sandbox.DemoPoll) + `,"fail_if_not_exists":true}}`, approved: true,
			sent: []string{seen, post + `{"components":` + plain + `,"flags":36864,"message_reference":{"message_id":` + id(sandbox.DemoPoll) + `,"fail_if_not_exists":true},` + safe + `,` + once + `}`, "GET /channels/" + general},
		},
		{
			shows: "a file that a component shows", tool: "components_v2_send", approved: true,
			args: `{"channel_id":` + id(general) + `,"components":[{"type":13,"file":{"url":"attachment://log.txt"}}],"files":[{"name":"log.txt","data":"aGVsbG8="}]}`,
			sent: []string{seen, post + `(multipart)`, "GET /channels/" + general},
		},
		{
			shows: "a file that no component shows", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `,"files":[{"name":"log.txt","data":"aGVsbG8="}]}`,
			code: mcpcore.CodeValidation, says: "attachment://log.txt",
		},
		{
			shows: "a file that is not sent along", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":[{"type":13,"file":{"url":"attachment://log.txt"}}]}`,
			code: mcpcore.CodeValidation, says: "no file of this name is sent along",
		},
		{
			shows: "a layout that is JSON in a string", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":"[{\"type\":10,\"content\":\"Hi\"}]"}`, approved: true,
			sent: []string{seen, post + `{"components":[{"type":10,"content":"Hi"}],"flags":32768,` + safe + `,` + once + `}`, "GET /channels/" + general},
		},
		{
			shows: "a broken layout is told whole, and nothing is proposed", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":[{"type":4},{"type":2,"style":1,"label":"x"},{"type":10}]}`,
			code: mcpcore.CodeValidation, want: `{"issues":[{"path":"components.2.content","code":"SCHEMA_invalid_type"},{"path":"components.0.type","code":"MODAL_ONLY","message":"a text input (type 4) stands in a modal, not in a message. Ask with a button or a select here, and open a modal when it is used"},{"path":"components.1","code":"MISPLACED"},{"path":"components.1","code":"BUTTON_NO_ID_OR_URL"}]}`,
		},
		{shows: "null for mentions", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `,"allowed_mentions":null}`, code: mcpcore.CodeValidation, says: "notify everybody"},
		{shows: "content is no part of it", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `,"content":"x"}`, code: mcpcore.CodeValidation, says: "content"},
		{
			shows: "where the bot sees nothing nothing is proposed", tool: "components_v2_send", args: `{"channel_id":` + id(sandbox.DemoStaff) + `,"components":` + plain + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoStaff)}, code: mcpcore.CodePermission,
		},
		{
			shows: "into a forum", tool: "components_v2_send", args: `{"channel_id":` + id(sandbox.DemoHelp) + `,"components":` + plain + `}`, approved: true,
			sent: []string{"GET /channels/" + string(sandbox.DemoHelp), "POST /channels/" + string(sandbox.DemoHelp) + `/messages {"components":` + plain + `,"flags":32768,` + safe + `,` + once + `}`}, code: mcpcore.CodeValidation,
		},

		// Editing.
		{
			shows: "another layout", tool: "components_v2_edit", args: edit + `,"components":` + framed + `}`, approved: true,
			setup: own(sandbox.Message{Flags: 32768, Components: []sandbox.Component{{Type: 10, ID: 1, Content: "old"}}}),
			sent:  []string{seen, old, target + `{"components":` + framed + `,"flags":32768,` + safe + `,` + nulls + `}`},
			want:  `{"message_id":` + id(ownMessage) + `,"channel_id":` + id(general) + `,"edited_timestamp":"*"}`,
		},
		{
			shows: "text and embeds become components", tool: "components_v2_edit", args: edit + `,"components":` + plain + `,"allowed_mentions":{"parse":["users"]}}`, approved: true,
			setup: own(sandbox.Message{Content: "old", Embeds: []sandbox.Embed{{Title: "old"}}}),
			sent:  []string{seen, old, target + `{"components":` + plain + `,"flags":32768,"allowed_mentions":{"parse":["users"]},` + nulls + `}`},
			want:  `{"message_id":` + id(ownMessage) + `}`,
		},
		{
			shows: "a file more", tool: "components_v2_edit", args: edit + `,"components":[{"type":12,"items":[{"media":{"url":"attachment://a.png"}}]}],"files":[{"name":"a.png","data":"aGVsbG8="}]}`, approved: true,
			setup: own(sandbox.Message{Content: "old"}), sent: []string{seen, old, target + `(multipart)`},
		},
		{
			shows: "a poll stays a poll", tool: "components_v2_edit", args: edit + `,"components":` + plain + `}`, approved: true,
			setup: own(sandbox.Message{Poll: &sandbox.Poll{Question: "When?", Answers: []sandbox.PollAnswer{{Text: "Now"}}}}),
			sent:  []string{seen, old, target + `{"components":` + plain + `,"flags":32768,` + safe + `,` + nulls + `}`},
			code:  mcpcore.CodeValidation, says: "poll",
		},
		{
			shows: "somebody else's", tool: "components_v2_edit", args: `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"components":` + plain + `}`, approved: true,
			sent: []string{seen, "GET /channels/" + general + "/messages/" + string(sandbox.DemoPoll), "PATCH /channels/" + general + "/messages/" + string(sandbox.DemoPoll) + ` {"components":` + plain + `,"flags":32768,` + safe + `,` + nulls + `}`}, code: mcpcore.CodePermission,
		},
		{shows: "a broken layout", tool: "components_v2_edit", args: edit + `,"components":[{"type":11,"media":{"url":"https://a.example"}}]}`, code: mcpcore.CodeValidation, says: "components.0: a thumbnail stands as the accessory of a section alone"},
		{shows: "a file that the message has is not there", tool: "components_v2_edit", args: edit + `,"components":[{"type":13,"file":{"url":"attachment://log.txt"}}]}`, approved: true,
			setup: own(sandbox.Message{Content: "old"}),
			sent:  []string{seen, old, target + `{"components":[{"type":13,"file":{"url":"attachment://log.txt"}}],"flags":32768,` + safe + `,` + nulls + `}`},
			code:  mcpcore.CodeValidation, says: "was not found"},

		// What a person sees before.
		{
			shows: "where it will stand", tool: "components_v2_send", args: `{"channel_id":` + id(general) + `,"components":` + plain + `}`,
			sent: []string{seen}, code: mcpcore.CodePayloadRequired, want: `{"facts":[{"name":"channel","value":"general"},{"name":"kind","value":"text channel"}]}`,
		},
		{
			shows: "where the template will stand", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(sandbox.DemoThread) + `,"template":"poll_results","vars":{}}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoThread)}, code: mcpcore.CodePayloadRequired, want: `{"facts":[{"value":"Storm level feedback"},{"value":"public thread"}]}`,
		},
		{
			shows: "what goes", tool: "components_v2_edit", args: edit + `,"components":` + plain + `}`,
			setup: own(sandbox.Message{Flags: 32768, Components: []sandbox.Component{{Type: 10, ID: 1, Content: "the old words"}}}),
			sent:  []string{seen, old}, code: mcpcore.CodePayloadRequired,
			want: `{"facts":[{"name":"channel","value":"general"},{"name":"kind","value":"text channel"},{"name":"author","value":"Guildwarden Demo, a bot"},{"name":"sent","value":"*"},{"name":"text","value":"the old words"}]}`,
		},
		{shows: "there is nothing to replace", tool: "components_v2_edit", args: edit + `,"components":` + plain + `}`, sent: []string{seen, old}, code: mcpcore.CodeNotFound},

		// Templates.
		{
			shows: "a place without a text stays, and is told", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"question":"Tea?"}}`,
			sent: []string{seen}, code: mcpcore.CodePayloadRequired, want: `{"preview":{"unfilled":["bars_text","winner"]}}`,
		},
		{shows: "a place without an address", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"announcement","vars":{}}`, code: mcpcore.CodeValidation, says: "components.0.components.3.components.0.url"},
		{shows: "a text without a place", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"qestion":"Tea?","zzzzzzzzz":"x"}}`, code: mcpcore.CodeValidation, says: `did you mean "question"?`},
		{shows: "a text too long", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"question":"` + strings.Repeat("x", 4000) + `"}}`, code: mcpcore.CodeValidation, says: "4000"},
		{shows: "no such template", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"birthday","vars":{}}`, code: mcpcore.CodeValidation, says: "announcement"},
		{shows: "a text that is a number", tool: "components_v2_send_from_template", args: `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"question":5}}`, code: mcpcore.CodeValidation, says: "vars.question"},
	})
}

// TestComponentTemplates sends each template: what is sent, what the channel
// then shows, and that a text is no template itself.
func TestComponentTemplates(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ vars, holds string }{
		"announcement":    {`{"title":"Movie night","body":"{{title}} <@1200000000000000104> & more","cta_label":"Details","cta_url":"https://a.example/movie"}`, `{"type":10,"content":"{{title}} <@1200000000000000104> & more"}`},
		"incident_status": {`{"status_emoji":"🔥","title":"Login is down","summary":"We are on it.","ack_custom_id":"ack:1","resolve_custom_id":"resolve:1"}`, `{"type":10,"content":"# 🔥 Login is down"}`},
		"poll_results":    {`{"question":"Tea?","bars_text":"███ 3\n██ 2","winner":"Tea"}`, `{"type":10,"content":"███ 3\n██ 2"}`},
		"release_notes":   {`{"version":"1.4.0","headline":"Faster","changelog":"- quicker","download_url":"https://a.example/1.4.0"}`, `{"type":10,"content":"- quicker"}`},
		"welcome_card":    {`{"username":"Ann","avatar_url":"https://a.example/ann.png","role_id_member":"750000000000000001","rules_channel_id":"710000000000000001"}`, `{"type":1,"components":[{"type":2,"style":3,"custom_id":"welcome_claim_750000000000000001"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			args := `{"channel_id":` + id(general) + `,"template":` + id(name) + `,"vars":` + row.vars + `}`
			args = b.approve("components_v2_send_from_template", args)
			b.world.ResetRequests()
			a := b.call("components_v2_send_from_template", args)
			covered.note("components_v2_send_from_template", a.code == "")
			if a.code != "" || !strings.Contains(string(a.data), `"template":`+id(name)) {
				t.Fatalf("answers %s", a.data)
			}
			if writes := b.writes(); len(writes) != 1 || !strings.HasSuffix(writes[0], "/messages") {
				t.Fatalf("Discord saw %v", writes)
			}
			var sent struct {
				Flags      int
				Mentions   json.RawMessage `json:"allowed_mentions"`
				Components []struct{ Components []any }
			}
			requests := b.world.Requests()
			body := requests[slices.IndexFunc(requests, func(r sandbox.Request) bool { return r.Method == "POST" })].Body
			if err := json.Unmarshal(body, &sent); err != nil {
				t.Fatal(err)
			}
			if sent.Flags != 32768 || string(sent.Mentions) != `{"parse":[],"replied_user":false}` {
				t.Errorf("sent %s", body)
			}
			var want any
			if err := json.Unmarshal([]byte(row.holds), &want); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, c := range sent.Components[0].Components {
				found = found || equal(c, want, false)
			}
			if !found {
				t.Errorf("%s is not in %s", row.holds, body)
			}
			var told struct {
				ID discord.MessageID `json:"message_id"`
			}
			if err := json.Unmarshal(a.data, &told); err != nil {
				t.Fatal(err)
			}
			if m, ok := b.world.Message(sandbox.DemoGeneral, told.ID); !ok || m.Flags&32768 == 0 || !m.Notified.Nobody() {
				t.Errorf("the channel has %+v", m)
			}
		})
	}
}

// writes are the requests that change something, without their bodies.
func (b *bench) writes() (all []string) {
	for _, r := range b.world.Requests() {
		if r.Method != "GET" {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}

// Components V2 messages are the business of these tools alone.
func TestOtherToolsSendNoComponentsV2(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{shows: "no flag", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":"x","flags":32768}`, code: mcpcore.CodeValidation, says: "flags: must be one of"},
		{shows: "no components", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":"x","components":` + plain + `}`, code: mcpcore.CodeValidation, says: "components: is not an argument here"},
		{shows: "no components", tool: "messages_edit", args: `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"content":"x","components":` + plain + `}`, code: mcpcore.CodeValidation, says: "components: is not an argument here"},
		{
			shows: "a message of components takes no text", tool: "messages_edit", args: `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"content":"x"}`,
			setup: own(sandbox.Message{Flags: 32768, Components: []sandbox.Component{{Type: 10, ID: 1, Content: "old"}}}),
			sent:  []string{"PATCH /channels/" + general + "/messages/" + string(ownMessage) + ` {"content":"x","allowed_mentions":{"parse":[],"replied_user":false}}`},
			code:  mcpcore.CodeValidation, says: "IS_COMPONENTS_V2",
		},
	})
}

// TestPayloadPreview looks at everything a preview tells, and that it tells no
// text and no custom_id.
func TestPayloadPreview(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		tool, args, preview string
		flags               []string
	}{
		"send": {
			"components_v2_send", `{"channel_id":` + id(general) + `,"components":[{"type":10,"content":"CANARY https://b.example/CANARY"},{"type":1,"components":[{"type":2,"style":1,"label":"CANARY","custom_id":"CANARY-1"}]}],"allowed_mentions":{"parse":["everyone"]}}`,
			`{"tool":"components_v2_send","target":{"channel_id":` + id(general) + `},"component_count":2,"risk_flags":["allowed_mentions","external_urls","interactive_components"],
			"component_review":{"totalNodes":3,"typeCounts":{"1":1,"2":1,"10":1},"textNodes":1,"maxTextLength":31,"externalUrlHosts":["b.example"],"interactiveCount":1,"customIdLengths":[8],"customIdHashes":["*"]},
			"payload_hash":"*","approval_id":"*","approval_expires_at":"2026-03-14T15:14:26Z","payload":{"allowed_mentions":{"parse":["everyone"]},"channel_id":` + id(general) + `,"components":"[REDACTED:value]"}}`,
			[]string{"allowed_mentions", "external_urls", "interactive_components"},
		},
		"edit": {
			"components_v2_edit", `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":[` + strings.TrimSuffix(strings.Repeat(`{"type":10,"content":"CANARY"},`, 32), ",") + `]}`,
			`{"tool":"components_v2_edit","target":{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `},"component_count":32,"risk_flags":["edit_existing_message","component_count_near_limit"],
			"component_review":{"totalNodes":32,"typeCounts":{"10":32},"textNodes":32,"maxTextLength":6,"externalUrlHosts":[],"interactiveCount":0,"customIdLengths":[],"customIdHashes":[]},
			"payload_hash":"*","approval_id":"*","approval_expires_at":"*","payload":{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":"[REDACTED:value]"}}`,
			[]string{"edit_existing_message", "component_count_near_limit"},
		},
		"template": {
			"components_v2_send_from_template", `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{"question":"CANARY","bars_text":"CANARY 2","winner":"CANARY"}}`,
			`{"tool":"components_v2_send_from_template","target":{"channel_id":` + id(general) + `},"component_count":1,"risk_flags":[],"component_review":{"totalNodes":5,"typeCounts":{"10":3,"14":1,"17":1},"textNodes":3,"maxTextLength":18,"externalUrlHosts":[],"interactiveCount":0,"customIdLengths":[],"customIdHashes":[]},
			"payload_hash":"*","approval_id":"*","approval_expires_at":"*","payload":{"channel_id":` + id(general) + `,"components":[{"type":17,"accent_color":16776960,"components":[{"type":10,"content":"# [REDACTED:6ch]"},{"type":10,"content":"[REDACTED:8ch]"},{"type":14},{"type":10,"content":"**Winner:** [REDACTED:6ch]"}]}]}}`,
			[]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			own(sandbox.Message{Content: "old"})(b.world)
			a := b.call(row.tool, row.args)
			var told struct {
				Tool    string
				Hash    string   `json:"payload_hash"`
				ID      string   `json:"approval_id"`
				Expires string   `json:"approval_expires_at"`
				Risks   []string `json:"risk_flags"`
				Preview any
			}
			if err := json.Unmarshal(a.data, &told); err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal([]byte(row.preview), &want); err != nil {
				t.Fatal(err)
			}
			if !equal(told.Preview, want, true) {
				got, _ := json.Marshal(told.Preview)
				t.Errorf("the preview is\n%s\nwant\n%s", got, row.preview)
			}
			if a.code != mcpcore.CodePayloadRequired || told.Tool != row.tool || fmt.Sprint(told.Risks) != fmt.Sprint(row.flags) || told.Expires != "2026-03-14T15:14:26Z" {
				t.Errorf("answers %s", a.data)
			}
			// Clients that show text alone learn the same.
			for _, needed := range []string{told.Hash, told.ID, "component_review", "risk_flags"} {
				if needed == "" || !strings.Contains(a.text, needed) {
					t.Errorf("%q is not in the text\n%s", needed, a.text)
				}
			}
			a = b.call(row.tool, confirming(t, row.args, a.data))
			seen, err := json.Marshal(b.audit.all())
			if err != nil {
				t.Fatal(err)
			}
			if all := string(seen) + string(a.data) + a.text; strings.Contains(all, "CANARY") || len(b.audit.all()) != 2 {
				t.Errorf("a text of the layout shows: %s", all)
			}
		})
	}
}

// An approved edit replaces the message that was shown, not what somebody made
// of it since.
func TestApprovedEditOfAMessageThatChanged(t *testing.T) {
	t.Parallel()
	b := start(t)
	own(sandbox.Message{Content: "as shown"})(b.world)
	edit := `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":` + plain + `}`
	approved := b.approve("components_v2_edit", edit)
	if a := b.call("messages_edit", `{"channel_id":`+id(general)+`,"message_id":`+id(ownMessage)+`,"content":"made since"}`); a.code != "" {
		t.Fatalf("editing it meanwhile: %s", a.data)
	}
	b.world.ResetRequests()
	a := b.call("components_v2_edit", approved)
	if a.code != mcpcore.CodeFactsChanged || !strings.Contains(a.text, "made since") || len(b.writes()) > 0 {
		t.Errorf("it answers %s, Discord saw %v", a.data, b.writes())
	}
	if a := b.call("components_v2_edit", b.approve("components_v2_edit", edit)); a.code != "" {
		t.Errorf("with what is there now it answers %s", a.data)
	}
}

func TestScopeOfComponentsV2(t *testing.T) {
	t.Parallel()
	only := func(d *discordtools.Deps) { d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoClub} }
	for _, r := range [][2]string{
		{"components_v2_send", `{"channel_id":` + id(general) + `,"components":` + plain + `}`},
		{"components_v2_edit", `{"channel_id":` + id(general) + `,"message_id":` + id(ownMessage) + `,"components":` + plain + `}`},
		{"components_v2_send_from_template", `{"channel_id":` + id(general) + `,"template":"poll_results","vars":{}}`},
	} {
		b := start(t, only)
		if a := b.call(r[0], r[1]); a.code != mcpcore.CodeGuildNotAllowed || len(b.writes()) > 0 {
			t.Errorf("%s: %s, Discord saw %v", r[0], a.data, b.writes())
		}
	}
	b := start(t, only)
	args := b.approve("components_v2_send", `{"channel_id":`+id(sandbox.DemoClubGeneral)+`,"components":`+plain+`}`)
	if a := b.call("components_v2_send", args); a.code != "" {
		t.Errorf("the allowed guild: %s", a.data)
	}
}
