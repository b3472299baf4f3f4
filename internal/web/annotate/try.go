package annotate

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// mark is a message on a place of the query.
type mark struct {
	Kind    string `json:"kind"` // error, or that of [sparql.Problem]
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// apiCheck reads a query and a question and says what is to be said about them; it runs nothing.
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
	marks := []mark{}
	out := map[string]any{"changed": sparql.NormalForm(e.Query) != sparql.NormalForm(startQuery(c)), "names": map[string]Name{}, "remarks": []Remark{}}
	q, err := sparql.Parse(e.Query)
	var all sparql.Errors
	switch {
	case errors.As(err, &all):
		for _, x := range all {
			marks = append(marks, mark{"error", x.Line, x.Column, x.Message, x.Hint})
		}
	case err != nil:
		marks = append(marks, mark{"error", 1, 1, err.Error(), ""})
	default:
		for _, p := range sparql.Check(q, harvest.AllowedService) {
			marks = append(marks, mark{p.Kind, p.Line, p.Column, p.Message, p.Hint})
		}
		names, pending := s.namesOf(r.Context(), c, q)
		out["names"], out["remarks"], out["pending"] = names, Compare(q, e.Question, names), pending
		out["link"] = sparql.URL(e.Query)
	}
	out["marks"] = append(marks, hidden(e.Query)...)
	return out, nil
}

// hidden warns of characters that change the order in which text is shown (Unicode Standard Annex 9, section 2): what the query says is not what is read. One
// mark a line is enough, and ten are enough for a query.
func hidden(query string) []mark {
	var out []mark
	for i, line := range strings.Split(query, "\n") {
		at := strings.IndexFunc(line, func(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 })
		if at < 0 || len(out) == 10 {
			continue
		}
		r, _ := utf8.DecodeRuneInString(line[at:])
		out = append(out, mark{"direction", i + 1, utf8.RuneCountInString(line[:at]) + 1, fmt.Sprintf("an invisible character (%U) changes the order in which this line is shown", r), "delete it and read the line again"})
	}
	return out
}

// apiRun runs a query and shows its first rows.
func (s *Server) apiRun(r *http.Request, who string) (any, error) {
	e, err := read[edit](r)
	if err != nil {
		return nil, err
	}
	q, err := sparql.Parse(e.Query)
	if err == nil {
		err = sparql.Guard(q, harvest.AllowedService)
	}
	if err != nil {
		return nil, refuse("Not run: %v", err)
	}
	start := s.Now()
	t, err := s.Graph.Query(r.Context(), sparql.ReplaceAutoLanguage(e.Query, "en"))
	took := s.Now().Sub(start)
	if err != nil {
		if r.Context().Err() != nil {
			return nil, err
		}
		return nil, refuse("%s", whatHappened(err, took))
	}
	s.runs.put(who, sparql.NormalForm(e.Query), t)
	shown := showTable(t)
	shown.MS = took.Milliseconds()
	s.label(r.Context(), shown)
	return map[string]any{"head": shown.Head, "rows": shown.Rows, "total": shown.Total, "ms": shown.MS, "ask": shown.Ask, "boolean": shown.Boolean, "endpoint": s.GraphName}, nil
}

// whatHappened words a failure of the graph with what to do.
func whatHappened(err error, took time.Duration) string {
	var ke *kg.Error
	if !errors.As(err, &ke) {
		return "The query did not run: " + err.Error()
	}
	switch ke.Kind {
	case kg.Timeout:
		return "Timeout after " + took.Round(time.Second).String() + ": the query is too much for the endpoint. Narrow it."
	case kg.TooLarge, kg.TooGreedy:
		return "Too large: " + ke.Message + ". Narrow the query; an item's result has less than 10 MB."
	case kg.RateLimited, kg.Banned:
		return "The endpoint wants a pause of " + ke.RetryAfter.Round(time.Second).String() + ". Go on with another candidate meanwhile."
	case kg.Down:
		return "The endpoint cannot be reached (" + ke.Message + "). Your text is saved; try again later."
	}
	return "The query did not run: " + ke.Message
}

func queryValues(s string) url.Values {
	v, err := url.ParseQuery(strings.TrimPrefix(s, "?"))
	if err != nil {
		return url.Values{}
	}
	return v
}
