package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMeEdit = "PATCH /users/@me"
	botPicture  = 8 << 20 // bytes of an avatar or a banner
)

type botProfileEdit struct {
	ofApplication
	Username  string  `json:"username,omitempty" minLength:"2" maxLength:"32"`
	Avatar    *string `json:"avatar,omitempty" jsonschema:"a data URI of png, jpeg or gif of at most 8 MiB; null for none"`
	Banner    *string `json:"banner,omitempty" jsonschema:"as avatar"`
	Everybody bool    `json:"acknowledgeApplicationWide" jsonschema:"true: it changes in every guild and for every user"`
	Rationale string  `json:"rationale,omitempty" jsonschema:"why, for the person who approves it; it is neither sent nor kept" maxLength:"512"`
}

type botProfileState struct {
	Application applicationSeen `json:"application"`
	Now         botProfile      `json:"current"`
	Changed     []string        `json:"changedFields"`
	Avatar      string          `json:"avatarFile,omitempty" jsonschema:"digest of what is uploaded"`
	Banner      string          `json:"bannerFile,omitempty" jsonschema:"digest of what is uploaded"`
}

// botProfile is what can be changed of the bot's account.
type botProfile struct {
	ID       discord.UserID `json:"id"`
	Username string         `json:"username"`
	Avatar   string         `json:"avatar,omitempty" jsonschema:"Discord's name of the picture"`
	Banner   string         `json:"banner,omitempty" jsonschema:"Discord's name of the picture"`
}

type botProfilePatch struct {
	Username string          `json:"username,omitempty"`
	Avatar   json.RawMessage `json:"avatar,omitempty"`
	Banner   json.RawMessage `json:"banner,omitempty"`
}

// botProfileChange changes how the bot is called and looks.
func botProfileChange(rest discordtools.REST) mcpcore.Workflow {
	return change[botProfileEdit, botProfileState]{
		Name: "bot-profile-change", Category: "bot-profile", Title: "Change the bot's account",
		Doc: `Changes the bot's user name, avatar and banner, those that are given, in every guild. Discord allows it a few times
			an hour. What is uploaded is bound by its digest; what Discord keeps of it cannot be compared.`,
		Effect: mcpcore.Write, Scope: mcpcore.ApplicationScope,
		Scopes:      []mcpcore.PolicyScope{theApplication("applications whose bot may be changed")},
		Acknowledge: []string{"acknowledgeApplicationWide"}, Redact: []string{"avatar", "banner", "rationale"},
		Rules: []mcpcore.Rule{someOf("username", "avatar", "banner"), {Check: checkBotName}},
		Reads: applicationRoutes, Write: []string{routeMeEdit},
		Plan: planProfile,
		Targets: func(in botProfileEdit, _ botProfileState) []mcpcore.Target {
			return []mcpcore.Target{allOf("bot-profile", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in botProfileEdit, s botProfileState) (done mcpcore.Written, err error) {
			var answer botProfile
			if err := w.send(ctx, routeMeEdit, nil, in.patch(s.Changed), &answer); err != nil {
				return done, err
			}
			if done.ID, err = id(answer.ID); err == nil && (answer.ID != s.Application.Bot || len(in.differ(answer, s)) > 0) {
				err = errors.New("the answer is not of the account as it was to be")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in botProfileEdit, s botProfileState, _ mcpcore.Written) (mcpcore.Reading, error) {
			_, now, err := r.botProfile(ctx, in.ApplicationID)
			return mcpcore.Reading{Drift: in.differ(now, s)}, err
		},
	}.on(rest)
}

// checkBotName refuses what no user name has in it.
//
// Source: https://docs.discord.com/developers/resources/user#usernames-and-nicknames.
func checkBotName(c *mcpcore.Call) *mcpcore.Issue {
	name := strings.ToLower(strings.TrimSpace(c.Text("username")))
	no := func(s string) bool { return strings.Contains(name, s) }
	if name == "everyone" || name == "here" || slices.ContainsFunc([]string{"@", "#", ":", "```", "discord"}, no) || c.Has("username") && len(name) < 2 {
		return issue("username", "is too short, or has @ # : ``` or discord in it, or names everybody, which Discord refuses")
	}
	return nil
}

func planProfile(ctx context.Context, r *reads, in botProfileEdit) (plan mcpcore.Change[botProfileState], err error) {
	var s botProfileState
	if s.Application, s.Now, err = r.botProfile(ctx, in.ApplicationID); err != nil {
		return plan, err
	}
	plan.Action = "change"
	fields := []field{}
	if r.Call.Has("username") {
		fields = append(fields, field{"username", s.Now.Username, strings.TrimSpace(in.Username)})
	}
	for _, image := range []struct {
		name, now string
		given     *string
		file      *string
	}{{"avatar", s.Now.Avatar, in.Avatar, &s.Avatar}, {"banner", s.Now.Banner, in.Banner, &s.Banner}} {
		if !r.Call.Has(image.name) {
			continue
		}
		wanted := "none"
		if image.given != nil {
			data, err := picture(*image.given, botPicture, "image/png", "image/jpeg", "image/gif")
			if err != nil {
				return plan, err
			}
			*image.file = digest(data)
			wanted = *image.file
		}
		fields = append(fields, field{image.name, orNone(image.now), wanted})
	}
	s.Changed = setting(&plan, fields...)
	if in.Rationale != "" {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "rationale", Value: in.Rationale})
	}
	plan.Risks, plan.State = []string{"application-wide"}, s
	plan.Warnings = []string{"It is so in every guild at once. Discord allows few changes of a user name in an hour."}
	return plan, nil
}

// botProfile reads the application's bot.
func (r *reads) botProfile(ctx context.Context, of discord.ApplicationID) (app applicationSeen, p botProfile, err error) {
	if app, _, err = r.application(ctx, of); err != nil {
		return app, p, err
	}
	if err := r.get(ctx, routeMe, nil, &p); err != nil {
		return app, p, err
	}
	if p.ID != app.Bot || p.Username == "" {
		return app, p, incomplete("the bot's account")
	}
	return app, p, nil
}

// differ are the fields in which the account is not as it was to be. Of a picture
// it can only be said whether there is one.
func (in botProfileEdit) differ(now botProfile, s botProfileState) (d drift) {
	want := s.Now.Username
	if in.Username != "" {
		want = strings.TrimSpace(in.Username)
	}
	d.unless(now.Username == want, "username")
	same := func(now, before, file, name string) bool {
		if !slices.Contains(s.Changed, name) {
			return now == before
		}
		return (now != "") == (file != "")
	}
	d.unless(same(now.Avatar, s.Now.Avatar, s.Avatar, "avatar"), "avatar")
	d.unless(same(now.Banner, s.Now.Banner, s.Banner, "banner"), "banner")
	return d
}

func (in botProfileEdit) patch(changed []string) (p botProfilePatch) {
	for _, name := range changed {
		switch name {
		case "username":
			p.Username = strings.TrimSpace(in.Username)
		case "avatar":
			p.Avatar = json.RawMessage(compact(in.Avatar))
		case "banner":
			p.Banner = json.RawMessage(compact(in.Banner))
		}
	}
	return p
}
