//go:build integration

package integration

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// tab is a page in a Chromium of its own, driven over the DevTools protocol as a person at the keyboard would.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab starts a browser with an empty profile. It is gone, with its whole profile, at the end of the test.
func newTab(t *testing.T, width, height int64) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("Chromium is missing: %v", err)
	}
	profile, err := os.MkdirTemp("", "chromium-*") // not t.TempDir: Chromium may still write while it is removed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stopAlloc)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	p := &tab{t, ctx}
	p.do(chromedp.EmulateViewport(width, height))
	return p
}

// do runs steps; a failure ends the test.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}
