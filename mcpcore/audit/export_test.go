package audit

import (
	"bytes"
	"io"
	"os"
	"time"
)

// The steps, for tests that interrupt between them.
const StepAppend, StepHead = stepAppend, stepHead

// Probed is File with a probe and another patience.
func Probed(path string, key []byte, wait time.Duration, probe func(step string, f *os.File, b []byte)) (*FileSink, error) {
	return newFile(path, FileOptions{StateKey: key}, wait, probe)
}

// VerifyBytes is Verify of one file and its head that are at hand.
func VerifyBytes(key []byte, name string, file, head []byte) (Report, error) {
	seal, err := newSealer(key)
	if err != nil {
		return Report{}, err
	}
	v := &verifier{seal: seal, files: []string{name}, open: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }}
	err = v.run(head)
	return v.report, err
}
