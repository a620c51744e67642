//go:build unix

package main_test

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestSignalsEndTheProcess(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := serve(t, nil, "serve", "--sandbox")
			p.handshake()
			p.works()
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if e := p.wait(); e.status != 0 { // stdin is still open
				t.Errorf("exit status %d; stderr:\n%s", e.status, e.stderr)
			}
		})
	}
}

// TestAnotherSignalEndsAtOnce has a call in flight that Discord never answers.
func TestAnotherSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := serve(t, []string{"DISCORD_API_BASE=http://" + l.Addr().String()}, "serve")
	p.handshake()
	p.send(call("1", "messages_read", `{"channel_id":"`+general+`"}`))
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	// A signal that comes while the first is being taken in counts as the same;
	// so signal until the process is gone, with an answer between each two.
	for alive := true; alive; {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(p.in, call("2", "messages_read", `{}`)+"\n")
		_, alive = <-p.lines
	}
	p.wait()
	state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !state.Signaled() || state.Signal() != syscall.SIGTERM {
		t.Errorf("no later signal ended the process: %v", p.cmd.ProcessState)
	}
}
