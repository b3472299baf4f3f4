package annotate

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// maxBody limits the size of a request; a query is at most a few kilobytes.
const maxBody = 1 << 20

// api returns a handler for requests made by scripts. The handler calls f, which reads JSON from the request, and
// writes the result as JSON. Errors have the form {"error":"…"}, with a "current" member if the work was changed in the
// meantime.
func (s *Server) api(f func(r *http.Request, who string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := s.annotator(r)
		var out any
		var err error
		switch {
		case who == "":
			err = problem{http.StatusUnauthorized, "who", nil}
		case !isJSON(r):
			err = problem{http.StatusUnsupportedMediaType, "json", nil}
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			out, err = f(r, who)
		}
		status := http.StatusOK
		var conflict conflictError
		if errors.As(err, &conflict) {
			status = http.StatusConflict
			out = map[string]any{"error": s.Site.Say(r, "annotate.error.conflict"), "current": conflict.current}
		} else if err != nil {
			why := ""
			if status, why = s.forPeople(r, err); r.Context().Err() != nil {
				return // the client is gone
			}
			out = map[string]any{"error": why}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(out); err != nil {
			s.Log.Info("sending a response failed", "path", r.URL.Path, "error", err)
		}
	}
}

// conflictError contains the work as it is currently stored.
type conflictError struct{ current *annotate.Work }

func (conflictError) Error() string { return annotate.ErrConflict.Error() }
func (conflictError) Unwrap() error { return annotate.ErrConflict }

// edit is the request that the page's script sends to change an annotator's work.
type edit struct {
	Candidate  string          `json:"candidate"`
	Resolution bool            `json:"resolution"`
	Version    int64           `json:"version"`
	Query      string          `json:"query"`
	Question   string          `json:"question"`
	Note       string          `json:"note"`
	Verdict    dataset.Verdict `json:"verdict"`
	Reason     string          `json:"reason"`
	Filter     string          `json:"filter"`
	Event      int64           `json:"event"`
}

func read[T any](r *http.Request) (*T, error) {
	v := new(T)
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		return nil, problem{http.StatusBadRequest, "request", []any{"why", err.Error()}}
	}
	return v, nil
}

// target returns the case that an edit refers to and the work to change, which must have the version on which the edit
// is based.
func (s *Server) target(r *http.Request, who string, e *edit) (*annotate.Case, *annotate.Work, error) {
	c, err := s.caseOf(r.Context(), e.Candidate)
	if err != nil {
		return nil, nil, err
	}
	var w annotate.Work
	switch {
	case !e.Resolution:
		w = *c.Own(who)
	case !c.Visible(who):
		return nil, nil, problem{http.StatusForbidden, "blind", nil}
	case len(c.Decided()) < 2 && c.State() != annotate.Resolved:
		return nil, nil, problem{http.StatusForbidden, "second", nil}
	case c.Resolution != nil:
		w = *c.Resolution
	default:
		w = annotate.Work{Candidate: e.Candidate, Annotator: annotate.Resolution, Query: annotate.StartQuery(c.Candidate)}
	}
	if w.Version != e.Version {
		return nil, nil, conflictError{&w}
	}
	return &c, &w, nil
}

// store saves an annotator's work with its event.
func (s *Server) store(r *http.Request, who string, w *annotate.Work, kind annotate.EventKind, undoes int64) error {
	now := s.Now()
	w.Updated = now
	if w.Annotator == annotate.Resolution {
		w.By = who
	}
	err := s.Store.SaveWork(r.Context(), w, &annotate.Event{At: now, Who: who, Kind: kind, Undoes: undoes})
	if errors.Is(err, annotate.ErrConflict) {
		works, rerr := s.Store.Works(r.Context(), w.Candidate)
		if rerr != nil {
			return rerr
		}
		for i := range works {
			if works[i].Annotator == w.Annotator {
				return conflictError{&works[i]}
			}
		}
	}
	return err
}

// apiSave saves the query, the question and the note. A verdict remains valid until the query is changed.
func (s *Server) apiSave(r *http.Request, who string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	_, w, err := s.target(r, who, e)
	if err != nil {
		return nil, err
	}
	if w.Version > 0 && w.Query == e.Query && w.Question == e.Question && w.Note == e.Note {
		return map[string]any{"work": w}, nil // nothing changed
	}
	withdrawn, err := w.Rewrite(e.Query, e.Question, e.Note)
	if err != nil {
		return nil, err
	}
	if err := s.store(r, who, w, annotate.Edited, 0); err != nil {
		return nil, err
	}
	return map[string]any{"work": w, "withdrawn": withdrawn}, nil
}

// apiDecide saves the query, the question, the note and the verdict.
func (s *Server) apiDecide(r *http.Request, who string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	c, w, err := s.target(r, who, e)
	if err != nil {
		return nil, err
	}
	w.Query, w.Question, w.Note, w.Verdict, w.Reason = e.Query, e.Question, e.Note, e.Verdict, ""
	if w.Verdict == dataset.Exclude {
		w.Reason = e.Reason
	}
	changed, err := c.Judge(w)
	if err == nil && changed {
		err = s.keepRun(who, w.Query)
	}
	if err != nil {
		return nil, err
	}
	if w.HasVerdict() {
		w.Decided = s.Now()
	}
	if err := s.store(r, who, w, annotate.Judged, 0); err != nil {
		return nil, err
	}
	next, err := s.after(r, who, e, w)
	return map[string]any{"work": w, "next": next}, err
}

// keepRun stores the rows of a changed query, which the annotator must have run and which must have returned rows.
func (s *Server) keepRun(who, query string) error {
	t := s.runs.get(who, sparql.NormalForm(query))
	if t == nil {
		return refuse("run_first")
	}
	if t.Empty() {
		return refuse("no_rows")
	}
	return s.Keep(query, t)
}

// after returns the page to show after a verdict: the comparison if it is now open, and otherwise the next candidate.
func (s *Server) after(r *http.Request, who string, e *edit, w *annotate.Work) (string, error) {
	cases, _, err := s.cases(r.Context())
	if err != nil {
		return "", err
	}
	f := s.readFilter(queryValues(e.Filter))
	if i := slices.IndexFunc(cases, func(c annotate.Case) bool { return c.Candidate.ID == w.Candidate }); i >= 0 &&
		!e.Resolution && w.HasVerdict() {
		if st := cases[i].State(); st == annotate.Agreed || st == annotate.Disputed {
			return s.Base + "/compare/" + w.Candidate + "?" + f.Query(), nil
		}
	}
	_, next, _ := s.neighbors(r, cases, f, who, w.Candidate)
	if next == "" {
		next = s.Base + "/?" + f.Query()
	}
	return next, nil
}

// apiUndo withdraws the annotator's last valid verdict, on any candidate. Texts are left unchanged.
func (s *Server) apiUndo(r *http.Request, who string) (any, error) {
	events, err := s.Store.WorkEvents(r.Context(), "", who)
	if err != nil {
		return nil, err
	}
	at := annotate.LastVerdict(events)
	if at == nil {
		return nil, refuse("no_undo")
	}
	works, err := s.Store.Works(r.Context(), at.Work.Candidate)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(works, func(w annotate.Work) bool { return w.Annotator == at.Work.Annotator })
	if i < 0 {
		return nil, refuse("work_gone", "id", at.Work.Candidate)
	}
	w := works[i]
	if r := slices.IndexFunc(works, func(w annotate.Work) bool {
		return w.Annotator == annotate.Resolution &&
			w.HasVerdict()
	}); r >= 0 && w.Annotator != annotate.Resolution {
		return nil, refuse("resolved_since", "name", works[r].By)
	}
	if w.Annotator == annotate.Resolution && w.By != who {
		return nil, refuse("resolution_changed")
	}
	history, err := s.Store.WorkEvents(r.Context(), at.Work.Candidate, "")
	if err != nil {
		return nil, err
	}
	before := annotate.Before(history, at)
	w.Verdict, w.Reason, w.Decided = before.Verdict, before.Reason, before.Decided
	if err := s.store(r, who, &w, annotate.Undone, at.Seq); err != nil {
		return nil, err
	}
	page := "/item/"
	if w.Annotator == annotate.Resolution {
		page = "/compare/"
	}
	return map[string]any{"next": s.Base + page + w.Candidate}, nil
}

// apiRestore restores the query, the question and the note from an older version.
func (s *Server) apiRestore(r *http.Request, who string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.WorkEvents(r.Context(), e.Candidate, who)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(events, func(x annotate.Event) bool { return x.Seq == e.Event && x.Work.Annotator == who })
	if i < 0 {
		return nil, refuse("no_version")
	}
	c, err := s.caseOf(r.Context(), e.Candidate)
	if err != nil {
		return nil, err
	}
	w := *c.Own(who)
	w.Restore(&events[i].Work)
	if err := s.store(r, who, &w, annotate.Restored, 0); err != nil {
		return nil, err
	}
	return map[string]any{"next": s.Base + "/item/" + e.Candidate}, nil
}

// runs keeps the results of each annotator's most recent queries.
type runs struct {
	mu sync.Mutex
	by map[string][]ranQuery
}

type ranQuery struct {
	form  string
	table *kg.Table
}

// maxRuns is the maximum number of results kept per annotator.
const maxRuns = 3

func (m *runs) put(who, form string, t *kg.Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string][]ranQuery{}
	}
	kept := append([]ranQuery{{form, t}}, slices.DeleteFunc(m.by[who], func(x ranQuery) bool { return x.form == form })...)
	m.by[who] = kept[:min(len(kept), maxRuns)]
}

func (m *runs) get(who, form string) *kg.Table {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.by[who] {
		if x.form == form {
			return x.table
		}
	}
	return nil
}
