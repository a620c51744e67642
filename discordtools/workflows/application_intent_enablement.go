package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeApplicationEdit = "PATCH /applications/@me"

// privileged are the intents that can be enabled: the flag by which an application
// in few guilds has one, and both by which one has it.
//
// Source: https://docs.discord.com/developers/resources/application#application-object-application-flags.
var privileged = map[string]struct{ limited, either applicationFlags }{
	"GUILD_MEMBERS":   {1 << 15, 1<<14 | 1<<15},
	"MESSAGE_CONTENT": {1 << 19, 1<<18 | 1<<19},
}

// applicationFlags are an application's flags. Plans bind them and do not show
// them: their JSON is a digest.
type applicationFlags int64

func (f applicationFlags) MarshalJSON() ([]byte, error) {
	return json.Marshal(digest(strconv.AppendInt([]byte("application flags\x00"), int64(f), 10)))
}

func (applicationFlags) JSONSchema() string {
	return `{"type":"string","description":"digest of all flags of the application"}`
}

type intentEnablement struct {
	ofApplication
	Intent    string `json:"intent" enum:"GUILD_MEMBERS,MESSAGE_CONTENT"`
	Expands   bool   `json:"acknowledgePrivilegeExpansion" jsonschema:"true: the application sees more of every guild that it is in"`
	Rationale string `json:"rationale" jsonschema:"what needs it, for the person who approves it; it is neither sent nor kept" minLength:"1" maxLength:"512"`
}

type intentState struct {
	Application applicationSeen  `json:"application"`
	Enabled     bool             `json:"enabled"`
	Flags       applicationFlags `json:"flags"`
}

type flagsPatch struct {
	Flags int64 `json:"flags"`
}

// applicationIntentEnablement enables a privileged intent and changes nothing else
// of the application.
func applicationIntentEnablement(rest discordtools.REST) mcpcore.Workflow {
	return change[intentEnablement, intentState]{
		Name: "application-intent-enablement", Category: "application-security", Title: "Enable a privileged intent",
		Doc: `Enables one privileged intent of the application, for all guilds: its members or the content of its messages. It
			disables none, knows no presences, and changes nothing else. Discord refuses it to applications in many guilds, which it
			approves itself.`,
		Effect: mcpcore.Write, Scope: mcpcore.ApplicationScope,
		Scopes: []mcpcore.PolicyScope{
			theApplication("applications whose intents may be enabled"),
			{Name: "intents", Arg: "intent", Doc: "intents that are needed and may be enabled", Pattern: "^(GUILD_MEMBERS|MESSAGE_CONTENT)$"},
		},
		Acknowledge: []string{"acknowledgePrivilegeExpansion"}, Redact: []string{"rationale"},
		Reads: applicationRoutes, Write: []string{routeApplicationEdit},
		Plan: func(ctx context.Context, r *reads, in intentEnablement) (plan mcpcore.Change[intentState], err error) {
			s, err := r.intent(ctx, in)
			if err != nil {
				return plan, err
			}
			plan = mcpcore.Change[intentState]{
				Action: "enable", State: s, Risks: []string{"privilege-expansion"},
				Facts:    mcpcore.Facts{{Name: "intent", Value: in.Intent}, {Name: "rationale", Value: in.Rationale}},
				Warnings: []string{"It is enabled in every guild. Only the developer portal disables it again."},
			}
			if s.Enabled {
				nothing(&plan)
			}
			return plan, nil
		},
		Targets: func(in intentEnablement, _ intentState) []mcpcore.Target {
			return []mcpcore.Target{allOf("privileged-intents", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in intentEnablement, s intentState) (done mcpcore.Written, err error) {
			var answer struct {
				ID    discord.ApplicationID `json:"id"`
				Flags *applicationFlags     `json:"flags"`
			}
			wanted := s.Flags | privileged[in.Intent].limited
			if err := w.send(ctx, routeApplicationEdit, nil, flagsPatch{int64(wanted)}, &answer); err != nil {
				return done, err
			}
			if done.ID, err = id(answer.ID); err == nil && (answer.ID != in.ApplicationID || answer.Flags == nil || *answer.Flags != wanted) {
				err = errors.New("the answer is not of the application with that intent and nothing else changed")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in intentEnablement, s intentState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.intent(ctx, in)
			if err == nil && !now.Enabled {
				err = errors.New("the intent is not enabled")
			}
			var d drift
			d.unless(now.Flags == s.Flags|privileged[in.Intent].limited, "otherFlags")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// intent reads whether the application has the intent.
func (r *reads) intent(ctx context.Context, in intentEnablement) (s intentState, err error) {
	app, flags, err := r.application(ctx, in.ApplicationID)
	s = intentState{Application: app, Flags: applicationFlags(flags)}
	s.Enabled = s.Flags&privileged[in.Intent].either != 0
	return s, err
}
