package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const watched = "test://watched-resource"

// features answers methods that the kernel's servers do not have, and says that
// this one has them.
func features(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "completion/complete":
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		case "resources/subscribe", "resources/unsubscribe":
			return &empty{}, nil
		}
		res, err := next(ctx, method, req)
		if err != nil {
			return nil, err
		}
		switch res := res.(type) {
		case *mcp.InitializeResult:
			claim(res.Capabilities)
		case *mcp.DiscoverResult:
			claim(res.Capabilities)
		}
		return res, nil
	}
}

//nolint:staticcheck // logging is deprecated by 2026-07-28, and tested for the versions before
func claim(c *mcp.ServerCapabilities) {
	c.Logging, c.Completions = &mcp.LoggingCapabilities{}, &mcp.CompletionCapabilities{}
	c.Tools.ListChanged = true
	c.Resources.Subscribe = true
}

type empty struct{ mcp.ResultBase }

// watch tells of changes of the watched resource.
func watch(ctx context.Context, server *mcp.Server) {
	ticker := time.NewTicker(3 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
		}
	}
}

func addResources(server *mcp.Server) {
	static := func(kind, text string, blob []byte) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: kind, Text: text, Blob: blob}}}, nil
		}
	}
	server.AddResource(&mcp.Resource{Name: "static-text", MIMEType: "text/plain", URI: "test://static-text"},
		static("text/plain", "This is the content of the static text resource.", nil))
	server.AddResource(&mcp.Resource{Name: "static-binary", MIMEType: "image/png", URI: "test://static-binary"}, static("image/png", "", png))
	server.AddResource(&mcp.Resource{Name: "watched-resource", MIMEType: "text/plain", URI: watched}, static("text/plain", "Watched resource content", nil))
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"},
		func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return static("application/json", fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id), nil)(ctx, req)
		})
}

func user(c mcp.Content) []*mcp.PromptMessage {
	return []*mcp.PromptMessage{{Role: "user", Content: c}}
}

func prompt(text string) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: user(&mcp.TextContent{Text: text})}, nil
	}
}

func addPrompts(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "A text"}, prompt("This is a simple prompt for testing."))
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A text with arguments", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "First test argument", Required: true}, {Name: "arg2", Description: "Second test argument", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return &mcp.GetPromptResult{Messages: user(&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])})}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A resource", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "URI of the resource to embed", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		embedded := &mcp.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}
		return &mcp.GetPromptResult{Messages: append(user(&mcp.EmbeddedResource{Resource: embedded}), user(&mcp.TextContent{Text: "Please process it."})...)}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "An image"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: user(&mcp.ImageContent{Data: png, MIMEType: "image/png"})}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for context"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if c := accepted(req.Params.InputResponses, "user_context"); c != nil {
			return &mcp.GetPromptResult{Messages: user(&mcp.TextContent{Text: fmt.Sprintf("Context: %v", c["context"])})}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
			"user_context": question("Please provide context for the prompt", `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`),
		}}, nil
	})
}
