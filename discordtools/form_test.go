package discordtools

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
)

func TestDecodeDataURI(t *testing.T) {
	t.Parallel()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	kind, data, err := decodeDataURI("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(all))
	if kind != "image/svg+xml" || string(data) != string(all) || err != nil {
		t.Errorf("%q, %q, %v", kind, data, err)
	}
	for _, s := range []string{
		"", "data:", "data:,", "data:image/png", "data:;base64,eA==", "data:image/png;charset=x;base64,eA==", "data:image/png;base64;eA==", "image/png;base64,eA==",
		" data:image/png;base64,eA==", "data:image/png;base64,eA", "data:image/png;base64,-_-_", "data:image/png;base64,eHh4\r\n", "data:image/png;base64,eHh4 ",
		"data:image/png;base64,ZZ==", "data:image/png;base64,====",
	} {
		if kind, data, err := decodeDataURI(s); err == nil {
			t.Errorf("%q is %q, %q", s, kind, data)
		}
	}
}

// TestPlanRefusesBadTags shows that a tag that means nothing does not build.
func TestPlanRefusesBadTags(t *testing.T) {
	t.Parallel()
	type out struct {
		OK bool `json:"ok" from:"@true"`
	}
	for want, in := range map[string]any{
		`unknown form "emojo"`: struct {
			A string `json:"a" as:"emojo"`
		}{},
		`unknown place "header"`: struct {
			A string `json:"a" in:"header"`
		}{},
		`maxBytes "256k" is not a size`: struct {
			A string `json:"a" maxBytes:"256k"`
		}{},
		`maxBytes "0" is not a size`: struct {
			A string `json:"a" maxBytes:"0"`
		}{},
		`unknown tag "maxbytes"`: struct {
			A string `json:"a" maxbytes:"1"`
		}{},
	} {
		if _, err := newPlan("POST /x", reflect.TypeOf(in), reflect.TypeFor[out](), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	type good struct {
		A string `json:"a" as:"image" maxBytes:"9" jsonschema:"x"`
		F string `json:"f" in:"formfile" wire:"file" filename:"x"`
	}
	p, err := newPlan("POST /x", reflect.TypeFor[good](), reflect.TypeFor[out](), nil)
	if err != nil || len(p.rules) != 2 || p.args[0].maxBytes != 9 || p.args[1].filename != "x" {
		t.Errorf("%+v, %v", p, err)
	}
}
