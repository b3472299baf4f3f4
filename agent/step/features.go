package step

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// Votes contains the number of attempts that a search made, and how many of them agree with its answer.
type Votes struct {
	Tries, Answers, Agree int
	Compared              bool // a comparison chose the answer
}

// Features returns indications of how likely f's answer is to be right. It returns nil if there is no answer.
func (r *Runner) Features(s State, f Final) *event.Features {
	a := f.Answer
	if a == nil {
		return nil
	}
	out := &event.Features{Preset: r.Preset.Name, Steps: len(s.steps) - s.given(), Refusals: s.refusals,
		Repairs: s.repairs, Unseen: s.unseen, Extracted: f.Guessed, Feedbacks: s.feedbacks,
		Tries: f.Votes.Tries, Answers: f.Votes.Answers, Agree: f.Votes.Agree, Compared: f.Votes.Compared}
	for _, k := range s.steps {
		switch {
		case k.Failure != "":
			out.Failures++
		case k.call.Tool != nil && k.call.Tool.Query && !k.result && !k.given:
			out.Empties++
		}
	}
	if a.Table != nil && len(s.returns) > 0 {
		out.Shape = "broken"
		if t := a.Answers(); len(tool.WithoutLabels(s.returns, s.returns)) == len(tool.WithoutLabels(t.Vars, t.Vars)) {
			out.Shape = "kept"
		}
	}
	if s.verdict != nil {
		out.Verdict = s.verdict.Status
	}
	if p := s.Probed(a); p != nil {
		out.Probes, out.Moved, out.Open = p.Run, len(p.Moved), len(p.Open)
	}
	if a.Table != nil {
		r.resultFeatures(out, a)
	}
	return out
}

// resultFeatures adds the features of the query and its result.
func (r *Runner) resultFeatures(out *event.Features, a *Answer) {
	t := a.Answers()
	out.Ask, out.Rows = t.Ask, len(t.Rows)
	for _, label := range equal.LabelColumns(t.Vars) {
		if !label {
			out.Columns++
		}
	}
	out.Zero = isZero(t)
	d := r.Dialect
	if source, err := r.Sources.Named(a.KG); err == nil {
		d = (&tool.Env{Dialect: d}).On(source).Dialect
	}
	if n := d.Limit(a.Ran); n > 0 {
		out.Limit, out.Cut = n, out.Rows >= n && !names(r.Question.Text, n)
	}
}

func isZero(t *kg.Table) bool {
	return len(t.Rows) == 1 && len(t.Vars) == 1 && len(t.Rows[0]) == 1 && t.Rows[0][0].IsLiteral() &&
		equal.Key(t.Rows[0][0]) == "number 0"
}

// names reports whether a question names a number, in digits or, for ten, in words. The number 1 is always treated as
// named, because superlatives imply it and no list of words covers all superlatives.
func names(question string, n int) bool {
	if n == 1 || n == 10 && saysTen(question) {
		return true
	}
	digits := strconv.Itoa(n)
	for _, w := range strings.FieldsFunc(question, func(c rune) bool { return !unicode.IsDigit(c) }) {
		if w == digits {
			return true
		}
	}
	return false
}
