package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	stateSecret = "correct horse battery staple, twice a day"
	stateKey    = "MCP_STATE_KEY=" + stateSecret
)

// audited is the audit file of a server that was sent one message.
func audited(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	e := run(t, []string{stateKey, "MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + path}, "",
		"call", "messages_send", `{"channel_id":"`+general+`","content":"hello"}`, "--sandbox")
	if e.status != 0 || strings.Contains(e.stdout+e.stderr, stateSecret) {
		t.Fatalf("%+v", e)
	}
	return path
}

func TestAuditVerify(t *testing.T) {
	t.Parallel()
	path := audited(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(whole, []byte(stateSecret)) {
		t.Fatal("the file holds the key")
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, row := range map[string]struct {
		content []byte
		env     []string
		args    []string // after the path
		status  int
		says    []string
	}{
		"intact":            {whole, []string{stateKey}, nil, 0, []string{"intact: 3 records", "Last good record: 3 ", "outcome of request"}},
		"changed":           {bytes.Replace(whole, []byte("messages_send"), []byte("messages_read"), 1), []string{stateKey}, nil, 1, []string{"BROKEN", ":2: this line is no record", "Last good record: 1 "}},
		"a line removed":    {bytes.Join([][]byte{lines[0], lines[2]}, nil), []string{stateKey}, nil, 1, []string{"record 2 is missing"}},
		"lines swapped":     {bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil), []string{stateKey}, nil, 1, []string{"record 2 stands behind record 3"}},
		"the last removed":  {bytes.Join(lines[:2], nil), []string{stateKey}, nil, 1, []string{"record 3 is missing at the end"}},
		"cut inside a line": {whole[:len(whole)-9], []string{stateKey}, nil, 1, []string{"in the middle of record 3"}},
		"another key":       {whole, []string{stateKey + "!"}, nil, 1, []string{"was written with the key"}},
		"no key":            {whole, nil, nil, 2, []string{"MCP_STATE_KEY"}},
		"a short key":       {whole, []string{"MCP_STATE_KEY=short"}, nil, 2, []string{"at least 32 bytes"}},
		"no token needed":   {whole, []string{"DISCORD_TOKEN", stateKey}, nil, 0, []string{"intact"}},
		"a missing file":    {whole, []string{stateKey}, []string{"and-this"}, 2, []string{"and-this"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := copied(t, path, row.content)
			e := run(t, row.env, "", append([]string{"audit", "verify", path}, row.args...)...)
			if e.status != row.status {
				t.Errorf("exit status %d, want %d", e.status, row.status)
			}
			text := e.stdout
			if row.status == 2 {
				text = e.stderr
			}
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q: %+v", want, e)
				}
			}
			if strings.Contains(e.stdout+e.stderr, stateSecret) {
				t.Errorf("it shows the key: %+v", e)
			}
		})
	}
}

// copied is the audit file with another content, beside the same head.
func copied(t *testing.T, from string, content []byte) string {
	t.Helper()
	head, err := os.ReadFile(from + ".head")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for name, b := range map[string][]byte{path: content, path + ".head": head} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAuditVerifyAsJSON(t *testing.T) {
	t.Parallel()
	path := audited(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for content, intact := range map[string]bool{string(b): true, strings.Replace(string(b), "hello", "hullo", 1) + "{}\n": false} {
		e := run(t, []string{stateKey}, "", "audit", "verify", "--json", copied(t, path, []byte(content)))
		var got struct {
			Intact   bool
			Keyed    bool
			Records  int
			LastGood *struct {
				Number    int
				RequestID string `json:"request_id"`
			} `json:"last_good"`
			Problems []struct {
				Fault string
				Line  int
			}
		}
		if err := json.Unmarshal([]byte(e.stdout), &got); err != nil {
			t.Fatalf("%v: %+v", err, e)
		}
		if got.Intact != intact || !got.Keyed || (e.status == 0) != intact || (len(got.Problems) == 0) != intact {
			t.Errorf("%+v of %+v", got, e)
		}
		if got.LastGood == nil || intact && (got.LastGood.Number != 3 || got.LastGood.RequestID == "") {
			t.Errorf("the last good record is %+v", got.LastGood)
		}
	}
}

func TestAuditVerifyTakesFiles(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"audit", "verify"}, {"audit"}, {"audit", "verfy"}} {
		if e := run(t, nil, "", args...); e.status != 2 {
			t.Errorf("%v: %+v", args, e)
		}
	}
}
