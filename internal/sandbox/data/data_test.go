package data_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func graph(t *testing.T) *embedded.Graph {
	t.Helper()
	files, err := filepath.Glob("*.ttl")
	if err != nil || len(files) == 0 {
		t.Fatal("no Turtle files", err)
	}
	g, err := embedded.Load(embedded.Options{Name: "slice"}, files...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// script returns the sections of script.txt for each request, as a map from section header to text. It does not use
// package llm, whose reader is checked by TestScriptIsReadable.
func script(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	var current map[string]string
	for _, sec := range regexp.MustCompile(`(?m)^== `).Split(read(t, "script.txt"), -1)[1:] {
		head, body, _ := strings.Cut(sec, "\n")
		var lines []string
		for _, l := range strings.Split(body, "\n") {
			if !strings.HasPrefix(l, "# ") {
				lines = append(lines, l)
			}
		}
		body = strings.TrimSpace(strings.Join(lines, "\n"))
		if head == "request" {
			current = map[string]string{}
			out[body] = current
			continue
		}
		current[head] = body
	}
	return out
}

func lastQuery(sections map[string]string) string {
	last, query := "", ""
	for head, body := range sections {
		_, q, ok := strings.Cut(body, "Action: execute_sparql(")
		if ok && strings.HasPrefix(head, "act ") && head > last { // fewer than ten steps
			last, query = head, strings.TrimSpace(q[:strings.LastIndex(q, ")")])
		}
	}
	return query
}

// followup is one block of followups.txt.
type followup struct{ heading, author, text string }

func followups(t *testing.T) []followup {
	t.Helper()
	var out []followup
	for _, block := range strings.Split(read(t, "followups.txt"), "\n== ")[1:] {
		f := strings.SplitN(block, "\n", 3)
		author, ok := strings.CutPrefix(f[1], "author: ")
		if len(f) != 3 || !ok {
			t.Fatalf("not a follow-up: %q", block)
		}
		out = append(out, followup{f[0], author, strings.TrimSpace(f[2])})
	}
	return out
}

type expectation struct {
	Snippet    string
	Language   string
	Vars       []string
	Ordered    bool
	Followup   bool
	Answerable *bool
	Rows       [][]string
}

func expectations(t *testing.T) []expectation {
	t.Helper()
	var out []expectation
	if err := json.Unmarshal([]byte(read(t, "expected.json")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScriptIsReadable(t *testing.T) {
	s, err := llm.ParseScript(strings.NewReader(read(t, "script.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(s.Requests()), len(script(t)); got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
}

func TestForumHasTheKindsOfThread(t *testing.T) {
	p := forum.Parse("Wikidata:Request a query", read(t, "forum.wikitext"), forum.Options{})
	if len(p.Threads) != 15 {
		t.Fatalf("%d threads, want 15", len(p.Threads))
	}
	headings := map[string]*forum.Thread{}
	resolved := 0
	for i := range p.Threads {
		th := &p.Threads[i]
		headings[th.Heading] = th
		if th.Resolved {
			resolved++
		}
		if len(th.Comments) == 0 || th.Comments[0].Author == nil || th.Comments[0].Time == nil ||
			th.Comments[0].Time.Year() != 2026 {
			t.Errorf("%q does not begin with a signed comment", th.Heading)
		}
	}
	if resolved != 1 {
		t.Errorf("%d threads are resolved, want 1", resolved)
	}
	for _, f := range followups(t) {
		th := headings[f.heading]
		if th == nil {
			t.Errorf("a follow-up names the thread %q, which is not there", f.heading)
		} else if *th.Comments[0].Author != f.author {
			t.Errorf("the follow-up to %q is by %s, the request by %s", f.heading, f.author, *th.Comments[0].Author)
		}
	}
}

// Each request in the script is a post. The question that triage derives from it still contains the snippet that
// identifies the script.
func TestEveryScriptFindsItsPost(t *testing.T) {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var posts []string
	for _, th := range forum.Parse("p", read(t, "forum.wikitext"), forum.Options{}).Threads {
		posts = append(posts, fold(th.Comments[0].Text))
	}
	for _, f := range followups(t) {
		posts = append(posts, fold(f.text))
	}
	for snippet, sections := range script(t) {
		n := 0
		for _, p := range posts {
			if strings.Contains(p, snippet) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d posts hold %q, want 1", n, snippet)
		}
		var triage struct {
			Request                 bool
			Language, Question, Why string
		}
		if err := json.Unmarshal([]byte(sections["triage"]), &triage); err != nil {
			t.Errorf("%q: triage: %v", snippet, err)
		}
		if triage.Request && !strings.Contains(fold(triage.Question), snippet) {
			t.Errorf("the question %q does not contain %q", triage.Question, snippet)
		}
		for other := range script(t) {
			if other != snippet && len(other) >= len(snippet) && strings.Contains(triage.Question, other) {
				t.Errorf("the question of %q would be answered by the script of %q", snippet, other)
			}
		}
	}
}

func TestEveryRequestHasAnExpectation(t *testing.T) {
	want := map[string]bool{}
	for snippet, sections := range script(t) {
		if strings.Contains(sections["triage"], `"request": true`) {
			want[snippet] = true
		}
	}
	for _, e := range expectations(t) {
		if !want[e.Snippet] {
			t.Errorf("no script for %q", e.Snippet)
		}
		delete(want, e.Snippet)
	}
	for s := range want {
		t.Errorf("no expectation for %q", s)
	}
}

func TestFinalQueriesHaveAPostingForm(t *testing.T) {
	for snippet, sections := range script(t) {
		q := lastQuery(sections)
		if q == "" {
			continue
		}
		if _, err := sparql.PostingForm(q, func(id string) string { return "label of " + id }); err != nil {
			t.Errorf("%q: %v\n%s", snippet, err, q)
		}
	}
}

func TestSliceIsLargeEnough(t *testing.T) {
	if n := graph(t).Len(); n < 15000 {
		t.Errorf("%d triples", n)
	}
}
