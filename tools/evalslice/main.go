// Command evalslice demonstrates that a benchmark run survives crashes. It runs `eval run` twice over the questions for
// a slice of Wikidata: once undisturbed and once interrupted by kill -9 ten times. The model is the recorded one if the
// log of SPINACH's evaluation contains the question, and otherwise a scripted one. Both runs must produce the same
// results file, byte for byte.
//
//	evalslice [-kills N] [-keep DIR] SPINACHBOT SHARED
//
// SPINACHBOT is the program and SHARED the folder with data/slice and data/spinach. The exit status is 1 if the files
// differ or a run fails. If the data is missing, the command prints a message and exits with status 0.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

func main() {
	kills := flag.Int("kills", 10, "number of times to kill the second run")
	keep := flag.String("keep", "", "folder for the runs, which is kept (default: a temporary one)")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: evalslice [-kills N] [-keep DIR] SPINACHBOT SHARED")
		os.Exit(2)
	}
	if err := show(context.Background(), os.Stdout, flag.Arg(0), flag.Arg(1), *keep, *kills); err != nil {
		fmt.Fprintln(os.Stderr, "evalslice:", err)
		os.Exit(1)
	}
}

// runs contains what the two runs share.
type runs struct {
	out    io.Writer
	binary string
	args   []string // arguments for both runs, except the folder
	dir    string
}

func show(ctx context.Context, out io.Writer, binary, shared, keep string, kills int) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	questions := filepath.Join(shared, "data", "slice", "questions-dev.jsonl")
	graph := filepath.Join(shared, "data", "slice", "wikidata-slice.nt.gz")
	record := filepath.Join(shared, "data", "spinach", "qald10-log.json")
	for _, path := range []string{questions, graph, record} {
		if _, err := os.Stat(path); err != nil {
			fmt.Fprintf(out, "skipped: the data is missing: %v\n", err)
			return nil
		}
	}
	if keep == "" {
		if keep, err = os.MkdirTemp("", "evalslice-"); err != nil {
			return err
		}
		defer os.RemoveAll(keep)
	} else if err := os.MkdirAll(keep, 0o700); err != nil {
		return err
	}
	script := filepath.Join(keep, "script.txt")
	if err := prepare(out, questions, record, script); err != nil {
		return err
	}
	r := &runs{out: out, binary: binary, dir: keep, args: []string{"eval", "run", "--env-file", os.DevNull, "--data",
		graph, "--recorded", record,
		"--script", script, "--as-of", "2025-01-31T00:00:00Z", "--jobs", "2", questions}}
	began := time.Now()
	if _, err := r.run(ctx, "undisturbed", 0, 0); err != nil {
		return err
	}
	fmt.Fprintf(out, "the undisturbed run took %s\n", time.Since(began).Round(time.Second))
	total, err := r.items("undisturbed")
	if err != nil {
		return err
	}
	killed := 0
	for {
		// Each kill comes a few moments after a certain number of items are done, so that the kills hit items at
		// different stages.
		after, delay := 0, time.Duration(killed*137%400)*time.Millisecond
		if killed < kills {
			after = (killed + 1) * total / (kills + 2)
		}
		dead, err := r.run(ctx, "killed", after, delay)
		if err != nil {
			return err
		}
		if !dead {
			break
		}
		killed++
	}
	fmt.Fprintf(out, "the other run was killed %d times\n", killed)
	return r.compare(killed, kills)
}

func prepare(out io.Writer, questions, record, script string) error {
	f, err := os.Open(questions)
	if err != nil {
		return err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err != nil {
		return err
	}
	l, err := os.Open(record)
	if err != nil {
		return err
	}
	defer l.Close()
	log, err := agent.ReadRecordedRuns(l)
	if err != nil {
		return err
	}
	recorded := map[string]bool{}
	for _, run := range log {
		recorded[text.Fold(run.Question)] = true
	}
	var b bytes.Buffer
	n := writeScript(&b, items, recorded)
	held := 0
	for _, it := range items {
		if recorded[text.Fold(it.Question)] {
			held++
		}
	}
	fmt.Fprintf(out, "%d questions, %d of them in the record, %d scripted\n", len(items), held, n)
	return os.WriteFile(script, b.Bytes(), 0o600)
}

// items returns the number of items that a run has completed.
func (r *runs) items(name string) (int, error) {
	list, err := filepath.Glob(filepath.Join(r.dir, name, "items", "*.json"))
	return len(list), err
}

// run starts or continues a run, and kills it shortly after the given number of items are done, or never if that is 0.
// dead reports whether the run was killed before it finished.
func (r *runs) run(ctx context.Context, name string, after int, delay time.Duration) (dead bool, err error) {
	args := append(append([]string{}, r.args[:2]...), "--out", filepath.Join(r.dir, name))
	cmd := exec.CommandContext(ctx, r.binary, append(args, r.args[2:]...)...)
	cmd.Env = []string{"HOME=" + r.dir, "DATA_DIR=" + filepath.Join(r.dir, "data")}
	cmd.Stdout, cmd.Stderr = r.out, r.out
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == -1 {
				return true, nil
			}
			return false, err
		case <-tick.C:
			if n, err := r.items(name); err == nil && after > 0 && n >= after {
				after = 0
				time.AfterFunc(delay, func() { _ = cmd.Process.Kill() }) // the run may already have ended
			}
		}
	}
}

func (r *runs) compare(killed, want int) error {
	var files [2][]byte
	for i, name := range []string{"undisturbed", "killed"} {
		b, err := os.ReadFile(filepath.Join(r.dir, name, "results.jsonl"))
		if err != nil {
			return err
		}
		files[i] = b
	}
	switch {
	case killed < want:
		return fmt.Errorf("the run finished after %d of %d kills", killed, want)
	case !bytes.Equal(files[0], files[1]):
		return errors.New("the results files differ")
	}
	fmt.Fprintf(r.out, "both results files are the same, %d bytes\n", len(files[0]))
	return nil
}
