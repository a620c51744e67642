package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Books are the business's own system. A write that it refuses is
// mcpcore.NotDone; any other error of a write leaves open whether it happened.
type Books interface {
	Draft(ctx context.Context, invoice string) (draft, error)
	Send(ctx context.Context, invoice string) (parcel string, err error)
	Prices(ctx context.Context, shelf string) (map[string]int, error)
	SetPrices(ctx context.Context, shelf string, cents map[string]int) error
}

// shop is one in memory.
type shop struct {
	mu     sync.Mutex
	drafts map[string]draft
	cents  map[string]int
	writes []string
}

func demo() *shop {
	return &shop{
		drafts: map[string]draft{"2031-7": {Invoice: "2031-7", Customer: "lantern-cafe", Cents: 12950}},
		cents:  map[string]int{"lamp-a": 1000, "lamp-b": 1200, "lamp-c": 900, "lamp-d": 2000, "lamp-e": 500, "lamp-f": 700, "lamp-g": 800},
	}
}

func (s *shop) Draft(_ context.Context, invoice string) (draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.drafts[invoice]
	if !ok {
		return d, mcpcore.Errorf(mcpcore.CodePlanRefused, "there is no draft %s", invoice)
	}
	return d, nil
}

func (s *shop) Send(_ context.Context, invoice string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.drafts[invoice]
	if d.Sent {
		return "", mcpcore.NotDone(fmt.Errorf("the invoice %s was sent before", invoice))
	}
	d.Sent = true
	s.drafts[invoice], s.writes = d, append(s.writes, "send "+invoice)
	return "parcel-" + invoice, nil
}

func (s *shop) Prices(context.Context, string) (map[string]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.cents), nil
}

func (s *shop) SetPrices(_ context.Context, shelf string, cents map[string]int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cents, s.writes = maps.Clone(cents), append(s.writes, "prices of "+shelf)
	return nil
}

func compare(a, b string) int { return strings.Compare(a, b) }
