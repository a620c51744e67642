package main_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// pipe is a named pipe that nobody writes to: whoever opens it for reading waits.
func pipe(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCatalogCheckNeedsNoNetwork runs the check in a network namespace that has
// not even a loopback. CI does the same with an empty file system.
func TestCatalogCheckNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	with := catalog(t, binary, t.TempDir(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	isolated := func(path string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		}
		return cmd
	}
	probe := isolated(binary, "version")
	if err := probe.Run(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("THIS MACHINE PERMITS NO NETWORK NAMESPACE (%v): that the check needs no network is not shown", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if without := end(ctx, t, isolated(binary, "catalog", "--check", "--json"), ""); without != with || with.status != 0 {
		t.Errorf("without a network the check gives\n%+v\nwith one\n%+v", without, with)
	}
}
