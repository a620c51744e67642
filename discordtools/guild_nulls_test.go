package discordtools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/discordtools"
)

// canned answers every request with one body.
type canned string

func (c canned) Do(context.Context, discordtools.Request) (*discordtools.Response, error) {
	return &discordtools.Response{Status: 200, Header: http.Header{}, Body: []byte(c)}, nil
}

// L47 Result does not match the published output schema
func TestL47GuildRepliesWithNullsFitTheSchema(t *testing.T) {
	t.Parallel()
	const bare = `{"id":"1200000000000000001","name":"n","icon":null,"description":null,"owner_id":"1200000000000000101","premium_tier":0,
		"preferred_locale":"en-US","features":[],"vanity_url_code":null,"afk_channel_id":null,"system_channel_id":null,"rules_channel_id":null,"future":{"x":[1]}}`
	for _, c := range []struct{ tool, args, reply, has string }{
		{"guild_get", "", bare, `"description":null`},
		{"guild_modify", `,"name":"nn"`, bare, `"icon":null`},
		{"guild_get_vanity_url", "", `{"code":null,"uses":0,"error":null}`, `"code":null`},
		{"guild_list_voice_regions", "", `null`, `"regions":[]`},
		{"guild_list_integrations", "", `null`, `"integrations":[]`},
		{"guild_list_integrations", "", `[{"id":"twitch-partners","name":null,"type":"twitch","enabled":true,"account":{"id":"x","name":null}}]`, `"name":null`},
		{"guild_get_prune_count", "", `{"pruned":null}`, `"pruned":null`},
		{"guild_get_welcome_screen", "", `{"description":null,"welcome_channels":[]}`, `"welcome_channels":[]`},
		{"guild_modify_welcome_screen", `,"enabled":true`, `{"description":null,"welcome_channels":[{"channel_id":"1200000000000000313","description":"x","emoji_id":null,"emoji_name":null}]}`, `"emoji_name":null`},
		{"guild_get_widget", "", `{"id":"1200000000000000001","name":"n","instant_invite":null,"channels":[],"members":[],"presence_count":0}`, `"instant_invite":null`},
		{"guild_get_widget_settings", "", `{"enabled":false,"channel_id":null}`, `"channel_id":null`},
		{"voice_get_user_state", `,"user_id":"1200000000000000104"`, `{"channel_id":null,"guild_id":null,"user_id":"1200000000000000104","session_id":"s","deaf":false,"mute":false,
			"self_deaf":false,"self_mute":false,"self_stream":null,"self_video":false,"suppress":false,"request_to_speak_timestamp":null}`, `"channel_id":null`},
		{"onboarding_get", "", `{"guild_id":"1200000000000000001","prompts":[{"id":"1200000000000000711","title":"t","type":0,"single_select":false,"required":true,"in_onboarding":true,
			"options":[{"id":"1200000000000000712","title":"o","description":null,"emoji":{"id":null,"name":null,"animated":false},"role_ids":[],"channel_ids":[]}]}],
			"default_channel_ids":[],"enabled":true,"mode":1}`, `"description":null`},
		{"audit_log_get", "", `{"audit_log_entries":[{"id":"1200000000000000721","action_type":999,"user_id":null,"target_id":null,"changes":[{"key":"k","new_value":{"deep":[null]}}]}],"users":[]}`, `"target_id":null`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			server, err := discordtools.BuildServer(discordtools.Deps{REST: canned(c.reply), Config: discordtools.Config{Armed: true}})
			if err != nil {
				t.Fatal(err)
			}
			session := connect(t, server)
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(`{"guild_id":"` + guild + `"` + c.args + `}`)})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(res.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			if res.IsError || !bytes.Contains(data, []byte(c.has)) {
				t.Fatalf("%s\nlacks %s", data, c.has)
			}
			if err := fits(t, session, c.tool, data); err != nil {
				t.Errorf("%s\n%v", data, err)
			}
			if err := fits(t, session, c.tool, []byte(`{"unheard_of":true}`)); err == nil {
				t.Error("the schema takes anything")
			}
		})
	}
}

// fits holds a result against the schema that clients are given.
func fits(t *testing.T, session *mcp.ClientSession, tool string, data []byte) error {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Tools {
		if d.Name != tool {
			continue
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("output.json", tree(t, d.OutputSchema)); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("output.json")
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	t.Fatalf("%s is not listed", tool)
	return nil
}
