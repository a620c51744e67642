package discordtools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type messagesBulkDelete struct {
	channelRef
	MessageIDs []discord.MessageID `json:"message_ids" wire:"messages" jsonschema:"messages of that channel; one alone goes with messages_delete" minItems:"2" maxItems:"100" uniqueItems:"true"`
	auditReason
}

type messagesBulkDeleted struct {
	Deleted   bool                `json:"deleted" from:"@true"`
	ChannelID discord.ChannelID   `json:"channel_id" from:"@arg"`
	Count     int                 `json:"count" from:"@derived"`
	IDs       []discord.MessageID `json:"deleted_ids" from:"@derived"`
	TooOld    []discord.MessageID `json:"too_old,omitempty" from:"@derived" jsonschema:"left, because older than two weeks"`
	NotFound  []discord.MessageID `json:"not_found,omitempty" from:"@derived" jsonschema:"not in this channel"`
}

// bulkAge is Discord's limit of two weeks, less a margin for clocks and for the
// time the request takes.
//
// Source: https://docs.discord.com/developers/resources/message#bulk-delete-messages.
const bulkAge = 14*24*time.Hour - 5*time.Minute

func byAge(ids []discord.MessageID, now time.Time) (fresh, old []discord.MessageID) {
	for _, id := range ids {
		if now.Sub(discord.IDTime(string(id))) < bulkAge {
			fresh = append(fresh, id)
		} else {
			old = append(old, id)
		}
	}
	return fresh, old
}

// bulkPages is how many pages of the channel are looked through for the messages
// to be deleted.
const bulkPages = 3

// seen is what a look at the channel told of messages.
type seen struct {
	authors map[string]int // of those that are there
	missing []discord.MessageID
}

// look reads the channel where the messages are. What lies further back than it
// reads, and everything when nothing is readable, counts as there. That none is
// there is an error.
func (a *api) look(ctx context.Context, ids []discord.MessageID) (s seen, err error) {
	s.authors = map[string]int{}
	if len(ids) == 0 {
		return s, nil
	}
	sought := slices.SortedFunc(slices.Values(ids), byID)
	var found []discord.MessageID
	var readable bool
	before := discord.IDAt(discord.IDTime(string(sought[len(sought)-1])).Add(time.Millisecond))
	for i := range bulkPages {
		a.tell(ctx, float64(i), bulkPages+1, "looking for the messages")
		var page []struct {
			ID     discord.MessageID `json:"id"`
			Author person            `json:"author"`
		}
		if err := a.do(ctx, routeMessages, sub{Query: url.Values{"limit": {"100"}, "before": {before}}}, &page); err != nil {
			return s, err
		}
		for _, m := range page {
			readable = true
			before = string(m.ID)
			if slices.Contains(sought, m.ID) {
				found = append(found, m.ID)
				s.authors[m.Author.String()]++
			}
		}
		if len(page) < 100 {
			before = ""
			break
		}
		if byID(discord.MessageID(before), sought[0]) <= 0 {
			break
		}
	}
	for _, id := range ids {
		if readable && !slices.Contains(found, id) && (before == "" || byID(id, discord.MessageID(before)) > 0) {
			s.missing = append(s.missing, id)
		}
	}
	if len(s.missing) == len(ids) {
		return s, mcpcore.Errorf(mcpcore.CodeNotFound, "none of the messages is in this channel").
			WithHint("Read the channel's messages for their ids.")
	}
	return s, nil
}

// byID orders ids by age, the oldest first.
func byID(a, b discord.MessageID) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func bulkFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var in messagesBulkDelete
	if err := a.call.Bind(&in); err != nil {
		return nil, err
	}
	fresh, old := byAge(in.MessageIDs, a.now())
	s, err := a.look(ctx, fresh)
	if err != nil {
		return nil, err
	}
	var authors []string
	for _, name := range sortedNames(s.authors) {
		authors = append(authors, fmt.Sprintf("%s: %d", name, s.authors[name]))
	}
	return mcpcore.Facts{
		{Name: "will be deleted", Value: fmt.Sprint(len(fresh) - len(s.missing))},
		{Name: "too old, will stay", Value: counted(old)},
		{Name: "not found", Value: counted(s.missing)},
		{Name: "authors", Value: strings.Join(authors, ", ")},
	}, nil
}

// sortedNames orders names by how often they occur, the most frequent first.
func sortedNames(often map[string]int) []string {
	names := make([]string, 0, len(often))
	for name := range often {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(often[b]-often[a], cmp.Compare(a, b)) })
	return names
}

// counted is how many ids there are, and which.
func counted(ids []discord.MessageID) string {
	if len(ids) == 0 {
		return "0"
	}
	s := fmt.Sprintf("%d:", len(ids))
	for _, id := range ids {
		s += " " + string(id)
	}
	return s
}

func bulkDelete(ctx context.Context, a *api, in messagesBulkDelete) (v messagesBulkDeleted, err error) {
	fresh, old := byAge(in.MessageIDs, a.now())
	if len(fresh) == 0 {
		return v, mcpcore.Invalid(*contradiction("message_ids", "are all older than two weeks; delete them one by one with messages_delete"))
	}
	s, err := a.look(ctx, fresh)
	if refused, ok := errors.AsType[*mcpcore.Error](err); ok && refused.Code == mcpcore.CodePermission {
		err = nil // what cannot be read can still be deleted
	}
	if err != nil {
		return v, err
	}
	v = messagesBulkDeleted{Deleted: true, ChannelID: in.ChannelID, TooOld: old, NotFound: s.missing}
	for _, id := range fresh {
		if !slices.Contains(s.missing, id) {
			v.IDs = append(v.IDs, id)
		}
	}
	v.Count = len(v.IDs)
	a.tell(ctx, bulkPages, bulkPages+1, fmt.Sprintf("deleting %d messages", v.Count))
	if v.Count == 1 { // Discord's bulk route takes at least two
		return v, a.do(ctx, "DELETE /channels/{channel_id}/messages/{message_id}", sub{Path: map[string]string{"message_id": string(v.IDs[0])}}, nil)
	}
	list := make([]any, len(v.IDs))
	for i, id := range v.IDs {
		list[i] = string(id)
	}
	return v, a.do(ctx, "POST /channels/{channel_id}/messages/bulk-delete", sub{Body: canon.Append(nil, map[string]any{"messages": list})}, nil)
}
