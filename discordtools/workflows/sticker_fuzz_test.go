package workflows

import (
	"encoding/base64"
	"testing"
)

// What is taken for a sticker is within the bounds, whatever the bytes are.
func FuzzReadSticker(f *testing.F) {
	for kind, data := range map[string]string{
		"image/png":        "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x01\x40\x00\x00\x01\x40\x08\x00\x00\x00\x00crc.\x00\x00\x00\x00IEND\xaeB`\x82",
		"image/gif":        "GIF89a\x40\x01\x40\x01\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x00\x0a\x00\x00\x00,\x00\x00\x00\x00\x40\x01\x40\x01\x00\x02\x01\x00\x00;",
		"application/json": `{"fr":60,"ip":0,"op":300,"w":320,"h":320,"layers":[]}`,
	} {
		f.Add(kind, []byte(data))
		if _, err := readSticker("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))); err != nil {
			f.Errorf("the seed of %s is refused: %v", kind, err)
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		s, err := readSticker("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
		if err == nil && (s.width != stickerSide || s.height != stickerSide || s.lasts < 0 || s.lasts > stickerTime || len(s.data) > stickerBytes || s.format == 0) {
			t.Errorf("%s is taken for %+v", kind, s)
		}
	})
}
