// Package ask is the only way to ask the agent a question: it opens the trajectory, sets an allowance for the
// question's cost, asks the agent, sends events to listeners, closes the trajectory and adds up the cost. The command
// line, the bot and benchmark runs all use it.
//
//	run, err := service.Start(ctx, question)     // starts the work and returns
//	for n, e := range run.Events(ctx, 0) { … }   // any number of listeners, each at its own pace
//	out, err := run.Wait()
//
// # Listeners
//
// An event is first written to the trajectory, then sent to the listeners. A run keeps its events until it is
// garbage-collected, and each listener iterates over them. Therefore, a slow, stuck or disconnected listener never
// delays the run or another listener. A listener that joins late gets the earlier events, and a listener that lost its
// connection continues after the last event that it received. The last event is always of kind "end", even if the run
// was canceled, the agent panicked or the disk is full.
package ask

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/logid"
)

// An Asker answers a question. It is implemented by [*agent.Engine] and by policies that ask several engines. Its
// errors are those of [agent.Engine.Ask].
type Asker interface {
	Ask(ctx context.Context, q agent.Question, rec agent.Recorder, limits agent.Limits) (*agent.Outcome, error)
}

// A Continuer is an [Asker] that can continue an interrupted run. It is implemented by [*agent.Engine].
type Continuer interface {
	Continue(ctx context.Context, earlier []agent.Event, rec agent.Recorder, limits agent.Limits) (*agent.Outcome, error)
}

// A Triager judges the last post in a thread. It is implemented by [*agent.Engine].
type Triager interface {
	Triage(ctx context.Context, heading string, posts []agent.Post, rec agent.Recorder,
		limits agent.Limits) (*agent.Triage, error)
}

// A Recognizer judges whether a request was made before. It is implemented by [*agent.Engine].
type Recognizer interface {
	Asked(ctx context.Context, a agent.Asked, rec agent.Recorder) (*agent.Same, error)
}

// Trajectory keeps the events of one run; see [event.File]. Close completes it.
type Trajectory interface {
	event.Recorder
	Close() error
}

// A Service asks questions. It is safe for concurrent use; runs share only its fields.
type Service struct {
	Log     *slog.Logger
	Asker   Asker
	Triager Triager    // only for Triage
	Same    Recognizer // only for Asked; if nil, no request is considered a repetition
	Limits  agent.Limits
	Open    func(id string) (Trajectory, error) // creates the trajectory of a run; see [Folder]
	Now     func() time.Time
}

// ErrNoQuestion means that the question has no text.
var ErrNoQuestion = errors.New("the question is empty")

// Start starts answering q and returns immediately. The run ends when ctx ends. The error is [ErrNoQuestion], or
// reports that the trajectory cannot be created; in both cases nothing was asked.
func (s *Service) Start(ctx context.Context, q agent.Question) (*Run, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, ErrNoQuestion
	}
	return s.start(ctx, q.ID, func(ctx context.Context, r *Run) (err error) {
		r.out, err = s.Asker.Ask(ctx, q, r, s.Limits)
		if err == nil && r.out == nil {
			err = errors.New("the agent returned neither an answer nor a reason")
		}
		return err
	})
}

// Continue continues an interrupted run, for example after a crash, and returns immediately. The run's trajectory file
// is at path. Listeners get all events of the run, starting with the first. The limits include the cost so far. An
// error explains why the run cannot be continued; in that case, nothing was asked, and the file is unchanged.
func (s *Service) Continue(ctx context.Context, path string) (*Run, error) {
	asker, ok := s.Asker.(Continuer)
	if !ok {
		return nil, errors.New("this way of asking cannot continue a run")
	}
	file, earlier, err := event.Continue(path)
	if err != nil {
		return nil, err
	}
	used, _ := event.Spent(earlier)
	again := *s
	again.Open = func(string) (Trajectory, error) { return file, nil }
	return again.start(ctx, earlier[0].Question.ID, func(ctx context.Context, r *Run) (err error) {
		r.allowance.Spend(used)
		r.out, err = asker.Continue(ctx, earlier, r, s.Limits)
		return err
	})
}

// Branch reruns the question of an earlier run. Calls to the model and the graphs that are the same as in the earlier
// run are answered from its events at no cost; calls that differ are actually made. The new run has a separate
// trajectory with the given id.
func (s *Service) Branch(ctx context.Context, id string, earlier []agent.Event) (*Run, error) {
	asker, ok := s.Asker.(Continuer)
	if !ok {
		return nil, errors.New("this way of asking cannot continue a run")
	}
	if len(earlier) == 0 || earlier[0].Question == nil {
		return nil, errors.New("the earlier run has no question")
	}
	return s.start(ctx, id, func(ctx context.Context, r *Run) (err error) {
		r.out, err = asker.Continue(ctx, earlier, r, s.Limits)
		return err
	})
}

// Solve answers q, with key as its ID, and waits for the run to end. It returns the results of [Run.Wait].
func (s *Service) Solve(ctx context.Context, key string, q agent.Question) (*agent.Outcome, error) {
	q.ID = key
	r, err := s.Start(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.Wait()
}

// Triage judges the last post. It has its own trajectory and its own allowance, of the same size as a question's. It
// returns any error from [agent.Engine.Triage], or an error if the trajectory could not be written.
func (s *Service) Triage(ctx context.Context, key, heading string, posts []agent.Post) (t *agent.Triage, err error) {
	r, err := s.start(ctx, key+"-triage", func(ctx context.Context, r *Run) (err error) {
		t, err = s.Triager.Triage(ctx, heading, posts, r, s.Limits)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err = r.Wait(); err != nil {
		return nil, err
	}
	return t, nil
}

// Asked judges whether a request was made before. Like Triage, it has its own trajectory and allowance. It returns any
// error from [agent.Engine.Asked], or an error if the trajectory could not be written.
func (s *Service) Asked(ctx context.Context, key string, a agent.Asked) (same *agent.Same, err error) {
	if s.Same == nil {
		return &agent.Same{Why: "nobody judges it"}, nil
	}
	r, err := s.start(ctx, key+"-asked", func(ctx context.Context, r *Run) (err error) {
		same, err = s.Same.Asked(ctx, a, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err = r.Wait(); err != nil {
		return nil, err
	}
	return same, nil
}

// start opens a trajectory, sets an allowance, and calls work in a goroutine.
func (s *Service) start(ctx context.Context, id string, work func(ctx context.Context, r *Run) error) (*Run, error) {
	file, err := s.Open(id)
	if err != nil {
		return nil, fmt.Errorf("the trajectory cannot be written: %w", err)
	}
	r := &Run{file: file, now: s.Now, allowance: llm.NewAllowance(llm.Limits{USD: s.Limits.USD}),
		wake: make(chan struct{}), done: make(chan struct{})}
	if logid.Of(ctx) == "" {
		ctx = logid.With(ctx, id)
	}
	s.Log.DebugContext(ctx, "a question began", "question", id)
	ctx, r.cancel = context.WithCancel(llm.WithAllowance(ctx, r.allowance))
	go func() {
		err := errors.New("the agent ended its goroutine") // stays set if work calls runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				s.Log.ErrorContext(ctx, "a run panicked", "question", id, "panic", p, "stack", string(debug.Stack()))
				err = fmt.Errorf("internal fault while answering: %v", p)
			}
			r.finish(err)
			s.Log.DebugContext(ctx, "a question ended", "question", id, "ending", r.end.Reason, "usd", r.Used().USD)
		}()
		err = work(ctx, r)
	}()
	return r, nil
}
