package discordtools_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// twoWorlds is the demo world with something of each kind in both guilds.
func twoWorlds(t *testing.T) (world *sandbox.Discord, ours, theirs map[discord.Kind]string) {
	t.Helper()
	d := sandbox.Demo()
	d.SetRolePermissions(sandbox.DemoClub, discord.RoleID(sandbox.DemoClub), discord.KnownPermissions) // so that its webhooks can be read
	theirRole := d.AddRole(sandbox.DemoClub, sandbox.Role{Name: "Reader", Position: 1})
	theirEvent := d.AddEvent(sandbox.DemoClub, sandbox.Event{Name: "Reading", Location: "Library", Start: now})
	theirRule := d.AddAutoModRule(sandbox.DemoClub, sandbox.AutoModRule{Name: "Spoilers"})
	theirSound := d.AddSound(sandbox.DemoClub, sandbox.Sound{Name: "Page"})
	theirHook := d.AddWebhook(sandbox.Webhook{Channel: sandbox.DemoClubGeneral, By: sandbox.DemoOwner, Name: "Page turner"})
	theirSticker := d.AddSticker(sandbox.DemoClub, sandbox.Sticker{Name: "Page", Tags: "page", By: sandbox.DemoOwner})
	return d, map[discord.Kind]string{
			discord.KindGuild: guild, discord.KindChannel: general, discord.KindRole: string(sandbox.DemoMutedRole),
			discord.KindOverwrite: string(sandbox.DemoMutedRole), discord.KindSticker: string(sandbox.DemoSticker),
			discord.KindInvite: d.AddInvite(sandbox.Invite{Channel: sandbox.DemoGeneral}), discord.KindUser: tomo,
			discord.KindEmoji: string(sandbox.DemoEmoji), discord.KindApplication: string(sandbox.BotID),
			discord.KindEvent: string(sandbox.DemoMeetup), discord.KindRule: string(sandbox.DemoWordRule), discord.KindSound: string(sandbox.DemoSound),
			discord.KindWebhook: string(sandbox.DemoWebhook), discord.KindWebhookToken: d.Webhooks(sandbox.DemoGuild)[0].Token,
			discord.KindGrantee: string(sandbox.DemoMutedRole), discord.KindOwner: guild,
			discord.KindTemplate: d.AddTemplate(sandbox.DemoGuild, sandbox.Template{Name: "Crew"}),
		}, map[discord.Kind]string{
			discord.KindGuild: string(sandbox.DemoClub), discord.KindChannel: string(sandbox.DemoClubGeneral), discord.KindRole: string(theirRole),
			discord.KindOverwrite: string(theirRole), discord.KindSticker: string(theirSticker),
			discord.KindInvite: d.AddInvite(sandbox.Invite{Channel: sandbox.DemoClubReads}),
			discord.KindEvent:  string(theirEvent), discord.KindRule: string(theirRule), discord.KindSound: string(theirSound),
			discord.KindWebhook: string(theirHook), discord.KindWebhookToken: d.Webhooks(sandbox.DemoClub)[0].Token,
			discord.KindGrantee: string(theirRole), discord.KindOwner: string(sandbox.DemoClub),
			discord.KindTemplate: d.AddTemplate(sandbox.DemoClub, sandbox.Template{Name: "Reads"}),
		}
}

// filler makes arguments of a tool: what is required, and one path beside.
type filler struct {
	kinds  map[string]discord.Kind
	ours   map[discord.Kind]string
	target string // a path of IDs
	value  string // what stands there
	used   int
}

func (f *filler) fill(path, name string, s map[string]any) any {
	f.used++
	join := func(step string) string { return strings.TrimPrefix(path+"."+step, ".") }
	switch kind, isID := f.kinds[path]; {
	case path == f.target:
		return f.value
	case isID && f.ours[kind] != "":
		return f.ours[kind]
	}
	properties, _ := s["properties"].(map[string]any)
	switch typeOf(s) {
	case "object":
		o := map[string]any{}
		if len(properties) == 0 { // of a form that no schema states
			return sample(strings.TrimSuffix(name, "s"), s, f.used)
		}
		for _, p := range slices.Sorted(maps.Keys(properties)) {
			on := join(p) == f.target || strings.HasPrefix(f.target, join(p)+".")
			if on || slices.Contains(asList(s["required"]), any(p)) {
				o[p] = f.fill(join(p), p, properties[p].(map[string]any))
			}
		}
		return o
	case "array":
		list := []any{}
		for range max(1, number(s["minItems"])) {
			list = append(list, f.fill(join("*"), name, s["items"].(map[string]any)))
		}
		return list
	}
	return sample(name, s, f.used)
}

// arguments are those of a tool with value at the path, and what its rules
// demand beside.
func (f *filler) arguments(t *testing.T, tool mcpcore.Tool, input map[string]any) string {
	t.Helper()
	given := f.fill("", "", input).(map[string]any)
	properties := input["properties"].(map[string]any)
	top, _, _ := strings.Cut(f.target, ".")
	for _, c := range slices.Concat(companions[tool.Name], companions[tool.Name+"."+top], scopeCompanions[tool.Name]) {
		name, raw, stated := strings.Cut(c, "=")
		switch {
		case name == top:
		case stated:
			given[name] = json.RawMessage(raw)
		case given[name] != nil:
		default:
			given[name] = f.fill(name, name, properties[name].(map[string]any))
		}
	}
	if message, ok := given["message"].(map[string]any); ok {
		message["content"] = "x"
	}
	if actions, ok := given["actions"].([]any); ok && strings.HasSuffix(f.target, "channel_id") { // an alert's
		actions[0].(map[string]any)["type"] = 2
	}
	if properties["__confirm"] != nil {
		given["__confirm"] = true
	}
	b, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scopeCompanions are what rules demand beside the required arguments.
var scopeCompanions = map[string][]string{
	"channels_create_guild_channel": {"name"},
	"channels_modify":               {"name"},
}

// provable are the kinds of ids whose guild is read, and what another guild's is
// answered with.
var provable = map[discord.Kind]mcpcore.Code{
	discord.KindGuild: mcpcore.CodeGuildNotAllowed, discord.KindChannel: mcpcore.CodeGuildNotAllowed, discord.KindInvite: mcpcore.CodeGuildNotAllowed,
	discord.KindSticker: mcpcore.CodeGuildNotAllowed, discord.KindWebhook: mcpcore.CodeGuildNotAllowed, discord.KindTemplate: mcpcore.CodeGuildNotAllowed,
	discord.KindRole: mcpcore.CodeGuildUnresolved, discord.KindOverwrite: mcpcore.CodeGuildUnresolved,
	discord.KindEvent: mcpcore.CodeGuildUnresolved, discord.KindRule: mcpcore.CodeGuildUnresolved, discord.KindSound: mcpcore.CodeGuildUnresolved,
	discord.KindGrantee: mcpcore.CodeGuildUnresolved, discord.KindOwner: mcpcore.CodeGuildNotAllowed,
}

// TestEveryIDOfEveryToolIsHeld gives each tool, at each place where it takes an
// id, one of another guild: the call is refused, and Discord has seen nothing but
// reads. The same call with an id of the allowed guild passes.
func TestEveryIDOfEveryToolIsHeld(t *testing.T) {
	t.Parallel()
	world, ours, theirs := twoWorlds(t)
	allowed := func(d *discordtools.Deps) {
		d.Config.AllowedGuilds, d.Config.ExpectedBot, d.Config.UserScoped = []discord.GuildID{sandbox.DemoGuild}, sandbox.BotID, true
	}
	acting := startOn(t, world, allowed)
	previewing := startOn(t, world, allowed, func(d *discordtools.Deps) { d.Config.PreviewOnly = true })
	definitions := listed(t)
	held := map[discord.Kind]int{}
	for _, tool := range tools(t) {
		kinds := map[string]discord.Kind{}
		for _, p := range tool.IDs() {
			kinds[p.Path] = p.Kind
		}
		if slices.Contains(slices.Collect(maps.Values(kinds)), discord.KindInteraction) {
			continue // not listed: see TestInteractionsTellNoGuild
		}
		if strings.HasPrefix(tool.Name, "guild_blueprint_") && tool.Name != "guild_blueprint_compile" {
			continue // which answer with statuses of their own: see TestBlueprintBoundary
		}
		input := tree(t, definitions[tool.Name].InputSchema)
		for _, path := range slices.Sorted(maps.Keys(kinds)) {
			want, ok := provable[kinds[path]]
			if !ok || tool.Scope == mcpcore.LocalScope && kinds[path] != discord.KindGuild { // which reaches nothing
				continue
			}
			held[kinds[path]]++
			foreign := theirs[kinds[path]]
			if foreign == "" {
				t.Fatalf("%s: %s: the worlds have no %s", tool.Name, path, kinds[path])
			}
			beside := ours
			if kinds[path] == discord.KindWebhook { // whose token goes with it
				beside = maps.Clone(ours)
				beside[discord.KindWebhookToken] = theirs[discord.KindWebhookToken]
			}
			args := (&filler{kinds: kinds, ours: beside, target: path, value: foreign}).arguments(t, tool, input)
			world.ResetRequests()
			if a := acting.call(tool.Name, args); a.code != want {
				t.Errorf("%s %s: code %q, want %s\n%s", tool.Name, args, a.code, want, a.data)
			}
			if writes := world.Writes(); len(writes) > 0 {
				t.Errorf("%s %s: Discord saw %s %s", tool.Name, args, writes[0].Method, writes[0].Path)
			}
			args = (&filler{kinds: kinds, ours: ours, target: path, value: ours[kinds[path]]}).arguments(t, tool, input)
			a := previewing.call(tool.Name, args)
			switch passed := a.code == mcpcore.CodeWritePreview; {
			case tool.Effect != mcpcore.Read && !passed:
				t.Errorf("%s %s: the legitimate call answers %q\n%s", tool.Name, args, a.code, a.data)
			case tool.Effect == mcpcore.Read && slices.Contains(scopeCodes, a.code):
				t.Errorf("%s %s: the legitimate call answers %q\n%s", tool.Name, args, a.code, a.data)
			}
		}
	}
	for kind, least := range map[discord.Kind]int{
		discord.KindGuild: 40, discord.KindChannel: 50, discord.KindRole: 12, discord.KindOverwrite: 4, discord.KindSticker: 5, discord.KindInvite: 2,
		discord.KindEvent: 6, discord.KindRule: 3, discord.KindSound: 4,
		discord.KindWebhook: 10,
		discord.KindGrantee: 1, discord.KindOwner: 1,
		discord.KindTemplate: 6,
	} {
		if held[kind] < least {
			t.Errorf("only %d places of a %s: this test looks at too little", held[kind], kind)
		}
	}
}

var scopeCodes = []mcpcore.Code{mcpcore.CodeGuildNotAllowed, mcpcore.CodeGuildUnresolved, mcpcore.CodeBotUnresolved}

var idName = regexp.MustCompile(`(^|_)ids?$`)

// TestEveryIDHasAKind walks every input of every tool: what is called an id, or
// has the pattern of one, has a type that says what it names. A plain text would
// be held by nothing.
func TestEveryIDHasAKind(t *testing.T) {
	t.Parallel()
	// digests of a plan, numbers of a message's own attachments, texts and names of steps, made up by the caller
	plain := []string{"approval_id", "plan_id", "message.attachments.*.id", "attachments.*.id", "data.attachments.*.id", "data.custom_id", "steps.*.id"}
	definitions := listed(t)
	for _, tool := range tools(t) {
		kinds := map[string]discord.Kind{}
		for _, p := range tool.IDs() {
			kinds[p.Path] = p.Kind
			if p.Kind == "" {
				t.Errorf("%s: %s is an id of no kind", tool.Name, p.Path)
			}
		}
		var walk func(path string, s map[string]any)
		walk = func(path string, s map[string]any) {
			last := path[strings.LastIndexByte(strings.TrimSuffix(path, ".*"), '.')+1:]
			name := strings.TrimSuffix(last, ".*")
			if typeOf(s) == "string" && idName.MatchString(name) && !strings.HasPrefix(name, "__") && !slices.Contains(numbered, name) && !slices.Contains(plain, path) {
				if _, ok := kinds[path]; !ok {
					t.Errorf("%s: %s is called an id and has no type of package discord", tool.Name, path)
				}
			}
			properties, _ := s["properties"].(map[string]any)
			for p, inner := range properties {
				walk(strings.TrimPrefix(path+"."+p, "."), inner.(map[string]any))
			}
			if items, ok := s["items"].(map[string]any); ok {
				walk(path+".*", items)
			}
		}
		walk("", tree(t, definitions[tool.Name].InputSchema))
	}
}

// looksAtTemplates are tools that read templates by codes, the caller's or the
// operator's, as anybody can: nothing of the guild behind a code is read or changed.
var looksAtTemplates = []string{"guild_blueprint_compile", "guild_blueprint_plan", "templates_recommend"}

// TestInvitesAreTyped: a code is no snowflake, so no pattern gives it away.
func TestInvitesAreTyped(t *testing.T) {
	t.Parallel()
	looks := []string{"templates_recommend", "guild_blueprint_compile", "guild_blueprint_plan"} // at other people's templates, and does nothing there
	for _, tool := range tools(t) {
		if slices.Contains(looks, tool.Name) {
			continue
		}
		for _, route := range tool.Routes {
			for parameter, kinds := range map[string][]discord.Kind{
				"/invites/{code}": {discord.KindInvite}, "/guilds/templates/{code}": {discord.KindTemplate},
				"{webhook_token}": {discord.KindWebhookToken, discord.KindInteraction}, "{interaction_token}": {discord.KindInteraction},
			} {
				if parameter == "/guilds/templates/{code}" && slices.Contains(looksAtTemplates, tool.Name) {
					continue
				}
				if strings.Contains(route, parameter) && !slices.ContainsFunc(tool.IDs(), func(p mcpcore.IDPath) bool { return slices.Contains(kinds, p.Kind) }) {
					t.Errorf("%s uses %s and takes no %s", tool.Name, route, kinds)
				}
			}
		}
	}
}
