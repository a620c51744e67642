package transport_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// A log line that strayed into the input is answered, and the call after it works.
func ExampleServe() {
	input := `Server ready.
{"jsonrpc":"2.0","id":1,"method":"ping"}
`
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "v1.0.0"}, nil)
	err := transport.Serve(context.Background(), server, transport.NewStdio(transport.StdioOptions{
		In:  io.NopCloser(strings.NewReader(input)), // nil is stdin
		Out: standardOutput{},                       // nil is stdout
	}))
	fmt.Println("ended:", err)
	// Output:
	// {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not valid JSON (at byte 1): send one complete JSON-RPC message a line"}}
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// ended: <nil>
}

// standardOutput writes to what os.Stdout is at the time, which an example's runner replaces.
type standardOutput struct{}

func (standardOutput) Write(p []byte) (int, error) { return os.Stdout.Write(p) }

func (standardOutput) Close() error { return nil }
