package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// seat is a terminal at which a command runs. Its standard streams are pipes.
type seat struct {
	r        *rig
	cmd      *exec.Cmd
	terminal *os.File // the other end
	out, err bytes.Buffer

	mu    sync.Mutex
	shown bytes.Buffer
	more  chan struct{} // after each piece that is shown; closed at the end
}

func (r *rig) sit(more []string, stdin string, args ...string) *seat {
	t := r.t
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(terminal.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	path, err := r.binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{r: r, cmd: command(context.Background(), slices.Concat(r.env, more), args...), terminal: terminal, more: make(chan struct{}, 1)}
	s.cmd.Path = path
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = strings.NewReader(stdin), &s.out, &s.err
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// One end stays open here, so that the terminal can be looked at when the
	// process is gone.
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = theirs.Close()
		_ = terminal.Close()
	})
	go s.watch()
	return s
}

func (s *seat) watch() {
	defer close(s.more)
	for piece := make([]byte, 4096); ; {
		n, err := s.terminal.Read(piece)
		s.mu.Lock()
		s.shown.Write(piece[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case s.more <- struct{}{}:
		default:
		}
	}
}

func (s *seat) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// asked waits for the question for a token.
func (s *seat) asked() {
	s.r.t.Helper()
	for late := time.After(limit); !strings.Contains(s.screen(), "token: "); {
		select {
		case <-s.more:
		case <-late:
			s.r.t.Fatalf("no token is asked for; the terminal shows:\n%s\nstderr:\n%s", s.screen(), &s.err)
		}
	}
}

func (s *seat) types(text string) {
	s.r.t.Helper()
	if _, err := s.terminal.WriteString(text); err != nil {
		s.r.t.Fatal(err)
	}
}

// ends waits for the end of the command.
func (s *seat) ends() ended {
	s.r.t.Helper()
	kill := time.AfterFunc(limit, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	_ = s.cmd.Wait()
	e := ended{s.cmd.ProcessState.ExitCode(), s.out.String(), s.err.String()}
	e.keepsSecrets(s.r.t)
	s.r.keeps(e.stdout + e.stderr + s.screen())
	state, err := unix.IoctlGetTermios(int(s.terminal.Fd()), unix.TCGETS)
	if err != nil {
		s.r.t.Fatal(err)
	}
	if state.Lflag&unix.ECHO == 0 || state.Lflag&unix.ICANON == 0 {
		s.r.t.Error("the terminal is not left as it was")
	}
	return e
}

func TestApproveLetsTheCallActOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.waits()
	s := r.sit(nil, "", "approvals", "decide", string(id), "--approve")
	s.asked()
	for _, want := range []string{string(id), "messages_delete", "asked by stdio", `message_id: "1200000000000000503"`, "To approve this"} {
		if !strings.Contains(s.screen(), want) {
			t.Errorf("the terminal does not show %q:\n%s", want, s.screen())
		}
	}
	r.undecided(id)
	s.types(r.ana + "\r")
	if e := s.ends(); e.status != 0 || !strings.Contains(e.stdout, "Approved by ana") || !strings.Contains(e.stdout, "identical call") || e.stderr != "" {
		t.Errorf("%+v", e)
	}
	r.actsOnce(id)
}

// TestADecisionFromTheTerminalToTheAudit is all of it as people run it: a server
// that goes on running, the file, a person at a terminal.
func TestADecisionFromTheTerminalToTheAudit(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	s, end := agent(t, eras[1], slices.Concat(r.env, []string{"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + file}), "serve", "--sandbox")
	sent := ask(t, s, "messages_send", `{"channel_id":"`+general+`","content":"short-lived"}`)
	target := `{"channel_id":"` + general + `","message_id":"` + sent.MessageID + `"`
	call := func() answer { return ask(t, s, "messages_delete", target+`,"__confirm":true}`) }
	if got := call(); got.Code != string(mcpcore.CodeHumanPending) || got.ApprovalID == "" {
		t.Fatalf("no person is asked: %+v", got)
	}
	id := call().ApprovalID
	person := r.sit(nil, "", "approvals", "decide", id, "--approve")
	person.asked()
	if got := call(); got.Code != string(mcpcore.CodeHumanPending) || got.ApprovalID != id {
		t.Errorf("while the person looks at it: %+v", got)
	}
	person.types(r.ana + "\r")
	if e := person.ends(); e.status != 0 || !strings.Contains(e.stdout, "Approved by ana") || e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	if got := call(); got.Code != "" {
		t.Errorf("the approved call does not act: %+v", got)
	}
	if got := ask(t, s, "messages_get", target+`}`); got.Code == "" {
		t.Errorf("the message is still there: %+v", got)
	}
	if got := call(); got.Code == "" {
		t.Errorf("it acts again: %+v", got)
	}
	end()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r.keeps(string(text))
	acted := 0
	for line := range strings.Lines(string(text)) {
		var e mcpcore.AuditEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Tool == "messages_delete" && e.Phase == mcpcore.Outcome && e.ResultCode == "" {
			acted++
			if e.ApprovedBy != "ana" {
				t.Errorf("the audit does not name her: %s", line)
			}
		} else if e.ApprovedBy != "" && e.Phase == mcpcore.Outcome {
			t.Errorf("somebody is said to have approved %s", line)
		}
	}
	if acted != 1 {
		t.Errorf("it acted %d times:\n%s", acted, text)
	}
}

// TestApproveInADatabase has the binary as it is, on databases as they are: the
// call, the decision and the call again are processes of their own.
func TestApproveInADatabase(t *testing.T) {
	t.Parallel()
	for name, ledger := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "approvals.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Schema(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.binary, r.env = func() (string, error) { return binary, nil }, append(r.env, "MCP_LEDGER="+ledger(t))
			id := r.waits()
			if again := r.waits(); again != id {
				t.Error("the identical call is asked about twice")
			}
			if e := r.run(nil, "", "approvals", "list"); e.status != 0 || !strings.Contains(e.stdout, string(id)) || !strings.Contains(e.stdout, `message_id: "1200000000000000503"`) {
				t.Errorf("%+v", e)
			}
			s := r.sit(nil, "", "approvals", "decide", string(id), "--approve")
			s.asked()
			s.types(r.ana + "\r")
			if e := s.ends(); e.status != 0 || !strings.Contains(e.stdout, "Approved by ana") {
				t.Errorf("%+v", e)
			}
			r.actsOnce(id)
		})
	}
}

func TestRefuseTellsTheAgentWhoAndWhy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.sit(nil, "", "approvals", "decide", string(r.waits()), "--refuse", "--reason", " not today ")
	s.asked()
	if !strings.Contains(s.screen(), "To refuse this") {
		t.Errorf("the terminal shows\n%s", s.screen())
	}
	s.types(" " + r.ana + " \n")
	if e := s.ends(); e.status != 0 || !strings.Contains(e.stdout, "Refused by ana") || e.stderr != "" {
		t.Errorf("%+v", e)
	}
	if e, answer := r.act(); e.status != 1 || answer.Code != mcpcore.CodeHumanRefused || answer.By != "ana" || answer.Reason != "not today" {
		t.Errorf("%+v", e)
	}
}

func TestOnlyAnApproversTokenOnTheTerminalDecides(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.waits()
	for name, row := range map[string]struct {
		types  string
		stdin  string
		status int
		says   string
	}{
		"nobody's token":        {r.ben + "\r", "", 1, "MCP_APPROVERS"},
		"no token":              {"ana\r", "", 1, "MCP_APPROVERS"},
		"half a token":          {r.ana[:30] + "\r", "", 1, "MCP_APPROVERS"},
		"nothing":               {"\r", "", 2, "no token was given"},
		"nothing, and a pipe":   {"\r", r.ana + "\n", 2, "no token was given"},
		"Ctrl-C, and a pipe":    {"\x03", r.ana + "\n", 2, "nothing was decided"},
		"Ctrl-D":                {"\x04", "", 2, "nothing was decided"},
		"nobody's, and a pipe ": {r.ben + "\r", r.ana + "\n", 1, "MCP_APPROVERS"},
	} {
		s := r.sit([]string{"TOKEN=" + r.ana, "MCP_APPROVER_TOKEN=" + r.ana}, row.stdin, "approvals", "decide", string(id), "--approve")
		s.asked()
		s.types(row.types)
		if e := s.ends(); e.status != row.status || e.stdout != "" || !strings.Contains(e.stderr, row.says) {
			t.Errorf("%s: %+v", name, e)
		}
		r.undecided(id)
	}
}

func TestASignalLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.waits()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		s := r.sit(nil, "", "approvals", "decide", string(id), "--approve")
		s.asked()
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if e := s.ends(); e.status != 2 || !strings.Contains(e.stderr, "nothing was decided") {
			t.Errorf("%v: %+v", signal, e)
		}
		r.undecided(id)
	}
}

// TestAnAgentCannotApprove has the server's environment, a shell, and a token
// that it should not have, but no terminal.
func TestAnAgentCannotApprove(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.waits()
	for name, row := range map[string]struct {
		stdin string
		more  []string
	}{
		"nothing":         {},
		"a pipe":          {r.ana + "\n", nil},
		"the environment": {"", []string{"TOKEN=" + r.ana, "MCP_APPROVER_TOKEN=" + r.ana}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		path, err := r.binary()
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(ctx, slices.Concat(r.env, row.more), "approvals", "decide", string(id), "--approve")
		cmd.Path, cmd.SysProcAttr = path, &syscall.SysProcAttr{Setsid: true}
		e := end(ctx, t, cmd, row.stdin)
		if e.status != 2 || e.stdout != "" || !strings.Contains(e.stderr, "no terminal") || !strings.Contains(e.stderr, "Run this command yourself") {
			t.Errorf("%s: %+v", name, e)
		}
		r.keeps(e.stdout + e.stderr)
		r.undecided(id)
	}
	if e, answer := r.act(); e.status != 1 || answer.Code != mcpcore.CodeHumanPending || !strings.Contains(answer.Hint, "discord-mcp approvals decide") {
		t.Errorf("%+v", e)
	}
}

func TestNothingLeftToDecide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	decided, expired := r.waits(), mcpcore.ApprovalID("")
	if err := r.Decide(t.Context(), decided, r.signed(decided, false, "")); err != nil {
		t.Fatal(err)
	}
	a, err := r.Propose(t.Context(), mcpcore.Proposal{Purpose: mcpcore.ForPerson, Fingerprint: "e", Shown: json.RawMessage(`"x"`), Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	expired = a.ID
	other, err := r.Propose(t.Context(), mcpcore.Proposal{Purpose: mcpcore.ForPayload, Fingerprint: "f"})
	if err != nil {
		t.Fatal(err)
	}
	r.passes(time.Minute)
	for name, id := range map[string]mcpcore.ApprovalID{"unknown": "7b0c8c1e-0000-4000-8000-000000000000", "decided": decided, "expired": expired, "not for a person": other.ID, "a token": mcpcore.ApprovalID(r.ana)} {
		s := r.sit(nil, "", "approvals", "decide", string(id), "--approve")
		if e := s.ends(); e.status != 1 || e.stdout != "" || !strings.Contains(e.stderr, "approvals list") || strings.Contains(s.screen(), "token: ") {
			t.Errorf("%s: %+v\n%s", name, e, s.screen())
		}
	}
	if _, answer := r.act(); answer.By != "ana" {
		t.Errorf("the first decision does not stand: %+v", answer)
	}
}

// TestMeanwhile changes what waits while the person is looking at it.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*rig, mcpcore.Approval) error
		says   string
	}{
		"decided": {func(r *rig, a mcpcore.Approval) error {
			return r.Decide(t.Context(), a.ID, mcpcore.Decision{By: "eva", Approve: true})
		}, "the first decision stands"},
		"expired": {func(r *rig, _ mcpcore.Approval) error { r.passes(time.Minute); return nil }, "send the call again"},
		"other facts": {func(r *rig, a mcpcore.Approval) error {
			a.Facts = "changed"
			_, err := r.Propose(t.Context(), a.Proposal)
			return err
		}, "approvals list"},
		"used": {func(r *rig, a mcpcore.Approval) error {
			if err := r.Decide(t.Context(), a.ID, mcpcore.Decision{By: "eva", Approve: true}); err != nil {
				return err
			}
			return r.Spend(t.Context(), mcpcore.Spend{ID: a.ID, Fingerprint: a.Fingerprint, Facts: a.Facts})
		}, "the first decision stands"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a, err := r.Propose(t.Context(), mcpcore.Proposal{Purpose: mcpcore.ForPerson, Fingerprint: "f", Shown: json.RawMessage(`"Really?"`), Lifetime: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			s := r.sit(nil, "", "approvals", "decide", string(a.ID), "--refuse")
			s.asked()
			if err := row.change(r, a); err != nil {
				t.Fatal(err)
			}
			s.types(r.ana + "\r")
			if e := s.ends(); e.status != 1 || e.stdout != "" || !strings.HasPrefix(e.stderr, "Nothing was decided: ") || !strings.Contains(e.stderr, row.says) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestDecideNeedsApproversAndAQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.waits()
	s := r.sit([]string{"MCP_APPROVERS="}, "", "approvals", "decide", string(id), "--approve")
	if e := s.ends(); e.status != 2 || !strings.Contains(e.stderr, "discord-mcp approver new NAME") {
		t.Errorf("%+v", e)
	}
	a, err := r.Propose(t.Context(), mcpcore.Proposal{Purpose: mcpcore.ForPerson, Fingerprint: "f"})
	if err != nil {
		t.Fatal(err)
	}
	s = r.sit(nil, "", "approvals", "decide", string(a.ID), "--approve")
	if e := s.ends(); e.status != 1 || !strings.Contains(e.stderr, "cannot be shown") || strings.Contains(s.screen(), "token: ") {
		t.Errorf("%+v", e)
	}
	r.undecided(a.ID)
}
