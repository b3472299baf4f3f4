package web

import (
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/internal/logid"
)

// requestID is the header that carries a request's ID from a proxy to this server, and from this server to the client.
const requestID = "X-Request-Id"

var goodID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// access assigns each request an ID, counts it and logs its path, without the query string, which may contain a
// question. If a proxy has set an ID, it is kept.
func access(next http.Handler, o *Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestID)
		if !goodID.MatchString(id) {
			id = o.NewID()
		}
		w.Header().Set(requestID, id)
		ctx := logid.With(r.Context(), id)
		r = r.WithContext(ctx)
		out := &answer{ResponseWriter: w, status: http.StatusOK}
		began := o.Now()
		defer func() { // even if the handler aborts its connection with a panic
			took := o.Now().Sub(began)
			path := "other" // only the server's own paths become metric labels
			if r.Pattern != "" {
				path = strings.TrimSuffix(r.Pattern[strings.IndexByte(r.Pattern, '/'):], "{$}")
			}
			if o.Watch != nil {
				o.Watch(path, method(r.Method), out.status, took)
			}
			level := slog.LevelInfo
			if quiet[path] {
				level = slog.LevelDebug
			}
			o.Log.Log(ctx, level, "request", "method", r.Method, "path", r.URL.Path, "status", out.status, "ms",
				took.Milliseconds(), "bytes", out.bytes)
		}()
		next.ServeHTTP(out, r)
	})
}

// quiet lists paths that programs request constantly.
var quiet = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/static/": true}

// method returns a method that is safe to use as a metric label.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return m
	}
	return "other"
}

// answer records the status of a response.
type answer struct {
	http.ResponseWriter
	status  int
	bytes   int64
	written bool
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if !a.written && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status, a.written = status, true
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.written = true
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher].
func (a *answer) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
