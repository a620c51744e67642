package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
)

//go:embed page/*.html page/console.css page/console.js page/icon.svg
var files embed.FS

// assets are what pages load, by name.
var assets = map[string]string{"console.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}

func asset(name, kind string) http.HandlerFunc {
	b, err := fs.ReadFile(files, "page/"+name)
	if err != nil {
		panic(err) // it is embedded
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(b) // the browser left
	}
}

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"pieces": pieces,
	"line":   func(s string) string { return oneLine(s, 200) },
	"gate":   func(s string) string { return cmp.Or(gates[s], oneLine(s, 64)) },
	"brief":  func(s string) string { return oneLine(s, 120) },
	"marked": marked, "sign": sign, "counted": counted,
	"lines":  func(s string) []string { return strings.Split(s, "\n") },
	"clock":  func(t time.Time) string { return t.UTC().Format("15:04:05 UTC") },
	"moment": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"span":   func(seconds int) string { return remaining(time.Duration(seconds) * time.Second) },
}).ParseFS(files, "page/*.html"))

// gates are the words for what else a call needs.
var gates = map[string]string{
	"two-key":  "two keys: the operator has armed the server, and the caller has confirmed",
	"payload":  "payload: the server is armed, and exactly this was previewed to the caller",
	"consent":  "consent: exactly this recipient was shown to the caller",
	"reviewed": "a plan that was reviewed",
}

// remaining is a time for people.
func remaining(d time.Duration) string {
	if d <= 0 {
		return "no time"
	}
	return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
}

// frame is what every page has.
type frame struct {
	Base string // the console's path
	Name string // of the approver; "" when nobody is signed in
	Form string
	Page string
	Body any
}

type signInPage struct{ To, Problem string }

type listPage struct {
	Waiting []request
	More    int // that are not shown
	Said    string
	Grave   bool
}

type showPage struct {
	request
	Problem string
	Reason  string
}

type failPage struct{ Title, Text string }

// page writes a page, whole or not at all.
func (c *Console) page(w http.ResponseWriter, r *http.Request, status int, name string, body any) {
	f := frame{Base: c.o.Path, Page: name, Body: body}
	if s := who(r); s != nil {
		f.Name, f.Form = s.name, s.Form
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, f); err != nil {
		c.o.Logger.ErrorContext(r.Context(), "console: a page could not be made", "page", name, "error", err)
		http.Error(w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // the browser left
}

func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	c.page(w, r, status, "fail", failPage{title, text})
}

// maxListed is how many requests a page lists.
const maxListed = 100

func (c *Console) pending(ctx context.Context) ([]mcpcore.Approval, error) {
	waiting, err := c.o.Ledger.Pending(ctx, mcpcore.Filter{})
	if err != nil {
		c.o.Logger.ErrorContext(ctx, "console: the ledger does not say what waits", "error", err)
	}
	return waiting, err
}

const noLedger = "The ledger in which requests wait does not answer. Nothing is approved meanwhile. Try again, and tell the operator if it stays so."

// listed is what waits, for the two that show it.
func (c *Console) listed(w http.ResponseWriter, r *http.Request, name string, p listPage) {
	waiting, err := c.pending(r.Context())
	if err != nil {
		c.fail(w, r, http.StatusServiceUnavailable, "What waits is not known", noLedger)
		return
	}
	if len(waiting) > maxListed {
		p.More, waiting = len(waiting)-maxListed, waiting[:maxListed]
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookFor)
	defer cancel()
	for _, a := range waiting {
		q := c.brief(a)
		c.name(ctx, &q, true)
		p.Waiting = append(p.Waiting, q)
	}
	c.page(w, r, http.StatusOK, name, p)
}

// outcomes are what a list can say was done just before.
var outcomes = map[string]string{
	"approved": "Approved. The agent's identical call acts, once.",
	"refused":  "Refused. The agent learns it, with your reason, when it asks again.",
}

func (c *Console) list(w http.ResponseWriter, r *http.Request) {
	said := r.URL.Query().Get("done")
	c.listed(w, r, "list", listPage{Said: outcomes[said], Grave: said == "refused"})
}

func (c *Console) waiting(w http.ResponseWriter, r *http.Request) {
	c.listed(w, r, "waiting", listPage{})
}

// find is the request that a page is about; it answers itself when there is
// none.
func (c *Console) find(w http.ResponseWriter, r *http.Request) (a mcpcore.Approval, ok bool) {
	waiting, err := c.pending(r.Context())
	if err != nil {
		c.fail(w, r, http.StatusServiceUnavailable, "What waits is not known", noLedger)
		return a, false
	}
	i := slices.IndexFunc(waiting, func(a mcpcore.Approval) bool { return string(a.ID) == r.PathValue("id") })
	if i < 0 {
		c.fail(w, r, http.StatusNotFound, "This does not wait any more", "It was decided, has expired, or was never asked. The history tells what was decided lately.")
		return a, false
	}
	return waiting[i], true
}

func (c *Console) show(w http.ResponseWriter, r *http.Request) {
	if a, ok := c.find(w, r); ok {
		c.page(w, r, http.StatusOK, "show", showPage{request: c.whole(r.Context(), a)})
	}
}

// maxReason is how long a reason may be, in characters.
const maxReason = 300

// reasonFault says what is wrong with a reason, which an agent will read.
func reasonFault(reason string) string {
	switch {
	case utf8.RuneCountInString(reason) > maxReason:
		return fmt.Sprintf("The reason is longer than %d characters.", maxReason)
	case hides(reason) || strings.ContainsAny(reason, "\n\t"):
		return "The reason must be one line of characters that can be shown."
	case mcpcore.Redact(reason) != reason:
		return "The reason seems to hold a token or a password, and the agent reads it. Leave that out."
	}
	return ""
}

// again shows the request once more, with what is wrong about the form.
func (c *Console) again(w http.ResponseWriter, r *http.Request, a mcpcore.Approval, reason string, status int, problem string) {
	c.page(w, r, status, "show", showPage{request: c.whole(r.Context(), a), Problem: problem, Reason: reason})
}

func (c *Console) decide(w http.ResponseWriter, r *http.Request) {
	a, ok := c.find(w, r)
	if !ok {
		return
	}
	reason, verdict := strings.TrimSpace(r.PostFormValue("reason")), r.PostFormValue("decision")
	approve := verdict == "approve"
	shown, err := mcpcore.ReadShown(a.Shown)
	switch {
	case err != nil:
		c.again(w, r, a, reason, http.StatusConflict, "What this asks cannot be shown, so it cannot be decided. Let it expire; the agent can ask again.")
		return
	case !approve && verdict != "refuse":
		c.again(w, r, a, reason, http.StatusBadRequest, "Nothing was decided: say Approve or Refuse.")
		return
	case r.PostFormValue("seen") != seen(a):
		c.again(w, r, a, reason, http.StatusConflict, "Nothing was decided: this is no longer what you were shown. Look at it again.")
		return
	case approve && shown.Effect == mcpcore.Destroy.String() && r.PostFormValue("read") != "yes":
		c.again(w, r, a, reason, http.StatusBadRequest, "Nothing was decided: this removes something for good or shuts people out, so say that you have read it.")
		return
	}
	if fault := reasonFault(reason); fault != "" {
		reason = mcpcore.Redact(reason) // a page does not hold a token either
		c.again(w, r, a, reason, http.StatusBadRequest, "Nothing was decided. "+fault)
		return
	}
	d, ok := c.o.Approvers.Sign(who(r).Token, a, approve, reason)
	if !ok { // cannot be: the session is an approver's
		c.fail(w, r, http.StatusForbidden, "You may not decide", "Nothing was decided.")
		return
	}
	switch err := c.o.Ledger.Decide(r.Context(), a.ID, d); {
	case errors.Is(err, mcpcore.ErrApprovalDecided), errors.Is(err, mcpcore.ErrApprovalSpent):
		c.fail(w, r, http.StatusConflict, "Somebody decided it before you", "The first decision stands. The history tells what it was.")
		return
	case errors.Is(err, mcpcore.ErrApprovalExpired), errors.Is(err, mcpcore.ErrApprovalMissing):
		c.fail(w, r, http.StatusConflict, "It has expired meanwhile", "Nothing was decided. The agent can ask again.")
		return
	case err != nil:
		c.o.Logger.ErrorContext(r.Context(), "console: a decision was not recorded", "approval_id", string(a.ID), "error", err)
		c.fail(w, r, http.StatusServiceUnavailable, "Whether it is recorded is not known", "The ledger did not answer. Look at the list: what still waits was not decided.")
		return
	}
	c.o.Logger.InfoContext(r.Context(), "console: decided", "approval_id", string(a.ID), "tool", a.Tool, "approver", d.By, "approve", approve)
	done := "refused"
	if approve {
		done = "approved"
	}
	http.Redirect(w, r, c.o.Path+"/?done="+done, http.StatusSeeOther)
}
