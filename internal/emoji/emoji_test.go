package emoji

import "testing"

func TestRead(t *testing.T) {
	t.Parallel()
	const id = "760000000000000001"
	for _, s := range []string{
		"👍", "👍🏿", "☝🏽", "☝️🏽", "1️⃣", "0⃣", "#️⃣", "*️⃣", "❤", "❤️", "❤️‍🔥", "👨‍👩‍👧‍👦", "👩🏻‍❤️‍💋‍👨🏿", "🏳️‍🌈", "🏴‍☠️", "🇫🇮", "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
		"©️", "™", "ℹ️", "‼️", "〰️", "㊗️", "Ⓜ️", "▶️", "⌚", "↔️", "⤴️", "⭐", "🫨", "🀄", "🅰️",
	} {
		if got, err := Read(s); got != s || err != nil {
			t.Errorf("%q reads as %q, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{
		"party:" + id: "party:" + id, "<:party:" + id + ">": "party:" + id, "<a:party:" + id + ">": "party:" + id, "_1:" + id: "_1:" + id,
	} {
		if got, err := Read(s); got != want || err != nil {
			t.Errorf("%q reads as %q, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", " ", id, ":party:", "party", "party:", ":" + id, "party:1", "party:" + id + "0000", "party:99999999999999999999", "<party:" + id + ">", "<b:party:" + id + ">",
		"<:party:" + id, "party:" + id + ">", "par ty:" + id, "pärty:" + id, "party/:" + id, "party:" + id + "/@me", "👍 ", " 👍", "👍👍", "👍/", "👍%", "👍a", "a👍", "1", "12️⃣",
		"1️⃣1️⃣", "1️", "🇫", "🇫🇮🇫", "🇫👍", "\u200d", "👍\u200d", "\u200d👍", "️", "⃣", "🏴\U000E0067", "é", "日", "я", "@me", ".", "..", "\xff", "👍\xff", "%F0%9F%91%8D",
	} {
		if got, err := Read(s); err == nil {
			t.Errorf("%q reads as %q", s, got)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"❤️", "❤", true}, {"❤", "👍", false}, {"party:760000000000000001", "renamed:760000000000000001", true},
		{"party:760000000000000001", "party:760000000000000002", false}, {"party:760000000000000001", "👍", false},
	} {
		if Of(row.a).Same(Of(row.b)) != row.same {
			t.Errorf("%s and %s: want %t", row.a, row.b, row.same)
		}
	}
}
