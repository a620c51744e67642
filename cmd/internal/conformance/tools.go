package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// said is a result that is a text.
type said struct {
	Said string `json:"said"`
}

// Text is what the suite looks at.
func (s said) Text() string { return s.Said }

type none struct{}

// reads is a tool that goes through the chain.
func reads[In any](name, doc string, run func(context.Context, *mcpcore.Call, In) (said, error)) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Title: name, Doc: doc, Category: "conformance", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
	}, run)
}

func says(text string) func(context.Context, *mcpcore.Call, none) (said, error) {
	return func(context.Context, *mcpcore.Call, none) (said, error) { return said{text}, nil }
}

// asks asks the question once, and says what the answer makes.
func asks[In any](question func(In) mcpcore.Question, kind mcpcore.QuestionKind, answered func(mcpcore.Answer) (string, error)) func(context.Context, *mcpcore.Call, In) (said, error) {
	return func(_ context.Context, call *mcpcore.Call, in In) (said, error) {
		q := question(in)
		a, ok := call.Answer(q.Name)
		switch {
		case ok:
			text, err := answered(a)
			return said{text}, err
		case call.CanAsk(kind):
			return said{}, call.Ask(q)
		}
		return said{}, mcpcore.Errorf(mcpcore.CodePrecondition, "the client cannot be asked, or did not answer")
	}
}

func form(name, message, schema string) mcpcore.Question {
	return mcpcore.Question{Name: name, Form: &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}}
}

func formed(name, message, schema string) func(none) mcpcore.Question {
	return func(none) mcpcore.Question { return form(name, message, schema) }
}

func filled(a mcpcore.Answer) (string, error) {
	return fmt.Sprintf("Elicitation result: action=%s, content=%v", a.Action, a.Fields), nil
}

func sampled(a mcpcore.Answer) (string, error) { return "LLM response: " + a.Text, nil }

func named(a mcpcore.Answer) (string, error) {
	name, ok := a.Fields["name"].(string)
	if a.Action != "accept" || !ok {
		return "", mcpcore.Errorf(mcpcore.CodeValidation, "the name must be a text")
	}
	return "Hello, " + name + "!", nil
}

func confirmed(a mcpcore.Answer) (string, error) {
	if a.Action != "accept" || a.Fields["ok"] != true {
		return "", mcpcore.Errorf(mcpcore.CodeValidation, "it was not confirmed")
	}
	return "state-ok: requestState received and confirmation accepted", nil
}

const (
	nameForm    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	confirmForm = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	userForm    = `{"type":"object","properties":{"username":{"type":"string","description":"Your preferred username"}},"required":["username"]}`
	defaultForm = `{"type":"object","properties":{
		"name":{"type":"string","description":"User name","default":"John Doe"},
		"age":{"type":"integer","description":"User age","default":30},
		"score":{"type":"number","description":"User score","default":95.5},
		"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","description":"Verification status","default":true}}}`
	titled   = `[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]`
	enumForm = `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":` + titled + `},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","anyOf":` + titled + `}}}}`
)

type prompted struct {
	Prompt string `json:"prompt" jsonschema:"what to ask the model"`
}

type worded struct {
	Message string `json:"message" jsonschema:"what to ask the person"`
}

// tools are those that go through the chain.
func tools() []mcpcore.Tool {
	return []mcpcore.Tool{
		reads("test_simple_text", "Answers with a text.", says("This is a simple text response for testing.")),
		reads("test_streaming_elicitation", "Answers with a text and nothing else.", says("result frames only")),
		reads("test_error_handling", "Fails.", func(context.Context, *mcpcore.Call, none) (said, error) {
			return said{}, mcpcore.Errorf(mcpcore.CodePrecondition, "this tool intentionally returns an error for testing")
		}),
		reads("test_tool_with_progress", "Tells its progress.", func(ctx context.Context, call *mcpcore.Call, _ none) (said, error) {
			for _, done := range []float64{0, 50, 100} {
				call.Progress(ctx, done, 100, fmt.Sprintf("Completed step %.0f of 100", done))
			}
			return said{"done"}, nil
		}),
		reads("test_sampling", "Asks the client's model.", asks(func(in prompted) mcpcore.Question {
			return mcpcore.Question{Name: "model", Sample: &mcpcore.Sample{Prompt: in.Prompt, MaxTokens: 100}}
		}, mcpcore.Sampling, sampled)),
		reads("test_elicitation", "Asks the client's user.", asks(func(in worded) mcpcore.Question {
			return form("user", in.Message, userForm)
		}, mcpcore.Elicitation, filled)),
		reads("test_elicitation_sep1034_defaults", "Asks with defaults.", asks(formed("defaults", "Test defaults for primitives", defaultForm), mcpcore.Elicitation, filled)),
		reads("test_elicitation_sep1330_enums", "Asks with choices.", asks(formed("enums", "Test enum schemas", enumForm), mcpcore.Elicitation, filled)),
		reads("test_input_required_result_elicitation", "Asks for a name.", asks(formed("user_name", "What is your name?", nameForm), mcpcore.Elicitation, named)),
		reads("test_input_required_result_capabilities", "Asks what the client can be asked.", capable),
		reads("test_input_required_result_sampling", "Asks the client's model.", asks(capital, mcpcore.Sampling, sampled)),
		reads("test_input_required_result_request_state", "Asks, and takes the state back.", asks(formed("confirm", "Please confirm", confirmForm), mcpcore.Elicitation, confirmed)),
		reads("test_input_required_result_tampered_state", "Asks, and refuses another state.", asks(formed("confirm", "Please confirm", confirmForm), mcpcore.Elicitation, confirmed)),
	}
}

func capital(none) mcpcore.Question {
	return mcpcore.Question{Name: "capital_question", Sample: &mcpcore.Sample{Prompt: "What is the capital of France?", MaxTokens: 100}}
}

func capable(ctx context.Context, call *mcpcore.Call, in none) (said, error) {
	if _, answered := call.Answer("user_name"); answered || call.CanAsk(mcpcore.Elicitation) {
		return asks(formed("user_name", "What is your name?", nameForm), mcpcore.Elicitation, named)(ctx, call, in)
	}
	return asks(capital, mcpcore.Sampling, sampled)(ctx, call, in)
}
