package ask

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// stepData is the data for the page for changing a step.
type stepData struct {
	ID   string
	N    int
	Turn string // thought and action as text
	Step event.Step
}

// step shows the form that changes a step.
func (s *Server) step(w http.ResponseWriter, r *http.Request) error {
	_, d, err := s.changeable(r)
	if err != nil {
		return err
	}
	s.pages.Show(w, r, http.StatusOK, "step", layout.Page{Title: s.Site.Say(r, "ask.step.title", "count", d.N),
		Section: "ask", Styles: []string{"ask/ask.css"}, Data: d})
	return nil
}

// changeable finds a step by number on the path to the end of a run.
func (s *Server) changeable(r *http.Request) ([]agent.Event, *stepData, error) {
	events, err := s.asked.events(r.PathValue("id"))
	if err != nil {
		return nil, nil, err
	}
	n := number(r.PathValue("n"), 0)
	for _, st := range event.Steps(events) {
		if st.N == n {
			return events, &stepData{ID: r.PathValue("id"), N: n, Step: st, Turn: turnText(st)}, nil
		}
	}
	return nil, nil, refuse(http.StatusNotFound, "ask.step.none")
}

// turnText returns a step in the format that reviewers use for turns.
func turnText(st event.Step) string {
	return "Thought: " + text.Clean(st.Thought) + "\nAction: " + text.Clean(st.Action) + "(" + text.Clean(st.Argument) + ")"
}

// changeStep starts a run that repeats the earlier run up to a step, executes what the reader wrote instead of that
// step, and continues from there, with review only if the reader requests it.
func (s *Server) changeStep(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	events, d, err := s.changeable(r)
	if err != nil {
		return err
	}
	turn := strings.TrimSpace(strings.ReplaceAll(text.Clean(r.PostFormValue("turn")), "\r\n", "\n"))
	if turn == "" {
		return refuse(http.StatusUnprocessableEntity, "ask.step.empty")
	}
	c, err := s.allowed(choiceOf(events))
	if err != nil {
		return err
	}
	earlier, who := branch(events, d.N, turn)
	a := asking{id: newID(), choice: c, who: who, begin: func(service *ask.Service, name string) (*ask.Run, error) {
		return service.Branch(s.Base, name, earlier)
	}}
	if r.PostFormValue("review") != "" {
		a.person = newPerson(s.slots)
		who.then = a.person
	}
	return s.start(w, r, a)
}

// branch returns the part of a run before a step, without the reviewer's decisions, and a reviewer that repeats those
// decisions and makes the change.
func branch(events []agent.Event, n int, turn string) ([]agent.Event, *changer) {
	who := &changer{turn: turn}
	for _, st := range event.Steps(events) {
		if who.place++; st.N == n {
			break
		}
	}
	at := slices.IndexFunc(events, func(e agent.Event) bool { return e.Event == "step" && e.Step != nil && e.Step.N == n })
	for _, e := range event.Path(events, events[at].ID) {
		if e.Event == "review" && e.Review != nil {
			who.before = append(who.before, policy.Decision{Verdict: e.Review.Verdict, Text: e.Review.Text})
		}
	}
	if len(who.before) > 0 { // the last decision is on the turn that is being changed
		who.before = who.before[:len(who.before)-1]
	}
	var earlier []agent.Event
	for _, e := range events[:at] {
		if e.Event != "review" {
			earlier = append(earlier, e)
		}
	}
	return earlier, who
}

// changer is a reviewer that repeats the decisions before a turn, replaces that turn with what the reader wrote, and
// passes later turns to then, or accepts them if then is nil.
type changer struct {
	before []policy.Decision
	place  int
	turn   string
	done   bool
	then   policy.Reviewer // if nil, all turns are accepted
}

// Review implements [policy.Reviewer].
func (c *changer) Review(ctx context.Context, l policy.Look) (policy.Decision, error) {
	if err := ctx.Err(); err != nil {
		return policy.Decision{}, err
	}
	if c.done && c.then != nil {
		return c.then.Review(ctx, l)
	}
	if l.Problem != "" { // the change cannot be executed; the log explains why
		return policy.Decision{Verdict: event.Skipped, Reason: "The changed step cannot be carried out: " + l.Problem}, nil
	}
	if l.Place >= c.place && !c.done {
		c.done = true
		return policy.Decision{Verdict: event.Edited, Text: c.turn}, nil
	}
	if len(c.before) > 0 && !c.done {
		d := c.before[0]
		c.before = c.before[1:]
		if d.Verdict == event.Edited {
			return d, nil
		}
	}
	return policy.Decision{Verdict: event.Accepted}, nil
}
