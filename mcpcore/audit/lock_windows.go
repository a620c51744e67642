package audit

import (
	"errors"
	"syscall"
	"time"
)

const sharingViolation = syscall.Errno(32)

// lock waits until it is the only one to have the file at path open. The system
// closes it when the process ends, however it ends.
func lock(path string, wait time.Duration) (release func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	var h syscall.Handle
	err = await(wait, func() (bool, error) {
		h, err = syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		if errors.Is(err, sharingViolation) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = syscall.CloseHandle(h) }, nil
}
