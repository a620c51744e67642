package mcpcore

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// anyObject stands for the input schema of every tool in the SDK, which decodes
// and encodes again each schema that it is given: at a start with hundreds of
// tools that is most of the work. What clients get is the tool's own, by
// [core.publish].
var anyObject = &jsonschema.Schema{Type: "object"}

// publish puts the tools' definitions into tools/list, without the hidden ones.
// What an embedder added to the server by itself stays as it is.
func (k *core) publish(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		list, ok := res.(*mcp.ListToolsResult)
		if !ok || err != nil {
			return res, err
		}
		for i, t := range list.Tools {
			b, ours := k.tools[t.Name]
			switch {
			case !ours:
			case b.hidden():
				list.Tools[i] = nil
			default:
				list.Tools[i] = b.definition()
			}
		}
		list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t == nil })
		return list, nil
	}
}

// fields are the authorization fields that mean something for the tool.
func (b *bound) fields() []string { return b.tool.fieldsWith(b.preconditions) }

// define is a tool as clients get it. All four hints are stated: a client that
// reads one without the others must not fall back to the protocol's defaults,
// which say destructive.
func define(b *bound, filled []string) *mcp.Tool {
	t := &b.tool
	destructive, open := t.Effect == Destroy, t.Scope != LocalScope || t.Steps != nil
	a := &mcp.ToolAnnotations{ReadOnlyHint: t.Effect == Read, DestructiveHint: &destructive, IdempotentHint: t.Repeatable, OpenWorldHint: &open}
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description(), Annotations: a,
		InputSchema: t.inputSchema(filled, b.fields()), OutputSchema: t.OutputSchema(),
	}
}
