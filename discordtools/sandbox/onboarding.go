package sandbox

import (
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// onboardingRoutes are the questions a Community guild asks who is new.
var onboardingRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/onboarding", handle: inGuild(0, getOnboarding)},
	{method: "PUT", path: "/guilds/{guild_id}/onboarding", handle: inGuild(discord.ManageGuild|discord.ManageRoles, putOnboarding)},
}

const (
	auditPromptCreate     = 163
	auditPromptUpdate     = 164
	auditPromptDelete     = 165
	auditOnboardingUpdate = 167
)

var errOnboardingChannels = badRequest(350000, "Onboarding requirements are not met: at least 7 default channels, 5 of which everyone can write in.")

// Onboarding is a guild's onboarding. Mode 0 counts the default channels
// towards what it takes to enable it, 1 those of the options as well.
type Onboarding struct {
	Prompts         []OnboardingPrompt
	DefaultChannels []discord.ChannelID
	Enabled         bool
	Mode            int
}

// OnboardingPrompt is a question. Type 0 is multiple choice, 1 a dropdown.
type OnboardingPrompt struct {
	ID                                   string
	Type                                 int
	Title                                string
	SingleSelect, Required, InOnboarding bool
	Options                              []OnboardingOption
}

// OnboardingOption is an answer and what choosing it gives.
type OnboardingOption struct {
	ID                 string
	Title, Description string
	Emoji              *EmojiRef
	Roles              []discord.RoleID
	Channels           []discord.ChannelID
}

// SetOnboarding gives a guild an onboarding. It makes ids where none are given
// and checks nothing.
func (d *Discord) SetOnboarding(in discord.GuildID, o Onboarding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	o = o.clone()
	for i := range o.Prompts {
		named(&d.world, &o.Prompts[i].ID)
		for j := range o.Prompts[i].Options {
			named(&d.world, &o.Prompts[i].Options[j].ID)
		}
	}
	g.onboarding = &o
}

// Onboarding is a guild's onboarding; the zero value where it has none.
func (d *Discord) Onboarding(of discord.GuildID) Onboarding {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[of]; g != nil && g.onboarding != nil {
		return g.onboarding.clone()
	}
	return Onboarding{}
}

func (o Onboarding) clone() Onboarding {
	o.DefaultChannels = slices.Clone(o.DefaultChannels)
	o.Prompts = slices.Clone(o.Prompts)
	for i := range o.Prompts {
		o.Prompts[i].Options = slices.Clone(o.Prompts[i].Options)
	}
	return o
}

type onboardingView struct {
	Guild           discord.GuildID     `json:"guild_id"`
	Prompts         []promptView        `json:"prompts"`
	DefaultChannels []discord.ChannelID `json:"default_channel_ids"`
	Enabled         bool                `json:"enabled"`
	Mode            int                 `json:"mode"`
}

type promptView struct {
	ID           string             `json:"id"`
	Title        string             `json:"title"`
	Options      []promptOptionView `json:"options"`
	SingleSelect bool               `json:"single_select"`
	Required     bool               `json:"required"`
	InOnboarding bool               `json:"in_onboarding"`
	Type         int                `json:"type"`
}

type promptOptionView struct {
	ID          string              `json:"id"`
	Title       string              `json:"title"`
	Description string              `json:"description"`
	Emoji       promptEmojiView     `json:"emoji"`
	Roles       []discord.RoleID    `json:"role_ids"`
	Channels    []discord.ChannelID `json:"channel_ids"`
}

type promptEmojiView struct {
	ID       *discord.EmojiID `json:"id"`
	Name     *string          `json:"name"`
	Animated bool             `json:"animated"`
}

func viewOnboarding(g *guild) onboardingView {
	v := onboardingView{Guild: g.ID, Prompts: []promptView{}, DefaultChannels: []discord.ChannelID{}}
	o := g.onboarding
	if o == nil {
		return v
	}
	v.DefaultChannels, v.Enabled, v.Mode = list(o.DefaultChannels), o.Enabled, o.Mode
	v.Prompts = mapped(o.Prompts, func(p OnboardingPrompt) promptView {
		return promptView{p.ID, p.Title, mapped(p.Options, viewPromptOption), p.SingleSelect, p.Required, p.InOnboarding, p.Type}
	})
	return v
}

func viewPromptOption(o OnboardingOption) promptOptionView {
	v := promptOptionView{ID: o.ID, Title: o.Title, Description: o.Description, Roles: list(o.Roles), Channels: list(o.Channels)}
	if o.Emoji != nil {
		v.Emoji = promptEmojiView{textOrNull(o.Emoji.ID), textOrNull(o.Emoji.Name), o.Emoji.Animated}
	}
	return v
}

func getOnboarding(_ *exchange, g *guild) (answer, error) { return ok(viewOnboarding(g)) }

type onboardingForm struct {
	Prompts         opt[[]promptForm]        `json:"prompts" maxItems:"15"`
	DefaultChannels opt[[]discord.ChannelID] `json:"default_channel_ids" maxItems:"500"`
	Enabled         opt[bool]                `json:"enabled"`
	Mode            opt[int]                 `json:"mode" enum:"0,1"`
}

type promptForm struct {
	ID           discord.InteractionID `json:"id"` // any snowflake where the prompt is new
	Title        string                `json:"title" minLength:"1" maxLength:"100"`
	Options      []promptOptionForm    `json:"options" minItems:"1" maxItems:"50"`
	SingleSelect opt[bool]             `json:"single_select"`
	Required     opt[bool]             `json:"required"`
	InOnboarding opt[bool]             `json:"in_onboarding"`
	Type         opt[int]              `json:"type" enum:"0,1"`
}

type promptOptionForm struct {
	ID          opt[discord.InteractionID] `json:"id"`
	Title       string                     `json:"title" minLength:"1" maxLength:"50"`
	Description opt[string]                `json:"description" maxLength:"100"`
	EmojiID     opt[discord.EmojiID]       `json:"emoji_id"`
	EmojiName   opt[string]                `json:"emoji_name" maxLength:"100"`
	Animated    opt[bool]                  `json:"emoji_animated"`
	Roles       opt[[]discord.RoleID]      `json:"role_ids" maxItems:"50"`
	Channels    opt[[]discord.ChannelID]   `json:"channel_ids" maxItems:"50"`
}

func putOnboarding(x *exchange, g *guild) (answer, error) {
	var f onboardingForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if !g.has("COMMUNITY") {
		return refuse(errMissingAccess)
	}
	var old Onboarding
	if g.onboarding != nil {
		old = *g.onboarding
	}
	now := old.clone()
	if f.Prompts.has() {
		var err error
		if now.Prompts, err = x.prompts(g, old, f.Prompts.value); err != nil {
			return refuse(err)
		}
	}
	if f.DefaultChannels.has() {
		for i, c := range f.DefaultChannels.value {
			if err := x.ownChannel(g, c, fmt.Sprintf("default_channel_ids.%d", i)); err != nil {
				return refuse(err)
			}
		}
		now.DefaultChannels = f.DefaultChannels.value
	}
	now.Enabled, now.Mode = f.Enabled.or(old.Enabled), f.Mode.or(old.Mode)
	if now.Enabled && !x.enoughChannels(g, now) {
		return refuse(errOnboardingChannels)
	}
	g.onboarding = &now
	x.auditOnboarding(g, old, now)
	return ok(viewOnboarding(g))
}

// prompts checks a form's questions. Ids of the guild's own prompts and options
// are kept, others are replaced by new ones.
func (x *exchange) prompts(g *guild, old Onboarding, forms []promptForm) ([]OnboardingPrompt, error) {
	mine := map[string]bool{}
	for _, p := range old.Prompts {
		mine[p.ID] = true
		for _, o := range p.Options {
			mine[o.ID] = true
		}
	}
	keep := func(id discord.InteractionID) string {
		if mine[string(id)] {
			return string(id)
		}
		return x.issue()
	}
	var all []OnboardingPrompt
	for i, f := range forms {
		p := OnboardingPrompt{
			ID: keep(f.ID), Type: f.Type.value, Title: f.Title, SingleSelect: f.SingleSelect.value, Required: f.Required.value,
			InOnboarding: f.InOnboarding.value,
		}
		for j, of := range f.Options {
			o, err := x.promptOption(g, of, fmt.Sprintf("prompts.%d.options.%d", i, j))
			if err != nil {
				return nil, err
			}
			o.ID = keep(of.ID.value)
			p.Options = append(p.Options, o)
		}
		all = append(all, p)
	}
	return all, nil
}

func (x *exchange) promptOption(g *guild, f promptOptionForm, path string) (OnboardingOption, error) {
	o := OnboardingOption{Title: f.Title, Description: f.Description.value, Roles: f.Roles.value, Channels: f.Channels.value}
	for i, r := range o.Roles {
		if role := g.roles[r]; role == nil || role.Managed || string(r) == string(g.ID) {
			return o, invalid(fmt.Sprintf("%s.role_ids.%d", path, i), "INVALID_ROLE", "Invalid Role")
		}
	}
	for i, c := range o.Channels {
		if err := x.ownChannel(g, c, fmt.Sprintf("%s.channel_ids.%d", path, i)); err != nil {
			return o, err
		}
	}
	if f.EmojiID.has() || f.EmojiName.or("") != "" {
		ref, err := x.emoji(f.EmojiID.or(""), f.EmojiName.or(""))
		if err != nil {
			return o, err
		}
		o.Emoji = &ref
	}
	return o, nil
}

func (x *exchange) ownChannel(g *guild, c discord.ChannelID, path string) error {
	if ch := x.channels[c]; ch == nil || ch.Guild != g.ID || ch.Thread != nil {
		return invalid(path, "CHANNEL_INVALID", "Channel is not part of this guild.")
	}
	return nil
}

// enoughChannels reports whether there are 7 channels for everyone and 5 of
// them to write in.
func (x *exchange) enoughChannels(g *guild, o Onboarding) bool {
	counted := slices.Clone(o.DefaultChannels)
	if o.Mode == 1 {
		for _, p := range o.Prompts {
			for _, option := range p.Options {
				counted = append(counted, option.Channels...)
			}
		}
	}
	slices.Sort(counted)
	counted = slices.Compact(counted)
	writable := 0
	for _, c := range counted {
		if x.everyone(g, x.channels[c]).Has(discord.SendMessages) {
			writable++
		}
	}
	return len(counted) >= 7 && writable >= 5
}

func (x *exchange) auditOnboarding(g *guild, old, now Onboarding) {
	title := func(of Onboarding, id string) *string {
		for _, p := range of.Prompts {
			if p.ID == id {
				return &p.Title
			}
		}
		return nil
	}
	for _, p := range now.Prompts {
		was := title(old, p.ID)
		if was == nil {
			x.audit(g.ID, auditPromptCreate, p.ID, AuditOptions{}, changed("title", nil, &p.Title)...)
		} else if *was != p.Title {
			x.audit(g.ID, auditPromptUpdate, p.ID, AuditOptions{}, changed("title", was, &p.Title)...)
		}
	}
	for _, p := range old.Prompts {
		if title(now, p.ID) == nil {
			x.audit(g.ID, auditPromptDelete, p.ID, AuditOptions{}, changed("title", &p.Title, nil)...)
		}
	}
	changes := slices.Concat(
		changed("default_channel_ids", list(old.DefaultChannels), list(now.DefaultChannels)),
		changed("enabled", old.Enabled, now.Enabled), changed("mode", old.Mode, now.Mode),
	)
	x.audit(g.ID, auditOnboardingUpdate, string(g.ID), AuditOptions{}, changes...)
}
