package workflows

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// picture is the data of a data URI, which must be of one of the kinds, by its
// own first bytes too. Nothing is read from a path or an address.
func picture(uri string, most int, kinds ...string) ([]byte, error) {
	head, encoded, found := strings.Cut(uri, ";base64,")
	kind, isData := strings.CutPrefix(head, "data:")
	data, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case !found || !isData || err != nil || len(data) == 0:
		return nil, refused("picture", "a picture is a data URI such as data:image/png;base64,…; paths and addresses are not read")
	case !slices.Contains(kinds, kind) || pictureKind(data) != kind:
		return nil, refused("picture", "a picture here is one of %s, and says so", strings.Join(kinds, ", "))
	case len(data) > most:
		return nil, refused("picture", "the picture has %d bytes; it may have %d", len(data), most)
	}
	return data, nil
}

// pictureKind is what the first bytes say.
func pictureKind(data []byte) string {
	if len(data) > 12 && (string(data[4:12]) == "ftypavif" || string(data[4:12]) == "ftypavis") {
		return "image/avif"
	}
	return http.DetectContentType(data)
}

// digest is what a plan binds of data.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
