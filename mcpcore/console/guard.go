package console

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// maxForm is how large a form may be, in bytes.
const maxForm = 16 << 10

// patience is how long a form may take to come, and a page to be taken.
const patience = 30 * time.Second

// policy lets a page use what it came with and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guarded refuses requests that come from elsewhere than the console's own
// pages, and sets the headers of every answer.
func (c *Console) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "same-origin", // with no-referrer forms would come without an origin
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
			"Cache-Control":                "no-store",
		} {
			h.Set(name, value)
		}
		switch {
		case !c.knownHost(r.Host):
			http.Error(w, "this console is not served under that name; the operator says which names it has", http.StatusMisdirectedRequest)
			return
		case r.Method == http.MethodPost && !sameOrigin(r):
			http.Error(w, "this form was sent from another page; open the console and use its own", http.StatusForbidden)
			return
		}
		rc := http.NewResponseController(w)
		deadline := time.Now().Add(patience)
		_, _ = rc.SetReadDeadline(deadline), rc.SetWriteDeadline(deadline) // what cannot set them is no network
		defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()            // for the next request of the connection
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := r.ParseForm()
		_ = rc.SetReadDeadline(time.Time{}) // a page that watches sends nothing more
		if err != nil {
			status := http.StatusBadRequest
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				status = http.StatusRequestEntityTooLarge
			} else if errors.Is(err, os.ErrDeadlineExceeded) {
				status = http.StatusRequestTimeout
				h.Set("Connection", "close")
			}
			http.Error(w, "this form cannot be read", status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knownHost reports whether a browser that was led here by another name for this
// address would not pass: a page elsewhere can give itself our address.
func (c *Console) knownHost(host string) bool {
	host = strings.ToLower(host)
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(c.o.Hosts, func(h string) bool {
		return h == host || strings.Trim(h, "[]") == name
	})
}

// sameOrigin reports whether a form was sent from a page of this host. Browsers
// say so with every form.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (origin.Scheme == "http" || origin.Scheme == "https") && strings.EqualFold(origin.Host, r.Host)
}

// encrypted reports whether the browser of a form came over TLS, here or at a
// proxy in front.
func encrypted(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}
