package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// What the demo application has of its own.
const (
	DemoRoll   discord.CommandID = "1200000000000000801" // /roll, everywhere
	DemoReport discord.CommandID = "1200000000000000802" // message menu, everywhere
	DemoFog    discord.CommandID = "1200000000000000803" // /fog, in DemoGuild

	DemoFoghorn discord.EmojiID = "1200000000000000804" // :foghorn:

	DemoPremium    discord.SKUID          = "1200000000000000811" // subscription of a guild
	DemoLampOil    discord.SKUID          = "1200000000000000812" // bought to be used up
	DemoPaid       discord.EntitlementID  = "1200000000000000813" // DemoGuild's premium
	DemoOil        discord.EntitlementID  = "1200000000000000814" // DemoMember's lamp oil
	DemoTrial      discord.EntitlementID  = "1200000000000000815" // DemoClub's premium, to test
	DemoSubscribed discord.SubscriptionID = "1200000000000000816" // DemoOwner's

	// DemoAccess is DemoOwner's access token, by which command permissions can be set.
	DemoAccess = "sandbox-access-of-the-owner"

	DemoActivity = "i-1200000000000000821-gc-lounge" // running in DemoLounge
)

func (d *Discord) demoApplication(now time.Time) {
	d.SetApplication(Application{
		Description: "Moderation by agents, behind guards", Owner: DemoOwner, Tags: []string{"Moderation"},
		Install: &InstallParams{Scopes: []string{"applications.commands", "bot"}, Permissions: DemoPermissions},
	})
	most := 100.0
	d.AddCommand(Command{
		ID: DemoRoll, Name: "roll", Names: map[string]string{"de": "würfeln"}, Description: "Roll dice for the weather",
		Options: []CommandOption{
			{Type: optionInteger, Name: "sides", Description: "How many sides", Required: true, MaxValue: &most},
			{Type: optionText, Name: "weather", Description: "What it is about", Choices: []CommandChoice{{Name: "Fog", Value: "fog"}, {Name: "Storm", Value: "storm"}}},
		},
	})
	d.AddCommand(Command{ID: DemoReport, Type: MessageMenu, Name: "Report to the keepers"})
	needs := discord.ManageMessages
	d.AddCommand(Command{ID: DemoFog, Guild: DemoGuild, Name: "fog", Description: "Let fog come in", Needs: &needs})
	d.SetCommandGrants(DemoGuild, DemoFog, CommandGrant{ID: discord.GranteeID(DemoModeratorRole), Type: 1, Allow: true})
	d.access(DemoAccess, DemoOwner, scopeCommandPermissions)
	d.AddApplicationEmoji(Emoji{ID: DemoFoghorn, Name: "foghorn"})
	d.SetConnections(ConnectionField{Type: 2, Key: "voyages", Name: "Voyages", Description: "How many voyages at least"})

	d.AddSKU(SKU{ID: DemoPremium, Type: SKUSubscription, Name: "Keeper Premium", Slug: "keeper-premium", Flags: 1<<2 | 1<<7})
	d.AddSKU(SKU{ID: DemoLampOil, Type: SKUConsumable, Name: "Lamp Oil", Slug: "lamp-oil", Flags: 1 << 2})
	month := now.AddDate(0, -1, 1)
	d.AddEntitlement(Entitlement{ID: DemoPaid, SKU: DemoPremium, User: DemoOwner, Guild: DemoGuild, Starts: month, Ends: month.AddDate(0, 1, 0)})
	d.AddEntitlement(Entitlement{ID: DemoOil, SKU: DemoLampOil, User: DemoMember})
	d.AddEntitlement(Entitlement{ID: DemoTrial, SKU: DemoPremium, User: DemoOwner, Guild: DemoClub, Test: true})
	d.AddSubscription(Subscription{
		ID: DemoSubscribed, User: DemoOwner, SKUs: []discord.SKUID{DemoPremium}, Entitlements: []discord.EntitlementID{DemoPaid}, Start: month, End: month.AddDate(0, 1, 0),
	})
	d.AddActivity(Activity{ID: DemoActivity, Launch: "1200000000000000821", Channel: DemoLounge, Users: []discord.UserID{DemoMember}})
}
