// Command spinachbot answers requests for SPARQL queries on a wiki page and contains the tools for that task; see
// `spinachbot -h`.
//
// main.go contains signal handling, exit statuses, and the command tree; cli.go contains the code shared by all
// commands; settings.go reads the settings; and wire.go creates the parts of the program from the settings. Each
// command has its own file.
//
// The package has more than 6,000 lines: it contains the flags, help, and wiring of all commands, and each server,
// page, and kind of bot adds to them. The first part to move into separate packages would be the wiring of run and
// serve.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/harden"
	"github.com/spinachbot/spinachbot/internal/index/opensearch"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Exit statuses, the same for every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2 // wrong usage or settings
	exitNoAnswer    = 3 // ask finished without an answer
	exitService     = 4 // a service failed permanently
	exitInterrupted = 130
)

// env contains everything that a command gets from outside the program. No other code reads from the environment
// directly.
type env struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
	now     func() time.Time
	args    []string // as given, for messages
	retries console.Retries
	secrets *politehttp.Scrubber // removes secrets from text; nil before the settings are read
}

// newEnv returns the environment of the process.
func newEnv() *env {
	return &env{stdin: os.Stdin, stdout: &console.Output{File: os.Stdout}, stderr: os.Stderr, environ: os.Environ(),
		now: time.Now}
}

// scrub removes the configured secrets from text.
func (e *env) scrub(text string) string {
	if e.secrets == nil {
		return text
	}
	return e.secrets.Text(text)
}

func (e *env) variable(name string) string {
	for _, kv := range e.environ {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	return ""
}

// editor returns the command that starts the user's editor, or "" if none is set.
func (e *env) editor() string {
	return cmp.Or(strings.TrimSpace(e.variable("VISUAL")), strings.TrimSpace(e.variable("EDITOR")))
}

// screen returns a screen for standard error. Everything written to standard error goes through it.
func (e *env) screen() *console.Screen {
	s := console.New(e.stderr, e.environ)
	e.stderr = s
	return s
}

func newRoot(e *env) *cobra.Command {
	root := group(e, "spinachbot", "",
		askCommand(e),
		backupCommand(e),
		completionCommand(e),
		configCommand(e),
		datasetCommand(e),
		demoCommand(e),
		evalCommand(e),
		forumCommand(e),
		harvestCommand(e),
		indexCommand(e),
		kgCommand(e),
		ledgerCommand(e),
		manCommand(e),
		mcpCommand(e),
		migrateCommand(e),
		restoreCommand(e),
		runCommand(e),
		sandboxCommand(e),
		serveCommand(e),
		sparqlCommand(e),
		traceCommand(e),
		lessonsCommand(e),
		versionCommand(e),
	)
	root.Long = `SpinachBot turns people's questions into SPARQL queries: on a wiki page, and at the command line.
Start with: spinachbot demo`
	return setUpRoot(e, root)
}

func main() {
	if err := harden.NoCoreDumps(); err != nil {
		fmt.Fprintln(os.Stderr, "spinachbot: warning: a crash may write secrets to a core file:", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	code := run(ctx, newEnv(), os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes a command and returns the exit status. It turns a panic into an error message, so that users never see a
// bare stack trace.
func run(ctx context.Context, e *env, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(e.stderr, "spinachbot: internal error: %v\nThis is a bug; please report it with the lines below.\n%s",
				e.scrub(fmt.Sprint(r)), debug.Stack())
			code = exitFailed
		}
	}()
	screen := e.screen()
	defer func() {
		screen.Done()
		if s := e.retries.String(); s != "" {
			fmt.Fprintln(screen, "spinachbot:", s)
		}
	}()
	e.args = args
	code = execute(ctx, e, args)
	if out, ok := e.stdout.(*console.Output); ok && out.Failed() != nil && (code == exitOK || code == exitNoAnswer) {
		return fail(e, fmt.Errorf("cannot write the output: %w", out.Failed()))
	}
	return code
}

func execute(ctx context.Context, e *env, args []string) int {
	root := newRoot(e)
	root.SetArgs(append([]string{}, verbFirst(root, args)...)) // nil would make cobra use os.Args
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	return misuse(e, "%v", err)
}

// fail prints an error, prefixed with the program's name, and returns its exit status, which is the same for every
// command.
func fail(e *env, err error) int {
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(e.stderr, "spinachbot: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(e.stderr, "spinachbot:", strings.ReplaceAll(console.Plain(err), "\n", "\n  "))
	switch {
	case errors.As(err, new(usageError)) || unopened(err):
		return exitUsage
	case serviceFailed(err):
		return exitService
	}
	return exitFailed
}

// usageError is a command-line error, such as two flags that cannot be used together.
type usageError struct{ error }

// Unwrap returns the underlying error.
func (u usageError) Unwrap() error { return u.error }

// unopened reports whether err means that an argument or a setting names the wrong file or folder: one that is missing,
// is of the wrong kind, or may not be opened or created. It does not cover errors in a file's content.
func unopened(err error) bool {
	for _, why := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// serviceFailed reports whether the wiki or the query service failed despite its client's pauses and retries.
func serviceFailed(err error) bool {
	kind, wiki := mediawiki.KindOf(err)
	return wiki && kind == mediawiki.Transient || kg.KindOf(err) == kg.Down || errors.Is(err, harvest.ErrEndpointDown) ||
		errors.Is(err, opensearch.ErrDown)
}

// misuse prints a command-line error and returns the exit status for it.
func misuse(e *env, format string, args ...any) int {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = console.Plain(err)
		}
	}
	fmt.Fprintf(e.stderr, "spinachbot: "+format+"\n", args...)
	return exitUsage
}
