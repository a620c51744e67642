package workflows

import (
	"context"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// onboardingForm is an onboarding as plans bind and show it. What has no id is to
// be made.
type onboardingForm struct {
	Enabled  bool                `json:"enabled"`
	Mode     string              `json:"mode"`
	Defaults []discord.ChannelID `json:"defaultChannelIds"`
	Prompts  []onboardingPrompt  `json:"prompts"`
}

type onboardingPrompt struct {
	ID           discord.PromptID   `json:"promptId,omitempty"`
	Title        string             `json:"title"`
	Type         string             `json:"type"`
	SingleSelect bool               `json:"singleSelect"`
	Required     bool               `json:"required"`
	InOnboarding bool               `json:"inOnboarding"`
	Options      []onboardingOption `json:"options"`
}

type onboardingOption struct {
	ID          discord.OptionID `json:"optionId,omitempty"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	guildMark
	Roles    []discord.RoleID    `json:"roleIds"`
	Channels []discord.ChannelID `json:"channelIds"`
}

// The names of modes and of types of prompts, by Discord's numbers.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-onboarding-object.
var (
	onboardingModes = []string{"default", "advanced"}
	onboardingTypes = []string{"multiple_choice", "dropdown"}
)

// onboardingWire is an onboarding as Discord tells it.
type onboardingWire struct {
	Guild    discord.GuildID        `json:"guild_id"`
	Enabled  *bool                  `json:"enabled"`
	Mode     *int                   `json:"mode"`
	Defaults []discord.ChannelID    `json:"default_channel_ids"`
	Prompts  []onboardingWirePrompt `json:"prompts"`
}

type onboardingWirePrompt struct {
	ID           discord.PromptID `json:"id"`
	Title        string           `json:"title"`
	Type         int              `json:"type"`
	SingleSelect bool             `json:"single_select"`
	Required     bool             `json:"required"`
	InOnboarding bool             `json:"in_onboarding"`
	Options      []struct {
		ID          discord.OptionID `json:"id"`
		Title       string           `json:"title"`
		Description *string          `json:"description"`
		Emoji       *struct {
			ID       *discord.EmojiID `json:"id"`
			Name     *string          `json:"name"`
			Animated bool             `json:"animated"`
		} `json:"emoji"`
		Roles    []discord.RoleID    `json:"role_ids"`
		Channels []discord.ChannelID `json:"channel_ids"`
	} `json:"options"`
}

// onboardingBody is an onboarding as Discord takes it.
type onboardingBody struct {
	Enabled  bool                   `json:"enabled"`
	Mode     int                    `json:"mode"`
	Defaults []discord.ChannelID    `json:"default_channel_ids"`
	Prompts  []onboardingBodyPrompt `json:"prompts"`
}

type onboardingBodyPrompt struct {
	ID           string                 `json:"id"`
	Title        string                 `json:"title"`
	Type         int                    `json:"type"`
	SingleSelect bool                   `json:"single_select"`
	Required     bool                   `json:"required"`
	InOnboarding bool                   `json:"in_onboarding"`
	Options      []onboardingBodyOption `json:"options"`
}

type onboardingBodyOption struct {
	ID          discord.OptionID    `json:"id,omitempty"`
	Title       string              `json:"title"`
	Description string              `json:"description,omitempty"`
	EmojiID     discord.EmojiID     `json:"emoji_id,omitempty"`
	EmojiName   string              `json:"emoji_name,omitempty"`
	Animated    bool                `json:"emoji_animated,omitempty"`
	Roles       []discord.RoleID    `json:"role_ids"`
	Channels    []discord.ChannelID `json:"channel_ids"`
}

// onboarding reads a guild's onboarding.
func (r *reads) onboarding(ctx context.Context, guild discord.GuildID, marks guildMarks) (f onboardingForm, err error) {
	var w onboardingWire
	if err := r.get(ctx, routeOnboarding, inGuild(guild), &w); err != nil {
		return f, err
	}
	return w.form(guild, marks)
}

func (w *onboardingWire) form(guild discord.GuildID, marks guildMarks) (f onboardingForm, err error) {
	broken := incomplete("the onboarding of the guild")
	if w.Guild != guild || w.Enabled == nil || w.Mode == nil || *w.Mode < 0 || *w.Mode >= len(onboardingModes) || w.Prompts == nil || w.Defaults == nil {
		return f, broken
	}
	f = onboardingForm{*w.Enabled, onboardingModes[*w.Mode], sortedIDs(w.Defaults), []onboardingPrompt{}}
	for _, p := range w.Prompts {
		if discord.CheckID(string(p.ID)) != nil || p.Type < 0 || p.Type >= len(onboardingTypes) {
			return f, broken
		}
		to := onboardingPrompt{p.ID, p.Title, onboardingTypes[p.Type], p.SingleSelect, p.Required, p.InOnboarding, []onboardingOption{}}
		for _, o := range p.Options {
			if discord.CheckID(string(o.ID)) != nil {
				return f, broken
			}
			option := onboardingOption{ID: o.ID, Title: o.Title, Roles: sortedIDs(o.Roles), Channels: sortedIDs(o.Channels)}
			set(&option.Description, o.Description)
			if o.Emoji != nil {
				set(&option.guildMark.ID, o.Emoji.ID)
				set(&option.Name, o.Emoji.Name)
				option.Animated = o.Emoji.Animated
			}
			option.guildMark = marks.as(option.guildMark)
			to.Options = append(to.Options, option)
		}
		f.Prompts = append(f.Prompts, to)
	}
	return f, nil
}

// body is the onboarding as Discord takes it. It wants an id of a prompt that is
// new too, and gives it another.
func (f onboardingForm) body() onboardingBody {
	const placeholder = 10000000000000001 // older than Discord's own ids
	b := onboardingBody{f.Enabled, slices.Index(onboardingModes, f.Mode), f.Defaults, []onboardingBodyPrompt{}}
	for i, p := range f.Prompts {
		to := onboardingBodyPrompt{string(p.ID), p.Title, slices.Index(onboardingTypes, p.Type), p.SingleSelect, p.Required, p.InOnboarding, nil}
		if p.ID == "" {
			to.ID = strconv.Itoa(placeholder + i)
		}
		for _, o := range p.Options {
			to.Options = append(to.Options, onboardingBodyOption{
				o.ID, o.Title, o.Description, o.guildMark.ID, o.Name, o.Animated, o.Roles, o.Channels,
			})
		}
		b.Prompts = append(b.Prompts, to)
	}
	return b
}

// prompt is the one of an id; nil for none.
func (f onboardingForm) prompt(id discord.PromptID) *onboardingPrompt {
	for i := range f.Prompts {
		if f.Prompts[i].ID == id {
			return &f.Prompts[i]
		}
	}
	return nil
}

func (p *onboardingPrompt) has(id discord.OptionID) bool {
	return p != nil && slices.ContainsFunc(p.Options, func(o onboardingOption) bool { return o.ID == id })
}

// ids are those of its prompts and options.
func (f onboardingForm) ids() map[string]bool {
	all := map[string]bool{}
	for _, p := range f.Prompts {
		all[string(p.ID)] = true
		for _, o := range p.Options {
			all[string(o.ID)] = true
		}
	}
	return all
}

// only is the onboarding with these ids and no others: what has been made since
// has none, as in the plan that asked for it.
func (f onboardingForm) only(ids map[string]bool) onboardingForm {
	f.Prompts = slices.Clone(f.Prompts)
	for i := range f.Prompts {
		p := &f.Prompts[i]
		if p.Options = slices.Clone(p.Options); !ids[string(p.ID)] {
			p.ID = ""
		}
		for j := range p.Options {
			if !ids[string(p.Options[j].ID)] {
				p.Options[j].ID = ""
			}
		}
	}
	return f
}

// without are the titles of prompts and options that another does not have.
func (f onboardingForm) without(other onboardingForm) (titles []string) {
	left := other.ids()
	for _, p := range f.Prompts {
		if !left[string(p.ID)] {
			titles = append(titles, "the prompt "+strconv.Quote(p.Title))
			continue
		}
		for _, o := range p.Options {
			if !left[string(o.ID)] {
				titles = append(titles, "the option "+strconv.Quote(o.Title)+" of "+strconv.Quote(p.Title))
			}
		}
	}
	return titles
}

// differ are the fields in which two are not the same.
func (f onboardingForm) differ(other onboardingForm) []string {
	var d drift
	d.unless(f.Enabled == other.Enabled, "enabled")
	d.unless(f.Mode == other.Mode, "mode")
	d.unless(slices.Equal(f.Defaults, other.Defaults), "defaultChannelIds")
	d.unless(snapshot(f.Prompts) == snapshot(other.Prompts), "prompts")
	return d
}

// sortedIDs is a set of ids in an order of its own, never nil.
func sortedIDs[ID ~string](ids []ID) []ID {
	sorted := append([]ID{}, ids...)
	slices.SortFunc(sorted, discord.CompareIDs)
	return sorted
}
