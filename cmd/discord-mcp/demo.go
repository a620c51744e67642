package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what it does, on a Discord in this process; needs no token and ends by itself",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{out: os.Stdout, color: boot.IsTerminal(os.Stdout), world: sandbox.Demo(), ledger: ledger.NewMemory(nil)}
			return d.run(cmd.Context())
		},
	}
}

// demo is a guided run: real calls of a real client on the sandbox.
type demo struct {
	out    io.Writer
	color  bool
	world  *sandbox.Discord
	ledger mcpcore.Ledger
	audit  auditLog
	step   int
}

func (d *demo) run(ctx context.Context) error {
	d.print("Guildwarden %s on a furnished Discord in this process: no token, no network.", boot.Version())

	careful, err := d.connect(ctx, discordtools.Config{})
	if err != nil {
		return err
	}
	defer careful.Close()
	list, err := careful.ListTools(ctx, &mcp.ListToolsParams{})
	if err != nil {
		return err
	}
	d.print("An agent sees %d tools. This is what it can do with some of them.", len(list.Tools))

	guild, general := string(sandbox.DemoGuild), string(sandbox.DemoGeneral)
	d.say("The agent looks around.")
	res, err := d.call(ctx, careful, "channels_list", args{"guild_id": guild})
	if err != nil {
		return err
	}
	var channels struct {
		Channels []struct{ Name string }
	}
	if err := read(res, &channels); err != nil {
		return err
	}
	names := make([]string, len(channels.Channels))
	for i, c := range channels.Channels {
		names[i] = c.Name
	}
	d.print("  %s", strings.Join(names, ", "))

	d.say("It writes. The text says @everyone, and still nobody is notified.")
	res, err = d.call(ctx, careful, "messages_send", args{"channel_id": general, "content": "Patch 1.4.3 is out, @everyone!"})
	if err != nil {
		return err
	}
	var sent struct {
		ID string `json:"message_id"`
	}
	if err := read(res, &sent); err != nil {
		return err
	}
	d.print("  sent as %s", sent.ID)

	d.say("It reads. What people wrote comes fenced, as data and not as instructions.")
	res, err = d.call(ctx, careful, "messages_read", args{"channel_id": general, "limit": 3})
	if err != nil {
		return err
	}
	d.print("%s", indent(text(res)))

	target := args{"channel_id": general, "message_id": sent.ID}
	d.say("It wants to delete. Deleting is destructive, so the call only previews.")
	if err := d.refused(ctx, careful, "messages_delete", target, mcpcore.CodeDryRun); err != nil {
		return err
	}

	confirmed := args{"channel_id": general, "message_id": sent.ID, "__confirm": true}
	d.say("It insists, but the caller holds only one of two keys: the operator has not armed the server.")
	if err := d.refused(ctx, careful, "messages_delete", confirmed, mcpcore.CodeDryRun); err != nil {
		return err
	}

	armed, err := d.connect(ctx, discordtools.Config{Armed: true})
	if err != nil {
		return err
	}
	defer armed.Close()
	d.say("The operator starts it with MCP_DRY_RUN=false. With both keys, it acts.")
	if _, err := d.call(ctx, armed, "messages_delete", confirmed); err != nil {
		return err
	}
	d.print("  deleted")

	staffed, err := d.connect(ctx, discordtools.Config{Armed: true, Person: discordtools.PersonGated})
	if err != nil {
		return err
	}
	defer staffed.Close()
	d.say("With MCP_HUMAN_APPROVAL=gated a person is asked as well. This one says no.")
	ban := args{"guild_id": guild, "user_id": string(sandbox.DemoNewcomer), "__confirm": true}
	if err := d.refused(ctx, staffed, "members_ban", ban, mcpcore.CodeHumanRefused); err != nil {
		return err
	}

	d.say("Every act left a record: the intent before it, the outcome after it.")
	for _, e := range d.audit.all() {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		d.print("  %s", line)
	}
	d.print("\nTry it yourself:\n  go run ./cmd/discord-mcp call messages_read '{\"channel_id\":%q}' --sandbox\n  go run ./cmd/discord-mcp serve --sandbox     (for an MCP client)", general)
	return nil
}

type args map[string]any

// connect starts a server on the world and connects an agent to it, whose user
// refuses what they are asked.
func (d *demo) connect(ctx context.Context, config discordtools.Config) (*mcp.ClientSession, error) {
	server, err := discordtools.BuildServer(discordtools.Deps{
		Session: d.world.Session(), Config: config, Audit: &d.audit, Ledger: d.ledger,
		Name: "discord-mcp", Version: boot.Version(),
	})
	if err != nil {
		return nil, err
	}
	return client(ctx, server, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			d.print("%s", indent(r.Params.Message))
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
}

// call shows a call and expects it to succeed.
func (d *demo) call(ctx context.Context, s *mcp.ClientSession, tool string, a args) (*mcp.CallToolResult, error) {
	res, err := d.send(ctx, s, tool, a)
	if err != nil {
		return nil, err
	}
	if res.IsError {
		return nil, fmt.Errorf("%s: %s", tool, text(res))
	}
	return res, nil
}

// refused shows a call and expects it to fail with the code.
func (d *demo) refused(ctx context.Context, s *mcp.ClientSession, tool string, a args, want mcpcore.Code) error {
	res, err := d.send(ctx, s, tool, a)
	if err != nil {
		return err
	}
	var e struct{ Code mcpcore.Code }
	if err := read(res, &e); err != nil {
		return err
	}
	if e.Code != want {
		return fmt.Errorf("%s answered %q instead of %q", tool, e.Code, want)
	}
	d.print("%s", indent(text(res)))
	return nil
}

func (d *demo) send(ctx context.Context, s *mcp.ClientSession, tool string, a args) (*mcp.CallToolResult, error) {
	shown, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	d.print("  %s %s", d.paint("36", tool), shown)
	return s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a})
}

func (d *demo) say(what string) {
	d.step++
	d.print("\n%s", d.paint("1", fmt.Sprintf("%d. %s", d.step, what)))
}

func (d *demo) print(format string, a ...any) { _, _ = fmt.Fprintf(d.out, format+"\n", a...) }

// paint colours text on a terminal.
func (d *demo) paint(color, s string) string {
	if !d.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// read decodes the structured content.
func read(res *mcp.CallToolResult, into any) error {
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return errors.Join(errors.New("the answer has an unexpected shape"), err)
	}
	return nil
}

// auditLog is a sink that keeps its events.
type auditLog struct {
	mu     sync.Mutex
	events []mcpcore.AuditEvent
}

func (l *auditLog) Record(_ context.Context, e mcpcore.AuditEvent) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	return nil
}

func (l *auditLog) all() []mcpcore.AuditEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}
