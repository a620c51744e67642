package main_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServeDocuments reads pages, live resources and prompts over stdio, and meets
// the operator's allowlist on the way.
func TestServeDocuments(t *testing.T) {
	t.Parallel()
	const club = "1200000000000000002"
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s, end := agent(t, era, []string{"ALLOWED_GUILDS=" + guild}, "serve", "--sandbox")
			defer end()
			read := func(uri string) string {
				t.Helper()
				res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if err != nil {
					return err.Error()
				}
				return res.Contents[0].Text
			}
			for uri, holds := range map[string]string{
				"discord://connector/policy":                 `"allowed_guilds":["` + guild + `"]`,
				"discord://guild/" + guild + "/info":         "Lighthouse Games",
				"discord://guilds/" + guild + "/roles":       "<untrusted_discord_",
				"discord://guilds/" + club + "/roles":        "GUILD_NOT_ALLOWED",
				"discord://channels/" + general + "/webhook": "Resource not found",
			} {
				if text := read(uri); !strings.Contains(text, holds) {
					t.Errorf("%s lacks %s: %.300s", uri, holds, text)
				}
			}
			prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "catch_up", Arguments: map[string]string{"guild_id": guild}})
			if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, `- guild_id: "`+guild+`"`) {
				t.Errorf("the prompt: %v %v", prompt, err)
			}
			known, err := s.Complete(t.Context(), &mcp.CompleteParams{
				Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "catch_up"}, Argument: mcp.CompleteParamsArgument{Name: "guild_id", Value: "12"},
			})
			if err != nil || len(known.Completion.Values) != 1 || known.Completion.Values[0] != guild {
				t.Errorf("the completion: %v %v", known, err)
			}
			if n := len(s.InitializeResult().Instructions); n == 0 || n > 1500 {
				t.Errorf("the instructions have %d bytes", n)
			}
		})
	}
}
