package ask

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

type pageData struct {
	ID       string
	Question string
	Earlier  []agent.Turn // earlier turns of this conversation
	Choice   Choice
	Started  time.Time
	Running  bool
	Cut      bool // the run is not in progress, although its trajectory has no end event
	GoOn     bool // the run was cut off and can be continued
	After    int  // number of the last event on the page
	Steps    []stepView
	Answer   *answerView // nil if there is none
	Ended    bool
	Reason   string // why there is no answer, as the last component of a message key
	Report   string
	Asks     string
	Detail   string
	Calls    int
	Seconds  int
	USD      float64
	Form     formData
	Review   bool      // the reader decides on each turn
	Turn     *turnView // the turn that awaits the decision, or nil
}

// stepView is a step, or a turn that was rejected.
type stepView struct {
	told
	Lines []string // lines of the argument, if it is not just plain text
	Left  bool     // the step is off the path to the run's current state
	gone  bool     // abandoned because of a rollback
}

// answerView is an answer with some of its rows.
type answerView struct {
	Query    string
	Tokens   []token
	Graph    string
	Endpoint string
	Assumed  string
	Open     string
	Sure     int         // probability that the answer is right, in percent; 0 if unknown
	Result   *resultView // nil if there is none
	WDQS     string      // link, or "" for a graph other than Wikidata
	QLever   string
}

// resultView is a result with some of its rows.
type resultView struct {
	Base       string // URL of the page with the result; the URLs of its parts start with it
	Graph      string // title of the graph, for an answer
	MS         int    // run time of the query in milliseconds, if it was run in the editor
	Ask        bool
	Boolean    bool
	Result     *Result // the rows of this page
	Total, All int
	From, To   int
	Order      order
	Head       []column
	Page       pageLinks
	Seen       seen
	WDQS       string // link, or "" for a graph other than Wikidata
	QLever     string // link, or ""
}

// column is a column's name with a link that sorts the rows by the column.
type column struct {
	Name, Link string
	Sorted     bool
	Down       bool
	Number     bool // the column contains numbers
}

// pageLinks are the links to the previous and next rows.
type pageLinks struct{ Before, After string }

// token is a token in a query with its syntactic kind.
type token struct{ Kind, Text string }

// page shows a question and, once available, its answer. Until then, browsers without scripts reload it.
func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	defer s.opening.begin()()
	id := r.PathValue("id")
	defer s.opening.seen(id)
	run := s.asked.run(id)
	running := run != nil
	if running {
		begun(r.Context(), run)
	}
	events, err := s.asked.events(id)
	if err != nil {
		return err
	}
	d := s.pageData(r, id, events)
	d.Running = running && !d.Ended
	d.Cut = !running && !d.Ended
	d.GoOn = d.Ended && !event.Finished(events[len(events)-1].Ending().Reason)
	page := layout.Page{Title: text.Clip(text.OneLine(d.Question), 80), Section: "ask", Data: d,
		Styles: []string{"ask/ask.css"}, Words: []string{"ask."}}
	if d.Running {
		p := s.asked.person(id)
		d.Review = p != nil
		if d.Turn, _ = p.waiting(); d.Turn == nil { // otherwise, nothing happens until the reader decides
			page.Refresh = 3
		}
		page.Scripts = []string{"ask/live.js"}
	} else if d.Answer != nil {
		page.Scripts = []string{"ask/result.js"}
		page.TrustedTypes = "default" // for the map, whose library sets a few constant strings as HTML
	}
	s.pages.Show(w, r, http.StatusOK, "asked", page)
	return nil
}

func (s *Server) pageData(r *http.Request, id string, events []agent.Event) *pageData {
	d := &pageData{ID: id, After: len(events), Choice: choiceOf(events)}
	kept := map[int]bool{}
	for _, st := range event.Steps(events) {
		kept[st.N] = true
	}
	for i, e := range events {
		switch e.Event {
		case "start":
			d.Started = e.Time
			if e.Question != nil {
				d.Question, d.Earlier = text.Clean(e.Question.Text), e.Question.History
			}
		case "step", "rollback", "feedback", "probe", "try", "vote", "review":
			if t, ok := tell(i+1, e); ok {
				d.addStep(stepView{told: t, Lines: event.ArgumentLines(t.Argument), Left: e.Event == "step" && !kept[e.Step.N]})
			}
		case "end":
			d.end(e)
		}
	}
	spent, took := event.Spent(events)
	d.Calls, d.USD, d.Seconds = spent.Calls, spent.USD, int(took.Round(time.Second)/time.Second)
	if f := final(events); f != nil {
		d.Answer = s.answer(r, id, f, d)
	}
	d.Form = s.formData("", Choice{})
	d.Form.Follows = id
	return d
}

// addStep adds a step. If v is a decision to go back to a step, that step and all later ones are immediately marked as
// off the path.
func (d *pageData) addStep(v stepView) {
	if v.Verdict == event.WentBack {
		place := 0
		for i := range d.Steps {
			if st := &d.Steps[i]; st.Event == "step" && !st.gone {
				if place++; place >= v.Step {
					st.Left, st.gone = true, true
				}
			}
		}
	}
	d.Steps = append(d.Steps, v)
}

func (d *pageData) end(e agent.Event) {
	d.Ended, d.Report, d.Asks = true, text.Clean(e.Report), text.Clean(e.Asks)
	d.Detail = text.OneLine(text.Clean(e.Detail))
	if d.Reason = e.Reason; d.Reason != "" && !knownReasons[d.Reason] {
		d.Reason = "other"
	}
}

// knownReasons lists the reasons that have an ask.reason.… message.
var knownReasons = map[string]bool{"not_found": true, "actions": true, "loop": true, "time": true, "tokens": true,
	"money": true, "day_money": true, "model_failed": true, "graph_failed": true, "cannot_publish": true, "cancelled": true,
	"given_up": true, "no_model": true}

func (s *Server) answer(r *http.Request, id string, f *agent.Event, d *pageData) *answerView {
	a := &answerView{Query: f.SPARQL, Tokens: highlight(f.SPARQL), Graph: s.title(f.KG), Endpoint: f.Endpoint,
		Assumed: text.Clean(f.Assumed), Open: text.Clean(f.Open)}
	if f.Table != nil {
		a.Result = s.view(r, &stored{Event: f, base: "/a/" + id})
		a.Result.Graph = a.Graph
	}
	if hasWikidata(d.Choice.Graph) || strings.Contains(f.Endpoint, "wikidata") {
		a.WDQS, a.QLever = services(r, f.SPARQL)
	}
	if a.Result != nil {
		a.Result.WDQS, a.Result.QLever = a.WDQS, a.QLever
	}
	return a
}

// services returns the links that open a query in Wikidata's query service and, rewritten, in QLever. qlever is "" if
// the query cannot be rewritten.
func services(r *http.Request, query string) (wdqs, qlever string) {
	res, err := rewrite.Query(query, rewrite.QLever, rewrite.Options{Language: layout.LanguageOf(r), DropMWAPI: true})
	if err == nil {
		qlever = "https://qlever.dev/wikidata?query=" + url.QueryEscape(res.Text)
	}
	return sparql.URL(query), qlever
}

// hasWikidata reports whether the graph with this name is Wikidata or part of it.
func hasWikidata(graph string) bool {
	return graph == "wikidata" || strings.HasPrefix(graph, "embedded")
}

// view returns the part of a result that was requested.
func (s *Server) view(r *http.Request, st *stored) *resultView {
	v := &resultView{Base: st.base, MS: st.ms, Ask: st.Table.Ask, Boolean: st.Table.Boolean}
	q := r.URL.Query()
	all := resultOf(st.Table)
	v.Seen = viewsOf(all, st.SPARQL)
	v.Order = orderOf(q)
	res := all.arranged(v.Order)
	v.Total, v.All = len(res.Rows), len(all.Rows)
	from := min(number(q.Get("offset"), 0), v.Total)
	to := min(from+perPage, v.Total)
	v.From, v.To = min(from+1, v.Total), to
	part := *res
	part.Rows, part.Numbers = s.labeled(r.Context(), st.KG, layout.LanguageOf(r), res.Rows[from:to]), res.Numbers[from:to]
	part.Rows = written(part.Rows, s.Site.Texts(r).Decimal)
	v.Result = &part
	if hasWikidata(st.KG) {
		v.WDQS, v.QLever = services(r, st.SPARQL)
	}
	v.links(from)
	return v
}

func (s *Server) title(graph string) string {
	for _, g := range s.Graphs {
		if g.Name == graph {
			return g.Title
		}
	}
	return graph
}

// links adds the links in the table's header and footer.
func (v *resultView) links(from int) {
	link := func(o order, offset int) string {
		p := url.Values{}
		if o.Sort != "" {
			p.Set("sort", o.Sort)
		}
		if o.Down {
			p.Set("down", "1")
		}
		if o.Filter != "" {
			p.Set("filter", o.Filter)
		}
		if offset > 0 {
			p.Set("offset", fmt.Sprint(offset))
		}
		u := v.Base
		if len(p) > 0 {
			u += "?" + p.Encode()
		}
		return u + "#result"
	}
	for i, name := range v.Result.Columns {
		sorted := v.Order.Sort == name
		o := order{Sort: name, Down: sorted && !v.Order.Down, Filter: v.Order.Filter}
		v.Head = append(v.Head, column{name, link(o, 0), sorted, sorted && v.Order.Down,
			len(v.Result.Rows) > 0 && v.Result.Rows[0][i].Kind == "number"})
	}
	if from > 0 {
		v.Page.Before = link(v.Order, max(0, from-perPage))
	}
	if from+perPage < v.Total {
		v.Page.After = link(v.Order, from+perPage)
	}
}

// highlight splits a query into tokens for syntax highlighting.
func highlight(query string) []token {
	var out []token
	rest := query
	skip := func() {
		for rest != "" {
			plain := rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]
			if plain != "" {
				out = append(out, token{"", plain})
			}
			if rest = rest[len(plain):]; !strings.HasPrefix(rest, "#") {
				return
			}
			comment, _, _ := strings.Cut(rest, "\n")
			out = append(out, token{"comment", comment})
			rest = rest[len(comment):]
		}
	}
	for t := range sparql.Tokens(query) {
		skip()
		if !strings.HasPrefix(rest, t.Text) {
			break
		}
		out = append(out, token{tokenKinds[t.Kind], t.Text})
		rest = rest[len(t.Text):]
	}
	skip()
	return append(out, token{"", rest})
}

var tokenKinds = map[sparql.TokenKind]string{sparql.TokenWord: "keyword", sparql.TokenVar: "variable",
	sparql.TokenName: "iri", sparql.TokenIRI: "iri", sparql.TokenString: "string", sparql.TokenNumber: "number"}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if run := s.asked.run(id); run != nil {
		run.Cancel()
		select {
		case <-run.Done():
		case <-time.After(2 * time.Second):
		}
	} else if _, err := s.asked.events(id); err != nil {
		return err
	}
	http.Redirect(w, r, "/a/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

// goOn continues a question whose run was cut off, for example because the program ended.
func (s *Server) goOn(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if s.asked.run(id) != nil {
		http.Redirect(w, r, "/a/"+url.PathEscape(id), http.StatusSeeOther)
		return nil
	}
	events, err := s.asked.events(id)
	if err != nil {
		return err
	}
	if len(events) == 0 { // someone else has already continued it
		http.Redirect(w, r, "/a/"+url.PathEscape(id), http.StatusSeeOther)
		return nil
	}
	path, err := s.asked.path(id)
	if err != nil {
		return err
	}
	c, err := s.allowed(choiceOf(events))
	if err != nil {
		return err
	}
	a := asking{id: id, choice: c, begin: func(service *ask.Service, _ string) (*ask.Run, error) {
		run, err := service.Continue(s.Base, path)
		if err != nil {
			return nil, refuse(http.StatusConflict, "ask.cannotgoon", "why", text.OneLine(err.Error()))
		}
		s.asked.forget(id)
		return run, nil
	}}
	if events[0].Policy == reviewed {
		p := newPerson(s.slots)
		var ok bool
		if a.who, ok = reviewerAgain(events, p); !ok {
			return refuse(http.StatusConflict, "ask.review.lost")
		}
		if a.who == policy.Reviewer(p) {
			a.person = p
		}
	}
	return s.start(w, r, a)
}
