package evalrun

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/dataset/transcript"
)

// TestJudge checks that, for any path to a benchmark run, each scored item is marked as right or wrong, with the right
// answer.
func TestJudge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newWorld(t, dir, bench(mixed...)).run(t)
	at := func(id string) string { return filepath.Join(dir, "trajectories", id+".jsonl") }
	for _, path := range []string{dir, filepath.Join(dir, "trajectories"), at("b")} {
		j, err := Judge(t.Context(), []string{path, path})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]transcript.Known{
			"a": {Verdict: "The answer is right.", Gold: transcript.Gold{SPARQL: "ROWS a b", Answers: []string{"a", "b"}}},
			"b": {Verdict: "The answer is wrong: nothing in it is right.", Gold: transcript.Gold{SPARQL: "ROWS b",
				Answers: []string{"b"}}},
			"c": {Verdict: "The run ended without an answer although there is one.", Gold: transcript.Gold{SPARQL: "ROWS c",
				Answers: []string{"c"}}},
		} {
			if got, _, ok := j.Known(at(id)); !ok || !cmp.Equal(got, want) {
				t.Errorf("%s of %s: %+v, want %+v", id, path, got, want)
			}
		}
		if got, _, ok := j.Known(at("d")); ok { // its gold answer is empty, so nothing is known
			t.Errorf("%+v", got)
		}
	}
	if j, err := Judge(t.Context(), []string{t.TempDir(), "missing"}); err != nil || len(j) != 0 {
		t.Errorf("%v %v", j, err)
	}
}
