// Package blueprint describes a whole guild as one document, plans what it takes
// to make a guild like that, does it step by step, and proves that it was done.
//
// A [Document] is desired state: settings, roles, categories, channels, welcome
// screen, onboarding, AutoMod and messages of components, which name each other
// by keys of the document's own. It holds no id. What it does not speak of is
// left alone, and nothing is ever deleted.
//
//	doc, issues := blueprint.Parse(raw)
//	guild, err := blueprint.Read(ctx, conn, id, bot, doc)
//	draft := blueprint.Compare(doc, guild, blueprint.Bindings{}, false)
//	fmt.Print(draft.Diff())
//
// [Compare] finds what exists by exact unique names, and says what would be
// done, in order, and what stands in the way. A [Plan] seals that for one guild,
// one bot and one state of the guild. [Applier] carries it out: it looks before
// each write, keeps a checkpoint after each, adopts what an interrupted run left
// behind, and ends with a read of everything. What it proves is kept as
// [Evidence].
//
// The package reaches Discord by a [Conn] and keeps records in a
// [mcpcore.Store]. It reads no environment and no clock of its own.
package blueprint
