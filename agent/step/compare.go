package step

import (
	"context"
	"strconv"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Option is one of several different answers to a question.
type Option struct {
	Answer *Answer
	Votes  int   // number of attempts that found this answer
	Own    []int // indexes of the rows that no other option has
}

// Choice is the result of comparing options.
type Choice struct {
	Option int // index of the chosen option, or -1
	Why    string
}

// maxOwn is the maximum number of rows shown from those that only one option has.
const maxOwn = 10

// shownOption is an option in the form shown in prompts.
type shownOption struct {
	N, Votes, OwnCount int
	KG, SPARQL, Result string
	Names, Own         []string // IDs with labels; the first rows that no other option has
}

// shownOptions returns the options in the form shown in prompts.
func (r *Runner) shownOptions(options []Option) []shownOption {
	var out []shownOption
	for i, o := range options {
		a, t := o.Answer, o.Answer.Answers()
		x := shownOption{N: i + 1, Votes: o.Votes, SPARQL: a.SPARQL, Result: r.Preset.Show.Rows.Table(a.Table, a.Names()),
			Names: a.named(), OwnCount: len(o.Own)}
		if len(r.Sources) > 1 {
			x.KG = a.KG
		}
		for _, n := range o.Own[:min(len(o.Own), maxOwn)] {
			if t.Ask { // a truth value is treated as a row
				x.Own = append(x.Own, strconv.FormatBool(t.Boolean))
				break
			}
			x.Own = append(x.Own, render.Row(t.Vars, t.Rows[n], a.Names()))
		}
		out = append(out, x)
	}
	return out
}

// Compare asks the model which of several options answers the question. It returns nil if the model fails or its
// response cannot be read. An error ends the run.
func (r *Runner) Compare(ctx context.Context, b *event.Branch, options []Option, tries int) (*Choice, error) {
	facts := &llm.Facts{}
	for _, o := range options {
		facts.Queries = append(facts.Queries, o.Answer.Ran)
	}
	req := llm.Request{Purpose: "compare", MaxTokens: compareTokens, Facts: facts}
	judge := tool.Choose()
	resp, err := r.judge(ctx, b, req, judge, map[string]any{"Question": r.Question.Text, "Earlier": r.questionsBefore(),
		"Language": r.Language.Name, "Answers": r.shownOptions(options), "Tries": tries})
	if event.IsWriteError(err) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		r.Log.InfoContext(ctx, "agent: the answers could not be compared", "question", r.Question.ID, "err", err)
		return nil, nil
	}
	var v struct {
		Answer int
		Why    string
	}
	if !readCall(resp, judge, &v) || v.Answer < 0 || v.Answer > len(options) {
		r.Log.InfoContext(ctx, "agent: the comparison of the answers cannot be read", "question", r.Question.ID)
		return nil, nil
	}
	return &Choice{Option: v.Answer - 1, Why: render.Clip(render.Fold(render.Clean(v.Why)), maxReason)}, nil
}

// Limits on a comparison.
const (
	compareTokens = 2000
	maxReason     = 600 // maximum number of characters in a choice's reason
)
