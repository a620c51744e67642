package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// apiError is an answer of Discord that refuses.
//
// Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json.
type apiError struct {
	status  int
	code    int
	message string
	form    *formTree
	retry   float64 // seconds; with status 429 alone
}

func (e *apiError) Error() string { return fmt.Sprintf("%d (%d): %s", e.status, e.code, e.message) }

func (e *apiError) MarshalJSON() ([]byte, error) {
	type limited struct {
		Message string  `json:"message"`
		After   float64 `json:"retry_after"`
		Global  bool    `json:"global"`
		Code    int     `json:"code"`
	}
	if e.status == http.StatusTooManyRequests {
		return json.Marshal(limited{e.message, e.retry, false, e.code})
	}
	return json.Marshal(struct {
		Message string    `json:"message"`
		Code    int       `json:"code"`
		Errors  *formTree `json:"errors,omitempty"`
	}{e.message, e.code, e.form})
}

func notFound(code int, message string) *apiError {
	return &apiError{status: http.StatusNotFound, code: code, message: message}
}

func forbidden(code int, message string) *apiError {
	return &apiError{status: http.StatusForbidden, code: code, message: message}
}

func badRequest(code int, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: code, message: message}
}

// The errors that several routes answer. Those of one subject stand in its file.
var (
	errUnauthorized = &apiError{status: http.StatusUnauthorized, message: "401: Unauthorized"}
	errNoRoute      = &apiError{status: http.StatusNotFound, message: "404: Not Found"}
	errMethod       = &apiError{status: http.StatusMethodNotAllowed, message: "405: Method Not Allowed"}
	errTooLarge     = &apiError{status: http.StatusRequestEntityTooLarge, code: 40005, message: "Request entity too large"}
	errInvalidJSON  = badRequest(50109, "The request body contains invalid JSON.")

	errUnknownChannel   = notFound(10003, "Unknown Channel")
	errUnknownGuild     = notFound(10004, "Unknown Guild")
	errUnknownMember    = notFound(10007, "Unknown Member")
	errUnknownMessage   = notFound(10008, "Unknown Message")
	errUnknownOverwrite = notFound(10009, "Unknown Permission Overwrite")
	errUnknownRole      = notFound(10011, "Unknown Role")
	errUnknownUser      = notFound(10013, "Unknown User")
	errUnknownEmoji     = badRequest(10014, "Unknown Emoji")

	errMissingAccess      = forbidden(50001, "Missing Access")
	errMissingPermissions = forbidden(50013, "Missing Permissions")
	errChannelType        = badRequest(50024, "Cannot execute action on this channel type")
	errThreadArchived     = badRequest(50083, "Thread is archived")
)

// form collects what is wrong with a request, each under its path in the body
// ("embeds.0.title"). The zero value is an empty form.
type form struct {
	tree formTree
	bad  bool
}

// formTree is Discord's nested `errors` object.
type formTree struct {
	children map[string]*formTree
	errors   []formError
}

type formError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (t *formTree) MarshalJSON() ([]byte, error) {
	if len(t.errors) > 0 {
		return json.Marshal(struct {
			Errors []formError `json:"_errors"`
		}{t.errors})
	}
	return json.Marshal(t.children)
}

// add notes a violation. An empty path is the body itself.
func (f *form) add(path, code, message string, args ...any) {
	f.bad = true
	at := &f.tree
	if path != "" {
		for _, name := range strings.Split(path, ".") {
			if at.children == nil {
				at.children = map[string]*formTree{}
			}
			if at.children[name] == nil {
				at.children[name] = &formTree{}
			}
			at = at.children[name]
		}
	}
	if len(args) > 0 {
		message = fmt.Sprintf(message, args...)
	}
	at.errors = append(at.errors, formError{code, message})
}

// err is 50035 Invalid Form Body when anything was noted.
func (f *form) err() error {
	if !f.bad {
		return nil
	}
	return &apiError{status: http.StatusBadRequest, code: 50035, message: "Invalid Form Body", form: &f.tree}
}

// invalid is 50035 with a single violation.
func invalid(path, code, message string, args ...any) error {
	var f form
	f.add(path, code, message, args...)
	return f.err()
}
