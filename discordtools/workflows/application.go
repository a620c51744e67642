package workflows

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// applicationRoutes are what [reads.application] reads.
var applicationRoutes = []string{routeMe, routeApplication}

// ofApplication is the argument of workflows that act on the application as a
// whole. It is demanded, so that the policy can say which one may be changed.
type ofApplication struct {
	ApplicationID discord.ApplicationID `json:"applicationId" jsonschema:"the bot's own application"`
}

func (a ofApplication) path() path { return path{"application_id": string(a.ApplicationID)} }

// theApplication lets a policy name applications.
func theApplication(doc string) mcpcore.PolicyScope {
	return mcpcore.PolicyScope{Name: "applications", Arg: "applicationId", Doc: doc}
}

// applicationSeen is which application and which bot a plan speaks of.
type applicationSeen struct {
	ID  discord.ApplicationID `json:"id"`
	Bot discord.UserID        `json:"botId"`
}

// application reads the application whose token the server has, and its flags. It
// must be want, where one is wanted.
func (r *reads) application(ctx context.Context, want discord.ApplicationID) (a applicationSeen, flags int64, err error) {
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return a, 0, err
	}
	var app struct {
		ID    discord.ApplicationID `json:"id"`
		Flags *int64                `json:"flags"`
		Bot   struct {
			ID discord.UserID `json:"id"`
		} `json:"bot"`
	}
	if err := r.get(ctx, routeApplication, nil, &app); err != nil {
		return a, 0, err
	}
	switch {
	case app.ID == "" || me.ID == "" || app.Flags == nil || app.Bot.ID != "" && app.Bot.ID != me.ID:
		return a, 0, incomplete("the application")
	case want != "" && app.ID != want:
		return a, 0, refused("other-application", "the bot is of the application %s, not of %s", app.ID, want)
	}
	return applicationSeen{app.ID, me.ID}, *app.Flags, nil
}

// allOf is a collection of an application: "commands", "emojis".
func allOf(collection string, app discord.ApplicationID) mcpcore.Target {
	return mcpcore.Target{Kind: "application/" + collection, ID: string(app)}
}
