package discordtools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

const templateList = `{"schema_version":1,"version":"2031-05-01","records":[
	{"code":"crew-7","name":"Crew","description":"A gaming community with events","usage_count":70,"tags":["gaming"]},
	{"code":"gone-1","name":"Gone gaming","availability":"deleted"},
	{"code":"knitting","name":"Knitting","description":"Wool","usage_count":5,"tags":["craft"]}]}`

type recommended struct {
	Status  string `json:"status"`
	Version string `json:"catalog_version"`
	Primary *struct {
		Code    string          `json:"code"`
		Score   float64         `json:"score"`
		Quality json.RawMessage `json:"quality"`
	} `json:"primary"`
	Verification struct {
		Records  int  `json:"catalog_records"`
		Requests int  `json:"rest_requests"`
		Kept     int  `json:"cache_hits"`
		Failed   int  `json:"rest_failed"`
		Selected bool `json:"preferred_primary_selected"`
	} `json:"verification"`
	Rejected []struct {
		Code    string   `json:"code"`
		Reasons []string `json:"reasons"`
	} `json:"rejected_candidates"`
}

// The catalogue is ranked, the best is looked at, what does not pass is told, and
// texts of templates are fenced.
func TestTemplatesRecommend(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.Catalogue = []byte(templateList) })
	b.world.AddTemplate(sandbox.DemoGuild, sandbox.Template{Code: "crew-7", Name: "Crew", Description: "all aboard", Uses: 3})
	ask := func(args string) (r recommended, a answer) {
		t.Helper()
		a = b.call("templates_recommend", args)
		if a.code != "" {
			t.Fatalf("%s: %s", args, a.data)
		}
		if err := json.Unmarshal(a.data, &r); err != nil {
			t.Fatal(err)
		}
		return r, a
	}
	b.world.ResetRequests()
	r, a := ask(`{"request":"a gaming server with events","preferred_primary_code":"no-such","template_codes":["nor-this"]}`)
	covered.note("templates_recommend", true)
	if r.Version != "2031-05-01" || r.Verification.Records != 2 || r.Verification.Requests != 3 {
		t.Errorf("looked at %+v", r.Verification)
	}
	if len(r.Rejected) < 2 || r.Rejected[0].Code != "no-such" || r.Rejected[0].Reasons[0] != "there is no such template" {
		t.Errorf("rejected %+v", r.Rejected)
	}
	for _, line := range b.sent() {
		if !strings.HasPrefix(line, "GET /guilds/templates/") {
			t.Errorf("Discord saw %s", line)
		}
	}
	if !strings.Contains(string(a.data), "untrusted_discord_template") {
		t.Error("texts of templates are not fenced")
	}
	if r.Status != "ready" || r.Primary == nil || r.Primary.Code != "crew-7" || r.Primary.Score <= 0 {
		t.Errorf("recommended %s", a.data)
	}
	if r, _ := ask(`{"request":"wool and nothing else","preferred_primary_code":"crew-7"}`); !r.Verification.Selected {
		t.Errorf("the preferred one was not taken: %+v", r)
	}
	if again, _ := ask(`{"request":"a gaming server with events"}`); again.Verification.Requests > 0 && again.Verification.Kept == 0 {
		t.Errorf("nothing was remembered: %+v", again.Verification)
	}
	empty := start(t)
	if a := empty.call("templates_recommend", `{"request":"a gaming server"}`); !strings.Contains(string(a.data), `"status":"no_match"`) {
		t.Errorf("without a catalogue it answers %s", a.data)
	}
	// A failure of Discord's says nothing about a template.
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/templates/{template_code}", Status: 500, Times: 20})
	if r, _ := ask(`{"request":"a gaming server","template_codes":["not-yet-seen"]}`); r.Verification.Failed == 0 && r.Status == "ready" {
		t.Errorf("with Discord failing: %+v", r)
	}
}

// A catalogue that is not one stops the start.
func TestCatalogueIsChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"schema_version":2,"version":"x","records":[]}`:                                  "schema_version 2",
		`{"schema_version":1,"records":[]}`:                                                "needs a version",
		`{"schema_version":1,"version":"x","records":[{"code":"a b"}]}`:                    "records.0.code",
		`{"schema_version":1,"version":"x","records":[{"code":"a"},{"code":"a"}]}`:         "stands there twice",
		`{"schema_version":1,"version":"x","records":[{"code":"a","more":1}]}`:             "more",
		`{"schema_version":1,"version":"x","records":[{"code":"a","availability":"odd"}]}`: "availability",
		`{`: "read the template catalogue",
	} {
		_, err := discordtools.BuildServer(discordtools.Deps{REST: &sinkREST{}, Config: discordtools.Config{Catalogue: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
