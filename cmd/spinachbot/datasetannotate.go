package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/store"
	web "github.com/spinachbot/spinachbot/internal/web/annotate"
)

// annotationsFile is the name of the annotation database in a harvest's folder.
const annotationsFile = "annotations.db"

func datasetAnnotateCommand(e *env) *cobra.Command {
	c := newCmdline(e, "annotate [--addr A] [--kg G] DIR", "serve the page on which people turn candidates into items",
		`Serves a page on which people turn the candidates of a harvest (DIR/candidates.jsonl) into benchmark items.
They see the discussion, the query and its result, write a question and judge the candidate. Everything is kept in
DIR/annotations.db.

The page has no passwords and listens on this machine only: anyone who can use the machine can annotate under any
name. docs/annotating.md explains the work.`,
		config.Graph)
	addr := c.fs.String("addr", "127.0.0.1:8090", "loopback `address` to listen on; port 0 picks a free one")
	var graphName string
	c.graphFlag(&graphName, graphs.Main, graphUsage+", on which queries are tried")
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset annotate: specify the folder of a harvest: spinachbot dataset annotate DIR")
		}
		if err := wantLoopback(*addr); err != nil {
			return misuse(e, "dataset annotate: %v", err)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		lg := c.logger(slog.LevelWarn)
		dir := rest[0]
		o, st, err := annotating(ctx, lg, e, cfg, graphName, dir)
		if err != nil {
			return fail(e, err)
		}
		defer st.Close()
		page, err := web.New(o)
		if err != nil {
			return fail(e, err)
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
		if err != nil {
			return fail(e, console.ListenProblem(*addr, err))
		}
		if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
			_ = listener.Close() // it was never used
			return misuse(e, "dataset annotate: %s is reachable from other machines; this page is for loopback only",
				listener.Addr())
		}
		fmt.Fprintf(e.stdout, "http://%s/\n", listener.Addr())
		if err := servePage(ctx, listener, page); err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

// annotating opens the files and the store that the annotation page needs to serve a harvest's folder. The caller must
// close the store.
func annotating(ctx context.Context, lg *slog.Logger, e *env, cfg *config.Config, graphName, dir string) (web.Options,
	*store.Store, error) {
	candidates := &candidateFile{dir: dir}
	if _, err := candidates.read(); err != nil {
		return web.Options{}, nil, err
	}
	st, err := store.Open(ctx, filepath.Join(dir, annotationsFile))
	if err != nil {
		return web.Options{}, nil, err
	}
	graph, name, err := datasetGraph(lg, e, graphName, cfg, st)
	if err != nil {
		_ = st.Close() // nothing was written
		return web.Options{}, nil, usageError{fmt.Errorf("dataset annotate: %w", err)}
	}
	return web.Options{
		Log: lg, Store: st, Graph: graph, GraphName: name, Candidates: candidates.read, Changed: candidates.changed,
		Keep: func(query string, t *kg.Table) error { return release.Keep(dir, query, t) }, Now: e.now, Notes: st,
	}, st, nil
}

// wantLoopback returns an error for an address that is reachable from other machines.
func wantLoopback(addr string) error {
	if err := console.CheckAddress(addr, "127.0.0.1:8090"); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(addr)
	if !config.Loopback(host) {
		return fmt.Errorf("--addr %s is reachable from other machines; the page has no passwords and listens only on loopback addresses, such as 127.0.0.1:8090 (use ssh -L to reach it from elsewhere)", addr)
	}
	return nil
}

func servePage(ctx context.Context, listener net.Listener, h http.Handler) error {
	return serveUntil(ctx, &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}, listener)
}

// datasetGraph returns the graph named by --kg, and its name for messages.
func datasetGraph(lg *slog.Logger, e *env, name string, cfg *config.Config,
	budgets remote.BudgetStore) (web.Graph, string, error) {
	if name == graphs.Embedded {
		g, err := builtinGraph(e.now)
		return g, "the built-in slice", err
	}
	o, err := newGraphs(lg, e, cfg, budgets, nil)
	if err != nil {
		return nil, "", err
	}
	entry, err := o.Registry.Named(name)
	if err != nil {
		return nil, "", err
	}
	if name == graphs.Main && entry.BuiltIn() {
		g, err := newGraph(lg, cfg, budgets, nil)
		return g, strings.TrimPrefix(politehttp.ShownURL(cfg.SPARQLEndpoint), "https://"), err
	}
	source, err := o.Entry(entry)
	if err != nil {
		return nil, "", err
	}
	return labeled{source.Graph, source.Labels}, entry.Title, nil
}

// labeled is a graph that also looks up labels.
type labeled struct {
	tool.Graph
	tool.Labeler
}

// candidateFile reads a harvest's candidates, and rereads them when a later harvest has replaced them.
type candidateFile struct {
	dir  string
	mu   sync.Mutex
	seen os.FileInfo
}

func (f *candidateFile) read() ([]dataset.Candidate, error) {
	info, err := os.Stat(filepath.Join(f.dir, dataset.CandidatesFile))
	if err == nil {
		f.mu.Lock()
		f.seen = info
		f.mu.Unlock()
	}
	return dataset.ReadCandidatesDir(f.dir)
}

func (f *candidateFile) changed() bool {
	info, err := os.Stat(filepath.Join(f.dir, dataset.CandidatesFile))
	if err != nil {
		return false // the files are missing or only partly replaced; keep what was read before
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen == nil || !info.ModTime().Equal(f.seen.ModTime()) || info.Size() != f.seen.Size()
}

// readGolds reads the items that the annotators kept. These are the validated items and, unless validated is set, the
// items that one annotator kept and no one disputed.
func readGolds(ctx context.Context, dir string, st annotate.Store, validated bool) ([]dataset.Candidate, []release.Gold,
	error) {
	candidates, cases, err := readCases(ctx, dir, st)
	if err != nil {
		return nil, nil, err
	}
	var golds []release.Gold
	for i := range candidates {
		c := &cases[i]
		w := c.Final(validated)
		if w == nil || !w.Keeps() {
			continue
		}
		g := release.Gold{Candidate: &candidates[i], Query: w.Query, Question: w.Question,
			Modified: w.Verdict == dataset.Modify, Validated: c.State() == annotate.Resolved, At: w.Decided}
		for _, d := range c.Decided() {
			g.By = append(g.By, d.Annotator)
		}
		golds = append(golds, g)
	}
	return candidates, golds, nil
}

// readCases reads the candidates in a folder, along with the annotators' work on each.
func readCases(ctx context.Context, dir string, st annotate.Store) ([]dataset.Candidate, []annotate.Case, error) {
	candidates, err := dataset.ReadCandidatesDir(dir)
	if err != nil {
		return nil, nil, err
	}
	works, err := st.Works(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	by := map[string][]annotate.Work{}
	for _, w := range works {
		by[w.Candidate] = append(by[w.Candidate], w)
	}
	var cases []annotate.Case
	for i := range candidates {
		cases = append(cases, annotate.NewCase(&candidates[i], by[candidates[i].ID]))
	}
	return candidates, cases, nil
}

// readExcluded returns the IDs of the candidates that annotators excluded, or none if there are no annotations.
func readExcluded(ctx context.Context, dir string) (map[string]bool, error) {
	if _, err := os.Stat(filepath.Join(dir, annotationsFile)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	st, err := openAnnotations(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	candidates, cases, err := readCases(ctx, dir, st)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i := range cases {
		out[candidates[i].ID] = cases[i].Excludes()
	}
	return out, nil
}

// openAnnotations opens the annotations in a harvest folder, which must exist.
func openAnnotations(ctx context.Context, dir string) (*store.Store, error) {
	name := filepath.Join(dir, annotationsFile)
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("%s has no annotations; annotate first: spinachbot dataset annotate %s", dir, dir)
	}
	return store.Open(ctx, name)
}
