package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
)

func datasetVerifyCommand(e *env) *cobra.Command {
	c := newCmdline(e, "verify [--json] [--kg G] [--state S] [--report FILE] DIR|FILE",
		"run every gold query again and report what changed",
		`Runs every gold query of a harvest's folder or of a benchmark file (SPINACH, GRASP, QALD) and compares its
answer with the stored one: same, changed (rows added or removed), empty, or failed. The exit status is 1 when an item
is empty or failed.

--json prints one object per line, and a summary last:

  {"id":…,"status":"same|changed|ran|empty|failed","rows":…,"stored_rows":…,
   "added":…,"removed":…,"error":{"kind":…,"message":…},"ms":…}
  {"summary":{"items":…,"status":{…},"errors":{…}}}

--report writes the same lines to a file as they are found. After an interruption, the same command continues that
file.`,
		config.Graph)
	flags := newGoldFlags(c, false)
	asJSON := c.fs.Bool("json", false, "print one JSON object per line")
	var graphName string
	c.graphFlag(&graphName, graphs.Main, graphUsage)
	reportFile := c.fs.String("report", "", "`file` for the lines of --json; a file of an interrupted run is continued")
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset verify: specify the folder of a harvest or a benchmark file: "+
				"spinachbot dataset verify DIR")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		checks, err := verifyChecks(ctx, e, rest[0], flags)
		if err != nil {
			return fail(e, err)
		}
		graph, _, err := datasetGraph(c.logger(slog.LevelWarn), e, graphName, cfg, remote.NewMemoryStore())
		if err != nil {
			return misuse(e, "dataset verify: %v", err)
		}
		v := &verification{w: e.stdout, json: lines(e.stdout), asJSON: *asJSON, total: len(checks)}
		if *reportFile != "" {
			f, rest, err := v.resume(*reportFile, checks)
			if err != nil {
				return fail(e, err)
			}
			defer f.Close()
			if len(rest) < len(checks) {
				fmt.Fprintf(e.stderr, "%s: %d of %d items are verified; continuing\n", *reportFile, len(checks)-len(rest),
					len(checks))
			}
			v.file, checks = lines(f), rest
		}
		if err := release.Verify(ctx, graph, e.now, checks, v.report); err != nil {
			if !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("%w\n%d of %d items have been verified; the rest were not tried", err, v.sum.Items, v.total)
			}
			return fail(e, err)
		}
		if err := v.end(); err != nil {
			return fail(e, err)
		}
		if !v.sum.OK() {
			return exitFailed
		}
		return exitOK
	})
}

func verifyChecks(ctx context.Context, e *env, path string, flags *goldFlags) ([]release.Check, error) {
	in := e.stdin
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			_, golds, err := flags.read(ctx, path)
			return release.Checks(path, golds), err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	items, _, err := dataset.ReadItems(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return release.ItemChecks(items), nil
}

// verification writes the report.
type verification struct {
	w      io.Writer
	json   *json.Encoder
	file   *json.Encoder // writes to the --report file; nil if there is none
	asJSON bool
	total  int
	sum    release.Summary
}

// lines writes values in JSON Lines format.
func lines(w io.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
}

// reportLine is a line in a report: an item or the summary.
type reportLine struct {
	release.Drift
	Summary json.RawMessage `json:"summary"`
}

// resume opens an existing report, counts its lines, and returns the remaining checks. A line that was cut off is
// removed. If the report is about other items, or has a summary and is therefore complete, resume returns an error and
// leaves the file unchanged.
func (v *verification) resume(name string, checks []release.Check) (*os.File, []release.Check, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	rest, err := v.resumeFrom(f, checks)
	if err != nil {
		_ = f.Close() // report the original error, which is more useful
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, rest, nil
}

func (v *verification) resumeFrom(f *os.File, checks []release.Check) ([]release.Check, error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	whole := int64(0)
	for line := range strings.Lines(string(text)) {
		var d reportLine
		if !strings.HasSuffix(line, "\n") {
			if !strings.HasPrefix(line, `{"id":`) && !strings.HasPrefix(`{"id":`, line) {
				return nil, errors.New("this is not a report of dataset verify; specify a different file")
			}
			break
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return nil, fmt.Errorf("this is not a report of dataset verify (%w); specify a different file", err)
		}
		if d.Summary != nil {
			return nil, errors.New("this report is complete; specify a different file")
		}
		if len(checks) == 0 || checks[0].ID != d.ID {
			return nil, fmt.Errorf("this report is about %s, but other items must be verified now; specify a different file",
				d.ID)
		}
		v.sum.Add(d.Drift)
		checks = checks[1:]
		whole += int64(len(line))
	}
	if err := f.Truncate(whole); err != nil {
		return nil, err
	}
	_, err = f.Seek(whole, io.SeekStart)
	return checks, err
}

func (v *verification) report(d release.Drift) error {
	v.sum.Add(d)
	if v.file != nil {
		if err := v.file.Encode(d); err != nil {
			return err
		}
	}
	if v.asJSON {
		return v.json.Encode(d)
	}
	words := fmt.Sprintf("%d rows", d.Rows)
	switch {
	case d.Error != nil:
		words = d.Error.Kind + ": " + strings.ReplaceAll(d.Error.Message, "\n", " ")
	case d.Status == release.Changed:
		words += fmt.Sprintf(", were %d: +%d -%d", *d.StoredRows, d.Added, d.Removed)
	case d.Status == release.Empty && d.StoredRows != nil:
		words = fmt.Sprintf("no rows, had %d", *d.StoredRows)
	}
	_, err := fmt.Fprintf(v.w, "%-20s %-8s %s\n", d.ID, d.Status, words)
	return err
}

func (v *verification) end() error {
	if v.file != nil {
		if err := v.file.Encode(v.sum); err != nil {
			return err
		}
	}
	if v.asJSON {
		return v.json.Encode(v.sum)
	}
	var parts []string
	for _, s := range []release.Status{release.Same, release.Changed, release.Ran, release.Empty, release.Failed} {
		if n := v.sum.Status[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	_, err := fmt.Fprintf(v.w, "%d items: %s\n", v.sum.Items, strings.Join(parts, ", "))
	return err
}
