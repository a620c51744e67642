package console

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// How many decisions and records the history looks through.
const (
	maxDecisions = 100
	maxRecords   = 500
)

type historyPage struct {
	Text      string // the filter: a part of a tool's, a principal's or a person's name
	Only      string // "", approved, refused, failed
	Decisions []mcpcore.Approval
	Records   []record
	NoLedger  bool // the ledger does not list what was decided
	NoRecords bool // there is no reader of them
	Problem   string
}

// record is an audit event as a page shows it.
type record struct {
	mcpcore.AuditEvent
	ArgsText string
}

func (c *Console) history(w http.ResponseWriter, r *http.Request) {
	p := historyPage{Text: oneLine(strings.TrimSpace(r.URL.Query().Get("text")), 64), Only: r.URL.Query().Get("only"), NoRecords: c.o.Records == nil}
	if decided, ok := c.o.Ledger.(interface {
		Decided(ctx context.Context, limit int) ([]mcpcore.Approval, error)
	}); ok {
		all, err := decided.Decided(r.Context(), maxDecisions)
		if err != nil {
			c.o.Logger.ErrorContext(r.Context(), "console: the ledger does not say what was decided", "error", err)
			p.Problem = "The ledger does not say what was decided. Try again."
		}
		for _, a := range all {
			if a.Decision != nil && p.wants(a.Decision.Approve, a.Tool, a.Principal, a.Decision.By) {
				p.Decisions = append(p.Decisions, a)
			}
		}
	} else {
		p.NoLedger = true
	}
	if c.o.Records != nil {
		all, err := c.o.Records.Recent(r.Context(), maxRecords)
		if err != nil {
			c.o.Logger.ErrorContext(r.Context(), "console: the audit records cannot be read", "error", err)
			p.Problem = "The audit records cannot be read. Try again."
		}
		for _, e := range all {
			if p.keeps(e) {
				args, _ := value(e.Args)
				p.Records = append(p.Records, record{e, args})
			}
		}
	}
	c.page(w, r, http.StatusOK, "history", p)
}

// wants reports whether a decision passes the filter.
func (p *historyPage) wants(approved bool, names ...string) bool {
	if p.Only == "failed" || p.Only == "approved" && !approved || p.Only == "refused" && approved {
		return false
	}
	return p.names(names...)
}

// keeps reports whether a record passes the filter.
func (p *historyPage) keeps(e mcpcore.AuditEvent) bool {
	switch p.Only {
	case "approved":
		if e.ApprovedBy == "" {
			return false
		}
	case "refused":
		if e.ResultCode != mcpcore.CodeHumanRefused {
			return false
		}
	case "failed":
		if e.Status == "success" {
			return false
		}
	}
	return p.names(e.Tool, e.Principal, e.ApprovedBy, cmp.Or(string(e.ResultCode), e.Status))
}

func (p *historyPage) names(all ...string) bool {
	return strings.Contains(strings.ToLower(strings.Join(all, "\n")), strings.ToLower(p.Text))
}
