package ask

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

type askerFunc func(ctx context.Context, rec agent.Recorder) (*agent.Outcome, error)

func (f askerFunc) Ask(ctx context.Context, _ agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome,
	error) {
	return f(ctx, rec)
}

// kept is an in-memory trajectory. It can be configured to fail at event number full, and when it is closed.
type kept struct {
	mu       sync.Mutex
	events   []event.Event
	full     int
	closeErr error
	closed   int
}

func (k *kept) Record(_ context.Context, e event.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full > 0 && len(k.events) >= k.full-1 || k.closed > 0 {
		return &event.WriteError{Err: errors.New("disk full")}
	}
	k.events = append(k.events, e)
	return nil
}

func (k *kept) Close() error {
	k.closed++
	return k.closeErr
}

func service(k *kept, f askerFunc) *Service {
	return &Service{Log: slog.New(slog.DiscardHandler), Asker: f, Now: time.Now, Limits: agent.Limits{USD: 1},
		Open: func(string) (Trajectory, error) { return k, nil }}
}

var question = agent.Question{ID: "q", Text: "Which?"}

func steps(ctx context.Context, rec agent.Recorder, n int, pause func()) error {
	for i := range n {
		pause()
		name := "step"
		if i == 0 {
			name = "start"
		}
		if err := rec.Record(ctx, event.Event{Event: name}); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// heard is what a listener received.
type heard struct {
	after   int
	numbers []int
	names   []string
	left    bool // the listener left before the end
}

// listen reads the events, with pauses, and stops after at most the given number.
func listen(ctx context.Context, r *Run, after, most int, pause func()) heard {
	h := heard{after: after}
	for n, e := range r.Events(ctx, after) {
		h.numbers, h.names = append(h.numbers, n), append(h.names, e.Event)
		if pause(); len(h.numbers) == most {
			h.left = true
			break
		}
	}
	return h
}

// Regardless of timing, each listener that does not leave gets every event after its starting point, exactly once and
// in order. The last event is the end event. The run ends even if a listener is stuck.
func TestListeners(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { listenersOnce(t, seed) })
	}
}

func listenersOnce(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	below := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rnd.IntN(n)
	}
	pause := func() { time.Sleep(time.Duration(below(4)) * time.Millisecond) }
	n, how := below(30), below(7)
	k := &kept{}
	if how == 1 {
		k.full = 1 + below(n+2)
	}
	if how == 2 {
		k.closeErr = errors.New("cannot sync")
	}
	r, err := service(k, func(ctx context.Context, rec agent.Recorder) (*agent.Outcome, error) {
		err := steps(ctx, rec, n, pause)
		switch {
		case err != nil:
			return &agent.Outcome{}, err
		case how == 3:
			panic("fault")
		case how == 4:
			runtime.Goexit()
		case how == 5:
			return nil, nil
		}
		return &agent.Outcome{}, rec.Record(ctx, event.Event{Event: "end"})
	}).Start(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	stuck, release := context.WithCancel(t.Context())
	go listen(stuck, r, 0, 0, func() { <-stuck.Done() })
	var wg sync.WaitGroup
	all := make([]heard, 1+below(5))
	for i := range all {
		most := below(3) * (1 + below(20)) // 0 means no limit
		wg.Go(func() {
			time.Sleep(time.Duration(below(60)) * time.Millisecond)
			all[i] = listen(t.Context(), r, below(10), most, pause)
		})
	}
	if how == 6 {
		time.Sleep(time.Duration(below(40)) * time.Millisecond)
		r.Cancel()
	}
	out, err := r.Wait()
	wg.Wait()
	release()
	synctest.Wait()
	if how > 0 && how < 6 && err == nil && k.full != n+2 || how == 0 && (err != nil || out.Reason != agent.Answered) ||
		k.closed != 1 {
		t.Errorf("seed %d, case %d: outcome %+v, error %v, closed %d times", seed, how, out, err, k.closed)
	}
	everything := listen(t.Context(), r, 0, 0, func() {})
	total := len(everything.names)
	if everything.names[total-1] != "end" || slices.Contains(everything.names[:total-1], "end") {
		t.Errorf("seed %d, case %d: the events are %v", seed, how, everything.names)
	}
	if last := r.events[total-1]; (last.Reason == "") != (err == nil) || err == nil && len(k.events) != total {
		t.Errorf("seed %d, case %d: %v; the last event says %q; %d events of %d were kept", seed, how, err, last.Reason,
			len(k.events), total)
	}
	for _, h := range all {
		for i, got := range h.numbers {
			if got != h.after+i+1 || h.names[i] != everything.names[got-1] {
				t.Errorf("seed %d, case %d: after %d a listener got the numbers %v", seed, how, h.after, h.numbers)
				break
			}
		}
		if !h.left && len(h.numbers) != max(0, total-h.after) {
			t.Errorf("seed %d, case %d: after %d a listener got %d of %d events", seed, how, h.after, len(h.numbers), total)
		}
	}
}

// No wakeup is missed: if the channel that a listener is about to wait for is not closed yet, the listener has all
// events so far. Many goroutines contend for the lock, so every gap between two locked sections is hit.
func TestNoWakeUpIsMissed(t *testing.T) {
	const events, listeners = 20000, 8
	r := &Run{wake: make(chan struct{})}
	var wg sync.WaitGroup
	for range listeners {
		wg.Go(func() {
			for n, ended := 0, false; !ended; {
				told, _, wake, end := r.after(n)
				n, ended = n+len(told), end
				r.mu.Lock()
				missed := wake == r.wake && n != len(r.events) || ended && n != events
				r.mu.Unlock()
				if missed {
					t.Errorf("a listener waits for more after %d events, and has missed one", n)
					return
				}
			}
		})
	}
	for n := range events {
		r.tell(event.Event{Event: "step"}, n == events-1)
	}
	wg.Wait()
}

// A listener sees a message as it grows. The unfinished text is not kept; it is dropped when the call is retried or the
// message is complete.
func TestLive(t *testing.T) {
	k := &kept{}
	grown := make(chan struct{})
	run, err := service(k, func(ctx context.Context, rec agent.Recorder) (*agent.Outcome, error) {
		l := rec.(event.Listener)
		if err := rec.Record(ctx, event.Event{Event: "start"}); err != nil {
			return nil, err
		}
		for _, d := range []llm.Delta{{Text: "wrong"}, {Reset: true}, {Reasoning: "hm "}, {Text: "I lo"}, {Text: "ok"},
			{Call: "stop{}"}} {
			l.Live(d)
		}
		<-grown
		if err := rec.Record(ctx, event.Event{Event: "model"}); err != nil {
			return nil, err
		}
		return &agent.Outcome{}, nil
	}).Start(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	var last string
	var numbers []int
	for n, e := range run.Events(t.Context(), 0) {
		if e.Event != "live" {
			numbers = append(numbers, n)
			continue
		}
		if n != 1 {
			t.Errorf("live under the number %d", n)
		}
		if last = e.Detail; strings.HasSuffix(last, "}") {
			close(grown)
		}
	}
	if last != "hm I lookstop{}" || !slices.Equal(numbers, []int{1, 2, 3}) {
		t.Errorf("seen %q, numbers %v", last, numbers)
	}
	for _, e := range k.events {
		if e.Event == "live" {
			t.Error("it was kept")
		}
	}
	big := &Run{wake: make(chan struct{})}
	for range 100 {
		big.Live(llm.Delta{Text: strings.Repeat("é", 1000)})
	}
	if _, live, _, _ := big.after(0); len(live) > maxLive || len(live) < maxLive/2-1000 || !utf8.ValidString(live) {
		t.Errorf("%d bytes are kept", len(live))
	}
}

// The allowance limits the run's calls, and its total is the outcome's usage. If nothing was charged to the allowance,
// the outcome keeps the usage that the agent reported.
func TestAllowance(t *testing.T) {
	for _, books := range []bool{true, false} {
		s := service(&kept{}, func(ctx context.Context, rec agent.Recorder) (*agent.Outcome, error) {
			if books {
				if err := spend(ctx, t); !errors.Is(err, llm.ErrBudget) {
					t.Errorf("a call over the limit: %v", err)
				}
			}
			return &agent.Outcome{Usage: llm.Usage{Calls: 7}}, nil
		})
		out, err := s.Solve(t.Context(), "key", question)
		if err != nil || books == (out.Usage.Calls == 7) {
			t.Errorf("%+v %v", out, err)
		}
	}
}

// spend makes one call within the allowance and one that exceeds it, and returns the second call's error.
func spend(ctx context.Context, t *testing.T) error {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":{"prompt_tokens":100,"completion_tokens":1}}`)
	}))
	defer s.Close()
	cfg := llm.Config{BaseURL: s.URL, Model: "m", InputUSDPerMTok: 1000, OutputUSDPerMTok: 1000}
	c, err := llm.NewClient(slog.New(slog.DiscardHandler), cfg, http.DefaultTransport,
		politehttp.NewManualClock(time.Time{}), func() float64 { return 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(ctx, llm.Request{MaxTokens: 10}); err != nil {
		t.Error(err)
	}
	_, err = c.Complete(ctx, llm.Request{MaxTokens: 5000})
	return err
}

// Triage has a separate trajectory and allowance.
func TestTriage(t *testing.T) {
	k := &kept{}
	s := service(k, nil)
	name := ""
	s.Open = func(id string) (Trajectory, error) { name = id; return k, nil }
	s.Triager = triagerFunc(func(ctx context.Context, rec agent.Recorder) (*agent.Triage, error) {
		if err := rec.Record(ctx, event.Event{Event: "start", Preset: "triage"}); err != nil {
			return nil, err
		}
		return &agent.Triage{Request: true}, rec.Record(ctx, event.Event{Event: "end"})
	})
	tr, err := s.Triage(t.Context(), "sb-1", "Cats", []agent.Post{{Text: "Which?"}})
	if err != nil || !tr.Request || name != "sb-1-triage" || len(k.events) != 2 || k.closed != 1 {
		t.Errorf("%+v %v in %q: %v", tr, err, name, k.events)
	}
	s.Triager = triagerFunc(func(context.Context, agent.Recorder) (*agent.Triage, error) { panic("fault") })
	if tr, err := s.Triage(t.Context(), "sb-1", "Cats", nil); err == nil || tr != nil {
		t.Errorf("after a panic: %+v %v", tr, err)
	}
}

// Asked also uses a separate trajectory and allowance. Without a Recognizer, no request is considered a repetition.
func TestAsked(t *testing.T) {
	k := &kept{}
	s := service(k, nil)
	name := ""
	s.Open = func(id string) (Trajectory, error) { name = id; return k, nil }
	if same, err := s.Asked(t.Context(), "sb-1", agent.Asked{}); err != nil || same.Same || name != "" {
		t.Errorf("nobody judges: %+v %v in %q", same, err, name)
	}
	s.Same = sameFunc(func(ctx context.Context, rec agent.Recorder) (*agent.Same, error) {
		return &agent.Same{Same: true}, rec.Record(ctx, event.Event{Event: "end"})
	})
	same, err := s.Asked(t.Context(), "sb-1", agent.Asked{})
	if err != nil || !same.Same || name != "sb-1-asked" || len(k.events) != 1 || k.closed != 1 {
		t.Errorf("%+v %v in %q: %v", same, err, name, k.events)
	}
	s.Same = sameFunc(func(context.Context, agent.Recorder) (*agent.Same, error) { panic("fault") })
	if same, err := s.Asked(t.Context(), "sb-1", agent.Asked{}); err == nil || same != nil {
		t.Errorf("after a panic: %+v %v", same, err)
	}
}

type sameFunc func(ctx context.Context, rec agent.Recorder) (*agent.Same, error)

func (f sameFunc) Asked(ctx context.Context, _ agent.Asked, rec agent.Recorder) (*agent.Same, error) {
	return f(ctx, rec)
}

type triagerFunc func(ctx context.Context, rec agent.Recorder) (*agent.Triage, error)

func (f triagerFunc) Triage(ctx context.Context, _ string, _ []agent.Post, rec agent.Recorder,
	_ agent.Limits) (*agent.Triage, error) {
	return f(ctx, rec)
}

func TestNothingIsAsked(t *testing.T) {
	never := func(context.Context, agent.Recorder) (*agent.Outcome, error) { panic("asked") }
	if _, err := service(&kept{}, never).Start(t.Context(), agent.Question{Text: " \n"}); err == nil {
		t.Error("an empty question is asked")
	}
	s := service(nil, never)
	s.Open = func(string) (Trajectory, error) { return nil, os.ErrPermission }
	if _, err := s.Solve(t.Context(), "k", question); !errors.Is(err, os.ErrPermission) {
		t.Errorf("without a trajectory: %v", err)
	}
}

// A failure to write the trajectory is an error, even if the agent ignores it.
func TestTrajectoryFails(t *testing.T) {
	for _, k := range []*kept{{full: 2}, {full: 3}, {closeErr: errors.New("x")}} {
		r, err := service(k, func(ctx context.Context, rec agent.Recorder) (*agent.Outcome, error) {
			_ = steps(ctx, rec, 2, func() {})
			_ = rec.Record(ctx, event.Event{Event: "end"})
			return &agent.Outcome{}, nil
		}).Start(t.Context(), question)
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Wait()
		if !event.IsWriteError(err) || out.Reason != agent.Broken ||
			r.events[len(r.events)-1].Reason != string(agent.Broken) {
			t.Errorf("%+v %v, last event %+v", out, err, r.events[len(r.events)-1])
		}
	}
}

// Runs with the same ID that start at the same moment have separate files.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 20, 10, 15, 0, 1e6, time.UTC)
	open := Folder(dir, func() time.Time { return at })
	for range 3 {
		f, err := open("ask")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Record(t.Context(), event.Event{Event: "start", Format: event.Format}),
			f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := "ask-20261120T101500.001.jsonl ask-20261120T101500.001~2.jsonl ask-20261120T101500.001~3.jsonl"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("%v %v", names, err)
	}
	if _, err := Folder(dir+"/none", func() time.Time { return at })("ask"); err == nil {
		t.Error("a folder that does not exist")
	}
}
