package challenge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

// solver is a solver whose answer depends on the question's text.
type solver struct{}

func (solver) Solve(ctx context.Context, _ string, q agent.Question) (*agent.Outcome, error) {
	switch q.Text {
	case "slow":
		<-ctx.Done()
		return &agent.Outcome{}, ctx.Err()
	case "fault":
		return nil, errors.New("secret address http://user:pw@inside/")
	case "none":
		return &agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound, Detail: "x"}}, nil
	}
	return &agent.Outcome{Language: "en", Answer: &agent.Answer{SPARQL: "SELECT ?c ?cLabel WHERE { ?c wdt:P31 wd:Q6256 . " +
		`SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE]" } }`}}, nil
}

const dataset = "https://text2sparql.aksw.org/2026/corporate/"

func get(t *testing.T, h *Handler, method, dataset, question string) (int, Answer) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "/?"+url.Values{"dataset": {dataset}, "question": {question}}.Encode(),
		nil))
	var a Answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s %s: not JSON: %v", dataset, question, err)
	}
	return w.Code, a
}

// TestAnswers checks that every response is JSON with the three fields. Only an unknown dataset results in a 404
// status.
func TestAnswers(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler), Datasets: map[string]Solver{dataset: solver{}}})
	for _, tt := range []struct {
		name, method, dataset, question string
		status                          int
		query                           bool
	}{
		{"a question", "GET", dataset, "Which countries are there?", 200, true},
		{"without the slash", "GET", strings.TrimSuffix(dataset, "/"), "Which?", 200, true},
		{"unknown dataset", "GET", "https://example.org/", "Which?", 404, false},
		{"no dataset", "GET", "", "Which?", 404, false},
		{"no question", "GET", dataset, " ", 200, false},
		{"a long question", "GET", dataset, strings.Repeat("ä", maxQuestion+1), 200, false},
		{"nothing found", "GET", dataset, "none", 200, false},
		{"a fault", "GET", dataset, "fault", 200, false},
		{"markup stays as it is", "GET", dataset, `<b>"Which?"</b>`, 200, true},
		{"POST", "POST", dataset, "Which?", 405, false},
	} {
		status, a := get(t, h, tt.method, tt.dataset, tt.question)
		if status != tt.status || (a.Query != "") != tt.query || (a.Error != "") == tt.query {
			t.Errorf("%s: %d %+v", tt.name, status, a)
		}
		if tt.status != 405 && (a.Question != tt.question || a.Dataset != tt.dataset) {
			t.Errorf("%s: the question came back as %+v", tt.name, a)
		}
		if tt.query && (!strings.Contains(a.Query, "PREFIX wdt:") || strings.Contains(a.Query, "Label")) {
			t.Errorf("%s: not the scoring form: %s", tt.name, a.Query)
		}
		if strings.Contains(a.Error, "secret") {
			t.Errorf("%s: strangers see the error %q", tt.name, a.Error)
		}
	}
}

// TestTime checks that a slow question and the questions that wait for its slot end at the time limit with an empty
// query.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Log: slog.New(slog.DiscardHandler), Datasets: map[string]Solver{dataset: solver{}},
			Limit: 10 * time.Second, Parallel: 2})
		var wg sync.WaitGroup
		began := time.Now()
		for i, want := range []error{errTime, errTime, errBusy} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				status, a := get(t, h, "GET", dataset, "slow")
				// The third question may get the first question's slot in the last millisecond.
				if status != 200 || a.Query != "" || a.Error != want.Error() && a.Error != errTime.Error() {
					t.Errorf("question %d: %d %+v", i, status, a)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("the answers took %s", took)
		}
		if status, a := get(t, h, "GET", dataset, "Which?"); status != 200 || a.Query == "" {
			t.Errorf("afterwards: %d %+v", status, a)
		}
	})
}
