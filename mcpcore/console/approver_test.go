package console_test

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/redact"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// made is a new approver.
func made(t *testing.T, name string) (token, setting string) {
	t.Helper()
	token, setting, err := console.NewApprover(name)
	if err != nil {
		t.Fatal(err)
	}
	return token, setting
}

// parsed are the approvers of a list.
func parsed(t *testing.T, list string) console.Approvers {
	t.Helper()
	a, err := console.ParseApprovers(list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewApproverVerifies(t *testing.T) {
	t.Parallel()
	ana, anaSet := made(t, "ana")
	ben, benSet := made(t, "ben.k-2")
	a := parsed(t, " "+anaSet+" , "+strings.Replace(benSet, "=", " = ", 1)+",")
	if got := a.Names(); !slices.Equal(got, []string{"ana", "ben.k-2"}) {
		t.Errorf("the names are %q", got)
	}
	for token, want := range map[string]string{ana: "ana", ben: "ben.k-2"} {
		if name, ok := a.Verify(token); !ok || name != want {
			t.Errorf("the token of %s is taken for %q (%t)", want, name, ok)
		}
	}
	if strings.Contains(anaSet, ana) || ana == ben {
		t.Error("the setting holds the token, or two are the same")
	}
	if got := redact.Text("x" + ana + "x"); strings.Contains(got, ana[4:]) {
		t.Errorf("a token in a text becomes %s", got)
	}
	encoded, ok := strings.CutPrefix(ana, "gwa_")
	if b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(encoded)); !ok || err != nil || len(b) != 32 {
		t.Errorf("a token has %d bytes behind its prefix (%t, %v)", len(b), ok, err)
	}
}

func TestVerifyTakesNothingElse(t *testing.T) {
	t.Parallel()
	ana, set := made(t, "ana")
	other, _ := made(t, "ana")
	_, digits, _ := strings.Cut(set, "sha256:")
	flipped := "a"
	if ana[10:11] == flipped {
		flipped = "b"
	}
	a := parsed(t, set)
	for name, token := range map[string]string{
		"nothing": "", "another's": other, "the hash": digits, "the setting": set, "the prefix": "gwa_", "without the prefix": ana[4:],
		"cut off": ana[:len(ana)-1], "longer": ana + "a", "a letter changed": ana[:10] + flipped + ana[11:], "upper case": strings.ToUpper(ana),
		"a line break": ana + "\n", "a line break inside": ana[:20] + "\n" + ana[20:], "spaces": " " + ana,
	} {
		if who, ok := a.Verify(token); ok || who != "" {
			t.Errorf("%s is taken for %q", name, who)
		}
	}
	if _, ok := (console.Approvers{}).Verify(ana); ok {
		t.Error("nobody verifies")
	}
}

// Who was given a token keeps it: what it is known by does not change.
func TestATokenStaysKnown(t *testing.T) {
	t.Parallel()
	token := "gwa_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("thirty-two bytes, never changing")))
	a := parsed(t, "ana=sha256:471717a6e22c3fa50694bbcb5920aaec62657055687675f1706fea0741e31913")
	if name, ok := a.Verify(token); !ok || name != "ana" {
		t.Errorf("taken for %q (%t)", name, ok)
	}
}

// Who reads the settings cannot make them of a token's text.
func TestTheHashIsNotOfTheToken(t *testing.T) {
	t.Parallel()
	ana, set := made(t, "ana")
	if hash := fmt.Sprintf("%x", sha256.Sum256([]byte(ana))); strings.Contains(set, hash) {
		t.Errorf("%s holds the hash of the token itself", set)
	}
	if _, ok := parsed(t, fmt.Sprintf("ana=sha256:%x", sha256.Sum256([]byte(ana)))).Verify(ana); ok {
		t.Error("the hash of the token verifies, from which no proof can be checked")
	}
}

// A password that somebody hashed by hand could be guessed from its hash.
func TestAPasswordIsNoToken(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"hunter2", "gwa_hunter2", ""} {
		a := parsed(t, fmt.Sprintf("ana=sha256:%x", sha256.Sum256([]byte(password))))
		if _, ok := a.Verify(password); ok {
			t.Errorf("%q verifies", password)
		}
	}
}

func TestParseApproversRefuses(t *testing.T) {
	t.Parallel()
	ana, anaSet := made(t, "ana")
	_, benSet := made(t, "ben")
	_, anaHash, _ := strings.Cut(anaSet, "=")
	for name, row := range map[string]struct{ list, says string }{
		"the token":           {"ana=" + ana, "holds a token"},
		"the token as a hash": {"ana=sha256:" + ana, "holds a token"},
		"the token alone":     {ana, "holds a token"},
		"a password":          {"ana=nobody-may-see-me", "approver new NAME"},
		"another hash":        {"ana=md5:d41d8cd98f00b204e9800998ecf8427e", "64 hex digits"},
		"a short hash":        {anaSet[:len(anaSet)-2], "64 hex digits"},
		"a long hash":         {anaSet + "00", "64 hex digits"},
		"no hex":              {"ana=sha256:" + strings.Repeat("z", 64), "64 hex digits"},
		"no name":             {"=" + anaHash, "needs a name"},
		"a hash alone":        {anaHash, "64 hex digits"},
		"a name with a space": {"ana k=" + anaHash, "needs a name"},
		"upper case":          {"Ana=" + anaHash, "needs a name"},
		"a control character": {"a\x1bna=" + anaHash, "needs a name"},
		"a long name":         {strings.Repeat("a", 65) + "=" + anaHash, "needs a name"},
		"the same name":       {anaSet + "," + strings.Replace(benSet, "ben", "ana", 1), "item 2 names ana again"},
		"the same token":      {anaSet + ",ben=" + anaHash, "item 2 has the token of ana"},
		"the second":          {anaSet + ",x", "item 2 must be"},
		"commas":              {" , ,", "names nobody"},
	} {
		a, err := console.ParseApprovers(row.list)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want something about %q", name, err, row.says)
			continue
		}
		if a.Names() != nil {
			t.Errorf("%s: somebody may decide: %q", name, a.Names())
		}
		for _, secret := range []string{ana[4:24], "nobody-may-see-me", "\x1b"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows the item: %v", name, err)
			}
		}
	}
	if _, err := console.ParseApprovers("x,y," + ana); err == nil || strings.Count(err.Error(), "item ") != 3 {
		t.Errorf("not every problem at once: %v", err)
	}
	if a := parsed(t, "  "); a.Names() != nil {
		t.Errorf("an empty list names %q", a.Names())
	}
}

func TestNewApproverRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Ana", "ana k", "ana=x", "ana,ben", "-ana", "ana.", "a\nb", "ána", strings.Repeat("a", 65)} {
		if token, setting, err := console.NewApprover(name); err == nil || token != "" || setting != "" || !strings.Contains(err.Error(), "lower-case") {
			t.Errorf("%q: %q, %v", name, setting, err)
		}
	}
	for _, name := range []string{"a", "7", strings.Repeat("a", 64)} {
		if _, setting := made(t, name); parsed(t, setting).Names()[0] != name {
			t.Errorf("%q is not taken", name)
		}
	}
}
