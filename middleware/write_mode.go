package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// WriteMode is layer 8: with previewOnly it answers every tool that is not
// read-only with WRITE_PREVIEW and the redacted arguments. It stands before
// everything that asks or spends, so a preview costs nobody an approval.
func WriteMode(previewOnly bool) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "write_mode", Wrap: pass}
	if !previewOnly {
		return m
	}
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			t := call.Tool()
			if t.Effect != mcpcore.Read {
				return nil, mcpcore.Errorf(mcpcore.CodeWritePreview, "this server previews writes; %s changed nothing", t.Name).
					With("tool", t.Name).With("preview", call.Preview())
			}
			return next(ctx, call)
		}
	}
	return m
}
