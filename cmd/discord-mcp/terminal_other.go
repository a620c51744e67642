//go:build !windows

package main

import "os"

// terminalFiles are where the process's terminal is read and written.
func terminalFiles() (in, out *os.File, err error) {
	if in, err = os.OpenFile("/dev/tty", os.O_RDONLY, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("/dev/tty", os.O_WRONLY, 0); err != nil {
		_ = in.Close()
		return nil, nil, err
	}
	return in, out, nil
}
