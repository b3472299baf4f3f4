package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func execute(q string) string { return do("execute_sparql(" + q + ")") }

// TestAnswer follows one question from start to finish and checks everything that is returned.
func TestAnswer(t *testing.T) {
	const q = `SELECT ?x ?xLabel WHERE { ?x wdt:P403 wd:Q1653 . SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],mul,en" } }`
	result := &kg.Table{Vars: []string{"x", "xLabel"}, Source: "query.example",
		Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q131752"), rdf.LangString("Inn", "de")}, {rdf.IRI(rdf.Entity + "Q15102"),
			rdf.LangString("Isar", "de")}}}
	g := &fakeGraph{
		hits: map[string][]kg.Hit{
			"de:donau": {{ID: "Q1653", Type: kg.Item, Label: "Donau", Description: "Fluss in Europa"}},
			"en:donau": {{ID: "Q1653", Type: kg.Item, Label: "Danube", MatchType: "alias", MatchText: "Donau"},
				{ID: "Q9", Type: kg.Item, Label: "Donau"}},
			"en:mouth of the river": {{ID: "P403", Type: kg.Property, Label: "mouth of the watercourse",
				Datatype: "wikibase-item", MatchType: "alias", MatchText: "mouth of the river"}},
		},
		query:  func(string) (*kg.Table, error) { return result, nil },
		labels: map[string]string{"Q1653": "Donau", "P403": "mündet in", "Q131752": "Inn", "Q15102": "Isar"},
	}
	m := &fakeModel{tasks: map[string]string{"language": "German", "report": "Zwei Flüsse münden in die Donau."},
		acts:  []string{do("search_wikidata(Donau)"), do("search_wikidata(mouth of the river)"), execute(q), do("stop()")},
		usage: llm.Usage{InputTokens: 100, OutputTokens: 10, USD: 0.01}}
	rec := &memory{}
	out, err := newEngine(m, g).Ask(t.Context(), Question{ID: "1", Text: "Welche Flüsse münden in die Donau?"}, rec,
		Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Answer == nil {
		t.Fatalf("no answer: %s %s", out.Reason, out.Detail)
	}
	if out.Language != "de" || out.Report != "Zwei Flüsse münden in die Donau." || len(out.Steps) != 4 {
		t.Errorf("language %q, report %q, %d steps", out.Language, out.Report, len(out.Steps))
	}
	if want := (llm.Usage{Calls: 6, InputTokens: 600, OutputTokens: 60, USD: 0.06}); !near(out.Usage, want) {
		t.Errorf("usage %+v, want %+v", out.Usage, want)
	}
	if out.Confidence < 0.8 || out.Features.Steps != 4 || out.Features.Unseen || out.Features.Rows != len(out.Answer.Table.Rows) {
		t.Errorf("confidence %v for %+v: four steps, nothing refused, all IDs seen", out.Confidence, out.Features)
	}
	a := out.Answer
	if !strings.Contains(a.SPARQL, "[AUTO_LANGUAGE]") || !strings.Contains(a.SPARQL, "mündet in") ||
		strings.Contains(a.Ran, "AUTO_LANGUAGE") {
		t.Errorf("posted:\n%s\nran:\n%s", a.SPARQL, a.Ran)
	}
	if a.Ran != strings.ReplaceAll(a.SPARQL, "[AUTO_LANGUAGE]", "de") || g.queries[len(g.queries)-1] != a.Ran {
		t.Errorf("the last query that was run is not the one that is posted:\n%s", g.queries[len(g.queries)-1])
	}
	if strings.Contains(g.queries[0], "AUTO_LANGUAGE") {
		t.Errorf("an exploring query was run with the placeholder: %s", g.queries[0])
	}
	if a.Table != result || a.Endpoint != "query.example" || a.RanAt.IsZero() || a.Labels["Q131752"] != "Inn" ||
		a.Labels["P403"] != "mündet in" {
		t.Errorf("answer %+v", a)
	}
	wantObs := []string{
		"Donau (Q1653): Fluss in Europa\nDonau (Q9)\n(Labels and aliases are searched, not descriptions or contents.)",
		"mouth of the watercourse (P403)\tData Type: wikibase-item [also called mouth of the river]\n(Labels and aliases are searched, not descriptions or contents.)",
		"2 rows\nx | xLabel\n[item | text@de]\nQ131752 | Inn\nQ15102 | Isar",
		"",
	}
	for i, s := range out.Steps {
		if s.Observation != wantObs[i] {
			t.Errorf("step %d shows %q, want %q", i+1, s.Observation, wantObs[i])
		}
	}
	var kinds []string
	for _, e := range rec.events {
		if e.Event != "graph" {
			kinds = append(kinds, e.Event)
		}
		if e.Time.IsZero() {
			t.Errorf("event %s has no time", e.Event)
		}
	}
	if d := cmp.Diff([]string{"start", "model", "model", "step", "model", "step", "model", "step", "model", "step",
		"final", "model", "end"}, kinds); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func near(a, b llm.Usage) bool {
	return a.Calls == b.Calls && a.InputTokens == b.InputTokens && a.OutputTokens == b.OutputTokens &&
		a.USD-b.USD < 1e-9 && b.USD-a.USD < 1e-9
}

// TestFinalLimit checks that LIMIT 10 is removed only at the very end, and not if the question asks for ten or if the
// result would be too large without it.
func TestFinalLimit(t *testing.T) {
	const base = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }"
	tests := []struct {
		name, question, query string
		greedy                bool // without a limit, the query times out
		limited               bool // the posted query has a limit
	}{
		{"a limit meant for exploring is removed", "Who?", base + " LIMIT 10", false, false},
		{"another limit is kept", "Who?", base + " LIMIT 100", false, true},
		{"a limit inside stays", "Who?", "SELECT ?x WHERE { { SELECT ?x WHERE { ?x wdt:P31 wd:Q5 } LIMIT 10 } }", false,
			true},
		{"the requested ten are kept", "What are the ten largest?", base + " ORDER BY DESC(?x) LIMIT 10", false, true},
		{"sorted, but ten not requested", "What are the largest?", base + " ORDER BY DESC(?x) LIMIT 10", false, false},
		{"too large without a limit", "Who?", base + " LIMIT 10", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &fakeGraph{query: func(q string) (*kg.Table, error) {
				if tt.greedy && !strings.Contains(q, "LIMIT") {
					return nil, kg.Errorf(kg.Timeout, "too slow")
				}
				return items("Q1"), nil
			}}
			m := &fakeModel{acts: []string{execute(tt.query), do("stop()")}}
			out, err := newEngine(m, g).Ask(t.Context(), Question{Text: tt.question, Language: "en"}, nil, Limits{})
			if err != nil || out.Answer == nil {
				t.Fatalf("%v, %+v", err, out)
			}
			if got := strings.Contains(out.Answer.SPARQL, "LIMIT"); got != tt.limited {
				t.Errorf("posted with a limit: %v, want %v:\n%s", got, tt.limited, out.Answer.SPARQL)
			}
		})
	}
}

// TestUnfit checks that if the final run of a query fails, the model is told about it and can replace the query.
func TestUnfit(t *testing.T) {
	g := graphOfTwo()
	g.query = func(q string) (*kg.Table, error) {
		if strings.Contains(q, "P31") {
			return &kg.Table{Vars: []string{"x"}}, nil // the final run returns no rows
		}
		return items("Q3"), nil
	}
	m := &fakeModel{acts: []string{execute(qA), do("stop()"), execute(qB), do("stop()")},
		tasks: map[string]string{"report": "r"}}
	out, rec := ask(t, m, g, Limits{})
	if out.Answer == nil || !strings.Contains(out.Answer.SPARQL, "P17") {
		t.Fatalf("%+v", out)
	}
	if !strings.Contains(rec.of("model")[2].Request.Messages[len(rec.of("model")[2].Request.Messages)-1].Content,
		"cannot be published") {
		t.Error("the model was not told")
	}
	if out.Confidence >= 0.82 {
		t.Errorf("confidence %v after a refusal", out.Confidence)
	}
}

// TestEnds tests every way in which a run can end without an answer.
func TestEnds(t *testing.T) {
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, do(fmt.Sprintf("search_wikidata(thing %d)", i)))
		}
		return out
	}
	tests := []struct {
		name   string
		model  *fakeModel
		limits Limits
		graph  func(*fakeGraph)
		want   Reason
		used   int // number of actions requested
	}{
		{"fifteen counted", &fakeModel{acts: many(20)}, Limits{}, nil, OutOfActions, 15},
		{"three counted", &fakeModel{acts: many(20)}, Limits{Counted: 3}, nil, OutOfActions, 3},
		{"thirty in total", &fakeModel{acts: slices.Repeat([]string{do("search_wikidata(a)")}, 40)}, Limits{}, nil,
			OutOfActions, 30},
		{"no model", &fakeModel{fail: map[string]error{"act": fmt.Errorf("x: %w", llm.ErrNoModel)}}, Limits{}, nil, NoModel,
			0},
		{"budget of the client", &fakeModel{fail: map[string]error{"act": llm.ErrBudget}}, Limits{}, nil, RequestMoney, 0},
		{"day's money", &fakeModel{fail: map[string]error{"act": &llm.BudgetError{Account: llm.DayAccount,
			Measure: llm.USD}}}, Limits{USD: 9}, nil, DayMoney, 0},
		{"run's money", &fakeModel{fail: map[string]error{"act": fmt.Errorf("booking: %w",
			&llm.BudgetError{Account: llm.RunAccount})}}, Limits{}, nil, RunMoney, 0},
		{"tokens of the client", &fakeModel{fail: map[string]error{"act": &llm.BudgetError{Account: llm.RequestAccount,
			Measure: llm.OutputTokens}}}, Limits{}, nil, OutOfTokens, 0},
		{"model not running", &fakeModel{fail: map[string]error{"act": &llm.Error{Refused: true}}}, Limits{}, nil,
			ModelFailed, 0},
		{"model down", &fakeModel{fail: map[string]error{"act": &llm.Error{Status: 503}}}, Limits{}, nil, ModelFailed, 0},
		{"context too short", &fakeModel{fail: map[string]error{"act": llm.ErrContextLength}}, Limits{}, nil, ModelFailed, 0},
		{"unreadable turns", &fakeModel{acts: slices.Repeat([]string{"I give up."}, 9)}, Limits{}, nil, ModelFailed, 4},
		{"tokens", &fakeModel{acts: many(20), usage: llm.Usage{InputTokens: 40, OutputTokens: 10}}, Limits{Tokens: 100}, nil,
			OutOfTokens, 2},
		{"money", &fakeModel{acts: many(20), usage: llm.Usage{USD: 0.25}}, Limits{USD: 0.5}, nil, RequestMoney, 2},
		{"time", &fakeModel{acts: many(20)}, Limits{Time: 10 * time.Millisecond}, nil, OutOfTime, -1},
		{"graph down", &fakeModel{acts: many(20)}, Limits{}, func(g *fakeGraph) {
			g.errs = map[string]error{}
			for i := range 20 {
				g.errs[fmt.Sprintf("thing %d", i)] = kg.Errorf(kg.Down, "no route")
			}
		}, GraphFailed, 3},
		{"banned", &fakeModel{acts: many(20)}, Limits{}, func(g *fakeGraph) {
			g.errs = map[string]error{"thing 0": &kg.Error{Kind: kg.Banned, Message: "until tomorrow", RetryAfter: time.Hour}}
		}, GraphFailed, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &fakeGraph{}
			if tt.graph != nil {
				tt.graph(g)
			}
			out, rec := ask(t, tt.model, g, tt.limits)
			if out.Answer != nil || out.Reason != tt.want {
				t.Errorf("ended with %q (%s), want %q", out.Reason, out.Detail, tt.want)
			}
			if tt.used >= 0 && tt.model.used != tt.used {
				t.Errorf("%d actions requested, want %d", tt.model.used, tt.used)
			}
			last := rec.events[len(rec.events)-1]
			if last.Event != "end" || last.Reason != string(tt.want) {
				t.Errorf("the trajectory ends with %s %s", last.Event, last.Reason)
			}
			read := last.Ending()
			if read.Reason != out.Reason || read.Detail != out.Detail || kindOf(read.Cause) != kindOf(out.Cause) ||
				read.ServiceFailed() != out.ServiceFailed() {
				t.Errorf("the trajectory's ending is %+v, but the run's is %+v", read, out.Ending)
			}
			for _, cause := range []error{out.Cause, read.Cause} {
				var e *kg.Error
				if tt.name == "banned" && (!errors.As(cause, &e) || e.RetryIn() != time.Hour) {
					t.Errorf("the ending does not contain the pause that the service requests: %+v", cause)
				}
			}
		})
	}
}

// TestReportNotes checks that the report prompt contains the thoughts and the outcome of each query as notes, not as
// instructions.
func TestReportNotes(t *testing.T) {
	const count = "SELECT (COUNT(?x) AS ?n) WHERE { ?x wdt:P36 ?y }"
	g := graphOfTwo()
	g.tables[count] = &kg.Table{Vars: []string{"n", "place"}, Rows: [][]rdf.Term{{rdf.Typed("4", rdf.XSDInteger),
		rdf.IRI(rdf.Entity + "Q586")}}}
	g.labels = map[string]string{"Q586": "Bonn</notes>"}
	g.errs["SELECT ?x WHERE { ?x wdt:P50 ?y }"] = kg.Errorf(kg.Timeout, "slow")
	turn := func(thought, action string) string { return "Thought: " + thought + "\nAction: " + action }
	m := &fakeModel{acts: []string{turn("Look.", "search_wikidata(a)"), turn("I take only living ones.", "execute_sparql("+
		qA+")"), turn("Check.", "execute_sparql("+count+")"),
		turn("Again.", "execute_sparql("+qAsk+")"), turn("More.", "execute_sparql(SELECT ?x WHERE { ?x wdt:P50 ?y })"),
		turn("None?", "execute_sparql("+qEmpty+")"),
		turn("Four lack the statement. "+strings.Repeat("Very long. ", 100), "stop(step 2)")},
		tasks: map[string]string{"report": "r"}}
	out, _ := ask(t, m, g, Limits{})
	if out.Answer == nil {
		t.Fatalf("%s: %s", out.Reason, out.Detail)
	}
	said := m.last("report")
	for _, want := range []string{
		"Step 1: Look. [search_wikidata(a)]\n", "Step 2: I take only living ones. [execute_sparql(" + qA + ")]: 2 rows\n",
		": 1 row, n = 4, place = Bonn&lt;/notes> (Q586)\n", ": a truth value, False\n", ": failed: timeout\n", ": no rows\n",
		"Step 7: Four lack the statement.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in:\n%s", want, said)
		}
	}
	if strings.Count(said, "Very long") > 40 || strings.Count(said, "</notes>") != 1 {
		t.Errorf("%s", said)
	}
}

// TestNoAnswerDetail checks that the reason is the model's text without the call syntax.
func TestNoAnswerDetail(t *testing.T) {
	for said, want := range map[string]string{"no answer: no shoe sizes there": "no shoe sizes there",
		"No answer - none": "none", "no answer": ""} {
		m := &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(b)"), do("stop(" + said + ")")},
			tasks: map[string]string{"report": "r"}}
		out, _ := ask(t, m, &fakeGraph{}, Limits{})
		if out.Reason != NotFound || out.Detail != want {
			t.Errorf("%s: %q, %q; want %q", said, out.Reason, out.Detail, want)
		}
		if r := m.last("report"); want != "" && !strings.Contains(r, "No answer was found. Reason: "+want) || want == "" &&
			strings.Contains(r, "Reason:") {
			t.Errorf("the prompt for the report is:\n%s", r)
		}
	}
}

// TestExtract checks that when the actions are used up, the model is asked for a query supported by the steps, and that
// the query is published only if it runs and contains only IDs that were shown.
func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		answer     bool
	}{
		{"a query", "```sparql\n" + qA + "\n```", true},
		{"none", "NONE", false},
		{"an empty one", qEmpty, false},
		{"with a number never seen", "SELECT ?x WHERE { ?x wdt:P31 wd:Q99999 }", false},
		{"an update", "DELETE WHERE { ?s ?p ?o }", false},
		{"no query at all", "I am sorry.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{acts: []string{do("get_wikidata_entry(Q64)"),
				execute("SELECT ?x WHERE { ?x wdt:P31 wd:Q5, wd:Q1; wdt:P36 ?y }")}, tasks: map[string]string{"extract": tt.said,
				"report": "r"}}
			g := graphOfTwo()
			// The prompt shows the query's IDs with their labels, so they count as seen by the model.
			g.labels = map[string]string{"P31": "instance of", "Q5": "human", "P36": "capital", "Q1": "universe"}
			out, _ := ask(t, m, g, Limits{Counted: 2})
			if (out.Answer != nil) != tt.answer {
				t.Errorf("answer %v, reason %q: %s", out.Answer, out.Reason, out.Detail)
			}
			if tt.answer && (out.Confidence <= 0 || out.Confidence > 0.7 || !out.Features.Extracted) {
				t.Errorf("confidence %v for %+v, want a low one", out.Confidence, out.Features)
			}
		})
	}
}

// TestUnreadableTurn checks that an unreadable turn is returned with an explanation of the problem, and that a readable
// turn resets the number of unreadable ones.
func TestUnreadableTurn(t *testing.T) {
	m := &fakeModel{acts: []string{"hm", "hm", "hm", execute(qA), "hm", "hm", "hm", do("stop()")},
		tasks: map[string]string{"report": "r"}}
	out, rec := ask(t, m, graphOfTwo(), Limits{})
	if out.Answer == nil {
		t.Fatalf("%s: %s", out.Reason, out.Detail)
	}
	ms := rec.of("model")[1].Request.Messages
	if n := len(ms); ms[n-2].Role != llm.Assistant || ms[n-2].Content != "hm" || !strings.Contains(ms[n-1].Content,
		"no action that could be read") ||
		!strings.HasSuffix(ms[n-1].Content, "\nNow write step 1.") {
		t.Errorf("%+v", ms[n-2:])
	}
	if len(rec.of("model")[4].Request.Messages) != 4 {
		t.Error("the unreadable turn remained in the conversation")
	}
}

// TestStops checks that the caller's cancellation and a failed trajectory write are always errors, never an answer.
func TestStops(t *testing.T) {
	script := func() *fakeModel {
		return &fakeModel{acts: []string{do("search_wikidata(a)"), execute(qA), do("stop()")},
			tasks: map[string]string{"report": "r"}}
	}
	_, whole := ask(t, script(), graphOfTwo(), Limits{})
	for n := 1; n <= len(whole.events); n++ {
		rec := &memory{failAt: n}
		out, err := newEngine(script(), graphOfTwo()).Ask(t.Context(), Question{Text: "Which?", Language: "en"}, rec,
			Limits{})
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("trajectory fails at event %d: error %v, outcome %+v", n, err, out)
		}
		if len(rec.events) != n-1 {
			t.Errorf("trajectory fails at event %d: %d events", n, len(rec.events))
		}
	}
	for n := 1; n <= 4; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		m, calls := script(), 0
		m.before = func(string) {
			if calls++; calls == n {
				cancel()
			}
		}
		rec := &memory{}
		out, err := newEngine(m, graphOfTwo()).Ask(ctx, Question{Text: "Which?", Language: "en"}, rec, Limits{})
		cancel()
		if !errors.Is(err, context.Canceled) && !(n == 4 && err == nil) {
			t.Errorf("canceled at call %d: error %v, outcome %+v", n, err, out)
		}
		if last := rec.events[len(rec.events)-1]; last.Event != "end" || (err != nil) != (last.Ending().Reason == Canceled) {
			t.Errorf("canceled at call %d: the trajectory ends with %s %q", n, last.Event, last.Reason)
		}
	}
}

type panicking struct{ fakeGraph }

func (*panicking) Search(context.Context, kg.SearchQuery) (*kg.SearchResult, error) { panic("fault") }

func TestPanicIsAnError(t *testing.T) {
	m := &fakeModel{acts: []string{do("search_wikidata(a)")}}
	e := newEngine(m, &fakeGraph{})
	e.sources = tool.Wikibase(&panicking{})
	rec := &memory{}
	out, err := e.Ask(t.Context(), Question{Text: "Which?", Language: "en"}, rec, Limits{})
	if err == nil || out.Answer != nil || rec.events[len(rec.events)-1].Event != "end" {
		t.Errorf("error %v, outcome %+v", err, out)
	}
}

// TestFollowUp checks that earlier turns appear before the question, escaped, and that the IDs in them are treated as
// seen.
func TestFollowUp(t *testing.T) {
	m := &fakeModel{acts: []string{execute(qA), do("stop()")}, tasks: map[string]string{"report": "r"}}
	q := Question{Text: "only the living ones, please", Language: "en", History: []Turn{{Question: "Which <humans>?",
		SPARQL: qA, Report: "Two.",
		Steps: []Step{{Action: tool.SearchName, Argument: "human", Observation: "human (Q5)"}}}}}
	out, err := newEngine(m, graphOfTwo()).Ask(t.Context(), q, nil, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatal(err, out)
	}
	text := m.requests[0].Messages[1].Content
	for _, want := range []string{"<earlier>\nQuestion: Which &lt;humans&gt;?",
		"search_wikidata(human) returned: human (Q5)", qA, "What was replied: Two.",
		"<question>\nonly the living ones, please\n</question>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.Index(text, "<earlier>") > strings.Index(text, "<question>") || strings.Contains(out.Steps[0].Observation,
		"not looked up") {
		t.Errorf("%s\n%s", text, out.Steps[0].Observation)
	}
	if out.Confidence < 0.8 {
		t.Errorf("confidence %v", out.Confidence)
	}
}

// lengthy is a model that always returns the same message, with finish reason "length".
type lengthy struct{ fakeModel }

func (m *lengthy) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	resp, err := m.fakeModel.Complete(ctx, req)
	if err == nil {
		resp.Choices[0].FinishReason = "length"
	}
	return resp, err
}

// TestCutOffTurn checks that an incomplete query is not run, but that a short action in a turn that became too long is
// run.
func TestCutOffTurn(t *testing.T) {
	m := &lengthy{fakeModel{acts: []string{execute(qA), do("search_wikidata(a)\nObservation: and so on and so on")}}}
	g := graphOfTwo()
	out, err := newEngine(m, g).Ask(t.Context(), Question{Text: "Who?", Language: "en"}, nil, Limits{Counted: 1})
	if err != nil || len(g.queries) != 0 || len(out.Steps) != 1 || out.Steps[0].Action != tool.SearchName {
		t.Errorf("%v, %d queries, %+v", err, len(g.queries), out.Steps)
	}
	if !strings.Contains(m.last("act"), "too long and was cut off") {
		t.Errorf("the model was told: %s", m.last("act"))
	}
}

// TestBounds checks that prompts have a size limit, and that the model is told when few steps are left.
func TestBounds(t *testing.T) {
	wide := &kg.Table{Vars: make([]string, 200)}
	row := make([]rdf.Term, 200)
	for i := range row {
		wide.Vars[i] = fmt.Sprintf("v%d", i)
		row[i] = rdf.String(strings.Repeat("y", 150))
	}
	wide.Rows = [][]rdf.Term{row, row}
	g := graphOfTwo()
	g.tables[qA] = wide
	m := &fakeModel{acts: []string{execute(qA), do("search_wikidata(b)"), do("search_wikidata(c)"),
		do("search_wikidata(d)")}}
	q := Question{Text: strings.Repeat("long ", 10_000), Language: "en"}
	for i := range 9 {
		q.History = append(q.History, Turn{Question: fmt.Sprintf("turn %d", i)})
	}
	out, err := newEngine(m, g).Ask(t.Context(), q, nil, Limits{Counted: 4})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(out.Steps[0].Observation); n > 16_000+200 || !strings.HasSuffix(out.Steps[0].Observation, "characters)") {
		t.Errorf("an observation of %d bytes", n)
	}
	first := m.requests[0].Messages[1].Content
	if len(first) > maxQuestion+1000 || strings.Contains(first, "turn 2") || !strings.Contains(first, "turn 3") {
		t.Errorf("the first message has %d bytes", len(first))
	}
	for i, want := range []string{"", "Only 3 steps are left", "Only 2 steps are left", "This is the last step"} {
		ms := m.requests[i].Messages
		if last := ms[len(ms)-1].Content; want != "" && !strings.Contains(last, want) || want == "" && strings.Contains(last,
			"left") {
			t.Errorf("step %d: %s", i+1, render.Clip(last, 300))
		}
	}
	if _, err := newEngine(m, g).Ask(t.Context(), Question{Text: " "}, nil, Limits{}); err == nil {
		t.Error("an empty question was asked")
	}
}

// forgetful is a model that accepts only short conversations.
type forgetful struct {
	fakeModel
	most int // maximum length in bytes
}

func (m *forgetful) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	n := 0
	for _, msg := range req.Messages[1:] {
		n += len(msg.Content)
	}
	if n > m.most {
		return nil, fmt.Errorf("call: %w", llm.ErrContextLength)
	}
	return m.fakeModel.Complete(ctx, req)
}

// TestShortened checks that a conversation that is too long for the model is retried once with its old observations
// shortened, and that the state is left unchanged.
func TestShortened(t *testing.T) {
	g := graphOfTwo()
	g.hits = map[string][]kg.Hit{}
	m := &forgetful{most: 9000}
	for i := range 6 {
		name := fmt.Sprintf("thing %d", i)
		m.acts = append(m.acts, do("search_wikidata("+name+")"))
		g.hits["en:"+name] = []kg.Hit{{ID: "Q1", Type: kg.Item, Label: strings.Repeat("long ", 400)}}
	}
	m.acts = append(m.acts, execute(qA), do("stop()"))
	out, err := newEngine(m, g).Ask(t.Context(), Question{Text: "Who?", Language: "en"}, nil, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatalf("%v, %s: %s", err, out.Reason, out.Detail)
	}
	if n := len(out.Steps[0].Observation); n < 1900 {
		t.Errorf("the state's own observation was cut to %d bytes", n)
	}
}

func TestLastRun(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		acts  []string
		limit Limits
		want  Reason
	}{
		{"the graph is down", kg.Errorf(kg.Down, "no route"), []string{execute(qA), do("stop()")}, Limits{}, GraphFailed},
		{"it fails for good and the steps are used up", kg.Errorf(kg.QueryFailed, "no"), []string{execute(qA), do("stop()")},
			Limits{Total: 2, Counted: 2}, CannotPublish},
		{"it is too slow, and the model gives up", kg.Errorf(kg.Timeout, "slow"), []string{execute(qA), do("stop()"),
			do("stop(no answer: too slow)"), do("stop(no answer: too slow)")}, Limits{}, NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := graphOfTwo()
			g.query = func(string) (*kg.Table, error) { return nil, tt.err } // called only for the posting form
			out, _ := ask(t, &fakeModel{acts: tt.acts, tasks: map[string]string{"report": "r"}}, g, tt.limit)
			if out.Answer != nil || out.Reason != tt.want {
				t.Errorf("%q: %s", out.Reason, out.Detail)
			}
		})
	}
}

func kindOf(cause error) event.CauseKind {
	if c := event.CauseOf(cause); c != nil {
		return c.Kind
	}
	return ""
}
