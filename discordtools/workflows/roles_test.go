package workflows_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// blocked is a refusal of the subject's own change in a world that stands in its
// way.
func blocked(reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
	return operationtest.Refusal{Name: reason, Before: world(before), Code: mcpcore.CodePlanRefused, Reason: reason}
}

// with is the args with some of their texts replaced, in pairs.
func (s scene) with(pairs ...string) scene {
	s.Args = strings.NewReplacer(pairs...).Replace(s.Args)
	return s
}

// observed is the scene in a world that f sees first.
func (s scene) observed(f func(d *sandbox.Discord)) scene {
	before := s.Before
	s.Before = func(d *sandbox.Discord) {
		if before != nil {
			before(d)
		}
		f(d)
	}
	return s
}

// afterWrite changes the world between the write and its read-back.
func (s scene) afterWrite(f func(d *sandbox.Discord)) scene {
	return s.observed(func(d *sandbox.Discord) {
		d.Observe(func(r sandbox.Request) {
			if r.Method != "GET" {
				f(d)
			}
		})
	})
}

// drifts wants the scene to be done, with these fields that differ.
func (s scene) drifts(t *testing.T, want ...string) {
	t.Helper()
	e, r := s.once(t)
	if e.Status != "completed-with-drift" || r.Verification != mcpcore.Drift || !slices.Equal(e.Drift, want) {
		t.Errorf("it answers %+v and keeps %+v, want drift of %v", e, r, want)
	}
}

// sends wants the scene to be done with these writes.
func (s scene) sends(t *testing.T, want ...string) {
	t.Helper()
	var d *sandbox.Discord
	e, kept := s.observed(func(made *sandbox.Discord) { d = made }).once(t)
	var got []string
	for _, r := range d.Writes() {
		got = append(got, line(r))
	}
	if e.Status != "completed" || kept.Verification != mcpcore.Match || !slices.Equal(got, want) {
		t.Errorf("it answers %+v and sends\n\t%s\nwant\n\t%s", e, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// picture is a PNG of so many pixels a side, as a data URI.
func picture(side int) string {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))) // into memory
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}
