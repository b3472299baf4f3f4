// Package picture fetches pictures from Wikimedia Commons by file name, for pages that load nothing from other sites.
// It returns only small bitmaps (JPEG, PNG, GIF or WebP). The type is detected from the content; what a server claims
// is ignored. SVG, HTML and everything else is rejected.
//
//	picture.go   the fetcher and its limits
//	kind.go      the type of a file, from its first bytes
//	cache.go     pictures on disk, within limits
//
// The transport limits which hosts can be reached; see [Hosts]. Names come from query results, which strangers may have
// written, so a name can become only a single segment of the configured URL's path.
package picture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Commons is the URL of the files on Wikimedia Commons; a file name is appended to it. The response redirects to
// upload.wikimedia.org. If a width is requested, it redirects to a scaled-down bitmap, even if the file is an SVG
// drawing.
const Commons = "https://commons.wikimedia.org/wiki/Special:FilePath/"

// Limits on what is fetched. Wikimedia pre-renders bitmaps of this width.
const (
	width      = 330              // requested width in pixels
	maxBytes   = 4 << 20          // of a picture
	maxPixels  = 25_000_000       // for a picture that is not scaled down
	patience   = 20 * time.Second // for one picture, including time spent waiting in line
	parallel   = 4                // maximum number of pictures fetched concurrently
	maxWaiting = 200              // maximum number of pictures requested but not yet received
	maxName    = 240              // bytes, as in MediaWiki
)

// How long to wait before retrying a picture that could not be fetched.
const (
	goneFor  = time.Hour   // the picture does not exist or may not be shown
	laterFor = time.Minute // the service failed
	mostGone = 10_000      // maximum number of names that are remembered
)

// Options configures a [Fetcher].
type Options struct {
	Log       *slog.Logger
	Base      string            // URL to which a file name is appended, such as [Commons]
	Transport http.RoundTripper // reaches only the [Hosts] of Base
	Dir       string            // folder for fetched pictures; created when the first one is requested
	MaxDisk   int64             // maximum size of Dir in bytes; 200 MB if 0
	Now       func() time.Time
}

// Fetcher fetches pictures and caches them.
type Fetcher struct {
	Options
	base   *url.URL
	client *http.Client
	cache  cache
	flight singleflight.Group
	slots  chan struct{}

	mu      sync.Mutex
	waiting int
	closed  time.Time          // end of the pause that the service requested
	gone    map[string]failure // names without a picture
}

// failure records why a name has no picture, and when it may be retried.
type failure struct {
	err   error
	until time.Time
}

// Hosts returns the hosts that a transport for pictures at a URL must be able to reach: the URL's own host and, for
// Wikimedia's wikis, the host that serves the files.
func Hosts(base string) []string {
	hosts := []string{base}
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(u.Hostname(), ".wikimedia.org") {
		hosts = append(hosts, "https://upload.wikimedia.org")
	}
	return hosts
}

// New returns a fetcher. Nothing is requested or written before the first [Fetcher.Get].
func New(o Options) (*Fetcher, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address for pictures is not an http or https address")
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.RawQuery, u.Fragment = "", ""
	if o.MaxDisk <= 0 {
		o.MaxDisk = 200 << 20
	}
	f := &Fetcher{Options: o, base: u, slots: make(chan struct{}, parallel), gone: map[string]failure{},
		client: &http.Client{Transport: o.Transport, CheckRedirect: politehttp.CheckRedirect}}
	f.cache = cache{dir: o.Dir, most: o.MaxDisk, now: o.Now}
	return f, nil
}

// Get returns the picture for a file, such as "Flag of Sweden.svg", and its media type, such as image/png. If there is
// no picture that may be shown, the error is [fs.ErrNotExist]; after any other error, a later attempt may succeed.
func (f *Fetcher) Get(ctx context.Context, file string) (kind string, data []byte, err error) {
	if !valid(file) {
		return "", nil, fmt.Errorf("not a valid file name: %w", fs.ErrNotExist)
	}
	if data := f.cached(file); data != nil {
		return kindOf(data), data, nil
	}
	if err := f.refused(file); err != nil {
		return "", nil, err
	}
	if !f.enter() {
		return "", nil, errors.New("too many pictures are being fetched")
	}
	defer f.leave()
	done := f.flight.DoChan(file, func() (any, error) {
		if data := f.cached(file); data != nil { // another request has since fetched it
			return data, nil
		}
		return f.fetchFor(ctx, file)
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return "", nil, r.Err
		}
		data := r.Val.([]byte)
		return kindOf(data), data, nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

func (f *Fetcher) cached(file string) []byte {
	if data := f.cache.get(f.key(file)); kindOf(data) != "" {
		return data
	}
	return nil
}

func (f *Fetcher) key(file string) string { return f.base.String() + "\x00" + file }

// valid reports whether a string can be a file name. Characters that MediaWiki rejects are not allowed, since the name
// becomes part of the URL.
func valid(file string) bool {
	return file != "" && len(file) <= maxName && utf8.ValidString(file) && strings.Trim(file, ". ") != "" &&
		!strings.ContainsAny(file, "#<>[]|{}/\\:") && strings.IndexFunc(file, unicode.IsControl) < 0
}

func (f *Fetcher) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting >= maxWaiting {
		return false
	}
	f.waiting++
	return true
}

func (f *Fetcher) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
}

// refused returns the reason why a name may not be fetched now, or nil if it may be fetched.
func (f *Fetcher) refused(file string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	if g, ok := f.gone[file]; ok {
		if now.Before(g.until) {
			return g.err
		}
		delete(f.gone, file)
	}
	if now.Before(f.closed) {
		return errors.New("the picture service requested a pause")
	}
	return nil
}

// remember records that a picture could not be fetched, and when to try again.
func (f *Fetcher) remember(file string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.gone) >= mostGone {
		clear(f.gone) // clearing is rare and costs only a few extra requests
	}
	wait := laterFor
	if errors.Is(err, fs.ErrNotExist) {
		wait = goneFor
	}
	f.gone[file] = failure{err, f.Now().Add(wait)}
}

func (f *Fetcher) pause(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until := f.Now().Add(min(d, goneFor)); until.After(f.closed) {
		f.closed = until
	}
}

// fetchFor fetches a picture for all callers that are waiting for it. It continues even if the first caller has given
// up.
func (f *Fetcher) fetchFor(ctx context.Context, file string) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = safe.Do(func() error {
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-ctx.Done():
			return ctx.Err()
		}
		var err error
		data, err = f.fetch(ctx, file)
		return err
	})
	if err != nil {
		f.remember(file, err)
		f.Log.DebugContext(ctx, "cannot fetch a picture", "file", file, "error", err)
		return nil, err
	}
	if err := f.cache.put(f.key(file), data); err != nil {
		f.Log.WarnContext(ctx, "a picture cannot be stored", "error", err)
	}
	return data, nil
}

func (f *Fetcher) fetch(ctx context.Context, file string) ([]byte, error) {
	at := *f.base
	at.Path, at.RawPath = f.base.Path+file, f.base.EscapedPath()+url.PathEscape(file)
	at.RawQuery = fmt.Sprintf("width=%d", width)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "image/webp,image/png,image/jpeg,image/gif")
	resp, err := f.client.Do(req) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		var refused *politehttp.RefusedError
		if errors.As(err, &refused) { // a redirect to a different host
			return nil, errors.Join(fs.ErrNotExist, err)
		}
		return nil, err
	}
	data, err := politehttp.ReadAll(resp.Body, maxBytes)
	var large *politehttp.TooLargeError
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		wait, ok := politehttp.ParseRetryAfter(resp.Header.Get("Retry-After"), f.Now())
		if !ok {
			wait = laterFor
		}
		f.pause(wait)
		return nil, fmt.Errorf("the picture service responded with %s", resp.Status)
	case resp.StatusCode >= 500:
		return nil, fmt.Errorf("the picture service responded with %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the picture service responded with %s: %w", resp.Status, fs.ErrNotExist)
	case errors.As(err, &large):
		return nil, errors.Join(fs.ErrNotExist, err)
	case err != nil:
		return nil, err
	case kindOf(data) == "":
		return nil, fmt.Errorf("it is not an allowed kind of picture: %w", fs.ErrNotExist)
	}
	return data, nil
}
