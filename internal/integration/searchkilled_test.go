//go:build integration

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
)

// searched returns the events of the only trajectory in the given folder, one per line: the complete tree with its
// steps, scores, visits, endings and votes. For calls and the end event, it keeps only the position, because the rest
// contains times and retries.
func searched(t *testing.T, dir string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "trajectories", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d trajectories, want 1 (%v)", len(files), err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events[1:] { // the first event contains the run's name and time
		e.Time = time.Time{}
		if e.Step != nil {
			s := *e.Step
			s.MS, s.Elapsed, e.Step = 0, 0, &s
		}
		if e.Event == "graph" || e.Event == "model" || e.Event == "final" || e.Event == "end" {
			e = event.Event{ID: e.ID, Parent: e.Parent, Event: e.Event, SPARQL: e.SPARQL}
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(line))
	}
	return out
}

// trajectory returns the current content of the only trajectory in the given folder.
func trajectory(dir string) []byte {
	files, err := filepath.Glob(filepath.Join(dir, "trajectories", "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return nil
	}
	return b
}

// ended reports whether the only trajectory in the given folder is complete. If a program is killed after it writes the
// last line but before it exits, the file is complete, and there is nothing to continue.
func ended(t *testing.T, dir string) bool {
	t.Helper()
	events, err := event.Read(bytes.NewReader(trajectory(dir)))
	return err == nil && len(events) > 0 && events[len(events)-1].Event == "end"
}

// killsWanted returns how many times to kill a search and a review: SEARCH_KILLS from the environment, or 10.
func killsWanted(t *testing.T) int {
	t.Helper()
	n := 10
	if s := os.Getenv("SEARCH_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// A tree search is killed with signal 9 once its file has reached a certain number of lines, and is continued with ask
// --continue. It produces the same tree as an uninterrupted search.
func TestSearchKilled(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	script, err := filepath.Abs("../../examples/tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	base := startSandbox(t, bin, "--script", script)
	ask := func(dir string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.Background(), bin, append([]string{"ask", "--env-file", os.DevNull, "--preset", "spinach", "--kg",
			"embedded", "--data-dir", dir, "--openai-base-url", base + "/v1", "--openai-model", "scripted",
			"--policy", "mcts", "--tree", "n=2,k=2,judgments=2"}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=x"}
		return cmd
	}
	const question = "What is the capital of Ivory Coast according to Wikidata?"
	run := func(cmd *exec.Cmd) {
		t.Helper()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	whole := t.TempDir()
	run(ask(whole, question))
	want := searched(t, whole)
	if len(want) < 50 {
		t.Fatalf("%d events, want a tree", len(want))
	}
	kills, wanted := 0, killsWanted(t)
	for i := range wanted {
		lines := 3 + i*(len(want)-3)/wanted
		dir := t.TempDir()
		dead := killWhen(t, ask(dir, question), func() bool {
			return bytes.Count(trajectory(dir), []byte("\n")) >= lines
		})
		if !dead || ended(t, dir) {
			continue // the program ended before the kill
		}
		kills++
		run(ask(dir, "--continue", "ask"))
		if d := cmp.Diff(want, searched(t, dir)); d != "" {
			t.Errorf("killed at line %d (-undisturbed +continued):\n%s", lines, d)
		}
	}
	t.Logf("%d kills", kills)
	if kills < wanted/3 {
		t.Errorf("%d runs were killed in the middle, want at least a third of %d", kills, wanted)
	}
}

// A review is killed with signal 9 at some point, and is continued with ask --review --continue and the decisions that
// are not yet in its file. It ends in the same way as an uninterrupted review.
func TestReviewKilled(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	script, err := filepath.Abs("../../examples/tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	base := startSandbox(t, bin, "--script", script)
	decisions := []string{"a", "Thought: The country's own page.\nAction: get_wikidata_entry(Q1008)\n", "a", "a"}
	rng := rand.New(rand.NewPCG(14, 8))
	review := func(dir string, decided int, wait time.Duration, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.Background(), bin, append([]string{"ask", "--review", "--env-file", os.DevNull,
			"--preset", "spinach", "--kg", "embedded", "--data-dir", dir, "--openai-base-url", base + "/v1",
			"--openai-model", "scripted"}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=x"}
		in, out := io.Pipe()
		cmd.Stdin, cmd.WaitDelay = in, time.Second
		go func() {
			for _, d := range decisions[decided:] {
				time.Sleep(wait)
				if _, err := io.WriteString(out, d+"\n"); err != nil {
					return // the program was killed
				}
			}
			_ = out.Close()
		}()
		return cmd
	}
	const question = "What is the capital of Ivory Coast according to Wikidata?"
	whole := t.TempDir()
	if out, err := review(whole, 0, 0, question).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := searched(t, whole)
	kills, wanted := 0, killsWanted(t)
	for i := range wanted {
		lines := 1 + i*(len(want)-1)/wanted
		dir := t.TempDir()
		wait := time.Duration(rng.IntN(40)) * time.Millisecond
		dead := killWhen(t, review(dir, 0, wait, question), func() bool {
			return bytes.Count(trajectory(dir), []byte("\n")) >= lines
		})
		if !dead || ended(t, dir) {
			continue // the program ended before the kill
		}
		kills++
		decided := bytes.Count(trajectory(dir), []byte(`"event":"review"`))
		if out, err := review(dir, decided, 0, "--continue", "ask").CombinedOutput(); err != nil {
			t.Fatalf("killed at line %d, after %d decisions: %v\n%s", lines, decided, err, out)
		}
		if d := cmp.Diff(want, searched(t, dir)); d != "" {
			t.Errorf("killed at line %d (-undisturbed +continued):\n%s", lines, d)
		}
	}
	t.Logf("%d kills", kills)
	if kills < wanted/3 {
		t.Errorf("%d reviews were killed in the middle, want at least a third of %d", kills, wanted)
	}
}
