package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/mcpcore/console"
)

func approverCommand() *cobra.Command {
	cmd := group("approver", "Make those who may approve")
	cmd.AddCommand(&cobra.Command{
		Use:   "new NAME",
		Short: "Make a token for a person, and the setting that knows it",
		Long: `Makes a token with which a person decides what agents asked for, and prints it
this once, with the item for MCP_APPROVERS that knows it: the hash of the public
key with which decisions of that person are checked. The token is kept nowhere:
give it to the person alone, and to no agent. The item is no secret. It reads no
settings.

The exit status is 0, or 2 when the name is not one.`,
		Example: `  discord-mcp approver new ana`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("approver new takes the approver's name")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			token, setting, err := console.NewApprover(args[0])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return exitStatus(2)
			}
			_, err = fmt.Printf(`The token of %s, shown this once. Keep it where no agent reads it, such as a
password manager:

  %s

Add this to MCP_APPROVERS, with a comma between two approvers, and start the
server again:

  %s
`, args[0], token, setting)
			return err
		},
	})
	return cmd
}
