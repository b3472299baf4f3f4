package httpapi

import (
	"net/http"
	"net/url"
)

// AnyOrigin allows pages on any website to read next's responses. Use it for public data.
func AnyOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

// SameOrigin rejects, with status 403, requests that a page on another website makes a browser send through links,
// forms and scripts. Use it for private data. Requests from other programs do not come from a page and are accepted.
func SameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sameOrigin(r) {
			http.Error(w, "This data is private: it cannot be read from the pages of other websites.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin reports whether a request comes from a page on this server, or does not come from a page. All current
// browsers send Sec-Fetch-Site. Older browsers send Origin with requests that change something, and do not let pages
// from other origins read the responses to other requests.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "none", "same-origin":
		return true
	case "":
	default:
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host && u.Host != ""
}
