package workflows

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
)

// What the icon of a role is: a square of so many pixels, and so many bytes at
// most.
const (
	iconPixels = 64
	iconBytes  = 256 << 10
)

// roleStyle is how a role is to be coloured.
type roleStyle struct {
	Primary   int  `json:"primary" jsonschema:"0xRRGGBB as a number; 0 is none" minimum:"0" maximum:"16777215"`
	Secondary *int `json:"secondary,omitempty" jsonschema:"of a gradient" minimum:"0" maximum:"16777215"`
	Tertiary  *int `json:"tertiary,omitempty" jsonschema:"only 11127295, 16759788, 16761760 go together" minimum:"0" maximum:"16777215"`
}

// holographic is the one style of three colours that there is.
var holographic = [3]int{11127295, 16759788, 16761760}

// on is the style in a guild with these features.
func (s roleStyle) on(features []string) (roleColors, error) {
	c := roleColors(s)
	switch {
	case s.Tertiary != nil && (s.Secondary == nil || [3]int{s.Primary, *s.Secondary, *s.Tertiary} != holographic):
		return c, refused("colors", "a third colour goes with %d, %d and %d alone", holographic[0], holographic[1], holographic[2])
	case s.Secondary != nil && !slices.Contains(features, "ENHANCED_ROLE_COLORS"):
		return c, refused("feature", "the guild has no gradients: it lacks the feature ENHANCED_ROLE_COLORS")
	}
	return c, nil
}

// imageSeen is an image as plans bind and show it.
type imageSeen struct {
	Type   string `json:"type"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest"`
}

// readIcon checks a role's icon, which is a data URI.
func readIcon(uri string) (*imageSeen, error) {
	kind, text, _ := strings.Cut(strings.TrimPrefix(uri, "data:"), ";base64,")
	read := png.DecodeConfig
	switch {
	case !strings.HasPrefix(uri, "data:") || kind != "image/png" && kind != "image/jpeg":
		return nil, refused("icon", "an icon is a data URI of a PNG or a JPEG: data:image/png;base64,…")
	case kind == "image/jpeg":
		read = jpeg.DecodeConfig
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) > iconBytes {
		return nil, refused("icon", "an icon is base64 of at most %d bytes", iconBytes)
	}
	if c, err := read(bytes.NewReader(data)); err != nil || c.Width != iconPixels || c.Height != iconPixels {
		return nil, refused("icon", "the icon is not an %s of %d by %d pixels", kind, iconPixels, iconPixels)
	}
	sum := sha256.Sum256(data)
	return &imageSeen{kind, len(data), "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// set sets what is given.
func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
