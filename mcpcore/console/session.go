package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/statekey"
)

// cookie is what a browser carries while somebody is signed in.
const cookie = "guildwarden_console"

// lifetime is how long it counts, from signing in. It is not renewed.
const lifetime = time.Hour

// session is somebody who is signed in. Their token is in it, since a decision
// is signed with the key that it makes; nothing of it is kept here. Replicas
// that share the state key share sessions.
type session struct {
	Token string    `json:"t"`
	Form  string    `json:"f"` // what every form of theirs holds
	Ends  time.Time `json:"e"`

	name string // of the approver
}

// sealer keeps sessions from who has the cookie and not the state key.
type sealer struct{ aead cipher.AEAD }

func newSealer(secret []byte) (sealer, error) {
	if secret == nil {
		secret = make([]byte, statekey.Min)
		_, _ = rand.Read(secret) // never fails
	}
	key, err := statekey.Sub(secret, statekey.Console)
	if err != nil {
		return sealer{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("seal of sessions: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("seal of sessions: %w", err)
	}
	return sealer{aead}, nil
}

// place binds a box to this use of the key.
var place = []byte("guildwarden console session 1")

func (s sealer) box(in session) (string, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("encode session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, place)), nil
}

func (s sealer) open(box string) (in session, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(box)
	if err != nil {
		return in, false
	}
	text, err := s.aead.Open(nil, nil, sealed, place)
	return in, err == nil && json.Unmarshal(text, &in) == nil
}

type sessionKey struct{}

// who is signed in; nil when nobody is.
func who(r *http.Request) *session {
	s, _ := r.Context().Value(sessionKey{}).(*session)
	return s
}

// session is the one that a request carries, if it counts: the token must still
// be an approver's.
func (c *Console) session(r *http.Request) (*session, bool) {
	got, err := r.Cookie(cookie)
	if err != nil {
		return nil, false
	}
	s, ok := c.seal.open(got.Value)
	if !ok || !c.o.Clock().Before(s.Ends) {
		return nil, false
	}
	if s.name, ok = c.o.Approvers.Verify(s.Token); !ok {
		return nil, false
	}
	return &s, true
}

// signedIn leads others to the form, and refuses forms that are not the
// session's own.
func (c *Console) signedIn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, ok := c.session(r)
		switch {
		case ok && r.Method == http.MethodPost && subtle.ConstantTimeCompare([]byte(r.PostFormValue("form")), []byte(s.Form)) != 1:
			c.fail(w, r, http.StatusForbidden, "This form is not of your session", "Nothing was done. Open the page again and use its form.")
		case ok:
			next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
		case r.Method == http.MethodPost:
			c.fail(w, r, http.StatusUnauthorized, "You are signed out", "Nothing was done. Sign in and look at it again.")
		case r.Header.Get("Accept") == "text/event-stream" || r.URL.Path == c.o.Path+"/waiting" || r.URL.Path == c.o.Path+"/events":
			http.Error(w, "signed out", http.StatusUnauthorized)
		default:
			to := c.o.Path + "/signin"
			if id := r.PathValue("id"); idShape.MatchString(id) {
				to += "?to=" + id
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
		}
	}
}

func (c *Console) signInForm(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.session(r); ok {
		http.Redirect(w, r, c.o.Path+"/", http.StatusSeeOther)
		return
	}
	c.page(w, r, http.StatusOK, "signin", signInPage{To: returnTo(r.URL.Query().Get("to"))})
}

// returnTo is the request to look at after signing in, "" for none.
func returnTo(id string) string {
	if idShape.MatchString(id) {
		return id
	}
	return ""
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	to := returnTo(r.PostFormValue("to"))
	if wait := c.attempts.wait(r.RemoteAddr); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		c.page(w, r, http.StatusTooManyRequests, "signin", signInPage{To: to, Problem: "There were too many attempts. Wait " + seconds(wait) + " seconds and try again."})
		return
	}
	token := strings.TrimSpace(r.PostFormValue("token"))
	name, ok := c.o.Approvers.Verify(token)
	if !ok {
		c.attempts.failed(r.RemoteAddr)
		c.o.Logger.WarnContext(r.Context(), "console: a sign-in failed", "address", r.RemoteAddr)
		c.page(w, r, http.StatusForbidden, "signin", signInPage{To: to, Problem: "This is the token of nobody who may decide here."})
		return
	}
	now := c.o.Clock()
	form := make([]byte, 16)
	_, _ = rand.Read(form) // never fails
	box, err := c.seal.box(session{Token: token, Form: base64.RawURLEncoding.EncodeToString(form), Ends: now.Add(lifetime)})
	if err != nil {
		c.fail(w, r, http.StatusInternalServerError, "Signing in did not work", "Try again.")
		return
	}
	c.o.Logger.InfoContext(r.Context(), "console: an approver signed in", "approver", name, "address", r.RemoteAddr)
	c.setCookie(w, r, box, int(lifetime.Seconds()))
	target := c.o.Path + "/"
	if to != "" {
		target += "approvals/" + to
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	c.setCookie(w, r, "", -1)
	http.Redirect(w, r, c.o.Path+"/signin", http.StatusSeeOther)
}

func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: value, Path: c.o.Path, MaxAge: age,
		HttpOnly: true, Secure: encrypted(r), SameSite: http.SameSiteStrictMode,
	})
}
