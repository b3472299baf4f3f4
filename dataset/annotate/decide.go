package annotate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Choice is an option that an annotator can choose by pressing a key.
type Choice struct{ Key, Name, Help string }

// Reasons lists the reasons for excluding a candidate: those in the SPINACH paper (section 3.1, appendix C) and others
// that make a question-query pair useless.
var Reasons = []Choice{
	{"wikimedia", "Presentation of Wikimedia projects",
		"articles, sitelinks, what one Wikipedia has and another lacks"},
	{"code", "Help with code", "its meaning cannot be said in plain words"},
	{"optimisation", "Only about the time limit", "hints and restructurings"},
	{"formatting", "Only formatting", "labels, images, links, concatenations"},
	{"meaning", "Meaning unclear", "nobody can tell what was wanted"},
	{"wrong", "The query is wrong", "it does not answer what was asked and cannot be corrected"},
	{"duplicate", "Duplicate", "another candidate or a published benchmark has it"},
	{"other", "Other", "say what in the note"},
}

// Refusal is the error returned for a change that the case does not allow. Its message tells the annotator what to do.
type Refusal string

// Error returns the message for the annotator.
func (r Refusal) Error() string { return string(r) }

// The refusals. The page shows a refusal in the reader's language.
const (
	RefusedEmptied   Refusal = "You have kept this with a question: write the new one, or change the verdict. The old question stays until then."
	RefusedSkip      Refusal = "A comparison cannot be skipped: go to another one with j."
	RefusedChanged   Refusal = "The query is not the harvested one any more: choose Modify (m), or take the harvested one back (o)."
	RefusedUnchanged Refusal = "The query is still the harvested one: choose Include (i), or change it first."
	RefusedQuestion  Refusal = "Write the question first (w)."
	RefusedReason    Refusal = "Say why it is excluded."
	RefusedNote      Refusal = "“Other” needs a note that says why."
	RefusedName      Refusal = "Please give a name: your verdicts are kept under it."
	RefusedLongName  Refusal = "Please give a name of at most 40 characters."
	RefusedLetters   Refusal = "Please give a name of letters, digits and - _ . ' ( )."
)

// StartQuery returns the query that an annotator starts with.
func StartQuery(c *dataset.Candidate) string { return cmp.Or(c.Cleaned, c.Original) }

// Rewrite replaces a work's query, question, and note. A verdict is valid only for the query for which it was given, so
// changing the query withdraws the verdict. The question cannot be removed from a work whose verdict keeps the
// candidate.
func (w *Work) Rewrite(query, question, note string) (withdrawn bool, err error) {
	if w.Keeps() && !blank(w.Question) && blank(question) {
		return false, RefusedEmptied
	}
	withdrawn = w.HasVerdict() && !sameQuery(w.Query, query)
	w.Query, w.Question, w.Note = query, question, note
	if withdrawn {
		w.Verdict, w.Reason = "", ""
	}
	return withdrawn, nil
}

// Restore restores the question, query, and note from an older version. It withdraws the verdict if it would not be
// valid for the restored version.
func (w *Work) Restore(old *Work) {
	emptied := w.Keeps() && !blank(w.Question) && blank(old.Question)
	if w.HasVerdict() && (emptied || !sameQuery(w.Query, old.Query)) {
		w.Verdict, w.Reason = "", ""
	}
	w.Query, w.Question, w.Note = old.Query, old.Question, old.Note
}

// Judge checks whether the case allows a work's verdict for its question and query. The error is a [Refusal]. changed
// reports whether the work keeps a query that differs from the harvested query; the new query must have been run.
func (c *Case) Judge(w *Work) (changed bool, err error) {
	resolution := w.Annotator == Resolution
	changed = !sameQuery(w.Query, StartQuery(c.Candidate))
	switch w.Verdict {
	case dataset.Skip:
		if resolution {
			return false, RefusedSkip
		}
		return false, nil
	case dataset.Exclude:
		return false, excludable(w)
	case dataset.Include:
		if changed {
			return false, RefusedChanged
		}
	case dataset.Modify:
		if !changed {
			return false, RefusedUnchanged
		}
	default:
		return false, Refusal(fmt.Sprintf("There is no verdict %q.", w.Verdict))
	}
	if _, err := ParseAllowed(w.Query); err != nil {
		return false, Refusal("The query cannot be kept: " + err.Error())
	}
	first := !slices.ContainsFunc(c.Decided(), func(x Work) bool { return x.Annotator != w.Annotator })
	if blank(w.Question) && (first || resolution) {
		return false, RefusedQuestion
	}
	return changed, nil
}

// excludable checks whether a work's reason for excluding the candidate is allowed.
func excludable(w *Work) error {
	if !slices.ContainsFunc(Reasons, func(x Choice) bool { return x.Key == w.Reason }) {
		return RefusedReason
	}
	if w.Reason == "other" && blank(w.Note) {
		return RefusedNote
	}
	return nil
}

// ParseAllowed parses a query and checks that it may be sent to the graph.
func ParseAllowed(query string) (*sparql.Query, error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil, err
	}
	return q, sparql.Guard(q, harvest.AllowedService)
}

// LastVerdict returns an annotator's last event that set a verdict and has not been undone, or nil if there is none.
func LastVerdict(events []Event) *Event {
	undone := map[int64]bool{}
	for i := len(events) - 1; i >= 0; i-- {
		switch e := &events[i]; {
		case e.Kind == Undone:
			undone[e.Undoes] = true
		case e.Kind == Judged && !undone[e.Seq]:
			return e
		}
	}
	return nil
}

// Before returns a work's state before the given event in its history.
func Before(history []Event, at *Event) Work {
	var w Work
	for _, e := range history {
		if e.Seq < at.Seq && e.Work.Annotator == at.Work.Annotator {
			w = e.Work
		}
	}
	return w
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// sameQuery reports whether two queries are the same except for whitespace and comments.
func sameQuery(a, b string) bool { return a == b || sparql.NormalForm(a) == sparql.NormalForm(b) }
