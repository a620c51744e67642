package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// How long Discord may take to read the file of an invite's users.
const (
	inviteJobReads = 40
	inviteJobWait  = 250 * time.Millisecond
)

// What an invite's job is, by Discord's numbers.
const (
	inviteJobDone   = 2
	inviteJobFailed = 3
)

// userFile is a file with one user on each line.
func userFile(users []discord.UserID) []byte {
	var b strings.Builder
	for _, id := range users {
		b.WriteString(string(id) + "\n")
	}
	return []byte(b.String())
}

// readUserFile reads a file with one user on each line, by id. A first line may be
// a heading.
func readUserFile(file []byte) (users []discord.UserID, err error) {
	for i, line := range strings.Split(strings.TrimRight(string(file), "\r\n"), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case discord.CheckID(line) == nil:
			users = append(users, discord.UserID(line))
		case i > 0 || strings.ContainsAny(line, ",;\t"):
			return nil, fmt.Errorf("line %d of the users of the invite is no user", i+1)
		}
	}
	slices.SortFunc(users, discord.CompareIDs)
	return users, nil
}

// accepts proves that exactly the users can accept an invite: everybody where
// there are none. Discord reads their file after it answered.
func (r *reads) accepts(ctx context.Context, code string, users []discord.UserID) error {
	if len(users) == 0 {
		return nil
	}
	at := path{"code": code}
	for read := 1; ; read++ {
		var job struct {
			Status int `json:"status"`
			Total  int `json:"total_users"`
		}
		if err := r.get(ctx, routeInviteJob, at, &job); err != nil {
			return err
		}
		switch {
		case job.Status == inviteJobFailed:
			return errors.New("Discord could not read for whom the invite is")
		case job.Status == inviteJobDone && job.Total != len(users):
			return errors.New("the invite is for another number of users")
		case job.Status != inviteJobDone && read == inviteJobReads:
			return errors.New("Discord has not read in time for whom the invite is")
		}
		if job.Status == inviteJobDone {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(inviteJobWait):
		}
	}
	file, err := r.raw(ctx, routeInviteUsers, at, nil)
	if err != nil {
		return err
	}
	can, err := readUserFile(file)
	if err == nil && !slices.Equal(can, users) {
		err = errors.New("the invite is for other users than was planned")
	}
	return err
}
