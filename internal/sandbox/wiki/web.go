package wiki

import "net/http"

// exists reports whether there is a page.
func (h *Handler) exists(title string) bool { return h.wiki.Page(title) != nil }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/w/api.php":
		h.api(rw, r)
	default:
		http.NotFound(rw, r)
	}
}
