package discordtools

import (
	"context"
	"fmt"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type integrationsList struct {
	Integrations []integration `json:"integrations" from:"@reply"`
	Count        int           `json:"count" from:"@count"`
	remarks
}

// maxIntegrations is how many Discord tells of.
//
// Source: https://docs.discord.com/developers/resources/guild#get-guild-integrations.
const maxIntegrations = 50

func (v *integrationsList) derive(*mcpcore.Call) {
	if v.Count >= maxIntegrations {
		v.Warnings = []string{"Discord tells of 50 integrations at most, and gives no way to read on: there may be others."}
	}
}

// integration has an id of any form: Twitch's and YouTube's need not be a
// snowflake.
type integration struct {
	ID            string                `json:"id"`
	Name          *string               `json:"name"`
	Type          string                `json:"type"`
	Enabled       bool                  `json:"enabled"`
	Account       *integrationAccount   `json:"account,omitempty"`
	ApplicationID discord.ApplicationID `json:"application_id,omitempty" from:"application.id"`
	BotID         discord.UserID        `json:"bot_id,omitempty" from:"application.bot.id"`
	Scopes        []string              `json:"scopes,omitempty"`
}

type integrationAccount struct {
	ID   string  `json:"id"`
	Name *string `json:"name"`
}

type integrationRef struct {
	guildRef
	IntegrationID discord.IntegrationID `json:"integration_id" jsonschema:"integration, from guild_list_integrations"`
	auditReason
}

type integrationDeleted struct {
	Deleted       bool                  `json:"deleted" from:"@true"`
	IntegrationID discord.IntegrationID `json:"integration_id" from:"@arg"`
	GuildID       discord.GuildID       `json:"guild_id" from:"@arg"`
}

const routeIntegrations = "GET /guilds/{guild_id}/integrations"

func integrationFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var all []struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Type    string `json:"type"`
		Account struct {
			Name string `json:"name"`
		} `json:"account"`
		Application struct {
			Bot person `json:"bot"`
		} `json:"application"`
	}
	if err := a.do(ctx, routeIntegrations, sub{}, &all); err != nil {
		return nil, err
	}
	wanted := a.call.Text("integration_id")
	for _, i := range all {
		if i.ID != wanted {
			continue
		}
		facts := mcpcore.Facts{{Name: "integration", Value: i.Name}, {Name: "type", Value: i.Type}, {Name: "account", Value: i.Account.Name}}
		if bot := i.Application.Bot; bot.ID != "" {
			facts = append(facts, mcpcore.Fact{Name: "bot that is kicked", Value: fmt.Sprintf("%s (%s)", bot.Username, bot.ID)})
		}
		return facts, nil
	}
	return nil, mcpcore.Errorf(mcpcore.CodeNotFound, "the guild has no integration %s", wanted).
		WithHint("List the guild's integrations with guild_list_integrations.")
}
