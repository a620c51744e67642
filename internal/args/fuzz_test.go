package args_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
)

var seeds = []string{
	``, `null`, `{}`, `[]`, `{"channel_id":"710000000000000001"}`, `{"channel_id":710000000000000001,"limit":"5","embeds":"[{\"title\":\"x\"}]"}`,
	`{"a":1,"A":2}`, `{"a":{"b":[1,1.0,-0,1e5,true,null,"\u003c\ud800\u2028"]}}`, `{"any":{"__confirm":true},"labels":{"x":"y"},"form":null}`,
	`{"limit":1e999999999}`, "{\"\xff\":1}", `{"a":[[[[]]]]}`, ` { "b" : 1 , "a" : 2 } `,
}

// reading is what encoding/json makes of raw, and whether it is an object.
func reading(raw []byte) (map[string]any, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return nil, false
	}
	object, ok := v.(map[string]any)
	return object, ok
}

// FuzzParse: what is read has one canonical form that reads as itself, and is
// what encoding/json reads.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, issue := args.Parse(raw)
		if issue != nil {
			if issue.Message == "" || issue.Code == "" {
				t.Errorf("an issue without words: %v", issue)
			}
			return
		}
		if len(object) > 0 {
			if theirs, ok := reading(raw); !ok || !reflect.DeepEqual(object, theirs) {
				t.Errorf("%q is %v here and %v to encoding/json", raw, object, theirs)
			}
		}
		first := canon.Append(nil, object)
		again, issue := args.Parse(first)
		if issue != nil {
			t.Fatalf("%q became %q, which is refused: %v", raw, first, issue)
		}
		if second := canon.Append(nil, again); !bytes.Equal(first, second) {
			t.Errorf("%q became %q, then %q", raw, first, second)
		}
	})
}

// FuzzFit: what is accepted decodes into the struct, holds no unknown member and
// no authorization, and is accepted again unchanged.
func FuzzFit(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	s := schemaOf[input](f)
	v, err := args.Compile(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, strict bool) {
		object, issue := args.Parse(raw)
		if issue != nil {
			return
		}
		args.TakeAuthorization(object)
		issues, _ := args.Fit(object, s, strict)
		if issues = append(issues, v.Validate(object)...); len(issues) > 0 {
			for _, i := range issues {
				if i.Message == "" || i.Code == "" {
					t.Errorf("%q: an issue without words: %v", raw, i)
				}
			}
			return
		}
		accepted := canon.Append(nil, object)
		dec := json.NewDecoder(bytes.NewReader(accepted))
		dec.DisallowUnknownFields()
		var in input
		if err := dec.Decode(&in); err != nil {
			t.Fatalf("%q was accepted as %q and does not decode: %v", raw, accepted, err)
		}
		again, issue := args.Parse(accepted)
		if issue != nil {
			t.Fatal(issue)
		}
		issues, dropped := args.Fit(again, s, true)
		if issues = append(issues, v.Validate(again)...); len(issues)+len(dropped) > 0 {
			t.Fatalf("%q was accepted as %q, which is not: %v %v", raw, accepted, issues, dropped)
		}
		if second := canon.Append(nil, again); !bytes.Equal(accepted, second) {
			t.Errorf("%q was accepted as %q, then as %q", raw, accepted, second)
		}
	})
}
