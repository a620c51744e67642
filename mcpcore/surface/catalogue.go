package surface

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// sentinel is the tool that answers every call of a catalogue. No tool of a
// server can have its name.
const sentinel = "CATALOG_ONLY"

// Seal makes a catalogue of a server, before it is connected: what it lists stays,
// and nothing of it runs. Every call of a tool, whatever its name and arguments,
// is sent to one unlisted tool, which answers CATALOG_ONLY and looks at nothing.
// Of the resources, the access contract and those at the addresses in static can
// be read; every other address, known or not, is refused alike. An address that
// ends in "/" stands for all below it.
//
// It cannot be undone.
func Seal(server *mcp.Server, static ...string) {
	static = append(slices.Clone(static), ContractURI, ContractURI+"/")
	server.AddTool(&mcp.Tool{Name: sentinel, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return catalogOnly.Reply(), nil
		})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch r := req.(type) {
			case *mcp.CallToolRequest:
				// A result made here would lack what the SDK adds behind it.
				sealed := &mcp.CallToolParamsRaw{Name: sentinel}
				if r.Params != nil {
					sealed.Meta = r.Params.Meta
				}
				return next(ctx, method, &mcp.CallToolRequest{Session: r.Session, Params: sealed, Extra: r.Extra})
			case *mcp.ReadResourceRequest:
				if r.Params == nil || !among(static, r.Params.URI) {
					return nil, notRead
				}
			}
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == sentinel })
			}
			return res, err
		}
	})
}

// catalogOnly is the answer to every call.
var catalogOnly = mcpcore.Errorf(mcpcore.CodeCatalogOnly, "the catalogue executes nothing")

// notRead is the answer to every reading that would have to look at something.
var notRead = &jsonrpc.Error{
	Code:    jsonrpc.CodeInvalidParams,
	Message: string(mcpcore.CodeCatalogOnly) + ": the catalogue reads nothing. " + mcpcore.CodeCatalogOnly.Hint(),
}

func among(static []string, uri string) bool {
	return slices.ContainsFunc(static, func(s string) bool {
		return uri == s && !strings.HasSuffix(s, "/") || strings.HasSuffix(s, "/") && strings.HasPrefix(uri, s)
	})
}
