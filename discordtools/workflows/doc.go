// Package workflows holds Discord's reviewed workflows: changes that are
// planned, shown to a person, approved, made once and read back. The engine is
// [mcpcore.Operation]'s; each file here declares one workflow, as data and small
// functions that read and write Discord.
//
//	deps.Workflows = workflows.All
//	deps.Permits = mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{
//		"role-deletion": {Enabled: true, Scopes: map[string][]string{"roles": {"1200000000000000206"}}},
//	}}
//
// Where another server would rely on events of Discord's gateway or on files of
// a local disk, these workflows take two equal snapshots of Discord's REST API,
// one before and one after the review, and what the caller passes.
package workflows

import (
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// All are Discord's workflows on a client, in the order of their names. None runs
// before a policy enables it.
func All(rest discordtools.REST) []mcpcore.Workflow {
	paced := &pace{}
	return []mcpcore.Workflow{
		announcementCrosspost(rest),
		announcementSubscription(rest),
		applicationEmojiChange(rest),
		applicationEntitlementConsumption(rest),
		applicationIntentEnablement(rest),
		applicationRoleConnectionMetadataChange(rest),
		applicationTestEntitlementChange(rest),
		attachmentMessage(rest, paced),
		automodChange(rest),
		botProfileChange(rest),
		bulkGuildBan(rest),
		bulkMemberRoleChange(rest),
		channelCloning(rest),
		channelCreation(rest),
		channelDeletion(rest),
		channelMetadataChange(rest),
		channelOrdering(rest),
		channelPermissionOverwrite(rest),
		channelPermissionSync(rest),
		componentMessage(rest, paced),
		directMessageChange(rest, paced),
		embedMessage(rest, paced),
		forumPosting(rest, paced),
		forumTagging(rest),
		globalApplicationCommandChange(rest),
		guildApplicationCommandChange(rest),
		guildBlueprint(rest),
		guildCommunityChange(rest),
		guildDeparture(rest),
		guildExpressionChange(rest),
		guildIncidentActionChange(rest),
		guildProfileChange(rest),
		guildPrune(rest),
		guildScaffold(rest),
		guildSettingsChange(rest),
		guildSoundboardChange(rest),
		guildTemplateChange(rest),
		integrationDeletion(rest),
		inviteCreation(rest),
		inviteDeletion(rest),
		memberModeration(rest),
		memberNicknameChange(rest),
		memberRoleChange(rest),
		memberVerificationChange(rest),
		memberVoiceChange(rest),
		messageDeletion(rest),
		messageForwarding(rest, paced),
		messagePinning(rest),
		nativeInteractionCommand(rest),
		onboardingChange(rest),
		pollCreation(rest, paced),
		pollEnding(rest),
		reactionModeration(rest),
		roleConfiguration(rest),
		roleCreation(rest),
		roleDeletion(rest),
		roleOrdering(rest),
		scheduledEventChange(rest),
		stageInstanceChange(rest, paced),
		threadCreation(rest, paced),
		threadGovernanceChange(rest),
		voiceChannelStatusChange(rest),
		webhookChange(rest),
		webhookCreation(rest),
		webhookDeletion(rest),
		webhookMessageDeletion(rest),
		welcomeScreenChange(rest),
		widgetSettingsChange(rest),
	}
}
