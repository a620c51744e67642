package blueprint

import (
	"maps"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	policyVersion          = "community-safe.v1"
	onboardingVerification = "api_readback_then_fresh_member_client_check"
	autoModVerification    = "read_after_write"
	componentsFlag         = 1 << 15
)

// Basis says what a document was compiled from.
type Basis struct {
	Interpretation string   `json:"source_interpretation" enum:"verified_structural_signals_and_capability_modules"`
	Channels       int      `json:"primary_channel_count" minimum:"0"`
	Categories     int      `json:"primary_category_count" minimum:"0"`
	Roles          int      `json:"primary_role_count" minimum:"0"`
	Signals        []string `json:"applied_signals" optional:"true" maxItems:"32"`
}

// Boundary says what the bot needs to carry the document out.
type Boundary struct {
	Always      []string      `json:"always_required_permissions"`
	Conditional []Conditional `json:"conditional_requirements"`
	Below       bool          `json:"generated_roles_must_remain_below_bot"`
	Immutable   bool          `json:"managed_roles_are_immutable"`
	Verified    bool          `json:"target_identity_and_guild_must_be_verified"`
	Grants      bool          `json:"auto_grant_permissions"`
}

// Conditional is a permission that the bot needs in some guilds.
type Conditional struct {
	Permission string `json:"permission"`
	When       string `json:"when"`
	Reason     string `json:"reason"`
}

// Resolution says how keys become ids.
type Resolution struct {
	Strategy    string `json:"strategy"`
	SourceIDs   bool   `json:"source_template_ids_allowed"`
	Placeholder string `json:"channel_placeholder_format"`
}

// Safety says what the check of the document found.
type Safety struct {
	Permissions bool `json:"source_permissions_discarded"`
	Overwrites  bool `json:"source_overwrites_discarded"`
	Severe      int  `json:"severe_generated_role_permissions"`
	Dangling    int  `json:"dangling_symbolic_references"`
	Onboarding  bool `json:"onboarding_requirements_met"`
	Components  bool `json:"components_v2_pre_resolution_valid"`
}

// Stated is a copy of a document that passed its check, together with what
// follows from it, as tools show it.
func (d *Document) Stated() *Document {
	s := *d
	s.Bot = &Boundary{
		Always: append([]string{}, d.needs().Names()...), Conditional: []Conditional{},
		Below: true, Immutable: true, Verified: true,
	}
	if d.Guild != nil && d.Guild.Community != nil {
		s.Bot.Conditional = append(s.Bot.Conditional, Conditional{
			Permission: "ADMINISTRATOR", When: "the guild is no Community yet", Reason: "Discord lets administrators alone make a guild a Community",
		})
	}
	s.Resolution = &Resolution{Strategy: "resolve_from_target_guild_and_create_results", Placeholder: "<#{{channel:<symbol_key>}}>"}
	s.Safety = &Safety{Permissions: true, Overwrites: true, Onboarding: true, Components: true}
	return &s
}

// needs is what the bot needs whatever the guild is like.
func (d *Document) needs() discord.Permissions {
	p := discord.ViewChannel
	if len(d.Roles) > 0 {
		p |= discord.ManageRoles
	}
	if len(d.Categories)+len(d.Channels) > 0 {
		p |= discord.ManageChannels
	}
	if d.Guild != nil || d.AutoMod != nil {
		p |= discord.ManageGuild
	}
	if d.Onboarding != nil {
		p |= discord.ManageGuild | discord.ManageRoles
	}
	if len(d.publications()) > 0 {
		p |= discord.SendMessages | discord.ReadMessageHistory
	}
	if d.AutoMod != nil {
		for _, r := range d.AutoMod.Rules {
			if slices.ContainsFunc(r.Actions, func(a Action) bool { return a.Type == actTimeout || a.Type == actBlockMember }) {
				p |= discord.ModerateMembers
			}
		}
	}
	return p
}

// set is the set of permissions of those names.
func set(names []discord.PermissionName) (p discord.Permissions) {
	for _, n := range names {
		p |= n.Permission()
	}
	return p
}

// named are the names of a set, in bit order.
func named(p discord.Permissions) []discord.PermissionName {
	names := []discord.PermissionName{}
	for _, n := range (p & discord.KnownPermissions).Names() {
		names = append(names, discord.PermissionName(n))
	}
	return names
}

// sortedKeys are a map's keys in order.
func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
