package evalrun

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Judged holds the scored items of runs, by the path of their trajectory.
type Judged map[string]*ItemData

// Judge returns the items of the runs of eval run that are among paths: a path is the folder of a run, its folder of
// trajectories, or one of these. Other paths, and runs that are not finished, have no items.
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

// Key returns what is right for the run of a trajectory, and the values of its answer. Where nothing is known to be
// right, the answer of the run is taken for it.
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
