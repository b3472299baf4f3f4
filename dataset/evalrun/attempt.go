package evalrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// skipped is the reason given for an item that was not asked because it cannot be scored.
const skipped = "skipped"

// ask asks one item's question. If a service fails, ask tries again until the given time; after that, the item ends
// with [agent.OutOfTime]. An error stops the run, and the item counts as not asked.
func (r *runner) ask(ctx context.Context, it dataset.Item, k known, until time.Time) (*itemFile, error) {
	out := &itemFile{Schema: Schema, ID: it.ID, Result: rawResult("null"), Meta: Meta{Schema: Schema, ID: it.ID}}
	if k.item != nil {
		out.Attempts, out.Lost = k.item.Attempts, k.item.lostWith(k.item.Usage)
	}
	probe := Result{Gold: k.gold.Result, GoldError: k.gold.Error}
	if r.SkipUnscorable && probe.excluded() != "" {
		out.Reason, out.Detail = skipped, probe.excluded()
		return out, nil
	}
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, until.Sub(r.Now()), event.ErrOutOfTime)
		defer cancel()
	}
	late := func() bool { return errors.Is(context.Cause(ctx), event.ErrOutOfTime) }
	for try := 1; ; try++ {
		if late() { // another process already used up the time
			return out.late(), nil
		}
		a, err := r.attempt(ctx, it, k.gold)
		if a != nil && err != nil && late() {
			a.into(out)
			return out.late(), nil
		}
		if err != nil {
			return nil, err
		}
		a.into(out)
		if a.failure == nil {
			if try > 1 {
				r.Log.Info("an item succeeded after failures", "item", it.ID, "recovered", try-1)
			}
			return out, nil
		}
		out.Attempts = append(out.Attempts, Attempt{At: a.started.UTC(), Kind: a.failure.Kind, Message: a.detail})
		failed := r.Log.With("item", it.ID, "attempt", try, "kind", a.failure.Kind, "error", a.detail)
		wait := max(backoff(try), a.pause)
		if !a.again || try >= r.Tries || wait > maxPause ||
			a.pause > 0 && !until.IsZero() && a.pause > until.Sub(r.Now()) {
			failed.Warn("an item failed because of a service")
			return out, nil
		}
		failed.Warn("an item failed because of a service", "retry_in", wait)
		if err := r.Sleep(ctx, wait); err != nil && late() {
			return out.late(), nil
		} else if err != nil {
			return nil, err
		}
		out.Lost = out.lostWith(out.Usage)
	}
}

func (i *itemFile) late() *itemFile {
	i.Error, i.Answered, i.SPARQL, i.Result, i.Confidence = nil, false, "", rawResult("null"), 0
	i.Reason, i.Detail = string(agent.OutOfTime), "the time for all attempts at the item has passed"
	return i
}

type attempt struct {
	out     *agent.Outcome
	result  rawResult
	file    string // trajectory, in the run's folder
	started time.Time
	elapsed time.Duration
	usage   llm.Usage
	failure *Failure      // failure of a service
	detail  string        // details of the failure or the reason
	again   bool          // a retry may help
	pause   time.Duration // pause requested by the service

	examples  []string // IDs of solved questions shown to the model
	incidents int      // graph calls that failed because of the service
	refused   int      // repetitions and early stops
}

// attempt makes one attempt. An error stops the run; an attempt returned with an error was interrupted.
func (r *runner) attempt(ctx context.Context, it dataset.Item, gold *goldFile) (*attempt, error) {
	a := &attempt{started: r.Now()}
	parts, err := r.parts(it)
	if err != nil {
		return nil, err
	}
	parts.Right = r.right(it, gold)
	q := agent.Question{ID: it.ID, Text: it.Question, Language: r.Language}
	if it.Language != "" {
		q.Language = it.Language
	}
	if r.Golden {
		q.Entities = golden(ctx, r.Sources.Main(), it.SPARQL)
	}
	run, err := r.begin(ctx, r.New(parts), q)
	if errors.Is(err, ask.ErrNoQuestion) { // an error in the benchmark that affects only this item
		a.judge(err)
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.file = trajDir + "/" + FileName(it.ID) + ".jsonl"
	for _, e := range run.Events(context.WithoutCancel(ctx), 0) {
		a.count(e)
	}
	a.out, err = run.Wait()
	a.elapsed = r.Now().Sub(a.started)
	switch {
	case ctx.Err() != nil:
		a.usage, a.out = run.Used(), nil
		return a, context.Cause(ctx)
	case errors.Is(err, event.ErrChanged):
		r.Log.Warn("cannot continue an interrupted search; asking again", "item", it.ID, "error", err)
		if _, err := r.dir.freshTrajectory(FileName(it.ID)); err != nil {
			return nil, err
		}
		return r.attempt(ctx, it, gold)
	case event.IsWriteError(err):
		return nil, err
	case err == nil && stopsRun(a.out.Reason):
		return nil, fmt.Errorf("%w: %s", ErrBudget, a.out.Detail)
	}
	if a.usage = run.Used(); a.usage == (llm.Usage{}) && a.out != nil {
		a.usage = a.out.Usage // the model's calls were not recorded
	}
	a.judge(err)
	if err == nil && a.failure == nil && a.out.Answer != nil {
		a.result, err = bindings(a.out.Answer.Answers())
		return a, err
	}
	return a, nil
}

// right returns a function that reports whether an answer is correct according to gold, or nil if correctness does not
// matter or gold is missing.
func (r *runner) right(it dataset.Item, gold *goldFile) func(context.Context, *agent.Answer) bool {
	known := Result{ID: it.ID, Gold: gold.Result, GoldError: gold.Error, GoldSPARQL: gold.SPARQL}
	if r.UntilF1 <= 0 || !known.Scorable() {
		return nil
	}
	return func(ctx context.Context, a *agent.Answer) bool {
		said := known
		var err error
		if said.Result, err = bindings(a.Answers()); err != nil {
			return false
		}
		scores, err := r.Score(ctx, &said)
		return err == nil && slices.ContainsFunc(scores, func(s Score) bool {
			return s.Metric == r.UntilBy && s.F1 >= r.UntilF1
		})
	}
}

// begin asks the question. If a crash interrupted a branching search, it continues that search instead, since repeating
// the search may be expensive.
func (r *runner) begin(ctx context.Context, asker ask.Asker, q agent.Question) (*ask.Run, error) {
	service := ask.Service{Log: r.Log, Asker: asker, Limits: r.Limits, Now: r.Now}
	name := FileName(q.ID)
	if events, ok, err := r.dir.events(q.ID); ok && (err == nil || errors.Is(err, event.ErrTorn)) && r.Replay == nil &&
		unfinishedTree(events) {
		run, err := service.Continue(ctx, r.dir.path(trajDir, name+".jsonl"))
		if err == nil {
			return run, nil
		}
		r.Log.Warn("cannot continue an interrupted search; asking again", "item", q.ID, "error", err)
	}
	path, err := r.dir.freshTrajectory(name)
	if err != nil {
		return nil, err
	}
	service.Open = ask.File(path)
	return service.Start(ctx, q)
}

// unfinishedTree reports whether a trajectory contains a branching search that has not ended.
func unfinishedTree(events []event.Event) bool {
	tree := false
	for _, e := range events {
		if e.Event == "end" {
			return false
		}
		tree = tree || e.Event == "tree"
	}
	return tree
}

// parts returns the model and the graph for one attempt, from the recording if it contains the item.
func (r *runner) parts(it dataset.Item) (Parts, error) {
	p := Parts{Log: r.Log, Sources: r.Sources, Now: r.Now}
	if r.Replay != nil {
		replay, err := r.Replay.Item(it.ID)
		if err != nil {
			return p, fmt.Errorf("the recording: %w", err)
		}
		if replay != nil {
			p.Model, p.Sources = replay, agent.Replayed(replay)
			return p, nil
		}
	}
	if p.Model = r.Model(it); p.Model == nil {
		p.Model = noModel{}
	}
	return p, nil
}

// stopsRun reports whether the run's or the day's budget is spent. Reaching the question's own limit is a result like
// any other.
func stopsRun(r agent.Reason) bool { return r == agent.RunMoney || r == agent.DayMoney }

// judge distinguishes a service failure from an ending caused by the agent.
func (a *attempt) judge(err error) {
	if err != nil {
		a.failure, a.detail = failed(Internal), err.Error()
		return
	}
	a.detail, a.pause = a.out.Said(), a.out.Pause()
	switch {
	case a.out.Reason == agent.NoModel:
		a.failure = failed(NoModel)
	case !a.out.ServiceFailed():
	case a.out.Reason == agent.GraphFailed:
		a.failure, a.again = failed(GraphService), true
	default:
		var e *llm.Error
		a.failure = failed(ModelService)
		a.again = errors.As(a.out.Cause, &e) && e.Transient
	}
}

func failed(kind string) *Failure { return &Failure{Kind: kind, Message: failureTexts[kind]} }

func (a *attempt) into(f *itemFile) {
	f.Trajectory, f.Started, f.MS = a.file, a.started.UTC(), a.elapsed.Milliseconds()
	f.Usage, f.Incidents, f.Refused, f.Detail, f.Examples = a.usage, a.incidents, a.refused, a.detail, a.examples
	f.Error, f.Reason, f.Answered, f.SPARQL, f.Result, f.Steps, f.Confidence = a.failure, "", false, "", rawResult("null"),
		0, 0
	if a.out != nil {
		f.Steps, f.Reason, f.Language = len(a.out.Steps), string(a.out.Reason), a.out.Language
		f.Repairs, f.Nearest = a.out.Repairs, ""
		if a.out.Attempt != nil {
			f.Nearest = a.out.Attempt.Ran
		}
	}
	if a.result != nil {
		f.Answered, f.SPARQL, f.Result, f.Confidence = true, a.out.Answer.Ran, a.result, a.out.Confidence
	}
}

// noModel is the model used for an item that has none.
type noModel struct{}

// Complete fails with [llm.ErrNoModel].
func (noModel) Complete(context.Context, llm.Request) (*llm.Response, error) {
	return nil, llm.ErrNoModel
}

// count counts events of interest to readers of the run.
func (a *attempt) count(e event.Event) {
	switch {
	case e.Event == "graph" && e.Call != nil && e.Call.Failure != nil && passing(e.Call.Failure.Kind):
		a.incidents++
	case e.Event == "graph":
		for _, x := range e.Call.Examples() {
			if !slices.Contains(a.examples, x.ID) {
				a.examples = append(a.examples, x.ID)
			}
		}
	case e.Event == "rollback", e.Event == "step" && e.Reason != "":
		a.refused++
	}
}
