package workflows

import (
	"context"
	"slices"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// readers is how many of a bulk change's reads are made at once.
const readers = 8

// forEach reads for each user, some at once, and keeps their order. The error is
// that of the first of them, in this order, that failed.
func forEach[T any](ctx context.Context, users []discord.UserID, read func(ctx context.Context, id discord.UserID) (T, error)) ([]T, error) {
	all, errs := make([]T, len(users)), make([]error, len(users))
	var reading sync.WaitGroup
	turn := make(chan struct{}, readers)
	for i, id := range users {
		turn <- struct{}{}
		reading.Go(func() {
			defer func() { <-turn }()
			all[i], errs[i] = read(ctx, id)
		})
	}
	reading.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sortedUsers is the ids by their number.
func sortedUsers(ids []discord.UserID) []discord.UserID {
	return slices.SortedFunc(slices.Values(ids), discord.CompareIDs)
}
