package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// slow is a connection whose client sends nothing more, and never reads.
type slow struct {
	*httptest.ResponseRecorder
	read, write []time.Time // deadlines
}

func (s *slow) SetReadDeadline(t time.Time) error  { s.read = append(s.read, t); return nil }
func (s *slow) SetWriteDeadline(t time.Time) error { s.write = append(s.write, t); return nil }
func (s *slow) Close() error                       { return nil }

func (s *slow) Read([]byte) (int, error) {
	if len(s.read) == 0 || s.read[len(s.read)-1].IsZero() {
		return 0, io.ErrNoProgress // it would wait for ever
	}
	return 0, os.ErrDeadlineExceeded
}

// A server without times of its own waits for nobody.
func TestSlowClientsAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	d := open(t)
	s := &slow{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/console/signin", s)
	r.Header.Set("Origin", "http://localhost")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	d.console.ServeHTTP(s, r)
	if s.Code != http.StatusRequestTimeout || s.Result().Header.Get("Connection") != "close" {
		t.Errorf("%d %s", s.Code, s.Body)
	}
	if len(s.write) != 2 || s.write[0].IsZero() || !s.write[1].IsZero() || !s.read[len(s.read)-1].IsZero() {
		t.Errorf("its deadlines are %v to read and %v to write", s.read, s.write)
	}
}
