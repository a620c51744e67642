package blueprint_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// Each rule refuses what breaks it, at the right place. A document beside it that
// keeps the rule passes.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const text = `"channels":[{"key":"c","name":"c","type":"text"%s}]`
	channel := func(more string) string { return fmt.Sprintf(text, more) }
	overwrite := func(more string) string {
		return channel(`,"overwrites":[{"subject":{"kind":"everyone"}` + more + `}]`)
	}
	rule := func(more string) string {
		return `"automod":{"rules":[{"key":"r","name":"R","event_type":1,"actions":[{"type":1}],"enabled":true` + more + `}]}`
	}
	card := func(parts string) string {
		return channel("") + `,"components_v2":{"publications":[{"key":"p","channel_key":"c","components":[` + parts + `]}]}`
	}
	private := func(over string) string {
		return `"categories":[{"key":"x","name":"X","private":true,"overwrites":[{"subject":{"kind":"everyone"},"deny":["VIEW_CHANNEL"]}]}],
			"channels":[{"key":"c","name":"c","type":"text","parent_key":"x"` + over + `}]`
	}
	for name, r := range map[string]struct{ bad, path, good string }{
		"a dangerous role":                       {`"roles":[{"key":"a","name":"A","permissions":["ADMINISTRATOR"]}]`, "roles.0.permissions", `"roles":[{"key":"a","name":"A","permissions":["KICK_MEMBERS"]}]`},
		"bans":                                   {`"roles":[{"key":"a","name":"A","permissions":["BAN_MEMBERS"]}]`, "roles.0.permissions", ""},
		"webhooks":                               {`"roles":[{"key":"a","name":"A","permissions":["MANAGE_WEBHOOKS"]}]`, "roles.0.permissions", ""},
		"pings":                                  {`"roles":[{"key":"a","name":"A","permissions":["MENTION_EVERYONE"]}]`, "roles.0.permissions", ""},
		"an unknown permission":                  {`"roles":[{"key":"a","name":"A","permissions":["FLY"]}]`, "roles.0.permissions.0", ""},
		"a dangerous overwrite":                  {overwrite(`,"allow":["MANAGE_ROLES"]`), "channels.0.overwrites.0.allow", overwrite(`,"deny":["MANAGE_ROLES"]`)},
		"allowed and denied":                     {overwrite(`,"allow":["SPEAK"],"deny":["SPEAK"]`), "channels.0.overwrites.0", overwrite(`,"allow":["SPEAK"],"deny":["STREAM"]`)},
		"guild-wide in a channel":                {overwrite(`,"deny":["KICK_MEMBERS"]`), "channels.0.overwrites.0", ""},
		"everyone moderates":                     {overwrite(`,"allow":["MANAGE_MESSAGES"]`), "channels.0.overwrites.0.allow", channel(`,"overwrites":[{"subject":{"kind":"bot"},"allow":["MANAGE_MESSAGES"]}]`)},
		"a permission without what it needs":     {overwrite(`,"allow":["SPEAK"],"deny":["CONNECT"]`), "channels.0.overwrites.0", ""},
		"a subject twice":                        {channel(`,"overwrites":[{"subject":{"kind":"bot"}},{"subject":{"kind":"bot"}}]`), "channels.0.overwrites.1.subject", ""},
		"an unknown role":                        {channel(`,"overwrites":[{"subject":{"kind":"role","key":"nobody"}}]`), "channels.0.overwrites.0.subject.key", ""},
		"a private category that is open":        {`"categories":[{"key":"x","name":"X","private":true}]`, "categories.0.overwrites", private("")},
		"a channel opened in a private category": {private(`,"overwrites":[{"subject":{"kind":"everyone"},"allow":["VIEW_CHANNEL"]}]`), "channels.0.overwrites", private(`,"overwrites":[]`)},
		"a key twice":                            {`"roles":[{"key":"a","name":"A"},{"key":"a","name":"B"}]`, "roles.1.key", ""},
		"a malformed key":                        {`"roles":[{"key":"A","name":"A"}]`, "roles.0.key", ""},
		"a category's key":                       {`"categories":[{"key":"c","name":"C"}],` + channel(""), "channels.0.key", ""},
		"an unknown category":                    {channel(`,"parent_key":"x"`), "channels.0.parent_key", ""},
		"a name that Discord changes":            {`"channels":[{"key":"c","name":"My Channel","type":"text"}]`, "channels.0.name", `"channels":[{"key":"c","name":"My Channel","type":"voice"}]`},
		"@everyone":                              {`"roles":[{"key":"a","name":"@everyone"}]`, "roles.0.name", ""},
		"a long topic":                           {channel(`,"topic":"` + strings.Repeat("x", 1025) + `"`), "channels.0.topic", channel(`,"topic":"` + strings.Repeat("x", 1024) + `"`)},
		"tags of a text channel":                 {channel(`,"forum_tags":[{"key":"t","name":"T"}]`), "channels.0.forum_tags", `"channels":[{"key":"c","name":"c","type":"forum","forum_tags":[{"key":"t","name":"T"}]}]`},
		"21 tags":                                {`"channels":[{"key":"c","name":"c","type":"forum","forum_tags":[` + times(21, `{"key":"t%d","name":"T%d"}`) + `]}]`, "channels.0.forum_tags", ""},
		"51 in a category":                       {`"categories":[{"key":"x","name":"X"}],"channels":[` + times(51, `{"key":"c%d","name":"c%d","type":"text","parent_key":"x"}`) + `]`, "channels.50.parent_key", ""},
		"501 with the categories":                {`"categories":[{"key":"x","name":"X"}],"channels":[` + times(500, `{"key":"c%d","name":"c%d","type":"text"}`) + `]`, "channels", `"channels":[` + times(500, `{"key":"c%d","name":"c%d","type":"text"}`) + `]`},
		"251 roles":                              {`"roles":[` + times(251, `{"key":"r%d","name":"R%d"}`) + `]`, "roles", ""},
		"a role left out of the order":           {`"roles":[{"key":"a","name":"A"},{"key":"b","name":"B"}],"role_order":["a"]`, "role_order", `"roles":[{"key":"a","name":"A"},{"key":"b","name":"B"}],"role_order":["b","a"]`},
		"six defaults":                           {onboarding(6), "onboarding.default_channel_keys", onboarding(7)},
		"four to write in":                       {strings.ReplaceAll(onboarding(7), `"type":"text"}`, `"type":"text","overwrites":[{"subject":{"kind":"everyone"},"deny":["SEND_MESSAGES"]}]}`), "onboarding.default_channel_keys", ""},
		"a hidden default":                       {strings.Replace(onboarding(8), `"type":"text"}`, `"type":"text","overwrites":[{"subject":{"kind":"everyone"},"deny":["VIEW_CHANNEL"]}]}`, 1), "onboarding.default_channel_keys", ""},
		"rules nobody sees":                      {`"guild":{"community":{"rules_channel_key":"c","public_updates_channel_key":"c"}},` + overwrite(`,"deny":["VIEW_CHANNEL"]`), "guild.community.rules_channel_key", `"guild":{"community":{"rules_channel_key":"c","public_updates_channel_key":"c"}},` + channel("")},
		"no rules channel":                       {`"guild":{"community":{"rules_channel_key":"x","public_updates_channel_key":"c"}},` + channel(""), "guild.community.rules_channel_key", ""},
		"a second rule of a trigger":             {`"automod":{"rules":[` + times(2, `{"key":"r%d","name":"R%d","event_type":1,"trigger_type":3,"actions":[{"type":1}],"enabled":true}`) + `]}`, "automod.rules.1.trigger_type", rule(`,"trigger_type":3`)},
		"words without words":                    {rule(`,"trigger_type":1`), "automod.rules.0.keyword_filter", rule(`,"trigger_type":1,"keyword_filter":["x"]`)},
		"presets without presets":                {rule(`,"trigger_type":4`), "automod.rules.0.presets", rule(`,"trigger_type":4,"presets":[1]`)},
		"mentions without a limit":               {rule(`,"trigger_type":5`), "automod.rules.0.mention_total_limit", rule(`,"trigger_type":5,"mention_total_limit":3`)},
		"profiles of messages":                   {rule(`,"trigger_type":6,"keyword_filter":["x"]`), "automod.rules.0.event_type", ""},
		"a timeout of spam":                      {strings.Replace(rule(`,"trigger_type":3`), `{"type":1}`, `{"type":3,"duration_seconds":5}`, 1), "automod.rules.0.actions.0.type", ""},
		"an alert nowhere":                       {strings.Replace(rule(`,"trigger_type":3`), `{"type":1}`, `{"type":2}`, 1), "automod.rules.0.actions.0.alert_channel_key", ""},
		"a layout that is none":                  {card(`{"type":10}`), "components_v2.publications.0.components.0.content", card(`{"type":10,"content":"x"}`)},
		"a layout without a text":                {card(`{"type":14}`), "components_v2.publications.0.components", ""},
		"a placeholder of nothing":               {card(`{"type":10,"content":"<#{{channel:x}}>"}`), "components_v2.publications.0.components", card(`{"type":10,"content":"<#{{channel:c}}>"}`)},
		"an unknown member":                      {`"rolls":[]`, "rolls", ""},
		"an exists that says more":               {`"roles":[{"key":"a","name":"A","exists":true,"color":1}]`, "roles.0", `"roles":[{"key":"a","name":"A","exists":true}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, issues := blueprint.Parse([]byte(`{"schema_version":"guild_blueprint.v1",` + r.bad + `}`))
			var paths []string
			for _, i := range issues {
				paths = append(paths, i.Path)
			}
			if !slices.Contains(paths, r.path) {
				t.Errorf("issues at %q, want %q", paths, r.path)
			}
			if r.good != "" {
				doc(t, r.good)
			}
		})
	}
	for _, raw := range []string{"", "null", "[]", "{", `{"schema_version":"guild_blueprint.v2"}`, strings.Repeat(" ", blueprint.MaxBytes+1)} {
		if d, issues := blueprint.Parse([]byte(raw)); d != nil || len(issues) == 0 {
			t.Errorf("%.40q is taken for a blueprint", raw)
		}
	}
}

// times is a row of n, each with its number.
func times(n int, form string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(form, "%d", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

// The published schema is one that validators take, and says what the parser
// demands.
func TestSchema(t *testing.T) {
	t.Parallel()
	var s struct {
		Properties map[string]json.RawMessage
		Required   []string
		Closed     *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(blueprint.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Required, []string{"schema_version"}) || s.Closed == nil || *s.Closed || len(s.Properties) < 10 {
		t.Errorf("it demands %q of %d members", s.Required, len(s.Properties))
	}
}

// Equal documents have the same id, however they are written.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	a := doc(t, `"roles":[{"key":"a","name":"A","permissions":["SPEAK","CONNECT"]},{"key":"b","name":"B"}]`)
	b := doc(t, `"role_order":["a","b"],"roles":[{"name":"B","key":"b","color":0,"position":9},{"permissions":["CONNECT","SPEAK"],"key":"a","name":"A"}],"channels":[]`)
	if a.ID() != b.ID() {
		t.Errorf("%s\n%s", a.JSON(), b.JSON())
	}
	if c := doc(t, `"roles":[{"key":"b","name":"B"},{"key":"a","name":"A","permissions":["SPEAK","CONNECT"]}]`); c.ID() == a.ID() {
		t.Error("another order of roles has the same id")
	}
}

// FuzzParse finds no document that makes it panic, or that is another when it is
// read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(short))
	f.Add([]byte(compile("a gaming server with events").JSON()))
	f.Add([]byte(`{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"}],"role_order":["a","a"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, issues := blueprint.Parse(raw)
		if (d == nil) == (issues == nil) {
			t.Fatalf("document %v, issues %v", d, issues)
		}
		if d == nil {
			return
		}
		again, issues := blueprint.Parse(d.JSON())
		if issues != nil || again.ID() != d.ID() {
			t.Fatalf("%s reads as something else: %v", d.JSON(), issues)
		}
	})
}

// Plans, checkpoints and evidence outlive the process, where the store does:
// each applier here is one of a new process, with the same key.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan(doc(t, `"roles":[{"key":"a","name":"A"},{"key":"b","name":"B"},{"key":"c","name":"C"}]`))
	records := s.applier().Records
	ref, err := records.SavePlan(t.Context(), p, "stdio")
	if err != nil {
		t.Fatal(err)
	}
	if o := s.apply(p, 1); o.Status != blueprint.Partial || len(o.Attempts) != 1 {
		t.Fatalf("%s", show(o))
	}
	kept, err := s.applier().Records.Plan(t.Context(), ref, "stdio")
	if err != nil || kept.ID() != p.ID() {
		t.Fatalf("the plan after a restart: %v", err)
	}
	if _, err := s.applier().Records.Plan(t.Context(), ref, "somebody else"); err == nil {
		t.Error("somebody else gets the plan")
	}
	if o := s.apply(kept, 1000); o.Status != blueprint.Complete || len(o.Attempts) != 2 {
		t.Fatalf("%s", show(o))
	}
	v := s.applier().Review(t.Context(), p.ID(), "stdio", blueprint.Target{Guild: s.guild, Bot: sandbox.BotID})
	if v.Status != "verified" || v.Evidence == nil {
		t.Errorf("the evidence after a restart is %s", v.Status)
	}
	if _, err := time.Parse(time.RFC3339, v.Evidence.Recorded); err != nil {
		t.Error(err)
	}
	_, data, err := s.store.Load(t.Context(), "blueprint_evidence", p.ID())
	if err != nil {
		t.Fatal(err)
	}
	version, _, _ := s.store.Load(t.Context(), "blueprint_evidence", p.ID())
	changed := strings.Replace(string(data), `"roles":3`, `"roles":4`, 1)
	if _, err := s.store.Save(t.Context(), "blueprint_evidence", p.ID(), version, []byte(changed), 0); err != nil {
		t.Fatal(err)
	}
	if v := s.applier().Review(t.Context(), p.ID(), "stdio", blueprint.Target{Guild: s.guild, Bot: sandbox.BotID}); changed == string(data) || v.Status != "blocked" {
		t.Errorf("evidence that was changed is %s", v.Status)
	}
}

// A token is one caller's, whole and unchanged.
func TestToken(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		p, sealer := s.plan(doc(t, `"roles":[{"key":"a","name":"A"}]`)), s.sealer()
		token, err := sealer.Token(p, "ada")
		if err != nil {
			s.Fatal(err)
		}
		if got, err := sealer.Open(token, "ada"); err != nil || got.ID() != p.ID() || sealer.Approval(got, "ada") != sealer.Approval(p, "ada") {
			s.Errorf("it opens as another plan: %v", err)
		}
		other, _ := blueprint.NewSealer([]byte(strings.Repeat("o", 32)))
		for name, open := range map[string]func() error{
			"somebody else's": func() error { _, err := sealer.Open(token, "bob"); return err },
			"another key":     func() error { _, err := other.Open(token, "ada"); return err },
			"cut":             func() error { _, err := sealer.Open(token[:len(token)-2], "ada"); return err },
			"changed":         func() error { _, err := sealer.Open(strings.Replace(token, ".", ".0", 1), "ada"); return err },
			"too long":        func() error { _, err := sealer.Open(token+strings.Repeat("A", blueprint.MaxToken), "ada"); return err },
			"nothing":         func() error { _, err := sealer.Open("", "ada"); return err },
		} {
			if open() == nil {
				s.Errorf("%s opens", name)
			}
		}
		if sealer.Approval(p, "ada") == sealer.Approval(p, "bob") {
			s.Error("one approval serves two callers")
		}
	})
}
