package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/httpjson"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// Limits for the editor.
const (
	maxQuery  = 60_000           // bytes
	queryTime = 70 * time.Second // for running a query
	helpTime  = 10 * time.Second // for looking up names
)

type editorData struct {
	Query  string
	Graph  string
	Graphs []Graph
	Marks  []mark
	Good   bool // the query was checked and no problems were found
	Words  string
	Notes  []string
	Result *resultView
	Error  string
}

// mark is a remark on a position in a query.
type mark struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Wrong   bool   `json:"wrong"` // an error: the query cannot be parsed or run; false for a probable mistake
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Length  int    `json:"length,omitempty"`  // number of misspelled characters
	Instead string `json:"instead,omitempty"` // what was probably meant
}

// editor shows the editor: empty, with the query in the URL, or with the query from a question's answer.
func (s *Server) editor(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	d := &editorData{Query: text.Clip(q.Get("q"), maxQuery), Graph: q.Get("graph")}
	if from := q.Get("from"); from != "" {
		events, err := s.asked.events(from)
		if err != nil {
			return err
		}
		if f := final(events); f != nil {
			d.Query, d.Graph = f.SPARQL, f.KG
		}
	}
	s.showEditor(w, r, http.StatusOK, d)
	return nil
}

func (s *Server) showEditor(w http.ResponseWriter, r *http.Request, status int, d *editorData) {
	d.Graphs = s.Graphs
	d.Graph = cmp.Or(d.Graph, s.Graphs[0].Name)
	page := layout.Page{Title: s.Site.Say(r, "editor.title"), Section: "editor", Data: d,
		Styles: []string{"ask/ask.css", "ask/editor.css"}, Scripts: []string{"ask/editor.js"}, Words: []string{"editor."}}
	if d.Result != nil {
		page.Scripts = append(page.Scripts, "ask/result.js")
		page.Words = append(page.Words, "ask.view", "ask.chart", "ask.nopicture")
		page.TrustedTypes = "default" // for the map, as on answer pages
	}
	s.pages.Show(w, r, status, "editor", page)
}

// edit performs the action of one of the editor's buttons on the query and shows the editor again.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	d := &editorData{Query: strings.ReplaceAll(r.PostFormValue("query"), "\r\n", "\n"), Graph: r.PostFormValue("graph")}
	do := r.PostFormValue("do")
	src, err := s.source(r.Context(), d.Graph)
	if err != nil {
		return err
	}
	q, marks := judge(d.Query, src)
	d.Marks = marks
	if q == nil || do == "run" && wrong(marks) {
		s.showEditor(w, r, http.StatusOK, d)
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	switch do {
	case "check":
		d.Good = len(marks) == 0
	case "explain":
		d.Words = explain.Query(q, s.namer(ctx, src, q, layout.LanguageOf(r)))
	case "format":
		d.Query = sparql.Print(q, sparql.PrintOptions{Label: s.namer(ctx, src, q, layout.LanguageOf(r))})
	case "standard", "qlever", "wdqs":
		res, err := rewrite.Query(d.Query, rewrite.Target(do), rewrite.Options{Prefixes: src.Explain.Prefixes,
			Language: layout.LanguageOf(r)})
		if err != nil {
			d.Error = text.Clip(text.OneLine(text.Clean(err.Error())), 1000)
			break
		}
		d.Query, d.Notes = res.Text, res.Notes
	case "run":
		if err := s.run(ctx, r, src, d); err != nil {
			return err
		}
	default:
		return refuse(http.StatusUnprocessableEntity, "ask.form")
	}
	s.showEditor(w, r, http.StatusOK, d)
	return nil
}

// source returns the graph with the given name, if users may choose it in the editor.
func (s *Server) source(ctx context.Context, graph string) (*agent.Source, error) {
	c, err := s.allowed(Choice{Graph: graph})
	if err != nil {
		return nil, err
	}
	return s.Graph(ctx, strings.Split(c.Graph, ",")[0])
}

// judge parses a query and returns its problems. The query is nil if it does not parse.
func judge(query string, src *agent.Source) (*sparql.Query, []mark) {
	q, err := sparql.ParseWith(query, src.Explain.Prefixes)
	var all sparql.Errors
	if errors.As(err, &all) {
		var out []mark
		for _, e := range all {
			out = append(out, mark{Line: e.Line, Column: e.Column, Wrong: true, Message: e.Message, Hint: e.Hint,
				Length: utf8.RuneCountInString(e.Found), Instead: e.Instead})
		}
		return nil, out
	}
	if err != nil {
		return nil, []mark{{Line: 1, Column: 1, Wrong: true, Message: err.Error()}}
	}
	out := []mark{}
	never := func(string) bool { return false }
	for _, p := range check.Query(q, never) {
		out = append(out, mark{Line: p.Line, Column: p.Column, Wrong: p.Kind == "update" || p.Kind == "service",
			Message: p.Message, Hint: p.Hint})
	}
	return q, out
}

func wrong(marks []mark) bool {
	for _, m := range marks {
		if m.Wrong {
			return true
		}
	}
	return false
}

// namer returns the labels of the IDs in a query.
func (s *Server) namer(ctx context.Context, src *agent.Source, q *sparql.Query, lang string) func(id string) string {
	var ids []string
	for _, id := range sparql.Identifiers(q) {
		ids = append(ids, id.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, helpTime)
	defer cancel()
	labels := s.labels(ctx, src.Name(), lang, ids)
	return func(id string) string { return labels[id] }
}

// run runs a query that [sparql.Guard] has accepted.
func (s *Server) run(ctx context.Context, r *http.Request, src *agent.Source, d *editorData) error {
	if !s.clients.may(s.client(r)) {
		return refuse(http.StatusTooManyRequests, "ask.often")
	}
	lang := layout.LanguageOf(r)
	query := sparql.ReplaceAutoLanguage(d.Query, lang)
	table, err := src.Graph.Query(ctx, query)
	var failed *kg.Error
	switch {
	case errors.As(err, &failed):
		if failed.Line > 0 {
			d.Marks = append(d.Marks, mark{Line: failed.Line, Column: failed.Column, Wrong: true, Message: failed.Message})
		} else {
			d.Error = text.Clip(text.OneLine(text.Clean(failed.Message)), 1000)
		}
		return nil
	case err != nil:
		return err
	}
	q := ranQuery{ms: max(1, int(table.Elapsed/time.Millisecond)),
		event: &agent.Event{SPARQL: d.Query, Ran: query, KG: src.Name(), Table: table}}
	q.id = s.ran.keep(q.event, q.ms)
	d.Result = s.view(r, q.stored())
	return nil
}

// editing is a request from the editor script.
type editing struct {
	Query  string `json:"query"`
	Before string `json:"before"` // the query up to the cursor
	Graph  string `json:"graph"`
}

// help returns a handler for requests from the editor script. answer computes the response: remarks and names, or
// completions.
func (s *Server) help(answer func(context.Context, *agent.Source, *editing, string) any) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var in editing
		r.Body = http.MaxBytesReader(w, r.Body, 2*maxBody)
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Query) > maxQuery {
			httpjson.Write(w, http.StatusBadRequest, map[string]string{"error": s.Site.Say(r, "ask.form")})
			return nil
		}
		ctx, cancel := context.WithTimeout(r.Context(), helpTime)
		defer cancel()
		src, err := s.source(ctx, in.Graph)
		if err != nil {
			httpjson.Write(w, http.StatusUnprocessableEntity, map[string]string{"error": s.Site.Say(r, "ask.choice")})
			return nil
		}
		httpjson.Write(w, http.StatusOK, answer(ctx, src, &in, layout.LanguageOf(r)))
		return nil
	}
}

// remarks returns the problems in a query and the names of the entities and properties that it uses.
func (s *Server) remarks(ctx context.Context, src *agent.Source, in *editing, lang string) any {
	q, marks := judge(in.Query, src)
	names := map[string]string{}
	if q != nil {
		name := s.namer(ctx, src, q, lang)
		for _, id := range sparql.Identifiers(q) {
			if n := name(id.ID); n != "" {
				names[id.ID] = text.OneLine(text.Clean(n))
			}
		}
	}
	return map[string]any{"marks": marks, "names": names}
}
