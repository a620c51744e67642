package blueprint

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Failure is why an operation was not done, or not proven to be done.
type Failure struct {
	Operation  *string `json:"operation_id"`
	Code       string  `json:"code"`
	Retriable  bool    `json:"retriable"`
	Status     *int    `json:"status"`
	RetryAfter *int    `json:"retry_after_ms,omitempty"`
}

// ioError is a store that failed.
type ioError struct{ cause error }

func (e *ioError) Error() string { return e.cause.Error() }
func (e *ioError) Unwrap() error { return e.cause }

// failure is the error as a caller sees it.
func failure(operation string, err error) *Failure {
	f := &Failure{Code: "APPLY_FAILED"}
	if operation != "" {
		f.Operation = &operation
	}
	var io *ioError
	var response *responseError
	switch e, ok := errors.AsType[*mcpcore.Error](err); {
	case errors.Is(err, errLost):
		f.Code, f.Retriable = "APPLY_LOCK_LOST", true
	case errors.Is(err, errUnavailable):
		f.Code, f.Retriable = string(mcpcore.CodeLedger), true
	case errors.Is(err, errIdentity):
		f.Code = "CHECKPOINT_IDENTITY_MISMATCH"
	case errors.Is(err, errTampered):
		f.Code = "CHECKPOINT_TAMPERED"
	case errors.Is(err, mcpcore.ErrStale):
		f.Code = "CHECKPOINT_VERSION_CONFLICT"
	case errors.Is(err, errConflict):
		f.Code = "EVIDENCE_CONFLICT"
	case errors.As(err, &io):
		f.Code, f.Retriable = "CHECKPOINT_IO", true
	case errors.Is(err, errNotReady):
		f.Code, f.Retriable = "PUBLICATION_CHANNEL_NOT_READY", true
	case errors.Is(err, errOtherGuild):
		f.Code = "TARGET_GUILD_MISMATCH"
	case errors.Is(err, errUnresolved):
		f.Code = "PLAN_DEPENDENCY_UNRESOLVED"
	case errors.Is(err, errUnknownOperation):
		f.Code = "PLAN_INVALID"
	case ok:
		f.ofDiscord(e)
	case errors.As(err, &response):
		f.Code = "DISCORD_RESPONSE_INVALID"
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Retriable = "UPSTREAM_TIMEOUT", true
	case errors.Is(err, context.Canceled):
		f.Code, f.Retriable = "CANCELLED", true
	}
	return f
}

// ofDiscord takes what the connection says.
func (f *Failure) ofDiscord(e *mcpcore.Error) {
	if status, ok := e.Fields["status"].(int); ok && status >= 100 && status <= 599 {
		f.Status = &status
	}
	switch e.Code {
	case mcpcore.CodeRateLimited, mcpcore.CodeCloudflare, mcpcore.CodeBulkheadFull, mcpcore.CodeCircuitOpen:
		f.Code, f.Retriable = "DISCORD_RATE_LIMITED", true
		switch after := e.Fields["retry_after_ms"].(type) {
		case int:
			f.RetryAfter = &after
		case int64:
			ms := int(after)
			f.RetryAfter = &ms
		}
	case mcpcore.CodeTimeout, mcpcore.CodeUpstreamTimeout:
		f.Code, f.Retriable = "UPSTREAM_TIMEOUT", true
	case mcpcore.CodeCancelled:
		f.Code, f.Retriable = "CANCELLED", true
	case mcpcore.CodeOutcomeUnknown, mcpcore.CodeServerError: // the next call looks what became of it
		f.Code, f.Retriable = "DISCORD_API_ERROR", true
	case mcpcore.CodeValidation, mcpcore.CodePermission, mcpcore.CodeNotFound, mcpcore.CodeAuthInvalid:
		f.Code = "DISCORD_API_ERROR"
	default:
		f.Code = "APPLY_FAILED"
	}
}
