package ask

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/text"
)

// idle is the time in nanoseconds that a turn waits for a decision before the review ends; the run can be continued
// later. Tests shorten it.
var idle atomic.Int64

func init() { idle.Store(int64(30 * time.Minute)) }

// Maximum number of runs that may be waiting for a reviewer at once, in total and per client. Without the per-client
// limit, one client could keep all others from reviewing.
const (
	maxReviews       = 200
	maxClientReviews = 20
)

// turnView is a turn that awaits a decision.
type turnView struct {
	N          int      `json:"n"`     // number of the turn in this review, from 1
	Place      int      `json:"place"` // number of the turn's first step
	Turn       string   `json:"turn"`  // thought and actions as text
	Unreadable string   `json:"unreadable,omitempty"`
	Problem    string   `json:"problem,omitempty"` // why the last decision cannot be executed
	Unseen     []string `json:"unseen,omitempty"`  // IDs that the model has not been shown
	Back       []string `json:"back"`              // steps that the reviewer can go back to, in order
}

// person is a [policy.Reviewer] for the reader of a run's page: it shows each turn there and waits for the decision.
type person struct {
	client string // the client that asked
	place  *place // the run's slot, which another run may use while this run waits

	mu      sync.Mutex
	turn    *turnView // the waiting turn, or nil
	shown   string    // the turn's text as the policy wrote it
	asked   int
	decided chan policy.Decision
	changed chan struct{} // closed and replaced whenever the waiting turn changes
}

// byAsker is the reviewer's name in the trajectory. Decisions that are repeated when a step is changed have no
// reviewer name.
const byAsker = "the asker"

func newPerson(slots chan struct{}) *person {
	return &person{place: &place{slots: slots}, changed: make(chan struct{})}
}

// Review implements [policy.Reviewer].
func (p *person) Review(ctx context.Context, l policy.Look) (policy.Decision, error) {
	decided := p.ask(l)
	defer p.clear()
	p.place.leave()
	t := time.NewTimer(time.Duration(idle.Load()))
	defer t.Stop()
	select {
	case d := <-decided:
		return p.taken(ctx, d)
	case <-t.C:
	case <-ctx.Done():
		return policy.Decision{}, ctx.Err()
	}
	p.clear() // no decisions are accepted after this point
	select {
	case d := <-decided: // a last-moment decision, which was already reported as accepted
		return p.taken(ctx, d)
	default:
		return policy.Decision{}, policy.ErrLeft
	}
}

// taken returns a decision once the run has reacquired a slot.
func (p *person) taken(ctx context.Context, d policy.Decision) (policy.Decision, error) {
	d.By = byAsker
	return d, p.place.take(ctx)
}

// ask shows a turn.
func (p *person) ask(l policy.Look) <-chan policy.Decision {
	v := &turnView{Place: l.Place, Turn: text.Clean(l.Turn), Unreadable: text.OneLine(text.Clean(l.Unreadable)),
		Problem: text.OneLine(text.Clean(l.Problem)), Back: []string{}}
	for _, id := range l.Unseen {
		v.Unseen = append(v.Unseen, text.Clean(id))
	}
	for _, s := range l.Steps {
		v.Back = append(v.Back, text.Clip(text.OneLine(text.Clean(s.Action+"("+s.Argument+")")), 80))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	v.N = p.asked
	p.turn, p.shown, p.decided = v, l.Turn, make(chan policy.Decision, 1)
	p.tell()
	return p.decided
}

func (p *person) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn = nil
	p.tell()
}

func (p *person) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// waiting returns the waiting turn, or nil, and a channel that is closed when the turn changes. A nil person has no
// turn.
func (p *person) waiting() (*turnView, <-chan struct{}) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turn, p.changed
}

// decide sends a decision about the n-th turn to the waiting run. It returns false if a different turn, or none, is
// waiting. A turn that was edited without any change is treated as accepted.
func (p *person) decide(n int, d policy.Decision) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn == nil || p.turn.N != n {
		return false
	}
	if d.Verdict == event.Edited && p.turn.Unreadable == "" && p.turn.Problem == "" && d.Text == asTyped(p.shown) {
		d.Verdict, d.Text = event.Accepted, ""
	}
	p.turn = nil
	p.decided <- d
	p.tell()
	return true
}

// asTyped returns text in the form in which an HTML form submits it.
func asTyped(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(text.Clean(s), "\r\n", "\n"))
}

// next waits briefly for the effect of a decision, so that a page without scripts shows it.
func (p *person) next(ctx context.Context, run *ask.Run) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		turn, changed := p.waiting()
		if turn != nil {
			return
		}
		select {
		case <-changed:
		case <-run.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// decide handles the reader's decision on a turn.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	id := r.PathValue("id")
	run, p := s.asked.run(id), s.asked.person(id)
	if run == nil || p == nil {
		if _, err := s.asked.events(id); err != nil {
			return err
		}
		return refuse(http.StatusConflict, "ask.review.over")
	}
	d := policy.Decision{Verdict: r.PostFormValue("verdict"), Reason: text.Clip(text.OneLine(text.Clean(r.PostFormValue("reason"))), 500)}
	switch d.Verdict {
	case event.Accepted, event.Skipped:
	case event.WentBack:
		d.To = number(r.PostFormValue("to"), 0)
	case event.Edited:
		if d.Text = asTyped(r.PostFormValue("text")); d.Text == "" {
			return refuse(http.StatusUnprocessableEntity, "ask.step.empty")
		}
	default:
		return refuse(http.StatusUnprocessableEntity, "ask.form")
	}
	if !p.decide(number(r.PostFormValue("turn"), 0), d) {
		return refuse(http.StatusConflict, "ask.review.decided")
	}
	p.next(r.Context(), run)
	http.Redirect(w, r, "/a/"+url.PathEscape(id)+"#turn", http.StatusSeeOther)
	return nil
}

// reviewerAgain returns the reviewer for a reviewed run that is continued: p, or a reviewer that accepts everything if
// the run was created by changing a step. ok is false if the run ended before the change was made.
func reviewerAgain(events []agent.Event, p *person) (who policy.Reviewer, ok bool) {
	changed := false
	for _, e := range events {
		if e.Event != "review" || e.Review == nil {
			continue
		}
		if e.Review.By == byAsker {
			return p, true
		}
		changed = changed || e.Review.Verdict == event.Edited
	}
	if changed {
		return &changer{done: true}, true
	}
	return p, !slices.ContainsFunc(events, func(e agent.Event) bool { return e.Event == "review" })
}

// place is a run's slot; the number of slots limits concurrent runs.
type place struct {
	slots chan struct{}

	mu   sync.Mutex
	held bool
}

// try takes a slot if one is free.
func (p *place) try() bool {
	select {
	case p.slots <- struct{}{}:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = true
		return true
	default:
		return false
	}
}

// take waits for a slot and takes it.
func (p *place) take(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
	return nil
}

// leave frees the slot.
func (p *place) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		p.held = false
		<-p.slots
	}
}
