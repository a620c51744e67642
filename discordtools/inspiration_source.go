package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	emojiGGDomain = "emoji.gg"
	emojiGGPage   = "https://" + emojiGGDomain

	emojiGGLife    = 15 * time.Minute
	emojiGGTimeout = 8 * time.Second
	emojiGGBytes   = 16 << 20 // of the list
	emojiNameRunes = 100
)

// emojiGG is emoji.gg's public list. A nil one is switched off.
type emojiGG struct {
	address string
	timeout time.Duration
	client  *http.Client
	kept    memory[struct{}, []emojiIdea]
}

func newEmojiGG(address string, now func() time.Time) *emojiGG {
	if address == "" {
		return nil
	}
	e := &emojiGG{address: address, timeout: emojiGGTimeout, client: &http.Client{CheckRedirect: stayThere}}
	e.kept.life, e.kept.now = emojiGGLife, now
	return e
}

// stayThere follows a redirect to the same host only.
func stayThere(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return errors.New("redirected elsewhere")
	}
	return nil
}

// checkEmojiGG finds what is wrong with an address.
func checkEmojiGG(address string) []error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return []error{errors.New("EmojiGG is not a full address such as https://emoji.gg/api/")} // it may hold a password
	}
	return nil
}

// list is the list, read anew when it is older than [emojiGGLife].
func (e *emojiGG) list(ctx context.Context) ([]emojiIdea, error) {
	if e == nil {
		return nil, mcpcore.Errorf(mcpcore.CodePrecondition, "this server does not ask emoji.gg: the operator has not switched it on").
			With("tool", "inspiration_emoji_gg_search").With("precondition", "emoji_gg").
			WithHint("Ask the operator to set MCP_EMOJI_GG_URL, or open %s in a browser.", emojiGGPage)
	}
	return e.kept.get(ctx, struct{}{}, func(ctx context.Context) ([]emojiIdea, bool, error) {
		ctx, cancel := context.WithTimeout(ctx, e.timeout)
		defer cancel()
		all, err := e.read(ctx)
		return all, true, err
	})
}

// read asks for the whole list. The request is the same whatever is looked for.
func (e *emojiGG) read(ctx context.Context) ([]emojiIdea, error) {
	failed := func(cause error, format string, args ...any) *mcpcore.Error {
		err := mcpcore.Errorf(mcpcore.CodeExternal, format, args...).With("provider", emojiGGDomain).
			WithHint("Try later, or open %s in a browser.", emojiGGPage)
		err.Cause = cause
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.address, http.NoBody)
	if err != nil {
		return nil, failed(nil, "the address of emoji.gg's list is wrong")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "guildwarden")
	res, err := e.client.Do(r)
	if err != nil {
		return nil, failed(err, "emoji.gg does not answer")
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return nil, failed(nil, "emoji.gg answers with status %d", res.StatusCode).With("status", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, emojiGGBytes+1))
	switch {
	case err != nil:
		return nil, failed(err, "emoji.gg's answer breaks off")
	case len(body) > emojiGGBytes:
		return nil, failed(nil, "emoji.gg's answer is longer than %d bytes", emojiGGBytes)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(body, &entries); err != nil {
		return nil, failed(err, "emoji.gg's answer is no list")
	}
	all := make([]emojiIdea, 0, len(entries))
	for _, raw := range entries {
		if idea, ok := ideaOf(raw); ok {
			all = append(all, idea)
		}
	}
	return all, nil
}

var slug = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// ideaOf reads an entry of the list; false for one that is not whole, or whose
// image is elsewhere.
func ideaOf(raw json.RawMessage) (v emojiIdea, ok bool) {
	var e struct {
		ID      *int64          `json:"id"`
		Title   string          `json:"title"`
		Slug    string          `json:"slug"`
		Image   string          `json:"image"`
		License json.RawMessage `json:"license"`
	}
	if err := json.Unmarshal(raw, &e); err != nil || e.ID == nil || *e.ID < 0 || strings.TrimSpace(e.Title) == "" || !slug.MatchString(e.Slug) {
		return v, false
	}
	u, err := url.Parse(e.Image)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Host != emojiGGDomain && !strings.HasSuffix(u.Host, "."+emojiGGDomain) {
		return v, false
	}
	v = emojiIdea{
		ID: *e.ID, Name: e.Title, Image: e.Image, Page: emojiGGPage + "/emoji/" + e.Slug,
		Animated: strings.HasSuffix(strings.ToLower(u.Path), ".gif"),
	}
	if runes := []rune(v.Name); len(runes) > emojiNameRunes {
		v.Name = string(runes[:emojiNameRunes])
	}
	v.License = licenseOf(e.License)
	return v, true
}

// licenseOf is a licence's code, which may be written as a number; nil for none.
func licenseOf(raw json.RawMessage) *string {
	var text string
	var n json.Number
	switch {
	case json.Unmarshal(raw, &text) == nil && text != "":
		return &text
	case json.Unmarshal(raw, &n) == nil && n != "":
		text = n.String()
		return &text
	}
	return nil
}
