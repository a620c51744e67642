package surface

import "github.com/guildwarden/guildwarden/mcpcore"

// Where a client reads the contract.
const (
	ContractURI      = "discord://connector/tool-access"        // the index
	ContractEntryURI = "discord://connector/tool-access/{tool}" // the entry of a tool
)

// Resources are the contract as clients read it, for [mcpcore.Deps]. Reading
// them contacts nobody.
func (c *Contract) Resources() []mcpcore.Resource {
	const json = "application/json"
	return []mcpcore.Resource{{
		URI: ContractURI, Name: "tool_access", Title: "Access contract", MIMEType: json,
		Doc:  "Every tool of this server with its class, its toolset and its workflow. It grants nothing.",
		Make: func(map[string]string) (string, bool) { return string(c.index()), true },
	}, {
		URI: ContractEntryURI, Name: "tool_access_entry", Title: "Access contract of a tool", MIMEType: json,
		Doc: "What calls of one tool demand: authentication, scope, permissions, intents, gate. It grants nothing.",
		Make: func(variables map[string]string) (string, bool) {
			entry, ok := c.Entry(variables["tool"])
			return string(entry), ok
		},
	}}
}
