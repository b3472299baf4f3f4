// Package ask provides the pages on which users ask questions and watch them being answered. Every question has a
// permanent URL under /a/. A question's page needs only the trajectory file, so pages outlive the program.
//
//	ask.go       what the pages need; the form; starting a question
//	limit.go     who may ask, and how many questions run at once
//	opening.go   priority for users who are waiting for a page
//	asked.go     questions with their runs, in memory and in files
//	stream.go    streams a run's events to browsers as they happen
//	page.go      a question's page
//	step.go      a changed step, and the run that continues from there
//	review.go    turns that await the reader's decision
//	result.go    the result: rows, cells, order, filter
//	download.go  the result as files
//	view.go      the views of a result: map, timeline, chart …
//	picture.go   pictures in the result, fetched by this server
//	row.go       which statements made a row
//	missing.go   why something is not in a result
//	reason.go    a query split into its parts, for row.go and missing.go
//	editor.go    the query editor
//	ran.go       results of queries run in the editor
//	complete.go  completions at the editor's cursor
//
// The pages work without scripts. Templates and scripts treat everything from the model, the graph and the reader as
// plain text.
package ask

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base32"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

//go:embed all:page static words others
var files embed.FS

// Choice determines how a question is answered.
type Choice struct{ Preset, Policy, Graph string }

// Options are the parts of a [Server].
type Options struct {
	Log  *slog.Logger
	Site *layout.Site
	// Base is canceled when the program ends: runs outlive the requests that start them.
	Base context.Context
	// Service returns the service that answers questions. who, if not nil, reviews the turns.
	Service func(ctx context.Context, c Choice, who policy.Reviewer) (*ask.Service, error)
	// Graph returns the graph with the given name.
	Graph func(ctx context.Context, name string) (*agent.Source, error)
	Dir   string // folder of the trajectories
	// Pictures fetches the pictures in results. If nil, they are shown only as links.
	Pictures Pictures

	Presets  []Preset // the default one first
	Graphs   []Graph  // the default one first
	Rate     int      // questions per client per minute; unlimited if 0
	Parallel int      // maximum number of concurrent questions, at least 1
	// ClientHeader is the header in which a proxy in front of the server passes the client's address. If empty, the
	// connection's address is used.
	ClientHeader string
	Now          func() time.Time
}

// Preset is a preset that users can choose.
type Preset struct {
	Name, About string
	Policies    []string
}

// Graph is a graph that users can choose.
type Graph struct{ Name, Title string }

// Server serves the pages.
type Server struct {
	Options
	pages   *layout.Pages
	asked   asked
	ran     ran
	opening openings
	clients clients
	slots   chan struct{}
}

// New returns a server for the pages and adds their files and messages to the site.
func New(o Options) *Server {
	s := &Server{Options: o, slots: make(chan struct{}, max(o.Parallel, 1))}
	s.asked.dir, s.asked.most, s.asked.runs = o.Dir, max(cached, o.Parallel), map[string]worked{}
	s.ran.now = o.Now
	s.clients.perMinute, s.clients.now = o.Rate, o.Now
	o.Site.Section("ask", "/")
	o.Site.Section("editor", "/editor")
	o.Site.Static("ask", sub("static"))
	o.Site.Static("vendor", sub("others"))
	o.Site.Words(sub("words"))
	s.pages = o.Site.Pages(sub("page"))
	return s
}

func sub(dir string) fs.FS {
	out, err := fs.Sub(files, dir)
	if err != nil {
		panic(err)
	}
	return out
}

// Handlers returns the handlers of the pages by pattern.
func (s *Server) Handlers() map[string]http.Handler {
	out := map[string]http.Handler{}
	for pattern, f := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/{$}":                  s.form,
		"POST /a":               s.ask,
		"GET /a/{id}":           s.page,
		"GET /a/{id}/events":    s.events,
		"POST /a/{id}/stop":     s.stop,
		"POST /a/{id}/continue": s.goOn,
		"POST /a/{id}/decide":   s.decide,
		"GET /a/{id}/step/{n}":  s.step,
		"POST /a/{id}/step/{n}": s.changeStep,
		"GET /editor":           s.editor,
		"POST /editor":          s.edit,
		"POST /editor/check":    s.help(s.remarks),
		"POST /editor/complete": s.help(s.complete),
		"GET /editor/ran/{id}":  s.ranPage,
	} {
		out[pattern] = s.handle(f)
	}
	for base, of := range map[string]find{"/a/{id}": s.ofQuestion, "/editor/ran/{id}": s.ofEditor} {
		for part, f := range map[string]func(http.ResponseWriter, *http.Request, find) error{"/rows": s.rows,
			"/result/{kind}": s.download, "/row/{n}": s.row, "/missing": s.missing, "/picture/{n}/{column}": s.picture} {
			out["GET "+base+part] = s.handle(func(w http.ResponseWriter, r *http.Request) error { return f(w, r, of) })
		}
	}
	return out
}

// problem is an error that is shown to users: a message key and the HTTP status.
type problem struct {
	status int
	key    string
	args   []any
}

func (p *problem) Error() string { return p.key }

func refuse(status int, key string, args ...any) error { return &problem{status, key, args} }

// handle shows a handler's error as a page in the reader's language.
func (s *Server) handle(f func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := f(w, r)
		var p *problem
		switch {
		case err == nil || r.Context().Err() != nil:
		case errors.As(err, &p):
			if p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "30")
			}
			s.Site.Problem(w, r, p.status, s.Site.Say(r, p.key, p.args...))
		default:
			s.Log.Error("a page failed", "path", r.URL.Path, "error", err)
			s.Site.Problem(w, r, http.StatusInternalServerError, s.Site.Say(r, "ask.failed"))
		}
	})
}

type formData struct {
	Question string
	Choice   Choice
	Presets  []Preset
	Graphs   []Graph
	Policies []string
	Follows  string // ID of the question that this question follows up on
	Open     bool   // show the choices
	Wikidata bool   // the form shows its examples, which are for Wikidata
}

func (s *Server) formData(question string, c Choice) formData {
	d := formData{Question: question, Choice: c, Presets: s.Presets, Graphs: s.Graphs,
		Open: c.Preset != "" && c != s.usual() || c.Policy != ""}
	if c.Preset == "" {
		d.Choice = s.usual()
	}
	d.Wikidata = d.Choice.Graph == "wikidata"
	for _, p := range s.Presets {
		for _, name := range p.Policies {
			if !slices.Contains(d.Policies, name) {
				d.Policies = append(d.Policies, name)
			}
		}
	}
	return d
}

func (s *Server) usual() Choice {
	return Choice{Preset: s.Presets[0].Name, Graph: s.Graphs[0].Name}
}

// form shows the first page, with the question from the URL, if any, already entered.
func (s *Server) form(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "ask.method")
	}
	q := r.URL.Query()
	d := s.formData(text.Clip(q.Get("q"), maxQuestion), Choice{Preset: q.Get("preset"), Policy: q.Get("policy"), Graph: q.Get("graph")})
	s.pages.Show(w, r, http.StatusOK, "form", layout.Page{Title: s.Site.Say(r, "ask.title"), Section: "ask", Data: d})
	return nil
}

// Limits on the data that a browser may send.
const (
	maxQuestion = 4000     // characters
	maxBody     = 64 << 10 // form size in bytes
)

// ask starts a question and redirects to its page.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	q := agent.Question{Text: strings.TrimSpace(text.Clean(r.PostFormValue("q")))}
	switch {
	case q.Text == "":
		return refuse(http.StatusUnprocessableEntity, "ask.empty")
	case utf8.RuneCountInString(q.Text) > maxQuestion:
		return refuse(http.StatusUnprocessableEntity, "ask.long", "count", maxQuestion)
	}
	c := Choice{Preset: r.PostFormValue("preset"), Policy: r.PostFormValue("policy"), Graph: r.PostFormValue("graph")}
	if before := r.PostFormValue("follows"); before != "" {
		events, err := s.asked.events(before)
		if err != nil {
			return err
		}
		q.History = ask.Turns(events)
		if c.Preset == "" {
			c = choiceOf(events)
		}
	}
	c, err := s.allowed(c)
	if err != nil {
		return err
	}
	a := asking{id: newID(), choice: c, begin: func(service *ask.Service, name string) (*ask.Run, error) {
		q.ID = name
		return service.Start(s.Base, q)
	}}
	if r.PostFormValue("review") != "" {
		if c.Policy != "" {
			return refuse(http.StatusUnprocessableEntity, "ask.review.policy")
		}
		a.person = newPerson(s.slots)
		a.who = a.person
	}
	return s.start(w, r, a)
}

// allowed checks a choice and fills in its defaults.
func (s *Server) allowed(c Choice) (Choice, error) {
	usual := s.usual()
	if c.Preset == "" {
		c.Preset = usual.Preset
	}
	if c.Graph == "" {
		c.Graph = usual.Graph
	}
	at := slices.IndexFunc(s.Presets, func(p Preset) bool { return p.Name == c.Preset })
	if at < 0 || !slices.ContainsFunc(s.Graphs, func(g Graph) bool { return g.Name == c.Graph }) {
		return c, refuse(http.StatusUnprocessableEntity, "ask.choice")
	}
	if c.Policy != "" && !slices.Contains(s.Presets[at].Policies, c.Policy) {
		return c, refuse(http.StatusUnprocessableEntity, "ask.policy", "preset", c.Preset, "policies",
			strings.Join(s.Presets[at].Policies, ", "))
	}
	return c, nil
}

// asking is a run that is about to start.
type asking struct {
	id     string
	choice Choice
	who    policy.Reviewer // reviews the turns; nil if no one does
	person *person         // the reader who decides on the turns, or nil
	begin  func(s *ask.Service, name string) (*ask.Run, error)
}

// start starts a run, if the limits allow it, and redirects to its page.
func (s *Server) start(w http.ResponseWriter, r *http.Request, a asking) error {
	defer s.opening.begin()()
	client := s.client(r)
	if !s.clients.may(client) {
		return refuse(http.StatusTooManyRequests, "ask.often")
	}
	at := &place{slots: s.slots}
	if a.person != nil {
		at, a.person.client = a.person.place, client
		if all, own := s.asked.reviews(client); all >= maxReviews || own >= maxClientReviews {
			return refuse(http.StatusServiceUnavailable, "ask.busy")
		}
	}
	if !at.try() {
		return refuse(http.StatusServiceUnavailable, "ask.busy")
	}
	run, err := s.begin(r, a)
	if err != nil {
		at.leave()
		return err
	}
	go func() {
		defer at.leave()
		if _, err := run.Wait(); err != nil {
			s.Log.Warn("a question from the web page ended with an error", "question", a.id, "error", err)
		}
		s.asked.ended(a.id, run)
	}()
	http.Redirect(w, r, "/a/"+url.PathEscape(a.id), http.StatusSeeOther)
	return nil
}

func (s *Server) begin(r *http.Request, a asking) (*ask.Run, error) {
	service, err := s.Service(r.Context(), a.choice, a.who)
	if err != nil {
		return nil, err
	}
	polite := *service
	polite.Open = s.opening.open(service.Open)
	if a.person != nil {
		polite.Limits.Time = 0 // people take their time
	}
	s.opening.hold(a.id)
	run, err := a.begin(&polite, name(a.id))
	if err != nil {
		s.opening.seen(a.id)
		return nil, err
	}
	s.asked.started(a.id, run, a.person)
	return run, nil
}

// readForm parses a form, limiting its size.
func readForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return refuse(http.StatusRequestEntityTooLarge, "ask.long", "count", maxQuestion)
		}
		return refuse(http.StatusBadRequest, "ask.form")
	}
	return nil
}

// newID returns an unguessable ID for a question.
func newID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}
