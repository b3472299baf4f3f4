// Package web puts the server's pages and APIs together. Each of them is a package of its own below this one.
package web

import (
	"log/slog"
	"net/http"

	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/health"
)

// Options are the parts of the server.
type Options struct {
	Log       *slog.Logger
	Hosts     []string     // names next to the loopback ones, see [guard.Options]
	Challenge http.Handler // the TEXT2SPARQL API
	MCP       http.Handler // the Model Context Protocol
	Metrics   http.Handler
	Checks    map[string]health.Check // what must work for the server to be ready
}

// New returns the server.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/text2sparql", o.Challenge)
	mux.Handle("/mcp", o.MCP)
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("dataset") {
			o.Challenge.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("SpinachBot: /mcp, /text2sparql?dataset=IRI&question=TEXT, /metrics, /healthz, /readyz\n"))
	})
	mux.Handle("GET /metrics", o.Metrics)
	mux.HandleFunc("GET /healthz", health.Live)
	mux.HandleFunc("GET /readyz", health.Ready(o.Log, o.Checks))
	return guard.Guard(mux, guard.Options{Log: o.Log, Hosts: o.Hosts})
}
