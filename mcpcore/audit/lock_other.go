//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package audit

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// lock waits until it can create the file at path, which holds the process's
// number and goes with the lock. One that a dead process left behind is taken
// away; where processes cannot be looked up, every one that is there counts as
// left behind.
func lock(path string, wait time.Duration) (release func(), err error) {
	err = await(wait, func() (bool, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			if b, err := os.ReadFile(path); err == nil && len(b) > 0 && dead(strings.TrimSpace(string(b))) {
				_ = os.Remove(path)
			}
			return true, nil
		case err != nil:
			return false, err
		}
		_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
		return false, errors.Join(err, f.Close())
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(path) }, nil
}

func dead(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err != nil
}
