package discordtools

import (
	"encoding/json"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// blueprintTools compile, plan, carry out and prove blueprints.
func blueprintTools() []declaration {
	return []declaration{
		destroy[blueprintApply, blueprintApplied]{
			Name:  "guild_blueprint_apply",
			Title: "Carry out a blueprint's plan",
			Doc: `Carries out a plan of guild_blueprint_plan, step by step, and reads everything back. Nothing is
				deleted. Show the plan to a person first. The guild must be named in the call. When it answers
				partial with next_action resume, send the identical call again: what is done is found and not
				done twice. Another change to the guild since the plan makes it stale; then plan anew.`,
			Calls:    append(blueprint.Reads(), blueprint.Writes()...),
			Facts:    blueprintFacts,
			Pictures: blueprintPictures,
			Run:      applyBlueprint,
		},
		read[compileWish, blueprintCompiled]{
			Name:  "guild_blueprint_compile",
			Title: "Compile a blueprint",
			Doc: `Makes a blueprint of a whole guild from a request: settings, roles, categories, channels with
				permissions, welcome screen, onboarding, AutoMod, first messages. The same request gives the same
				blueprint. Nothing is sent to a guild; edit it and give it to guild_blueprint_plan.`,
			Calls: []string{routeTemplate},
			Scope: mcpcore.GlobalScope,
			Run:   compileBlueprint,
		},
		read[blueprintEvidence, blueprintReviewed]{
			Name:  "guild_blueprint_evidence",
			Title: "Check a blueprint's evidence",
			Doc: `Reads what was proven when a plan was carried out to the end, and whether the guild is still like
				that: verified or drifted. The guild must be named in the call.`,
			Calls: blueprint.Reads(),
			Run:   reviewBlueprint,
		},
		read[blueprintPlan, blueprintPlanned]{
			Name:  "guild_blueprint_plan",
			Title: "Plan a blueprint",
			Doc: `Compares a guild with a blueprint, yours or one compiled from a request, and says what would be
				done: every operation, what stands in the way, the channels before and after. Changes nothing. Show it
				to a person; with their consent give plan_ref (or plan_token) and approval_id to guild_blueprint_apply.`,
			Calls: append(blueprint.Reads(), routeTemplate),
			Rules: []mcpcore.Rule{mcpcore.AnyOf("request", "blueprint"), blueprintRule},
			Run:   planBlueprint,
		},
	}
}

type compileWish struct{ wish }

// document is a blueprint as a caller wrote it. Package blueprint checks it: its
// schema would fill an agent's context.
type document map[string]json.RawMessage

type blueprintPlan struct {
	GuildID   discord.GuildID  `json:"guild_id,omitempty" in:"local" jsonschema:"guild to compare with; the default or only allowed one when absent"`
	Bot       discord.UserID   `json:"expected_bot_id,omitempty" in:"local" jsonschema:"the bot that must do it; the configured one when absent"`
	Request   string           `json:"request,omitempty" in:"local" jsonschema:"what the guild is for, in plain words" minLength:"3" maxLength:"500"`
	Preferred codeOfTemplate   `json:"preferred_primary_code,omitempty" in:"local" jsonschema:"template to prefer" minLength:"1" maxLength:"100" pattern:"^[a-zA-Z0-9_-]+$"`
	Codes     []codeOfTemplate `json:"template_codes,omitempty" in:"local" jsonschema:"more templates to look at" minLength:"1" maxLength:"100" maxItems:"8" pattern:"^[a-zA-Z0-9_-]+$" uniqueItems:"true"`
	Blueprint document         `json:"blueprint,omitempty" in:"local" jsonschema:"a blueprint instead of a request, as guild_blueprint_compile makes one"`
	Adopt     bool             `json:"adopt,omitempty" in:"local" jsonschema:"change what has a part's name and differs, instead of stopping there"`
}

type blueprintApply struct {
	GuildID  discord.GuildID `json:"guild_id" in:"local" jsonschema:"guild of the plan"`
	Bot      discord.UserID  `json:"expected_bot_id" in:"local" jsonschema:"bot of the plan"`
	Ref      string          `json:"plan_ref,omitempty" in:"local" jsonschema:"of the plan; or plan_token" pattern:"^dmbpr1\\.[a-f0-9]{64}$"`
	Token    string          `json:"plan_token,omitempty" in:"local" jsonschema:"of the plan; or plan_ref" minLength:"1" maxLength:"65536"`
	Approval string          `json:"approval_id" in:"local" jsonschema:"of the plan" pattern:"^sha256:[a-f0-9]{64}$"`
	Budget   int             `json:"operation_budget,omitempty" in:"local" jsonschema:"most operations of this call" minimum:"1" maximum:"50" default:"25"`
}

type blueprintEvidence struct {
	GuildID discord.GuildID `json:"guild_id" in:"local" jsonschema:"guild of the plan"`
	Bot     discord.UserID  `json:"expected_bot_id" in:"local" jsonschema:"bot of the plan"`
	Plan    string          `json:"plan_id" in:"local" jsonschema:"the plan" pattern:"^sha256:[a-f0-9]{64}$"`
}

// blueprintRule refuses a blueprint that is not valid, and says all that is wrong
// with it.
var blueprintRule = mcpcore.Rule{All: func(call *mcpcore.Call) []mcpcore.Issue {
	raw, given := call.Arg("blueprint")
	if !given {
		return nil
	}
	return blueprint.Issues("blueprint", raw)
}}

// target is what a plan is for, as answers show it.
type target = blueprint.Target

// source is what the templates gave that were looked at.
type blueprintSource struct {
	Version      string           `json:"catalog_version"`
	Primary      *templateChoice  `json:"primary"`
	Inspirations []templateChoice `json:"inspirations"`
	Permissions  string           `json:"permission_policy"`
}

type blueprintCompiled struct {
	Status       string           `json:"status"` // ready or partial
	Request      string           `json:"request"`
	Source       blueprintSource  `json:"source"`
	ID           *string          `json:"blueprint_id"`
	Blueprint    json.RawMessage  `json:"blueprint"`
	Verification compiledVerified `json:"verification"`
	Warnings     []string         `json:"warnings"`
}

type compiledVerified struct {
	Records    int    `json:"catalog_records"`
	Candidates int    `json:"metadata_candidates"`
	Inspected  int    `json:"candidates_inspected"`
	Requests   int    `json:"rest_requests"`
	Kept       int    `json:"cache_hits"`
	Verified   int    `json:"rest_verified"`
	Failed     int    `json:"rest_failed"`
	Rejected   int    `json:"safety_rejected"`
	Validation string `json:"blueprint_validation"`
	Bytes      int    `json:"blueprint_bytes"`
}

// maxOperations is how many operations an answer shows.
const maxOperations = 128

type blueprintPlanned struct {
	Status       string                `json:"status"` // ready, already_current, blocked
	Request      string                `json:"request"`
	Source       *blueprintSource      `json:"source"`
	Target       *target               `json:"target"`
	BlueprintID  *string               `json:"blueprint_id"`
	Blueprint    json.RawMessage       `json:"blueprint"`
	Snapshot     *string               `json:"snapshot_id"`
	Plan         *string               `json:"plan_id"`
	Approval     *string               `json:"approval_id"`
	Token        *string               `json:"plan_token"`
	Ref          *string               `json:"plan_ref"`
	Summary      *blueprint.Summary    `json:"summary"`
	Operations   []blueprint.Operation `json:"operations"`
	Permissions  *blueprint.Rights     `json:"bot_permissions"`
	Blockers     []blueprint.Problem   `json:"blockers"`
	Warnings     []string              `json:"warnings"`
	Verification plannedVerified       `json:"verification"`
	Trees        *blueprint.Trees      `json:"trees,omitempty"`
	spoken
}

type plannedVerified struct {
	Records    int    `json:"catalog_records"`
	Inspected  int    `json:"candidates_inspected"`
	Requests   int    `json:"template_rest_requests"`
	Kept       int    `json:"template_cache_hits"`
	Verified   int    `json:"templates_verified"`
	Validation string `json:"blueprint_validation"`
	Readback   string `json:"target_readback"`
}

type blueprintApplied struct {
	Status      blueprint.Status    `json:"status"`
	Plan        *string             `json:"plan_id"`
	BlueprintID *string             `json:"blueprint_id"`
	Target      target              `json:"target"`
	Progress    appliedProgress     `json:"progress"`
	Attempts    []blueprint.Attempt `json:"attempts"`
	Blockers    []blueprint.Problem `json:"blockers"`
	Error       *blueprint.Failure  `json:"error"`
	Evidence    appliedEvidence     `json:"evidence"`
	Next        string              `json:"next_action"`
	Warnings    []string            `json:"warnings"`
	spoken
}

type appliedProgress struct {
	Planned   int  `json:"initial_planned"`
	Due       int  `json:"planned_this_call"`
	Attempted int  `json:"attempted_this_call"`
	Completed int  `json:"completed_total"`
	Left      int  `json:"remaining"`
	Version   *int `json:"checkpoint_version"`
}

type appliedEvidence struct {
	Identity  bool                `json:"identity_verified"`
	Guild     bool                `json:"guild_verified"`
	Readback  string              `json:"readback"`
	Before    *string             `json:"snapshot_id_before"`
	After     *string             `json:"snapshot_id_after"`
	Persisted bool                `json:"checkpoint_persisted"`
	Bindings  blueprint.Bindings  `json:"bindings"`
	Completed []string            `json:"completed_operation_ids"`
	Activity  *blueprint.Evidence `json:"activity"`
}

type blueprintReviewed struct {
	Status       string           `json:"status"`
	Plan         string           `json:"plan_id"`
	BlueprintID  *string          `json:"blueprint_id"`
	EvidenceID   *string          `json:"evidence_id"`
	Target       target           `json:"target"`
	Record       *reviewedRecord  `json:"record"`
	Verification reviewedVerified `json:"verification"`
	spoken
}

type reviewedRecord struct {
	Schema     string               `json:"schema_version"`
	Recorded   string               `json:"recorded_at"`
	Operations int                  `json:"initial_operation_count"`
	Invariants blueprint.Invariants `json:"plan_invariants"`
	Observed   blueprint.Observed   `json:"observed"`
}

type reviewedVerified struct {
	Identity  bool                  `json:"identity_verified"`
	Guild     bool                  `json:"guild_verified"`
	Readback  string                `json:"readback"`
	Unchanged *bool                 `json:"snapshot_unchanged"`
	Current   *blueprint.Inventory  `json:"current_snapshot"`
	Left      []blueprint.Operation `json:"remaining_operations"`
	Blockers  []blueprint.Problem   `json:"blockers"`
	Warnings  []string              `json:"warnings"`
}

// spoken is the text for clients that show no structured content.
type spoken struct {
	Spoken string `json:"-"`
}

func (s *spoken) Text() string { return s.Spoken }

// firstOf is the list's first items.
func firstOf[T any](list []T, n int) []T { return slices.Clone(list[:min(len(list), n)]) }
