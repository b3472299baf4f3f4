// Command spinachbot answers requests for SPARQL queries on a wiki page, and is the tool kit around that: see `spinachbot -h`.
//
// main.go holds signals, exit codes and the dispatch; settings.go how a command gets its settings; wire.go turns settings into the concrete parts; each
// subcommand has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
)

// Exit codes, the same for every command.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNoAnswer = 3
)

// env is what a command gets from the world: nothing below main reads it in another way.
type env struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
	now     func() time.Time
}

type command struct {
	summary string
	run     func(ctx context.Context, e *env, args []string) int
}

func commands() map[string]command {
	plain := func(f func(context.Context, []string, io.Reader, io.Writer, io.Writer) int) func(context.Context, *env, []string) int {
		return func(ctx context.Context, e *env, args []string) int { return f(ctx, args, e.stdin, e.stdout, e.stderr) }
	}
	return map[string]command{
		"ask":     {"one question, steps shown as they happen", runAsk},
		"dataset": {"annotate, export, split, verify and describe a benchmark", runDataset},
		"demo":    {"the bot at work on its own small wiki: start here", runDemo},
		"eval":    {"benchmarks: score results, and more", runEval},
		"harvest": {"the forum's archive as benchmark candidates", runHarvest},
		"forum":   {"a talk page as threads and comments, JSON", plain(runForum)},
		"ledger":  {"what the bot would post, and the say over it", runLedger},
		"run":     {"the bot", runRun},
		"sandbox": {"only the servers of the demo: wiki, graph, scripted model", runSandbox},
		"sparql":  {"the dialect on its own: check, format, rewrite, explain", plain(runSPARQL)},
		"trace":   {"what the model saw and said", runTrace},
		"config":  {"settings: check them all at once, or print them without secrets", runConfig},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, &env{os.Stdin, os.Stdout, os.Stderr, os.Environ(), time.Now}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run dispatches to a command and turns a panic into an error message, so that no stack trace reaches a user as the only word.
func run(ctx context.Context, e *env, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(e.stderr, "spinachbot: internal error: %v\nThis is a bug; please report it with the lines below.\n%s", r, debug.Stack())
			code = exitFailed
		}
	}()
	cmds := commands()
	if len(args) == 0 {
		usage(e.stderr, cmds)
		return exitUsage
	}
	switch args[0] {
	case "-h", "--help", "help":
		usage(e.stdout, cmds)
		return exitOK
	case "version", "--version":
		fmt.Fprintln(e.stdout, "spinachbot", version())
		return exitOK
	}
	c, ok := cmds[args[0]]
	if !ok {
		fmt.Fprintf(e.stderr, "spinachbot: there is no command %q; see spinachbot -h\n", args[0])
		return exitUsage
	}
	return c.run(ctx, e, args[1:])
}

func version() string {
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "devel"
}

func usage(w io.Writer, cmds map[string]command) {
	fmt.Fprint(w, `SpinachBot turns people's questions into SPARQL queries: on a wiki page, and at the command line.

usage: spinachbot COMMAND [flags] [arguments]

`)
	names := make([]string, 0, len(cmds))
	for n := range cmds {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(w, "  %-9s %s\n", n, cmds[n].summary)
	}
	fmt.Fprint(w, `
spinachbot COMMAND -h shows all flags and settings of a command. Settings come from flags, the environment and a file .env, in this order.
Start with: spinachbot demo
`)
}

// fail prints an error with the program's name and returns the exit code for it.
func fail(e *env, err error) int {
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(e.stderr, "spinachbot: interrupted; run the same command again to go on")
		return exitFailed
	}
	fmt.Fprintln(e.stderr, "spinachbot:", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	return exitFailed
}

// misuse prints an error about the call and returns the exit code for it.
func misuse(e *env, format string, args ...any) int {
	fmt.Fprintf(e.stderr, "spinachbot: "+format+"\n", args...)
	return exitUsage
}
