package discordtools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// drawing makes a case out of bytes, so that a fuzzer can steer it.
type drawing []byte

func (d *drawing) byte() int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b)
}

func (d *drawing) below(n int) int { return d.byte() % n }

// widest is how many bits a drawn set may have: more than 64.
const widest = 72

func (d *drawing) set() *big.Int {
	n := new(big.Int)
	for i := 0; i < widest; i += 8 {
		n.Or(n.Lsh(n, 8), big.NewInt(int64(d.byte())))
	}
	if d.below(4) > 0 { // else administrators would be all there is
		n.SetBit(n, 3, 0)
	}
	return n
}

// permissionCase is a member of a guild, and a channel.
type permissionCase struct {
	roles    []*big.Int // the first is @everyone's
	held     []bool
	owner    bool
	timedOut bool
	kind     discord.ChannelType
	over     []overwriteCase
}

type overwriteCase struct {
	of          int // a role; one past the last is the member, two past somebody else
	allow, deny *big.Int
}

func draw(d drawing) (c permissionCase) {
	for range 2 + d.below(4) {
		c.roles, c.held = append(c.roles, d.set()), append(c.held, d.below(2) == 0)
	}
	c.held[0] = true
	c.owner, c.timedOut = d.below(12) == 1, d.below(6) == 1
	c.kind = []discord.ChannelType{discord.GuildText, discord.GuildVoice, discord.GuildStageVoice, discord.GuildForum, discord.PublicThread, discord.PrivateThread}[d.below(6)]
	for i := range len(c.roles) + 2 {
		if d.below(3) == 0 {
			continue
		}
		o := overwriteCase{of: i, allow: d.set(), deny: d.set()}
		o.deny.AndNot(o.deny, o.allow) // Discord has no bit in both
		c.over = append(c.over, o)
	}
	return c
}

const (
	drawnUser    = "1200000000000000901"
	drawnOther   = "1200000000000000902"
	drawnChannel = "1200000000000000903"
	drawnParent  = "1200000000000000904"
)

func drawnRole(i int) string {
	if i == 0 {
		return guild
	}
	return fmt.Sprint(1200000000000000910 + i)
}

// world is the case as Discord tells it.
func (c permissionCase) world() told {
	type object = map[string]any
	roles, held := []object{}, []string{}
	for i, p := range c.roles {
		roles = append(roles, object{"id": drawnRole(i), "name": "r", "position": i, "permissions": p.String()})
		if i > 0 && c.held[i] {
			held = append(held, drawnRole(i))
		}
	}
	over := []object{}
	for _, o := range c.over {
		v := object{"id": drawnRole(o.of), "type": 0, "allow": o.allow.String(), "deny": o.deny.String()}
		switch o.of - len(c.roles) {
		case 0:
			v["id"], v["type"] = drawnUser, 1
		case 1:
			v["id"], v["type"] = drawnOther, 1
		}
		over = append(over, v)
	}
	member := object{"user": object{"id": drawnUser}, "roles": held}
	if c.timedOut {
		member["communication_disabled_until"] = now.Add(time.Minute)
	}
	channel := object{"id": drawnChannel, "guild_id": guild, "type": c.kind, "permission_overwrites": over}
	d := told{
		"/guilds/{guild_id}": object{"id": guild, "owner_id": drawnOther}, "/guilds/{guild_id}/roles": roles,
		"/guilds/{guild_id}/members/{user_id} " + drawnUser: member, "/channels/{channel_id} " + drawnChannel: channel,
	}
	if c.owner {
		d["/guilds/{guild_id}"] = object{"id": guild, "owner_id": drawnUser}
	}
	if c.kind.IsThread() {
		d["/channels/{channel_id} "+drawnParent] = object{"id": drawnParent, "guild_id": guild, "type": 0, "permission_overwrites": over}
		channel["parent_id"] = drawnParent
		delete(channel, "permission_overwrites")
	}
	return d
}

// bits are permissions by their names, from a list of its own.
var bits = map[string]int{
	"ADMINISTRATOR": 3, "PRIORITY_SPEAKER": 8, "STREAM": 9, "VIEW_CHANNEL": 10, "SEND_MESSAGES": 11, "SEND_TTS_MESSAGES": 12, "EMBED_LINKS": 14,
	"ATTACH_FILES": 15, "READ_MESSAGE_HISTORY": 16, "MENTION_EVERYONE": 17, "CONNECT": 20, "SPEAK": 21, "MUTE_MEMBERS": 22, "DEAFEN_MEMBERS": 23,
	"MOVE_MEMBERS": 24, "USE_VAD": 25, "REQUEST_TO_SPEAK": 32, "MANAGE_THREADS": 34, "SEND_MESSAGES_IN_THREADS": 38, "USE_SOUNDBOARD": 42,
	"USE_EXTERNAL_SOUNDS": 45, "SEND_VOICE_MESSAGES": 46, "SET_VOICE_CHANNEL_STATUS": 48, "SEND_POLLS": 49, "MANAGE_CHANNELS": 4, "MANAGE_ROLES": 28,
	"KICK_MEMBERS": 1, "BAN_MEMBERS": 2, "MANAGE_GUILD": 5, "VIEW_AUDIT_LOG": 7, "VIEW_GUILD_INSIGHTS": 19, "CHANGE_NICKNAME": 26, "MANAGE_NICKNAMES": 27,
	"MANAGE_GUILD_EXPRESSIONS": 30, "MODERATE_MEMBERS": 40, "VIEW_CREATOR_MONETIZATION_ANALYTICS": 41, "CREATE_GUILD_EXPRESSIONS": 43,
}

func bitOf(name string) int { return bits[name] }

// named are the bits that have a name: all up to 52 but one.
func named(bit int) bool { return bit <= 52 && bit != 47 }

// naive decides one bit by walking the rules in words: in the guild, and in the
// channel.
func (c permissionCase) naive(bit int) (base, effective bool) {
	unlimited := c.owner
	for i, p := range c.roles {
		if c.held[i] {
			base = base || p.Bit(bit) == 1
			unlimited = unlimited || p.Bit(bitOf("ADMINISTRATOR")) == 1
		}
	}
	if unlimited {
		return base || named(bit), base || named(bit)
	}
	effective = base
	for _, o := range c.over { // @everyone's
		if o.of == 0 {
			effective = effective && o.deny.Bit(bit) == 0 || o.allow.Bit(bit) == 1
		}
	}
	denied, allowed := false, false
	for _, o := range c.over { // of the other roles, as one
		if o.of > 0 && o.of < len(c.roles) && c.held[o.of] {
			denied, allowed = denied || o.deny.Bit(bit) == 1, allowed || o.allow.Bit(bit) == 1
		}
	}
	effective = effective && !denied || allowed
	for _, o := range c.over { // the member's
		if o.of == len(c.roles) {
			effective = effective && o.deny.Bit(bit) == 0 || o.allow.Bit(bit) == 1
		}
	}
	if c.timedOut && bit != bitOf("VIEW_CHANNEL") && bit != bitOf("READ_MESSAGE_HISTORY") {
		effective = false
	}
	return base, effective
}

// worthless decides whether a held permission is worth nothing, by the words of
// Discord's documentation.
//
// Source: https://docs.discord.com/developers/topics/permissions#implicit-permissions.
func (c permissionCase) worthless(name string) bool {
	has := func(name string) bool { _, held := c.naive(bitOf(name)); return held }
	ofGuild := []string{"ADMINISTRATOR", "KICK_MEMBERS", "BAN_MEMBERS", "MANAGE_GUILD", "VIEW_AUDIT_LOG", "VIEW_GUILD_INSIGHTS", "CHANGE_NICKNAME", "MANAGE_NICKNAMES",
		"MANAGE_GUILD_EXPRESSIONS", "CREATE_GUILD_EXPRESSIONS", "MODERATE_MEMBERS", "VIEW_CREATOR_MONETIZATION_ANALYTICS"}
	ofSending := []string{"SEND_TTS_MESSAGES", "MENTION_EVERYONE", "EMBED_LINKS", "ATTACH_FILES", "SEND_VOICE_MESSAGES", "SEND_POLLS"}
	ofVoice := []string{"PRIORITY_SPEAKER", "STREAM", "SPEAK", "MUTE_MEMBERS", "DEAFEN_MEMBERS", "MOVE_MEMBERS", "USE_VAD", "REQUEST_TO_SPEAK", "USE_SOUNDBOARD",
		"USE_EXTERNAL_SOUNDS", "SET_VOICE_CHANNEL_STATUS", "MANAGE_CHANNELS", "MANAGE_ROLES"}
	thread := c.kind == discord.PublicThread || c.kind == discord.PrivateThread
	send := "SEND_MESSAGES"
	if thread {
		send = "SEND_MESSAGES_IN_THREADS"
	}
	switch {
	case !slices.Contains(ofGuild, name) && !has("VIEW_CHANNEL"):
		return true
	case (slices.Contains(ofSending, name) || thread && name == "SEND_MESSAGES") && !has(send):
		return true
	case slices.Contains(ofVoice, name) && (c.kind == discord.GuildVoice || c.kind == discord.GuildStageVoice) && !has("CONNECT"):
		return true
	}
	return false
}

// explainer is a server whose Discord tells one case at a time.
type explainer struct {
	mu      sync.Mutex
	current told
	session *mcp.ClientSession
}

func (e *explainer) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	return e.current.Do(ctx, r)
}

func newExplainer(t testing.TB) *explainer {
	t.Helper()
	e := &explainer{}
	server, err := discordtools.BuildServer(discordtools.Deps{REST: e, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), st, nil); err != nil {
		t.Fatal(err)
	}
	if e.session, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), ct, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

type explained struct {
	Code        string              `json:"code"`
	Base        string              `json:"base_permissions"`
	Effective   string              `json:"effective_permissions"`
	Unknown     string              `json:"unknown_permission_bits"`
	Missing     []string            `json:"missing_permissions"`
	Ineffective []string            `json:"ineffective_permissions"`
	Allowed     *bool               `json:"allowed"`
	Confidence  string              `json:"confidence"`
	Trace       []map[string]string `json:"decision_trace"`
}

// check asks the tool about every permission there is and compares its answer
// with the rules, bit by bit.
func (e *explainer) check(t *testing.T, c permissionCase) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current = c.world()
	asked := discord.KnownPermissions.Names()
	res, err := e.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "permissions_explain", Arguments: map[string]any{
		"guild_id": guild, "channel_id": drawnChannel, "user_id": drawnUser, "requested_permissions": asked,
	}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var got explained
	if err := json.Unmarshal(raw, &got); err != nil || got.Code != "" {
		t.Fatalf("%v: %s\n%+v", err, raw, c)
	}
	base, effective := decimal(t, got.Base), decimal(t, got.Effective)
	for bit := range widest + 8 {
		wantBase, want := c.naive(bit)
		if (base.Bit(bit) == 1) != wantBase || (effective.Bit(bit) == 1) != want {
			t.Fatalf("bit %d: base %d, effective %d; by the rules %v, %v\n%+v", bit, base.Bit(bit), effective.Bit(bit), wantBase, want, c)
		}
		if decimal(t, got.Unknown).Bit(bit) == 1 && named(bit) {
			t.Fatalf("bit %d has a name\n%+v", bit, c)
		}
	}
	var missing, ineffective []string
	for bit, name := range bitsByName() {
		switch _, held := c.naive(bit); {
		case !held:
			missing = append(missing, name)
		case c.worthless(name):
			ineffective = append(ineffective, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(ineffective)
	slices.Sort(got.Missing)
	slices.Sort(got.Ineffective)
	if !slices.Equal(got.Missing, missing) || !slices.Equal(got.Ineffective, ineffective) {
		t.Fatalf("missing %v, want %v\nineffective %v, want %v\n%+v", got.Missing, missing, got.Ineffective, ineffective, c)
	}
	_, manages := c.naive(bitOf("MANAGE_THREADS"))
	switch sure := c.kind != discord.PrivateThread || manages; {
	case sure != (got.Confidence == "complete"), sure != (got.Allowed != nil):
		t.Fatalf("confidence %s, allowed %v\n%+v", got.Confidence, got.Allowed, c)
	case sure && *got.Allowed != (len(missing)+len(ineffective) == 0):
		t.Fatalf("allowed %v, missing %v, ineffective %v\n%+v", *got.Allowed, missing, ineffective, c)
	}
	last := "0"
	for _, s := range got.Trace { // each step follows from the one before
		after := decimal(t, s["before"])
		after.AndNot(after, decimal(t, s["deny"])).Or(after, decimal(t, s["allow"]))
		if s["before"] != last || s["after"] != after.String() {
			t.Fatalf("step %v after %s\n%+v", s, last, c)
		}
		last = s["after"]
	}
	if last != got.Effective {
		t.Fatalf("the trace ends with %s, not %s\n%+v", last, got.Effective, c)
	}
}

// bitsByName are the names of the bits that have one.
var bitsByName = sync.OnceValue(func() map[int]string {
	all := map[int]string{}
	for bit := range 64 {
		if named(bit) {
			all[bit] = discord.Permissions(1 << bit).Names()[0]
		}
	}
	return all
})

func decimal(t *testing.T, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no decimal set", s)
	}
	return n
}

func TestPermissionsAgainstTheRulesBitByBit(t *testing.T) {
	t.Parallel()
	e := newExplainer(t)
	defer e.session.Close()
	r := rand.New(rand.NewPCG(7, 11))
	kinds, limited := map[discord.ChannelType]int{}, 0
	for range 400 {
		data := make(drawing, 400)
		for i := range data {
			data[i] = byte(r.Uint32() & r.Uint32())
		}
		c := draw(data)
		e.check(t, c)
		kinds[c.kind]++
		if _, all := c.naive(bitOf("VIEW_CHANNEL")); !all {
			limited++
		}
	}
	if len(kinds) != 6 || limited < 50 {
		t.Errorf("drawn too few kinds: %v, %d unseen", kinds, limited)
	}
}

// FuzzPermissions looks for a case in which the tool and the rules differ.
func FuzzPermissions(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00\x00\x0c\x00\x01\x00"))
	f.Add([]byte("two roles, an owner in a voice channel, and overwrites of all kinds \xff\xff\xff\xff\xff\xff\xff\xff"))
	e := newExplainer(f)
	f.Fuzz(func(t *testing.T, data []byte) { e.check(t, draw(data)) })
}
