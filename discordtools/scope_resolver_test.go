package discordtools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// shelf answers reads from a list of bodies by path, and remembers them.
type shelf struct {
	mu     sync.Mutex
	bodies map[string]string // "GET /path" to a body; anything else is not found
	seen   []string
	err    error
	delay  time.Duration
}

func (s *shelf) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	path := r.Route
	for name, v := range r.Path {
		path = strings.ReplaceAll(path, "{"+name+"}", v)
	}
	if r.Anonymous {
		path += " anonymously"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r.Method+" "+path)
	if s.delay > 0 {
		s.mu.Unlock()
		select {
		case <-time.After(s.delay):
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	body, ok := s.bodies[r.Method+" "+path]
	switch {
	case s.err != nil:
		return nil, s.err
	case !ok:
		return nil, mcpcore.Errorf(mcpcore.CodeNotFound, "no %s", path)
	}
	return &discordtools.Response{Status: 200, Body: []byte(body)}, nil
}

func (s *shelf) put(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies == nil {
		s.bodies = map[string]string{}
	}
	s.bodies["GET "+path] = body
}

// sent is what was asked since the last time.
func (s *shelf) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

const (
	g1, g2 = "700000000000000001", "700000000000000002"
	c1, c2 = "710000000000000001", "710000000000000002"
	r1, r2 = "720000000000000001", "720000000000000002"
	w1     = "730000000000000001"
)

func furnished() *shelf {
	s := &shelf{}
	s.put("/channels/"+c1, `{"id":"`+c1+`","type":0,"guild_id":"`+g1+`","permission_overwrites":[{"id":"750000000000000009","type":1,"allow":"0","deny":"0"}]}`)
	s.put("/channels/"+c2, `{"id":"`+c2+`","type":11,"parent_id":"`+c1+`"}`)
	s.put("/channels/710000000000000003", `{"id":"710000000000000003","type":1}`)
	s.put("/channels/710000000000000004", `{"id":"`+c1+`","type":0,"guild_id":"`+g1+`"}`)
	s.put("/channels/710000000000000005", `{"id":"710000000000000005","type":11,"parent_id":"710000000000000005"}`)
	s.put("/guilds/"+g1+"/channels", `[{"id":"`+c1+`"},{"id":"710000000000000006"}]`)
	s.put("/guilds/"+g1+"/roles", `[{"id":"`+g1+`"},{"id":"`+r1+`"}]`)
	s.put("/guilds/"+g1+"/members/750000000000000001", `{}`)
	s.put("/users/750000000000000001", `{"id":"750000000000000001"}`)
	s.put("/webhooks/"+w1, `{"id":"`+w1+`","guild_id":"`+g1+`","channel_id":"`+c1+`"}`)
	s.put("/webhooks/"+w1+"/secret anonymously", `{"id":"`+w1+`","guild_id":null,"channel_id":"`+c1+`"}`)
	s.put("/invites/abc", `{"code":"abc","guild":{"id":"`+g1+`"}}`)
	s.put("/invites/group", `{"code":"group","channel":{"id":"`+c1+`"}}`)
	s.put("/guilds/templates/tpl", `{"code":"tpl","source_guild_id":"`+g1+`"}`)
	s.put("/stickers/740000000000000001", `{"id":"740000000000000001","guild_id":"`+g1+`"}`)
	s.put("/guilds/"+g1+"/scheduled-events/760000000000000001", `{}`)
	s.put("/guilds/"+g1+"/auto-moderation/rules/760000000000000001", `{}`)
	s.put("/guilds/"+g1+"/soundboard-sounds/760000000000000001", `{}`)
	s.put("/stickers/740000000000000002", `{"id":"740000000000000002","type":1}`)
	return s
}

func TestGuildsOfThings(t *testing.T) {
	t.Parallel()
	const gone = "799999999999999999"
	for name, row := range map[string]struct {
		ref   middleware.GuildRef
		guild discord.GuildID
		fails bool
		sent  []string // "*" as the last: whatever
		again []string // when asked once more
	}{
		"channel":                {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c1}, guild: g1, sent: []string{"/channels/" + c1}},
		"thread":                 {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c2}, guild: g1, sent: []string{"/channels/" + c2, "/channels/" + c1}},
		"direct message":         {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: "710000000000000003"}, sent: []string{"/channels/710000000000000003"}, again: []string{"/channels/710000000000000003"}},
		"another channel":        {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: "710000000000000004"}, fails: true, sent: []string{"/channels/710000000000000004"}, again: []string{"/channels/710000000000000004"}},
		"its own parent":         {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: "710000000000000005"}, sent: []string{"/channels/710000000000000005"}, again: []string{"/channels/710000000000000005"}},
		"no channel":             {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: gone}, fails: true, sent: []string{"/channels/" + gone}, again: []string{"/channels/" + gone}},
		"channel of many":        {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c1, In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/channels"}},
		"thread among many":      {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c2, In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/channels", "/channels/" + c2}},
		"many elsewhere":         {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c1, In: g2}, fails: true, sent: []string{"/guilds/" + g2 + "/channels"}, again: []string{"/guilds/" + g2 + "/channels"}},
		"channel, fresh":         {ref: middleware.GuildRef{Kind: discord.KindChannel, ID: c1, Fresh: true}, guild: g1, sent: []string{"/channels/" + c1}},
		"role":                   {ref: middleware.GuildRef{Kind: discord.KindRole, ID: r1, In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles"}},
		"another's role":         {ref: middleware.GuildRef{Kind: discord.KindRole, ID: r2, In: g1}, sent: []string{"/guilds/" + g1 + "/roles"}, again: []string{"/guilds/" + g1 + "/roles"}},
		"event":                  {ref: middleware.GuildRef{Kind: discord.KindEvent, ID: "760000000000000001", In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/scheduled-events/760000000000000001"}},
		"another's event":        {ref: middleware.GuildRef{Kind: discord.KindEvent, ID: "760000000000000001", In: g2}, sent: []string{"/guilds/" + g2 + "/scheduled-events/760000000000000001"}, again: []string{"/guilds/" + g2 + "/scheduled-events/760000000000000001"}},
		"rule":                   {ref: middleware.GuildRef{Kind: discord.KindRule, ID: "760000000000000001", In: g1, Fresh: true}, guild: g1, sent: []string{"/guilds/" + g1 + "/auto-moderation/rules/760000000000000001"}},
		"sound":                  {ref: middleware.GuildRef{Kind: discord.KindSound, ID: "760000000000000001", In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/soundboard-sounds/760000000000000001"}},
		"another's sound":        {ref: middleware.GuildRef{Kind: discord.KindSound, ID: "760000000000000009", In: g1}, sent: []string{"/guilds/" + g1 + "/soundboard-sounds/760000000000000009"}, again: []string{"/guilds/" + g1 + "/soundboard-sounds/760000000000000009"}},
		"Discord's own sound":    {ref: middleware.GuildRef{Kind: discord.KindSound, ID: "1", In: g1}, guild: g1, sent: nil},
		"overwrite of a role":    {ref: middleware.GuildRef{Kind: discord.KindOverwrite, ID: r1, In: g1, Channel: c1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles"}},
		"overwrite of a member":  {ref: middleware.GuildRef{Kind: discord.KindOverwrite, ID: "750000000000000001", In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/members/750000000000000001"}, again: []string{"/guilds/" + g1 + "/roles"}},
		"overwrite of one gone":  {ref: middleware.GuildRef{Kind: discord.KindOverwrite, ID: "750000000000000009", In: g1, Channel: c1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles", "/channels/" + c1}, again: []string{"/guilds/" + g1 + "/roles"}},
		"overwrite of nobody":    {ref: middleware.GuildRef{Kind: discord.KindOverwrite, ID: gone, In: g1}, sent: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/members/" + gone}, again: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/members/" + gone}},
		"grantee, a role":        {ref: middleware.GuildRef{Kind: discord.KindGrantee, ID: r1, In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles"}},
		"grantee, a channel":     {ref: middleware.GuildRef{Kind: discord.KindGrantee, ID: c1, In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/channels"}, again: []string{"/guilds/" + g1 + "/roles"}},
		"grantee, a member":      {ref: middleware.GuildRef{Kind: discord.KindGrantee, ID: "750000000000000001", In: g1}, guild: g1, sent: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/channels", "/guilds/" + g1 + "/members/750000000000000001"}, again: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/channels"}},
		"grantee, all channels":  {ref: middleware.GuildRef{Kind: discord.KindGrantee, ID: "700000000000000000", In: g1}, guild: g1},
		"grantee of nobody":      {ref: middleware.GuildRef{Kind: discord.KindGrantee, ID: r2, In: g1}, sent: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/channels", "/guilds/" + g1 + "/members/" + r2}, again: []string{"/guilds/" + g1 + "/roles", "/guilds/" + g1 + "/channels", "/guilds/" + g1 + "/members/" + r2}},
		"owner, a user":          {ref: middleware.GuildRef{Kind: discord.KindOwner, ID: "750000000000000001"}, sent: []string{"/users/750000000000000001"}},
		"owner, a guild":         {ref: middleware.GuildRef{Kind: discord.KindOwner, ID: g1, Fresh: true}, guild: g1, sent: []string{"/users/" + g1}},
		"webhook":                {ref: middleware.GuildRef{Kind: discord.KindWebhook, ID: w1}, guild: g1, sent: []string{"/webhooks/" + w1}},
		"webhook by its token":   {ref: middleware.GuildRef{Kind: discord.KindWebhook, ID: w1, Token: "secret"}, guild: g1, sent: []string{"/webhooks/" + w1 + "/secret anonymously", "/channels/" + c1}},
		"webhook, fresh":         {ref: middleware.GuildRef{Kind: discord.KindWebhook, ID: w1, Fresh: true}, guild: g1, sent: []string{"/webhooks/" + w1}, again: []string{"/webhooks/" + w1}},
		"webhook, another token": {ref: middleware.GuildRef{Kind: discord.KindWebhook, ID: w1, Token: "wrong"}, fails: true, sent: []string{"/webhooks/" + w1 + "/wrong anonymously"}, again: []string{"/webhooks/" + w1 + "/wrong anonymously"}},
		"invite":                 {ref: middleware.GuildRef{Kind: discord.KindInvite, ID: "abc"}, guild: g1, sent: []string{"/invites/abc"}},
		"a group's invite":       {ref: middleware.GuildRef{Kind: discord.KindInvite, ID: "group"}, sent: []string{"/invites/group"}, again: []string{"/invites/group"}},
		"template":               {ref: middleware.GuildRef{Kind: discord.KindTemplate, ID: "tpl"}, guild: g1, sent: []string{"/guilds/templates/tpl"}},
		"sticker":                {ref: middleware.GuildRef{Kind: discord.KindSticker, ID: "740000000000000001"}, guild: g1, sent: []string{"/stickers/740000000000000001"}},
		"Discord's sticker":      {ref: middleware.GuildRef{Kind: discord.KindSticker, ID: "740000000000000002"}, sent: []string{"/stickers/740000000000000002"}, again: []string{"/stickers/740000000000000002"}},
		"something else":         {ref: middleware.GuildRef{Kind: discord.KindUser, ID: gone}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := furnished()
			g := discordtools.NewGuildResolver(s, func() time.Time { return now })
			for i, want := range [][]string{row.sent, row.again} {
				guild, err := g.GuildOf(t.Context(), row.ref)
				if guild != row.guild || (err != nil) != row.fails {
					t.Errorf("guild %q, error %v", guild, err)
				}
				var gets []string
				for _, w := range want {
					gets = append(gets, "GET "+w)
				}
				if got := s.sent(); !slices.Equal(got, gets) {
					t.Errorf("time %d: Discord saw %q, want %q", i+1, got, gets)
				}
			}
		})
	}
}

func TestGuildsAreRememberedWithinBounds(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	g := discordtools.NewGuildResolver(s, nil)
	ask := func(i int) {
		t.Helper()
		id := fmt.Sprintf("71%016d", i)
		s.put("/channels/"+id, `{"id":"`+id+`","guild_id":"`+g1+`"}`)
		if guild, err := g.GuildOf(t.Context(), middleware.GuildRef{Kind: discord.KindChannel, ID: id}); guild != g1 || err != nil {
			t.Fatalf("guild %q, error %v", guild, err)
		}
	}
	for i := range 1024 {
		ask(i)
	}
	s.sent()
	ask(0)
	if seen := s.sent(); len(seen) > 0 {
		t.Errorf("what fits is read again: %v", seen)
	}
	ask(1024)
	ask(1023)
	if seen := s.sent(); len(seen) != 1 {
		t.Errorf("one is new: %v", seen)
	}
	ask(0)
	if seen := s.sent(); len(seen) != 1 {
		t.Errorf("the oldest is kept beyond the bound: %v", seen)
	}
}

func TestWhatCanMoveIsReadAnew(t *testing.T) {
	t.Parallel()
	s := furnished()
	at := now
	g := discordtools.NewGuildResolver(s, func() time.Time { return at })
	want := func(fresh bool, guild discord.GuildID) {
		t.Helper()
		got, err := g.GuildOf(t.Context(), middleware.GuildRef{Kind: discord.KindWebhook, ID: w1, Fresh: fresh})
		if got != guild || err != nil {
			t.Errorf("guild %q, error %v; want %q", got, err, guild)
		}
	}
	want(false, g1)
	s.put("/webhooks/"+w1, `{"id":"`+w1+`","guild_id":"`+g2+`"}`)
	want(false, g1) // for a minute, to tools that read
	want(true, g2)  // not to tools that write
	want(false, g2) // which others learn from
	s.put("/webhooks/"+w1, `{"id":"`+w1+`","guild_id":"`+g1+`"}`)
	at = at.Add(59 * time.Second)
	want(false, g2)
	at = at.Add(time.Second)
	want(false, g1)
}

func TestFailuresAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := furnished()
	g := discordtools.NewGuildResolver(s, nil)
	for _, ref := range []middleware.GuildRef{
		{Kind: discord.KindChannel, ID: c1}, {Kind: discord.KindWebhook, ID: w1}, {Kind: discord.KindInvite, ID: "abc"},
		{Kind: discord.KindSticker, ID: "740000000000000001"}, {Kind: discord.KindRole, ID: r1, In: g1}, {Kind: discord.KindTemplate, ID: "tpl"},
	} {
		s.err = errors.New("no network")
		if guild, err := g.GuildOf(t.Context(), ref); guild != "" || err == nil {
			t.Errorf("%s: guild %q, error %v", ref.Kind, guild, err)
		}
		s.err = nil
		if guild, err := g.GuildOf(t.Context(), ref); guild != g1 || err != nil {
			t.Errorf("%s: afterwards guild %q, error %v", ref.Kind, guild, err)
		}
	}
}

func TestOneReadServesAllWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := furnished()
		s.delay = time.Second
		g := discordtools.NewGuildResolver(s, nil)
		ref := middleware.GuildRef{Kind: discord.KindChannel, ID: c1}
		var waiting sync.WaitGroup
		impatient, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		waiting.Go(func() { // the one who began the read leaves first
			if _, err := g.GuildOf(impatient, ref); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it waits beyond its deadline: %v", err)
			}
		})
		synctest.Wait()
		for range 20 {
			waiting.Go(func() {
				if guild, err := g.GuildOf(t.Context(), ref); guild != g1 || err != nil {
					t.Errorf("guild %q, error %v", guild, err)
				}
			})
		}
		waiting.Wait()
		if seen := s.sent(); len(seen) != 1 {
			t.Errorf("%d reads", len(seen))
		}
	})
}

func TestReadEndsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := furnished()
		s.delay = time.Hour
		g := discordtools.NewGuildResolver(s, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.GuildOf(ctx, middleware.GuildRef{Kind: discord.KindChannel, ID: c1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		started := time.Now()
		synctest.Wait() // the read's goroutine is gone, or the bubble would wait an hour
		s.mu.Lock()
		s.delay = 0
		s.mu.Unlock()
		if guild, err := g.GuildOf(t.Context(), middleware.GuildRef{Kind: discord.KindChannel, ID: c1}); guild != g1 || err != nil {
			t.Errorf("afterwards guild %q, error %v", guild, err)
		}
		if took := time.Since(started); took > 0 {
			t.Errorf("it joined the abandoned read for %v", took)
		}
	})
}

// panics is a connection that panics.
type panics struct{}

func (panics) Do(context.Context, discordtools.Request) (*discordtools.Response, error) {
	panic("canary")
}

func TestPanicOfAConnectionIsAnError(t *testing.T) {
	t.Parallel()
	g := discordtools.NewGuildResolver(panics{}, nil)
	if _, err := g.GuildOf(t.Context(), middleware.GuildRef{Kind: discord.KindChannel, ID: c1}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v", err)
	}
}
