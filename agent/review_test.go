package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// decisions is a reviewer that makes the decisions in a list and then leaves.
type decisions struct {
	list  []policy.Decision
	looks []policy.Look
}

func (d *decisions) Review(_ context.Context, l policy.Look) (policy.Decision, error) {
	d.looks = append(d.looks, l)
	if len(d.list) == 0 {
		return policy.Decision{}, policy.ErrLeft
	}
	next := d.list[0]
	d.list = d.list[1:]
	next.By = "Ada"
	return next, nil
}

var (
	accept = policy.Decision{Verdict: event.Accepted}
	edit   = func(text string) policy.Decision { return policy.Decision{Verdict: event.Edited, Text: text} }
	back   = func(to int) policy.Decision { return policy.Decision{Verdict: event.WentBack, To: to} }
)

// reviewed asks a question, with a reviewer.
func reviewed(t *testing.T, m Model, d *decisions, past []Event, rec event.Recorder) (*Outcome, error) {
	t.Helper()
	g := graphOfTwo()
	g.labels = map[string]string{"P31": "instance of", "Q5": "human"}
	opts := spinach(nil)
	opts.Reviewer = d
	e := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(g), ticking(), opts)
	if past != nil {
		return e.Continue(t.Context(), past, rec, Limits{})
	}
	return e.Ask(t.Context(), Question{Text: "Who?"}, rec, Limits{})
}

// watching is a reviewer that records what is shown for each turn, and the number of calls to the model so far.
type watching struct {
	decisions
	model *fakeModel
	saw   []string
}

func (w *watching) Carried(steps []event.Step, told string) {
	last := ""
	if len(steps) > 0 {
		last = steps[len(steps)-1].Action
	}
	w.saw = append(w.saw, fmt.Sprintf("%d calls, %d steps, %s, told %v", len(w.model.requests), len(steps), last,
		told != ""))
}

// TestReviewShowsAtOnce checks that the reviewer sees the outcome of a turn before the model is asked for the next
// turn.
func TestReviewShowsAtOnce(t *testing.T) {
	m := &fakeModel{tasks: map[string]string{"language": "English", "report": "r"},
		acts: []string{do("search_wikidata(a)"), do("search_wikidata(a)"), "no action", execute(qA), do("stop()")}}
	w := &watching{model: m, decisions: decisions{list: slices.Repeat([]policy.Decision{accept}, 5)}}
	opts := spinach(nil)
	opts.Reviewer = w
	out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(graphOfTwo()), ticking(), opts).
		Ask(t.Context(), Question{Text: "Who?"}, nil, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatalf("%v %+v", err, out)
	}
	// One of the calls detects the language. Nothing is shown after the end, because the answer follows.
	want := []string{"2 calls, 1 steps, search_wikidata, told false", "3 calls, 1 steps, search_wikidata, told true",
		"4 calls, 1 steps, search_wikidata, told true", "5 calls, 2 steps, execute_sparql, told false"}
	if diff := cmp.Diff(want, w.saw); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReview checks that the model sees an edited turn as its own, that going back starts a new branch from the turn
// that was proposed there, and that all of this is counted.
func TestReview(t *testing.T) {
	m := &fakeModel{tasks: map[string]string{"language": "English", "report": "r"},
		acts:  []string{do("search_wikidata(a)"), "no action at all", execute(qEmpty), do("stop()"), execute(qA), do("stop()")},
		usage: llm.Usage{InputTokens: 100, OutputTokens: 10, USD: 0.01}}
	d := &decisions{list: []policy.Decision{
		edit("Thought: better\nAction: search_wikidata(b)"), // 1
		accept,                                // the model is told that the turn has no action
		accept,                                // 2: qEmpty
		back(1),                               // instead of stop
		edit("Action: nonsense(x)"),           // there is no such tool: the reviewer is asked again
		edit("search_wikidata(c)"),            // 1: the model's thought, with a new action
		accept,                                // 2: qA
		{Verdict: event.WentBack, To: 7},      // there is no such step: the reviewer is asked again
		edit("Thought: done\nAction: stop()"), // 3
	}}
	rec := &memory{}
	out, err := reviewed(t, m, d, nil, rec)
	if err != nil || out.Answer == nil {
		for _, l := range d.looks {
			t.Log(l.Place, l.Turn, l.Problem, l.Unreadable != "")
		}
		t.Fatalf("%v %+v; %d decisions left", err, out, len(d.list))
	}
	var steps []string
	for _, s := range out.Steps {
		steps = append(steps, fmt.Sprintf("%d %s: %s(%s)", s.N, s.Thought, s.Action, s.Argument))
	}
	want := []string{"3 let me see: search_wikidata(c)", "4 let me see: execute_sparql(" + qA + ")", "5 done: stop()"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	for i, l := range d.looks {
		if bad := i == 5 || i == 8; (l.Problem != "") != bad {
			t.Errorf("look %d: problem %q", i+1, l.Problem)
		}
	}
	if l := d.looks[1]; l.Unreadable == "" || l.Turn != "no action at all" || l.Place != 2 {
		t.Errorf("an unreadable turn is shown as %+v", l)
	}
	if l := d.looks[5]; l.Turn != "Action: nonsense(x)" || !strings.Contains(l.Problem, "nonsense") {
		t.Errorf("the unreadable turn is lost: %+v", l)
	}
	history := ""
	for _, msg := range m.requests[len(m.requests)-2].Messages {
		history += msg.Content + "\n"
	}
	if !strings.Contains(history, "search_wikidata(c)") || strings.Contains(history, "search_wikidata(a)") ||
		strings.Contains(history, "search_wikidata(b)") {
		t.Errorf("the model sees another history:\n%s", history)
	}
	// The kept path is search, observation, query, observation, stop. The search and the stop were edited. The
	// eight calls are for the language, six turns and the report.
	c, ok := event.CountReview(rec.events)
	wantCount := event.ReviewCount{Turns: 5, Interventions: 2, Back: 1, By: []string{"Ada"},
		Usage: llm.Usage{Calls: 8, InputTokens: 800, OutputTokens: 80, USD: 0.08}}
	if diff := cmp.Diff(wantCount, c, cmpopts.EquateApprox(0, 1e-9)); diff != "" || !ok {
		t.Errorf("count (-want +got):\n%s", diff)
	}
	for _, e := range rec.of("review") {
		if e.Review.Before == nil || (e.Review.After != nil) != (e.Review.Verdict == event.Edited) {
			t.Errorf("review %d: %+v", e.ID, e.Review)
		}
	}
}

// If a reviewer gives up, the reason is kept, and the model is not asked for a report. A reviewer who leaves can come
// back.
func TestReviewEnds(t *testing.T) {
	m := &fakeModel{tasks: map[string]string{"language": "English"}, acts: []string{do("search_wikidata(a)")}}
	rec := &memory{}
	out, err := reviewed(t, m, &decisions{list: []policy.Decision{{Verdict: event.Skipped, Reason: "too vague"}}}, nil, rec)
	if err != nil || out.Reason != GivenUp || out.Detail != "too vague" || len(rec.of("step")) > 0 {
		t.Errorf("given up: %v %+v", err, out)
	}
	m.used = 0
	out, err = reviewed(t, m, &decisions{}, nil, &memory{})
	if err != nil || out.Reason != Canceled {
		t.Errorf("left: %v %+v", err, out)
	}
}

// long returns the model and the decisions for a review in which every kind of decision occurs.
func long() (m *fakeModel, d []policy.Decision) {
	m = &fakeModel{tasks: map[string]string{"language": "English", "report": "r"},
		acts: []string{"hm", do("search_wikidata(a)"), execute("SELECT nonsense"), execute(qEmpty), execute(qEmpty), do("stop()"),
			do("search_wikidata(b)"), execute(qA), execute(qA), do("stop()")}}
	d = []policy.Decision{accept, edit("Thought: b\nAction: search_wikidata(x)"), accept, accept, accept, accept, accept,
		back(1), edit("search_wikidata(y)"), edit("Thought: q\nAction: " + strings.TrimPrefix(do("execute_sparql("+qA+")"),
			"Thought: let me see\nAction: ")), accept}
	return m, d
}

// normal returns the part of a file that must be the same in any two files of the same run.
func normal(events []Event) []Event {
	out := append([]Event(nil), events...)
	for i := range out {
		out[i].Request = nil
		if s := out[i].Step; s != nil {
			same := *s
			same.MS, same.Elapsed = 0, 0
			out[i].Step = &same
		}
	}
	return out
}

// TestReviewSurvives checks that if a review's file is truncated at any byte, as after kill -9, the review continues
// from that point. Nothing in the file is requested again from the model or the reviewer, and the result is the same as
// in an uninterrupted review.
func TestReviewSurvives(t *testing.T) {
	m, list := long()
	path := filepath.Join(t.TempDir(), "whole.jsonl")
	whole := record(t, path, nil, m, &decisions{list: list})
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	calls, decided := len(m.requests), len(list)
	rng := rand.New(rand.NewPCG(14, 5))
	first := strings.IndexByte(string(content), '\n') + 1 // a shorter file cannot be continued
	for i := range corpus.Pick(10, 30) {
		cut := first + rng.IntN(len(content)-first)
		name := filepath.Join(t.TempDir(), "cut.jsonl")
		if err := os.WriteFile(name, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got := goOn(t, name, calls, decided)
		if diff := cmp.Diff(normal(whole), normal(got), cmpopts.IgnoreFields(Event{}, "Time"),
			cmpopts.IgnoreFields(Event{}, "Usage"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut %d at byte %d (-whole +continued):\n%s", i, cut, diff)
		}
	}
}

// record runs a review, recording it in a file, and returns the events in the file.
func record(t *testing.T, path string, past []Event, m *fakeModel, d *decisions) []Event {
	t.Helper()
	var f interface {
		event.Recorder
		Close() error
	}
	var err error
	if past == nil {
		f, err = event.Create(path)
	} else {
		f, past, err = event.Continue(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = reviewed(t, m, d, past, f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t *testing.T, path string) []Event {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	events, err := event.Read(in)
	if err != nil && !errors.Is(err, event.ErrTorn) {
		t.Fatal(err)
	}
	return events
}

// goOn continues a file that was cut off, with a model and a reviewer that provide what is missing.
func goOn(t *testing.T, path string, calls, decided int) []Event {
	t.Helper()
	past := read(t, path)
	m, list := long()
	asked, reviews := 0, 0
	for _, e := range past {
		switch {
		case e.Event == "model" && e.Request.Purpose == "act":
			m.used++
			asked++
		case e.Event == "model":
			asked++
		case e.Event == "review":
			reviews++
		}
	}
	d := &decisions{list: list[reviews:]}
	events := record(t, path, past, m, d)
	if len(m.requests) != calls-asked || len(d.looks) != decided-reviews {
		t.Fatalf("%d calls and %d decisions in the file; asked for %d more and %d more, of %d and %d", asked, reviews,
			len(m.requests), len(d.looks), calls, decided)
	}
	return events
}

// A reviewer who leaves and comes back many times gets the same answer, even if calls fail.
func TestReviewSittings(t *testing.T) {
	_, list := long()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	m, _ := long()
	_, whole := long()
	record(t, path, nil, m, &decisions{list: whole[:1]})
	for n := 1; n < len(list); n++ {
		past := read(t, path)
		m, _ = long()
		m.used = len(acts(past))
		if n == 3 { // in one session, the model's service is down
			m.fail = map[string]error{"act": &llm.Error{Status: 500, Message: "down"}}
		}
		record(t, path, past, m, &decisions{list: list[n : n+1]})
	}
	events := read(t, path)
	if last := events[len(events)-1]; last.Event != "end" || last.Reason != "" {
		t.Errorf("after all sessions: %+v", last)
	}
	if c, _ := event.CountReview(events); c.Turns != 5 || c.Interventions != 2 || c.Back != 1 {
		t.Errorf("count: %+v", c)
	}
	if steps := event.Steps(events); len(steps) != 3 {
		t.Errorf("%d steps", len(steps))
	}
}

func acts(events []Event) (out []Event) {
	for _, e := range events {
		if e.Event == "model" && e.Request.Purpose == "act" && e.Error == "" {
			out = append(out, e)
		}
	}
	return out
}

// A review that would differ from its file is not continued, and the file is left unchanged. A finished review cannot
// be continued.
func TestReviewChanged(t *testing.T) {
	m, list := long()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	record(t, path, nil, m, &decisions{list: list[:4]})
	f, past, err := event.Continue(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := read(t, path)
	for i, e := range past {
		if e.Event == "review" && e.Review.Verdict == event.Edited {
			past[i].Review.Text = "Action: search_wikidata(other)"
		}
	}
	out, err := reviewed(t, m, &decisions{list: list[4:]}, past, f)
	if !errors.Is(err, event.ErrChanged) || out.Answer != nil || len(read(t, path)) != len(before) {
		t.Errorf("%v, %d events were %d", err, len(read(t, path)), len(before))
	}
	for i, e := range past {
		if e.Event == "review" && e.Review.Verdict == event.Edited {
			past[i].Review.Text = "Action: fly(away)"
		}
	}
	if _, err := reviewed(t, m, &decisions{}, past, &memory{}); !errors.Is(err, event.ErrChanged) {
		t.Errorf("a decision that cannot be carried out any more: %v", err)
	}
	m, list = long()
	done := filepath.Join(t.TempDir(), "done.jsonl")
	record(t, done, nil, m, &decisions{list: list})
	if _, _, err := event.Continue(done); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a finished review: %v", err)
	}
}
