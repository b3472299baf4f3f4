package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
)

const evalReportDoc = `Writes a page about one or more runs of eval run. The page needs no other file: scores by every
measure, comparison, F1 by feature of the gold query, distributions of steps, tokens and cost, classes of errors,
calibration of the confidence, and every item with its run.

Rules sort the errors into classes. With --classify-with-model, the configured model does so: it is asked once for each
wrong answer, and its words are kept in the run's folder.`

func evalReportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "report [flags] [--out FILE] DIR...", "write a page about one or more runs", evalReportDoc,
		config.Data, config.Model)
	out := c.fs.String("out", "", "`file` for the page (default: standard output)")
	force := c.fs.Bool("force", false, forceUsage)
	metric := c.choice("metric", evalrun.MetricSpinach, "`measure` to score by: "+orList(measures()[1:]),
		measures()[1:]...)
	bundle := c.fs.String("bundle", "", "write static files into this `folder` instead of one page: an index, and a page for each item")
	markdown := c.fs.Bool("markdown", false, "write only the tables, in Markdown")
	latex := c.fs.Bool("latex", false, "write only the tables, for LaTeX with booktabs")
	byModel := c.fs.Bool("classify-with-model", false, "let the configured model classify the errors")
	seed := c.fs.Uint64("seed", 1, "`seed` of the bootstrap")
	return c.command(func(ctx context.Context, rest []string) int {
		switch {
		case len(rest) == 0:
			return misuse(e, "eval report: specify the folder of a run, or several: spinachbot eval report DIR...")
		case *bundle != "" && (*markdown || *latex || *out != ""):
			return misuse(e, "eval report: --bundle writes pages into a folder; leave out --out, --markdown and --latex")
		case *markdown && *latex:
			return misuse(e, "eval report: --markdown and --latex cannot be used together")
		}
		runs, err := loadRuns(ctx, rest)
		if err != nil {
			return fail(e, err)
		}
		var model agent.Model
		if *byModel {
			m, closeModel, err := reportModel(ctx, c)
			if err != nil {
				return misuse(e, "eval report: %v", err)
			}
			defer closeModel()
			model = m
		}
		report, err := evalrun.NewReport(ctx, runs, *metric, model, rand.New(rand.NewPCG(*seed, 0)))
		if report == nil {
			return fail(e, err)
		}
		if err != nil {
			fmt.Fprintln(e.stderr, "spinachbot: warning: the model did not classify all errors; the others keep the classes of the rules:", err)
		}
		if *bundle != "" {
			files, err := report.Bundle()
			for i := range files {
				files[i].Name = filepath.Join(*bundle, files[i].Name)
			}
			if err == nil {
				err = os.MkdirAll(filepath.Join(*bundle, "items"), 0o755)
			}
			if err == nil {
				err = dataset.WriteFiles(*force, files...)
			}
			if err != nil {
				return fail(e, fmt.Errorf("the report cannot be written: %w", err))
			}
			return exitOK
		}
		var b bytes.Buffer
		switch {
		case *markdown:
			report.WriteMarkdown(&b)
		case *latex:
			report.WriteLaTeX(&b)
		default:
			if err := report.WriteHTML(&b); err != nil {
				return fail(e, err)
			}
		}
		if *out == "" || *out == "-" {
			_, err = e.stdout.Write(b.Bytes())
		} else {
			err = dataset.WriteFiles(*force, dataset.File{Name: *out, Content: b.Bytes()})
		}
		if err != nil {
			return fail(e, fmt.Errorf("the report cannot be written: %w", err))
		}
		return exitOK
	})
}

// reportModel returns a client for the configured model. Its calls count toward daily spending.
func reportModel(ctx context.Context, c *cmdline) (agent.Model, func(), error) {
	cfg, ok := c.load()
	if !ok {
		return nil, nil, fmt.Errorf("the settings are wrong")
	}
	if !cfg.HasModel() {
		return nil, nil, errNoModel
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, nil, err
	}
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	m, err := newModel(c.logger(slog.LevelWarn), modelSettings(cfg), cfg.DailyUSD, st, c.e.now, nil)
	if err != nil {
		_ = st.Close()
		return nil, nil, err
	}
	return m, func() { _ = st.Close() }, nil
}
