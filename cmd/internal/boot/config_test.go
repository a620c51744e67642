package boot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
)

// token has the shape of a bot's token and is none.
var token = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.G-fake." + strings.Repeat("not_a_Secret-", 3)

// ana is an approver whose token nobody has.
const ana = "ana=sha256:0000000000000000000000000000000000000000000000000000000000000000"

// with is an environment with a token and more.
func with(vars ...string) []string { return append([]string{"DISCORD_TOKEN=" + token}, vars...) }

func TestTokenIsTakenAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"bare":                  token,
		"spaces around it":      "  " + token + " ",
		"CRLF after it":         token + "\r\n",
		"prefix":                "Bot " + token,
		"prefix in other case":  "bot " + token,
		"prefix and two spaces": " Bot  " + token + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := boot.Read([]string{"DISCORD_TOKEN=" + value}, false)
			if err != nil {
				t.Fatal(err)
			}
			if c.Token != token {
				t.Errorf("the token is not the bare one: %d instead of %d letters", len(c.Token), len(token))
			}
		})
	}
}

func TestWhatIsNoTokenIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ value, says string }{
		"missing":                {"", "DISCORD_TOKEN is not set"},
		"blank":                  {" \t ", "DISCORD_TOKEN is not set"},
		"only the prefix":        {"Bot ", "does not look like a bot token"},
		"two prefixes":           {"Bot Bot " + token, "does not look like a bot token"},
		"double quotes":          {`"` + token + `"`, "quotes"},
		"single quotes":          {"'" + token + "'", "quotes"},
		"quotes after prefix":    {`Bot "` + token + `"`, "quotes"},
		"shell placeholder":      {"${DISCORD_TOKEN}", "placeholder"},
		"shell variable":         {"$DISCORD_TOKEN", "placeholder"},
		"host placeholder":       {"{env:DISCORD_TOKEN}", "placeholder"},
		"template":               {"{{secrets.token}}", "placeholder"},
		"windows placeholder":    {"%DISCORD_TOKEN%", "placeholder"},
		"angle brackets":         {"<bot secret goes in>", "placeholder"},
		"words":                  {"your-token-here", "placeholder"},
		"upper case words":       {"YOUR_DISCORD_BOT_TOKEN", "placeholder"},
		"crosses":                {strings.Repeat("x", 60), "placeholder"},
		"application id":         {"1200000000000000001", "is an id, not a token"},
		"public key":             {strings.Repeat("0123456789abcdef", 4), "public key"},
		"webhook address":        {"https://discord.com/api/webhooks/750000000000000001/whk-FAKE-token", "is an address, not a token"},
		"user's token":           {"Bearer " + token, "is a user's token"},
		"user's token, old form": {"mfa." + token, "is a user's token"},
		"cut off":                {token[:20], "at least 50"},
		"line break inside":      {token[:30] + "\n" + token[30:], "does not look like a bot token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := boot.Read([]string{"DISCORD_TOKEN=" + row.value}, false)
			if err == nil {
				t.Fatal("it was taken for a token")
			}
			if !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %q, want something about %q", err, row.says)
			}
			hides(t, err.Error(), row.value)
			if c.Token != "" {
				t.Error("a value that is no token was kept as one")
			}
		})
	}
}

// hides fails when the text shows the value, or a part of it that would help
// somebody.
func hides(t *testing.T, text, value string) {
	t.Helper()
	value = strings.Trim(value, " \t\"'")
	for _, part := range []string{value, token[:16], token[len(token)-16:], "whk-FAKE-token"} {
		if part != "" && part != "Bot" && strings.Contains(text, part) {
			t.Errorf("the message shows the value: %s", text)
		}
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, content := range map[string]string{
		"final newline":   token + "\n",
		"CRLF":            token + "\r\n",
		"byte order mark": "\ufeff" + token + "\r\n",
		"prefix":          "Bot " + token + "\n",
	} {
		c, err := boot.Read([]string{"DISCORD_TOKEN_FILE=" + file(name, content)}, false)
		if err != nil || c.Token != token {
			t.Errorf("%s: not the bare token (error: %v)", name, err)
		}
	}
	for name, row := range map[string]struct {
		vars []string
		says string
	}{
		"both are set":         {with("DISCORD_TOKEN_FILE=" + file("both", token)), "both set"},
		"no such file":         {[]string{"DISCORD_TOKEN_FILE=" + filepath.Join(dir, "missing")}, "no such file"},
		"empty":                {[]string{"DISCORD_TOKEN_FILE=" + file("empty", "\n")}, "empty file"},
		"a folder":             {[]string{"DISCORD_TOKEN_FILE=" + dir}, "path of a file"},
		"placeholder inside":   {[]string{"DISCORD_TOKEN_FILE=" + file("placeholder", "changeme\n")}, "DISCORD_TOKEN_FILE still holds a placeholder"},
		"the token as a path":  {[]string{"DISCORD_TOKEN_FILE=" + token}, "path of a file that holds the token"},
		"a path as the token":  {[]string{"DISCORD_TOKEN=" + file("path", token)}, "does not look like a bot token"},
		"blank and a bad file": {[]string{"DISCORD_TOKEN= ", "DISCORD_TOKEN_FILE=" + filepath.Join(dir, "missing")}, "no such file"},
	} {
		_, err := boot.Read(row.vars, false)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want something about %q", name, err, row.says)
			continue
		}
		hides(t, err.Error(), token)
	}
}

func TestSandboxNeedsNoTokenAndKeepsNone(t *testing.T) {
	t.Parallel()
	for _, vars := range [][]string{nil, with(), {"DISCORD_TOKEN=${DISCORD_TOKEN}"}, with("DISCORD_TOKEN_FILE=/nowhere")} {
		c, err := boot.Read(vars, true)
		if err != nil {
			t.Errorf("it does not start: %v", err)
		}
		if c.Token != "" || c.TokenFile != "" {
			t.Error("the sandbox kept a token")
		}
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, err := boot.Read([]string{
		"DISCORD_TOKEN=changeme", "DISCORD_DEFAULT_GUILD_ID=7", "MCP_WRITE_MODE=Preview", "MCP_AUDIT_SINK=disk", "LOG_LEVEL=loud",
		"MCP_CATEGORIES=mesages", "ALLOWED_GUILDS=my guild", "DISCORD_API_BASE=https://example.org", "MCP_DRYRUN=false",
	}, false)
	if err == nil {
		t.Fatal("it starts")
	}
	for _, name := range []string{
		"DISCORD_TOKEN", "DISCORD_DEFAULT_GUILD_ID", "MCP_WRITE_MODE", "MCP_AUDIT_SINK", "LOG_LEVEL", "MCP_CATEGORIES",
		"ALLOWED_GUILDS", "DISCORD_API_BASE", "MCP_DRYRUN",
	} {
		if !strings.Contains(err.Error(), name+" ") && !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s is not among the problems:\n%v", name, err)
		}
	}
}

func TestPolicyStartsOnKnownValuesOnly(t *testing.T) {
	t.Parallel()
	const guild = "1200000000000000001"
	for _, row := range []struct {
		name     string
		starts   []string
		problems []string
	}{
		{"MCP_WRITE_MODE", []string{"", "allow", "preview"}, []string{"PREVIEW", "preview ", "deny", "true"}},
		{"MCP_AUDIT_SINK", []string{"", "stderr", "file", "none"}, []string{"otlp", "stdout", "File"}},
		{"LOG_LEVEL", []string{"", "fatal", "error", "warn", "info", "debug", "trace"}, []string{"warning", "INFO"}},
		{"DISCORD_DEFAULT_GUILD_ID", []string{"", guild}, []string{"0", guild + "000", "my guild", "-" + guild}},
		{"MCP_CATEGORIES", []string{"", " ", "messages", " messages , meta ", "meta"}, []string{"mesages", "Messages", "messages,nope", ",", "all"}},
		{"ALLOWED_GUILDS", []string{"", " ", guild, " " + guild + " , 1200000000000000002,"}, []string{",", "my guild", guild + ",7", "*", "all"}},
		{"DISCORD_EXPECTED_BOT_ID", []string{"", guild}, []string{"7", "my bot", " " + guild}},
		{"MCP_ALLOW_USER_SCOPED", []string{"", "0", "no", "false"}, []string{"1", "true", "yes"}}, // without the bot's id
		{"MCP_ACCESS_MODE", []string{"", "advisory", "warn", "enforce"}, []string{"nonsense", "Enforce", "enforced"}},
		{"MCP_DM_CONSENT_MODE", []string{"", "advisory", "require"}, []string{"required", "Require", "true"}},
		{"MCP_HUMAN_APPROVAL", []string{"", "off", "gated", "writes"}, []string{"on", "Gated", "true", "all"}},
		{"MCP_APPROVAL_CHANNEL", []string{"", "auto", "elicitation"}, []string{"Console", "discord", "none", "console"}}, // the last for want of approvers
		{"MCP_APPROVAL_WAIT", []string{"", "0s", "30s", "1m30s"}, []string{"30", "-1s", "91s", "soon"}},
		{"MCP_APPROVERS", []string{"", " ", ana}, []string{"ana:0123", "ana", ",", "Ana" + ana[3:], ana + "0", ana + "," + ana}},
		{"MCP_REQUIRE_PREVIEW", []string{"", "false", "true"}, []string{"1", "True", "yes"}},
		{"MCP_TOOLSETS", []string{"", " ", "read-only", "default", "role-deletion", " category:messages , read-only,"}, []string{",", "messages", "read-onli", "all", "Default", "category:mesages"}},
		{"MCP_TOOL_SURFACE", []string{"", "full", "progressive"}, []string{"Progressive", "lazy", "all"}},
		{"MCP_WRITE_STYLE", []string{"", "direct", "reviewed"}, []string{"Reviewed", "review", "plan"}},
		{"MCP_LEDGER", []string{"", "memory"}, []string{
			"sqlite:approvals.db", "postgres://ledger/x", // without a key
			"Memory", "memory:", "sqlite", "sqlite:", "sqlite::memory:", "sqlite://approvals.db", "approvals.db", "postgres:", "postgres://", "postgres://ana:a/b@ledger/x",
			"mysql://ledger/x", "host=ledger password=x",
		}},
		{"MCP_STATE_KEY", []string{"", strings.Repeat("k", 32)}, []string{strings.Repeat("k", 31)}},
		{"MCP_AUDIT_REQUIRED", []string{"", "true", "false"}, []string{"no", "False"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, v := range row.starts {
				if _, err := boot.Read(with(row.name+"="+v), false); err != nil {
					t.Errorf("%q does not start: %v", v, err)
				}
			}
			for _, v := range row.problems {
				_, err := boot.Read(with(row.name+"="+v), false)
				if err == nil {
					t.Errorf("%q starts", v)
				} else if !strings.HasPrefix(err.Error(), row.name) {
					t.Errorf("%q: the problem is not under the variable's name: %v", v, err)
				}
			}
		})
	}
}

func TestUnknownCategoryListsTheRealOnes(t *testing.T) {
	t.Parallel()
	_, err := boot.Read(with("MCP_CATEGORIES=messages,mesages"), false)
	if err == nil {
		t.Fatal("it starts")
	}
	for _, want := range []string{`"mesages"`, "there are:", "messages", "meta"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %s", err, want)
		}
	}
	if strings.Contains(err.Error(), `"messages"`) {
		t.Errorf("%v: complains about a category that exists", err)
	}
}

func TestUnknownToolsetNamesTheNearest(t *testing.T) {
	t.Parallel()
	_, err := boot.Read(with("MCP_TOOLSETS=messages,read-only,categry:roles"), false)
	if err == nil {
		t.Fatal("it starts")
	}
	for _, want := range []string{`"messages" (did you mean category:messages?)`, `(did you mean category:roles?)`, "discord-mcp tools --toolsets"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "read-only") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("%v", err)
	}
}

func TestTokenFollowsTheBaseToTrustedHostsOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		base, hosts string
		passes      bool
	}{
		{"http://127.0.0.1:8080", "", true},
		{"http://localhost:8080/api/v10", "", true},
		{"http://[::1]:8080", "", true},
		{"https://discord.com/api/v10", "", true},
		{"http://proxy.internal:8080", "proxy.internal", true},
		{"http://proxy.internal:8080", "other, proxy.internal:8080", true},
		{"https://example.org", "", false},
		{"http://discord.com/api/v10", "", false}, // in the clear
		{"https://discord.com.example.org", "", false},
		{"https://discord.com@example.org", "", false},
		{"https://localhost.example.org", "", false},
		{"http://127.0.0.1.example.org", "", false},
		{"http://10.0.0.1", "", false},
		{"http://0.0.0.0", "", false},
		{"https://example.org", "proxy.internal", false},
		{"https://example.org", ",", false},
		{"http://user:secret@127.0.0.1", "", false},
		{"http://127.0.0.1/?to=elsewhere", "", false},
		{"127.0.0.1:8080", "", false},
		{"ftp://127.0.0.1", "", false},
	} {
		_, err := boot.Read(with("DISCORD_API_BASE="+row.base, "DISCORD_API_BASE_HOSTS="+row.hosts), false)
		switch {
		case row.passes && err != nil:
			t.Errorf("%s (trusted: %q) is refused: %v", row.base, row.hosts, err)
		case !row.passes && err == nil:
			t.Errorf("%s (trusted: %q) passes", row.base, row.hosts)
		case err != nil && !strings.HasPrefix(err.Error(), "DISCORD_API_BASE "):
			t.Errorf("%s: %v", row.base, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ set, says string }{
		{"MCP_DRYRUN=false", "did you mean MCP_DRY_RUN?"},
		{"MCP_DRY_RUNS=false", "did you mean MCP_DRY_RUN?"},
		{"DRY_RUN=false", "did you mean MCP_DRY_RUN?"},
		{"ALLOWED_GUILD=1200000000000000001", "did you mean ALLOWED_GUILDS?"},
		{"MCP_ALLOWED_GUILDS=1200000000000000001", "did you mean ALLOWED_GUILDS?"},
		{"MCP_CATEGORY=messages", "did you mean MCP_CATEGORIES?"},
		{"MCP_CATEGORIE=messages", "did you mean MCP_CATEGORIES?"},
		{"DISCRD_TOKEN=" + token, "did you mean DISCORD_TOKEN?"},
		{"mcp_dry_run=false", "did you mean MCP_DRY_RUN?"},
		{"MCP_AUDIT_FINK=file", "did you mean MCP_AUDIT_SINK?"}, // MCP_AUDIT_FILE is near as well
		{"MCP_RETRY_MAX_DELAY=9", ""},                           // three letters
		{"ALLOWED_GUILDES=1200000000000000001", "did you mean ALLOWED_GUILDS?"},
		{"LOGLEVEL=debug", "did you mean LOG_LEVEL?"},
		{"LOG_LVL=debug", "did you mean LOG_LEVEL?"},
		{"LOG_FILE=/tmp/log", ""},
		{"LOGNAME=ana", ""},
		{"OTEL_ENABLE=true", "did you mean OTEL_ENABLED?"},
		{"OTEL_TRACE_SAMPLER=always_on", "did you mean OTEL_TRACES_SAMPLER?"},
		{"OTEL_EXPORTER_OTLP_HEADER=a=b", "did you mean OTEL_EXPORTER_OTLP_HEADERS?"},
		{"OTEL_METRIC_EXPORT_TIMEOUT=9", ""}, // the SDK's own
		{"OTEL_TRACES_EXPORTER=otlp", ""},
		{"DISCORD_BOT_TOKEN=" + token, "did you mean DISCORD_TOKEN?"},
		{"DISCORD_API_BASE_URL=http://127.0.0.1", "did you mean DISCORD_API_BASE?"},
		{"MCP_DRY_RUN=False", `not exactly "false"`},
		{"MCP_DRY_RUN=false ", `not exactly "false"`},
		{"MCP_DRY_RUN=0", `not exactly "false"`},
		{"MCP_DRY_RUN=false", ""},
		{"MCP_DRY_RUN=true", ""},
		{"MCP_DRY_RUN=", ""},
		{"GATEWAY=1", "no effect in this version"},
		{"MCP_APPROVAL_STATE_DIR=/var/lib/x", "did you mean MCP_LEDGER?"},
		{"MCP_APPROVAL_HMAC_KEY=" + token, "did you mean MCP_STATE_KEY?"},
		{"MCP_APPROVER=" + ana, "did you mean MCP_APPROVERS?"},
		{"MCP_APPROVERS=" + ana, "MCP_HUMAN_APPROVAL is off"},
		{"MCP_SOMETHING_ELSE=1", ""},
		{"DISCORD_COLOR=teal", ""},
		{"PATH=/usr/bin", ""},
	} {
		c, err := boot.Read(with(row.set), false)
		if err != nil {
			t.Errorf("%s stops the start: %v", row.set, err)
		}
		name, _, _ := strings.Cut(row.set, "=")
		about := func(w string) bool { return strings.HasPrefix(w, name) && strings.Contains(w, row.says) }
		switch {
		case row.says == "" && len(c.Warnings) > 0:
			t.Errorf("%s warns without a reason: %q", row.set, c.Warnings)
		case row.says != "" && !slices.ContainsFunc(c.Warnings, about):
			t.Errorf("%s: got %q, want a warning with %q", row.set, c.Warnings, row.says)
		}
		for _, w := range c.Warnings {
			hides(t, w, token)
		}
	}
}

// TestOnlyTheTextFalseArms goes on to the parts of a server, where the decision
// is made.
func TestOnlyTheTextFalseArms(t *testing.T) {
	t.Parallel()
	for value, armed := range map[string]bool{"false": true, "": false, "False": false, "false ": false, "0": false, "no": false, "true": false} {
		c, err := boot.Read(with("MCP_DRY_RUN="+value), false)
		if err != nil {
			t.Fatal(err)
		}
		deps, done, err := boot.Deps(c, boot.Options{Stderr: new(strings.Builder)})
		if err != nil {
			t.Fatal(err)
		}
		if deps.Config.Armed != armed {
			t.Errorf("MCP_DRY_RUN=%q: armed is %t", value, deps.Config.Armed)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
}

func TestAuditSinks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, row := range []struct {
		vars  []string
		kept  bool
		fails string
	}{
		{nil, true, ""},
		{[]string{"MCP_AUDIT_ENABLED=false"}, false, ""},
		{[]string{"MCP_AUDIT_ENABLED=no"}, true, ""}, // only the text false switches it off
		{[]string{"MCP_AUDIT_SINK=none"}, false, ""},
		{[]string{"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + path}, true, ""},
		{[]string{"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + filepath.Dir(path)}, false, "MCP_AUDIT_FILE"},
		{[]string{"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + filepath.Join(path, "below", "a", "file")}, false, "MCP_AUDIT_FILE"},
	} {
		c, err := boot.Read(with(row.vars...), false)
		if err != nil {
			t.Fatal(err)
		}
		deps, done, err := boot.Deps(c, boot.Options{Stderr: new(strings.Builder)})
		switch {
		case row.fails != "":
			if err == nil || !strings.Contains(err.Error(), row.fails) {
				t.Errorf("%v: got %v, want an error about %s", row.vars, err, row.fails)
			}
		case err != nil:
			t.Errorf("%v: %v", row.vars, err)
		case (deps.Audit != nil) != row.kept:
			t.Errorf("%v: audits are kept: %t", row.vars, deps.Audit != nil)
		}
		if err := done(); err != nil {
			t.Errorf("%v: close: %v", row.vars, err)
		}
	}
}
