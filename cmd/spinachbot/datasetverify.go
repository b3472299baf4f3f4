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

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
)

func runDatasetVerify(ctx context.Context, e *env, args []string) int {
	c := newCmdline(e, "dataset verify", "[--json] [--kg G] [--state S] DIR|FILE",
		`Runs every gold query of a harvest's folder, or of a benchmark file (SPINACH, GRASP, QALD), and reports how its answer has drifted from the stored one: same, changed (rows
added and removed), empty, failed. Exit status 1: an item is empty or failed. With --json one object a line: {"id":…,"status":"same|changed|ran|empty|failed","rows":…,
"stored_rows":…,"added":…,"removed":…,"error":{"kind":…,"message":…},"ms":…}, last {"summary":{"items":…,"status":{…},"errors":{…}}}.`,
		config.Graph)
	flags := newGoldFlags(c, false)
	asJSON := c.fs.Bool("json", false, "one JSON object a line")
	graphName := c.fs.String("kg", "wikidata", "knowledge `graph`: wikidata (SPARQL_ENDPOINT) or embedded (the built-in slice)")
	rest, done, code := c.parse(args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return misuse(e, "dataset verify: say what to verify: spinachbot dataset verify DIR or FILE")
	}
	if err := flags.check(); err != nil {
		return misuse(e, "dataset verify: %v", err)
	}
	cfg, ok := c.load()
	if !ok {
		return exitUsage
	}
	checks, err := verifyChecks(ctx, e, rest[0], flags)
	if err != nil {
		return fail(e, err)
	}
	graph, _, err := datasetGraph(c.logger(slog.LevelWarn), *graphName, cfg, wikidata.NewMemoryStore(), e.now)
	if err != nil {
		return misuse(e, "dataset verify: %v", err)
	}
	v := &verification{w: e.stdout, json: json.NewEncoder(e.stdout), asJSON: *asJSON, total: len(checks)}
	v.json.SetEscapeHTML(false)
	if err := release.Verify(ctx, graph, e.now, checks, v.report); err != nil {
		if !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w\n%d of %d items are verified; the rest was not tried", err, v.sum.Items, v.total)
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
}

// verifyChecks reads what is to be verified.
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
	asJSON bool
	total  int
	sum    release.Summary
}

func (v *verification) report(d release.Drift) error {
	v.sum.Add(d)
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
		words = fmt.Sprintf("no rows, were %d", *d.StoredRows)
	}
	_, err := fmt.Fprintf(v.w, "%-20s %-8s %s\n", d.ID, d.Status, words)
	return err
}

// end writes the sum.
func (v *verification) end() error {
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
