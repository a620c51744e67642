// Package consoletest is a person at an approval console, for the tests of the
// commands that serve one: by hand, and with a browser.
package consoletest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browser is a person's browser. Whatever it loads from elsewhere than the
// console fails the test.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in it

	mu     sync.Mutex
	loaded []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: there is no chromium in PATH, so nobody has looked at the console with a browser; on Debian: apt-get install chromium")
	}
	b := &browser{t: t}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)...)
	t.Cleanup(end)
	b.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.loaded = append(b.loaded, e.Request.URL)
		}
	}))
	t.Cleanup(cancel)
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v; the page is:\n%s", err, b.text("body"))
	}
}

// text is what a person reads in the first element that matches.
func (b *browser) text(selector string) string {
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector)))
	if err != nil {
		return err.Error()
	}
	return s
}

// until waits for an expression to be true, also on a page that comes meanwhile.
func (b *browser) until(expression string) {
	b.t.Helper()
	late, again := time.After(20*time.Second), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		if done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); done && err == nil {
			return
		}
		select {
		case <-again.C:
		case <-late:
			b.t.Fatalf("%s is not so; the page is:\n%s", expression, b.text("body"))
		}
	}
}

// follows clicks what leads to another page, and waits for that.
func (b *browser) follows(selector string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`window.old = true`))
	b.do(chromedp.Click(chromedp.CSS(selector)))
	b.until(`!window.old && document.readyState === "complete"`)
}

// look takes pictures of a page at two widths and in both schemes, into the
// folder that GUILDWARDEN_SCREENSHOTS names, and finds what does not fit.
func (b *browser) look(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 844), func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
				_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				return v, err
			})
			wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
			if err != nil || int64(wide) > width {
				b.t.Errorf("%s is %d pixels wide on a screen of %d (%v)", name, wide, width, err)
			}
			if dir := os.Getenv("GUILDWARDEN_SCREENSHOTS"); dir != "" {
				shot, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), shot, 0o600)
				}
				if err != nil {
					b.t.Fatal(err)
				}
			}
		}
	}
	b.names(name)
}

// names finds controls without a name, ids that stand twice, and headings that
// skip a level.
func (b *browser) names(page string) {
	b.t.Helper()
	faults, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`(() => {
		const faults = [], seen = new Set();
		for (const el of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")) {
			const label = el.labels?.[0]?.innerText || el.getAttribute("aria-label") || el.innerText;
			if (!label || !label.trim()) faults.push("no name: " + el.outerHTML.slice(0, 120));
		}
		for (const el of document.querySelectorAll("[id]")) {
			if (seen.has(el.id)) faults.push("twice: #" + el.id);
			seen.add(el.id);
		}
		for (const el of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
			for (const id of (el.getAttribute("aria-labelledby") || el.getAttribute("aria-describedby")).split(" "))
				if (!document.getElementById(id)) faults.push("points nowhere: " + id);
		let last = 0;
		for (const h of document.querySelectorAll("h1, h2, h3")) {
			const level = Number(h.tagName[1]);
			if (level > last + 1) faults.push("skips a level: " + h.innerText);
			last = level;
		}
		if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
		if (!document.documentElement.lang || !document.title) faults.push("no language or title");
		return faults;
	})()`))
	if err != nil || len(faults) > 0 {
		b.t.Errorf("%s: %v %q", page, err, faults)
	}
}

// stayed fails when anything was loaded from elsewhere.
func (b *browser) stayed(at *url.URL) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.loaded) < 5 {
		b.t.Errorf("only %q is known to have been loaded", b.loaded)
	}
	for _, l := range b.loaded {
		u, err := url.Parse(l)
		if err != nil || u.Host != at.Host || !strings.HasPrefix(u.Path, at.Path) {
			b.t.Errorf("loaded %s", l)
		}
	}
}
