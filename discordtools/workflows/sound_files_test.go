package workflows

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// mp3Of is an MP3 of so many silent frames of 24 ms: MPEG 1, 128 kbit/s, 48 kHz.
func mp3Of(frames int) []byte {
	frame := append([]byte{0xFF, 0xFB, 0x94, 0xC4}, make([]byte, 380)...)
	return bytes.Repeat(frame, frames)
}

// oggOf is an Ogg whose first packet is head, and that ends at a sample.
func oggOf(head []byte, end int64) []byte {
	page := func(flags byte, sequence uint32, granule int64, body []byte) []byte {
		p := []byte("OggS\x00")
		p = append(p, flags)
		p = binary.LittleEndian.AppendUint64(p, uint64(granule))
		p = binary.LittleEndian.AppendUint32(p, 7) // of the stream
		p = binary.LittleEndian.AppendUint32(p, sequence)
		p = append(p, 0, 0, 0, 0, 1, byte(len(body)))
		p = append(p, body...)
		binary.LittleEndian.PutUint32(p[22:], oggSum(p))
		return p
	}
	return slices.Concat(page(2, 0, 0, head), page(0, 1, -1, []byte("sound")), page(4, 2, end, []byte("more")))
}

func vorbisHead(hertz uint32) []byte {
	head := append([]byte("\x01vorbis\x00\x00\x00\x00\x02"), binary.LittleEndian.AppendUint32(nil, hertz)...)
	return append(head, make([]byte, 14)...)
}

func opusHead(skip uint16) []byte {
	head := binary.LittleEndian.AppendUint16([]byte("OpusHead\x01\x02"), skip)
	return append(head, make([]byte, 7)...)
}

func soundURI(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func TestReadSound(t *testing.T) {
	t.Parallel()
	// A number of the catalogue of checksums: CRC-32/CKSUM without its last inversion.
	if sum := oggSum([]byte("123456789")); sum != 0x765E7680^0xFFFFFFFF {
		t.Fatalf("the checksum is %x", sum)
	}
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x01\x00"), make([]byte, 128)...)
	old := append([]byte("TAG"), make([]byte, 125)...)
	contents := slices.Concat(mp3Of(1)[:36], []byte("Xing"), mp3Of(1)[40:])
	low := append([]byte{0xFF, 0xF3, 0x84, 0xC4}, make([]byte, 188)...) // MPEG 2, 64 kbit/s, 24 kHz: 24 ms
	for name, row := range map[string]struct {
		kind  string
		data  []byte
		codec string
		lasts time.Duration
	}{
		"an mp3":            {"audio/mpeg", mp3Of(2), "mp3", 48 * time.Millisecond},
		"its other name":    {"audio/mp3", mp3Of(1), "mp3", 24 * time.Millisecond},
		"tags":              {"audio/mpeg", slices.Concat(tag, mp3Of(1), old), "mp3", 24 * time.Millisecond},
		"contents":          {"audio/mpeg", slices.Concat(contents, mp3Of(3)), "mp3", 72 * time.Millisecond},
		"MPEG 2":            {"audio/mpeg", slices.Concat(low, low), "mp3", 48 * time.Millisecond},
		"just short enough": {"audio/mpeg", mp3Of(216), "mp3", 5184 * time.Millisecond},
		"vorbis":            {"audio/ogg", oggOf(vorbisHead(44100), 44100*5), "vorbis", 5 * time.Second},
		"opus":              {"audio/ogg", oggOf(opusHead(312), 48000*5+312), "opus", 5 * time.Second},
	} {
		if f, err := readSound(soundURI(row.kind, row.data)); err != nil || f.codec != row.codec || f.lasts != row.lasts || !bytes.Equal(f.data, row.data) {
			t.Errorf("%s: %s of %v, %v", name, f.codec, f.lasts, err)
		}
	}
	broken := oggOf(vorbisHead(44100), 44100)
	flipped := slices.Clone(broken)
	flipped[30]++
	chained := slices.Concat(broken, broken)
	second := bytes.LastIndex(broken, []byte("OggS"))
	for name, uri := range map[string]string{
		"nothing":              soundURI("audio/mpeg", nil),
		"an address":           "https://example.com/a.mp3",
		"no base64":            "data:audio/mpeg;base64,%%%",
		"another kind":         soundURI("audio/wav", mp3Of(1)),
		"an ogg called mp3":    soundURI("audio/mpeg", broken),
		"an mp3 called ogg":    soundURI("audio/ogg", mp3Of(1)),
		"half a frame":         soundURI("audio/mpeg", mp3Of(2)[:500]),
		"something after it":   soundURI("audio/mpeg", append(mp3Of(2), 'x')),
		"something before it":  soundURI("audio/mpeg", append([]byte("x"), mp3Of(2)...)),
		"a tag without end":    soundURI("audio/mpeg", tag[:100]),
		"a tag alone":          soundURI("audio/mpeg", tag),
		"contents alone":       soundURI("audio/mpeg", contents),
		"a free bit rate":      soundURI("audio/mpeg", append([]byte{0xFF, 0xFB, 0x04, 0xC4}, make([]byte, 380)...)),
		"no sample rate":       soundURI("audio/mpeg", append([]byte{0xFF, 0xFB, 0x9C, 0xC4}, make([]byte, 380)...)),
		"Layer II":             soundURI("audio/mpeg", append([]byte{0xFF, 0xFD, 0x94, 0xC4}, make([]byte, 380)...)),
		"two sample rates":     soundURI("audio/mpeg", append(mp3Of(1), low...)),
		"5.2 seconds and more": soundURI("audio/mpeg", mp3Of(217)),
		"a long vorbis":        soundURI("audio/ogg", oggOf(vorbisHead(44100), 44100*6)),
		"an endless vorbis":    soundURI("audio/ogg", oggOf(vorbisHead(1), 1<<62)),
		"an empty vorbis":      soundURI("audio/ogg", oggOf(vorbisHead(44100), 0)),
		"no rate":              soundURI("audio/ogg", oggOf(vorbisHead(0), 44100)),
		"a long opus":          soundURI("audio/ogg", oggOf(opusHead(0), 48000*6)),
		"another codec":        soundURI("audio/ogg", oggOf([]byte("\x7fFLAC"), 44100)),
		"a wrong checksum":     soundURI("audio/ogg", flipped),
		"half a page":          soundURI("audio/ogg", broken[:len(broken)-1]),
		"no last page":         soundURI("audio/ogg", broken[:second]),
		"a page left out":      soundURI("audio/ogg", slices.Concat(broken[:bytes.Index(broken[1:], []byte("OggS"))+1], broken[second:])),
		"two streams":          soundURI("audio/ogg", chained),
		"bytes after the end":  soundURI("audio/ogg", append(slices.Clone(broken), 'x')),
		"513 KiB":              soundURI("audio/mpeg", mp3Of(513<<10/384+1)),
	} {
		f, err := readSound(uri)
		if e, ok := errors.AsType[*mcpcore.Error](err); !ok || e.Code != mcpcore.CodePlanRefused {
			t.Errorf("%s is taken for %s of %v, %v", name, f.codec, f.lasts, err)
		}
	}
}

// What is taken for a sound is within the bounds, whatever the bytes are.
func FuzzReadSound(f *testing.F) {
	f.Add("audio/mpeg", mp3Of(2))
	f.Add("audio/ogg", oggOf(vorbisHead(44100), 44100))
	f.Add("audio/ogg", oggOf(opusHead(312), 48000))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		s, err := readSound(soundURI(kind, data))
		if err == nil && (s.lasts <= 0 || s.lasts > soundTime || len(s.data) > soundBytes || s.codec == "") {
			t.Errorf("%s is taken for %s of %v", kind, s.codec, s.lasts)
		}
	})
}
