package preconditions

import (
	"context"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// ExplicitGuild demands that the caller names the guild: guild_id stands in the
// call itself and was not filled in by a layer, so that no forgotten argument
// acts on the default guild. Otherwise it refuses with VALIDATION_FAILED, whose
// issue has the code explicit_guild_required. It refuses every call of a tool
// that takes no guild_id.
func ExplicitGuild() mcpcore.Precondition {
	return mcpcore.Precondition{
		Name: "explicit_guild",
		Doc:  "Acts only when the call itself names the guild; the default guild does not count.",
		Check: func(_ context.Context, call *mcpcore.Call) error {
			if strings.TrimSpace(call.Text("guild_id")) != "" && !call.Filled("guild_id") {
				return nil
			}
			return mcpcore.Invalid(mcpcore.Issue{
				Path: "guild_id", Message: "must be given in the call itself; no default is taken here", Code: mcpcore.IssueExplicit,
			})
		},
	}
}
