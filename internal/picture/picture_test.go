package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

func drawn(w, h int) image.Image {
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	m.Set(0, 0, color.Black)
	return m
}

func encoded(t testing.TB, kind string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, drawn(3, 2))
	case "jpeg":
		err = jpeg.Encode(&b, drawn(3, 2), nil)
	case "gif":
		err = gif.Encode(&b, drawn(3, 2), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Headers of WebP files measuring 16 by 8 and 16384 by 16384 pixels, written by hand from the format's specification.
var (
	lossy    = "RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x10\x00\x08\x00"
	lossless = "RIFF\x16\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x0f\xc0\x01\x00\x00\x00\x00\x00\x00"
	extended = "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x0f\x00\x00\x07\x00\x00"
	huge     = "RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\xff\x3f\x00"
)

func TestKinds(t *testing.T) {
	bomb := encoded(t, "png")
	copy(bomb[16:], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // a huge width and height; the checksum is now wrong
	for _, tt := range []struct {
		name, data, want string
	}{
		{"PNG", string(encoded(t, "png")), "image/png"},
		{"JPEG", string(encoded(t, "jpeg")), "image/jpeg"},
		{"GIF", string(encoded(t, "gif")), "image/gif"},
		{"WebP", lossy, "image/webp"},
		{"WebP without loss", lossless, "image/webp"},
		{"WebP with more", extended, "image/webp"},
		{"a WebP of 268 million pixels", huge, ""},
		{"a PNG of 4 billion pixels", string(bomb), ""},
		{"a drawing", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, ""},
		{"a page", "<!doctype html><script>alert(1)</script>", ""},
		{"a page that begins like a GIF", "GIF89a<script>alert(1)</script>", ""}, // 0x733c by 0x7263 pixels: over 800 million
		{"nothing", "", ""},
		{"a part of a WebP", lossy[:20], ""},
		{"a PDF", "%PDF-1.4", ""},
	} {
		if got := kindOf([]byte(tt.data)); got != tt.want {
			t.Errorf("%s is %q, want %q", tt.name, got, tt.want)
		}
	}
	for data, want := range map[string][2]int{lossy: {16, 8}, lossless: {16, 8}, extended: {16, 8}} {
		if w, h, ok := webp([]byte(data)); !ok || w != want[0] || h != want[1] {
			t.Errorf("%q is %d by %d (%v)", data[12:16], w, h, ok)
		}
	}
}

// commons simulates the picture service. Like Commons, it redirects to the file itself.
type commons struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // requested paths with their query strings
}

func newCommons(t *testing.T, files map[string]http.HandlerFunc) *commons {
	t.Helper()
	c := &commons{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r.RequestURI)
		c.mu.Unlock()
		if name, ok := strings.CutPrefix(r.URL.Path, "/wiki/Special:FilePath/"); ok && files[name] != nil {
			http.Redirect(w, r, "/thumb/"+strings.TrimPrefix(r.URL.EscapedPath(), "/wiki/Special:FilePath/"), http.StatusFound)
			return
		}
		if f := files[strings.TrimPrefix(r.URL.Path, "/thumb/")]; f != nil {
			f(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *commons) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

func sends(kind string, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data)
	}
}

func newFetcher(t *testing.T, c *commons, clock *politehttp.ManualClock, change func(*Options)) *Fetcher {
	t.Helper()
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: "test", Hosts: Hosts(c.URL), Public: true})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Log: slog.New(slog.DiscardHandler), Base: c.URL + "/wiki/Special:FilePath/", Transport: rt,
		Dir: filepath.Join(t.TempDir(), "pictures"), Now: clock.Now}
	if change != nil {
		change(&o)
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func clockAt() *politehttp.ManualClock {
	return politehttp.NewManualClock(time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC))
}

// A picture is requested only once, scaled down. After that, it is read from disk until it is too old, even after a
// restart of the program.
func TestFetchedOnce(t *testing.T) {
	data := encoded(t, "png")
	c := newCommons(t, map[string]http.HandlerFunc{"Flag of Ünited States? 100%.svg": sends("image/png", data)})
	clock := clockAt()
	f := newFetcher(t, c, clock, nil)
	for range 3 {
		kind, got, err := f.Get(t.Context(), "Flag of Ünited States? 100%.svg")
		if err != nil || kind != "image/png" || !bytes.Equal(got, data) {
			t.Fatalf("%s, %d bytes, %v", kind, len(got), err)
		}
	}
	want := []string{"/wiki/Special:FilePath/Flag%20of%20%C3%9Cnited%20States%3F%20100%25.svg?width=330",
		"/thumb/Flag%20of%20%C3%9Cnited%20States%3F%20100%25.svg"}
	if got := c.requests(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("asked for %q", got)
	}
	again := newFetcher(t, c, clock, func(o *Options) { o.Dir = f.Dir })
	if _, _, err := again.Get(t.Context(), "Flag of Ünited States? 100%.svg"); err != nil || len(c.requests()) != 2 {
		t.Errorf("%v, %q", err, c.requests())
	}
	clock.Advance(31 * 24 * time.Hour)
	if _, _, err := f.Get(t.Context(), "Flag of Ünited States? 100%.svg"); err != nil || len(c.requests()) != 4 {
		t.Errorf("after a month: %v, %q", err, c.requests())
	}
}

// A file that is not a picture, is too large, is on a different host or is missing results in fs.ErrNotExist, and is
// not requested again immediately.
func TestRefused(t *testing.T) {
	var inside atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside.Add(1)
		_, _ = w.Write(encoded(t, "png"))
	}))
	defer other.Close()
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
	}
	c := newCommons(t, map[string]http.HandlerFunc{
		"drawing.svg": sends("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)),
		"page.png":    sends("image/png", []byte("<!doctype html><script>alert(1)</script>")),
		"large.png":   sends("image/png", append(encoded(t, "png"), make([]byte, maxBytes)...)),
		"other.png":   to(other.URL + "/x.png"),
		"meta.png":    to("http://169.254.169.254/latest/meta-data/"),
		"file.png":    to("file:///etc/passwd"),
		"round.png":   to("/thumb/round.png"),
		"gone.png":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
	})
	clock := clockAt()
	f := newFetcher(t, c, clock, nil)
	for _, name := range []string{"drawing.svg", "page.png", "large.png", "other.png", "meta.png", "file.png", "gone.png", "absent.png"} {
		if kind, data, err := f.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s, %d bytes, %v", name, kind, len(data), err)
		}
		before := len(c.requests())
		if _, _, err := f.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) || len(c.requests()) != before {
			t.Errorf("%s is requested again (%v)", name, err)
		}
	}
	if _, _, err := f.Get(t.Context(), "round.png"); err == nil {
		t.Error("a redirect without end has a picture")
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
	if left, err := os.ReadDir(f.Dir); err == nil && len(left) > 0 {
		t.Errorf("kept: %v", left)
	}
	clock.Advance(2 * time.Hour)
	before := len(c.requests())
	if _, _, err := f.Get(t.Context(), "absent.png"); err == nil || len(c.requests()) == before {
		t.Error("what was not there is never asked for again")
	}
}

// A name becomes a single segment of a path, and a string that cannot be a name is not requested.
func TestNames(t *testing.T) {
	c := newCommons(t, nil)
	f := newFetcher(t, c, clockAt(), nil)
	for _, name := range []string{"", ".", "..", "../../w/api.php", `..\x`, "a/b.png", "a#b.png", "a\nb.png", "a\x00.png", "x:y.png",
		"<script>.png", "{{x}}.png", "a|b.png", "\xff.png", strings.Repeat("x", 241), "//evil.example/x.png"} {
		if _, _, err := f.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := c.requests(); len(got) > 0 {
		t.Errorf("asked for %q", got)
	}
	_, _, _ = f.Get(t.Context(), "a?action=delete&x=%2e%2e%2f.png")
	if got := c.requests(); len(got) != 1 || got[0] != "/wiki/Special:FilePath/a%3Faction=delete&x=%252e%252e%252f.png?width=330" {
		t.Errorf("asked for %q", got)
	}
}

// If the service requests a pause, nothing is requested until the pause is over.
func TestPause(t *testing.T) {
	busy := true
	c := newCommons(t, map[string]http.HandlerFunc{"a.png": func(w http.ResponseWriter, r *http.Request) {
		if busy {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		sends("image/png", encoded(t, "png"))(w, r)
	}})
	clock := clockAt()
	f := newFetcher(t, c, clock, nil)
	if _, _, err := f.Get(t.Context(), "a.png"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	busy = false
	before := len(c.requests())
	for _, name := range []string{"a.png", "b.png"} {
		if _, _, err := f.Get(t.Context(), name); err == nil || len(c.requests()) != before {
			t.Errorf("%s is requested in the pause (%v)", name, err)
		}
	}
	clock.Advance(121 * time.Second)
	if _, _, err := f.Get(t.Context(), "a.png"); err != nil {
		t.Error(err)
	}
}

// Concurrent calls for the same picture cause only one request. If some callers give up, the others still get the
// picture.
func TestTogether(t *testing.T) {
	here := make(chan struct{}, 1)
	wait := make(chan struct{})
	data := encoded(t, "jpeg")
	c := newCommons(t, map[string]http.HandlerFunc{"a.jpg": func(w http.ResponseWriter, r *http.Request) {
		here <- struct{}{}
		<-wait
		sends("image/jpeg", data)(w, r)
	}})
	f := newFetcher(t, c, clockAt(), nil)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, _, err := f.Get(ctx, "a.jpg")
		left <- err
	}()
	<-here
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, got, err := f.Get(t.Context(), "a.jpg"); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(wait)
	all.Wait()
	if got := c.requests(); len(got) != 2 {
		t.Errorf("%d requests: %q", len(got), got)
	}
}

// Only a limited number of callers wait for pictures; the others are told to retry later.
func TestCrowd(t *testing.T) {
	f := newFetcher(t, newCommons(t, nil), clockAt(), nil)
	f.waiting = maxWaiting
	if _, _, err := f.Get(t.Context(), "a.png"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The disk cache keeps as many pictures as the limit allows; the least recently requested ones are evicted first. Files
// left behind by a killed program are removed, and a file that was tampered with is not used as a picture.
func TestBoundedDisk(t *testing.T) {
	files := map[string]http.HandlerFunc{}
	for i := range 12 {
		files[fmt.Sprint(i, ".png")] = sends("image/png", encoded(t, "png"))
	}
	c := newCommons(t, files)
	clock := clockAt()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "new-123"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFetcher(t, c, clock, func(o *Options) { o.Dir, o.MaxDisk = dir, 10*block })
	get := func(i int) (asked bool) {
		t.Helper()
		before := len(c.requests())
		clock.Advance(time.Second)
		if _, _, err := f.Get(t.Context(), fmt.Sprint(i, ".png")); err != nil {
			t.Fatal(i, err)
		}
		return len(c.requests()) > before
	}
	for i := range 10 {
		get(i)
	}
	get(0) // this is now the most recently requested picture
	get(10)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 9 {
		t.Fatalf("%d files (%v)", len(entries), err)
	}
	if get(0) || get(10) || get(9) {
		t.Error("what was wanted last is gone")
	}
	if !get(1) {
		t.Error("what was not wanted longest is still there")
	}
	if err := os.WriteFile(filepath.Join(dir, nameOf(f.key("0.png"))), []byte("<script>alert(1)</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !get(0) {
		t.Error("a file that someone changed was taken for a picture")
	}
}

// For Wikimedia's wikis, the hosts include the one that serves the files.
func TestHosts(t *testing.T) {
	for base, want := range map[string]string{
		Commons:                              Commons + " https://upload.wikimedia.org",
		"http://127.0.0.1:8080/f/":           "http://127.0.0.1:8080/f/",
		"https://files.example/x/":           "https://files.example/x/",
		"https://x.wikimedia.org.evil.org/f": "https://x.wikimedia.org.evil.org/f",
	} {
		if got := strings.Join(Hosts(base), " "); got != want {
			t.Errorf("%s: %s", base, got)
		}
	}
	for _, base := range []string{"", "ftp://x/", "https://user:pw@x.example/", "/x", "https:///x"} {
		if _, err := New(Options{Base: base}); err == nil {
			t.Errorf("%q is taken", base)
		}
	}
}
