package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledgertest"
)

// plain writes lines without the time.
func plain(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

var closing = mcpcore.Proposal{Purpose: mcpcore.ForPerson, Tool: "channels_delete", Principal: "stdio", Fingerprint: "4f1a"}

func Example() {
	ctx := context.Background()
	l := watched{ledger.NewMemory(nil), slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: plain}))}
	a, err := l.Propose(ctx, closing)
	spend := mcpcore.Spend{ID: a.ID, Fingerprint: a.Fingerprint}
	err = errors.Join(err, l.Decide(ctx, a.ID, mcpcore.Decision{By: "Ada", Approve: true}), l.Spend(ctx, spend))
	fmt.Println(err, errors.Is(l.Spend(ctx, spend), mcpcore.ErrApprovalSpent))
	// Output:
	// level=INFO msg="a person is asked" for=stdio tool=channels_delete fingerprint=4f1a
	// level=INFO msg="a person decided" by=Ada approved=true reason=""
	// level=INFO msg="an approval was used" fingerprint=4f1a
	// level=WARN msg="an approval was not used" fingerprint=4f1a why="approval was spent"
	// <nil> true
}

func TestWatchedIsALedger(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(_ *testing.T, clock func() time.Time) mcpcore.Ledger {
		return watched{ledger.NewMemory(clock), slog.New(slog.DiscardHandler)}
	})
}

func TestLogShowsNoID(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("k", 32)
	for _, file := range []string{"", filepath.Join(t.TempDir(), "approvals.db")} {
		inner, err := open(file, secret)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		l := watched{inner, slog.New(slog.NewTextHandler(&log, nil))}
		a, err := l.Propose(t.Context(), closing)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Spend(t.Context(), mcpcore.Spend{ID: a.ID}) // for something else
		if err := l.Decide(t.Context(), a.ID, mcpcore.Decision{By: "Ada"}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "\n"); n != 3 || strings.Contains(log.String(), string(a.ID)) {
			t.Errorf("the log has %d lines:\n%s", n, &log)
		}
	}
	if l, err := open(filepath.Join(t.TempDir(), "approvals.db"), "short"); err == nil {
		t.Errorf("a short key opens %v", l)
	}
}
