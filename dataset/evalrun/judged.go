package evalrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Judged maps trajectory paths to the runs' scored items.
type Judged map[string]*ItemData

// Judge returns the items of the benchmark runs that paths refer to. A path is a run's folder, its trajectory folder,
// or one of its trajectories. Other paths and unfinished runs have no items.
func Judge(ctx context.Context, paths []string) (Judged, error) {
	j, seen := Judged{}, map[string]bool{}
	for _, path := range paths {
		up := filepath.Dir(filepath.Clean(path))
		for _, dir := range []string{path, up, filepath.Dir(up)} {
			if seen[dir] || !isFile(filepath.Join(dir, RunFile)) || !isFile(filepath.Join(dir, ResultsFile)) {
				continue
			}
			seen[dir] = true
			run, err := Load(ctx, dir, Metrics)
			if err != nil {
				return nil, err
			}
			for i := range run.Items {
				j[filepath.Join(dir, trajDir, FileName(run.Items[i].ID)+".jsonl")] = &run.Items[i]
			}
		}
	}
	return j, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Key returns the correct query for a trajectory's run and the values of its answer. If no correct query is known, it
// uses the run's own answer.
func (j Judged) Key(path string, r *transcript.Run) (transcript.Gold, []string, error) {
	var gold transcript.Gold
	var values []string
	if r.Final != nil && r.Final.Table != nil {
		var err error
		if values, err = tableValues(r.Final.Table); err != nil {
			return gold, nil, err
		}
	}
	if it := j[filepath.Clean(path)]; it != nil {
		answers, err := answerValues(it.Gold)
		return transcript.Gold{SPARQL: it.GoldSPARQL, Answers: answers}, values, err
	}
	return transcript.Gold{SPARQL: r.SPARQL, Answers: values}, values, nil
}

// Known reports whether the answer of a trajectory's run is correct by SPINACH's metric and returns the correct answer.
// score is the F1, from 0 to 1. ok is false if the run has not been scored.
func (j Judged) Known(path string) (known transcript.Known, score float64, ok bool) {
	it := j[filepath.Clean(path)]
	if it == nil {
		return known, 0, false
	}
	s, ok := it.Score(MetricSpinach)
	if !ok {
		return known, 0, false
	}
	switch {
	case !it.Answered:
		known.Verdict = "The run ended without an answer although there is one."
	case s.EM == 1:
		known.Verdict = "The answer is right."
	case s.F1 == 0:
		known.Verdict = "The answer is wrong: nothing in it is right."
	default:
		known.Verdict = fmt.Sprintf("The answer is partly right: its F1 is %.0f of 100.", 100*s.F1)
	}
	known.SPARQL = it.GoldSPARQL
	known.Answers, _ = answerValues(it.Gold) // already parsed by scoring
	return known, s.F1, true
}

func tableValues(t *kg.Table) ([]string, error) {
	b, err := bindings(t)
	if err != nil {
		return nil, err
	}
	return answerValues(b)
}

func answerValues(b []byte) ([]string, error) {
	a, err := score.ReadAnswer(score.NewDict(), b)
	if err != nil {
		return nil, err
	}
	return score.Values(a), nil
}
