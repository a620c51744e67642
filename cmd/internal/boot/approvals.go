package boot

import (
	"cmp"
	"errors"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

const (
	makeApprover = "make one with: discord-mcp approver new NAME"
	otherLedger  = "set MCP_LEDGER to one that other processes reach, such as sqlite:/var/lib/discord-mcp/approvals.db, and MCP_STATE_KEY with it"

	nobodyAsked = "MCP_APPROVERS: nobody is asked while MCP_HUMAN_APPROVAL is off; set it to gated or writes"

	// whereToDecide completes "decide at …".
	whereToDecide = "a terminal, with discord-mcp approvals decide"
)

// approvers reads MCP_APPROVERS. The problems do not show it.
func approvers(list string) (console.Approvers, []error) {
	a, err := console.ParseApprovers(list)
	var problems []error
	for _, line := range lines(err) {
		problems = append(problems, errors.New("MCP_APPROVERS: "+line))
	}
	return a, problems
}

// checkApprovals finds settings that are wrong, and those that cannot work
// together.
func checkApprovals(c Config) (problems []error) {
	_, problems = approvers(c.Approvers)
	place, err := parseLedger(c.Ledger)
	problems = append(problems, err, place.checkKey(c.StateKey))
	if c.Console != "" && strings.TrimSpace(c.Approvers) == "" {
		problems = append(problems, errors.New("MCP_APPROVERS: the console does not open without somebody who may decide there; "+makeApprover))
	} else if c.asks() == "console" { // also where nobody is asked yet: workflows ask by themselves
		if strings.TrimSpace(c.Approvers) == "" {
			problems = append(problems, errors.New("MCP_APPROVAL_CHANNEL: the console needs MCP_APPROVERS, who may decide there; "+makeApprover))
		}
		if err == nil && !c.seesWhatWaits(place) {
			problems = append(problems, errors.New("MCP_APPROVAL_CHANNEL: the console of another process cannot see what waits in this one's memory; serve it here, with --console or with discord-mcp-http, or "+otherLedger))
		}
	}
	return problems
}

// channel is how a person is asked about the calls that MCP_HUMAN_APPROVAL
// names: console, elicitation, or "" when nobody is.
func (c Config) channel() string {
	if c.HumanApproval == "" || c.HumanApproval == "off" {
		return ""
	}
	return c.asks()
}

// asks is how a person is asked where one must be, as reviewed workflows always
// do.
func (c Config) asks() string {
	place, _ := parseLedger(c.Ledger)
	switch {
	case c.ApprovalChannel == "console" || c.ApprovalChannel == "elicitation":
		return c.ApprovalChannel
	case strings.TrimSpace(c.Approvers) != "" && c.seesWhatWaits(place):
		return "console"
	}
	return "elicitation"
}

// seesWhatWaits reports whether somebody outside can decide what waits in the
// ledger: another process, or the console of this one.
func (c Config) seesWhatWaits(place ledgerPlace) bool { return place.shared() || c.Console != "" }

// idleApprovers warns of approvers who will not be asked.
func idleApprovers(c Config) []string {
	if strings.TrimSpace(c.Approvers) == "" {
		return nil
	}
	switch channel := c.channel(); {
	case channel == "":
		return []string{nobodyAsked}
	case channel == "elicitation" && c.ApprovalChannel != channel:
		return []string{"MCP_APPROVERS: they are not asked, the client's user is; to ask them, " + otherLedger}
	case channel == "elicitation":
		return []string{"MCP_APPROVERS: they are not asked, because MCP_APPROVAL_CHANNEL is elicitation"}
	}
	return nil
}

// approver asks a person as the settings say; nil leaves it to the server, which
// asks the client's user about what is reviewed.
func (c Config) approver() mcpcore.Approver {
	switch {
	case c.asks() == "console":
		those, _ := approvers(c.Approvers) // was checked; nobody where it is wrong
		return mcpcore.InLedger{Where: cmp.Or(c.Console, whereToDecide), Wait: c.ApprovalWait, Check: those.Check}
	case c.channel() == "elicitation":
		return mcpcore.AtClient{}
	}
	return nil
}

// openLedger opens the ledger of the settings; nil is one in memory, which the
// server makes.
func (c Config) openLedger() (Durable, error) {
	place, err := parseLedger(c.Ledger)
	if err != nil {
		return nil, err
	}
	key, err := parseStateKey(c.StateKey)
	if err != nil {
		return nil, err
	}
	return place.open(key)
}

// Approvals are the settings that say where questions wait for a person and who
// may decide, for commands that need no other setting.
type Approvals struct {
	Approvers console.Approvers
	Ledger    string // for people, without a secret

	place ledgerPlace
	key   []byte
}

// ReadApprovals reads them from environ. The error joins everything that is
// wrong; it shows no secret.
func ReadApprovals(environ []string) (a Approvals, err error) {
	vars := env.ToMap(environ)
	var problems []error
	a.Approvers, problems = approvers(vars["MCP_APPROVERS"])
	a.place, err = parseLedger(vars["MCP_LEDGER"])
	a.Ledger = a.place.String()
	problems = append(problems, err, a.place.checkKey(vars["MCP_STATE_KEY"]))
	if err == nil && !a.place.shared() {
		problems = append(problems, errors.New("MCP_LEDGER is memory: what waits there is seen by the server alone. For the server and for this command, "+otherLedger))
	}
	a.key, err = parseStateKey(vars["MCP_STATE_KEY"])
	return a, errors.Join(append(problems, err)...)
}

// Open opens the ledger, which a server must have made.
func (a Approvals) Open() (Durable, error) {
	if err := a.place.exists(); err != nil {
		return nil, err
	}
	return a.place.open(a.key)
}
