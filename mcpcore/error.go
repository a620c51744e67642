package mcpcore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/internal/redact"
)

// Error is the one error that callers see. Its code is from a closed table that
// fixes whose fault it is and whether a repetition can help.
type Error struct {
	Code   Code           // what happened, for programs; see the constants
	Detail string         // what is wrong, in one sentence, for the agent; never a secret
	Hint   string         // what to do next; empty means the code's own hint
	Fields map[string]any // the code's extra members of the envelope, such as issues
	Cause  error          // logged, never sent
}

// Error is the code and the detail, without the cause.
func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf is an error of the given code whose detail is formatted. A %w verb
// makes its operand the cause and prints nothing.
func Errorf(code Code, format string, args ...any) *Error {
	var cause error
	if strings.Contains(format, "%w") {
		cause = errors.Unwrap(fmt.Errorf(format, args...))
		format = strings.ReplaceAll(format, "%w", "%.0v")
	}
	return &Error{Code: code, Detail: strings.TrimRight(fmt.Sprintf(format, args...), ": "), Cause: cause}
}

// With adds one member to the envelope and returns e.
func (e *Error) With(field string, value any) *Error {
	if e.Fields == nil {
		e.Fields = make(map[string]any, 2)
	}
	e.Fields[field] = value
	return e
}

// WithHint sets what to do next and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// asError turns any error into the one callers see. What is not an [*Error]
// becomes INTERNAL_ERROR with the original as its cause.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e == nil {
		err = errors.New("a nil *Error was returned as an error")
	} else if ok {
		if _, known := codes[e.Code]; known {
			return e
		}
		return &Error{Code: CodeInternal, Detail: "the server failed", Cause: fmt.Errorf("code %q is not in the table: %w", e.Code, err)}
	}
	return &Error{Code: CodeInternal, Detail: "the server failed", Cause: err}
}

// Issue is one thing that is wrong with the arguments.
type Issue struct {
	Path    string `json:"path"`    // dotted, such as embeds.0.title; empty for the arguments as a whole
	Message string `json:"message"` // what is wrong and what is wanted, without the value
	Code    string `json:"code"`    // one of the Issue constants
}

// The codes of an [Issue].
const (
	IssueType     = "invalid_type"
	IssueSmall    = "too_small"
	IssueBig      = "too_big"
	IssueFormat   = "invalid_format"
	IssueValue    = "invalid_value"
	IssueUnknown  = "unrecognized_keys"
	IssueRule     = "custom"                  // a rule between several arguments
	IssueExplicit = "explicit_guild_required" // the guild must be named in the call itself
)

// Invalid is VALIDATION_FAILED with the given issues.
func Invalid(issues ...Issue) *Error {
	e := &Error{Code: CodeValidation, Detail: "the arguments are not valid"}
	if len(issues) > 0 {
		e.Detail = issueText(issues[0])
		e.Hint = "Fix the issues listed, then call again."
		if len(issues) > 1 {
			e.Detail += fmt.Sprintf(" (and %d more)", len(issues)-1)
		}
	}
	return e.With("issues", issues)
}

// Redact masks, in a text for logs or errors, what has the shape of a bot
// token, a bearer header, a webhook or interaction address, or the user part of
// an address. Audits and previews pass through it already.
func Redact(text string) string { return redact.Text(text) }

func issueText(i Issue) string {
	if i.Path == "" {
		return i.Message
	}
	return i.Path + ": " + i.Message
}
