package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// Listed is an archive page with its newest revision.
type Listed struct {
	Title    string
	Revision int64
}

// Text is the wikitext or HTML of a page's newest revision.
type Text struct {
	Revision int64
	Text     string
}

// Errors from a [Wiki] that do not end a harvest.
var (
	// ErrNoPage means that the page does not exist or that its text is hidden from public view.
	ErrNoPage = errors.New("there is no such page")
	// ErrNoHTML means that the wiki cannot render the page. Its wikitext can still be read.
	ErrNoHTML = errors.New("the wiki has no HTML for this page")
	// ErrNoHTMLNow is an ErrNoHTML that may be temporary, for example because the renderer is busy. The next harvest tries
	// again.
	ErrNoHTMLNow = fmt.Errorf("%w at the moment", ErrNoHTML)
)

// Wiki is the archive's wiki. Implementations are polite: they make one request at a time and observe the pauses that
// the wiki requests.
type Wiki interface {
	// List returns the pages whose titles start with prefix.
	List(ctx context.Context, prefix string) ([]Listed, error)
	// Wikitext reads a page's source. Any error except ErrNoPage ends the harvest.
	Wikitext(ctx context.Context, title string) (Text, error)
	// HTML reads a page as rendered by Parsoid. Any error except ErrNoPage and ErrNoHTML ends the harvest.
	HTML(ctx context.Context, title string) (Text, error)
}

// Graph runs queries. Any error is a *kg.Error or the context's error.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Labeler returns the labels of Q and P IDs, each in the first of the languages that has one. IDs without labels are
// omitted.
type Labeler interface {
	Labels(ctx context.Context, ids, languages []string) (map[string]string, error)
}

// Suggester advises annotators; it is usually a language model.
type Suggester interface {
	// Suggest returns advice on a staged candidate. An error that wraps ErrUnusable is stored as the result for this
	// candidate. An error that wraps ErrNoAdvice ends all requests for advice in this run. After any other error, the next
	// harvest asks again.
	Suggest(ctx context.Context, c *dataset.Candidate) (*dataset.Suggestion, error)
}

// Errors from a [Suggester].
var (
	// ErrNoAdvice means that the suggester will not return more advice in this run: its budget is spent or it is
	// unreachable.
	ErrNoAdvice = errors.New("no more suggestions in this run")
	// ErrUnusable means that the suggester's response cannot be used.
	ErrUnusable = errors.New("the model's suggestion could not be read")
)

// Page is a store's record of an archive page.
type Page struct {
	Title    string `json:"title"`
	Month    string `json:"month"`    // YYYY-MM
	Revision int64  `json:"revision"` // revision that was read
	Source   Source `json:"source"`   // how it was read
	Gone     bool   `json:"gone,omitempty"`
	// number of harvests that failed to read this revision's HTML although the wiki has it
	Unheard int `json:"unheard,omitempty"`
}

// Store stores the pages and discussions that were read. Changes are durable when a method returns.
type Store interface {
	// Pages lists all pages that were read.
	Pages(ctx context.Context) ([]Page, error)
	// SavePage replaces a page and all of its discussions atomically.
	SavePage(ctx context.Context, p Page, discussions []dataset.Candidate) error
	// Discussions lists a page's discussions as saved.
	Discussions(ctx context.Context, page string) ([]dataset.Candidate, error)
	Memory
}

// Memory stores notes: query results, the targets of short links, and the model's responses.
type Memory interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
	Forget(ctx context.Context, key string) error
}

// Endpoint is a graph with the information that the harvest needs about it.
type Endpoint struct {
	Name    string // its URL, for provenance
	Graph   Graph
	Dialect rewrite.Target // dialect into which queries are rewritten; "" if not rewritten
	Full    bool           // whether the graph is complete, including scholarly articles
}

// Source is the format in which pages are read.
type Source string

// The sources. Both reads HTML and compares it with the wikitext.
const (
	HTML     Source = "html"
	Wikitext Source = "wikitext"
	Both     Source = "both"
)

// Options specifies what to harvest and how.
type Options struct {
	Dir        string // folder for the files
	Wiki       string // URL of the wiki's api.php, for provenance
	Prefix     string // title prefix of archive pages, before YYYY/MM
	From, To   string // first and last month, YYYY-MM; no bound if empty
	Source     Source
	NoRun      bool // only read pages; do not run queries
	Retry      bool // rerun queries that timed out, failed, or might be answered by a second endpoint
	Bots       []string
	Forum      forum.Options
	QueryHosts []string // hosts of query pages that short links may lead to; Wikidata's and QLever's if empty
	Benchmarks []Benchmark
}

// Benchmark is a published benchmark to compare candidates against.
type Benchmark struct {
	Name  string
	Items []dataset.Item
}

// Parts are the components of a harvest. Links and Suggest may be nil.
type Parts struct {
	Log       *slog.Logger
	Wiki      Wiki
	Endpoints []Endpoint // tried in order; if an endpoint cannot answer, the next is tried
	Labels    Labeler
	Links     Links
	Suggest   Suggester
	Store     Store
	Jobs      Jobs // if nil, only the Store records which pages are done
	Now       func() time.Time
	// if nil, a page that cannot be read ends the harvest and is not retried
	Sleep    func(ctx context.Context, d time.Duration) error
	Progress func(Progress) // may be nil
}

// Harvest harvests an archive into a folder. It is not safe for concurrent use. The caller of [New] must hold the
// folder's lock.
type Harvest struct {
	Parts
	o         Options
	title     *regexp.Regexp
	links     linkState
	downUntil map[string]time.Time // when to retry the endpoints found to be down
	stopped   error                // why no more queries are run, or nil
	mute      bool                 // the suggester is no longer asked
	pace      pace

	adviceFailures int // consecutive failures
	htmlFailures   int // consecutive failures
}

// ErrEndpointDown means that no endpoint responds. Everything done so far is kept; harvest again later.
var ErrEndpointDown = errors.New("the query endpoint does not respond: what was read is kept; run harvest again later to continue from here")

var month = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])$`)

// Check returns an error if the options are invalid. Call it before opening any resources.
func (o *Options) Check() error {
	for _, m := range []string{o.From, o.To} {
		if m != "" && !month.MatchString(m) {
			return fmt.Errorf("%q is not a month; write it as 2024-05", m)
		}
	}
	if o.From != "" && o.To != "" && o.From > o.To {
		return fmt.Errorf("the first month %s is after the last month %s", o.From, o.To)
	}
	if !slices.Contains([]Source{"", HTML, Wikitext, Both}, o.Source) {
		return fmt.Errorf("source %q: want html, wikitext or both", o.Source)
	}
	if o.Prefix == "" {
		return errors.New("the titles of the archive pages are not known: set FORUM_ARCHIVE_PREFIX")
	}
	return nil
}

// New prepares a harvest.
func New(p Parts, o Options) (*Harvest, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Source = cmp.Or(o.Source, Both)
	if !o.NoRun && len(p.Endpoints) == 0 {
		return nil, errors.New("no query service is specified")
	}
	o.Prefix = strings.ReplaceAll(o.Prefix, "_", " ")
	if len(o.QueryHosts) == 0 {
		o.QueryHosts = defaultQueryHosts
	}
	if p.Progress == nil {
		p.Progress = func(Progress) {}
	}
	h := &Harvest{Parts: p, o: o, downUntil: map[string]time.Time{}}
	h.title = regexp.MustCompile(`^` + regexp.QuoteMeta(o.Prefix) + `(\d{4})/(0[1-9]|1[0-2])$`)
	h.links = linkState{failures: map[string]int{}}
	return h, nil
}

// filesEvery is the number of processed pages after which the files are rewritten during the harvest.
const filesEvery = 12

// Run reads new pages, runs the queries that have not yet been run, and writes the files. It may be interrupted at any
// time; the next call resumes from the same point. If no endpoint responds, the error wraps [ErrEndpointDown]; the
// files are still written.
func (h *Harvest) Run(ctx context.Context) (dataset.Funnel, error) {
	mine, err := h.mine(ctx)
	if err != nil {
		return dataset.Funnel{}, err
	}
	todo, err := h.plan(ctx)
	if err != nil {
		return dataset.Funnel{}, err
	}
	if !mine { // only now is it certain that this wiki has an archive with this prefix
		if err := h.Store.Put(ctx, claimNote, []byte(h.claim())); err != nil {
			return dataset.Funnel{}, err
		}
	}
	h.pace.begin(h.Now(), todo)
	failed := h.run(ctx, todo)
	if failed != nil && ctx.Err() != nil {
		return dataset.Funnel{}, failed
	}
	// If the wiki failed, the files contain what was read before, without removed text.
	f, err := h.export(ctx)
	switch {
	case err != nil && failed != nil:
		h.Log.Error("the files could not be written either", "error", err)
		return f, failed
	case err != nil:
		return f, err
	case failed != nil:
		return f, errors.Join(failed, h.stopped)
	}
	h.pace.finish(h.Progress, h.Now())
	return f, h.stopped
}

// claimNote is the key of the note that records which archive a store belongs to.
const claimNote = "archive"

func (h *Harvest) claim() string { return h.o.Wiki + "\n" + h.o.Prefix }

// mine reports whether the store already belongs to this archive. If it belongs to a different archive, mine returns an
// error: the pages of the other wiki or prefix would be considered gone, and everything would be deleted.
func (h *Harvest) mine(ctx context.Context) (bool, error) {
	claim, ok, err := h.Store.Get(ctx, claimNote)
	if err != nil || !ok || string(claim) == h.claim() {
		return ok, err
	}
	wiki, prefix, _ := strings.Cut(string(claim), "\n")
	return false, fmt.Errorf("%s contains a different archive, %s… of %s, not %s… of %s: harvest into another folder, or restore WIKI_API and FORUM_ARCHIVE_PREFIX (nothing was changed)",
		h.o.Dir, prefix, wiki, h.o.Prefix, h.o.Wiki)
}

// task is a page with its state in the store and on the wiki.
type task struct {
	Page
	newest int64 // revision on the wiki; 0 if the page is gone
	fresh  bool  // must be read because it changed, appeared, disappeared, or was read in a different format
	queued bool  // the page has a job
}

// plan lists the archive's pages and compares them with the store. Pages outside the requested months are left
// unchanged.
func (h *Harvest) plan(ctx context.Context) ([]task, error) {
	known, err := h.Store.Pages(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := h.Wiki.List(ctx, h.o.Prefix)
	if err != nil {
		return nil, fmt.Errorf("cannot list the archive: %w", err)
	}
	byTitle := map[string]*task{}
	var todo []task
	for _, p := range known {
		if h.within(p.Month) {
			byTitle[p.Title] = &task{Page: p}
		}
	}
	live := 0
	for _, l := range listed {
		m := h.title.FindStringSubmatch(l.Title)
		if m == nil {
			continue
		}
		live++
		mon := m[1] + "-" + m[2]
		if !h.within(mon) {
			continue
		}
		t := byTitle[l.Title]
		if t == nil {
			t = &task{Page: Page{Title: l.Title, Month: mon}}
			byTitle[l.Title] = t
		}
		t.newest = l.Revision
	}
	if live == 0 {
		return nil, fmt.Errorf("the wiki has no archive pages %sYYYY/MM: check WIKI_API and FORUM_ARCHIVE_PREFIX (nothing was changed)", h.o.Prefix)
	}
	for _, t := range byTitle {
		t.fresh = t.newest == 0 && !t.Gone || t.newest != 0 &&
			(t.Gone || t.newest != t.Revision || t.Source != h.o.Source || t.Unheard == 1)
		todo = append(todo, *t)
	}
	sortTasks(todo)
	return todo, nil
}

func (h *Harvest) within(mon string) bool {
	return (h.o.From == "" || mon >= h.o.From) && (h.o.To == "" || mon <= h.o.To)
}

// page updates a page: it reads the page if it changed and runs the queries that have not been run. did reports whether
// there was anything to do.
func (h *Harvest) page(ctx context.Context, t *task) (did bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if t.fresh {
		if err := h.read(ctx, t); err != nil {
			return true, err
		}
		did = true
	}
	list, err := h.Store.Discussions(ctx, t.Title)
	if err != nil {
		return did, err
	}
	for i := range list {
		worked, err := h.work(ctx, &list[i])
		if err != nil {
			return did, err
		}
		did = did || worked
		h.pace.part(i+1, len(list), worked)
		if worked {
			h.tell(t.Title)
		}
	}
	return did, nil
}

// work processes a discussion: it resolves short links, runs the query, and requests advice.
func (h *Harvest) work(ctx context.Context, d *dataset.Candidate) (did bool, err error) {
	if d.Stage == dataset.Gone || h.o.NoRun {
		return false, nil
	}
	if did, err = h.resolve(ctx, d); err != nil {
		return did, err
	}
	ran, err := h.runQuery(ctx, d)
	if err != nil {
		return did || ran, err
	}
	asked, err := h.advise(ctx, d)
	return did || ran || asked, err
}
