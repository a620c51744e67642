package mcpcore

// Code names a failure. The set is closed: what is not in the table reaches a
// caller as INTERNAL_ERROR.
type Code string

// The codes. Each fixes its category (client: the caller or a policy is at
// fault; server: this server or Discord) and whether a repetition can help.
const (
	CodeValidation       Code = "VALIDATION_FAILED"                      // the arguments break the schema or a rule, or Discord refused them; fields: issues
	CodeGuildNotAllowed  Code = "GUILD_NOT_ALLOWED"                      // the guild is outside ALLOWED_GUILDS; fields: guild_id
	CodeGuildUnresolved  Code = "GUILD_SCOPE_UNRESOLVED"                 // the guild of the target cannot be proven; fields: resource
	CodeBotUnresolved    Code = "BOT_SCOPE_UNRESOLVED"                   // an application-wide tool without the identity lock; fields: resource
	CodeScopeRejected    Code = "SCOPE_REJECTED"                         // the tool's category is off; fields: tool, required, granted
	CodeAccessDenied     Code = "RUNTIME_ACCESS_DENIED"                  // evidence shows that the bot may not; fields: tool, missing_permissions, missing_intents, hierarchy
	CodeAccessUnknown    Code = "RUNTIME_ACCESS_UNKNOWN"                 // evidence is missing or partial; fields: tool, reason
	CodeWritePreview     Code = "WRITE_PREVIEW"                          // writes are switched to preview; fields: tool, preview
	CodeDryRun           Code = "DRY_RUN_PREVIEW"                        // a two-key tool without both keys; fields: tool, preview, facts
	CodePreviewRequired  Code = "PREVIEW_REQUIRED"                       // confirmed without a preview that this deployment issued; fields: tool
	CodeFactsChanged     Code = "FACTS_CHANGED"                          // the target is no longer what was approved; fields: tool, facts
	CodePrecondition     Code = "PRECONDITION_FAILED"                    // a precondition refused; fields: tool, precondition
	CodePayloadRequired  Code = "PAYLOAD_CONFIRMATION_REQUIRED"          // this exact payload was not approved yet; fields: tool, payload_hash, risk_flags, approval_id, approval_expires_at, preview
	CodePayloadMismatch  Code = "PAYLOAD_CONFIRMATION_MISMATCH"          // the hash is not that of this payload; fields: as above, received_hash
	CodeApprovalMissing  Code = "PAYLOAD_CONFIRMATION_APPROVAL_MISSING"  // the approval is not known to this ledger; fields: tool
	CodeApprovalReplayed Code = "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED" // the approval was used already; fields: tool
	CodeApprovalExpired  Code = "PAYLOAD_CONFIRMATION_APPROVAL_EXPIRED"  // the approval has expired; fields: tool
	CodeApprovalMismatch Code = "PAYLOAD_CONFIRMATION_APPROVAL_MISMATCH" // the approval is for something else; fields: tool
	CodeConsentRequired  Code = "DM_CONSENT_REQUIRED"                    // the recipient was not approved yet; fields: tool, recipient_id, consent_hash, consent_id, consent_expires_at
	CodeConsentRejected  Code = "DM_CONSENT_REJECTED"                    // the consent cannot be used; fields: tool, reason
	CodeDMUnknown        Code = "DM_OUTCOME_UNKNOWN"                     // the outcome of an approved opening is not known; fields: recipient_id, outcome
	CodeHumanRequired    Code = "HUMAN_APPROVAL_REQUIRED"                // a person must approve, and none can be asked, or none who may decided
	CodeHumanPending     Code = "HUMAN_APPROVAL_PENDING"                 // a person was asked; fields: approval_id, approval_expires_at
	CodeHumanRefused     Code = "HUMAN_APPROVAL_REFUSED"                 // a person said no
	CodeAuditUnavailable Code = "AUDIT_UNAVAILABLE"                      // the intent could not be recorded, so nothing was done
	CodeLedger           Code = "LEDGER_UNAVAILABLE"                     // approvals cannot be read or spent, so nothing was done
	CodeGuardSkipped     Code = "GUARD_SKIPPED"                          // a call reached the interlock unguarded: a fault of the chain; fields: tool, guard
	CodeInputRequired    Code = "INPUT_REQUIRED"                         // the call ends with a question to its client; layers pass it on, and no client gets it as an error
	CodeCancelled        Code = "CANCELLED"                              // the client gave up
	CodeInternal         Code = "INTERNAL_ERROR"                         // anything else

	CodeAuthInvalid      Code = "DISCORD_AUTH_INVALID"         // 401; fields: status
	CodePermission       Code = "DISCORD_PERMISSION_DENIED"    // 403, or a gap a tool computed; fields: status, discord_code, missing
	CodeNotFound         Code = "DISCORD_NOT_FOUND"            // 404; fields: status, discord_code
	CodeRateLimited      Code = "DISCORD_RATE_LIMITED"         // 429 or the local limiter; fields: retry_after_ms, scope
	CodeServerError      Code = "DISCORD_SERVER_ERROR"         // 5xx; fields: status
	CodeCloudflare       Code = "DISCORD_CLOUDFLARE_BLOCKED"   // this address is banned at the edge; fields: retry_after_ms
	CodeCircuitOpen      Code = "CIRCUIT_OPEN"                 // too many failures in a row; fields: retry_after_ms
	CodeBulkheadFull     Code = "BULKHEAD_FULL"                // too many calls to Discord in flight
	CodeTimeout          Code = "DISCORD_TIMEOUT"              // no answer in time and nothing was changed
	CodeUpstreamTimeout  Code = "UPSTREAM_TIMEOUT"             // the call's own deadline passed
	CodeOutcomeUnknown   Code = "OUTCOME_UNKNOWN"              // a write was sent and its outcome is not known
	CodeExternal         Code = "EXTERNAL_SERVICE_UNAVAILABLE" // a service other than Discord failed; fields: provider, status
	CodeTagVerification  Code = "TAG_VERIFICATION_FAILED"      // the read-back shows other tags; fields: channel_id, patch_succeeded
	CodeCatalogOnly      Code = "CATALOG_ONLY"                 // the catalogue executes nothing
	CodeToolNotAvailable Code = "TOOL_NOT_AVAILABLE"           // a tool named inside another's arguments is not there
	CodeRecursion        Code = "PIPELINE_RECURSION"           // a step of a call would make steps itself
	CodeDispatchMismatch Code = "DISPATCH_MODE_MISMATCH"       // a tool named inside another's arguments is of another kind

	CodeWorkflowOff     Code = "WORKFLOW_OFF"            // the operator's policy does not enable the workflow; fields: workflow, policy
	CodeWorkflowScope   Code = "WORKFLOW_SCOPE_REJECTED" // the policy does not name the target; fields: workflow, policy
	CodeProtected       Code = "TARGET_PROTECTED"        // the policy protects the user; fields: workflow
	CodePlanRefused     Code = "PLAN_REFUSED"            // the change cannot be made as it was asked for; fields: reason
	CodePlanChanged     Code = "PLAN_CHANGED"            // what was reviewed is not what is there now; fields: status, expectedDigest, actualDigest
	CodeKeyConflict     Code = "OPERATION_KEY_CONFLICT"  // the operation key was used before; fields: status, receipt
	CodeTargetBusy      Code = "TARGET_BUSY"             // another operation is writing the target; fields: status, target, claimId
	CodeQuarantined     Code = "TARGET_QUARANTINED"      // an earlier write of the target has no known outcome; fields: status, target, claimId
	CodeClaimLost       Code = "CLAIM_LOST"              // the claim ended before the write, so nothing was written; fields: status
	CodeOperationFailed Code = "OPERATION_FAILED"        // the write was certainly not carried out; fields: status, operationKeyHash
)

// Category says whose fault a code is.
type Category string

// The categories of a code.
const (
	Client Category = "client"
	Server Category = "server"
)

type codeFacts struct {
	category  Category
	retriable bool
	hint      string
}

var codes = map[Code]codeFacts{
	CodeValidation:       {Client, false, "Compare the arguments with the tool's input schema, then call again."},
	CodeGuildNotAllowed:  {Client, false, "Use a guild this server allows, or ask the operator to add it to ALLOWED_GUILDS."},
	CodeGuildUnresolved:  {Client, false, "Name the guild, or use a tool whose guild can be proven."},
	CodeBotUnresolved:    {Client, false, "Ask the operator to set DISCORD_EXPECTED_BOT_ID; leave application_id out or use the locked one."},
	CodeScopeRejected:    {Client, false, "Ask the operator to add the category to MCP_CATEGORIES and restart."},
	CodeAccessDenied:     {Client, false, "Grant the bot what is missing, then call again."},
	CodeAccessUnknown:    {Client, false, "Make the evidence readable to the bot, or ask the operator for MCP_ACCESS_MODE=warn."},
	CodeWritePreview:     {Client, false, "Nothing was changed. The operator allows writes with MCP_WRITE_MODE=allow; confirmation still applies."},
	CodeDryRun:           {Client, false, "Nothing was changed. Show the preview to a person. To act, the operator must have started the server with MCP_DRY_RUN=false and the call must carry __confirm: true."},
	CodePreviewRequired:  {Client, false, "Call once without __confirm, show the preview to a person, then confirm the same arguments."},
	CodeFactsChanged:     {Client, false, "Nothing was changed. Look at the facts again and ask again."},
	CodePrecondition:     {Client, false, "Meet the precondition, then call again."},
	CodePayloadRequired:  {Client, false, "Review the preview, then send the same call with __confirm: true, __confirm_hash and __confirm_id before it expires."},
	CodePayloadMismatch:  {Client, false, "Review the preview that comes with this, then send the same call with its hash and id."},
	CodeApprovalMissing:  {Client, false, "Check in Discord whether it was done, then ask for a fresh preview."},
	CodeApprovalReplayed: {Client, false, "Check in Discord whether the first attempt landed; for another one, ask for a fresh preview."},
	CodeApprovalExpired:  {Client, false, "Ask for a fresh preview."},
	CodeApprovalMismatch: {Client, false, "Use the approval with the preview it came from."},
	CodeConsentRequired:  {Client, false, "Review the recipient, then send the same call with __consent: true, __consent_hash and __consent_id before they expire."},
	CodeConsentRejected:  {Client, false, "Ask for a fresh consent preview."},
	CodeDMUnknown:        {Client, false, "Do not repeat it. Check whether the conversation exists, then start a new approval."},
	CodeHumanRequired:    {Client, false, "Ask the operator for the approval console, or use a client that can ask its user."},
	CodeHumanPending:     {Client, false, "Wait for the person's decision, then send the identical call."},
	CodeHumanRefused:     {Client, false, "Do not try again unless they ask for it."},
	CodeAuditUnavailable: {Server, true, "Nothing was changed. The operator must repair the audit sink."},
	CodeLedger:           {Server, true, "Nothing was changed. The operator must repair the ledger."},
	CodeGuardSkipped:     {Server, false, "Nothing was changed. A layer of this server's chain is faulty; tell its developer."},
	CodeInputRequired:    {Client, false, "Answer the question, then make the call again with the answer."},
	CodeCancelled:        {Client, false, "The client cancelled the call."},
	CodeInternal:         {Server, true, "Try once more in a few seconds, then report it with the time of the call."},
	CodeAuthInvalid:      {Client, false, "The credential is not valid. The operator must replace it and restart."},
	CodePermission:       {Client, false, "Give the bot the permission in this channel or guild, or choose a target it may act on."},
	CodeNotFound:         {Client, false, "Check the id and that the bot can see the object; list the parent to find the right id."},
	CodeRateLimited:      {Client, true, "Wait for retry_after_ms, then call again."},
	CodeServerError:      {Server, true, "Discord has trouble. Wait, then try again."},
	CodeCloudflare:       {Client, true, "Discord blocks this address because of too many invalid requests. Stop calling until retry_after_ms has passed and find the cause."},
	CodeCircuitOpen:      {Server, true, "Discord failed repeatedly. Wait for retry_after_ms."},
	CodeBulkheadFull:     {Server, true, "Too many calls at once. Try again shortly."},
	CodeTimeout:          {Server, true, "Discord did not answer in time. Try again."},
	CodeUpstreamTimeout:  {Server, true, "The call took too long. Ask for less at once, or try again."},
	CodeOutcomeUnknown:   {Server, false, "It may have happened. Read the target to find out before you repeat it."},
	CodeExternal:         {Server, true, "Try later."},
	CodeTagVerification:  {Server, false, "The change went through, but the tags read back differ. Read the channel before changing it again."},
	CodeCatalogOnly:      {Client, false, "This is the catalogue. Use a server that has credentials."},
	CodeToolNotAvailable: {Client, false, "Look the tool's name up in the tool list."},
	CodeRecursion:        {Client, false, "Make the inner steps part of the outer list."},
	CodeDispatchMismatch: {Client, false, "Use the tool directly."},
	CodeWorkflowOff:      {Client, false, "Ask the operator to enable the workflow in the policy and to restart."},
	CodeWorkflowScope:    {Client, false, "Ask the operator to name the target in the policy and to restart."},
	CodeProtected:        {Client, false, "Leave this user alone; the operator's policy protects them."},
	CodePlanRefused:      {Client, false, "Change what stands in the way, or ask for something else, then plan again."},
	CodePlanChanged:      {Client, false, "Nothing was changed and the operation key is unspent. Plan again and have the new plan reviewed."},
	CodeKeyConflict:      {Client, false, "Nothing was changed. Look at the receipt; a new intent needs a new operation key."},
	CodeTargetBusy:       {Client, true, "Nothing was changed. Wait until the other operation is over, then plan again."},
	CodeQuarantined:      {Client, false, "Nothing was changed. The operator must look at the target and release the claim with discord-mcp operations resolve."},
	CodeClaimLost:        {Client, false, "Nothing was changed. Plan again, with a new operation key."},
	CodeOperationFailed:  {Client, false, "Nothing was changed. The operation key is spent; plan again with a new one."},
}

// Category says whose fault the code is; server for a code outside the table.
func (c Code) Category() Category {
	if f, ok := codes[c]; ok {
		return f.category
	}
	return Server
}

// Retriable reports whether the same call can succeed later without a change by
// the caller.
func (c Code) Retriable() bool { return codes[c].retriable }

// Hint is the code's own advice.
func (c Code) Hint() string { return codes[c].hint }

// Codes lists the table, for documentation and tests.
func Codes() []Code {
	all := make([]Code, 0, len(codes))
	for c := range codes {
		all = append(all, c)
	}
	return all
}
