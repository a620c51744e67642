package boot_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

func TestStateKeyIsBase64OrText(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{0xfb, 0xff, 0x01, 0x7e}, 8)
	text := "correct horse battery staple, twice a day"
	for value, want := range map[string][]byte{
		"": nil, "  ": nil,
		base64.StdEncoding.EncodeToString(secret):                 secret,
		base64.RawStdEncoding.EncodeToString(secret):              secret,
		base64.URLEncoding.EncodeToString(secret):                 secret,
		" " + base64.RawURLEncoding.EncodeToString(secret) + "\n": secret,
		text:                    []byte(text),
		strings.Repeat("k", 32): []byte(strings.Repeat("k", 32)), // base64 of too few bytes
	} {
		got, err := boot.StateKey([]string{"MCP_STATE_KEY=" + value})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is %x (%v), want %x", value, got, err, want)
		}
		if _, err := boot.Read(with("MCP_STATE_KEY="+value), false); err != nil {
			t.Errorf("%q stops the start: %v", value, err)
		}
	}
}

func TestStateKeyThatIsNoneIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	for _, value := range []string{strings.Repeat("k", 31), "hunter2-hunter2", "change-me-change-me-change-me-change-me", "${MCP_STATE_KEY}"} {
		_, err := boot.StateKey([]string{"MCP_STATE_KEY=" + value})
		_, whole := boot.Read(with("MCP_STATE_KEY="+value), false)
		if err == nil || whole == nil {
			t.Errorf("%q is taken", value)
			continue
		}
		for _, e := range []error{err, whole} {
			if !strings.Contains(e.Error(), "MCP_STATE_KEY") || strings.Contains(e.Error(), value) {
				t.Errorf("%q: %v", value, e)
			}
		}
	}
}

func TestAuditFileIsSealedWithTheStateKey(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery staple, twice a day"
	for _, row := range []struct {
		set   string
		key   []byte
		warns bool
	}{{"MCP_STATE_KEY=" + secret, []byte(secret), false}, {"MCP_STATE_KEY=", nil, true}} {
		path, log := filepath.Join(t.TempDir(), "audit.jsonl"), new(strings.Builder)
		c, err := boot.Read(with("MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE="+path, row.set), false)
		if err != nil {
			t.Fatal(err)
		}
		deps, done, err := boot.Deps(c, boot.Options{Stderr: log})
		if err != nil {
			t.Fatal(err)
		}
		if err := deps.Audit.Record(t.Context(), mcpcore.AuditEvent{Phase: mcpcore.Intent, RequestID: "r1", Args: json.RawMessage("{}")}); err != nil {
			t.Error(err)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
		if r, err := audit.Verify(row.key, path); err != nil || !r.Intact() || r.Records != 2 {
			t.Errorf("%v, %+v", err, r)
		}
		if strings.Contains(log.String(), secret) || strings.Contains(log.String(), "MCP_STATE_KEY") != row.warns {
			t.Errorf("logged %s", log)
		}
	}
}

func TestAuditIsRequiredUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for value, stops := range map[string]bool{"": true, "true": true, "false": false} {
		dir, log := t.TempDir(), new(strings.Builder)
		path := filepath.Join(dir, "audit.jsonl")
		c, err := boot.Read(with("MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE="+path, "MCP_AUDIT_REQUIRED="+value), false)
		if err != nil {
			t.Fatal(err)
		}
		deps, done, err := boot.Deps(c, boot.Options{Stderr: log})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path+".head.tmp", 0o700); err != nil { // no head can be written
			t.Fatal(err)
		}
		err = deps.Audit.Record(t.Context(), mcpcore.AuditEvent{Phase: mcpcore.Intent, RequestID: "r1", Args: json.RawMessage("{}")})
		if (err != nil) != stops {
			t.Errorf("MCP_AUDIT_REQUIRED=%s: an intent that cannot be kept gives %v", value, err)
		}
		if strings.Contains(log.String(), "the call goes on") == stops {
			t.Errorf("MCP_AUDIT_REQUIRED=%s: logged %s", value, log)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
	for _, value := range []string{"no", "0", "False"} {
		if _, err := boot.Read(with("MCP_AUDIT_REQUIRED="+value), false); err == nil {
			t.Errorf("MCP_AUDIT_REQUIRED=%s is taken", value)
		}
	}
}
