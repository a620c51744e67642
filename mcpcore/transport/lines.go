package transport

import (
	"bufio"
	"errors"
	"io"
)

// readBuffer is what is read at once. A line that fits is not copied.
const readBuffer = 64 << 10

// lineReader cuts a stream into lines of at most max bytes. It holds no more than max and readBuffer bytes, with the
// slack of a growing slice.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBuffer), max: max}
}

// next returns the next line without its newline, valid until the following call. A line over the limit is read to its
// end and reported as tooLong, without content. An error may come with the last line, if that lacked its newline.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	var long []byte // the line so far, once it does not fit the buffer
	for {
		part, err := l.r.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if err == nil {
			part = part[:len(part)-1]
		}
		if !tooLong && len(long)+len(part) > l.max {
			tooLong, long = true, nil
		}
		switch {
		case tooLong:
		case long != nil || more:
			long = append(long, part...)
		default:
			line = part
		}
		if more {
			continue
		}
		if long != nil {
			line = long
		}
		return line, tooLong, err
	}
}
