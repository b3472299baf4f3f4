package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spinachbot/spinachbot/config"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

func quietLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"spinachbot": func() {
			os.Exit(run(context.Background(), newEnv(), os.Args[1:]))
		},
	})
}

// The scripts in testdata/script also serve as a manual for the command line. "exec spinachbot" starts a process, as a
// user does; "call spinachbot" runs the same command in the test's process, which is much faster, without input.
func TestScripts(t *testing.T) {
	dir, err := filepath.Abs("testdata/script") // calls change the working directory
	if err != nil {
		t.Fatal(err)
	}
	var initial []string
	testscript.Run(t, testscript.Params{
		Dir:   dir,
		Setup: func(e *testscript.Env) error { e.Values[&initial] = e.Vars; return nil },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"call": func(ts *testscript.TestScript, neg bool, args []string) {
				if len(args) == 0 || args[0] != "spinachbot" {
					ts.Fatalf("usage: call spinachbot ARGUMENTS")
				}
				e := &env{stdin: strings.NewReader(""), stdout: ts.Stdout(), stderr: ts.Stderr(), now: time.Now,
					environ: environOf(ts, ts.Value(&initial).([]string))}
				if code := runIn(ts.MkAbs("."), e, args[1:]); (code != exitOK) != neg {
					ts.Fatalf("exit status %d", code)
				}
			},
		},
	})
}

// environOf returns a script's environment: the initial variables and all settings, with their current values.
func environOf(ts *testscript.TestScript, initial []string) (environ []string) {
	var names []string
	for _, kv := range initial {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	for _, k := range config.Keys() {
		names = append(names, k.Name)
	}
	for _, name := range names {
		if v := ts.Getenv(name); v != "" {
			environ = append(environ, name+"="+v)
		}
	}
	return environ
}

var working sync.Mutex // held while the working directory is changed

// runIn runs a command in the given directory.
func runIn(dir string, e *env, args []string) int {
	working.Lock()
	defer working.Unlock()
	back, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	if err := os.Chdir(dir); err != nil {
		panic(err)
	}
	defer os.Chdir(back)
	return run(context.Background(), e, args)
}
