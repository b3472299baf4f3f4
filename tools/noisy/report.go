package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset/evalrun"
)

// experiment is a table in the report, optionally with a figure of the same name. Its systems must all run on the same
// questions and seeds, so that paired comparisons are possible.
type experiment struct {
	name     string
	systems  []string
	profiles []string
	right    []float64
	limits   []limit // if empty, the presets' own policies
	rows     int     // only questions whose gold query returns at least this many rows
	write    func(w io.Writer, e experiment, cells []*cell)
	figure   string // title of the figure, or ""
}

var range5 = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1}

var searches = []string{"grasp", "grasp/vote", "grasp/bfs", "grasp/dfs", "grasp/random", "grasp/direct", "grasp/mcts",
	"grasp/auto"}

// usual lists the policies that the default preset may use.
var usual = []string{"best", "best/vote", "best/auto", "best/mcts:n=2;k=2;judgments=1"}

// experiments returns the experiments in docs/noisy.md.
func experiments() []experiment {
	without := []string{"best"}
	for _, p := range parts() {
		if p.name != "feedback" {
			without = append(without, "best~"+p.name)
		}
	}
	without = append(without, "best+feedback", "best/vote", "best/auto")
	var kn []string
	for _, n := range []int{1, 3, 5, 7, 9} {
		kn = append(kn, fmt.Sprintf("grasp/mcts:n=%d;k=5", n))
	}
	for _, k := range []int{1, 2, 3, 4} {
		kn = append(kn, fmt.Sprintf("grasp/mcts:n=5;k=%d", k))
	}
	return []experiment{
		{name: "presets", systems: []string{"bare", "spinach", "grasp", "grasp-f", "interactive-kbqa", "sparql-llm",
			"best"}, profiles: []string{"steady", "hasty", "confused"}, right: []float64{0.8}, write: writeCells},
		{name: "choices", systems: []string{"bare", "grasp", "grasp-f", "best", "best+feedback", "best/vote"},
			profiles: []string{"hasty"}, right: range5, write: writeRange,
			figure: "F1 by how often a choice is right"},
		{name: "searches", systems: searches, profiles: []string{"hasty"}, right: range5, write: writeRange,
			figure: "F1 of searches by how often a judgment is right"},
		{name: "calls", systems: searches, profiles: []string{"hasty"}, right: []float64{0.5, 0.7, 0.9},
			limits: []limit{{calls: 12}, {calls: 30}}, write: writeLimits,
			figure: "F1 of searches with at most 30 calls"},
		{name: "money", systems: searches, profiles: []string{"hasty"}, right: []float64{0.5, 0.7, 0.9},
			limits: []limit{{usd: 0.06}, {usd: 0.15}}, write: writeLimits,
			figure: "F1 of searches for at most $0.15 a question"},
		{name: "auto", systems: usual, profiles: []string{"hasty"}, right: []float64{0.5, 0.7, 0.9},
			limits: []limit{{usd: 0.03}, {usd: 0.06}, {usd: 0.12}}, write: writeEqual,
			figure: "F1 of the preset best for at most $0.12 a question"},
		{name: "readers", systems: usual[:3], profiles: []string{"steady", "confused"}, right: []float64{0.5, 0.7, 0.9},
			limits: []limit{{usd: 0.06}, {usd: 0.12}}, write: writeEqual},
		{name: "kn", systems: kn, profiles: []string{"hasty"}, right: []float64{0.8}, write: writeCells},
		{name: "parts", systems: without, profiles: []string{"hasty"}, right: []float64{0.7, 1}, write: writeParts},
		{name: "lists", systems: without, profiles: []string{"hasty"}, right: []float64{0.7, 1}, rows: 3,
			write: writeParts},
	}
}

// cells returns the combinations in an experiment.
func (e experiment) cells() ([]*cell, error) {
	var out []*cell
	limits := e.limits
	if len(limits) == 0 {
		limits = []limit{{}}
	}
	for _, profile := range e.profiles {
		for _, name := range e.systems {
			sys, err := systemNamed(name)
			if err != nil {
				return nil, err
			}
			for _, q := range e.right {
				for _, l := range limits {
					out = append(out, &cell{system: sys, profile: profile, right: q, limit: l})
				}
			}
		}
	}
	return out, nil
}

// report creates the tables and figures in docs/noisy.md. In that file, two comments with a table's name mark where the
// table goes.
func report(ctx context.Context, w io.Writer, s settings, b *bench) error {
	for _, e := range experiments() {
		if s.only != "" && !slices.Contains(strings.Split(s.only, ","), e.name) {
			continue
		}
		began := time.Now()
		b.only(max(s.rows, e.rows))
		cells, err := e.cells()
		if err != nil {
			return err
		}
		if err := b.run(ctx, cells, s.seeds); err != nil {
			return err
		}
		var t bytes.Buffer
		if len(b.items) == 0 {
			return fmt.Errorf("%s: no question has that many rows", e.name)
		}
		fmt.Fprintf(&t, "%d questions, seeds: %d.\n\n", len(b.items), s.seeds)
		e.write(&t, e, cells)
		if err := put(filepath.Join(s.docs, "noisy.md"), e.name, t.String()); err != nil {
			return err
		}
		if e.figure != "" {
			svg := plot(e.figure, fmt.Sprintf("profile %s, %d questions, seeds: %d; bars are 95%% intervals", e.profiles[0],
				len(b.items), s.seeds), curves(e, cells))
			if err := os.WriteFile(filepath.Join(s.docs, "figures", "noisy-"+e.name+".svg"), []byte(svg), 0o644); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%s: %d runs in %s\n", e.name, len(cells)*len(b.items)*s.seeds, time.Since(began).Round(time.Second))
	}
	return nil
}

// put replaces the text between a table's comments.
func put(path, name, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to := "<!-- table "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, ok := strings.Cut(string(text), from)
	_, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		return errors.New(path + " has no comments for the table  " + name + ": " + from + to)
	}
	return os.WriteFile(path, []byte(before+from+"\n"+table+"\n"+to+after), 0o644)
}

func find(cells []*cell, name string, right float64, l limit) *cell {
	for _, c := range cells {
		if c.system.name == name && c.right == right && c.limit == l {
			return c
		}
	}
	return nil
}

// curves returns the lines in an experiment's figure, for the last of its limits.
func curves(e experiment, cells []*cell) []line {
	var out []line
	var last limit
	if n := len(e.limits); n > 0 {
		last = e.limits[n-1]
	}
	for _, name := range e.systems {
		l := line{name: name}
		for _, q := range e.right {
			m := find(cells, name, q, last).figures()
			l.dots = append(l.dots, dot{q, m.f1, m.interval.Low, m.interval.High})
		}
		out = append(out, l)
	}
	return out
}

func bounds(in evalrun.Interval) string { return fmt.Sprintf("%.1f–%.1f", in.Low, in.High) }

func writeCells(w io.Writer, _ experiment, cells []*cell) {
	fmt.Fprintln(w, "| mistakes | system | F1 | 95% | EM | wrong % | silent % | calls | tokens | $ per 100 |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range cells {
		m := c.figures()
		fmt.Fprintf(w, "| %s | %s | %.1f | %s | %.1f | %.1f | %.1f | %.1f | %.0f | %.2f |\n", c.profile, c.system.name,
			m.f1, bounds(m.interval), m.em, m.wrong, m.silent, m.calls, m.tokens, 100*m.usd)
	}
}

// writeRange writes F1 by the probability of a correct choice, and the probability above which each system outperforms
// the first.
func writeRange(w io.Writer, e experiment, cells []*cell) {
	fmt.Fprint(w, "| system |")
	for _, q := range e.right {
		fmt.Fprintf(w, " %.1f |", q)
	}
	fmt.Fprintf(w, " calls | tokens | ahead of %s from |\n| --- |%s --- | --- | --- |\n", e.systems[0],
		strings.Repeat(" --- |", len(e.right)))
	for _, name := range e.systems {
		fmt.Fprintf(w, "| %s |", name)
		from := "never"
		var last figures
		for _, q := range slices.Backward(e.right) {
			c := find(cells, name, q, limit{})
			if _, in := c.against(find(cells, e.systems[0], q, limit{})); in.Low <= 0 {
				break
			}
			from = fmt.Sprintf("%.1f", q)
		}
		if name == e.systems[0] {
			from = ""
		}
		for _, q := range e.right {
			c := find(cells, name, q, limit{})
			last = c.figures()
			fmt.Fprintf(w, " %.1f |", last.f1)
		}
		fmt.Fprintf(w, " %.1f | %.0f | %s |\n", last.calls, last.tokens, from)
	}
}

// writeLimits writes F1 for each limit and each probability, and the difference from the first system, in bold if its
// interval excludes 0.
func writeLimits(w io.Writer, e experiment, cells []*cell) {
	fmt.Fprint(w, "| system |")
	for _, l := range e.limits {
		for _, q := range e.right {
			fmt.Fprintf(w, " %s, %.1f |", l, q)
		}
	}
	fmt.Fprintf(w, "\n| --- |%s\n", strings.Repeat(" --- |", len(e.limits)*len(e.right)))
	for _, name := range e.systems {
		fmt.Fprintf(w, "| %s |", name)
		for _, l := range e.limits {
			for _, q := range e.right {
				c := find(cells, name, q, l)
				f1 := fmt.Sprintf("%.1f", c.figures().f1)
				if _, in := c.against(find(cells, e.systems[0], q, l)); in.Low > 0 || in.High < 0 {
					f1 = "**" + f1 + "**"
				}
				fmt.Fprintf(w, " %s |", f1)
			}
		}
		fmt.Fprintln(w)
	}
}

// writeEqual writes F1 with its interval, the cost, and the differences from the first two systems, for each limit.
func writeEqual(w io.Writer, e experiment, cells []*cell) {
	fmt.Fprint(w, "| mistakes | limit | system | $ per 100 |")
	for _, q := range e.right {
		fmt.Fprintf(w, " %.1f | to %s |", q, e.systems[0])
	}
	fmt.Fprintf(w, "\n| --- | --- | --- | --- |%s\n", strings.Repeat(" --- | --- |", len(e.right)))
	for _, profile := range e.profiles {
		of := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c.profile != profile })
		writeProfile(w, e, profile, of)
	}
}

func writeProfile(w io.Writer, e experiment, profile string, cells []*cell) {
	for _, l := range e.limits {
		for _, name := range e.systems {
			row, usd := "", 0.0
			for _, q := range e.right {
				c := find(cells, name, q, l)
				m := c.figures()
				usd += 100 * m.usd / float64(len(e.right))
				row += fmt.Sprintf(" %.1f (%s) |", m.f1, bounds(m.interval))
				if name == e.systems[0] {
					row += "  |"
					continue
				}
				row += difference(c, find(cells, e.systems[0], q, l))
			}
			fmt.Fprintf(w, "| %s | %s | %s | %.2f |%s\n", profile, l, name, usd, row)
		}
		for _, name := range e.systems[2:] {
			fmt.Fprintf(w, "| %s | %s | %s to %s | |", profile, l, name, e.systems[1])
			for _, q := range e.right {
				fmt.Fprint(w, "  |", difference(find(cells, name, q, l), find(cells, e.systems[1], q, l)))
			}
			fmt.Fprintln(w)
		}
	}
}

// difference returns the difference between two cells, in bold if its interval excludes 0.
func difference(c, o *cell) string {
	diff, in := c.against(o)
	text := fmt.Sprintf("%+.1f (%+.1f to %+.1f)", diff, in.Low, in.High)
	if in.Low > 0 || in.High < 0 {
		text = "**" + text + "**"
	}
	return " " + text + " |"
}

// String returns the limit in the form used in table headers.
func (l limit) String() string {
	if l.calls > 0 {
		return fmt.Sprintf("%d calls", l.calls)
	}
	return fmt.Sprintf("$%.2f", l.usd)
}

// writeParts writes the effect of each change to a preset, as a difference from the original preset.
func writeParts(w io.Writer, e experiment, cells []*cell) {
	fmt.Fprint(w, "| system |")
	for _, q := range e.right {
		fmt.Fprintf(w, " F1 at %.1f | 95%% |", q)
	}
	fmt.Fprintf(w, " calls | tokens |\n| --- |%s --- | --- |\n", strings.Repeat(" --- | --- |", len(e.right)))
	for i, name := range e.systems {
		fmt.Fprintf(w, "| %s |", name)
		var calls, tokens float64
		for _, q := range e.right {
			c, whole := find(cells, name, q, limit{}), find(cells, e.systems[0], q, limit{})
			m, of := c.figures(), whole.figures()
			diff, in := c.against(whole)
			calls, tokens = m.calls-of.calls, m.tokens-of.tokens
			if i == 0 {
				diff, in, calls, tokens = m.f1, m.interval, m.calls, m.tokens
				fmt.Fprintf(w, " %.1f | %s |", diff, bounds(in))
				continue
			}
			fmt.Fprintf(w, " %+.1f | %+.1f to %+.1f |", diff, in.Low, in.High)
		}
		if i == 0 {
			fmt.Fprintf(w, " %.1f | %.0f |\n", calls, tokens)
			continue
		}
		fmt.Fprintf(w, " %+.1f | %+.0f |\n", calls, tokens)
	}
}
