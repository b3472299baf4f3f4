// Package challenge answers questions over the API of the TEXT2SPARQL challenge (https://text2sparql.aksw.org/, section
// API): a GET request with dataset and question parameters returns a JSON object with dataset, question and query.
//
// The challenge's client aborts the whole run on any response that is not JSON, and stores a response before examining
// it. Therefore, everything except an unknown dataset gets a 200 response with a query, which is empty if there is no
// answer. The log and the error field, which the client does not read, explain why it is empty.
package challenge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/httpjson"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// Solver answers a question. It is implemented by [*github.com/spinachbot/spinachbot/internal/ask.Service].
type Solver interface {
	Solve(ctx context.Context, key string, q agent.Question) (*agent.Outcome, error)
}

// Options are the parts of a [Handler].
type Options struct {
	Log      *slog.Logger
	Datasets map[string]Solver // by the dataset's IRI
	Limit    time.Duration     // time limit for one question; the challenge allows 3 minutes
	Parallel int               // maximum number of concurrent questions; others wait for a slot within Limit
}

// DefaultLimit is the time limit for a question if [Options] does not set one: the time that the 2026 challenge allows,
// minus a margin for the network.
const DefaultLimit = 170 * time.Second

// maxQuestion is the maximum length of a question, in characters.
const maxQuestion = 4000

// Handler is the API. It responds the same way on every path.
type Handler struct {
	Options
	slots chan struct{}
}

// New returns the API.
func New(o Options) *Handler {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	return &Handler{Options: o, slots: make(chan struct{}, max(o.Parallel, 1))}
}

// Answer is the API's response.
type Answer struct {
	Dataset  string `json:"dataset"`
	Question string `json:"question"`
	Query    string `json:"query"`
	Error    string `json:"error,omitempty"`
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		httpjson.Write(w, http.StatusMethodNotAllowed, Answer{Error: "use GET with dataset and question"})
		return
	}
	a := Answer{Dataset: r.URL.Query().Get("dataset"), Question: r.URL.Query().Get("question")}
	solver := h.solver(a.Dataset)
	if solver == nil {
		a.Error = "unknown dataset"
		httpjson.Write(w, http.StatusNotFound, a)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.Limit)
	defer cancel()
	var err error
	if a.Query, err = h.query(ctx, solver, a.Question); err != nil {
		if r.Context().Err() != nil {
			return // the client is gone
		}
		h.Log.WarnContext(ctx, "a question of the challenge has no query", "dataset", a.Dataset,
			"question", a.Question, "error", err)
		a.Error = err.Error()
	}
	httpjson.Write(w, http.StatusOK, a)
}

// solver returns the solver for a dataset, whose IRI may be given with or without a trailing slash.
func (h *Handler) solver(dataset string) Solver {
	if s := h.Datasets[dataset]; s != nil {
		return s
	}
	if s := h.Datasets[dataset+"/"]; s != nil {
		return s
	}
	return h.Datasets[strings.TrimSuffix(dataset, "/")]
}

// Reasons why there is no query.
var (
	errNoQuestion = errors.New("the question is empty")
	errLong       = fmt.Errorf("the question has more than %d characters", maxQuestion)
	errBusy       = errors.New("too many questions at once")
	errTime       = errors.New("the time limit for the question was reached")
	errFailed     = errors.New("the question could not be answered; the server's log says why")
)

// query returns the query for the given question, in scoring form. The error is shown to strangers, so it does not
// reveal internals.
func (h *Handler) query(ctx context.Context, s Solver, question string) (string, error) {
	switch {
	case strings.TrimSpace(question) == "":
		return "", errNoQuestion
	case utf8.RuneCountInString(question) > maxQuestion:
		return "", errLong
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return "", errBusy
	}
	out, err := s.Solve(ctx, "challenge", agent.Question{Text: question})
	switch {
	case ctx.Err() != nil:
		return "", errTime
	case err != nil:
		h.Log.ErrorContext(ctx, "a question of the challenge failed", "question", question, "error", err)
		return "", errFailed
	case out.Answer == nil:
		return "", fmt.Errorf("no query was found (%s)", out.Reason)
	}
	form, err := rewrite.Scoring(out.Answer.SPARQL, out.Answer.Columns, out.Language)
	if err != nil { // returning the query that was run is better than nothing
		h.Log.WarnContext(ctx, "a query has no scoring form", "question", question, "error", err)
		return out.Answer.Ran, nil
	}
	return form.Text, nil
}
