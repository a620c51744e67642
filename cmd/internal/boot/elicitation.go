package boot

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// elicitation asks the user of the client.
func elicitation() mcpcore.Approver { return unasked{} }

type unasked struct{}

func (unasked) Ask(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
	return mcpcore.ApprovalState{}, mcpcore.Errorf(mcpcore.CodeHumanRequired, "a person must approve this, and this version cannot ask through the client")
}
