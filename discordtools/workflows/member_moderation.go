package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeKick       = "DELETE /guilds/{guild_id}/members/{user_id}"
	routeMemberEdit = "PATCH /guilds/{guild_id}/members/{user_id}"
	routeBanSet     = "PUT /guilds/{guild_id}/bans/{user_id}"
	routeBanLift    = "DELETE /guilds/{guild_id}/bans/{user_id}"
)

type moderate struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild"`
	UserID  discord.UserID  `json:"userId" jsonschema:"user to act on"`
	Action  string          `json:"action" jsonschema:"what is done" enum:"kick,ban,unban,timeout,remove-timeout"`
	Erase   int             `json:"deleteMessageSeconds,omitempty" jsonschema:"with ban: delete messages of so many seconds" minimum:"0" maximum:"604800"`
	Minutes int             `json:"timeoutMinutes,omitempty" jsonschema:"with timeout: for how long" minimum:"1" maximum:"40319"`
	reason
}

type moderateState struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	User       discord.UserID `json:"userId"`
	Member     *memberSeen    `json:"member" jsonschema:"null for a user who is no member"`
	Banned     *bool          `json:"banned" jsonschema:"null where it does not matter"`
	Erase      int            `json:"deleteMessageSeconds"`
	Minutes    int            `json:"timeoutMinutes"`

	until *time.Time `json:"-"` // when the timeout ends: known when it is sent
}

// moderations are the permissions that the actions take.
var moderations = map[string]discord.Permissions{
	"kick": discord.KickMembers, "ban": discord.BanMembers, "unban": discord.BanMembers,
	"timeout": discord.ModerateMembers, "remove-timeout": discord.ModerateMembers,
}

// memberModeration kicks, bans and times out one user, or undoes it.
func memberModeration(rest discordtools.REST) mcpcore.Workflow {
	only := func(arg, action string) mcpcore.Rule {
		return mcpcore.Rule{Doc: arg + " goes with " + action + " alone.", Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if c.Has(arg) && c.Text("action") != action {
				return &mcpcore.Issue{Path: arg, Message: "goes with the action " + action + " alone", Code: mcpcore.IssueRule}
			}
			return nil
		}}
	}
	return change[moderate, moderateState]{
		Name: "member-moderation", Category: "moderation", Title: "Moderate a member",
		Doc: `Kicks, bans or times out one user, or lifts a ban or a timeout. The bot must stand above a member; the
			bot itself and the owner are never hit, and administrators cannot be timed out. A timeout runs from
			the moment of the write.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Protects: []string{"userId"},
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds in which users may be moderated")},
		Rules: []mcpcore.Rule{only("deleteMessageSeconds", "ban"), only("timeoutMinutes", "timeout"), {Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if c.Text("action") == "timeout" && !c.Has("timeoutMinutes") {
				return issue("timeoutMinutes", "is needed for a timeout")
			}
			return nil
		}}},
		Reads: append([]string{routeUser, routeBan}, standingRoutes...),
		Write: []string{routeKick, routeMemberEdit, routeBanSet, routeBanLift},
		Plan:  planModeration,
		Targets: func(in moderate, _ moderateState) []mcpcore.Target {
			return []mcpcore.Target{theMember(in.GuildID, in.UserID)}
		},
		Apply: func(ctx context.Context, w *write, in moderate, s moderateState) (mcpcore.Written, error) {
			return mcpcore.Written{ID: string(in.UserID)}, s.send(ctx, w, in)
		},
		ReadBack: func(ctx context.Context, r *reads, in moderate, s moderateState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			if in.Action == "ban" || in.Action == "unban" {
				banned, err := r.banned(ctx, in.GuildID, in.UserID)
				if err == nil && banned != (in.Action == "ban") {
					err = fmt.Errorf("banned is %v after the %s", banned, in.Action)
				}
				return found, err
			}
			var now member
			err = r.get(ctx, routeMember, ofMember(in.GuildID, in.UserID), &now)
			switch {
			case in.Action == "kick" && unknown(err, unknownMember, unknownUser):
				return found, nil
			case err != nil:
				return found, err
			case in.Action == "kick" || now.User.ID != in.UserID:
				return found, errors.New("the user is still a member, or another one was read")
			}
			return found, s.ends(now, r.Call.Now())
		},
	}.on(rest)
}

func planModeration(ctx context.Context, r *reads, in moderate) (plan mcpcore.Change[moderateState], err error) {
	bot, err := r.able(ctx, in.GuildID, moderations[in.Action])
	if err != nil {
		return plan, err
	}
	s := moderateState{Guild: bot.Guild, Permission: bot.evidence(), User: in.UserID, Erase: in.Erase, Minutes: in.Minutes, until: new(time.Time)}
	if s.Member, err = r.member(ctx, &bot, in.UserID); err != nil {
		return plan, err
	}
	if err := bot.acts(in.UserID, s.Member); err != nil {
		return plan, err
	}
	name, _, err := r.user(ctx, in.UserID)
	if err != nil {
		return plan, err
	}
	switch in.Action {
	case "ban", "unban":
		banned, err := r.banned(ctx, in.GuildID, in.UserID)
		if err != nil {
			return plan, err
		}
		s.Banned, plan.Current = &banned, banned == (in.Action == "ban")
	default:
		if s.Member == nil {
			return plan, refused("member-missing", "the user %s is no member of the guild", in.UserID)
		}
		if in.Action == "timeout" && s.Member.Administrator {
			return plan, refused("administrator", "administrators cannot be timed out")
		}
		plan.Current = in.Action == "remove-timeout" && !s.Member.TimedOut
	}
	plan.Action, plan.State = in.Action, s
	plan.Facts = mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "member", Value: fmt.Sprint(s.Member != nil)}}
	if in.Minutes > 0 {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "for", Value: (time.Duration(in.Minutes) * time.Minute).String()})
	}
	if s.Member != nil {
		name = s.Member.name
		if in.Action == "timeout" && s.Member.TimedOut {
			plan.Warnings = append(plan.Warnings, "The member is timed out already; the new end replaces the old one.")
		}
	}
	plan.Unbound = mcpcore.Facts{{Name: "user", Value: name}}
	if in.Erase > 0 {
		plan.Risks = append(plan.Risks, "irreversible")
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("What the user wrote in the last %s is deleted for good.", time.Duration(in.Erase)*time.Second))
	}
	return plan, nil
}

// send sends the one request of the action. The end of a timeout is computed here,
// after the approval.
func (s *moderateState) send(ctx context.Context, w *write, in moderate) error {
	at := ofMember(in.GuildID, in.UserID)
	switch in.Action {
	case "kick":
		return w.send(ctx, routeKick, at, nil, nil)
	case "ban":
		return w.send(ctx, routeBanSet, at, banBody{in.Erase}, nil)
	case "unban":
		return w.send(ctx, routeBanLift, at, nil, nil)
	}
	var body timeoutBody
	if in.Action == "timeout" {
		*s.until = w.Call.Now().UTC().Truncate(time.Second).Add(time.Duration(in.Minutes) * time.Minute)
		body.Until = s.until
	}
	var now member
	if err := w.send(ctx, routeMemberEdit, at, body, &now); err != nil {
		return err
	}
	if now.User.ID != in.UserID {
		return errors.New("the answer is of another member")
	}
	return s.ends(now, w.Call.Now())
}

type banBody struct {
	Erase int `json:"delete_message_seconds"`
}

type timeoutBody struct {
	Until *time.Time `json:"communication_disabled_until"`
}

// ends reports a member whose timeout does not end when it should.
func (s *moderateState) ends(now member, at time.Time) error {
	switch {
	case s.Minutes == 0 && (now.Timeout == nil || !now.Timeout.After(at)):
		return nil
	case s.Minutes > 0 && now.Timeout != nil && now.Timeout.Equal(*s.until):
		return nil
	}
	return errors.New("the member's timeout is not as it should be")
}
