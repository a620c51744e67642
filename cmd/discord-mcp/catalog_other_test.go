//go:build !linux

package main_test

import (
	"path/filepath"
	"testing"
)

// pipe is, where there are no named pipes, a file that does not exist.
func pipe(_ *testing.T, dir string) string { return filepath.Join(dir, "absent") }
