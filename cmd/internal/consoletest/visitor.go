package consoletest

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var (
	addressLine = regexp.MustCompile(`approval console: (http://\S+)\n`)
	tokenLine   = regexp.MustCompile(`token for this run[^\n]*: (gwa_[a-z2-7]+)\n`)
)

// Printed is what a server told its operator on stderr: where its console is, nil
// for none, and the token for the run of a sandbox, or "".
func Printed(stderr string) (at *url.URL, token string) {
	if m := addressLine.FindStringSubmatch(stderr); m != nil {
		at, _ = url.Parse(m[1])
	}
	if m := tokenLine.FindStringSubmatch(stderr); m != nil {
		token = m[1]
	}
	return at, token
}

// Visitor is somebody at a console, by hand. It keeps cookies, and is for one
// goroutine.
type Visitor struct {
	t      *testing.T
	at     *url.URL
	client *http.Client
}

// Visit is a new visitor of the console at an address, who is not signed in. The
// way there is through a proxy; nil for the plain one.
func Visit(t *testing.T, at *url.URL, way http.RoundTripper) *Visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Visitor{t, at, &http.Client{Jar: jar, Transport: way}}
}

// Send gets a page of the console, or posts a form to it as its own pages do, and
// gives the answer.
func (v *Visitor) Send(path string, form url.Values) (status int, page string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), "GET", v.at.String()+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(v.t.Context(), "POST", v.at.String()+path, strings.NewReader(form.Encode()))
	}
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.at.Scheme+"://"+v.at.Host)
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// Watch opens the live updates of the list, which end with ctx or the server.
func (v *Visitor) Watch(ctx context.Context) io.ReadCloser {
	v.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.at.String()+"/events", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	res, err := v.client.Do(r)
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("%v, %v", res, err)
	}
	return res.Body
}

var hiddenField = regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`)

// At is the same browser, with its cookies, at another console.
func (v *Visitor) At(at *url.URL) *Visitor { return &Visitor{v.t, at, v.client} }

// SignIn signs in with an approver's token.
func (v *Visitor) SignIn(token string) {
	v.t.Helper()
	if status, page := v.Send("/signin", url.Values{"token": {token}}); status != http.StatusOK || strings.Contains(page, `name="token"`) {
		v.t.Errorf("signing in: %d\n%s", status, page)
	}
}

// Decide decides what waits under the id, with the forms of its page. The verdict
// is approve or refuse; the page that follows is given.
func (v *Visitor) Decide(id, verdict string) string {
	v.t.Helper()
	_, page := v.Send("/approvals/"+id, nil)
	form := url.Values{"decision": {verdict}, "read": {"yes"}}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	status, page := v.Send("/approvals/"+id, form)
	if status != http.StatusOK {
		v.t.Errorf("%s of %s: %d\n%s", verdict, id, status, page)
	}
	return page
}
