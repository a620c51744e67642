package workflows

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type starterInput struct {
	Request string `json:"request" jsonschema:"what the guild is for, in plain words" minLength:"3" maxLength:"500"`
}

type manifestView struct {
	ID        string          `json:"manifest" jsonschema:"digest of the blueprint"`
	Blueprint json.RawMessage `json:"blueprint" jsonschema:"for plan_guild_blueprint; edit it as you like"`
	Left      []string        `json:"leftOut" jsonschema:"what a blueprint cannot hold of the guild"`
}

type manifestInput struct {
	Blueprint manifest `json:"blueprint" jsonschema:"the whole blueprint"`
}

type manifestPreview struct {
	ID      string          `json:"manifest" jsonschema:"digest of the blueprint"`
	Valid   bool            `json:"valid"`
	Issues  []mcpcore.Issue `json:"issues"`
	Parts   []string        `json:"operations" jsonschema:"what it takes in an empty guild, in order"`
	Dropped int             `json:"notShown" jsonschema:"operations behind those that are listed"`
}

type captureInput struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild to write down"`
}

// blueprintCompanions make, check and capture blueprints.
func blueprintCompanions(rest discordtools.REST) []mcpcore.Tool {
	local := mcpcore.Tool{Category: "guild-blueprints", Scope: mcpcore.LocalScope}
	compile, preview := local, local
	compile.Name, compile.Title = "compile_guild_blueprint_starter", "Make a blueprint of a request"
	compile.Doc = "Makes a blueprint of what a guild is for, in plain words. The same words give the same blueprint. Nothing is read or sent."
	preview.Name, preview.Title = "preview_guild_blueprint", "Check a blueprint"
	preview.Doc = "Tells whether a blueprint is valid, all that is wrong with it, and what it takes in an empty guild. Nothing is read or sent."
	capture := mcpcore.Tool{
		Name: "capture_guild_blueprint", Title: "Write a guild down as a blueprint", Category: "guild-blueprints", Scope: mcpcore.GuildScope, Routes: blueprint.Reads(),
		Doc: "Writes a guild down as a blueprint whose plan against that guild is empty, and tells what a blueprint cannot hold of it. It is no backup: messages and members are not in it.",
	}
	return []mcpcore.Tool{
		companion(rest, capture, func(ctx context.Context, r *reads, in captureInput) (v manifestView, err error) {
			var me struct {
				ID discord.UserID `json:"id"`
			}
			if err := r.get(ctx, routeMe, nil, &me); err != nil {
				return v, err
			}
			c, err := blueprint.Capture(ctx, blueprintConn{reads: r}, in.GuildID, me.ID)
			if err != nil {
				return v, err
			}
			return manifestView{c.Document.ID(), c.Document.Plain(), c.Left}, nil
		}),
		companion(rest, compile, func(_ context.Context, _ *reads, in starterInput) (manifestView, error) {
			doc := blueprint.Compile(blueprint.Brief{Request: in.Request})
			raw, err := canon.Marshal(doc.Stated())
			return manifestView{doc.ID(), raw, []string{}}, err
		}),
		companion(rest, preview, func(_ context.Context, _ *reads, in manifestInput) (v manifestPreview, err error) {
			raw, err := canon.Marshal(in.Blueprint)
			if err != nil {
				return v, fmt.Errorf("encode the blueprint: %w", err)
			}
			doc, issues := blueprint.Parse(raw)
			if issues != nil {
				return manifestPreview{Issues: issues}, nil
			}
			const most = 100
			v = manifestPreview{ID: doc.ID(), Valid: true, Issues: []mcpcore.Issue{}}
			for _, op := range doc.Operations() {
				if len(v.Parts) < most {
					v.Parts = append(v.Parts, op.ID)
				} else {
					v.Dropped++
				}
			}
			return v, nil
		}),
	}
}
