// Package runs shows runs, both finished and in progress: the questions that the bot, the ask command and the server
// answered, from the trajectories in a folder, and benchmark runs, from their folders. It only reads files.
//
//	runs.go         URLs and their handlers
//	list.go         the questions, with search and filters
//	request.go      which of the bot's requests each run belongs to
//	trajectory.go   one run: its turns and its tree; several runs side by side
//	benchmark.go    benchmark runs: their items, filtered, with a column for each run
//
// Any text on the pages may come from a stranger, a graph or a model, so it is shown as plain text.
package runs

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/layout"
)

//go:embed all:page static words
var own embed.FS

// Options configures [Pages].
type Options struct {
	Log          *slog.Logger
	Site         *layout.Site
	Trajectories string   // folder with the trajectories of single questions
	Benchmarks   []string // folders of benchmark runs, or folders that contain such folders
	// Request returns the URL of the page for the bot's request with the given ledger key, or "". It may be nil.
	Request func(ctx context.Context, key string) string
	Now     func() time.Time
}

// Pages are the section's pages.
type Pages struct {
	Options
	pages *layout.Pages
	list  index
	runs  cache[*run]
	bench cache[*benchmark]
}

// New adds the section to the site.
func New(o Options) *Pages {
	o.Site.Section("runs", "/runs")
	o.Site.Static("runs", part("static"))
	o.Site.Words(part("words"))
	p := &Pages{Options: o, pages: o.Site.Pages(part("page"))}
	p.list.known = map[string]entry{}
	return p
}

func part(dir string) fs.FS {
	out, err := fs.Sub(own, dir)
	if err != nil {
		panic(err) // the folders are embedded in the program
	}
	return out
}

// Handler serves /runs and everything below it.
func (p *Pages) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs", p.questions)
	mux.HandleFunc("GET /runs/question/{name}", p.question)
	mux.HandleFunc("GET /runs/question/{name}/state.json", p.questionState)
	mux.HandleFunc("GET /runs/question/{name}/events.jsonl", p.questionFile)
	mux.HandleFunc("GET /runs/compare", p.compare)
	mux.HandleFunc("GET /runs/benchmarks", p.benchmarks)
	mux.HandleFunc("GET /runs/benchmark/{name}", p.benchmark)
	mux.HandleFunc("GET /runs/benchmark/{name}/state.json", p.benchmarkState)
	mux.HandleFunc("GET /runs/benchmark/{name}/{item}", p.item)
	mux.HandleFunc("GET /runs/{key}", p.request)
	mux.HandleFunc("/runs/", func(w http.ResponseWriter, r *http.Request) { p.missing(w, r, fs.ErrNotExist) })
	return mux
}

// missing responds with a page saying that the requested page does not exist or cannot be read.
func (p *Pages) missing(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		p.Site.Problem(w, r, http.StatusNotFound, p.Site.Say(r, "runs.missing"))
		return
	}
	p.Log.ErrorContext(r.Context(), "a run cannot be shown", "path", r.URL.Path, "error", err)
	p.Site.Problem(w, r, http.StatusInternalServerError, p.Site.Say(r, "runs.unreadable"))
}

// fileName reports whether a name from a URL is valid as a file name in a folder.
func fileName(name string) bool {
	return name != "" && name == filepath.Base(name) && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00")
}

// pager describes how a list is split into pages.
type pager struct {
	Page, Pages     int
	From, To, Total int
	Before, After   string // URLs, or ""
}

// paged splits a list of n entries into pages of the given size; the URL specifies the page, counted from 1.
func paged(r *http.Request, n, size int) pager {
	p := pager{Page: max(number(r, "page"), 1), Pages: max((n+size-1)/size, 1), Total: n}
	p.Page = min(p.Page, p.Pages)
	p.From, p.To = (p.Page-1)*size, min(p.Page*size, n)
	if p.Page > 1 {
		p.Before = with(r, "page", p.Page-1)
	}
	if p.Page < p.Pages {
		p.After = with(r, "page", p.Page+1)
	}
	return p
}

// Start returns the number of the page's first entry, counted from 1.
func (p pager) Start() int { return min(p.From+1, p.Total) }

// option is a choice in a filter.
type option struct {
	Value, Text string
	Chosen      bool
}

func options(chosen string, values []string, say func(string) string) (out []option) {
	for _, v := range values {
		out = append(out, option{v, say(v), v == chosen})
	}
	return out
}

func plainWords(s string) string { return s }

// sorted returns the distinct nonempty values, sorted.
func sorted(values []string) []string {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

func escape(s string) string { return url.PathEscape(s) }
