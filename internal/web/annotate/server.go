package annotate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/guard"
)

// Graph is the graph on which queries are tried. In production this is internal/kg/wikidata, in tests
// internal/kg/embedded.
type Graph interface {
	// Query runs a query.
	Query(ctx context.Context, query string) (*kg.Table, error)
	// Labels returns labels in the first of the languages that has one.
	Labels(ctx context.Context, ids, languages []string) (map[string]string, error)
}

// Options are the parts of a [Server].
type Options struct {
	Log        *slog.Logger
	Store      annotate.Store
	Graph      Graph
	GraphName  string                                    // shown with results
	Candidates func() ([]dataset.Candidate, error)       // reads them; called at the start and when Changed says so
	Changed    func() bool                               // whether there are new candidates; nil: never
	Keep       func(query string, table *kg.Table) error // stores the rows of a query that an annotator changed
	Now        func() time.Time
}

// Server is the page, an http.Handler.
type Server struct {
	Options
	handler http.Handler
	names   *annotate.Names
	runs    runs

	mu         sync.Mutex
	candidates []dataset.Candidate
	byID       map[string]*dataset.Candidate
}

//go:embed web
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"stamp":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") },
	"day":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
	"plural":  text.Count,
	"percent": func(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) },
	"kappa":   kappaFigure,
	"bytes":   byteSize,
	"indent":  func(level int) int { return min(max(level-1, 0), 6) },
	"words":   func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), "_", " ") },
	"lines":   diffLines,
}).ParseFS(files, "web/*.html"))

// New makes the page. It reads the candidates.
func New(o Options) (*Server, error) {
	s := &Server{Options: o, names: annotate.NewNames(o.Log, o.Graph, o.Now)}
	if err := s.load(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.named(s.queue))
	mux.HandleFunc("GET /name", s.name)
	mux.HandleFunc("POST /name", s.setName)
	mux.HandleFunc("GET /item/{id}", s.named(s.item))
	mux.HandleFunc("GET /compare/{id}", s.named(s.compare))
	mux.HandleFunc("GET /history/{id}", s.named(s.history))
	mux.HandleFunc("GET /agreement", s.named(s.agreement))
	mux.HandleFunc("GET /static/{file}", static)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /api/alive", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for name, f := range map[string]func(*http.Request, string) (any, error){
		"save": s.apiSave, "decide": s.apiDecide, "undo": s.apiUndo, "restore": s.apiRestore, "check": s.apiCheck,
		"run": s.apiRun,
	} {
		mux.HandleFunc("POST /api/"+name, s.api(f))
	}
	s.handler = guard.Guard(mux, guard.Options{Log: o.Log})
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	data, err := files.ReadFile("web/" + name)
	kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(name)]
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data)
}

// load reads the candidates.
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

// all returns the candidates, and reads them again when there are new ones. If that fails, the previous ones stay.
func (s *Server) all() ([]dataset.Candidate, map[string]*dataset.Candidate) {
	if s.Changed != nil && s.Changed() {
		if err := s.load(); err != nil {
			s.Log.Warn("the new candidates cannot be read; keeping the previous ones", "error", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.candidates, s.byID
}

// caseOf reads a candidate with its works. The error is fit for people.
func (s *Server) caseOf(ctx context.Context, id string) (annotate.Case, error) {
	_, byID := s.all()
	c, ok := byID[id]
	if !ok {
		return annotate.Case{}, missing(id)
	}
	works, err := s.Store.Works(ctx, id)
	return annotate.NewCase(c, works), err
}

// problem is an error for people with its HTTP status.
type problem struct {
	status int
	text   string
}

func (p problem) Error() string { return p.text }

// forPeople returns the HTTP status and the text of an error. ok is false for one that is not meant for people.
func forPeople(err error) (status int, text string, ok bool) {
	var p problem
	var refused annotate.Refusal
	switch {
	case errors.As(err, &p):
		return p.status, p.text, true
	case errors.As(err, &refused):
		return http.StatusUnprocessableEntity, string(refused), true
	}
	return http.StatusInternalServerError, err.Error(), false
}

func missing(id string) error {
	return problem{http.StatusNotFound, "There is no candidate " + id +
		". A later harvest may have removed it: go back to the queue."}
}

func refuse(format string, args ...any) error { return annotate.Refusal(fmt.Sprintf(format, args...)) }

// fail shows an error as a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, who string, err error) {
	status, text, ok := forPeople(err)
	if !ok {
		s.Log.Error("the page failed", "path", r.URL.Path, "error", err)
		text = "This did not work: " + text
	}
	s.show(w, status, "problem.html", &view{Title: "Something is wrong", Who: who, Text: text})
}

// view is what every page gets.
type view struct {
	Title string
	Who   string
	Page  string // for the navigation
	Text  string
	Data  any
}

func (s *Server) show(w http.ResponseWriter, status int, name string, v *view) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		s.Log.Error("a page cannot be made", "page", name, "error", err)
		http.Error(w, "This page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String()))
}

// cookie holds the annotator's name.
const cookie = "annotator"

// annotator reads the name that the browser brings, "" when there is none.
func annotator(r *http.Request) string {
	c, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	name, err = cleanName(name)
	if err != nil {
		return ""
	}
	return name
}

// cleanName normalizes a name.
func cleanName(name string) (string, error) {
	name = norm.NFC.String(strings.Join(strings.Fields(name), " "))
	switch n := len([]rune(name)); {
	case n == 0:
		return "", refuse("Please give a name: your verdicts are kept under it.")
	case n > 40:
		return "", refuse("Please give a name of at most 40 characters.")
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) && !strings.ContainsRune(" -_.'()", c) {
			return "", refuse("Please give a name of letters, digits and - _ . ' ( ).")
		}
	}
	return name, nil
}

// named asks for a name before it shows a page.
func (s *Server) named(f func(w http.ResponseWriter, r *http.Request, who string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := annotator(r)
		if who == "" {
			http.Redirect(w, r, "/name?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		if err := f(w, r, who); err != nil {
			s.fail(w, r, who, err)
		}
	}
}

// name asks who is there.
func (s *Server) name(w http.ResponseWriter, r *http.Request) {
	works, err := s.Store.Works(r.Context(), "")
	if err != nil {
		s.fail(w, r, "", err)
		return
	}
	s.show(w, http.StatusOK, "name.html", &view{Title: "Who is annotating?", Who: annotator(r),
		Data: map[string]any{"Known": people(works), "To": local(r.URL.Query().Get("to"))}})
}

// people lists everybody who has worked.
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
	name, err := cleanName(r.FormValue("name"))
	if err != nil {
		s.fail(w, r, "", err)
		return
	}
	works, err := s.Store.Works(r.Context(), "")
	if err != nil {
		s.fail(w, r, "", err)
		return
	}
	for _, known := range people(works) {
		if strings.EqualFold(known, name) {
			name = known // Ada and ada are one person
		}
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: url.QueryEscape(name), Path: "/", MaxAge: 400 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, local(r.FormValue("to")), http.StatusSeeOther)
}

// local keeps a redirect on this page.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, `\`) {
		return "/"
	}
	return u.RequestURI()
}

// isJSON reports whether a request says that it brings JSON, which no form of another site can.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
