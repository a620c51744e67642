package transport_test

import (
	"bufio"
	"io"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// BenchmarkRoundTrip is a tool call over two pipes of the operating system, beside the SDK's own transport.
func BenchmarkRoundTrip(b *testing.B) {
	transports := []struct {
		name string
		make func(io.ReadCloser, io.WriteCloser) mcp.Transport
	}{
		{"transport=stdio", func(in io.ReadCloser, out io.WriteCloser) mcp.Transport {
			return transport.NewStdio(transport.StdioOptions{In: in, Out: out})
		}},
		{"transport=sdk", func(in io.ReadCloser, out io.WriteCloser) mcp.Transport {
			return &mcp.IOTransport{Reader: in, Writer: out}
		}},
	}
	for _, tr := range transports {
		b.Run(tr.name, func(b *testing.B) {
			in, toServer, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			fromServer, out, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- newServer(echo).Run(b.Context(), tr.make(in, out)) }()
			line, answers := []byte(call("1", `{"channel":"123"}`)+"\n"), bufio.NewReader(fromServer)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := toServer.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			toServer.Close()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}
