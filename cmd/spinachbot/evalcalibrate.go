package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent/confidence"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/show"
)

const evalCalibrateDoc = `Fits the confidence, the probability that an answer is right, to finished runs: a logistic
model over the features that each run's trajectory has at its end. It prints the weights and how good they are on
questions that were held out (cross-validation by question): Brier score, reliability, and the share of questions
answered wrongly when only the surest 50, 70 and 90% are answered.

With --out the weights are written to a file. The program uses those that it was built with
(agent/confidence/weights.json). With --measure nothing is fitted: the weights in a file, or with the word builtin the
program's own, are measured on the runs.`

// builtinWeights is the --measure value for the program's own weights.
const builtinWeights = "builtin"

func evalCalibrateCommand(e *env) *cobra.Command {
	c := newCmdline(e, "calibrate [flags] DIR...", "fit the confidence to finished runs, or measure it", evalCalibrateDoc)
	out := c.fs.String("out", "", "`file` for the weights")
	force := c.fs.Bool("force", false, forceUsage)
	folds := c.fs.Int("folds", 5, "`number` of parts of the cross-validation")
	metric := c.choice("metric", evalrun.MetricSpinach, "`measure` whose exact match decides that an answer is right: "+
		orList(measures()[1:]), measures()[1:]...)
	measure := c.fs.String("measure", "", "measure the weights in this `file`, or builtin, instead of fitting")
	note := c.fs.String("on", "", "a `note` about the runs, kept with the weights")
	asJSON := c.fs.Bool("json", false, "print the weights, or with --measure their quality, as one JSON object")
	return c.command(func(ctx context.Context, rest []string) int {
		switch {
		case len(rest) == 0:
			return misuse(e, "eval calibrate: specify the folders of runs: spinachbot eval calibrate DIR...")
		case *folds < 2:
			return misuse(e, "eval calibrate: --folds must be 2 or more")
		case *measure != "" && *out != "":
			return misuse(e, "eval calibrate: --measure fits nothing, so --out has nothing to write")
		}
		var lessons evalrun.Lessons
		for _, dir := range rest {
			r, err := evalrun.Load(ctx, dir, evalrun.Metrics)
			if err == nil {
				err = lessons.Learn(r, *metric)
			}
			if err != nil {
				return fail(e, fmt.Errorf("eval calibrate: %w", err))
			}
		}
		if lessons.Without > 0 {
			fmt.Fprintf(e.stderr, "spinachbot: warning: %d answers are left out: their trajectories have no features; ask them again with this version\n",
				lessons.Without)
		}
		if *measure != "" {
			return measureWeights(e, &lessons, *measure, *asJSON)
		}
		m, err := lessons.Fit(*folds, *note)
		if errors.Is(err, confidence.ErrOneSided) {
			return misuse(e, "eval calibrate: %v; name more runs, or use fewer --folds", err)
		}
		if err != nil {
			return fail(e, fmt.Errorf("eval calibrate: %w", err))
		}
		if *out != "" {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetIndent("", "  ")
			if err := enc.Encode(m); err != nil {
				return fail(e, err)
			}
			if err := dataset.WriteFiles(*force, dataset.File{Name: *out, Content: b.Bytes()}); err != nil {
				return fail(e, fmt.Errorf("cannot write the weights: %w", err))
			}
		}
		if *asJSON {
			show.JSON(e.stdout, m)
			return exitOK
		}
		fmt.Fprintf(e.stdout, "%d runs of %d questions, %d of them with an answer\n\n", m.Fitted.Runs, m.Fitted.Questions,
			m.Fitted.Quality.N)
		evalrun.WriteWeights(e.stdout, m)
		writeQuality(e, []string{"held out", "prior"}, []confidence.Quality{m.Fitted.Quality,
			lessons.Measure(&confidence.Model{General: confidence.Prior()})})
		return exitOK
	})
}

func measureWeights(e *env, lessons *evalrun.Lessons, name string, asJSON bool) int {
	m := confidence.Usual()
	if name != builtinWeights {
		f, err := os.Open(name)
		if err != nil {
			return fail(e, fmt.Errorf("eval calibrate: cannot read the weights: %w", err))
		}
		defer f.Close()
		if m, err = confidence.Read(f); err != nil {
			return fail(e, fmt.Errorf("eval calibrate: %s: %w", name, err))
		}
	}
	q := lessons.Measure(m)
	if asJSON {
		show.JSON(e.stdout, q)
		return exitOK
	}
	writeQuality(e, []string{name}, []confidence.Quality{q})
	return exitOK
}

func writeQuality(e *env, names []string, all []confidence.Quality) {
	for _, t := range evalrun.QualityTables(names, all) {
		fmt.Fprintln(e.stdout)
		t.Text(e.stdout)
	}
}
