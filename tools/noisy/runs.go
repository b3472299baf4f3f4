package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// keep writes the runs for each cell and seed to the folder of a benchmark run, and prints the folder names and
// results.
func keep(ctx context.Context, w io.Writer, s settings, b *bench) error {
	if s.out == "" {
		return errors.New("runs: -out is missing: specify the folder for the run folders")
	}
	cells, err := s.cells()
	if err != nil {
		return err
	}
	for _, c := range cells {
		for seed := range s.seeds {
			name := strings.NewReplacer("/", "_", ":", "_", ";", "_").Replace(c.system.name)
			dir := filepath.Join(s.out, fmt.Sprintf("%s_%s_q%g_s%d", name, c.profile, c.right, seed))
			sum, err := b.keep(ctx, dir, c, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			fmt.Fprintf(w, "%s\t%d items\tF1 %.1f\n", dir, sum.Items, 100**sum.Scores[0].F1)
		}
	}
	return nil
}

// keep asks every question in a cell with a seed and writes the results to the folder dir, completing it if it is
// incomplete.
func (b *bench) keep(ctx context.Context, dir string, c *cell, seed int) (*evalrun.Summary, error) {
	set := evalrun.Settings{"model": "noisy reader", "system": c.system.name, "profile": c.profile,
		"rates": fmt.Sprintf("%+v", profiles[c.profile]), "right": strconv.FormatFloat(c.right, 'g', -1, 64),
		"seed": strconv.Itoa(seed)}
	maps.DeleteFunc(set, func(_, v string) bool { return v == "" })
	info, err := evalrun.Begin(dir, set, asOf(), evalrun.Session{Started: asOf(), Version: "noisy"})
	if err != nil {
		return nil, err
	}
	lg, reader := slog.New(slog.DiscardHandler), b.reader(ctx, c, seed)
	return evalrun.Run(ctx, evalrun.Config{Log: lg, Dir: dir, Info: info, Items: b.items,
		New: func(p evalrun.Parts) ask.Asker {
			return agent.New(p.Log, p.Model, p.Sources, p.Now, agent.Options{Preset: c.system.preset,
				Policy: c.system.policy})
		},
		Model:    func(dataset.Item) agent.Model { return reader },
		Sources:  b.sources,
		Limits:   c.limits(),
		Language: "en", Jobs: runtime.GOMAXPROCS(0), Score: evalrun.Metrics, Now: asOf,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
}
