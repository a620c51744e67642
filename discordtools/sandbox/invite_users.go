package sandbox

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// inviteUsers reads the file of the users who alone can accept an invite, which
// takes MANAGE_GUILD: one id on each line.
func (x *exchange) inviteUsers(g *guild, i *Invite) error {
	for _, f := range x.files {
		if f.field != "target_users_file" {
			continue
		}
		if !x.world.inGuild(g, x.actor).Has(discord.ManageGuild) {
			return errMissingPermissions
		}
		for line := range strings.Lines(string(f.data)) {
			id := discord.UserID(strings.TrimSpace(line))
			if x.users[id] == nil {
				return invalid("target_users_file", "INVALID_USER_ID", "Invalid user %q", string(id))
			}
			i.Users = append(i.Users, id)
		}
	}
	return nil
}

// onInviteUsers resolves {code} to an invite for some users, which its maker sees
// and who manages the guild or reads its audit log.
func onInviteUsers(handle func(*exchange, *Invite) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		i := x.invites[x.params["code"]]
		if i == nil || !x.good(i) || len(i.Users) == 0 {
			return refuse(errUnknownInvite)
		}
		held := x.world.inGuild(x.guilds[x.channels[i.Channel].Guild], x.actor)
		if i.Inviter != x.actor && held&(discord.ManageGuild|discord.ViewAuditLog) == 0 {
			return refuse(errMissingPermissions)
		}
		return handle(x, i)
	}
}

func getInviteUsers(_ *exchange, i *Invite) (answer, error) {
	file := bytes.NewBufferString("user_id\n")
	for _, id := range i.Users {
		file.WriteString(string(id) + "\n")
	}
	return answer{status: http.StatusOK, raw: file.Bytes(), kind: "text/csv"}, nil
}

type inviteJob struct {
	Status    int     `json:"status"` // 1 is going on, 2 is done
	Total     int     `json:"total_users"`
	Processed int     `json:"processed_users"`
	Created   *string `json:"created_at"`
	Completed *string `json:"completed_at"`
	Error     *string `json:"error_message"`
}

// getInviteJob tells how far the reading of the file is: who asks first is too
// early.
func getInviteJob(_ *exchange, i *Invite) (answer, error) {
	job := inviteJob{Status: 1, Total: len(i.Users), Created: stampOrNull(i.Created)}
	if i.asked {
		job.Status, job.Processed, job.Completed = 2, len(i.Users), stampOrNull(i.Created)
	}
	i.asked = true
	return ok(job)
}
