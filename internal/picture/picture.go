// Package picture fetches pictures of Wikimedia Commons by the names of their files, for pages that load nothing from
// other sites. What it returns is a small bitmap (JPEG, PNG, GIF or WebP) by its own content, never by what a server
// says of it: SVG, HTML and everything else is refused.
//
//	picture.go   the fetcher: what is asked, of whom, within which limits
//	kind.go      what a file is, by its first bytes
//	cache.go     pictures on disk, within bounds
//
// Which hosts can be reached is up to the transport; see [Hosts]. Names come from query results, which strangers may
// have written: a name becomes one part of the path of the configured address and nothing else.
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

// Commons is where Wikimedia Commons has its files: the name of one is added. It answers with a redirect to
// upload.wikimedia.org, for a width with one to a smaller bitmap, also for files that are drawings.
const Commons = "https://commons.wikimedia.org/wiki/Special:FilePath/"

// Limits of what is fetched. The width is one that Wikimedia keeps ready.
const (
	width      = 330              // pixels that are asked for
	maxBytes   = 4 << 20          // of a picture
	maxPixels  = 25_000_000       // of a picture that is not made smaller
	patience   = 20 * time.Second // for one picture, with its wait
	parallel   = 4                // pictures that are fetched at once
	maxWaiting = 200              // pictures that are asked for and not there yet
	maxName    = 240              // bytes, as in MediaWiki
)

// How long a picture that cannot be had is not asked for again.
const (
	goneFor  = time.Hour   // there is none, or it is not one that is shown
	laterFor = time.Minute // the service failed
	mostGone = 10_000      // names that are remembered
)

// Options are the parts of a [Fetcher].
type Options struct {
	Log       *slog.Logger
	Base      string            // address to which a file's name is added, such as [Commons]
	Transport http.RoundTripper // reaches [Hosts] of Base and nothing else
	Dir       string            // of the pictures that were fetched; made when the first one is asked for
	MaxDisk   int64             // bytes in Dir; 0: 200 MB
	Now       func() time.Time
}

// Fetcher fetches pictures and keeps them for a while.
type Fetcher struct {
	Options
	base   *url.URL
	client *http.Client
	cache  cache
	flight singleflight.Group
	slots  chan struct{}

	mu      sync.Mutex
	waiting int
	closed  time.Time          // the service wants to be left alone until then
	gone    map[string]failure // names without a picture
}

// failure is why a name has no picture, and until when it is not tried again.
type failure struct {
	err   error
	until time.Time
}

// Hosts are those that a transport for pictures of an address must reach: its own, and for Wikimedia's wikis the one
// with the files.
func Hosts(base string) []string {
	hosts := []string{base}
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(u.Hostname(), ".wikimedia.org") {
		hosts = append(hosts, "https://upload.wikimedia.org")
	}
	return hosts
}

// New returns a fetcher. Nothing is asked or written before the first [Fetcher.Get].
func New(o Options) (*Fetcher, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address of pictures is not one of http or https")
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

// Get returns the picture of a file, such as "Flag of Sweden.svg", and its kind, such as image/png. The error is a
// [fs.ErrNotExist] when there is none that could be shown; any other is worth another try later.
func (f *Fetcher) Get(ctx context.Context, file string) (kind string, data []byte, err error) {
	if !valid(file) {
		return "", nil, fmt.Errorf("not the name of a file: %w", fs.ErrNotExist)
	}
	if data := f.cache.get(f.key(file)); data != nil {
		if kind = kindOf(data); kind != "" {
			return kind, data, nil
		}
	}
	if err := f.refused(file); err != nil {
		return "", nil, err
	}
	if !f.enter() {
		return "", nil, errors.New("too many pictures are being fetched")
	}
	defer f.leave()
	done := f.flight.DoChan(file, func() (any, error) { return f.fetchFor(ctx, file) })
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

func (f *Fetcher) key(file string) string { return f.base.String() + "\x00" + file }

// valid reports whether a text can be the name of a file: characters that MediaWiki refuses would be part of the
// address.
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

// refused is why a name is not tried now, nil when it is.
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
		return errors.New("the service of pictures asked for a pause")
	}
	return nil
}

// remember notes that a name has no picture.
func (f *Fetcher) remember(file string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.gone) >= mostGone {
		clear(f.gone) // rare, and costs a few requests
	}
	wait := laterFor
	if errors.Is(err, fs.ErrNotExist) {
		wait = goneFor
	}
	f.gone[file] = failure{err, f.Now().Add(wait)}
}

// pause leaves the service alone for a while.
func (f *Fetcher) pause(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until := f.Now().Add(min(d, goneFor)); until.After(f.closed) {
		f.closed = until
	}
}

// fetchFor fetches a picture for all who wait for it: it goes on when the first of them leaves.
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
		f.Log.DebugContext(ctx, "no picture", "file", file, "error", err)
		return nil, err
	}
	if err := f.cache.put(f.key(file), data); err != nil {
		f.Log.WarnContext(ctx, "a picture cannot be kept", "error", err)
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
		if errors.As(err, &refused) { // a redirect to somewhere else
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
		return nil, fmt.Errorf("the service of pictures answers %s", resp.Status)
	case resp.StatusCode >= 500:
		return nil, fmt.Errorf("the service of pictures answers %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the service of pictures answers %s: %w", resp.Status, fs.ErrNotExist)
	case errors.As(err, &large):
		return nil, errors.Join(fs.ErrNotExist, err)
	case err != nil:
		return nil, err
	case kindOf(data) == "":
		return nil, fmt.Errorf("it is no picture that is shown: %w", fs.ErrNotExist)
	}
	return data, nil
}
