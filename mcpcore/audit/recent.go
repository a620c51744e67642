package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// recentBytes is how far from its end a file is looked at.
const recentBytes = 2 << 20

// Recent lists the outcomes at the end of the file, the newest first, at most
// limit of them and as far as two megabytes reach. It takes the file's word:
// [Verify] tells whether that was changed.
func (s *FileSink) Recent(ctx context.Context, limit int) ([]mcpcore.AuditEvent, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read audit file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was read alone
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read audit file: %w", err)
	}
	from := max(0, end-recentBytes)
	text := make([]byte, end-from)
	n, err := f.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read audit file: %w", err)
	}
	text = text[:n]
	if from > 0 { // in the middle of a line
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	var all []mcpcore.AuditEvent
	for len(text) > 0 && len(all) < limit && ctx.Err() == nil {
		text = bytes.TrimSuffix(text, []byte("\n"))
		start := bytes.LastIndexByte(text, '\n') + 1
		var e mcpcore.AuditEvent
		if json.Unmarshal(text[start:], &e) == nil && e.Phase == mcpcore.Outcome { // a torn line is none
			all = append(all, e)
		}
		text = text[:start]
	}
	return all, ctx.Err()
}
