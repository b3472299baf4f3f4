package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/tggo/goRDFlib/graph"
	"github.com/tggo/goRDFlib/nt"
	"github.com/tggo/goRDFlib/sparql"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
)

// evaluator runs a query in process and returns the number of rows.
type evaluator func(ctx context.Context, query string) (rows int, err error)

// serve loads a file into one of the Go engines and serves requests until its standard input ends: /local runs a query
// and returns the time and the number of rows; /sparql implements the SPARQL protocol, if the engine supports it. The
// first line of the output contains the address and the loading time in milliseconds.
func serve(ctx context.Context, engine, file string) error {
	mux := http.NewServeMux()
	start := time.Now()
	var eval evaluator
	switch engine {
	case "embedded":
		g, err := embedded.Load(embedded.Options{Timeout: -1, Now: time.Now}, file)
		if err != nil {
			return err
		}
		eval = func(ctx context.Context, query string) (int, error) {
			t, err := g.Query(ctx, query)
			if err != nil {
				return 0, err
			}
			return len(t.Rows), nil
		}
		mux.Handle("/sparql", httpapi.NewSPARQL(slog.New(slog.DiscardHandler), g, 0))
	case "gordflib":
		g, err := loadGoRDFlib(file)
		if err != nil {
			return err
		}
		eval = func(_ context.Context, query string) (int, error) {
			r, err := sparql.Query(g, query)
			if err != nil {
				return 0, err
			}
			return len(r.Bindings), nil
		}
	default:
		return fmt.Errorf("no engine %q", engine)
	}
	load := time.Since(start)
	debug.FreeOSMemory()
	mux.HandleFunc("/local", func(w http.ResponseWriter, r *http.Request) {
		query, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		start := time.Now()
		rows, err := eval(r.Context(), string(query))
		took := time.Since(start)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%d %d", took.Microseconds(), rows)
	})
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("%s %d\n", l.Addr(), load.Milliseconds())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = srv.Close()
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func loadGoRDFlib(file string) (*graph.Graph, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g := graph.NewGraph()
	return g, nt.Parse(g, f)
}
