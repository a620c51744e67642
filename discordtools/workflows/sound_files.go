package workflows

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// What a sound's file may be.
//
// Source: https://docs.discord.com/developers/resources/soundboard#create-guild-soundboard-sound.
const (
	soundBytes = 512 << 10
	soundTime  = 5200 * time.Millisecond
)

// soundFile is a sound's file as its own frames or pages describe it.
type soundFile struct {
	data  []byte
	codec string // "mp3", "vorbis", "opus"
	lasts time.Duration
}

// readSound reads the file in a data URI. Nothing is decoded: the headers of all
// frames or pages must follow each other to the end.
func readSound(uri string) (f soundFile, err error) {
	head, encoded, found := strings.Cut(uri, ";base64,")
	if f.data, err = base64.StdEncoding.DecodeString(encoded); !found || err != nil || len(f.data) > soundBytes {
		return f, refused("sound-file", "a sound's file is a data URI of at most %d bytes; paths and addresses are not read", soundBytes)
	}
	whole := false
	switch strings.TrimPrefix(head, "data:") {
	case "audio/mpeg", "audio/mp3":
		whole = f.mp3()
	case "audio/ogg":
		whole = f.ogg()
	}
	switch {
	case !whole:
		return f, refused("sound-file", "the file is no MP3, nor an Ogg of one Vorbis or Opus stream, of the kind that it says, or is not whole")
	case f.lasts > soundTime:
		return f, refused("sound-file", "the sound lasts %v; it may last %v", f.lasts.Round(time.Millisecond), soundTime)
	}
	return f, nil
}

// Bit rates in kbit/s of Layer III and sample rates in Hz, of MPEG 1 and of MPEG 2.
//
// Source: ISO/IEC 11172-3 and 13818-3, the header of a frame.
var (
	mp3Rates1 = []int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	mp3Rates2 = []int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	mp3Hertz  = []int{44100, 48000, 32000}
)

// mp3Frame is the header of a frame of Layer III.
type mp3Frame struct {
	size, samples, hertz int // bytes with the header; of one channel
}

// readMP3Frame reads a frame's header; false for what is none, and for a frame of a free
// bit rate.
func readMP3Frame(d []byte) (f mp3Frame, ok bool) {
	if len(d) < 4 || d[0] != 0xFF || d[1]&0xE0 != 0xE0 || d[1]>>1&3 != 1 {
		return f, false
	}
	version, rate, hertz := d[1]>>3&3, int(d[2]>>4), int(d[2]>>2&3)
	if version == 1 || rate == 0 || rate == 15 || hertz == 3 {
		return f, false
	}
	f = mp3Frame{samples: 1152, hertz: mp3Hertz[hertz]}
	rates := mp3Rates1
	if version != 3 { // MPEG 2, or 2.5
		f.samples, rates, f.hertz = 576, mp3Rates2, f.hertz/2
		if version == 0 {
			f.hertz /= 2
		}
	}
	f.size = f.samples/8*rates[rate]*1000/f.hertz + int(d[2]>>1&1)
	return f, true
}

// mp3 walks through the frames between the tags.
func (f *soundFile) mp3() (whole bool) {
	left := f.data
	if bytes.HasPrefix(left, []byte("ID3")) {
		if len(left) < 10 || slices.Max(left[6:10]) > 0x7F {
			return false
		}
		size := 10 + int(left[6])<<21 + int(left[7])<<14 + int(left[8])<<7 + int(left[9])
		if left[5]&0x10 != 0 { // a footer
			size += 10
		}
		if size > len(left) {
			return false
		}
		left = left[size:]
	}
	if n := len(left) - 128; n >= 0 && bytes.HasPrefix(left[n:], []byte("TAG")) {
		left = left[:n]
	}
	f.codec = "mp3"
	samples, hertz := 0, 0
	for len(left) > 0 {
		frame, ok := readMP3Frame(left)
		if !ok || frame.size > len(left) || hertz != 0 && frame.hertz != hertz {
			return false
		}
		// The first frame may hold a table of contents instead of sound.
		if head := left[:min(frame.size, 44)]; hertz != 0 || !bytes.Contains(head, []byte("Xing")) && !bytes.Contains(head, []byte("Info")) && !bytes.Contains(head, []byte("VBRI")) {
			samples += frame.samples
		}
		left, hertz = left[frame.size:], frame.hertz
	}
	if samples == 0 {
		return false
	}
	f.lasts = time.Duration(samples) * time.Second / time.Duration(hertz)
	return true
}

// oggPage is a page of an Ogg stream.
type oggPage struct {
	flags            byte // 2 the first, 4 the last
	granule          int64
	serial, sequence uint32
	body             []byte
}

// readOggPage reads a page and gives what follows it.
//
// Source: https://www.rfc-editor.org/rfc/rfc3533#section-6.
func readOggPage(d []byte) (p oggPage, left []byte, ok bool) {
	if len(d) < 27 || string(d[:4]) != "OggS" || d[4] != 0 || len(d) < 27+int(d[26]) {
		return p, nil, false
	}
	size := 27 + int(d[26])
	for _, segment := range d[27:size] {
		size += int(segment)
	}
	if size > len(d) || oggSum(d[:size]) != binary.LittleEndian.Uint32(d[22:]) {
		return p, nil, false
	}
	return oggPage{
		d[5], int64(binary.LittleEndian.Uint64(d[6:])), binary.LittleEndian.Uint32(d[14:]), binary.LittleEndian.Uint32(d[18:]), d[27+int(d[26]) : size],
	}, d[size:], true
}

// oggSum is a page's checksum, in which its own place counts as zeros. It is not
// the CRC-32 of hash/crc32: the bits are not reflected.
func oggSum(page []byte) (sum uint32) {
	for i, b := range page {
		if i >= 22 && i < 26 {
			b = 0
		}
		sum ^= uint32(b) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04C11DB7
		}
	}
	return sum
}

// ogg walks through the pages of the one stream.
func (f *soundFile) ogg() (whole bool) {
	var hertz, last, skip int64
	var serial uint32
	for left, n := f.data, uint32(0); ; n++ {
		p, after, ok := readOggPage(left)
		switch left = after; {
		case !ok, p.sequence != n, n == 0 != (p.flags&2 != 0), n > 0 && p.serial != serial:
			return false
		case n == 0:
			serial = p.serial
			if hertz, skip = f.oggCodec(p.body); hertz == 0 {
				return false
			}
		case p.granule == -1: // nothing ends on this page
		case p.granule < last:
			return false
		default:
			last = p.granule
		}
		if p.flags&4 == 0 {
			continue
		}
		if last <= skip || last > hertz*60 { // longer than would fit, and than can be reckoned
			return false
		}
		f.lasts = time.Duration(last-skip) * time.Second / time.Duration(hertz)
		return len(left) == 0
	}
}

// oggCodec is how many samples a second a stream's first packet tells, and how many
// are not heard; 0 for what is neither Vorbis nor Opus.
//
// Source: https://xiph.org/vorbis/doc/Vorbis_I_spec.html#x1-630004.2.2 and
// https://www.rfc-editor.org/rfc/rfc7845#section-5.1.
func (f *soundFile) oggCodec(head []byte) (hertz, skip int64) {
	switch {
	case len(head) == 30 && string(head[:7]) == "\x01vorbis" && binary.LittleEndian.Uint32(head[7:]) == 0 && head[11] > 0:
		f.codec = "vorbis"
		if hertz = int64(binary.LittleEndian.Uint32(head[12:])); hertz > 192000 {
			return 0, 0
		}
		return hertz, 0
	case len(head) >= 19 && string(head[:8]) == "OpusHead" && head[8]&0xF0 == 0 && head[9] > 0:
		f.codec = "opus"
		return 48000, int64(binary.LittleEndian.Uint16(head[10:]))
	}
	return 0, 0
}
