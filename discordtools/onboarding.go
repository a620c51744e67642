package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// onboarding is what a Community guild asks and gives to who is new.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-onboarding-object.
func onboarding() category {
	return category{Name: "onboarding", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[guildRef, onboardingOne]{
			Name:  "onboarding_get",
			Title: "Get the onboarding",
			Doc: `Reads the questions new members answer, what each answer gives, and the default channels.
				The prompts have the form that onboarding_modify takes.`,
			Route: "GET /guilds/{guild_id}/onboarding",
			Fence: fence.ChannelTopic,
		},
		write[onboardingModify, onboardingModified]{
			Name:  "onboarding_modify",
			Title: "Replace the onboarding",
			Doc: `Replaces the whole onboarding: prompts and options that are left out are deleted, so start
				from onboarding_get and keep their ids. To be enabled it needs at least 7 default channels, 5 of them
				open for @everyone to write; mode 1 counts the options' channels too. Discord checks that.`,
			Route:   "PUT /guilds/{guild_id}/onboarding",
			Needs:   discord.ManageGuild | discord.ManageRoles,
			NeedsIn: "guild_id",
			Run:     replaceOnboarding,
		},
	}}
}

type onboardingOne struct {
	GuildID         discord.GuildID     `json:"guild_id"`
	Prompts         []promptView        `json:"prompts"`
	DefaultChannels []discord.ChannelID `json:"default_channel_ids"`
	Enabled         bool                `json:"enabled"`
	Mode            int                 `json:"mode"`
	Summary         onboardingSummary   `json:"summary" from:"@derived"`
	UntrustedText   string              `json:"untrusted_text" from:"@derived"`
}

type promptView struct {
	ID           string             `json:"id"`
	Title        string             `json:"title"`
	Type         int                `json:"type"`
	SingleSelect bool               `json:"single_select"`
	Required     bool               `json:"required"`
	InOnboarding bool               `json:"in_onboarding"`
	Options      []promptOptionView `json:"options"`
}

type promptOptionView struct {
	ID          string              `json:"id"`
	Title       string              `json:"title"`
	Description *string             `json:"description"`
	EmojiID     discord.EmojiID     `json:"emoji_id,omitempty" from:"emoji.id"`
	EmojiName   string              `json:"emoji_name,omitempty" from:"emoji.name"`
	Animated    bool                `json:"emoji_animated,omitempty" from:"emoji.animated"`
	Roles       []discord.RoleID    `json:"role_ids"`
	Channels    []discord.ChannelID `json:"channel_ids"`
}

type onboardingSummary struct {
	Prompts         int  `json:"prompt_count"`
	Required        int  `json:"required_prompt_count"`
	Options         int  `json:"option_count"`
	DefaultChannels int  `json:"default_channel_count"`
	Roles           int  `json:"self_assignable_role_count"`
	Advanced        bool `json:"advanced_mode"`
	CheckClient     bool `json:"fresh_member_client_check_recommended" jsonschema:"only a new member's client shows what they really see"`
}

func (v *onboardingOne) derive(*mcpcore.Call) {
	v.Summary = onboardingSummary{
		Prompts: len(v.Prompts), DefaultChannels: len(v.DefaultChannels), Advanced: v.Mode == 1, CheckClient: v.Enabled,
	}
	var texts []string
	var roles []discord.RoleID
	for _, p := range v.Prompts {
		if p.Required {
			v.Summary.Required++
		}
		v.Summary.Options += len(p.Options)
		texts = append(texts, p.Title)
		for _, o := range p.Options {
			texts = append(texts, o.Title)
			if o.Description != nil && *o.Description != "" {
				texts = append(texts, *o.Description)
			}
			roles = append(roles, o.Roles...)
		}
	}
	slices.Sort(roles)
	v.Summary.Roles = len(slices.Compact(roles))
	v.UntrustedText = fencedJSON(fence.ChannelTopic, texts)
}

type onboardingModify struct {
	guildRef
	Prompts         []promptInput       `json:"prompts" jsonschema:"all questions, in order" maxItems:"15"`
	DefaultChannels []discord.ChannelID `json:"default_channel_ids" jsonschema:"channels every new member is in" maxItems:"500" uniqueItems:"true"`
	Enabled         bool                `json:"enabled" jsonschema:"whether new members see it"`
	Mode            int                 `json:"mode" jsonschema:"what counts towards enabling: 0 default channels, 1 those of options as well" enum:"0,1"`
	auditReason
}

type promptInput struct {
	ID           discord.PromptID    `json:"id,omitempty" jsonschema:"of an existing prompt"`
	Title        string              `json:"title" minLength:"1" maxLength:"100"`
	Type         int                 `json:"type,omitempty" jsonschema:"0 choices, 1 dropdown" enum:"0,1"`
	SingleSelect bool                `json:"single_select,omitempty"`
	Required     bool                `json:"required,omitempty"`
	InOnboarding bool                `json:"in_onboarding,omitempty" jsonschema:"asked on joining; otherwise only in Channels & Roles"`
	Options      []promptOptionInput `json:"options" minItems:"1" maxItems:"50"`
}

type promptOptionInput struct {
	ID          discord.OptionID `json:"id,omitempty" jsonschema:"of an existing option"`
	Title       string           `json:"title" minLength:"1" maxLength:"50"`
	Description *string          `json:"description,omitempty" maxLength:"100"`
	namedEmoji
	Animated *bool               `json:"emoji_animated,omitempty"`
	Roles    []discord.RoleID    `json:"role_ids,omitempty" jsonschema:"roles it gives" maxItems:"50" uniqueItems:"true"`
	Channels []discord.ChannelID `json:"channel_ids,omitempty" jsonschema:"channels it opens" maxItems:"50" uniqueItems:"true"`
}

type onboardingModified struct {
	GuildID discord.GuildID `json:"guild_id"`
	Enabled bool            `json:"enabled"`
	Mode    int             `json:"mode"`
}

// replaceOnboarding sends what it was given. Discord wants an id also of a new
// prompt and makes its own: there it is given a placeholder.
func replaceOnboarding(ctx context.Context, a *api, _ onboardingModify) (v onboardingModified, err error) {
	prompts, _ := argument[[]map[string]json.RawMessage](a.call, "prompts")
	for i, p := range prompts {
		if p["id"] == nil {
			p["id"] = canon.AppendString(nil, discord.IDAt(a.now().Add(time.Duration(i)*time.Millisecond)))
		}
	}
	raw, err := canon.Marshal(prompts)
	if err != nil {
		return v, fmt.Errorf("write prompts: %w", err)
	}
	reply, err := a.send(ctx, member{"prompts", raw})
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}
