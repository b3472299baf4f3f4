package layout

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// smallest is the minimum size in bytes of a response worth compressing.
const smallest = 1000

// takesGzip reports whether the client accepts gzip compression.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name != "gzip" && name != "*" {
			continue
		}
		q, ok := strings.CutPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
		if f, err := strconv.ParseFloat(q, 64); !ok || err != nil || f > 0 {
			return true
		}
	}
	return false
}

// write sends an entire response, compressing it if that is worth it.
func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) < smallest || !takesGzip(r) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // the client may have disconnected
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzip.NewWriter(w)
	_, _ = z.Write(body)
	_ = z.Close()
}

// Send responds with a body of the given content type, such as JSON for a page's script, compressed if that is
// worthwhile.
func Send(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	write(w, r, status, body)
}
