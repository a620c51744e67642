package sandbox

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestBindKeepsAbsentNullAndZeroApart(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		sent, has bool
		or        int
	}{
		`{}`:         {false, false, 7},
		``:           {false, false, 7},
		`{"n":null}`: {true, false, 7},
		`{"n":0}`:    {true, true, 0},
		`{"n":"3"}`:  {true, true, 3},
	} {
		var f struct {
			N opt[int] `json:"n"`
		}
		if err := bind([]byte(body), &f); err != nil || f.N.sent != want.sent || f.N.has() != want.has || f.N.or(7) != want.or {
			t.Errorf("%s: %+v, %v", body, f.N, err)
		}
	}
}

func TestBindReportsAllViolations(t *testing.T) {
	t.Parallel()
	var f channelForm
	err := bind([]byte(`{"name":"","position":-1,"permission_overwrites":[{"id":"x"},{"allow":"y","id":"1"}],"nsfw":"yes","available_tags":{}}`), &f)
	raw, _ := json.Marshal(err)
	const want = `{"message":"Invalid Form Body","code":50035,"errors":{` +
		`"available_tags":{"_errors":[{"code":"LIST_TYPE_CONVERT","message":"Only iterables may be used in a ListType"}]},` +
		`"name":{"_errors":[{"code":"BASE_TYPE_BAD_LENGTH","message":"Must be between 1 and 100 in length."}]},` +
		`"nsfw":{"_errors":[{"code":"BOOLEAN_TYPE_CONVERT","message":"Must be either true or false."}]},` +
		`"permission_overwrites":{"0":{"id":{"_errors":[{"code":"NUMBER_TYPE_COERCE","message":"Value \"x\" is not snowflake."}]}},` +
		`"1":{"allow":{"_errors":[{"code":"NUMBER_TYPE_COERCE","message":"Value \"y\" is not int."}]}}},` +
		`"position":{"_errors":[{"code":"NUMBER_TYPE_MIN","message":"int value should be greater than or equal to 0."}]}}}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func FuzzBind(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `[]`, `{"content":null,"embeds":[{"fields":[{}]}],"components":[{"type":9,"accessory":{"type":2}}],"nonce":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var form messageForm
		err := bind(body, &form)
		if err == nil && len(bytes.TrimSpace(body)) > 0 && !json.Valid(body) {
			t.Errorf("%q is not JSON and was taken", body)
		}
		if err != nil && err.(*apiError).status != 400 {
			t.Errorf("%q: %v", body, err)
		}
	})
}
