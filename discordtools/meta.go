package discordtools

import "github.com/guildwarden/guildwarden/mcpcore"

// meta plans and runs calls of the other tools. It has no page of Discord's: it
// reaches Discord through the tools that it calls alone, each of which passes the
// whole chain.
func meta() category {
	return category{Name: "meta", Scope: mcpcore.LocalScope, Tools: []declaration{
		read[intentPlanInput, intentPlan]{
			Name:  "discord_intent_plan",
			Title: "Plan an intent",
			Doc: `Turns one of the intents lock_channel, announce, verify and lock_and_announce into the exact calls that
				carry it out. It plans and changes nothing: show the plan to a person, then make its calls one by one or with
				mcp_pipeline. lock_channel needs allow and deny, announce needs announcement, lock_and_announce all three.`,
			Run: planIntent,
		},
		write[pipeline, pipelineReport]{
			Name:  "mcp_pipeline",
			Title: "Run several tools in order",
			Doc: `Runs up to 20 calls of other tools in order. Each is checked, confirmed and recorded as if it were made
				directly: what it needs, such as __confirm, goes into its own args. {{id.path}} in a text of args stands for
				a value of an earlier step's result, as in {{step_0.messages[0].id}}; a text that is nothing else takes the
				value with its type. The pipeline ends at the first step that fails, unless that has continue_on_error. done,
				failed, refused and not_run say what became of each step; only failed ones may have changed something.`,
			Steps: pipelineSteps,
			Run:   runPipeline,
		},
	}}
}
