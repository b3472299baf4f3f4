package event

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Ending describes how a run ended. The zero Ending means that the run found an answer. Callers distinguish endings by
// Reason and Cause; Detail is for people.
type Ending struct {
	Reason Reason
	Detail string // one line for logs
	// the error that stopped the run, if any: a *llm.BudgetError, *llm.Error, *kg.Error, the context's cause, …
	Cause error
}

// Reason is why a run ended without an answer.
type Reason string

// The reasons. Files from older versions also use "money" for other money limits and for token limits.
const (
	Answered Reason = ""         // there is an answer
	NoModel  Reason = "no_model" // no model is configured for this question
	// the model stopped without a query that returns a result, or reported that the graph has no answer
	NotFound     Reason = "not_found"
	OutOfActions Reason = "actions"   // the limit on actions or messages was reached
	Loop         Reason = "loop"      // the model kept repeating itself
	OutOfTime    Reason = "time"      // the run's time limit was reached
	OutOfTokens  Reason = "tokens"    // the request's limit on tokens or on calls to the model was reached
	RequestMoney Reason = "money"     // the request's money limit was reached
	RunMoney     Reason = "run_money" // the benchmark run's money limit was reached
	DayMoney     Reason = "day_money" // the money limit for the UTC day was reached
	// the model's service failed permanently, or the model wrote nothing readable
	ModelFailed Reason = "model_failed"
	GraphFailed Reason = "graph_failed" // the graph failed permanently
	// the final query could not be converted to its posting form, or failed when it was run again
	CannotPublish Reason = "cannot_publish"
	Canceled      Reason = "cancelled" // the caller canceled the run
	GivenUp       Reason = "given_up"  // the person who reviewed the run gave up on the question
	Broken        Reason = "internal"  // a bug in this program
)

// Transient reports whether the same question may succeed if asked again later.
func (r Reason) Transient() bool { return r == ModelFailed || r == GraphFailed }

// Budget reports whether a limit on calls, tokens or money ended the run.
func (r Reason) Budget() bool {
	return r == OutOfTokens || r == RequestMoney || r == RunMoney || r == DayMoney
}

// ErrUnreadable is the cause if unreadable turns end a run: the model responded, but not in a form that the agent
// understands.
var ErrUnreadable = errors.New("the model wrote nothing that could be read")

// ErrOutOfTime is the cause of a context that was canceled by the run's own time limit.
var ErrOutOfTime = errors.New("the time limit of the run has passed")

// ServiceFailed reports whether the model's or the graph's service failed. It returns false if the model wrote nothing
// readable or cannot accept a conversation of this length.
func (e Ending) ServiceFailed() bool {
	switch e.Reason {
	case GraphFailed:
		return true
	case ModelFailed:
		return !errors.Is(e.Cause, ErrUnreadable) && !errors.Is(e.Cause, llm.ErrContextLength)
	}
	return false
}

// Pause returns the pause that the failed service requested, or 0 if it did not request one.
func (e Ending) Pause() time.Duration {
	var asks interface{ RetryIn() time.Duration }
	if !errors.As(e.Cause, &asks) {
		return 0
	}
	return asks.RetryIn()
}

// Said returns Detail, followed by the pause that the service requested, if any.
func (e Ending) Said() string {
	if wait := e.Pause().Round(time.Second); wait > 0 {
		return fmt.Sprintf("%s; the service requested a pause of %s", e.Detail, wait)
	}
	return e.Detail
}

// EndingOf returns the ending of a run that was stopped by a failed call to the model. For a nil error, it returns the
// zero Ending. An [llm.ErrBudget] that does not name an account is attributed to the request's account.
func EndingOf(err error) Ending {
	if err == nil {
		return Ending{}
	}
	return Ending{Reason: reasonOf(err), Detail: err.Error(), Cause: err}
}

func reasonOf(err error) Reason {
	var over *llm.BudgetError
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return NoModel
	case errors.As(err, &over):
		return reasonOfBudget(over)
	case errors.Is(err, llm.ErrBudget):
		return RequestMoney
	}
	return ModelFailed
}

// Stopped returns the ending of a run that was stopped by an error other than a [Halt]: by its caller, or by a bug in
// this program.
func Stopped(err error) Ending {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Ending{Reason: Canceled, Detail: err.Error(), Cause: err}
	}
	return Ending{Reason: Broken, Detail: err.Error(), Cause: err}
}

func reasonOfBudget(e *llm.BudgetError) Reason {
	switch {
	case e.Account == llm.DayAccount:
		return DayMoney
	case e.Account == llm.RunAccount:
		return RunMoney
	case e.Measure == llm.USD:
		return RequestMoney
	}
	return OutOfTokens
}

// Cause is an error as stored in a trajectory. It contains what a program needs to know about the error, so that no
// reader has to parse the message.
type Cause struct {
	Kind      CauseKind        `json:"kind"`
	Message   string           `json:"message"`
	Budget    *llm.BudgetError `json:"budget,omitempty"`    // for kind budget: the error, if known
	Status    int              `json:"status,omitempty"`    // for kind model: the HTTP status, or 0 for a network error
	Code      string           `json:"code,omitempty"`      // for kind model: the service's own code
	Transient bool             `json:"transient,omitempty"` // for kind model: the same call may succeed later
	Refused   bool             `json:"refused,omitempty"`   // for kind model: the connection was refused
	Graph     kg.Kind          `json:"graph,omitempty"`     // for kind graph: the kind of failure
	RetryMS   int64            `json:"retry_ms,omitempty"`  // for kinds model and graph: the requested pause
}

// CauseKind is the kind of a [Cause].
type CauseKind string

// The kinds of causes.
const (
	CauseNoModel       CauseKind = "no_model"       // llm.ErrNoModel
	CauseBudget        CauseKind = "budget"         // llm.ErrBudget
	CauseContextLength CauseKind = "context_length" // llm.ErrContextLength
	CauseNoTools       CauseKind = "no_tools"       // llm.ErrNoTools
	CauseNoStrict      CauseKind = "no_strict"      // llm.ErrNoStrict
	CauseModel         CauseKind = "model"          // *llm.Error
	CauseUnreadable    CauseKind = "unreadable"     // the model wrote nothing that could be read
	CauseGraph         CauseKind = "graph"          // *kg.Error
	CauseTime          CauseKind = "time"           // the run's own time limit
	CauseCanceled      CauseKind = "cancelled"      // the caller's context
	CauseOther         CauseKind = "other"
)

// CauseOf returns err as stored in a trajectory, or nil if err is nil.
func CauseOf(err error) *Cause {
	if err == nil {
		return nil
	}
	c := &Cause{Kind: CauseOther, Message: err.Error()}
	var model *llm.Error
	var graph *kg.Error
	switch {
	case errors.Is(err, llm.ErrNoModel):
		c.Kind = CauseNoModel
	case errors.As(err, &c.Budget), errors.Is(err, llm.ErrBudget):
		c.Kind = CauseBudget
	case errors.Is(err, llm.ErrContextLength):
		c.Kind = CauseContextLength
	case errors.Is(err, llm.ErrNoTools):
		c.Kind = CauseNoTools
	case errors.Is(err, llm.ErrNoStrict):
		c.Kind = CauseNoStrict
	case errors.As(err, &model):
		c.Kind, c.Status, c.Code, c.Transient, c.Refused = CauseModel, model.Status, model.Code, model.Transient,
			model.Refused
		c.Message, c.RetryMS = model.Message, model.RetryAfter.Milliseconds()
	case errors.As(err, &graph):
		c.Kind, c.Graph, c.Message, c.RetryMS = CauseGraph, graph.Kind, graph.Message, graph.RetryAfter.Milliseconds()
	case errors.Is(err, ErrUnreadable):
		c.Kind = CauseUnreadable
	case errors.Is(err, ErrOutOfTime):
		c.Kind = CauseTime
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		c.Kind = CauseCanceled
	}
	return c
}

// Err returns an error equivalent to the one that c was created from: errors.Is and errors.As return the same results
// if the kind is known. Err returns nil if c is nil.
func (c *Cause) Err() error {
	if c == nil {
		return nil
	}
	known := map[CauseKind]error{CauseNoModel: llm.ErrNoModel, CauseBudget: llm.ErrBudget,
		CauseContextLength: llm.ErrContextLength, CauseNoTools: llm.ErrNoTools, CauseNoStrict: llm.ErrNoStrict,
		CauseUnreadable: ErrUnreadable, CauseTime: ErrOutOfTime, CauseCanceled: context.Canceled}[c.Kind]
	switch {
	case c.Budget != nil:
		return c.Budget
	case known != nil:
		return &recordedCause{c.Message, known}
	case c.Kind == CauseModel:
		return &llm.Error{Status: c.Status, Code: c.Code, Message: c.Message, Transient: c.Transient,
			Refused: c.Refused, RetryAfter: time.Duration(c.RetryMS) * time.Millisecond}
	case c.Kind == CauseGraph:
		return &kg.Error{Kind: c.Graph, Message: c.Message, RetryAfter: time.Duration(c.RetryMS) * time.Millisecond}
	}
	return errors.New(c.Message)
}

// recordedCause is an error of a known kind with its original text.
type recordedCause struct {
	text string
	kind error
}

func (e *recordedCause) Error() string { return e.text }
func (e *recordedCause) Unwrap() error { return e.kind }

// Halt is an error that ends a run in an orderly way: it becomes the outcome's ending. All other errors are returned to
// the caller.
type Halt struct{ Ending }

// Error describes the ending.
func (h *Halt) Error() string { return string(h.Reason) + ": " + h.Detail }

// Unwrap returns the cause.
func (h *Halt) Unwrap() error { return h.Cause }

// NewHalt returns a [Halt].
func NewHalt(r Reason, cause error, format string, args ...any) *Halt {
	return &Halt{Ending{Reason: r, Cause: cause, Detail: fmt.Sprintf(format, args...)}}
}
