package annotate_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/dataset/datasettest"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

// No one validates alone: neither the page nor the script API lets annotators confirm their own verdicts.
func TestNobodyResolvesAlone(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(3)
	s.decide("Ada", 3, dataset.Include, nil)
	if w := s.do("Ada", http.MethodGet, "/compare/"+id, "", ""); w.Code != http.StatusSeeOther {
		t.Errorf("a comparison with oneself: %d", w.Code)
	}
	for _, name := range []string{"save", "decide"} {
		if a := s.post("Ada", name, edit{"candidate": id, "resolution": true, "query": "SELECT * { ?s ?p ?o }",
			"question": "What?", "verdict": "include"}); a.status != http.StatusForbidden || !strings.Contains(a.Error,
			"second person") {
			t.Errorf("%s of a resolution by the only annotator: %+v", name, a)
		}
	}
	s.decide("Ben", 3, dataset.Include, nil)
	if a := s.decide("Ada", 3, dataset.Include, edit{"resolution": true}); a.status != http.StatusOK {
		t.Errorf("a resolution of two verdicts: %+v", a)
	}
}

// The table of annotators always shows how many verdicts there are, but hides the verdicts themselves until the reader
// has judged the same candidate.
func TestCountsOfPeopleAreBlind(t *testing.T) {
	s := newSite(t)
	s.decide("Ada", 3, dataset.Exclude, edit{"reason": "meaning"})
	row := func(who string) string {
		_, after, _ := strings.Cut(s.get(who, "/agreement"), `<th scope="row"><bdi>Ada</bdi></th>`)
		cells, _, _ := strings.Cut(after, "</tr>")
		return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(cells, " ")), " ")
	}
	// The columns are include, modify, exclude, unseen, skipped, drafts, resolved.
	if got := row("Ben"); got != "0 0 0 1 0 0 0" {
		t.Errorf("Ben sees Ada's row as %q", got)
	}
	if got := row("Ada"); got != "0 0 1 0 0 0 0" {
		t.Errorf("Ada sees her own row as %q", got)
	}
	s.decide("Ben", 3, dataset.Include, nil)
	if got := row("Ben"); got != "0 0 1 0 0 0 0" {
		t.Errorf("after his verdict Ben sees Ada's row as %q", got)
	}
}

// The page warns about characters that reverse text direction.
func TestHiddenDirections(t *testing.T) {
	s := newSite(t)
	a := s.post("Ada", "check", edit{"candidate": datasettest.ID(1),
		"query": "SELECT ?x WHERE {\n ?x wdt:P31 wd:Q5 . # é \u202E txet\n}"})
	if len(a.Marks) != 1 || a.Marks[0] != (sparqlMark{"direction", 2, 25}) {
		t.Errorf("marks: %+v", a.Marks)
	}
}

// Every exported item has a question: the question of an included candidate cannot be emptied, and a validator's empty
// question is ignored.
func TestKeptQuestionsAreNotEmpty(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(3)
	s.decide("Ada", 3, dataset.Include, nil)
	if a := s.post("Ada", "save", edit{"candidate": id, "version": 1, "query": s.query(3),
		"question": " "}); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.Error, "stays until then") {
		t.Errorf("a kept question was emptied: %+v", a)
	}
	s.decide("Ben", 3, dataset.Include, edit{"question": ""})
	final := func() *annotate.Work {
		works, err := s.store.Works(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		c := annotate.NewCase(&dataset.Candidate{ID: id}, works)
		return c.Final(false)
	}
	s.decide("Ada", 3, dataset.Include, nil) // a second time; Ben's verdict is now the older one
	if w := final(); w == nil || w.Annotator != "Ada" {
		t.Errorf("the export of two equal verdicts is %+v", w)
	}
	s.post("Ada", "undo", edit{})
	s.post("Ada", "undo", edit{})
	if w := final(); w != nil {
		t.Errorf("a verdict without a question was exported: %+v", w)
	}
}

// query is the harvested query of the n-th candidate.
func (s *site) query(n int) string {
	s.t.Helper()
	cs, err := datasettest.Candidates()
	if err != nil {
		s.t.Fatal(err)
	}
	return cs[n-1].Cleaned
}

// If a decision removes a candidate from the queue, the page shows how many candidates are left, not "1 of 12" every
// time.
func TestPlaceInQueue(t *testing.T) {
	s := newSite(t)
	place := func(box string) string {
		_, rest, _ := strings.Cut(s.get("Ada", "/item/"+datasettest.ID(3)+"?box="+box), `<span class="place">`)
		place, _, _ := strings.Cut(rest, "<")
		return place
	}
	before := place("todo")
	s.decide("Ada", 3, dataset.Include, nil)
	if after := place("todo"); !strings.HasSuffix(before, " left") || after == before {
		t.Errorf("in the queue: %q, then %q", before, after)
	}
	if got := place("mine"); got != "1 of 1" {
		t.Errorf("among the decided: %q", got)
	}
}

// Pages and errors are in the reader's language; text written by annotators is shown unchanged.
func TestLanguages(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(3)
	for lang, want := range map[string][]string{"en": {"To do", "Write the question first (w)."},
		"de": {"Zu tun", "Schreib zuerst die Frage (w)."}, "fr": {"À faire", "Écrivez d’abord la question (w)."}} {
		w := s.do("Ada", http.MethodGet, "/", "", "", "Accept-Language", lang)
		if body := w.Body.String(); !strings.Contains(body, want[0]) || !strings.Contains(body, `lang="`+lang+`"`) {
			t.Errorf("%s: the queue lacks %q", lang, want[0])
		}
		for _, path := range []string{"/", "/item/" + id, "/agreement", "/work", "/history/" + id} {
			body := s.do("Ada", http.MethodGet, path, "", "", "Accept-Language", lang).Body.String()
			if _, key, missing := strings.Cut(body, ">annotate."); missing {
				t.Errorf("%s %s: there is no message annotate.%.40s", lang, path, key)
			}
		}
		w = s.do("Ada", http.MethodPost, "/api/decide", "application/json", `{"candidate":"`+id+`","verdict":"include","query":`+
			strconv.Quote(s.query(3))+`}`, "Accept-Language", lang)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want[1]) {
			t.Errorf("%s: a verdict without a question: %d %s", lang, w.Code, w.Body)
		}
	}
}
