package discordtools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type intentPlanInput struct {
	Intent       string                `json:"intent" in:"local" jsonschema:"lock_channel, announce, verify or lock_and_announce" minLength:"1" maxLength:"80"`
	GuildID      discord.GuildID       `json:"guild_id" in:"local" jsonschema:"guild"`
	ChannelID    discord.ChannelID     `json:"channel_id" in:"local" jsonschema:"channel"`
	Announcement string                `json:"announcement,omitempty" in:"local" jsonschema:"text to announce" maxLength:"2000"`
	Allow        discord.PermissionSet `json:"allow,omitempty" in:"local" jsonschema:"permission bits that @everyone is given in the channel, as decimal text; 0 for none"`
	Deny         discord.PermissionSet `json:"deny,omitempty" in:"local" jsonschema:"permission bits that @everyone is denied there, as decimal text"`
}

// intentPlan is a plan. Nothing in it depends on anything but the arguments and
// the declarations of the tools, so that the same intent has the same digest.
type intentPlan struct {
	SchemaVersion    string       `json:"schema_version" from:"@derived"`
	Status           string       `json:"status" from:"@derived"` // ready, needs_input or unsupported
	Intent           *string      `json:"intent" from:"@derived"`
	Target           intentTarget `json:"target" from:"@derived"`
	Steps            []intentStep `json:"steps" from:"@derived"`
	Access           intentAccess `json:"access" from:"@derived"`
	ApprovalBoundary string       `json:"approval_boundary" from:"@derived"` // per_write or none
	VerificationStep *string      `json:"verification_step_id" from:"@derived"`
	PlanDigest       string       `json:"plan_digest" from:"@derived"` // of the plan without it
	Warnings         []string     `json:"warnings" from:"@derived"`
}

type intentTarget struct {
	GuildID   discord.GuildID   `json:"guild_id"`
	ChannelID discord.ChannelID `json:"channel_id"`
}

type intentStep struct {
	ID               string     `json:"id"`
	Action           string     `json:"action"` // write or verify
	Tool             string     `json:"tool"`
	Purpose          string     `json:"purpose"`
	Args             intentArgs `json:"args"`
	Access           stepAccess `json:"access"`
	DependsOn        []string   `json:"depends_on"`
	RequiresApproval bool       `json:"requires_approval"`
}

// intentArgs are the arguments of a step: those that its tool takes.
type intentArgs struct {
	GuildID     discord.GuildID       `json:"guild_id,omitempty"`
	ChannelID   discord.ChannelID     `json:"channel_id"`
	OverwriteID discord.OverwriteID   `json:"overwrite_id,omitempty"`
	Type        *int                  `json:"type,omitempty"`
	Allow       discord.PermissionSet `json:"allow,omitempty"`
	Deny        discord.PermissionSet `json:"deny,omitempty"`
	Content     string                `json:"content,omitempty"`
}

type stepAccess struct {
	Auth        string   `json:"auth"`
	Permissions []string `json:"permissions"`
	Intents     []string `json:"intents"`
	Scope       string   `json:"scope"`
	Hierarchy   string   `json:"hierarchy"` // required or none
}

type intentAccess struct {
	Permissions []string `json:"permissions"`
	Scopes      []string `json:"scopes"`
}

const (
	lockChannel     = "lock_channel"
	announce        = "announce"
	verifyChannel   = "verify"
	lockAndAnnounce = "lock_and_announce"
)

// intents are the names of the intents, in English and in Vietnamese without
// its marks.
var intents = map[string]string{
	lockChannel: lockChannel, "khoa_kenh": lockChannel,
	announce: announce, "thong_bao": announce,
	verifyChannel: verifyChannel, "xac_minh": verifyChannel, "kiem_tra": verifyChannel,
	lockAndAnnounce: lockAndAnnounce, "khoa_kenh_va_thong_bao": lockAndAnnounce, "khoa_va_thong_bao": lockAndAnnounce,
	"announce_and_lock": lockAndAnnounce, "lock_channel_and_announce": lockAndAnnounce,
}

var wordBreaks = regexp.MustCompile(`[\s-]+`)

// intentNamed is the intent that a caller means, "" for none.
func intentNamed(words string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == 'đ':
			return 'd'
		}
		return r
	}, norm.NFD.String(strings.ToLower(strings.TrimSpace(words))))
	return intents[wordBreaks.ReplaceAllString(plain, "_")]
}

func locksChannel(intent string) bool  { return intent == lockChannel || intent == lockAndAnnounce }
func announcesText(intent string) bool { return intent == announce || intent == lockAndAnnounce }

func planIntent(_ context.Context, a *api, in intentPlanInput) (v intentPlan, err error) {
	v = intentPlan{
		SchemaVersion: "discord_intent_plan.v1", Status: "ready", ApprovalBoundary: "none",
		Target: intentTarget{in.GuildID, in.ChannelID}, Steps: []intentStep{}, Warnings: []string{},
		Access: intentAccess{[]string{}, []string{}},
	}
	switch intent := intentNamed(in.Intent); {
	case intent == "":
		v.Status = "unsupported"
		v.Warnings = append(v.Warnings, "there is no such intent; there are: "+strings.Join([]string{lockChannel, announce, verifyChannel, lockAndAnnounce}, ", "))
	default:
		v.Intent = &intent
		if v.Warnings = append(v.Warnings, in.lacks(intent)...); len(v.Warnings) > 0 {
			v.Status = "needs_input"
			break
		}
		v.plan(a.call, intent, in)
	}
	v.PlanDigest, err = v.digest()
	return v, err
}

// lacks says what an intent needs and was not given.
func (in *intentPlanInput) lacks(intent string) (missing []string) {
	if locksChannel(intent) {
		both := in.Allow.Overlap(in.Deny)
		switch {
		case in.Allow == "" || in.Deny == "":
			missing = append(missing, "allow and deny are needed, since they replace what the channel allows and denies @everyone now")
		case len(both) > 0:
			missing = append(missing, "allow and deny both name "+strings.Join(both, ", "))
		}
	}
	if announcesText(intent) && strings.TrimSpace(in.Announcement) == "" {
		missing = append(missing, "announcement is needed")
	}
	return missing
}

// plan adds the steps of an intent that lacks nothing.
func (v *intentPlan) plan(call *mcpcore.Call, intent string, in intentPlanInput) {
	role := 0
	if locksChannel(intent) {
		v.add(call, intentStep{
			ID: "lock-channel", Action: "write", Tool: "channels_modify_permissions",
			Purpose: "Sets what @everyone may do in the channel.",
			Args: intentArgs{
				ChannelID: in.ChannelID, OverwriteID: discord.OverwriteID(in.GuildID), Type: &role, Allow: in.Allow, Deny: in.Deny,
			},
		})
	}
	if announcesText(intent) {
		v.add(call, intentStep{
			ID: "announce", Action: "write", Tool: "messages_send",
			Purpose: "Posts the announcement in the channel.",
			Args:    intentArgs{ChannelID: in.ChannelID, Content: in.Announcement},
		})
	}
	if intent == verifyChannel || intent == lockAndAnnounce {
		id := "verify-channel"
		v.add(call, intentStep{
			ID: id, Action: "verify", Tool: "permissions_audit_channel",
			Purpose: "Reads who may do what in the channel.",
			Args:    intentArgs{GuildID: in.GuildID, ChannelID: in.ChannelID},
		})
		v.VerificationStep = &id
	}
	deny, err := in.Deny.Permissions()
	if shut := deny & (discord.ViewChannel | discord.SendMessages); intent == lockAndAnnounce && err == nil && shut != 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("denying @everyone %s denies it to the bot as well, unless a role's or its own overwrite in the channel allows it: announce may then be refused", shut))
	}
	slices.Sort(v.Access.Permissions)
	slices.Sort(v.Access.Scopes)
	v.Access.Permissions, v.Access.Scopes = slices.Compact(v.Access.Permissions), slices.Compact(v.Access.Scopes)
}

// add appends a step that waits for those before it. What it needs is what its
// tool declares.
func (v *intentPlan) add(call *mcpcore.Call, s intentStep) {
	s.DependsOn = []string{}
	for _, before := range v.Steps {
		s.DependsOn = append(s.DependsOn, before.ID)
	}
	s.Access = stepAccess{Auth: "bot", Permissions: []string{}, Intents: []string{}, Scope: mcpcore.ChannelScope.String(), Hierarchy: "none"}
	if t, ok := call.Peer(s.Tool); ok {
		s.Access.Permissions = append(s.Access.Permissions, t.Needs.Names()...)
		s.Access.Intents = append(s.Access.Intents, t.Intents.Names()...)
		s.Access.Scope = t.Scope.String()
		if t.Outranks != "" {
			s.Access.Hierarchy = "required"
		}
	} else {
		v.Warnings = append(v.Warnings, fmt.Sprintf("this server has no %s", s.Tool))
	}
	if s.RequiresApproval = s.Action == "write"; s.RequiresApproval {
		v.ApprovalBoundary = "per_write"
	}
	v.Access.Permissions = append(v.Access.Permissions, s.Access.Permissions...)
	v.Access.Scopes = append(v.Access.Scopes, s.Access.Scope)
	v.Steps = append(v.Steps, s)
}

// digest is that of the plan's canonical JSON without the digest.
func (v *intentPlan) digest() (string, error) {
	raw, err := canon.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	plan, fault := args.Parse(raw)
	if fault != nil {
		return "", fmt.Errorf("read plan: %s", fault.Message)
	}
	delete(plan, "plan_digest")
	sum := sha256.Sum256(canon.Append(nil, plan))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
