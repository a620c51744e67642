//go:build linux || darwin

package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

// victim is the process that is killed: it records calls for ever and prints
// those that were answered for. With a step it kills itself in the middle of
// that step, counted from its start.
const (
	victimPath = "GUILDWARDEN_TEST_VICTIM"
	victimStep = "GUILDWARDEN_TEST_VICTIM_STEP"
)

func beVictim(t *testing.T, path string) {
	left, err := strconv.Atoi(os.Getenv(victimStep))
	if err != nil {
		left = -1
	}
	s, err := audit.Probed(path, key, 5*time.Second, func(_ string, f *os.File, b []byte) {
		if left == 0 {
			if len(b) > 0 {
				_, _ = f.Write(b[:len(b)/2])
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		left--
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100_000 {
		id := fmt.Sprintf("p%d-%d", os.Getpid(), i)
		keep(t, s, id)
		_, _ = fmt.Fprintln(os.Stderr, id)
	}
}

// kill runs a victim on the file and kills it some time after so many calls,
// unless it does that itself. It gives the calls that were answered for.
func kill(t *testing.T, test, path string, step, calls int, after time.Duration) (acked []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.timeout=20s")
	cmd.Env = append(os.Environ(), victimPath+"="+path)
	if step >= 0 {
		cmd.Env = append(cmd.Env, victimStep+"="+strconv.Itoa(step))
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		acked = append(acked, in.Text())
		if step < 0 && len(acked) == calls {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !state.Signaled() || ctx.Err() != nil {
		t.Fatalf("the victim ended by itself: %v, after %v", cmd.ProcessState, acked)
	}
	return acked
}

// The files go from victim to victim.
func TestKilledProcessLeavesAFileThatVerifies(t *testing.T) {
	if path := os.Getenv(victimPath); path != "" {
		beVictim(t, path)
		return
	}
	t.Parallel()
	t.Run("in the middle of each step", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		var acked []string
		for step := range 14 { // of a start, and of the first records
			acked = append(acked, kill(t, "TestKilledProcessLeavesAFileThatVerifies", path, step, 0, 0)...)
			holds(t, path, acked)
		}
		keep(t, start(t, path), "after")
		holds(t, path, append(acked, "after"))
	})
	t.Run("at any moment", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		var acked []string
		for range 15 {
			acked = append(acked, kill(t, "TestKilledProcessLeavesAFileThatVerifies", path, -1, 1+rand.IntN(4), time.Duration(rand.IntN(4000))*time.Microsecond)...)
			holds(t, path, acked)
		}
		keep(t, start(t, path), "after")
		if r := holds(t, path, append(acked, "after")); r.Records < 60 {
			t.Errorf("%d records of 15 victims", r.Records)
		}
	})
}

// Several processes write one file, and one of them is killed over and over.
func TestProcessesShareAFile(t *testing.T) {
	if path := os.Getenv(victimPath); path != "" {
		beVictim(t, path)
		return
	}
	t.Parallel()
	f := openFile(t)
	done := make(chan []string)
	go func() {
		var acked []string
		for range 4 {
			acked = append(acked, kill(t, "TestProcessesShareAFile", f.path, -1, 3, time.Millisecond)...)
		}
		done <- acked
	}()
	for n := 0; ; n++ {
		select {
		case acked := <-done:
			if r := holds(t, f.path, acked); r.Records < 24 || n == 0 {
				t.Errorf("%d calls here, and all in all %s", n, strings.TrimSpace(r.String()))
			}
			return
		default:
			keep(t, f, fmt.Sprintf("ours-%d", n))
		}
	}
}
