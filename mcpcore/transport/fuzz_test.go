package transport_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// FuzzLines feeds any bytes and then a ping: the ping must be answered once, and all output must be JSON-RPC, a message
// a line.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "text", ping, ping + ping, "[" + ping + "]", "\ufeff" + ping, `{"foo":1}`, "\xff", "\r\n\r\n",
		initialize, call("1", `{}`), call("1", `{}`) + "\n" + call("1", `{}`),
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		request("2", "server/discover", ""), `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[[[[]]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		r := start(t.Context(), t, newServer(echo), transport.StdioOptions{MaxLine: 4096})
		if _, err := r.in.Write(input); err != nil {
			t.Fatal(err)
		}
		const last = `{"jsonrpc":"2.0","id":"the last call","method":"ping"}`
		if _, err := io.WriteString(r.in, "\n"+last+"\n"); err != nil {
			t.Fatal(err)
		}
		answered := 0
		for _, line := range r.end() {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  *string         `json:"method"`
				Result  json.RawMessage `json:"result"`
				Error   *struct{}       `json:"error"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
				t.Fatalf("output %q: %v", line, err)
			}
			if m.Method == nil && (len(m.ID) == 0 || (m.Result == nil) == (m.Error == nil)) {
				t.Errorf("output %q is neither request nor response", line)
			}
			if string(m.ID) == `"the last call"` && m.Result != nil {
				answered++
			}
		}
		if answered != 1 {
			t.Errorf("the last call was answered %d times", answered)
		}
	})
}
