package training

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

// EnoughF1 is the minimum F1 at which MCTS-KBQA keeps a search path (section 3.4 of the paper).
const EnoughF1 = 0.67

// scored adds the lines from the items in a benchmark run whose answers have an F1 of at least o.MinF1 against gold.
// For a search, the line is the path to the best answer according to gold, even if the search chose a different answer.
func (x *Export) scored(ctx context.Context, path string, o Options) error {
	data, err := evalrun.Load(ctx, path, evalrun.Metrics)
	if err != nil {
		return fmt.Errorf("choosing by F1 requires the folder of an eval run, which contains gold results: %w", err)
	}
	for i := range data.Items {
		it := &data.Items[i]
		s, ok := it.Score(o.Measure)
		if !ok {
			x.Out[NoGold]++
			continue
		}
		name := filepath.Join(data.Name, evalrun.FileName(it.ID)+".jsonl")
		events, err := data.Trajectory(it)
		if err == nil && len(events) == 0 {
			err = errors.New("there is no trajectory for this item")
		}
		if err != nil {
			x.Unread = append(x.Unread, fmt.Sprintf("%s: %v", name, text.JSON(err)))
			continue
		}
		r, err := transcript.Read(events)
		if err != nil {
			x.Out[NoRun]++
			continue
		}
		f1, other := s.F1, false
		if o.As != transcript.AsPreference {
			if r, f1, other, err = best(ctx, r, it.Result, o.Measure, f1); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if f1 < o.MinF1 {
			x.Out[LowF1]++
			continue
		}
		r.F1, r.By = &f1, o.Measure
		before := len(x.Lines)
		if err := x.piece(&transcript.Piece{Run: r}, name, o); err != nil {
			return err
		}
		if other {
			x.OtherBranch += len(x.Lines) - before
		}
	}
	return nil
}

// best returns the run along the branch with the best answer according to gold, or along the chosen branch if no
// other branch has a better answer.
func best(ctx context.Context, r *transcript.Run, gold evalrun.Result, measure string, f1 float64) (
	*transcript.Run, float64, bool, error) {
	chosen := r
	for _, b := range r.Branches() {
		rows, err := b.Bindings()
		if err != nil {
			continue // an unreadable answer cannot be scored
		}
		gold.Result = rows
		scores, err := evalrun.Metrics(ctx, &gold)
		if err != nil {
			return nil, 0, false, err
		}
		for _, s := range scores {
			if s.Metric == measure && s.F1 > f1 {
				chosen, f1 = r.Along(b), s.F1
			}
		}
	}
	return chosen, f1, chosen != r, nil
}
