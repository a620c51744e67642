//go:build unix

package transport

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// stdin returns the process's standard input. A pipe or a socket is read through the runtime's poller, so that
// Close interrupts a Read and no thread is held. Terminals, files and /dev/null are read as they are: files cannot be
// polled, and a terminal shares its mode with the shell and with stderr.
//
// The descriptor is duplicated, so that descriptor 0 stays what it is and os.Stdin keeps owning it. The mode is not
// restored at the end: it belongs to the pipe, which ends with the session.
func stdin() io.ReadCloser {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return io.NopCloser(os.Stdin)
	}
	fd, err := duplicate(os.Stdin)
	if err != nil {
		return io.NopCloser(os.Stdin)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return os.NewFile(uintptr(fd), "stdin")
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if f.SetReadDeadline(time.Time{}) != nil { // the poller did not take it
		_ = syscall.SetNonblock(fd, false)
	}
	return f
}

// stdout returns the process's standard output under another descriptor: a write to a broken pipe on descriptor 1
// itself ends a Go process at once (see os/signal, SIGPIPE). If stdin is the same socket it is non-blocking by now, which
// os.NewFile sees and os.Stdout, made at the start of the process, would not.
func stdout() io.WriteCloser {
	fd, err := duplicate(os.Stdout)
	if err != nil {
		return keepOpen{os.Stdout}
	}
	return os.NewFile(uintptr(fd), "stdout")
}

func duplicate(f *os.File) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("duplicate %s: %w", f.Name(), err)
	}
	dup, dupErr := -1, error(nil)
	err = raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if dup, dupErr = syscall.Dup(int(fd)); dupErr == nil {
			syscall.CloseOnExec(dup)
		}
	})
	if err == nil {
		err = dupErr
	}
	if err != nil {
		return -1, fmt.Errorf("duplicate %s: %w", f.Name(), err)
	}
	return dup, nil
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
