package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func quietLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"spinachbot": func() {
			os.Exit(run(context.Background(), newEnv(), os.Args[1:]))
		},
	})
}

// The scripts in testdata/script also serve as a manual for the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
