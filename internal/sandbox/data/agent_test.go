package data_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// patient is a clock that stands still and whose Sleep returns immediately.
type patient struct{}

func (patient) Now() time.Time                                   { return time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC) }
func (patient) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// forgetful is a recorder that records nothing.
type forgetful struct{}

func (forgetful) Record(context.Context, agent.Event) error { return nil }

// engine returns an agent that answers questions about the slice with the scripted model, which it calls over HTTP like
// a real one.
func engine(t *testing.T, opts agent.Options) *agent.Engine {
	t.Helper()
	s, err := llm.ParseScript(strings.NewReader(read(t, "script.txt")))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	lg := slog.New(slog.NewTextHandler(io.Discard, nil))
	model, err := llm.NewClient(lg, llm.Config{BaseURL: srv.URL + "/v1", Model: "scripted"}, http.DefaultTransport,
		patient{}, func() float64 { return 0.5 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := graph(t)
	return agent.New(lg, model, tool.Wikibase(g), patient{}.Now, opts)
}

// This test runs the GRASP preset with native calls on the embedded graph, with and without a judge.
func TestAgentCallsTools(t *testing.T) {
	for _, name := range []string{"grasp", "grasp-f"} {
		p, err := preset.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := engine(t, agent.Options{Preset: p}).Ask(t.Context(), agent.Question{
			Text: "How many landlocked countries are there in Africa?", Language: "en"}, forgetful{}, agent.Limits{})
		if err != nil || out.Answer == nil {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		if got := out.Answer.Table.Rows[0][0].Value; got != "16" || len(out.Steps) != 5 || out.Repairs != nil {
			t.Errorf("%s: the answer is %s after %d steps, repairs %v", name, got, len(out.Steps), out.Repairs)
		}
		for i, want := range []string{"wd:Q123480", "wd:Q15", "wdt:P30", "16", ""} {
			if s := out.Steps[i]; s.Failure != "" || !strings.Contains(s.Observation, want) {
				t.Errorf("%s, %s(%s): %s", name, s.Action, s.Argument, s.Observation)
			}
		}
		if judged := out.Feedback != nil && out.Feedback.Status == "done"; judged != (name == "grasp-f") {
			t.Errorf("%s: feedback %+v", name, out.Feedback)
		}
		if out.Report != "There are 16 landlocked countries in Africa." {
			t.Errorf("%s: %q", name, out.Report)
		}
	}
}

// The agent answers every seeded request and follow-up as in the demo, and each result matches the answer worked out by
// hand.
func TestAgentAnswersTheSeededRequests(t *testing.T) {
	posts := map[string]agent.Post{} // by snippet
	var all []agent.Post
	for _, th := range forum.Parse("p", read(t, "forum.wikitext"), forum.Options{}).Threads {
		c := th.Comments[0]
		p := agent.Post{Author: *c.Author, Text: c.Text}
		for _, q := range c.Queries {
			p.Queries = append(p.Queries, q.SPARQL)
		}
		all = append(all, p)
	}
	for _, f := range followups(t) {
		all = append(all, agent.Post{Author: f.author, Text: f.text})
	}
	for snippet := range script(t) {
		for _, p := range all {
			if strings.Contains(strings.Join(strings.Fields(p.Text), " "), snippet) {
				posts[snippet] = p
			}
		}
	}
	e, ctx := engine(t, agent.Options{}), context.Background()
	for _, want := range expectations(t) {
		t.Run(want.Snippet, func(t *testing.T) {
			triage, err := e.Triage(ctx, "", []agent.Post{posts[want.Snippet]}, nil, agent.Limits{})
			if err != nil || !triage.Request || triage.Language != want.Language {
				t.Fatalf("triage returns %+v, %v", triage, err)
			}
			out, err := e.Ask(ctx, agent.Question{Text: triage.Question}, forgetful{}, agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if out.Language != want.Language || out.Report == "" {
				t.Errorf("language %q, report %q", out.Language, out.Report)
			}
			if out.Answer == nil {
				if want.Answerable == nil || *want.Answerable || out.Reason != agent.NotFound {
					t.Errorf("no answer: %s, %s", out.Reason, out.Detail)
				}
				return
			}
			got := cells(t, out.Answer.Table, want.Vars)
			if !want.Ordered {
				slices.SortFunc(got, slices.Compare)
				slices.SortFunc(want.Rows, slices.Compare)
			}
			if !slices.EqualFunc(got, want.Rows, slices.Equal) {
				t.Errorf("got  %v\nwant %v", got, want.Rows)
			}
		})
	}
	thanks := all[slices.IndexFunc(all, func(p agent.Post) bool {
		return strings.HasPrefix(p.Text,
			"Just a word of thanks")
	})]
	if triage, err := e.Triage(ctx, "", []agent.Post{thanks}, nil, agent.Limits{}); err != nil || triage.Request {
		t.Errorf("thanks are taken for a request: %+v, %v", triage, err)
	}
}
