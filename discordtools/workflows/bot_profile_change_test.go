package workflows_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func changeBot(change func(u *sandbox.User)) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) { d.ChangeUser(sandbox.BotID, change) }
}

func ofBot(more string) string {
	return ofTheApplication(`"acknowledgeApplicationWide":true,` + more)
}

func botProfile() scene {
	small := uri("image/png", pngOf(16))
	with := func(name, more string, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofBot(more), Code: code, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "bot-profile-change", Plan: "plan_bot_profile_change", Execute: "execute_bot_profile_change",
			Args:   ofBot(`"username":"canary bot","avatar":"` + small + `","banner":null,"rationale":"canary-reason"`),
			Sends:  []string{`PATCH /users/@me {"username":"canary bot","avatar":"` + small + `","banner":null}`},
			Permit: applicationPermit, Resource: string(sandbox.BotID), Secrets: []string{"canary", small},
			Refusals: []operationtest.Refusal{
				otherApplication("bot-profile-change", `"acknowledgeApplicationWide":true,"username":"xx"`),
				{Name: "not acknowledged", Args: ofTheApplication(`"username":"xx"`), Code: mcpcore.CodeValidation},
				with("nothing", `"rationale":"x"`, mcpcore.CodeValidation, ""),
				with("an empty name", `"username":"  "`, mcpcore.CodeValidation, ""),
				with("a name of Discord's", `"username":"My DISCORD bot"`, mcpcore.CodeValidation, ""),
				with("everyone", `"username":"Everyone"`, mcpcore.CodeValidation, ""),
				with("a name to mention", `"username":"me@you"`, mcpcore.CodeValidation, ""),
				with("a path", `"avatar":"/tmp/x.png"`, mcpcore.CodePlanRefused, "picture"),
				with("an address", `"banner":"https://example.com/x.png"`, mcpcore.CodePlanRefused, "picture"),
				with("a picture of another kind", `"avatar":"`+uri("image/webp", []byte("RIFF\x10\x00\x00\x00WEBPVP8 "))+`"`, mcpcore.CodePlanRefused, "picture"),
			},
		},
		Route: "PATCH /users/@me", ReadBack: "GET /applications/@me", Skip: 4,
		Before: changeBot(func(u *sandbox.User) { u.Banner = "b1" }),
		Change: changeBot(func(u *sandbox.User) { u.Banner = "b2" }),
	}
}

func renamedBot() scene {
	s := botProfile()
	s.Args, s.Sends, s.Refusals = ofBot(`"username":"canary bot","banner":null`), []string{`PATCH /users/@me {"username":"canary bot","banner":null}`}, nil
	s.Settle = changeBot(func(u *sandbox.User) { u.Name, u.Banner = "canary bot", "" })
	return s
}

func TestBotProfileChange(t *testing.T) {
	t.Parallel()
	botProfile().run(t)
}

func TestBotProfileNameAlone(t *testing.T) {
	t.Parallel()
	renamedBot().run(t)
}

// A picture may have so many bytes, and not one more.
func TestBotProfilePictureSize(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		more   int
		status string
		code   mcpcore.Code
	}{{0, "completed", ""}, {1, "", mcpcore.CodePlanRefused}} {
		data := pngOf(16)
		data = append(data, make([]byte, 8<<20-len(data)+row.more)...)
		s := botProfile()
		s.Args = ofBot(`"avatar":"` + uri("image/png", data) + `"`)
		if e, _ := s.once(t); e.Status != row.status || e.Code != row.code {
			t.Errorf("%d more: it answers %+v", row.more, e)
		}
	}
}

// What of the account is not as it was to be is told; an answer that says so
// leaves the outcome open.
func TestBotProfileThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := botProfile()
	s.Before = func(made *sandbox.Discord) { d = made }
	s.REST = later(&d, "/applications/@me", 5, changeBot(func(u *sandbox.User) { u.Name, u.Avatar, u.Banner = "other", "", "b3" }))
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[username avatar banner]" {
		t.Errorf("it answers %+v", e)
	}
	for name, row := range map[string]struct{ from, to string }{
		"another account":   {`"id":"1100000000000000001"`, `"id":"1100000000000000002"`},
		"an account alone":  {`"id":"11`, `"id":"x`},
		"another name":      {`"username":"canary bot"`, `"username":"other"`},
		"a banner there is": {`"banner":null`, `"banner":"b1"`},
	} {
		s := botProfile()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				if !bytes.Contains(r.Body, []byte(row.from)) {
					t.Errorf("%s: %s is not in %s", name, row.from, r.Body)
				}
				r.Body = bytes.Replace(r.Body, []byte(row.from), []byte(row.to), 1)
				return r
			}}
		}
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}
