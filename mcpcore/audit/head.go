package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// The files beside an audit file.
const (
	headSuffix = ".head"
	lockSuffix = ".lock"
)

// head is how far the chain reached when it was last written.
type head struct {
	Version   int    `json:"version"`
	Algorithm string `json:"alg"`
	KeyID     string `json:"key_id,omitempty"`
	position
}

var errHead = errors.New("the head file is not as it was written")

// parseHead reads a head file's content. The head is also given with errHead,
// as what it claims to be.
func (s sealer) parseHead(b []byte) (head, error) {
	var h head
	line, ended := bytes.CutSuffix(b, []byte("\n"))
	object, _, ok := s.unseal(kindHead, line)
	if err := json.Unmarshal(line, &h); err != nil || !ended || !ok || object == nil {
		return h, errHead
	}
	return h, nil
}

// writeHead replaces the head file as a whole: another file is written, forced
// to the disk and renamed.
func (s *FileSink) writeHead(at position) error {
	b, err := canon.Marshal(head{format, s.seal.algorithm(), s.seal.id, at})
	if err != nil {
		return fmt.Errorf("encode audit head: %w", err)
	}
	b, _ = s.seal.seal(kindHead, b[:len(b)-1])
	name := s.path + headSuffix
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write audit head: %w", err)
	}
	s.step(stepHead, f, b)
	_, err = f.Write(b)
	if err == nil {
		s.step(stepSync, f, nil)
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write audit head: %w", err)
	}
	s.step(stepRename, nil, nil)
	if err := os.Rename(name+".tmp", name); err != nil {
		return fmt.Errorf("write audit head: %w", err)
	}
	return nil
}

// syncFolder makes new names in the file's folder last. Where folders cannot be
// opened or synced that is the file system's own business.
func (s *FileSink) syncFolder() {
	if d, err := os.Open(filepath.Dir(s.path)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
