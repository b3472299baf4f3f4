package health

import (
	"net/http"
	"net/http/pprof"
)

// Profiles serves what Go knows of a running program, for go tool pprof, under /debug/pprof/. It shows command lines
// and memory: the caller must see to it that only this machine can reach it.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
