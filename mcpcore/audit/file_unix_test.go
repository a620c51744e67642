//go:build linux || darwin

package audit_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/audittest"
)

// TestFileRecoversFromAFullDisk runs the contract in a process of its own, where
// a limit on the size of files cuts writes in the middle of a line.
func TestFileRecoversFromAFullDisk(t *testing.T) {
	const inside = "GUILDWARDEN_TEST_FULL_DISK"
	if os.Getenv(inside) == "" {
		t.Parallel()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFileRecoversFromAFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	audittest.Run(t, func(t *testing.T) mcpcore.AuditSink { return limited{openFile(t)} })
}

type limited struct{ filed }

func (l limited) Break(t *testing.T) {
	info, err := os.Stat(l.path)
	if err != nil {
		t.Fatal(err)
	}
	limit(t, uint64(info.Size())+40)
}

func (l limited) Repair(t *testing.T) { limit(t, 1<<30) }

func limit(t *testing.T, size uint64) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		t.Fatal(err)
	}
	r.Cur = min(size, r.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		t.Fatal(err)
	}
}

func TestFileRefusesAPipeWithoutWaitingForItsReader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := audit.File(path, audit.FileOptions{}); err == nil {
		_ = s.Close()
		t.Error("a pipe was taken for a file")
	}
}
