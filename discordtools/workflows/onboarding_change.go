package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeOnboardingEdit = "PUT /guilds/{guild_id}/onboarding"

	// What an onboarding needs before it can be enabled: channels for whoever is new,
	// and so many of them to write in.
	//
	// Source: https://docs.discord.com/developers/resources/guild#modify-guild-onboarding.
	onboardingChannels, onboardingWritable = 7, 5
)

type onboardingAsk struct {
	GuildID  discord.GuildID       `json:"guildId" jsonschema:"guild of the onboarding"`
	Enabled  bool                  `json:"enabled" jsonschema:"whether who is new sees it"`
	Mode     string                `json:"mode" jsonschema:"what counts towards enabling: the default channels, or those of the answers as well" enum:"default,advanced"`
	Defaults []discord.ChannelID   `json:"defaultChannelIds" jsonschema:"all channels that who is new is in" maxItems:"500" uniqueItems:"true"`
	Prompts  []onboardingPromptAsk `json:"prompts" jsonschema:"all questions, in order; one that is not in it is deleted" maxItems:"5"`
	reason
}

type onboardingPromptAsk struct {
	ID           discord.PromptID      `json:"promptId,omitempty" jsonschema:"of one that is there, to keep it"`
	Title        string                `json:"title" minLength:"1" maxLength:"100" pattern:"^\\S(.*\\S)?$"`
	Type         string                `json:"type" enum:"multiple_choice,dropdown"`
	SingleSelect bool                  `json:"singleSelect" jsonschema:"one answer at most"`
	Required     bool                  `json:"required" jsonschema:"whether one must answer"`
	InOnboarding bool                  `json:"inOnboarding" jsonschema:"asked on joining; false: only in Channels & Roles"`
	Options      []onboardingOptionAsk `json:"options" jsonschema:"all answers, in order; one that is not in it is deleted" minItems:"1" maxItems:"25"`
}

type onboardingOptionAsk struct {
	ID          discord.OptionID `json:"optionId,omitempty" jsonschema:"of one of the same prompt that is there, to keep it"`
	Title       string           `json:"title" minLength:"1" maxLength:"50" pattern:"^\\S(.*\\S)?$"`
	Description string           `json:"description,omitempty" minLength:"1" maxLength:"100" pattern:"^\\S(.*\\S)?$"`
	guildMarkInput
	Roles    []discord.RoleID    `json:"roleIds,omitempty" jsonschema:"roles without permissions that it gives" maxItems:"50" uniqueItems:"true"`
	Channels []discord.ChannelID `json:"channelIds,omitempty" jsonschema:"channels that it adds" maxItems:"50" uniqueItems:"true"`
}

type onboardingState struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	Now        onboardingForm `json:"current"`
	Wanted     onboardingForm `json:"wanted"`
	Changed    []string       `json:"changedFields"`
	Channels   string         `json:"guildChannels" jsonschema:"digest of how all visible channels stand"`
	Emojis     string         `json:"guildEmojis" jsonschema:"digest of all custom emojis"`
}

// onboardingChange replaces a guild's whole onboarding.
func onboardingChange(rest discordtools.REST) mcpcore.Workflow {
	return change[onboardingAsk, onboardingState]{
		Name: "onboarding-change", Category: "onboarding", Title: "Change a guild's onboarding",
		Doc: `Replaces the whole onboarding of a guild. Start from onboarding_get and keep the ids: prompts and options that are left out are
			deleted, and those without an id are new. Options give roles without permissions, below the bot's, and channels that everyone sees.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild | discord.ManageRoles,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose onboarding may be changed")},
		Reads:  append(slices.Clone(standingRoutes), routeChannels, expressionKinds["emoji"].list, routeOnboarding),
		Write:  []string{routeOnboardingEdit},
		Plan:   planOnboarding,
		Targets: func(in onboardingAsk, _ onboardingState) []mcpcore.Target {
			return []mcpcore.Target{all("onboarding", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in onboardingAsk, s onboardingState) (done mcpcore.Written, err error) {
			var got onboardingWire
			if err := w.send(ctx, routeOnboardingEdit, inGuild(in.GuildID), s.Wanted.body(), &got); err != nil {
				return done, err
			}
			now, err := got.form(in.GuildID, nil)
			if err == nil && now.only(s.Now.ids()).differ(s.Wanted) != nil {
				err = errors.New("the answer is not the onboarding that was asked for")
			}
			if err != nil {
				return done, err
			}
			return mcpcore.Written{ID: string(in.GuildID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in onboardingAsk, s onboardingState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.onboarding(ctx, in.GuildID, nil)
			return mcpcore.Reading{Drift: now.only(s.Now.ids()).differ(s.Wanted)}, err
		},
	}.on(rest)
}

func planOnboarding(ctx context.Context, r *reads, in onboardingAsk) (plan mcpcore.Change[onboardingState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild|discord.ManageRoles)
	if err != nil {
		return plan, err
	}
	if in.Enabled && !slices.Contains(bot.Features, community) {
		return plan, refused("community", "the guild is no Community, and its onboarding cannot be enabled")
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	marks, err := r.guildMarks(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := onboardingState{Guild: bot.Guild, Permission: bot.evidence(), Channels: snapshot(layout(channels)), Emojis: snapshot(marks)}
	if s.Now, err = r.onboarding(ctx, in.GuildID, marks); err != nil {
		return plan, err
	}
	at := onboardingPlace{&bot, channels, marks}
	if s.Wanted, err = at.form(in, s.Now); err != nil {
		return plan, err
	}
	if err := at.enough(s.Wanted); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[onboardingState]{
		Action: "replace", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}},
		Warnings: []string{"What a new member really sees can be told by a new member's own client alone."},
	}
	if gone := s.Now.without(s.Wanted); len(gone) > 0 {
		plan.Risks = []string{"deletes"}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "deleted for good", Value: strings.Join(gone, ", ")})
	}
	s.Changed = setting(&plan, at.fields(s.Now, s.Wanted)...)
	plan.State = s
	return plan, nil
}

// onboardingPlace is the guild that an onboarding is for.
type onboardingPlace struct {
	bot      *standing
	channels []channel
	marks    guildMarks
}

// form is the onboarding that is asked for, all of it checked.
func (at onboardingPlace) form(in onboardingAsk, now onboardingForm) (f onboardingForm, err error) {
	f = onboardingForm{Enabled: in.Enabled, Mode: in.Mode, Prompts: []onboardingPrompt{}}
	if f.Defaults, err = at.open(in.Defaults); err != nil {
		return f, err
	}
	named := map[string]bool{}
	twice := func(id string) bool {
		was := id != "" && named[id]
		named[id] = true
		return was
	}
	for _, ask := range in.Prompts {
		p := onboardingPrompt{ask.ID, ask.Title, ask.Type, ask.SingleSelect, ask.Required, ask.InOnboarding, []onboardingOption{}}
		was := now.prompt(ask.ID)
		switch {
		case ask.ID != "" && was == nil:
			return f, refused("prompt-missing", "the onboarding has no prompt %s", ask.ID)
		case twice(string(ask.ID)):
			return f, refused("ambiguous", "the prompt %s is named twice", ask.ID)
		}
		for _, asked := range ask.Options {
			switch {
			case asked.ID != "" && !was.has(asked.ID):
				return f, refused("option-missing", "the prompt %s has no option %s", orNone(string(ask.ID)), asked.ID)
			case twice(string(asked.ID)):
				return f, refused("ambiguous", "the option %s is named twice", asked.ID)
			}
			o, err := at.option(asked)
			if err != nil {
				return f, err
			}
			p.Options = append(p.Options, o)
		}
		f.Prompts = append(f.Prompts, p)
	}
	return f, nil
}

func (at onboardingPlace) option(ask onboardingOptionAsk) (o onboardingOption, err error) {
	o = onboardingOption{ID: ask.ID, Title: ask.Title, Description: ask.Description, Roles: sortedIDs(ask.Roles)}
	if o.guildMark, err = at.marks.pick(ask.guildMarkInput); err != nil {
		return o, err
	}
	for _, id := range ask.Roles {
		given, err := at.bot.known(id)
		if err != nil {
			return o, err
		}
		if err := at.bot.standard(given); err != nil {
			return o, err
		}
		if bits, err := given.Permissions.Bits(); err != nil || bits != (discord.Bits{}) {
			return o, refused("role-permissions", "the role %s has permissions, and anyone could give it to themselves", id)
		}
	}
	o.Channels, err = at.open(ask.Channels)
	return o, err
}

// open are channels that everyone sees, by their ids.
func (at onboardingPlace) open(ids []discord.ChannelID) ([]discord.ChannelID, error) {
	for _, id := range ids {
		if _, err := at.bot.public(at.channels, id); err != nil {
			return nil, err
		}
	}
	return sortedIDs(ids), nil
}

// enough refuses to enable an onboarding with too few channels.
func (at onboardingPlace) enough(f onboardingForm) error {
	counted := slices.Clone(f.Defaults)
	for _, p := range f.Prompts {
		for _, o := range p.Options {
			if f.Mode == "advanced" {
				counted = append(counted, o.Channels...)
			}
		}
	}
	counted = slices.Compact(sortedIDs(counted))
	writable := 0
	for _, id := range counted {
		may, err := at.bot.everyone(at.channels[indexOf(at.channels, id)])
		if err != nil {
			return err
		}
		if may.Has(discord.SendMessages) {
			writable++
		}
	}
	if f.Enabled && (len(counted) < onboardingChannels || writable < onboardingWritable) {
		return refused("too-few-channels", "to be enabled it needs %d channels, %d of them for everyone to write in; it has %d and %d",
			onboardingChannels, onboardingWritable, len(counted), writable)
	}
	return nil
}

// fields are those of two onboardings, for people: each question is one.
func (at onboardingPlace) fields(now, wanted onboardingForm) []field {
	all := []field{
		{"enabled", strconv.FormatBool(now.Enabled), strconv.FormatBool(wanted.Enabled)}, {"mode", now.Mode, wanted.Mode},
		{"defaultChannelIds", at.names(now.Defaults), at.names(wanted.Defaults)},
	}
	for i := range max(len(now.Prompts), len(wanted.Prompts)) {
		all = append(all, field{"prompt " + strconv.Itoa(i+1), at.question(now.Prompts, i), at.question(wanted.Prompts, i)})
	}
	return all
}

func (at onboardingPlace) names(ids []discord.ChannelID) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = inviting(at.channels, id)
	}
	return orNone(strings.Join(all, ", "))
}

// question is one of prompts in words, all that it says and gives.
func (at onboardingPlace) question(prompts []onboardingPrompt, i int) string {
	if i >= len(prompts) {
		return "none"
	}
	p := prompts[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), %s", strconv.Quote(p.Title), orNew(p.ID), p.Type)
	for _, f := range []struct {
		is   bool
		word string
	}{{p.SingleSelect, "one answer"}, {p.Required, "required"}, {p.InOnboarding, "on joining"}} {
		if f.is {
			b.WriteString(", " + f.word)
		}
	}
	for _, o := range p.Options {
		fmt.Fprintf(&b, "; %s%s (%s)", o.guildMark, strconv.Quote(o.Title), orNew(o.ID))
		if o.Description != "" {
			b.WriteString(" " + strconv.Quote(o.Description))
		}
		for _, id := range o.Roles {
			r, _ := at.bot.role(id)
			fmt.Fprintf(&b, " gives %s (%s)", r.Name, id)
		}
		for _, id := range o.Channels {
			b.WriteString(" adds " + inviting(at.channels, id))
		}
	}
	return b.String()
}

func orNew[ID ~string](id ID) string {
	if id == "" {
		return "new"
	}
	return string(id)
}
