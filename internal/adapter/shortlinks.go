package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

const shortLinkTimeout = 30 * time.Second

// ShortLinks resolves links from link shorteners. It sends one request per link and follows no redirects. It is
// not safe for concurrent use.
type ShortLinks struct {
	Transport http.RoundTripper
	Clock     politehttp.Clock
	Pause     time.Duration          // between two requests
	Local     func(host string) bool // reports whether a host is the local machine
	Mute      bool                   // send requests to the local machine only
	last      time.Time
}

// Target implements [harvest.Links].
func (s *ShortLinks) Target(ctx context.Context, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%w: it is not an address", harvest.ErrNoTarget)
	}
	if s.Mute && !s.Local(u.Hostname()) {
		return "", errors.New("link shorteners require a web or mail address in the User-Agent: set CONTACT to ask " +
			u.Hostname())
	}
	if u.Scheme != "https" && !s.Local(u.Hostname()) {
		u.Scheme = "https" // shorteners redirect http to https, and we send only one request
	}
	u.Fragment, u.User = "", nil
	if err := s.Clock.Sleep(ctx, s.Pause-s.Clock.Now().Sub(s.last)); err != nil {
		return "", err
	}
	s.last = s.Clock.Now()
	ctx, cancel := context.WithTimeout(ctx, shortLinkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", harvest.ErrNoTarget, err)
	}
	// not an http.Client, which would also parse the redirect and fail if it has no address
	resp, err := s.Transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
	switch at := resp.Header.Get("Location"); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400 && at != "":
		to, err := u.Parse(at)
		if err != nil {
			return "", fmt.Errorf("%w: the redirect has no address", harvest.ErrNoTarget)
		}
		return to.String(), nil
	case politehttp.TransientStatus(resp.StatusCode):
		return "", fmt.Errorf("%s answered with status %d", u.Host, resp.StatusCode)
	}
	return "", fmt.Errorf("%w: %s answered with status %d", harvest.ErrNoTarget, u.Host, resp.StatusCode)
}
