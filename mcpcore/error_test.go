package mcpcore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// failing is a server whose update tool fails as told.
func failing(t *testing.T, err error) (*client, *lockedBuffer) {
	t.Helper()
	d, log := &desk{}, &lockedBuffer{}
	deps := d.deps()
	deps.Logger = logTo(log)
	deps.Tools[1] = acting(d, func(context.Context, *mcpcore.Call) error { return err })
	return connect(t, deps), log
}

func TestEveryCodeReachesTheClient(t *testing.T) {
	t.Parallel()
	codes := mcpcore.Codes()
	if len(codes) < 40 {
		t.Fatalf("the table has %d codes", len(codes))
	}
	for _, code := range codes {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			if c := code.Category(); c != mcpcore.Client && c != mcpcore.Server {
				t.Errorf("its category is %q", c)
			}
			if code.Hint() == "" || !strings.HasSuffix(code.Hint(), ".") {
				t.Errorf("its hint is %q", code.Hint())
			}
			c, _ := failing(t, fmt.Errorf("outer: %w", mcpcore.Errorf(code, "what is wrong").With("status", 404)))
			a := c.refused(t, "ticket_update", goodUpdate, code)
			want := map[string]any{
				"code": string(code), "category": string(code.Category()), "retriable": code.Retriable(),
				"recovery_hint": code.Hint(), "detail": "what is wrong", "status": 404.0,
			}
			for k, v := range want {
				if a.data[k] != v {
					t.Errorf("%s is %v, want %v", k, a.data[k], v)
				}
			}
			if len(a.data) != len(want) {
				t.Errorf("the envelope is %v", a.data)
			}
			if wantText := "**" + string(code) + "**\n\nWhat is wrong.\n\n" + code.Hint(); a.text != wantText {
				t.Errorf("the text is %q, want %q", a.text, wantText)
			}
		})
	}
}

func TestTextOfAnError(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		want string
	}{
		{mcpcore.Errorf(mcpcore.CodeNotFound, "it is gone"), "It is gone.\n"},
		{mcpcore.Errorf(mcpcore.CodeNotFound, "it is gone."), "It is gone.\n"},
		{mcpcore.Errorf(mcpcore.CodeToolNotAvailable, "no; did you mean %q?", "x"), "No; did you mean \"x\"?\n"},
		{mcpcore.Errorf(mcpcore.CodeConsentRequired, "not yet").With("recipient_id", "1").With("consent_hash", "h\u202e").With("other", "unseen"), "Not yet.\n\n- recipient_id: \"1\"\n- consent_hash: \"h\\u202e\"\n\n"},
	} {
		d := &desk{}
		deps := d.deps()
		deps.Tools[1] = acting(d, func(context.Context, *mcpcore.Call) error { return row.err })
		if got := connect(t, deps).call(t, "ticket_update", goodUpdate).text; !strings.Contains(got, row.want) || strings.Contains(got, "unseen") {
			t.Errorf("got\n%s\nwant\n%s", got, row.want)
		}
	}
}

func TestWhatIsNoCodeOfOursIsInternal(t *testing.T) {
	t.Parallel()
	var none *mcpcore.Error
	for name, err := range map[string]error{
		"a plain error":              errors.New("canary dsn=postgres://u:p@h"),
		"a wrapped one":              fmt.Errorf("canary: %w", io.EOF),
		"an unknown code":            &mcpcore.Error{Code: "CANARY_CODE", Detail: "canary", Hint: "canary", Fields: map[string]any{"canary": 1}},
		"a nil *Error":               none,
		"someone else's Canceled":    fmt.Errorf("canary: %w", context.Canceled),
		"a cause behind a known one": &mcpcore.Error{Code: mcpcore.CodeInternal, Detail: "the server failed", Cause: errors.New("canary")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := failing(t, err)
			a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeInternal)
			if strings.Contains(strings.ToLower(a.everything()), "canary") {
				t.Errorf("it reached the client: %s", a.everything())
			}
			if err != none && !strings.Contains(log.String(), "anary") {
				t.Errorf("the cause is not in the log: %s", log.String())
			}
		})
	}
}

type unmarshalable struct{}

func (unmarshalable) MarshalJSON() ([]byte, error) { panic("canary") }

// What an error repeats of a caller's or Discord's words shows no credential.
func TestErrorsMaskCredentials(t *testing.T) {
	t.Parallel()
	const token = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.GabcDE.0123456789012345678901234567890"
	told := mcpcore.Invalid(
		mcpcore.Issue{Path: "name", Message: "is not " + token, Code: mcpcore.IssueRule},
		mcpcore.Issue{Path: token, Message: "is unknown", Code: mcpcore.IssueRule},
	).WithHint("Do not use %s.", token)
	c, _ := failing(t, told)
	a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeValidation)
	if all := a.text + fmt.Sprint(a.data); strings.Contains(all, "GabcDE") || strings.Count(all, "[REDACTED:token]") < 5 {
		t.Errorf("%s\n%v", a.text, a.data)
	}
	if !strings.Contains(told.Detail+told.Hint, token) {
		t.Error("the error itself was changed")
	}
}

func TestFieldsThatJSONCannotHoldAreLeftOut(t *testing.T) {
	t.Parallel()
	c, _ := failing(t, mcpcore.Errorf(mcpcore.CodeNotFound, "gone").
		With("a", math.NaN()).With("b", make(chan int)).With("c", func() {}).With("d", unmarshalable{}).
		With("kept", 5).With("code", "OTHER").With("retriable", true).With("category", "x").With("recovery_hint", "x").With("detail", "x"))
	a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeNotFound)
	if len(a.data) != 6 || a.data["kept"] != 5.0 || a.data["detail"] != "gone" || a.data["retriable"] != false || a.data["category"] != "client" {
		t.Errorf("the envelope is %v", a.data)
	}
}

func TestErrorf(t *testing.T) {
	t.Parallel()
	e := mcpcore.Errorf(mcpcore.CodeExternal, "read %s: %w", "the page", io.EOF)
	if e.Detail != "read the page" || e.Cause != io.EOF || !errors.Is(e, io.EOF) || e.Error() != "EXTERNAL_SERVICE_UNAVAILABLE: read the page" {
		t.Errorf("%q with the cause %v", e.Error(), e.Cause)
	}
	if e := (&mcpcore.Error{Code: mcpcore.CodeExternal}); e.Error() != "EXTERNAL_SERVICE_UNAVAILABLE" || e.Unwrap() != nil {
		t.Errorf("%q", e.Error())
	}
	if e := mcpcore.Errorf(mcpcore.CodeExternal, "x").WithHint("Wait %d s.", 5); e.Hint != "Wait 5 s." {
		t.Errorf("hint %q", e.Hint)
	}
	if c := mcpcore.Code("NEW"); c.Category() != mcpcore.Server || c.Retriable() || c.Hint() != "" {
		t.Error("a code outside the table has facts")
	}
}

// Preconditions refuse with their own code or as PRECONDITION_FAILED with their
// own words, less what looks like a secret.
func TestPreconditionRefusals(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		code mcpcore.Code
		says string
	}{
		"its own code":   {mcpcore.Errorf(mcpcore.CodeFactsChanged, "other facts"), mcpcore.CodeFactsChanged, "other facts"},
		"words":          {errors.New("wait for Monday"), mcpcore.CodePrecondition, `the precondition "hours" refused: wait for Monday`},
		"a secret":       {errors.New("GET https://user:pass@host/x"), mcpcore.CodePrecondition, "https://[REDACTED]@host/x"},
		"an old timeout": {context.DeadlineExceeded, mcpcore.CodePrecondition, "deadline"},
	} {
		d := &desk{}
		deps := d.deps()
		deps.Policies = append(deps.Policies, mcpcore.Policy{
			Name: "hours", Match: func(t *mcpcore.Tool) bool { return t.Name == "ticket_update" },
			Require: []mcpcore.Precondition{{Name: "first", Check: allow}, {Name: "hours", Check: func(context.Context, *mcpcore.Call) error { return row.err }}},
		})
		c := connect(t, deps)
		a := c.refused(t, "ticket_update", goodUpdate, row.code)
		if detail, _ := a.data["detail"].(string); !strings.Contains(detail, row.says) {
			t.Errorf("%s: says %q, want %q", name, detail, row.says)
		}
		if row.code == mcpcore.CodePrecondition && (a.data["precondition"] != "hours" || a.data["tool"] != "ticket_update") {
			t.Errorf("%s: the envelope is %v", name, a.data)
		}
		c.passed(t, "tickets_list", goodList)
		if got := len(d.runs()); got != 1 {
			t.Errorf("%s: %d handlers ran", name, got)
		}
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	asked := &counting{}
	d := &desk{}
	deps := d.deps()
	deps.Evidence = []mcpcore.EvidenceResolver{asked}
	deps.Tools[1].Require = []mcpcore.Precondition{{Name: "twice", Check: func(ctx context.Context, c *mcpcore.Call) error {
		for _, key := range []string{"a", "a", "b", "bad", "bad"} {
			e, err := c.Evidence(ctx, "ticket", key)
			if (key == "bad") != (err != nil) || err == nil && e.Data != key {
				return fmt.Errorf("%s is %v, %v", key, e.Data, err)
			}
		}
		if _, err := c.Evidence(ctx, "weather", ""); err == nil {
			return errors.New("evidence without a resolver")
		}
		return nil
	}}}
	c := connect(t, deps)
	c.passed(t, "ticket_update", goodUpdate)
	if asked.n != 3 {
		t.Errorf("the resolver was asked %d times for three questions", asked.n)
	}
	c.passed(t, "ticket_update", goodUpdate)
	if asked.n != 6 {
		t.Error("another call got the first one's answers")
	}
}

type counting struct{ n int }

func (*counting) Kinds() []mcpcore.EvidenceKind { return []mcpcore.EvidenceKind{"ticket"} }
func (r *counting) Resolve(_ context.Context, ref mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	if r.n++; ref.Key == "bad" {
		return mcpcore.Evidence{}, errors.New("no")
	}
	return mcpcore.Evidence{Complete: true, Data: ref.Key}, nil
}
