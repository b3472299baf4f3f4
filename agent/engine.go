package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spinachbot/spinachbot/agent/confidence"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Options are the [Engine] settings that are the same for all questions. The zero value is usable.
type Options struct {
	Preset   *preset.Preset  // [preset.Default] if nil
	Policy   string          // the policy's name; the preset's first policy if empty
	Runs     int             // number of independent attempts, for policies that make several; the policy decides if 0
	Doubt    float64         // confidence, from 0 to 1, below which the asker is also asked a clarifying question
	Variants []step.Variant  // used by the attempts in turn; the first is Preset; if nil, see [step.Runner.Try]
	Reviewer policy.Reviewer // replaces Policy with a person who decides on each turn; may be nil
	Examples int             // number of solved questions to show before the first turn; the preset's number if 0
	Notes    int             // maximum number of approved notes in the prompt; the preset's number if 0
	Notebook tool.Notebook   // only for presets that take notes
	// Right reports whether an answer is known to be right. If it is not nil, a tree search continues until it finds a
	// right answer. It is nil for real questions, whose correct answer is not known.
	Right    func(ctx context.Context, a *Answer) bool
	Services func(iri string) bool // addresses that SERVICE may name besides Wikidata's services; none if nil
	// Faithful compares what the model tells the asker with the result, lets the model correct its text once, and removes
	// sentences with unsupported claims; see package faithful.
	Faithful bool
	// Proofread first has the model reread what it tells the asker, in a single call. It applies only if Faithful is
	// set.
	Proofread bool
	// cache of the graphs' responses, shared by all questions; nil for none
	Memory *tool.Memory
	// stream messages if the recorder is an [event.Listener]
	Stream bool
}

// Engine answers questions. It stores no per-question state, so any number of questions may be asked concurrently.
type Engine struct {
	lg      *slog.Logger
	model   Model
	sources Sources
	now     func() time.Time
	opts    Options
	// what the model's server turned out not to support: tool calls, or strict schemas for them
	noTools, noStrict atomic.Bool
}

// New returns an engine for the graphs in sources, which must not be empty. Without a labeler, items in results have no
// labels, and the model is not told the labels of IDs that it has not seen. now is the clock for limits and timestamps.
func New(lg *slog.Logger, model Model, sources Sources, now func() time.Time, opts Options) *Engine {
	if opts.Preset == nil {
		opts.Preset = preset.Default()
	}
	if opts.Policy == "" {
		opts.Policy = opts.Preset.Policies[0]
	}
	if opts.Reviewer != nil {
		opts.Policy = reviewPolicy
	}
	if opts.Examples > 0 {
		p := *opts.Preset
		if p.Examples.N = opts.Examples; p.Examples.Force == "" {
			p.Examples.Force = tool.SimilarName
		}
		opts.Preset = &p
	}
	if opts.Notes > 0 {
		p := *opts.Preset
		p.Notes.N = opts.Notes
		opts.Preset = &p
	}
	if opts.Preset.Notes.N == 0 { // do not log notes that are not shown
		sources = slices.Clone(sources)
		for i := range sources {
			sources[i].Notes = nil
		}
	}
	return &Engine{lg: lg, model: model, sources: opts.Memory.Around(sources), now: now, opts: opts}
}

// reviewPolicy is the policy name in the start event of a run that a person reviews.
const reviewPolicy = "review"

// run is the state of a single run.
type run struct {
	*step.Runner
	state    step.State
	doubt    float64 // see [Options]
	faithful bool
	proofs   bool // the model proofreads what it tells the asker
}

// Limits on how much of a question and its history is shown, because a post can be as long as a page.
const (
	maxQuestion = 16_000 // characters
	maxHistory  = 6      // number of most recent earlier turns
)

// Ask searches for the query that answers q. Every event is passed to rec before the next one occurs.
//
// A run that ends in an orderly way returns an Outcome: an answer, or the reason why there is none. An error means that
// the caller must stop: either ctx is done (canceled by the caller, not by the run's own time limit), or the trajectory
// could not be written. An Outcome returned with an error contains what was found so far and must not be published.
func (e *Engine) Ask(ctx context.Context, q Question, rec Recorder, limits Limits) (out *Outcome, err error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, errors.New("agent: the question is empty")
	}
	return e.ask(ctx, q, rec, e.limits(limits))
}

// Continue continues a run that was cut off, for example by a crash. earlier contains the run's events, and the engine
// must have the same settings as before. The run is replayed with the recorded responses of the model and the graphs,
// so rec receives all events, starting with the first; see [event.Continued]. The time limit includes the time that the
// earlier run took. Otherwise, Continue is like Ask.
func (e *Engine) Continue(ctx context.Context, earlier []Event, rec Recorder, limits Limits) (*Outcome, error) {
	if len(earlier) == 0 || earlier[0].Question == nil {
		return nil, errors.New("agent: the earlier run has no question")
	}
	if _, took := event.Spent(earlier); limits.Time > 0 {
		limits.Time = max(limits.Time-took, time.Millisecond)
	}
	record := event.NewEarlier(earlier)
	opts := e.opts
	opts.Memory = nil // the sources already use the cache
	if opts.Reviewer != nil {
		opts.Reviewer = policy.Recalled(earlier, opts.Reviewer)
	}
	again := New(e.lg, recalled{record, e.model}, e.sources.Recalled(record), e.now, opts)
	again.noTools.Store(e.noTools.Load() || !slices.ContainsFunc(earlier, func(e Event) bool {
		return e.Request != nil && len(e.Request.Tools) > 0
	}) && slices.ContainsFunc(earlier, func(e Event) bool { return e.Request != nil && e.Request.Purpose == "act" }))
	return again.ask(ctx, *earlier[0].Question, rec, again.limits(limits))
}

// recalled is a model that returns the responses recorded in an earlier run until none are left.
type recalled struct {
	earlier *event.Earlier
	live    Model
}

func (m recalled) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if resp, err, ok := m.earlier.Complete(req); ok {
		return resp, err
	}
	return m.live.Complete(ctx, req)
}

// search returns the policy named in the options.
func (e *Engine) search() (policy.Policy, error) {
	if e.opts.Reviewer != nil {
		return policy.Review(e.opts.Reviewer), nil
	}
	return policy.Named(e.opts.Policy)
}

// ask is like Ask, but requires all limits to be set.
func (e *Engine) ask(ctx context.Context, q Question, rec Recorder, limits Limits) (out *Outcome, err error) {
	search, err := e.search()
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	q.Text, q.History = render.Clip(q.Text, maxQuestion), q.History[max(0, len(q.History)-maxHistory):]
	var live func(llm.Delta)
	if l, ok := rec.(event.Listener); ok && e.opts.Stream {
		live = l.Live
	}
	r := &run{doubt: e.opts.Doubt, faithful: e.opts.Faithful, proofs: e.opts.Proofread,
		Runner: e.runner(q, event.NewLog(rec, e.now, 0), limits, live)}
	out = &Outcome{}
	defer func() {
		if p := recover(); p != nil {
			e.lg.ErrorContext(ctx, "agent: panic", "question", q.ID, "panic", p, "stack", string(debug.Stack()))
			out.Answer, err = nil, fmt.Errorf("agent: internal fault while answering: %v", p)
		}
		err = errors.Join(err, r.end(ctx, out, err))
	}()
	b := r.Events.Branch(0)
	if err := b.Record(ctx, Event{Event: "start", Format: event.Format, Question: &q, Preset: e.opts.Preset.Name,
		Policy: e.opts.Policy, Graphs: e.sources.Log(), Limits: r.Meter.Limits().Fields()}); err != nil {
		return out, err
	}
	bounded, cancel := r.Meter.Deadline(ctx)
	defer cancel()
	err = r.answer(bounded, b, search, out)
	return out, r.settle(ctx, bounded, out, err)
}

// limits fills in zero fields of the caller's limits from the preset, or from the defaults if the preset does not set
// them.
func (e *Engine) limits(l Limits) Limits {
	p := e.opts.Preset.Limits
	if policy.Branches(e.opts.Policy) { // the depth of a tree search is one of its parameters
		p.Counted = e.opts.Preset.Search.Depth
		if p.Total > 0 {
			p.Total = max(p.Total, p.Counted)
		}
	}
	if l.Calls <= 0 && policy.Trees(e.opts.Policy) {
		l.Calls = e.opts.Preset.Search.Calls
	}
	if l.Total <= 0 && p.Total > 0 {
		l.Total = max(p.Total, l.Counted)
	}
	if l.Counted <= 0 {
		l.Counted = p.Counted
	}
	if l.FormatErrors <= 0 {
		l.FormatErrors = p.FormatErrors
	}
	return l.WithDefaults()
}

// answer answers the question: it determines the language, explores, runs the final query and writes the report.
func (r *run) answer(ctx context.Context, b *event.Branch, search policy.Policy, out *Outcome) error {
	r.state = r.Start(b.At())
	if err := r.findLanguage(ctx, b); err != nil {
		return err
	}
	var f step.Final
	var err error
	if r.state, err = r.Open(ctx, b.At()); err == nil {
		r.state, f, err = search(ctx, r.Runner, r.state)
	}
	if err == nil {
		r.state, f, err = r.Settle(ctx, r.state, f)
	}
	if err != nil {
		return err
	}
	if f.Answer == nil && f.Attempt != nil {
		f.Attempt = r.WithLabels(ctx, r.state, f.Attempt)
	}
	out.Answer, out.Attempt, out.Ending = f.Answer, f.Attempt, f.Ending
	b = r.Events.Branch(r.state.At())
	if a := f.Answer; a != nil {
		if out.Features = f.Features; out.Features == nil {
			out.Features = r.Features(r.state, f)
		}
		out.Confidence, out.Probed = confidence.Usual().Of(out.Features), r.state.Probed(a)
		a = r.WithLabels(ctx, r.state, a)
		f.Answer, out.Answer = a, a
		if err := b.Record(ctx, Event{Event: "final", SPARQL: a.SPARQL, Ran: a.Ran, KG: a.KG, Table: a.Table,
			Endpoint: a.Endpoint, Columns: a.Columns, Headers: a.Headers, Assumed: a.Assumed, Open: a.Open}); err != nil {
			return err
		}
	}
	if err := r.clarify(ctx, b, f, out); err != nil {
		return err
	}
	out.Short = said(f.Text)
	if out.Report = said(f.Words()); out.Report == "" {
		err = r.report(ctx, b, out)
		out.Short = out.Report
	}
	if err == nil && r.faithful {
		err = r.compare(ctx, b, out)
	}
	r.state = r.state.Ended(b.At())
	return err
}

// findLanguage determines the asker's language. It uses the question's language if known, and otherwise the preset's
// language, the language that the model names, or English, in that order.
func (r *run) findLanguage(ctx context.Context, b *event.Branch) error {
	r.Language = tool.English
	if l, ok := tool.LanguageOf(r.Question.Language); ok && r.Question.Language != "" {
		r.Language = l
		sure, ok := tool.SureLanguage(r.Question.Text)
		if ok && sure.Code != l.Code && !r.Question.Firm && r.Preset.Language == preset.Detect {
			r.Language = tool.Language{Code: l.Code} // used only for labels: the model can see the question's language
		}
		return nil
	}
	if r.Preset.Language == preset.Detect {
		r.Language = tool.GuessLanguage(r.Question.Text)
		return nil
	}
	if l, ok := tool.LanguageOf(r.Preset.Language); ok && r.Preset.Language != "" {
		r.Language = tool.Language{Code: l.Code} // used only for labels: the question's language remains unknown
		return nil
	}
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "language", MaxTokens: 50, Data: map[string]any{"Language": ""}})
	if err != nil {
		return err
	}
	if l, known := tool.LanguageOf(text); ok && known {
		r.Language = l
	}
	return nil
}

// settle decides whether err ends the run in an orderly way or must be returned to the caller. If the run ends in an
// orderly way, settle stores the reason in out. A limit that is reached after an answer was found does not discard the
// answer.
func (r *run) settle(outer, bounded context.Context, out *Outcome, err error) error {
	var h *event.Halt
	switch {
	case err == nil:
		return nil
	case outer.Err() != nil:
		return outer.Err()
	case bounded.Err() != nil && errors.Is(context.Cause(bounded), event.ErrOutOfTime) && !event.IsWriteError(err):
		h = event.NewHalt(OutOfTime, event.ErrOutOfTime, "the limit of %s has passed", r.Meter.Limits().Time)
	case !errors.As(err, &h):
		return err
	}
	if out.Answer == nil {
		out.Ending = h.Ending
	}
	return nil
}

// end completes the outcome and writes the last event. It is called on every exit path.
func (r *run) end(ctx context.Context, out *Outcome, err error) error {
	out.Language, out.Steps, out.Feedback = r.Language.Code, r.state.Steps(), r.state.Verdict()
	out.Usage, out.Elapsed, out.Repairs = r.Meter.Usage(), r.Meter.Elapsed(), r.Meter.Repairs()
	if err != nil {
		out.Ending = event.Stopped(err)
	}
	if event.IsWriteError(err) {
		return nil // err already contains the write error
	}
	return r.Events.Branch(r.state.At()).Record(ctx, Event{Event: "end", Reason: string(out.Reason), Asks: out.Asks,
		Detail: out.Detail, Cause: event.CauseOf(out.Cause),
		Report: out.Report, Language: out.Language, Confidence: out.Confidence,
		Features: out.Features, Usage: &out.Usage, Repairs: out.Repairs})
}

// clarify adds a clarifying question to the outcome if the answer is not certain enough, or if a comparison of several
// answers did not choose one.
func (r *run) clarify(ctx context.Context, b *event.Branch, f step.Final, out *Outcome) (err error) {
	if r.doubt <= 0 || f.Answer != nil && out.Confidence >= r.doubt || f.Answer == nil && len(f.Rivals) == 0 {
		return nil
	}
	options := f.Rivals
	if len(options) == 0 {
		options = []step.Option{{Answer: f.Answer}}
	}
	out.Readings = r.state.Readings(options)
	out.Asks, err = r.Clarify(ctx, b, r.state, options, f.Votes.Tries)
	return err
}

// maxReport is the maximum number of characters in a report. The model is asked for one to three sentences.
const maxReport = 2000

// said returns the part of the model's text that the asker sees.
func said(text string) string { return render.Clip(strings.TrimSpace(render.Clean(text)), maxReport) }

// report asks the model for a short answer in the asker's language. Without a report, the reply contains only fixed
// sentences, so a failure here is harmless.
func (r *run) report(ctx context.Context, b *event.Branch, out *Outcome) error {
	if !r.Preset.Report {
		return nil
	}
	if out.Answer == nil && (out.Reason == NoModel || out.Reason == GivenUp || out.Reason.Budget() ||
		out.Reason == OutOfTime ||
		out.Reason.Transient()) {
		return nil
	}
	data := map[string]any{"Why": render.Clip(render.Fold(out.Detail), 300), "Steps": r.state.Steps(), "SPARQL": ""}
	if a := out.Answer; a != nil {
		data["SPARQL"], data["Result"] = a.SPARQL, r.Preset.Show.Rows.Table(a.Table, a.Names())
		data["Notes"] = r.state.Notes()
	}
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "report", MaxTokens: 1500, Data: data})
	var h *event.Halt
	if errors.As(err, &h) {
		return nil // the answer is valid without a report
	}
	if ok {
		out.Report = said(text)
	}
	return err
}
