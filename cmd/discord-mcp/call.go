package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func callCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Call one tool through the whole chain",
		Long: `Calls one tool through the whole chain and prints its result as JSON on stdout.
JSON is the arguments; "-" reads them from stdin. The exit status is 0 when the
tool succeeded, 1 when it was refused or failed, 2 when it could not be called.`,
		Example: `  discord-mcp call messages_read '{"channel_id":"1200000000000000313"}' --sandbox`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("call takes the name of a tool and its arguments as one quoted JSON object")
			}
			return nil
		},
	}
	inSandbox := cmd.Flags().Bool("sandbox", false, "call on a furnished Discord in this process")
	policy := policyFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arguments := json.RawMessage("{}")
		if len(args) == 2 {
			arguments = json.RawMessage(args[1])
		}
		if string(arguments) == "-" {
			b, err := io.ReadAll(os.Stdin)
			if err != nil {
				return fmt.Errorf("read arguments: %w", err)
			}
			arguments = b
		}
		if !json.Valid(arguments) {
			fmt.Fprintln(os.Stderr, `the arguments are not valid JSON; give one object, such as '{"channel_id":"1200000000000000313"}'`)
			return exitStatus(2)
		}
		s, err := build(*inSandbox, *policy, nil)
		if err != nil {
			fmt.Fprintf(os.Stderr, "discord-mcp cannot start:\n%v\n", err)
			return exitStatus(2)
		}
		res, err := callOnce(cmd.Context(), s.mcp, args[0], arguments)
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeInvalidParams {
			err = fmt.Errorf("%s; to see all there are, run: discord-mcp tools", e.Message)
		}
		if err = errors.Join(err, s.close()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitStatus(2)
		}
		if err := printJSON(os.Stdout, res.StructuredContent); err != nil {
			return err
		}
		if res.IsError {
			for _, c := range res.Content {
				if text, ok := c.(*mcp.TextContent); ok {
					fmt.Fprintln(os.Stderr, text.Text)
				}
			}
			return exitStatus(1)
		}
		return nil
	}
	return cmd
}

// callOnce calls a tool through a client of the server's own.
func callOnce(ctx context.Context, server *mcp.Server, tool string, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	session, err := client(ctx, server, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
}

// client connects to the server in this process.
func client(ctx context.Context, server *mcp.Server, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		return nil, err
	}
	return mcp.NewClient(&mcp.Implementation{Name: "discord-mcp", Version: "1"}, o).Connect(ctx, ours, nil)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
