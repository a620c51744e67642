package transport

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// bearer is what lets in requests with a good token alone.
func (h *Handler) bearer() (func(http.Handler) http.Handler, error) {
	o := &h.opts
	ways := 0
	for _, given := range []bool{o.Token != "", o.Verifier != nil, o.Open} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return nil, errors.New("the handler needs exactly one of Token, Verifier and Open")
	case o.Token != "" && len(o.Token) < MinToken:
		return nil, fmt.Errorf("the token must have at least %d characters; a good one is made by: openssl rand -hex 32", MinToken)
	case o.Token != "" && strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the token must be printable ASCII without spaces")
	case o.Verifier == nil && (o.Resource != nil || len(o.Bearer.Scopes) > 0):
		return nil, errors.New("scopes and an authorization server are for a Verifier")
	}
	rules := o.Bearer
	verify := h.named(o.Verifier)
	if o.Verifier == nil {
		rules.AllowMissingExpiration = true
		verify = static(o.Token)
	}
	if o.Resource != nil && rules.ResourceMetadataURL == "" {
		rules.ResourceMetadataURL = h.metadata.url
	}
	check := auth.RequireBearerToken(verify, &rules)
	silent := rules.ResourceMetadataURL == "" && len(rules.Scopes) == 0 // then the SDK does not say what it wants
	return func(next http.Handler) http.Handler {
		checked := check(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Del("WWW-Authenticate")
			next.ServeHTTP(w, r)
		}))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if o.Open {
				r = r.Clone(r.Context())
				r.Header.Set("Authorization", "Bearer open")
			}
			if len(r.Header.Values("Authorization")) > 1 {
				r = r.Clone(r.Context())
				r.Header.Del("Authorization") // which of them counts is not ours to say
			}
			if silent {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			checked.ServeHTTP(w, r)
		})
	}, nil
}

// static verifies the one token; "" lets everybody in.
func static(token string) auth.TokenVerifier {
	want := sha256.Sum256([]byte(token))
	return func(_ context.Context, got string, _ *http.Request) (*auth.TokenInfo, error) {
		// Hashes, since the time of a comparison tells how long what is compared is.
		if hash := sha256.Sum256([]byte(got)); token != "" && subtle.ConstantTimeCompare(hash[:], want[:]) != 1 {
			return nil, fmt.Errorf("%w: give the server's token as Authorization: Bearer TOKEN", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{UserID: user}, nil
	}
}

// named is a verifier whose users have names and whose faults are not sent.
func (h *Handler) named(verify auth.TokenVerifier) auth.TokenVerifier {
	return func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		info, err := verify(ctx, token, r)
		switch {
		case errors.Is(err, auth.ErrInvalidToken), errors.Is(err, auth.ErrOAuth):
			return nil, err
		case err != nil:
			h.opts.Logger.ErrorContext(ctx, "a token could not be verified", "error", err)
			return nil, errors.New("the token could not be verified: try again later")
		case info != nil && info.UserID == "":
			return nil, fmt.Errorf("%w: it names no user", auth.ErrInvalidToken)
		}
		return info, nil
	}
}

// checkSite lets in requests that were meant for this server: pages of other sites, and names that somebody else made
// lead here, are refused.
func checkSite(hosts, origins []string, next http.Handler) http.Handler {
	for i := range hosts {
		hosts[i] = strings.ToLower(hosts[i])
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(r.Host)
		switch {
		case !knownHost(r, host, hosts):
			reject(w, http.StatusForbidden, &refusal{code: codeInvalid, reason: "the header Host does not name this server: have its operator list it"})
		case !knownOrigin(r.Header.Values("Origin"), host, origins):
			reject(w, http.StatusForbidden, &refusal{code: codeInvalid, reason: "the header Origin names another site: have the server's operator list it"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func knownHost(r *http.Request, host string, hosts []string) bool {
	name := hostname(host)
	if isLoopback(name) || slices.Contains(hosts, host) || slices.Contains(hosts, name) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	named, err := netip.ParseAddr(name)
	return err == nil && named.Unmap() == at.Addr().Unmap().WithZone("")
}

func knownOrigin(given []string, host string, origins []string) bool {
	if len(given) == 0 {
		return true // no browser
	}
	u, err := url.Parse(strings.ToLower(given[0]))
	if len(given) > 1 || err != nil || u.Host == "" {
		return false
	}
	return u.Host == host || isLoopback(u.Hostname()) && isLoopback(hostname(host)) || slices.Contains(origins, u.Scheme+"://"+u.Host)
}

// parseOrigins reads a list of origins.
func parseOrigins(list []string) (origins []string, err error) {
	var problems []error
	for _, item := range list {
		u, err := url.Parse(strings.ToLower(item))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			problems = append(problems, fmt.Errorf("%q is not an origin, such as https://chat.example.com", item))
			continue
		}
		origins = append(origins, u.Scheme+"://"+u.Host)
	}
	return origins, errors.Join(problems...)
}

// hostname is a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// isLoopback reports whether a name or an address leads to this machine alone.
func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
