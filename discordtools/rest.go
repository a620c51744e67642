package discordtools

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// REST is the port to Discord's HTTP API. [NewClient] is the implementation on
// a *discordgo.Session; an embedder may bring its own. Implementations are safe
// for concurrent use.
type REST interface {
	// Do sends one request and returns Discord's answer with a 2xx status.
	//
	// Everything else is an [*mcpcore.Error]: Discord's own refusals mapped to
	// codes, RATE_LIMITED when the wait is longer than ctx allows, TIMEOUT or
	// OUTCOME_UNKNOWN when no answer came. Neither the error nor its cause
	// holds a credential. A request that is not Repeatable is sent at most once,
	// unless Discord answered that it did not execute it (429); one that is Once
	// is never sent twice.
	Do(ctx context.Context, r Request) (*Response, error)
}

// ErrUnsent is the cause of an error after which nothing can have reached
// Discord.
var ErrUnsent = errors.New("the request was not sent")

// Refused reports whether a write that was sent once and ended with the error was
// certainly not carried out: Discord refused it, or never got it. A timeout and a
// rate limit that Discord answered are not certain.
func Refused(err error) bool {
	if errors.Is(err, ErrUnsent) {
		return true
	}
	e, ok := errors.AsType[*mcpcore.Error](err)
	if !ok {
		return false
	}
	if e.Code == mcpcore.CodeBulkheadFull || e.Code == mcpcore.CodeCircuitOpen {
		return true
	}
	status, _ := e.Fields["status"].(int)
	return status >= 400 && status < 500 && status != 408 && status != 429
}

// Request is one call of Discord's API, described by its route.
type Request struct {
	Method     string            // GET, POST, PUT, PATCH, DELETE
	Route      string            // path template below /api/v10, such as /channels/{channel_id}/messages
	Path       map[string]string // a value for each name in Route; escaped by the client, never empty
	Query      url.Values        // nil for none
	Body       []byte            // JSON; nil for none
	Form       []Part            // fields of a multipart form sent besides or instead of Body
	Reason     string            // X-Audit-Log-Reason as text; the client encodes it, "" for none
	Anonymous  bool              // send no Authorization of the bot: the route carries its own token or is public
	Bearer     string            // an OAuth2 access token, a secret, that authorizes an Anonymous request; "" for none
	Repeatable bool              // a repetition has the same effect, so an open outcome may be tried again
	Once       bool              // send it at most once, whatever becomes of it: not after a 429 either
}

// Part is one part of a multipart form. With a Body, the body becomes the part
// payload_json and Form holds the files.
type Part struct {
	Name        string // form field, such as files[0] or tags
	Filename    string // "" for a plain field
	ContentType string // "" for a plain field
	Data        []byte
}

// Response is Discord's answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // at most the client's limit; empty for 204
}
