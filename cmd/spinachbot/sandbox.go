package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

// Names in the sandbox.
const (
	sandboxBot      = "SpinachBot"
	sandboxLogin    = "SpinachBot@sandbox"
	sandboxOperator = "Sandbox"
	wikiName        = "wiki.jsonl" // name of the wiki's file in DATA_DIR
)

func sandboxCommand(e *env) *cobra.Command {
	c := newCmdline(e, "sandbox [--addr A] [--data FILE]... [--script FILE]",
		"serve only the demo's parts: wiki, graph, scripted model",
		`Serves the parts of the demo without the bot: /sparql (SPARQL 1.1 protocol, Wikidata's dialect), /w/api.php
(a small wiki, and entity search over the data), /wiki/… (the wiki's pages) and /v1/chat/completions (the scripted
model). It prints its address and the settings that point a bot at it.

The graph is kept in memory, which is enough for some million triples. Larger data needs a real server.`,
		config.Data, config.Forum)
	c.hide("STOP_PAGE", "OPERATOR", "SHORTLINK_HOSTS")
	addr := c.fs.String("addr", "127.0.0.1:8485", "`address` to listen on; port 0 picks a free one")
	var files fileList
	c.fs.Var(&files, "data", "`file` with triples (.ttl, .nt, each also .gz) instead of the built-in slice; may be given again")
	script := c.fs.String("script", "", "`file` with the model's script instead of the built-in one")
	page := c.fs.String("page", "", "`file` with the forum page's wikitext instead of the seeded one")
	timeout := c.fs.Duration("query-timeout", 60*time.Second, "time `limit` for a query")
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) > 0 {
			return misuse(e, "sandbox: takes no arguments; leave out %s, or give data files with --data", strings.Join(rest,
				" "))
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if err := console.CheckAddress(*addr, "127.0.0.1:8485"); err != nil {
			return misuse(e, "sandbox: %v", err)
		}
		sb, err := openSandbox(ctx, c.logger(slog.LevelWarn), e, sandboxOptions{
			addr: *addr, data: files, script: *script, page: *page, timeout: *timeout, title: cfg.ForumPage,
			archive: cfg.ArchivePrefix, wikiFile: wikiFile(cfg),
		})
		if err != nil {
			return fail(e, err)
		}
		defer sb.close()
		fmt.Fprintf(e.stdout, "%s/\n", sb.url)
		fmt.Fprintf(e.stdout, "WIKI_API=%s/w/api.php\nWIKI_USER=%s\nWIKI_PASSWORD=%s\nSPARQL_ENDPOINT=%s/sparql\nOPENAI_BASE_URL=%s/v1\nOPENAI_MODEL=%s\n",
			sb.url, sandboxLogin, sb.password, sb.url, sb.url, llm.ScriptModel)
		if err := sb.serve(ctx); err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

// wikiFile returns the name of the file in DATA_DIR in which the sandbox's wiki stores its pages, or "" if DATA_DIR is
// not set and the pages are kept in memory.
func wikiFile(cfg *config.Config) string {
	if cfg.Origin("DATA_DIR") == "default" {
		return ""
	}
	return filepath.Join(cfg.DataDir, wikiName)
}

type fileList []string

func (f *fileList) String() string     { return "" }
func (f *fileList) Set(s string) error { *f = append(*f, s); return nil }
func (f *fileList) Type() string       { return "list" }

type sandboxOptions struct {
	addr         string
	data         []string
	script, page string
	timeout      time.Duration
	title        string // title of the forum page
	// title prefix of archive pages; one archive page is seeded along with the built-in forum page
	archive  string
	wikiFile string
	notice   string // text at the top of the forum page
}

type sandboxServer struct {
	lg       *slog.Logger
	url      string
	password string
	wiki     *wiki.Wiki
	listener net.Listener
	server   *http.Server
	activity *sandbox.Activity
}

// builtinGraph returns a graph with the built-in slice of Wikidata.
func builtinGraph(now func() time.Time) (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "built-in slice of Wikidata", Now: now, Random: randomUint64})
}

// sandboxParallel is the maximum number of queries that the sandbox runs at once. It can be high because the graph
// divides its memory among the queries, and small queries get their share no matter how many large ones there are.
const sandboxParallel = 128

func openSandbox(ctx context.Context, lg *slog.Logger, e *env, o sandboxOptions) (_ *sandboxServer, err error) {
	parts := sandbox.Parts{ForumPage: o.title, Parallel: sandboxParallel}
	gopts := embedded.Options{Name: "the sandbox", Now: e.now, Random: randomUint64, Timeout: o.timeout}
	if len(o.data) > 0 {
		parts.Graph, err = embedded.Load(gopts, o.data...)
	} else {
		gopts.Name, parts.Public = "built-in slice of Wikidata", true
		parts.Graph, err = sandbox.Graph(gopts)
	}
	if err != nil {
		return nil, err
	}
	if parts.Script, err = readScript(o.script); err != nil {
		return nil, err
	}
	s := &sandboxServer{lg: lg, activity: sandbox.NewActivity(programName, e.now)}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret)
	s.password = hex.EncodeToString(secret)
	if o.wikiFile != "" {
		if err := os.MkdirAll(filepath.Dir(o.wikiFile), 0o700); err != nil {
			return nil, err
		}
	}
	s.wiki, err = wiki.Open(lg, wiki.Config{
		File: o.wikiFile, SiteName: "SpinachBot's sandbox", Now: e.now, Random: rand.Reader,
		Accounts: []wiki.Account{{Name: sandboxBot, Login: sandboxLogin, Password: s.password, Groups: []string{"bot"}}},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := seedWiki(s.wiki, o); err != nil {
		return nil, err
	}
	if o.page == "" && o.script == "" {
		if parts.FollowUps, err = sandbox.FollowUps(); err != nil {
			return nil, err
		}
	}
	parts.Notice, parts.Status = o.notice, s.activity.Status
	parts.Wiki = s.wiki
	s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return nil, console.ListenProblem(o.addr, err)
	}
	if tcp, ok := s.listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		lg.Warn("the sandbox is reachable from other machines; it is not meant for the open internet", "address",
			s.listener.Addr().String())
	}
	s.url = "http://" + s.listener.Addr().String()
	s.listener = sandbox.DefaultLimits.Listener(s.listener)
	s.server = sandbox.DefaultLimits.Server(ownHost(s.listener.Addr(), s.activity.Watch(sandbox.Handler(lg, parts))),
		time.Now)
	return s, nil
}

// seedWiki writes the initial pages of a new wiki: the forum, the bot's own page and, for the built-in forum, an
// archive page.
func seedWiki(w *wiki.Wiki, o sandboxOptions) error {
	forum, err := readForumPage(o.page)
	if err != nil {
		return err
	}
	about, err := sandbox.BotPage()
	if err != nil {
		return err
	}
	pages := []struct{ title, text string }{
		{o.title, forum},
		{"User:" + sandboxBot, about},
		{"User talk:" + sandboxOperator, "Messages to the operator of the bot go here. On this machine, that is you."},
	}
	if o.page == "" && o.archive != "" {
		archive, err := sandbox.ArchivePage()
		if err != nil {
			return err
		}
		pages = append(pages, struct{ title, text string }{o.archive + sandbox.ArchiveMonth, archive})
	}
	for _, p := range pages {
		if err := w.Seed(p.title, p.text, "Sandbox"); err != nil {
			return err
		}
	}
	return nil
}

// ownHost rejects requests for host names other than loopback ones if the sandbox listens on a loopback address, so
// that no web page can reach it through a host name that resolves to this machine.
func ownHost(addr net.Addr, next http.Handler) http.Handler {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback("http://" + r.Host) {
			http.Error(w, "This server answers under loopback addresses only.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *sandboxServer) serve(ctx context.Context) error {
	return serveUntil(ctx, s.server, s.listener)
}

// serveUntil handles requests until ctx is done; it then gives requests in progress two seconds to finish.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func (s *sandboxServer) close() {
	if s.server != nil {
		_ = s.server.Close()
	}
	if s.wiki != nil {
		if err := s.wiki.Close(); err != nil {
			s.lg.Warn("cannot close the wiki", "error", err)
		}
	}
}

func readScript(path string) (*llm.Script, error) {
	if path == "" {
		return sandbox.Script()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc, err := llm.ParseScript(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sc, nil
}

func readForumPage(path string) (string, error) {
	if path == "" {
		return sandbox.ForumPage()
	}
	b, err := os.ReadFile(path)
	return string(b), err
}
