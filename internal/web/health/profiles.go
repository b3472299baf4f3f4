package health

import (
	"net/http"
	"net/http/pprof"
)

// Profiles serves the running program's profiles for go tool pprof under /debug/pprof/. It reveals the command
// line and the contents of memory: the caller must ensure that only this machine can reach it.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
