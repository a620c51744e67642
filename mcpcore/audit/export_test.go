package audit

import (
	"os"
	"time"
)

// The steps, for tests that interrupt between them.
const StepAppend, StepHead = stepAppend, stepHead

// Probed is File with a probe and another patience.
func Probed(path string, key []byte, wait time.Duration, probe func(step string, f *os.File, b []byte)) (*FileSink, error) {
	return newFile(path, FileOptions{StateKey: key}, wait, probe)
}
