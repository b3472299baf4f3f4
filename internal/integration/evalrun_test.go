//go:build integration

package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// evalRun is the command line of a run of the test's own benchmark on the built-in slice, with the test's own scripted model.
func evalRun(bin, dir string) *exec.Cmd {
	data := filepath.Join("testdata", "evalrun")
	cmd := exec.CommandContext(context.Background(), bin, "eval", "run", "--env-file", filepath.Join(dir, "none"), "--kg", "embedded", "--script", filepath.Join(data, "script.txt"),
		"--as-of", "2025-01-31T00:00:00Z", "--jobs", "2", "--out", dir, filepath.Join(data, "bench.jsonl"))
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// files counts the files of one of a run's folders.
func files(dir, sub string) int {
	list, err := os.ReadDir(filepath.Join(dir, sub))
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range list {
		if !strings.HasPrefix(f.Name(), ".") {
			n++
		}
	}
	return n
}

// A benchmark run that is killed ten times ends with the same results file as an undisturbed one, byte for byte, and keeps every trajectory.
func TestEvalRunKilled(t *testing.T) {
	bin := binary(t)
	whole := t.TempDir()
	out, err := evalRun(bin, whole).CombinedOutput()
	if err != nil {
		t.Fatalf("the undisturbed run: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "results.jsonl"))
	if err != nil || bytes.Count(want, []byte("\n")) != 12 {
		t.Fatalf("the undisturbed run has %d results, want 12 (%v)\n%s", bytes.Count(want, []byte("\n")), err, out)
	}
	for kills := 0; kills < 10; {
		dir := t.TempDir()
		for {
			// Every other kill comes when a trajectory was begun, every other when an item is done: in the middle, and between.
			watch := "trajectories"
			if kills%2 == 1 {
				watch = "items"
			}
			before := files(dir, watch)
			if !killWhen(t, evalRun(bin, dir), func() bool { return kills < 10 && files(dir, watch) > before }) {
				t.Logf("after %d kills the run ended", kills)
				break
			}
			kills++
		}
		got, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the results differ (%v):\n%s\nundisturbed:\n%s", err, got, want)
		}
		if n := files(dir, "trajectories"); n < 12 {
			t.Errorf("%d trajectories of 12 items", n)
		}
	}
}

// killWhen runs a command and kills it as soon as due says so; dead is false when it ended before, which must be in order.
func killWhen(t *testing.T, cmd *exec.Cmd, due func() bool) (dead bool) {
	t.Helper()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil && !dead {
				t.Fatalf("the run failed: %v\n%s", err, &b)
			}
			return dead
		case <-tick.C:
			if !dead && due() {
				dead = true
				if err := cmd.Process.Kill(); err != nil {
					dead = false // it has just ended
				}
			}
		}
	}
}

// Two processes cannot work in one folder.
func TestEvalRunLocked(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	first := evalRun(bin, dir)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	}()
	deadline := time.Now().Add(time.Minute)
	for files(dir, "trajectories") == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the first run does not start")
		}
		time.Sleep(2 * time.Millisecond)
	}
	if out, err := evalRun(bin, dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "another run works in") {
		t.Errorf("a second run in the same folder: %v\n%s", err, out)
	}
}
