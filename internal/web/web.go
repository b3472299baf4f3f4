// Package web combines the server's pages and APIs, each of which is a package below this one.
package web

import (
	_ "embed"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/health"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// openAPI is the OpenAPI description of the APIs for programs (https://spec.openapis.org/oas/v3.1.0); a test compares
// it with the server.
//
//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(openAPI)
}

// Options are the parts of the server.
type Options struct {
	Log       *slog.Logger
	Hosts     []string     // host names in addition to the loopback names; see [guard.Options]
	Challenge http.Handler // the TEXT2SPARQL API
	MCP       http.Handler // the Model Context Protocol
	Metrics   http.Handler
	NewID     func() string // returns a request ID for the log; if nil, requests have no IDs and are not logged
	Now       func() time.Time
	// Watch counts a request by its path pattern, or "other"; may be nil
	Watch  func(path, method string, status int, took time.Duration)
	Checks map[string]health.Check // components that must work for the server to be ready
	Site   *layout.Site            // the frame of the pages; nil if there are no pages
	// Pages are the sections' pages and further APIs by pattern, such as "/runs/"; "/{$}" is the home page
	Pages map[string]http.Handler
}

// New returns the server.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range routes(&o) {
		mux.Handle(pattern, h)
	}
	guarded := guard.Guard(readable(mux, o.Site), guard.Options{Log: o.Log, Hosts: o.Hosts})
	if o.NewID == nil {
		return guarded
	}
	return access(guarded, &o)
}

// routes returns the server's handlers by pattern.
func routes(o *Options) map[string]http.Handler {
	out := maps.Clone(o.Pages)
	if out == nil {
		out = map[string]http.Handler{}
	}
	if o.Site != nil {
		out["GET /static/"] = http.HandlerFunc(o.Site.ServeStatic)
	}
	out["/text2sparql"] = o.Challenge
	out["/mcp"] = o.MCP
	out["GET /metrics"] = o.Metrics
	out["GET /healthz"] = http.HandlerFunc(health.Live)
	out["GET /readyz"] = health.Ready(o.Log, o.Checks)
	out["GET /openapi.json"] = http.HandlerFunc(serveOpenAPI)
	out["/{$}"] = o.root()
	return out
}

// root serves / to the challenge's client and to users.
func (o *Options) root() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("dataset") {
			o.Challenge.ServeHTTP(w, r)
			return
		}
		if first := o.Pages["/{$}"]; first != nil {
			first.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("SpinachBot: /mcp, /text2sparql?dataset=IRI&question=TEXT, /live, /metrics, /healthz, /readyz, /openapi.json\n"))
	})
}
