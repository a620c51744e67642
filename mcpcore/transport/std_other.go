//go:build !unix

package transport

import (
	"io"
	"os"
)

func stdin() io.ReadCloser { return io.NopCloser(os.Stdin) }

func stdout() io.WriteCloser { return keepOpen{os.Stdout} }

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
