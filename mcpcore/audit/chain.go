package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/statekey"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// A record is a line of JSON that ends with its number, the digest of the record
// before it and its own digest over every byte in front of that:
//
//	{"level":"audit",…,"seq":7,"prev":"…","digest":"…"}
//
// The head is sealed in the same way. What a digest covers starts with the kind
// of thing it seals, so that none passes for another.
const (
	kindRecord = "record"
	kindHead   = "head"

	algKeyed = "hmac-sha256"
	algPlain = "sha256"

	format = 1
)

// maxRecord bounds a line, for the writer and for the reader.
const maxRecord = 16 << 20

const (
	digestKey = `,"digest":"`
	digestEnd = `"}`
	digestLen = 2 * sha256.Size
	sealLen   = len(digestKey) + digestLen + len(digestEnd)
)

// sealer makes and checks digests.
type sealer struct {
	key []byte // nil: plain digests
	id  string // of the key
}

// newSealer takes the operator's state key; nil is none.
func newSealer(stateKey []byte) (sealer, error) {
	if stateKey == nil {
		return sealer{}, nil
	}
	key, err := statekey.Sub(stateKey, statekey.AuditChain)
	if err != nil {
		return sealer{}, err
	}
	id, err := statekey.Sub(stateKey, statekey.AuditKeyID)
	if err != nil {
		return sealer{}, err
	}
	return sealer{key, hex.EncodeToString(id[:8])}, nil
}

func (s sealer) algorithm() string {
	if s.key == nil {
		return algPlain
	}
	return algKeyed
}

func (s sealer) digest(kind string, b []byte) string {
	var h hash.Hash
	if s.key == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, s.key)
	}
	h.Write([]byte(kind + "\n"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// seal ends an object that lacks its closing brace with its digest and a
// newline.
func (s sealer) seal(kind string, open []byte) (line []byte, digest string) {
	digest = s.digest(kind, open)
	line = append(open, digestKey...)
	line = append(line, digest...)
	return append(line, digestEnd+"\n"...), digest
}

// unseal gives the object of a line without its newline, and its digest, if
// every byte is as it was sealed.
func (s sealer) unseal(kind string, line []byte) (object []byte, digest string, ok bool) {
	cut := len(line) - sealLen
	if cut < 0 {
		return nil, "", false
	}
	digest = s.digest(kind, line[:cut])
	if !bytes.Equal(line[cut:], []byte(digestKey+digest+digestEnd)) {
		return nil, "", false
	}
	return line, digest, true
}

// record makes the line that follows at. object is a whole JSON object, which
// record takes over.
func (s sealer) record(object []byte, at position) (line []byte, next position) {
	open := append(object[:len(object)-1], `,"seq":`...)
	open = strconv.AppendUint(open, at.Records+1, 10)
	open = append(open, `,"prev":"`+at.Last+`"`...)
	line, digest := s.seal(kindRecord, open)
	return line, position{at.Records + 1, digest, at.Size + int64(len(line))}
}

// position is how far a chain reaches.
type position struct {
	Records uint64 `json:"records"` // of the whole chain, in earlier files too
	Last    string `json:"last"`    // digest of the last one; "" before the first
	Size    int64  `json:"size"`    // of the file up to its end
}

// entry is what matters of a record that its digest vouches for.
type entry struct {
	Seq       uint64        `json:"seq"`
	Prev      string        `json:"prev"`
	Chain     string        `json:"chain"` // of a marker: chainBegin or chainTorn
	Torn      *torn         `json:"torn"`
	Phase     mcpcore.Phase `json:"phase"`
	RequestID string        `json:"request_id"`
	Time      time.Time     `json:"timestamp"`

	digest string
}

// open reads a line without its newline.
func (s sealer) open(line []byte) (entry, bool) {
	object, digest, ok := s.unseal(kindRecord, line)
	if !ok {
		return entry{}, false
	}
	e := entry{digest: digest}
	err := json.Unmarshal(object, &e)
	return e, err == nil && e.Seq > 0
}

func (e entry) follows(at position) bool { return e.Seq == at.Records+1 && e.Prev == at.Last }

// What a marker says: here a file begins, or the line before is torn. A file
// whose first line is torn begins with both.
const (
	chainBegin = "begin"
	chainTorn  = "torn"
)

// marker is a record of the chain about itself.
type marker struct {
	Level     string    `json:"level"`
	Chain     string    `json:"chain"`
	Time      time.Time `json:"timestamp"`
	Version   int       `json:"version"`
	Algorithm string    `json:"alg"`
	KeyID     string    `json:"key_id,omitempty"`
	Torn      *torn     `json:"torn,omitempty"`
}

func (s sealer) marker(chain string, t *torn) ([]byte, error) {
	b, err := canon.Marshal(marker{levelAudit, chain, time.Now().UTC(), format, s.algorithm(), s.id, t})
	if err != nil {
		return nil, fmt.Errorf("encode audit marker: %w", err)
	}
	return b, nil
}

// torn is what an interrupted write left: every byte between two records.
type torn struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// rest collects bytes that are no record. The zero value is none.
type rest struct {
	bytes int64
	lines int // begun
	hash  hash.Hash
	last  byte
	whole bool // a line of it is whole JSON, which no interrupted write leaves
}

func (r *rest) add(raw []byte) {
	if r.hash == nil {
		r.hash = sha256.New()
	}
	if r.bytes == 0 || r.last == '\n' {
		r.lines++
	}
	r.hash.Write(raw)
	r.bytes += int64(len(raw))
	r.last = raw[len(raw)-1]
	r.whole = r.whole || json.Valid(raw)
}

func (r *rest) torn() *torn {
	if r.bytes == 0 {
		return nil
	}
	return &torn{r.bytes, hex.EncodeToString(r.hash.Sum(nil))}
}

// marked reports whether the record that follows marks exactly these bytes.
func (r *rest) marked(e entry) bool {
	t := r.torn()
	if t == nil || e.Torn == nil {
		return t == nil && e.Torn == nil
	}
	return *t == *e.Torn && !r.whole
}
