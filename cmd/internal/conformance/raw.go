package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func contents(c ...mcp.Content) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: c}, nil
	}
}

// decoded is the least PNG or WAV, which are constants.
func decoded(data string) []byte {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		panic(err)
	}
	return b
}

var (
	png = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	wav = decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

const (
	anyInput    = `{"type":"object"}`
	headerInput = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`
	draft202012 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
			"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`
)

// addRawTools adds the tools that the kernel has no word for: other contents
// than text, the deprecated logging, several questions in one call, schemas
// beyond ours.
func addRawTools(server *mcp.Server) {
	image, sound := &mcp.ImageContent{Data: png, MIMEType: "image/png"}, &mcp.AudioContent{Data: wav, MIMEType: "audio/wav"}
	embedded := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource"}}
	add := func(name, schema string, run handler) {
		server.AddTool(&mcp.Tool{Name: name, Description: name, InputSchema: json.RawMessage(schema)}, run)
	}
	add("test_image_content", anyInput, contents(image))
	add("test_audio_content", anyInput, contents(sound))
	add("test_embedded_resource", anyInput, contents(embedded))
	add("test_multiple_content_types", anyInput, contents(&mcp.TextContent{Text: "This is text content"}, image, embedded))
	add("json_schema_2020_12_tool", draft202012, contents(&mcp.TextContent{Text: "called"}))
	add("test_x_mcp_header", headerInput, contents(&mcp.TextContent{Text: "called"}))
	add("test_tool_with_logging", anyInput, logs("Tool execution started", "Tool processing data", "Tool execution completed"))
	add("test_logging_tool", anyInput, logs("test_logging_tool executed"))
	add("test_reconnection", anyInput, reconnects)
	add("test_missing_capability", anyInput, needsSampling)
	add("test_trigger_tool_change", anyInput, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("__transient", anyInput, contents())
		return text("published"), nil
	})
	add("test_trigger_prompt_change", anyInput, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		server.AddPrompt(&mcp.Prompt{Name: "__transient", Description: "none"}, prompt("none"))
		return text("published"), nil
	})
	add("test_input_required_result_list_roots", anyInput, asksRoots)
	add("test_input_required_result_multiple_inputs", anyInput, asksAll)
	add("test_input_required_result_multi_round", anyInput, asksTwice)
}

//nolint:staticcheck // deprecated by 2026-07-28, and tested for the versions before
func logs(lines ...string) handler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range lines {
			_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line})
		}
		return text("logged"), nil
	}
}

// reconnects ends the stream of its answer, which the client then asks for anew.
func reconnects(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	time.Sleep(100 * time.Millisecond)
	return text("Reconnection test completed successfully."), nil
}

//nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return text("the client can sample"), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must be able to sample", Data: data}
}

func question(message, schema string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func required(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{}, RequestState: state, InputRequests: requests}, nil
}

// accepted is what a person filled in, nil when they did not.
func accepted(responses mcp.InputResponseMap, name string) map[string]any {
	if r, ok := responses[name].(*mcp.ElicitResult); ok && r.Action == "accept" {
		return r.Content
	}
	return nil
}

//nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
func asksRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
		return text("Client exposed %d root(s)", len(r.Roots)), nil
	}
	return required("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

//nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
func asksAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	responses := req.Params.InputResponses
	_, greeted := responses["greeting"].(*mcp.CreateMessageWithToolsResult)
	_, rooted := responses["client_roots"].(*mcp.ListRootsResult)
	if name, ok := accepted(responses, "user_name")["name"].(string); ok && greeted && rooted {
		return text("Hello, %s", name), nil
	}
	return required("multiple_inputs", mcp.InputRequestMap{
		"user_name":    question("What is your name?", nameForm),
		"client_roots": &mcp.ListRootsParams{},
		"greeting": &mcp.CreateMessageParams{MaxTokens: 50, Messages: []*mcp.SamplingMessage{
			{Role: "user", Content: &mcp.TextContent{Text: "Generate a greeting"}},
		}},
	})
}

func asksTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	responses := req.Params.InputResponses
	switch state, name, _ := strings.Cut(req.Params.RequestState, ";"); state {
	case "round=1":
		name, _ := accepted(responses, "step1")["name"].(string)
		return required("round=2;"+name, mcp.InputRequestMap{
			"step2": question("What is your favorite color?", `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`),
		})
	case "round=2":
		return text("Multi-round complete: %s likes %v", name, accepted(responses, "step2")["color"]), nil
	}
	return required("round=1", mcp.InputRequestMap{"step1": question("What is your name?", nameForm)})
}
