// Package transport carries the protocol between an MCP client and a server built on
// github.com/modelcontextprotocol/go-sdk.
//
// # Stdio
//
// A host starts a server as a child process and talks to it through two pipes, one JSON-RPC message a line. [Stdio]
// is that transport for hosts as they are: some write a byte order mark, a log line or a batch, some send a line that
// is far too long. Each such line gets a JSON-RPC error that says what is wrong and what to send instead, and the
// session goes on. Nothing but protocol is written, and only whole lines.
//
// When the host closes stdin, or the process is told to stop, the calls that are running are answered first:
//
//	func main() {
//		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//		defer stop()
//		server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "v1.0.0"}, nil)
//		mcp.AddTool(server, &mcp.Tool{Name: "greet"}, greet)
//		if err := transport.Serve(ctx, server, transport.NewStdio(transport.StdioOptions{})); err != nil {
//			log.Fatal(err) // log writes to stderr: stdout carries the protocol
//		}
//	}
//
// # What is answered
//
//   - The line is not JSON (text, a byte order mark, invalid UTF-8, two messages on one line): -32700, id null.
//   - It is JSON but no request (a batch, a wrong version, an id that is no string or safe integer, nesting beyond
//     1000, a line over the limit): -32600. The answer carries the id of the request if that could be read and no
//     running call has it, else null.
//   - The id of a running call is used again: -32600, id null, because the id would end the wrong call at the client.
//   - The server is stopping: -32004.
//
// Blank lines, CRLF and a last line without its newline are fine. A message without an id that is no valid
// request object is answered, as JSON-RPC asks; a valid notification never is. A response is never answered either,
// however malformed: two peers that answer each other's errors would never stop. If its id can be read, the server's
// own call with that id ends with an error; else it is logged and dropped.
//
// # How it ends
//
// The SDK cancels every running call as soon as its connection reports the end of the input, and drops the answers.
// So [Stdio] counts the calls that came in and the answers that went out, and reports the end only when none is
// missing or [StdioOptions.Grace] has passed. Meanwhile new calls are refused, subscriptions are ended with their
// answer, and questions to a client that has left fail at once. [Serve] adds the same order for a cancelled context.
//
// # HTTP
//
// A [Handler] serves the protocol at one address to clients of both eras, with sessions or without, and is mounted
// wherever the embedder likes:
//
//	h, err := transport.NewHandler(transport.HandlerOptions{Server: server, Token: token})
//	…
//	mux.Handle("/mcp", h)
//
// [Handler.Serve] is a whole HTTP server around it, which stops as stdio does: running calls are answered first.
package transport
