package discordtools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	maxText    = 200 // characters of one text of Discord's
	maxPath    = 200 // characters of one issue's path
	maxIssues  = 25  // issues of one answer
	maxNesting = 32  // levels of Discord's error tree
)

// errorBody is what Discord says in the body of a refusal.
//
// Source: https://docs.discord.com/developers/reference#error-messages.
type errorBody struct {
	code    int // Discord's JSON error code, 0 when there is none
	message string
	issues  []mcpcore.Issue
	more    int // issues beyond maxIssues
	retry   time.Duration
	global  bool
	object  bool // the body is a JSON object
}

func parseErrorBody(body []byte) errorBody {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return errorBody{}
	}
	a := errorBody{object: true}
	_ = json.Unmarshal(fields["code"], &a.code) // absent or of another type: stays 0
	_ = json.Unmarshal(fields["message"], &a.message)
	_ = json.Unmarshal(fields["global"], &a.global)
	a.retry, _ = parseSeconds(string(fields["retry_after"]))
	a.message = oneLine(a.message, maxText)
	if tree, ok := fields["errors"]; ok {
		a.flatten("", tree, 0)
	} else if a.message == "" { // the older form: the body is the tree
		a.flatten("", body, 0)
	}
	return a
}

// flatten turns Discord's nested errors into issues, in the order of their
// paths. Leaves are {"_errors": [{code, message}]} or lists of texts.
func (a *errorBody) flatten(path string, tree json.RawMessage, level int) {
	var leaves []json.RawMessage
	if json.Unmarshal(tree, &leaves) == nil {
		for _, leaf := range leaves {
			a.leaf(path, leaf)
		}
		return
	}
	var fields map[string]json.RawMessage
	if level > maxNesting || json.Unmarshal(tree, &fields) != nil {
		return
	}
	for _, name := range slices.SortedFunc(maps.Keys(fields), byIndex) {
		at := path
		if name != "_errors" {
			at = strings.TrimPrefix(path+"."+name, ".")
		}
		a.flatten(at, fields[name], level+1)
	}
}

func (a *errorBody) leaf(path string, leaf json.RawMessage) {
	var e struct{ Code, Message string }
	if json.Unmarshal(leaf, &e) != nil && json.Unmarshal(leaf, &e.Message) != nil {
		return
	}
	if len(a.issues) == maxIssues {
		a.more++
		return
	}
	text := oneLine(e.Message, maxText)
	if e.Code != "" {
		text = strings.TrimSpace(text + " (" + oneLine(e.Code, 60) + ")")
	}
	a.issues = append(a.issues, mcpcore.Issue{Path: oneLine(path, maxPath), Message: text, Code: issueCode(e.Code)})
}

// byIndex orders names, and list positions by their number.
func byIndex(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

// issueCode translates Discord's code of a field error.
func issueCode(code string) string {
	switch {
	case strings.HasSuffix(code, "MAX_LENGTH"), strings.HasSuffix(code, "_MAX"):
		return mcpcore.IssueBig
	case strings.HasSuffix(code, "MIN_LENGTH"), strings.HasSuffix(code, "_MIN"):
		return mcpcore.IssueSmall
	case strings.HasSuffix(code, "_REQUIRED"), strings.HasSuffix(code, "_COERCE"), strings.HasSuffix(code, "_CONVERT"):
		return mcpcore.IssueType
	case strings.HasSuffix(code, "_CHOICES"), strings.HasSuffix(code, "BAD_LENGTH"):
		return mcpcore.IssueValue
	case strings.Contains(code, "INVALID"), strings.Contains(code, "REGEX"):
		return mcpcore.IssueFormat
	}
	return mcpcore.IssueRule
}

// refusal is the error for an answer that is neither a success nor a 429.
func refusal(c *restCall, status int, h http.Header, body []byte) *mcpcore.Error {
	a := parseErrorBody(body)
	if a.code == 40333 || status == http.StatusForbidden && !a.object && !isJSON(h) {
		e := edgeBlocked(edgeWait(h))
		e.Detail = fmt.Sprintf("the edge in front of Discord refused %s with status %d; this is not about the bot's permissions", c, status)
		return e.With("status", status)
	}
	e := mcpcore.Errorf(codeOf(status), "Discord refused %s with status %d%s", c, status, a.text())
	e.With("status", status)
	if status >= 500 {
		e.Detail = fmt.Sprintf("Discord failed on %s with status %d%s", c, status, a.text())
		if !c.repeatable() {
			e.Code = mcpcore.CodeOutcomeUnknown
			e.Detail += "; it may have been carried out"
		}
	}
	if a.code != 0 {
		e.With("discord_code", a.code)
		e.Hint = codeHints[a.code]
	}
	if len(a.issues) > 0 {
		e.With("issues", a.issues)
		if e.Hint == "" {
			e.Hint = "Fix the issues listed, then call again."
		}
	}
	if status == http.StatusUnauthorized && e.Hint == "" {
		switch {
		case c.bearer != "":
			e.Hint = "The bearer token in the arguments is not valid here: it has ended, or lacks the scope that the call takes."
		case c.ownToken:
			e.Hint = "The token in the arguments is not valid. Use the webhook's or interaction's current token."
		case !c.anonymous:
			e.Hint = deadToken
		}
	}
	return e
}

// deadToken is what to do about a bot's token that Discord refuses.
const deadToken = "The bot's token is not valid, and nothing more is sent with it. The operator must give the server a new one."

// text is what Discord said, to stand behind our own words.
func (a *errorBody) text() string {
	var s string
	if a.message != "" {
		s = ": " + a.message
	}
	if a.code != 0 {
		s += fmt.Sprintf(" (code %d)", a.code)
	}
	if len(a.issues) > 0 {
		s += "; " + strings.TrimPrefix(a.issues[0].Path+": ", ": ") + a.issues[0].Message
		if n := len(a.issues) - 1 + a.more; n > 0 {
			s += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return s
}

func codeOf(status int) mcpcore.Code {
	switch {
	case status == http.StatusUnauthorized:
		return mcpcore.CodeAuthInvalid
	case status == http.StatusForbidden:
		return mcpcore.CodePermission
	case status == http.StatusNotFound:
		return mcpcore.CodeNotFound
	case status >= 400 && status < 500:
		return mcpcore.CodeValidation
	}
	return mcpcore.CodeServerError
}

// tooMany is what a 429 says.
//
// Source: https://docs.discord.com/developers/topics/rate-limits.
type tooMany struct {
	wait  time.Duration
	scope string // user, shared, global; empty for a block by the edge
	err   *mcpcore.Error
}

// edgeDefault is the wait when the edge blocks this address and names none.
const edgeDefault = time.Hour

func parseTooMany(c *restCall, h http.Header, body []byte) tooMany {
	a := parseErrorBody(body)
	if !a.object && !isJSON(h) && h.Get(headerScope) == "" && h.Get(headerBucket) == "" {
		wait := edgeWait(h)
		return tooMany{wait: wait, err: edgeBlocked(wait).With("status", http.StatusTooManyRequests)}
	}
	t := tooMany{wait: a.retry, scope: h.Get(headerScope)}
	if t.wait <= 0 {
		t.wait = retryAfter(h)
	}
	if t.wait <= 0 {
		if t.wait, _ = parseSeconds(h.Get(headerResetAfter)); t.wait <= 0 {
			t.wait = time.Second
		}
	}
	switch {
	case a.global || h.Get(headerGlobal) != "" || t.scope == "global":
		t.scope = "global"
	case t.scope != "shared":
		t.scope = "user"
	}
	t.err = rateLimited(t.wait, t.scope)
	t.err.Detail = fmt.Sprintf("Discord's rate limit refused %s for %s%s", c, t.wait, a.text())
	t.err.With("status", http.StatusTooManyRequests)
	if a.code != 0 {
		t.err.With("discord_code", a.code)
		t.err.Hint = codeHints[a.code]
	}
	return t
}

// rateLimited is the error for a wait that the call cannot afford.
func rateLimited(wait time.Duration, scope string) *mcpcore.Error {
	return mcpcore.Errorf(mcpcore.CodeRateLimited, "Discord's rate limit asks for a wait of %s, longer than this call may take; nothing was sent", wait.Round(time.Millisecond)).
		With("retry_after_ms", milliseconds(wait)).With("scope", scope)
}

// unsent marks the error of a request that was held back.
func unsent(e *mcpcore.Error) *mcpcore.Error {
	e.Cause = ErrUnsent
	return e
}

// edgeBlocked is the error while the edge blocks this address.
func edgeBlocked(wait time.Duration) *mcpcore.Error {
	return mcpcore.Errorf(mcpcore.CodeCloudflare, "the edge in front of Discord blocks this server's address; the bot's token is not the cause").
		With("retry_after_ms", milliseconds(wait))
}

func milliseconds(d time.Duration) int64 {
	return int64(math.Ceil(float64(d) / float64(time.Millisecond)))
}

// edgeWait is how long to stay away from a blocking edge.
func edgeWait(h http.Header) time.Duration {
	if wait := retryAfter(h); wait > 0 {
		return wait
	}
	return edgeDefault
}

// retryAfter reads Retry-After, seconds or a date; 0 when there is none.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if d, ok := parseSeconds(v); ok {
		return d
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, min(time.Until(at), maxSeconds*time.Second))
	}
	return 0
}

func isJSON(h http.Header) bool {
	return strings.Contains(strings.ToLower(h.Get("Content-Type")), "json")
}

// cutOff reports whether a body that calls itself JSON ends too early.
func cutOff(h http.Header, body []byte) bool {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || !isJSON(h) {
		return false
	}
	first, last := body[0], body[len(body)-1]
	return first == '{' && last != '}' || first == '[' && last != ']'
}

// oneLine makes a text of Discord's fit to stand in a sentence: no control or
// direction characters, at most n characters.
func oneLine(s string, n int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
