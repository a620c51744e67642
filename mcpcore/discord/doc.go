// Package discord is the vocabulary of Discord that the rest of the module
// speaks: identifiers, permission bits, gateway intents and the enumerations
// that guards look at. It holds no client, imports the standard library alone
// and is safe for concurrent use, being constants, values and pure functions.
//
// Identifiers are distinct string types, so that a guild and a channel that are
// swapped do not compile:
//
//	func ban(g discord.GuildID, u discord.UserID)
//
// Sources: https://docs.discord.com/developers/reference#snowflakes and
// https://docs.discord.com/developers/topics/permissions.
package discord
