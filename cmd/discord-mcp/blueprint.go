package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func blueprintCommand() *cobra.Command {
	cmd := group("blueprint", "Keep a guild as a document, and compare the two")
	cmd.AddCommand(captureCommand(), blueprintPlanCommand(), blueprintDiffCommand(), blueprintSchemaCommand())
	return cmd
}

func blueprintSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of blueprints",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return printJSON(os.Stdout, blueprint.Schema()) },
	}
}

func captureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "capture GUILD",
		Short: "Print a guild as a blueprint",
		Long: `Reads a guild and prints it as a blueprint on stdout: settings, roles, channels
with permissions, welcome screen, onboarding, the bot's AutoMod rules and its
publications. What a blueprint cannot hold is told on stderr. Nothing is changed.

The exit status is 0 when it was printed, 2 when the guild could not be read.`,
		Example: `  discord-mcp blueprint capture 1200000000000000001 --sandbox > guild.json`,
		Args:    cobra.ExactArgs(1),
	}
	inSandbox := cmd.Flags().Bool("sandbox", false, "read a furnished Discord in this process")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return explained(func() error {
			at, err := openSite(cmd.Context(), *inSandbox, args[0])
			if err != nil {
				return err
			}
			defer at.close()
			c, err := blueprint.Capture(cmd.Context(), at.conn, at.guild, at.bot)
			if err != nil {
				return fmt.Errorf("read the guild: %w", err)
			}
			for _, l := range c.Left {
				fmt.Fprintln(os.Stderr, "left out: "+l)
			}
			return printJSON(os.Stdout, c.Document.Plain())
		})
	}
	return cmd
}

func blueprintDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff FILE",
		Short: "Compare a guild with a blueprint, for people",
		Long: `Compares a guild with the blueprint in the file ("-" for stdin) and prints what
differs: what would be made (+) and changed (~), what stands in the way (!), and
roles and channels before and after. Nothing is changed.

The exit status is 0 when the guild is as the blueprint wants it, 1 when it is
not, 2 when they could not be compared.`,
		Example: `  discord-mcp blueprint diff guild.json --guild 1200000000000000001`,
		Args:    cobra.ExactArgs(1),
	}
	draft := comparing(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return explained(func() error {
			f, err := draft(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprint(os.Stdout, f.Diff())
			return verdict(f)
		})
	}
	return cmd
}

// verdict is the exit status of a comparison.
func verdict(f *blueprint.Draft) error {
	if f.Current() {
		return nil
	}
	return exitStatus(1)
}

func blueprintPlanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Compare a guild with a blueprint, for programs",
		Long: `Compares a guild with the blueprint in the file ("-" for stdin) and prints as JSON
what it would take to make the guild like that: the operations in their order,
what stands in the way, and the channels before and after. Nothing is changed:
a plan is carried out by the tool guild_blueprint_apply, behind its gates.

The exit status is 0 when the guild is as the blueprint wants it, 1 when it is
not, 2 when they could not be compared.`,
		Example: `  discord-mcp blueprint plan guild.json --guild 1200000000000000001`,
		Args:    cobra.ExactArgs(1),
	}
	draft := comparing(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return explained(func() error {
			f, err := draft(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			err = printJSON(os.Stdout, struct {
				Blueprint  string                `json:"blueprint_id"`
				Snapshot   string                `json:"snapshot_id"`
				Summary    blueprint.Summary     `json:"summary"`
				Operations []blueprint.Operation `json:"operations"`
				Blockers   []blueprint.Problem   `json:"blockers"`
				Warnings   []string              `json:"warnings"`
				Rights     blueprint.Rights      `json:"bot_permissions"`
				Trees      blueprint.Trees       `json:"trees"`
			}{
				f.Document.ID(), f.Guild.ID(), blueprint.Summarize(f.Operations), append([]blueprint.Operation{}, f.Operations...), f.Blockers,
				append([]string{}, f.Warnings...), f.Rights, f.Trees(),
			})
			if err != nil {
				return err
			}
			return verdict(f)
		})
	}
	return cmd
}

// comparing adds the flags of a comparison, and is the comparison.
func comparing(cmd *cobra.Command) func(ctx context.Context, file string) (*blueprint.Draft, error) {
	inSandbox := cmd.Flags().Bool("sandbox", false, "compare with a furnished Discord in this process")
	guild := cmd.Flags().String("guild", "", "the guild; the default or only allowed one when absent")
	adopt := cmd.Flags().Bool("adopt", false, "change what has a part's name and differs, instead of stopping there")
	return func(ctx context.Context, file string) (*blueprint.Draft, error) {
		doc, err := readBlueprint(file)
		if err != nil {
			return nil, err
		}
		at, err := openSite(ctx, *inSandbox, *guild)
		if err != nil {
			return nil, err
		}
		defer at.close()
		g, err := blueprint.Read(ctx, at.conn, at.guild, at.bot, doc, nil)
		if err != nil {
			return nil, fmt.Errorf("read the guild: %w", err)
		}
		return blueprint.Compare(doc, g, blueprint.Bindings{}, *adopt), nil
	}
}

// explained makes every error but an exit status one of 2.
func explained(do func() error) error {
	err := do()
	if _, status := errors.AsType[exitStatus](err); err == nil || status {
		return err
	}
	fmt.Fprintln(os.Stderr, mcpcore.Redact(err.Error()))
	return exitStatus(2)
}

func readBlueprint(file string) (*blueprint.Document, error) {
	in := io.Reader(os.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, blueprint.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the blueprint: %w", err)
	}
	doc, issues := blueprint.Parse(raw)
	if issues == nil {
		return doc, nil
	}
	var all []error
	for _, i := range issues {
		if i.Path == "" {
			all = append(all, errors.New(i.Message))
		} else {
			all = append(all, fmt.Errorf("%s %s", i.Path, i.Message))
		}
	}
	return nil, fmt.Errorf("%s is no valid blueprint:\n%w", file, errors.Join(all...))
}

// site is the guild that a command looks at.
type site struct {
	conn  blueprint.Conn
	guild discord.GuildID
	bot   discord.UserID
	close func()
}

// openSite connects to the guild, which must be allowed, as the expected bot.
func openSite(ctx context.Context, inSandbox bool, guild string) (site, error) {
	config, err := boot.Read(os.Environ(), inSandbox)
	if err != nil {
		return site{}, err
	}
	options := boot.Options{Transport: "stdio"}
	if inSandbox {
		options.Sandbox = sandbox.Demo()
	}
	deps, done, err := boot.Deps(config, options) //nolint:contextcheck // what it holds ends by done
	if err != nil {
		return site{}, errors.Join(err, done())
	}
	at := site{guild: discord.GuildID(guild), bot: deps.Config.ExpectedBot, close: func() { _ = done() }}
	rest, err := discordtools.NewClient(deps.Session, deps.Client)
	if err == nil {
		at.conn = discordtools.BlueprintConn(rest)
		err = at.choose(ctx, deps.Config, rest)
	}
	if err != nil {
		at.close()
		return site{}, err
	}
	return at, nil
}

// choose settles which guild and which bot it is about.
func (s *site) choose(ctx context.Context, c discordtools.Config, rest discordtools.REST) error {
	switch {
	case s.guild == "" && c.DefaultGuild != "":
		s.guild = c.DefaultGuild
	case s.guild == "" && len(c.AllowedGuilds) == 1:
		s.guild = c.AllowedGuilds[0]
	case s.guild == "":
		return errors.New("which guild? Name it with --guild, or set DISCORD_DEFAULT_GUILD_ID")
	}
	if err := discord.CheckID(string(s.guild)); err != nil {
		return fmt.Errorf("the guild is not an id: %w", err)
	}
	if c.AllowedGuilds != nil && !slices.Contains(c.AllowedGuilds, s.guild) {
		return fmt.Errorf("the guild %s is not among ALLOWED_GUILDS", s.guild)
	}
	if s.bot != "" {
		return discordtools.VerifyIdentity(ctx, rest, s.bot)
	}
	reply, err := rest.Do(ctx, discordtools.Request{Method: "GET", Route: "/users/@me"})
	if err != nil {
		return err
	}
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := json.Unmarshal(reply.Body, &me); err != nil || me.ID == "" {
		return errors.New("Discord told no account")
	}
	s.bot = me.ID
	return nil
}
