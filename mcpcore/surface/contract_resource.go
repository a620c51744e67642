package surface

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Where a client reads the contract.
const (
	ContractURI      = "discord://connector/tool-access"        // the index
	ContractEntryURI = "discord://connector/tool-access/{tool}" // the entry of a tool
)

// AddContract lets the server's clients read the contract. Reading it contacts
// nobody.
func AddContract(server *mcp.Server, c *Contract) {
	const json = "application/json"
	server.AddResource(&mcp.Resource{
		URI: ContractURI, Name: "tool-access", Title: "Access contract", MIMEType: json,
		Description: "Every tool of this server with its class, its toolset and its workflow. It grants nothing.",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return read(req.Params.URI, c.index(), json), nil
	})
	prefix, _, _ := strings.Cut(ContractEntryURI, "{")
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: ContractEntryURI, Name: "tool-access-entry", Title: "Access contract of a tool", MIMEType: json,
		Description: "What calls of one tool demand: authentication, scope, permissions, intents, gate. It grants nothing.",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		tool, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, prefix))
		if err == nil {
			if entry, ok := c.Entry(tool); ok {
				return read(req.Params.URI, entry, json), nil
			}
		}
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	})
}

func read(uri string, content []byte, mime string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: string(content)}}}
}
