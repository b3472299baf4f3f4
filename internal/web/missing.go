package web

import (
	"net/http"
	"strings"

	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// readable shows a page, instead of a line of plain text, to users who open a URL that does not exist. Programs still
// get the plain text.
func readable(next http.Handler, site *layout.Site) http.Handler {
	if site == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html") {
			w = &missing{ResponseWriter: w, r: r, site: site}
		}
		next.ServeHTTP(w, r)
	})
}

// missing replaces plain-text "not found" responses.
type missing struct {
	http.ResponseWriter
	r        *http.Request
	site     *layout.Site
	replaced bool
}

// Unwrap is for [http.ResponseController].
func (m *missing) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// WriteHeader sends the page if the response is a plain-text "not found" response, and otherwise just the status.
func (m *missing) WriteHeader(status int) {
	if status != http.StatusNotFound || !strings.HasPrefix(m.Header().Get("Content-Type"), "text/plain") {
		m.ResponseWriter.WriteHeader(status)
		return
	}
	m.replaced = true
	m.site.Problem(m.ResponseWriter, m.r, status, m.site.Say(m.r, "frame.nowhere"))
}

// Write sends part of the response, unless a page has replaced it.
func (m *missing) Write(b []byte) (int, error) {
	if m.replaced {
		return len(b), nil
	}
	return m.ResponseWriter.Write(b)
}
