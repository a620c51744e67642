package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeThreadMember = "GET /channels/{channel_id}/thread-members/{user_id}"
	routeThreadJoin   = "PUT /channels/{channel_id}/thread-members/@me"
	routeThreadLeave  = "DELETE /channels/{channel_id}/thread-members/@me"
	routeThreadAdd    = "PUT /channels/{channel_id}/thread-members/{user_id}"
	routeThreadRemove = "DELETE /channels/{channel_id}/thread-members/{user_id}"
)

type threadChange struct {
	GuildID     discord.GuildID   `json:"guildId" jsonschema:"guild of the thread"`
	ThreadID    discord.ChannelID `json:"threadId" jsonschema:"thread to change"`
	Action      string            `json:"action" jsonschema:"what is done, one thing" enum:"rename,archive,unarchive,lock,unlock,set-auto-archive-duration,set-slowmode,set-invitable,join,leave,add-member,remove-member"`
	Name        string            `json:"name,omitempty" jsonschema:"rename: new name" minLength:"1" maxLength:"100"`
	AutoArchive int               `json:"autoArchiveDuration,omitempty" jsonschema:"set-auto-archive-duration: minutes without activity" enum:"60,1440,4320,10080"`
	SlowMode    int               `json:"rateLimitPerUser,omitempty" jsonschema:"set-slowmode: seconds" minimum:"0" maximum:"21600"`
	Invitable   bool              `json:"invitable,omitempty" jsonschema:"set-invitable, of private threads: whether members may add others"`
	UserID      discord.UserID    `json:"userId,omitempty" jsonschema:"add-member, remove-member: whom"`
	reason
}

// threadArgs are the arguments that belong to an action, each to its own.
var threadArgs = map[string]string{
	"rename": "name", "set-auto-archive-duration": "autoArchiveDuration", "set-slowmode": "rateLimitPerUser",
	"set-invitable": "invitable", "add-member": "userId", "remove-member": "userId",
}

// threadMembership are the actions on who is in the thread, with the routes that
// they write.
var threadMembership = map[string]string{
	"join": routeThreadJoin, "leave": routeThreadLeave, "add-member": routeThreadAdd, "remove-member": routeThreadRemove,
}

type threadChangeState struct {
	Guild      guildSeen       `json:"guild"`
	Permission evidence        `json:"permission"`
	InThread   []string        `json:"botPermissionsInThread"`
	Thread     threadSeen      `json:"thread"`
	Desired    threadSeen      `json:"desired"`
	Member     *memberOfThread `json:"member,omitempty" jsonschema:"whom an action on members is about"`
}

// threadSeen is all of a thread that can be changed.
type threadSeen struct {
	Type        discord.ChannelType `json:"type"`
	Parent      discord.ChannelID   `json:"parentId"`
	Owner       discord.UserID      `json:"ownerId"`
	Name        string              `json:"name"`
	Archived    bool                `json:"archived"`
	Locked      bool                `json:"locked"`
	AutoArchive int                 `json:"autoArchiveDuration"`
	SlowMode    int                 `json:"rateLimitPerUser"`
	Invitable   bool                `json:"invitable"`
}

type memberOfThread struct {
	ID    discord.UserID   `json:"id"`
	Roles []discord.RoleID `json:"roles"`
	Is    bool             `json:"inThread"`
	Will  bool             `json:"willBeInThread"`
}

// thread is a thread as Discord tells it.
type thread struct {
	channel
	Owner    discord.UserID `json:"owner_id"`
	SlowMode int            `json:"rate_limit_per_user"`
	Meta     struct {
		Archived    bool `json:"archived"`
		Locked      bool `json:"locked"`
		AutoArchive int  `json:"auto_archive_duration"`
		Invitable   bool `json:"invitable"`
	} `json:"thread_metadata"`
}

func (t *thread) seen() threadSeen {
	return threadSeen{t.Type, t.Parent, t.Owner, t.Name, t.Meta.Archived, t.Meta.Locked, t.Meta.AutoArchive, t.SlowMode, t.Meta.Invitable}
}

// threadBody is the request: one field, and no others.
type threadBody struct {
	Name        *string `json:"name,omitempty"`
	Archived    *bool   `json:"archived,omitempty"`
	Locked      *bool   `json:"locked,omitempty"`
	AutoArchive *int    `json:"auto_archive_duration,omitempty"`
	SlowMode    *int    `json:"rate_limit_per_user,omitempty"`
	Invitable   *bool   `json:"invitable,omitempty"`
}

// threadGovernanceChange changes one thing of a thread.
func threadGovernanceChange(rest discordtools.REST) mcpcore.Workflow {
	return change[threadChange, threadChangeState]{
		Name: "thread-governance-change", Noun: "thread_change", Category: "thread-governance", Title: "Change a thread",
		Doc: `Changes one thing of a thread: its name, whether it is archived or locked, when it is archived, its slow mode,
			who may add others, or whether the bot or a member is in it. Of an archived thread nothing can be changed
			but that. Changes of members are not told to the audit log.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds whose threads may be changed"),
			{Name: "threads", Arg: "threadId", Doc: "threads that may be changed"},
			{Name: "users", Arg: "userId", Doc: "members who may be added and removed"},
		},
		Rules: []mcpcore.Rule{{Check: checkThreadArguments}},
		Reads: append(slices.Clone(standingRoutes), routeChannel, routeThreadMember),
		Write: []string{routeChannelEdit, routeThreadJoin, routeThreadLeave, routeThreadAdd, routeThreadRemove},
		Plan:  planThread,
		Targets: func(in threadChange, s threadChangeState) []mcpcore.Target {
			if s.Member != nil {
				return []mcpcore.Target{theChannel(in.ThreadID), theMember(in.GuildID, s.Member.ID)}
			}
			return []mcpcore.Target{theChannel(in.ThreadID)}
		},
		Apply: applyThread,
		ReadBack: func(ctx context.Context, r *reads, in threadChange, s threadChangeState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			if s.Member != nil {
				in, err := r.inThread(ctx, in.ThreadID, s.Member.ID)
				if err == nil && in != s.Member.Will {
					err = errors.New("who is in the thread is not as it was changed")
				}
				return found, err
			}
			t, err := r.thread(ctx, in.GuildID, in.ThreadID)
			if err != nil {
				return found, err
			}
			now := t.seen()
			if err := s.pending(now); err != nil {
				return found, err
			}
			var d drift
			d.unless(now == s.Desired, "thread")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// checkThreadArguments refuses arguments that do not go with the action.
func checkThreadArguments(c *mcpcore.Call) *mcpcore.Issue {
	own := threadArgs[c.Text("action")]
	for _, arg := range []string{"name", "autoArchiveDuration", "rateLimitPerUser", "invitable", "userId"} {
		if c.Has(arg) != (arg == own) {
			return &mcpcore.Issue{Path: arg, Message: "is needed by the actions that it belongs to, and by no others", Code: mcpcore.IssueRule}
		}
	}
	return nil
}

// applyThread sends the one change: of who is in the thread, or of the thread.
func applyThread(ctx context.Context, w *write, in threadChange, s threadChangeState) (done mcpcore.Written, err error) {
	done.ID = string(in.ThreadID)
	if s.Member != nil {
		at := path{"channel_id": string(in.ThreadID)}
		if in.UserID != "" {
			at["user_id"] = string(in.UserID)
		}
		// Discord keeps no reason of it.
		return done, w.sendWith(ctx, threadMembership[in.Action], discordtools.Request{Path: at}, nil, nil)
	}
	var now thread
	if err := w.send(ctx, routeChannelEdit, inChannel(in.ThreadID), s.body(), &now); err != nil {
		return mcpcore.Written{}, err
	}
	if now.ID != in.ThreadID || now.Guild != in.GuildID || s.pending(now.seen()) != nil {
		err = errors.New("the answer is not of the thread as it was changed")
	}
	return done, err
}

// body is the field that differs.
func (s *threadChangeState) body() (b threadBody) {
	was, is := &s.Thread, &s.Desired
	switch {
	case was.Name != is.Name:
		b.Name = &is.Name
	case was.Archived != is.Archived:
		b.Archived = &is.Archived
	case was.Locked != is.Locked:
		b.Locked = &is.Locked
	case was.AutoArchive != is.AutoArchive:
		b.AutoArchive = &is.AutoArchive
	case was.SlowMode != is.SlowMode:
		b.SlowMode = &is.SlowMode
	default:
		b.Invitable = &is.Invitable
	}
	return b
}

// pending is an error while what was to change is not so.
func (s *threadChangeState) pending(now threadSeen) error {
	b := s.body()
	switch {
	case now.Type != s.Desired.Type, b.Archived != nil && now.Archived != s.Desired.Archived, b.Locked != nil && now.Locked != s.Desired.Locked,
		b.AutoArchive != nil && now.AutoArchive != s.Desired.AutoArchive, b.SlowMode != nil && now.SlowMode != s.Desired.SlowMode,
		b.Invitable != nil && now.Invitable != s.Desired.Invitable, b.Name != nil && logical(now.Name) != logical(s.Desired.Name):
		return errors.New("the thread is not as it was changed")
	}
	return nil
}

func planThread(ctx context.Context, r *reads, in threadChange) (plan mcpcore.Change[threadChangeState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	t, err := r.thread(ctx, in.GuildID, in.ThreadID)
	if err != nil {
		return plan, err
	}
	may, err := r.may(ctx, &bot, t.channel)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, threadNeeds(in.Action, t, bot.Bot), "the thread"); err != nil {
		return plan, err
	}
	s := threadChangeState{Guild: bot.Guild, Permission: bot.evidence(), InThread: may.Names(), Thread: t.seen()}
	s.Desired = s.Thread
	facts := mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "thread", Value: t.Name}}
	switch in.Action {
	case "rename":
		s.Desired.Name = in.Name
		facts = append(facts, mcpcore.Fact{Name: "new name", Value: in.Name})
	case "archive", "unarchive":
		s.Desired.Archived = in.Action == "archive"
	case "lock", "unlock":
		s.Desired.Locked = in.Action == "lock"
	case "set-auto-archive-duration":
		s.Desired.AutoArchive = in.AutoArchive
		facts = append(facts, mcpcore.Fact{Name: "archived after", Value: (time.Duration(in.AutoArchive) * time.Minute).String()})
	case "set-slowmode":
		s.Desired.SlowMode = in.SlowMode
		facts = append(facts, mcpcore.Fact{Name: "slow mode", Value: (time.Duration(in.SlowMode) * time.Second).String()})
	case "set-invitable":
		if t.Type != discord.PrivateThread {
			return plan, refused("not-private", "only of private threads it can be said who may add others")
		}
		s.Desired.Invitable = in.Invitable
		facts = append(facts, mcpcore.Fact{Name: "members may add others", Value: fmt.Sprint(in.Invitable)})
	default:
		if s.Member, err = r.planMember(ctx, &bot, in, t); err != nil {
			return plan, err
		}
	}
	plan = mcpcore.Change[threadChangeState]{Action: in.Action, State: s, Facts: facts}
	switch {
	case s.Member != nil && s.Member.Is == s.Member.Will, s.Member == nil && s.Desired == s.Thread:
		plan.Action, plan.Current = "none", true
	case t.Meta.Archived && in.Action != "unarchive":
		return plan, refused("archived", "nothing can be changed of an archived thread; unarchive it first")
	}
	return plan, nil
}

// threadNeeds is what the bot needs in the thread.
func threadNeeds(action string, t thread, bot discord.UserID) discord.Permissions {
	switch action {
	case "join", "leave":
		return discord.ViewChannel
	case "unarchive":
		return discord.ViewChannel | discord.ManageThreads | discord.SendMessagesInThreads
	case "add-member":
		if t.Type != discord.PrivateThread || t.Meta.Invitable || t.Owner == bot {
			return discord.ViewChannel | discord.SendMessagesInThreads
		}
		return discord.ViewChannel | discord.SendMessagesInThreads | discord.ManageThreads
	}
	return discord.ViewChannel | discord.ManageThreads
}

// planMember is whom an action on members is about: the bot itself, or a member
// of the guild who may be added or removed.
func (r *reads) planMember(ctx context.Context, bot *standing, in threadChange, t thread) (m *memberOfThread, err error) {
	m = &memberOfThread{ID: bot.Bot, Roles: bot.Held, Will: in.Action == "join" || in.Action == "add-member"}
	if in.UserID != "" {
		m.ID = in.UserID
		if m.Roles, err = r.planOther(ctx, bot, in, t); err != nil {
			return nil, err
		}
	}
	m.Is, err = r.inThread(ctx, in.ThreadID, m.ID)
	return m, err
}

func (r *reads) planOther(ctx context.Context, bot *standing, in threadChange, t thread) ([]discord.RoleID, error) {
	if in.UserID == bot.Bot {
		return nil, refused("self", "the bot itself joins and leaves")
	}
	var m member
	switch err := r.get(ctx, routeMember, path{"guild_id": string(in.GuildID), "user_id": string(in.UserID)}, &m); {
	case gone(err):
		return nil, refused("member-missing", "the guild has no member %s", in.UserID)
	case err != nil:
		return nil, err
	case m.User.ID != in.UserID || m.Roles == nil:
		return nil, incomplete("the member " + string(in.UserID))
	}
	them, err := bot.as(m)
	if err != nil {
		return nil, err
	}
	if in.Action == "remove-member" {
		if err := r.Call.Protected(string(in.UserID)); err != nil {
			return nil, err
		}
		switch {
		case them.owner():
			return nil, refused("owner", "the owner of the guild is not removed")
		case them.held.Has(discord.Administrator):
			return nil, refused("administrator", "an administrator is not removed")
		}
		return them.Held, nil
	}
	see, err := r.may(ctx, &them, t.channel)
	if err == nil && !see.Has(discord.ViewChannel) {
		err = refused("cannot-see", "the member cannot see the channel of the thread")
	}
	return them.Held, err
}

// as is the standing of another member of the guild.
func (s *standing) as(m member) (standing, error) {
	them := *s
	them.Bot, them.Held, them.top = m.User.ID, slices.Sorted(slices.Values(m.Roles)), role{}
	them.timedOut = m.Timeout != nil && m.Timeout.After(s.now)
	return them, them.weigh()
}

// thread reads a thread of the guild.
func (r *reads) thread(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (t thread, err error) {
	if err := r.get(ctx, routeChannel, inChannel(id), &t); err != nil {
		return t, err
	}
	if err := t.of(guild, id); err != nil {
		return t, err
	}
	switch {
	case !t.Type.IsThread():
		return t, refused("no-thread", "%s is no thread", id)
	case t.Parent == "" || t.Owner == "" || t.Meta.AutoArchive == 0:
		return t, incomplete("the thread " + string(id))
	}
	return t, nil
}

// inThread reports whether a user is in a thread.
func (r *reads) inThread(ctx context.Context, id discord.ChannelID, user discord.UserID) (bool, error) {
	var m struct {
		User discord.UserID `json:"user_id"`
	}
	switch err := r.get(ctx, routeThreadMember, path{"channel_id": string(id), "user_id": string(user)}, &m); {
	case gone(err):
		return false, nil
	case err != nil:
		return false, err
	case m.User != user:
		return false, incomplete("the member of the thread")
	}
	return true, nil
}
