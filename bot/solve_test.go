package bot_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestSolverFailures(t *testing.T) {
	w := started(t)
	fail := errors.New("service unavailable")
	w.solver.errs = []error{fail, nil}
	w.solver.terrs = []error{fail, nil}
	w.round()
	w.want("Cats:noticed")
	w.clock.pass(5 * time.Minute)
	w.round()
	w.want("Cats:accepted")
	w.clock.pass(5*time.Minute - time.Second)
	w.round()
	w.want("Cats:accepted")
	w.clock.pass(time.Second)
	w.round()
	w.want("Cats:posted")

	for name, c := range map[string]struct {
		prepare func(*world)
		solves  int
		reply   bool // whether a reply is posted if ReplyOnFailure is set
	}{
		"errors":    {func(w *world) { w.solver.errs = []error{fail, fail, fail, fail} }, 3, true},
		"outcomes":  {func(w *world) { w.solver.reason = agent.GraphFailed }, 3, true},
		"panics":    {func(w *world) { w.solver.panics = true }, 3, true},
		"not found": {func(w *world) { w.solver.reason = agent.NotFound }, 1, true},
		"no model":  {func(w *world) { w.solver.reason = agent.NoModel }, 1, true},
		"no model 2": {func(w *world) {
			w.solver.errs, w.solver.terrs = []error{llm.ErrNoModel},
				[]error{llm.ErrNoModel}
		}, 1, true},
		"not in posting form": {func(w *world) { w.solver.query = "SELECT * WHERE { { ?a ?b ?c }}" }, 1, true},
		"triage":              {func(w *world) { w.solver.terrs = []error{fail, fail, fail, fail} }, 0, false},
	} {
		for _, reply := range []bool{true, false} {
			t.Run(fmt.Sprint(name, reply), func(t *testing.T) {
				w := started(t)
				w.cfg.ReplyOnFailure = reply
				c.prepare(w)
				for range 6 {
					w.round()
					w.clock.pass(time.Hour)
				}
				want, n := "Cats:gave_up", 0
				if reply && c.reply {
					want, n = "Cats:posted", 1
				}
				w.want(want)
				w.wantReplies("Cats", n)
				if e := w.entries()[0]; w.solver.solved[e.Key] != c.solves || e.State == bot.GaveUp && e.Reason == "" {
					t.Errorf("%d calls to the solver, reason %q", w.solver.solved[e.Key], e.Reason)
				} else if s := w.wiki.summary[e.Rev]; n == 1 &&
					!strings.HasPrefix(s, "/* Cats */ Reply without a query (") {
					t.Errorf("edit summary %q", s)
				}
			})
		}
	}
}

// When the daily budget is spent, requests wait for the next UTC day. This is not recorded as a failure.
func TestBudget(t *testing.T) {
	w := started(t)
	spent := fmt.Errorf("daily limit: %w", &llm.BudgetError{Account: llm.DayAccount, Measure: llm.USD})
	w.solver.errs = []error{spent, spent, spent, spent}
	for range 4 {
		w.round()
		w.want("Cats:accepted")
		if e := w.entries()[0]; e.Failures != 0 || e.Starts != 0 ||
			!e.NotBefore.Equal(w.clock.now().Truncate(24*time.Hour).Add(24*time.Hour)) {
			t.Errorf("the entry: %+v", e)
		}
		n := len(w.solver.asked)
		w.clock.pass(time.Minute)
		w.round()
		if len(w.solver.asked) != n {
			t.Error("asked again on the same day")
		}
		w.clock.pass(24 * time.Hour)
	}
	w.solver.reason = agent.DayMoney // the day's budget is spent during a request
	w.round()
	w.want("Cats:accepted")
	w.wantReplies("Cats", 0)
	w.solver.reason = ""
	w.clock.pass(24 * time.Hour)
	w.round()
	w.want("Cats:posted")
}

// A post that cannot be judged within the budget for one request is abandoned, because it would cost the same on
// another day.
func TestJudgingOverTheRequestsLimit(t *testing.T) {
	w := started(t)
	w.solver.terrs = []error{fmt.Errorf("triage: %w", &llm.BudgetError{Account: llm.RequestAccount, Measure: llm.USD})}
	w.round()
	w.want("Cats:gave_up")
	w.wantReplies("Cats", 0)
}

func TestNewReply(t *testing.T) {
	yes := true
	lit := rdf.Typed
	for name, c := range map[string]struct {
		out  agent.Outcome
		want forum.Reply
	}{
		"rows": {agent.Outcome{Language: "de-CH", Report: "R",
			Steps: []agent.Step{{Action: "stop", Observation: "x"}},
			Answer: &agent.Answer{SPARQL: "Q", Endpoint: "E", Labels: map[string]string{"Q1": "universe"},
				Table: &kg.Table{Vars: []string{"a", "b", "c", "d", "e"},
					Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Direct + "P31"),
						rdf.IRI("http://x.org/Q1"), lit("1999-05-03T00:00:00Z", rdf.XSDDateTime), {}}}}}},
			forum.Reply{Language: "de", Short: "R", Query: "Q", Endpoint: "E",
				Vars: []string{"a", "b", "c", "d"}, Headers: []string{"a", "b", "c", "d"}, NoValues: []string{"e"}, NoValueVars: []string{"e"}, Total: 1,
				Rows: [][]forum.Cell{{{ID: "Q1", Label: "universe"}, {ID: "P31"}, {Text: "x.org/Q1", Kind: "address"},
					{Text: "1999-05-03", Kind: "day"}}}}},
		"ask": {agent.Outcome{Answer: &agent.Answer{SPARQL: "ASK {}",
			Table: &kg.Table{Ask: true, Boolean: true}}}, forum.Reply{Query: "ASK {}", Boolean: &yes}},
		"not found": {agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound}, Report: "none"},
			forum.Reply{NoAnswer: "not_found", Short: "none"}},
		"failed": {agent.Outcome{Ending: agent.Ending{Reason: agent.CannotPublish}},
			forum.Reply{NoAnswer: "failed"}},
	} {
		c.want.To, c.want.Operator, c.want.Marker, c.want.Signature = "Alice", "Olga", "sb-1", "~~~~"
		if d := cmp.Diff(c.want, reply.New(&c.out, "Alice", "Olga", "sb-1")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	rows := make([][]rdf.Term, 5000)
	for i := range rows {
		rows[i] = []rdf.Term{rdf.Typed(strconv.Itoa(i), rdf.XSDInteger)}
	}
	many := &agent.Outcome{Answer: &agent.Answer{Table: &kg.Table{Vars: []string{"a"}, Rows: rows}}}
	if r := reply.New(many, "", "", ""); len(r.Rows) != 20 || r.Total != 5000 {
		t.Errorf("%d of %d rows", len(r.Rows), r.Total)
	}
}
