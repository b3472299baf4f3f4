package annotate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// Resolution is the Annotator of a [Work] that is the outcome of comparing works. No annotator can have this name.
const Resolution = ""

// Work is an annotator's version of a candidate.
type Work struct {
	Candidate string `json:"candidate"`
	Annotator string `json:"annotator"`    // a name, or [Resolution]
	By        string `json:"by,omitempty"` // for a resolution, the person who resolved the case
	Version   int64  `json:"version"`      // number of saves; 0 if not yet saved

	Query    string          `json:"query"`
	Question string          `json:"question"`
	Verdict  dataset.Verdict `json:"verdict,omitempty"` // "" if there is none yet
	Reason   string          `json:"reason,omitempty"`  // for exclude, the key of one of [Reasons]
	Note     string          `json:"note,omitempty"`    // free text

	Decided time.Time `json:"decided,omitzero"` // when the verdict was given; zero if there is none or it is skip
	Updated time.Time `json:"updated,omitzero"`
}

// HasVerdict reports whether the work has a verdict other than skip: include, modify, or exclude.
func (w *Work) HasVerdict() bool { return decided(w.Verdict) }

// Keeps reports whether the verdict makes the candidate an item.
func (w *Work) Keeps() bool { return w.Verdict == dataset.Include || w.Verdict == dataset.Modify }

func decided(v dataset.Verdict) bool {
	return v == dataset.Include || v == dataset.Modify || v == dataset.Exclude
}

// EventKind is the kind of change made by an event.
type EventKind string

// The kinds of event.
const (
	Edited   EventKind = "edit"    // text changed
	Judged   EventKind = "verdict" // a verdict was given or changed back to skip
	Undone   EventKind = "undo"    // the event with Seq Undoes was undone
	Restored EventKind = "restore" // text was restored from an older version
)

// Event is one change to a work. Events are never changed or removed.
type Event struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Kind   EventKind `json:"kind"`
	Undoes int64     `json:"undoes,omitempty"` // Seq of the undone event
	Work   Work      `json:"work"`             // the work after the event
}

// ErrConflict means that the work was changed after it was read.
var ErrConflict = errors.New("another person or another tab has changed this since it was read")

// Store stores works and events. internal/store implements it; tests use that implementation with a temporary file.
type Store interface {
	// Works lists the works on a candidate, or all works if candidate is "", sorted by candidate and annotator (so a
	// resolution comes first).
	Works(ctx context.Context, candidate string) ([]Work, error)
	// SaveWork atomically stores w and appends e, whose Work becomes w; both are durable when it returns. w.Version is the
	// version on which w is based, or 0 for a new work; SaveWork increments it. If a different version is stored, the
	// error wraps [ErrConflict] and nothing is written.
	SaveWork(ctx context.Context, w *Work, e *Event) error
	// WorkEvents lists the events for a candidate by the annotator named who, oldest first. An empty candidate or who
	// matches all.
	WorkEvents(ctx context.Context, candidate, who string) ([]Event, error)
}

// State is the combined progress of all annotators on a candidate.
type State string

// The states.
const (
	Open      State = "open"      // no verdict yet
	Annotated State = "annotated" // one verdict
	Agreed    State = "agreed"    // two or more equal verdicts, not yet confirmed
	Disputed  State = "disputed"  // verdicts or queries differ
	Resolved  State = "resolved"  // agreement confirmed or dispute resolved
)

// Case is a candidate with all of the annotators' work on it, created by [NewCase].
type Case struct {
	Candidate  *dataset.Candidate
	Works      []Work   // the annotators' works: works with a verdict come first, in the order of their verdicts
	Resolution *Work    // if nil or without a verdict, the case is not resolved
	Assigned   []string // names of the annotators who should judge the candidate

	state State // "" until [Case.State] is called
}

// NewCase returns a case with the works on a candidate.
func NewCase(c *dataset.Candidate, works []Work) Case {
	out := Case{Candidate: c}
	for i := range works {
		if works[i].Annotator == Resolution {
			w := works[i]
			out.Resolution = &w
			continue
		}
		out.Works = append(out.Works, works[i])
	}
	slices.SortStableFunc(out.Works, func(a, b Work) int {
		switch {
		case a.HasVerdict() != b.HasVerdict():
			if a.HasVerdict() {
				return -1
			}
			return 1
		case !a.Decided.Equal(b.Decided):
			return a.Decided.Compare(b.Decided)
		}
		return strings.Compare(a.Annotator, b.Annotator)
	})
	return out
}

// Decided returns the works with a verdict, in the order in which the verdicts were given.
func (c *Case) Decided() []Work {
	n := 0
	for n < len(c.Works) && c.Works[n].HasVerdict() {
		n++
	}
	return c.Works[:n]
}

// Own returns an annotator's work, or a new work that starts with the harvested query.
func (c *Case) Own(who string) *Work {
	if w := c.Of(who); w != nil {
		return w
	}
	return &Work{Candidate: c.Candidate.ID, Annotator: who, Query: StartQuery(c.Candidate)}
}

// Of returns an annotator's work, or nil if there is none.
func (c *Case) Of(annotator string) *Work {
	for i := range c.Works {
		if c.Works[i].Annotator == annotator {
			return &c.Works[i]
		}
	}
	return nil
}

// State returns the progress of the case. It caches the result, because comparing queries is slow.
func (c *Case) State() State {
	if c.state == "" {
		c.state = c.findState()
	}
	return c.state
}

func (c *Case) findState() State {
	if c.Resolution != nil && c.Resolution.HasVerdict() {
		return Resolved
	}
	ws := c.Decided()
	switch len(ws) {
	case 0:
		return Open
	case 1:
		return Annotated
	}
	if len(Differences(ws)) > 0 {
		return Disputed
	}
	return Agreed
}

// Final returns the work that is exported: the resolution or, if validated is false, the undisputed work with the first
// verdict (among equal verdicts, the first work with a question, since a validator may leave the question empty). It
// returns nil if there is none yet.
func (c *Case) Final(validated bool) *Work {
	switch c.State() {
	case Resolved:
		return c.Resolution
	case Annotated, Agreed:
		ws := c.Decided()
		for i := range ws {
			if !validated && (!ws[i].Keeps() || !blank(ws[i].Question)) {
				return &ws[i]
			}
		}
	}
	return nil
}

// Excludes reports whether the annotators have decided, without dispute, to exclude the candidate.
func (c *Case) Excludes() bool {
	w := c.Final(false)
	return w != nil && !w.Keeps()
}

// Differences returns how decided works differ from the first one: verdicts_differ, and queries_differ for works that
// keep the candidate. Different wordings of a question are not a dispute, since no two annotators write the same text;
// whoever confirms the verdict chooses one.
func Differences(ws []Work) []string {
	var out []string
	verdict, query := false, false
	for i := 1; i < len(ws); i++ {
		verdict = verdict || ws[i].Verdict != ws[0].Verdict
		query = query || ws[0].Keeps() && ws[i].Keeps() && !sameQuery(ws[i].Query, ws[0].Query)
	}
	if verdict {
		out = append(out, "verdicts_differ")
	}
	if query {
		out = append(out, "queries_differ")
	}
	return out
}
