package annotate

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"

	"github.com/spinachbot/spinachbot/dataset/annotate"
)

// apiCheck parses a query and a question and returns remarks on them. It does not run the query.
func (s *Server) apiCheck(r *http.Request, _ string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	_, byID := s.all()
	c, ok := byID[e.Candidate]
	if !ok {
		return nil, missing(e.Candidate)
	}
	q, marks := annotate.Marks(e.Query)
	out := map[string]any{
		"changed": sparql.NormalForm(e.Query) != sparql.NormalForm(annotate.StartQuery(c)),
		"marks":   marks, "names": map[string]annotate.Name{}, "remarks": []annotate.Remark{},
	}
	if q != nil {
		names, pending := s.namesOf(r.Context(), c, q)
		out["names"], out["remarks"], out["pending"] = names, annotate.Compare(q, e.Question, names), pending
		out["link"] = sparql.URL(e.Query)
	}
	return out, nil
}

// apiRun runs a query and returns its first rows.
func (s *Server) apiRun(r *http.Request, who string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	if _, err := annotate.ParseAllowed(e.Query); err != nil {
		return nil, refuse("not_run", "why", err.Error())
	}
	start := s.Now()
	t, err := s.Graph.Query(r.Context(), sparql.ReplaceAutoLanguage(e.Query, "en"))
	took := s.Now().Sub(start)
	if err != nil {
		if r.Context().Err() != nil {
			return nil, err
		}
		return nil, whatHappened(err, took)
	}
	s.runs.put(who, sparql.NormalForm(e.Query), t)
	shown := showTable(t)
	shown.MS = took.Milliseconds()
	s.label(r.Context(), shown)
	return map[string]any{"head": shown.Head, "rows": shown.Rows, "total": shown.Total, "ms": shown.MS, "ask": shown.Ask,
		"boolean": shown.Boolean, "endpoint": s.GraphName}, nil
}

// whatHappened describes a graph failure and what to do about it.
func whatHappened(err error, took time.Duration) error {
	var ke *kg.Error
	if !errors.As(err, &ke) {
		return refuse("did_not_run", "why", err.Error())
	}
	switch ke.Kind {
	case kg.Timeout:
		return refuse("timeout", "time", took.Round(time.Second).String())
	case kg.TooLarge, kg.TooGreedy:
		return refuse("too_large", "why", ke.Message)
	case kg.RateLimited, kg.Banned:
		return refuse("pause", "time", ke.RetryAfter.Round(time.Second).String())
	case kg.Down:
		return refuse("down", "why", ke.Message)
	}
	return refuse("did_not_run", "why", ke.Message)
}

func queryValues(s string) url.Values {
	v, err := url.ParseQuery(strings.TrimPrefix(s, "?"))
	if err != nil {
		return url.Values{}
	}
	return v
}
