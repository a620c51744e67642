package audit

import (
	"bufio"
	"errors"
	"io"
)

// lines reads a file line by line.
type lines struct {
	r   *bufio.Reader
	buf []byte

	number int   // of the line that next gave, from 1
	start  int64 // where it starts
	end    int64
	ended  bool
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), ended: true}
}

// next gives a line with its newline, which only the last may lack; a line
// longer than any record comes in pieces. It is valid until the next call. The
// error is io.EOF when there is no more.
func (l *lines) next() ([]byte, error) {
	l.start = l.end
	if l.ended {
		l.number++
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		l.end += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(l.buf) < maxRecord:
			continue
		case err == nil, errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF) && len(l.buf) > 0:
			l.ended = err == nil
			return l.buf, nil
		}
		return nil, err
	}
}
