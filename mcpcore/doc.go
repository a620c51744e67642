// Package mcpcore is the kernel of Guildwarden: it serves tools over the Model
// Context Protocol and lets no call reach a handler but through a chain of
// guards. It knows nothing of Discord's routes and nothing of HTTP.
//
// A [Tool] is a value whose first word is its effect. [Define] makes one from a
// typed handler:
//
//	type closeTicket struct {
//		Ticket int `json:"ticket" jsonschema:"number of the ticket" minimum:"1"`
//	}
//	type closed struct {
//		Closed bool `json:"closed"`
//	}
//
//	tool := mcpcore.Define(mcpcore.Tool{
//		Name: "ticket_close", Title: "Close a ticket", Doc: "Closes a support ticket.",
//		Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
//	}, func(ctx context.Context, call *mcpcore.Call, in closeTicket) (closed, error) {
//		return closed{true}, tickets.Close(ctx, in.Ticket)
//	})
//
// [BuildServer] puts tools, a chain (usually middleware.Standard) and the
// caller's own sinks, resolvers and policies together, reports everything that
// is wrong with them at once, and returns the SDK's *mcp.Server.
//
// # How a call is guarded
//
// A [Call] passes the layers of the chain in order. The guards are its methods:
// [Call.Validate] freezes the arguments, [Call.Check] runs preconditions,
// [Call.Approve] verifies approvals, [Call.Begin] and [Call.End] keep the audit.
// Each does its work and notes that it was done; the interlock behind the last
// layer refuses a call that lacks a note it needs (GUARD_SKIPPED), spends what
// was approved and opens once. A layer can add to a guard and can refuse
// earlier; it cannot fake one.
//
// # Calls that make calls, and calls that ask
//
// A tool that declares [Tool.Steps] can call other tools of its server, each
// through the whole chain ([Call.Step]). A call can ask its client's user or
// model once, and runs again as a whole with the answer ([Question]).
//
// # Documents
//
// A [Resource] is a document to read: a text of the embedder's, or what one reading
// tool answers, which is a call like any other. A [Prompt] is a ready request.
// Neither grants anything.
//
// # Errors
//
// There is one error type, [Error], with a code from a closed table. It is
// written for the agent: what is wrong and what to do next. Its cause is
// logged and never sent.
package mcpcore
