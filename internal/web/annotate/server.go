package annotate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// Graph is the graph on which queries are run. It is internal/kg/wikidata in production and internal/kg/embedded in
// tests.
type Graph interface {
	// Query runs a query.
	Query(ctx context.Context, query string) (*kg.Table, error)
	// Labels returns a label for each ID, in the first of the languages that has one.
	Labels(ctx context.Context, ids, languages []string) (map[string]string, error)
}

// Options contains the parts of a [Server].
type Options struct {
	Log        *slog.Logger
	Store      annotate.Store
	Graph      Graph
	GraphName  string                                    // shown with results
	Candidates func() ([]dataset.Candidate, error)       // called at startup and whenever Changed returns true
	Changed    func() bool                               // reports whether there are new candidates; may be nil
	Keep       func(query string, table *kg.Table) error // stores the rows of a query that an annotator changed
	Now        func() time.Time

	Base string       // path of the page, such as /annotate; the root if empty
	Site *layout.Site // the frame of the pages; nil for a separate site whose first page is the queue
	// Who returns the name of the logged-in user. If nil, the page asks for a name and trusts everyone.
	Who func(r *http.Request) string
	// Free reports whether the page may be used without logging in. If nil, it may not.
	Free func(r *http.Request) bool
	// Boss reports whether the user may assign candidates to annotators. If nil, everyone may.
	Boss func(r *http.Request) bool
	// People returns additional users, besides the existing annotators, to whom candidates can be assigned. It may be
	// nil.
	People func(ctx context.Context) ([]string, error)
	Notes  Notes // stores the assignment of candidates to annotators; nil if none are assigned
}

// Notes stores small values by key; internal/store implements it.
type Notes interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

// Server is an [http.Handler] that serves the annotation pages.
type Server struct {
	Options
	pages   *layout.Pages
	handler http.Handler
	names   *annotate.Names
	runs    runs

	mu         sync.Mutex
	candidates []dataset.Candidate
	byID       map[string]*dataset.Candidate
}

//go:embed all:page static words
var files embed.FS

func folder(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folders are embedded in the program
	}
	return f
}

// New returns a server. It reads the candidates.
func New(o Options) (*Server, error) {
	s := &Server{Options: o, names: annotate.NewNames(o.Log, o.Graph, o.Now)}
	if err := s.load(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	if o.Site == nil {
		s.Site = layout.New(o.Log)
		mux.HandleFunc("GET /static/", s.Site.ServeStatic)
	}
	s.Site.Words(folder("words"))
	s.Site.Static("annotate", folder("static"))
	s.Site.Section("annotate", o.Base+"/")
	s.pages = s.Site.Pages(folder("page"))
	mux.HandleFunc("GET /{$}", s.named(s.queue))
	if o.Who == nil {
		mux.HandleFunc("GET /name", s.name)
		mux.HandleFunc("POST /name", s.setName)
	}
	mux.HandleFunc("GET /work", s.named(s.work))
	mux.HandleFunc("POST /work", s.named(s.assign))
	mux.HandleFunc("GET /item/{id}", s.named(s.item))
	mux.HandleFunc("GET /compare/{id}", s.named(s.compare))
	mux.HandleFunc("GET /history/{id}", s.named(s.history))
	mux.HandleFunc("GET /agreement", s.named(s.agreement))
	mux.HandleFunc("GET /api/alive", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for name, f := range map[string]func(*http.Request, string) (any, error){
		"save": s.apiSave, "decide": s.apiDecide, "undo": s.apiUndo, "restore": s.apiRestore, "check": s.apiCheck,
		"run": s.apiRun,
	} {
		mux.HandleFunc("POST /api/"+name, s.api(f))
	}
	s.handler = http.StripPrefix(o.Base, mux)
	if o.Who == nil { // otherwise, the pages are part of a server that has a guard
		s.handler = guard.Guard(s.handler, guard.Options{Log: o.Log})
	}
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) load() error {
	cs, err := s.Candidates()
	if err != nil {
		return err
	}
	byID := make(map[string]*dataset.Candidate, len(cs))
	for i := range cs {
		byID[cs[i].ID] = &cs[i]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.candidates, s.byID = cs, byID
	return nil
}

// all returns the candidates, rereading them if there are new ones. If that fails, it keeps the previous candidates.
func (s *Server) all() ([]dataset.Candidate, map[string]*dataset.Candidate) {
	if s.Changed != nil && s.Changed() {
		if err := s.load(); err != nil {
			s.Log.Warn("reading the new candidates failed; keeping the previous ones", "error", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.candidates, s.byID
}

// caseOf reads a candidate and the work on it. The error can be shown to users.
func (s *Server) caseOf(ctx context.Context, id string) (annotate.Case, error) {
	_, byID := s.all()
	c, ok := byID[id]
	if !ok {
		return annotate.Case{}, missing(id)
	}
	works, err := s.Store.Works(ctx, id)
	return annotate.NewCase(c, works), err
}

// problem is an error that is shown to users: one of the page's messages with its arguments, and the HTTP status.
type problem struct {
	status int
	key    string // the part after "annotate.error."
	args   []any  // alternating names and values
}

// Error is for logs only.
func (p problem) Error() string { return strings.TrimSpace(p.key + " " + fmt.Sprint(p.args...)) }

// refusals maps errors from package dataset/annotate to messages; other errors are shown verbatim.
var refusals = map[annotate.Refusal]string{annotate.RefusedEmptied: "emptied", annotate.RefusedSkip: "skip_compare",
	annotate.RefusedChanged: "changed", annotate.RefusedUnchanged: "unchanged", annotate.RefusedQuestion: "question",
	annotate.RefusedReason: "reason", annotate.RefusedNote: "note", annotate.RefusedName: "name",
	annotate.RefusedLongName: "long_name", annotate.RefusedLetters: "letters"}

// forPeople returns the HTTP status and the message for an error. An error that is not meant for users is logged.
func (s *Server) forPeople(r *http.Request, err error) (status int, text string) {
	var p problem
	var refused annotate.Refusal
	switch {
	case errors.As(err, &p):
		return p.status, s.Site.Say(r, "annotate.error."+p.key, p.args...)
	case errors.As(err, &refused):
		if key := refusals[refused]; key != "" {
			return http.StatusUnprocessableEntity, s.Site.Say(r, "annotate.refusal."+key)
		}
		return http.StatusUnprocessableEntity, string(refused)
	}
	if r.Context().Err() == nil {
		s.Log.Error("the annotation page failed", "path", r.URL.Path, "error", err)
	}
	return http.StatusInternalServerError, s.Site.Say(r, "annotate.failed")
}

func missing(id string) error { return problem{http.StatusNotFound, "missing", []any{"id", id}} }

// refuse returns the error for an action that the current state does not allow.
func refuse(key string, args ...any) error { return problem{http.StatusUnprocessableEntity, key, args} }

// fail shows an error as a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text := s.forPeople(r, err)
	s.Site.Problem(w, r, status, text)
}

// view is the data passed to the template of every page.
type view struct {
	Page    string // for the navigation
	Who     string
	Base    string
	Named   bool              // the user's name comes from a login
	Free    bool              // no login was required, so there is nothing to log out of
	Reasons []annotate.Choice // for the dialog that excludes a candidate
	Data    any
}

// Indent returns the indentation of a comment at the given level.
func (*view) Indent(level int) int { return min(max(level-1, 0), 6) }

// Kappa formats kappa with two decimal places.
func (*view) Kappa(k *float64) string { return kappaFigure(k) }

// Bytes formats a size in human-readable form.
func (*view) Bytes(n int64) string { return byteSize(n) }

// Badge returns the data for the template that shows a verdict.
func (*view) Badge(page *layout.View, v dataset.Verdict) map[string]any {
	return map[string]any{"View": page, "Verdict": string(v)}
}

// wide lists the pages that use the full width of the window.
var wide = map[string]bool{"queue": true, "item": true, "compare": true, "history": true}

func (s *Server) show(w http.ResponseWriter, r *http.Request, name, title, who string, data any) {
	s.pages.Show(w, r, http.StatusOK, name, layout.Page{Title: title, Section: "annotate", Wide: wide[name],
		Styles: []string{"annotate/annotate.css"}, Scripts: []string{"annotate/annotate.js"}, Words: []string{"annotate.js."},
		Data: &view{Page: name, Who: who, Base: s.Base, Named: s.Who != nil, Free: s.Free != nil && s.Free(r),
			Reasons: annotate.Reasons, Data: data}})
}

// cookie is the name of the cookie that contains the annotator's name.
const cookie = "annotator"

// annotator returns the name of the user who sent the request, or "" if it is unknown.
func (s *Server) annotator(r *http.Request) string {
	if s.Who != nil {
		return s.Who(r)
	}
	return annotator(r)
}

// annotator returns the name in the browser's cookie, or "" if there is none.
func annotator(r *http.Request) string {
	c, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	name, err = annotate.CleanName(name)
	if err != nil {
		return ""
	}
	return name
}

// named returns a handler that asks for a name before it shows a page.
func (s *Server) named(f func(w http.ResponseWriter, r *http.Request, who string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := s.annotator(r)
		if who == "" && s.Who != nil {
			s.Site.Problem(w, r, http.StatusUnauthorized, s.Site.Say(r, "annotate.login_first"))
			return
		}
		if who == "" {
			http.Redirect(w, r, "/name?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		if err := f(w, r, who); err != nil {
			s.fail(w, r, err)
		}
	}
}

func (s *Server) name(w http.ResponseWriter, r *http.Request) {
	works, err := s.Store.Works(r.Context(), "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "name", s.Site.Say(r, "annotate.name.title"), annotator(r),
		map[string]any{"Known": people(works), "To": guard.Local(r.URL.Query().Get("to"))})
}

// people lists everyone who has annotated anything.
func people(works []annotate.Work) []string {
	var out []string
	for _, w := range works {
		if w.Annotator != annotate.Resolution && !slices.Contains(out, w.Annotator) {
			out = append(out, w.Annotator)
		}
	}
	slices.Sort(out)
	return out
}

func (s *Server) setName(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	name, err := annotate.CleanName(r.FormValue("name"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	works, err := s.Store.Works(r.Context(), "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	for _, known := range people(works) {
		if strings.EqualFold(known, name) {
			name = known // Ada and ada are the same person
		}
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: url.QueryEscape(name), Path: "/", MaxAge: 400 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, guard.Local(r.FormValue("to")), http.StatusSeeOther)
}

// isJSON reports whether a request declares a JSON body, which a form on another site cannot do.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
