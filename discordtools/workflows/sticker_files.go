package workflows

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"
)

// What a sticker's file may be.
//
// Source: https://docs.discord.com/developers/resources/sticker#create-guild-sticker.
const (
	stickerBytes = 512 << 10
	stickerSide  = 320 // pixels
	stickerTime  = 5 * time.Second
)

// Discord's numbers of the formats of stickers.
const (
	formatPNG    = 1
	formatAPNG   = 2
	formatLottie = 3
	formatGIF    = 4
)

// stickerFile is a sticker's file as its own bytes describe it.
type stickerFile struct {
	data          []byte
	kind          string // media type
	format        int
	width, height int
	lasts         time.Duration
}

// readSticker reads the file in a data URI. Nothing is decoded that could be
// large: of pictures the headers alone.
func readSticker(uri string) (f stickerFile, err error) {
	head, encoded, found := strings.Cut(uri, ";base64,")
	if f.data, err = base64.StdEncoding.DecodeString(encoded); !found || err != nil || len(f.data) > stickerBytes {
		return f, refused("sticker-file", "a sticker's file is a data URI of at most %d bytes; paths and addresses are not read", stickerBytes)
	}
	whole := false
	switch f.kind = strings.TrimPrefix(head, "data:"); f.kind {
	case "image/png", "image/apng":
		whole = f.png()
	case "image/gif":
		whole = f.gif()
	case "application/json":
		whole = f.lottie()
	}
	switch {
	case !whole:
		return f, refused("sticker-file", "the file is no PNG, APNG, GIF or Lottie of the kind that it says")
	case f.width != stickerSide || f.height != stickerSide:
		return f, refused("sticker-file", "the sticker has %d×%d pixels; it must have %d×%d", f.width, f.height, stickerSide, stickerSide)
	case f.lasts > stickerTime:
		return f, refused("sticker-file", "the sticker lasts %v; it may last %v", f.lasts, stickerTime)
	}
	return f, nil
}

// png walks through the chunks of a PNG, which moves when it has an acTL.
//
// Source: https://www.w3.org/TR/png-3/#apng-frame-based-animation.
func (f *stickerFile) png() (whole bool) {
	left, signed := bytes.CutPrefix(f.data, []byte("\x89PNG\r\n\x1a\n"))
	for f.format = formatPNG; signed && len(left) >= 12; {
		n := int(binary.BigEndian.Uint32(left))
		if n < 0 || n > len(left)-12 {
			return false
		}
		name, chunk := string(left[4:8]), left[8:8+n]
		switch {
		case name == "IHDR" && n == 13:
			f.width, f.height = int(binary.BigEndian.Uint32(chunk)), int(binary.BigEndian.Uint32(chunk[4:]))
		case name == "acTL":
			f.format = formatAPNG
		case name == "fcTL" && n == 26:
			part, of := binary.BigEndian.Uint16(chunk[20:]), binary.BigEndian.Uint16(chunk[22:])
			if of == 0 {
				of = 100
			}
			f.lasts += time.Duration(part) * time.Second / time.Duration(of)
		case name == "IEND":
			return true
		}
		left = left[12+n:]
	}
	return false
}

// gif walks through the blocks of a GIF.
//
// Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt.
func (f *stickerFile) gif() (whole bool) {
	d := f.data
	if len(d) < 13 || string(d[:3]) != "GIF" {
		return false
	}
	f.format, f.width, f.height = formatGIF, int(binary.LittleEndian.Uint16(d[6:])), int(binary.LittleEndian.Uint16(d[8:]))
	at := 13 + colours(d[10])
	for at < len(d) {
		switch d[at] {
		case ';':
			return true
		case '!': // an extension: its label, then its blocks
			if at+5 < len(d) && d[at+1] == 0xF9 && d[at+2] == 4 {
				f.lasts += time.Duration(binary.LittleEndian.Uint16(d[at+4:])) * 10 * time.Millisecond
			}
			at += 2
		case ',': // a picture: its place and colours, then its blocks
			if at+10 >= len(d) {
				return false
			}
			at += 11 + colours(d[at+9])
		default:
			return false
		}
		for at < len(d) && d[at] != 0 {
			at += 1 + int(d[at])
		}
		at++
	}
	return false
}

// colours is how many bytes of colours follow their flags.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// lottie reads the head of a Lottie animation.
func (f *stickerFile) lottie() (whole bool) {
	var l struct {
		Width  int             `json:"w"`
		Height int             `json:"h"`
		Rate   float64         `json:"fr"` // frames in a second
		In     *float64        `json:"ip"` // the first frame
		Out    *float64        `json:"op"` // the one after the last
		Layers json.RawMessage `json:"layers"`
	}
	if json.Unmarshal(f.data, &l) != nil || l.Rate <= 0 || l.In == nil || l.Out == nil || l.Layers == nil {
		return false
	}
	f.format, f.width, f.height = formatLottie, l.Width, l.Height
	seconds := (*l.Out - *l.In) / l.Rate
	f.lasts = time.Duration(min(seconds, 1000) * float64(time.Second))
	return seconds >= 0
}
