package scale

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// rows returns the settings of the first table in order, including seed and days.
func rows() (all []Setting) {
	for _, load := range []float64{1, 10, 100, 1000} {
		for _, workers := range []int{1, 3, 30} {
			all = append(all, Setting{Load: load, Workers: workers, Wikis: 1})
		}
	}
	for _, load := range []float64{100, 1000} {
		for _, workers := range []int{1, 3, 30} {
			all = append(all, Setting{Load: load, Workers: workers, Wikis: 1, Raised: true})
		}
		all = append(all, Setting{Load: load, Workers: 3, Wikis: 1, Raised: true, Own: true},
			Setting{Load: load, Workers: 3, Wikis: 5},
			Setting{Load: load, Workers: 3, Wikis: 5, Raised: true},
			Setting{Load: load, Workers: 3, Wikis: 5, Raised: true, Own: true},
			Setting{Load: load, Workers: 30, Wikis: 5, Raised: true, Own: true},
			Setting{Load: load, Workers: 3, Wikis: 1, Raised: true, Deaths: 1},
			Setting{Load: load, Workers: 30, Wikis: 1, Raised: true, Deaths: 1})
	}
	days := map[float64]int{1: 60, 10: 10, 100: 3, 1000: 1}
	for i := range all {
		all[i].Days, all[i].Seed = days[all[i].Load], 1
	}
	return all
}

// tables prints the tables and, if figures is a folder, draws them there. If only is "default", tables prints only the
// rows with the default limits.
func tables(t *testing.T, w io.Writer, only, figures string) {
	fmt.Fprintln(w, "| load | workers | wikis | queries | limits | deaths | requests | median | p95 | an answer | given up | "+
		"still waiting | longest wait for |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	waits := []curve{{name: "default limits"}, {name: "limits raised"}}
	var paid []string
	for _, s := range rows() {
		if only == "default" && s.Raised {
			continue
		}
		r := play(t, s)
		r.Print(w, s)
		if !s.Raised {
			paid = append(paid, fmt.Sprintf("| %g | %d | %d | %d of %d | $%.2f | $%.2f |", s.Load, s.Workers, s.Wikis, r.Answered,
				r.Requests, r.Spent, r.Unanswered))
		}
		if s.Workers != 3 || s.Wikis != 1 || s.Own || s.Deaths > 0 {
			continue
		}
		p := point{s.Load, r.Median.Hours()}
		if !s.Raised {
			waits[0].points = append(waits[0].points, p)
		}
		if s.Raised || s.Load < 100 { // at low load, no limits are reached
			waits[1].points = append(waits[1].points, p)
		}
	}
	fmt.Fprintln(w, "\n| load | workers | wikis | answered | spent | of that on requests without a reply |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |\n"+strings.Join(paid, "\n"))
	if only == "default" {
		return
	}
	fmt.Fprintln(w, "\n| workers | queries | a minute | a million takes | costs | refused |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	rates := []curve{{name: "WDQS"}, {name: "own service"}}
	for i, own := range []bool{false, true} {
		for _, workers := range []int{1, 3, 30, 300} {
			rate := bench(t, w, Setting{Workers: workers, Own: own, Seed: 1})
			rates[i].points = append(rates[i].points, point{float64(workers), rate})
		}
	}
	if figures == "" {
		return
	}
	for name, svg := range map[string]string{
		"scale-waits.svg": logPlot("Half of the answers come within", "hours, three workers, one wiki",
			"times today's requests", waits),
		"scale-bench.svg": logPlot("Questions of a benchmark answered a minute", "by the number of workers, ten in a process",
			"workers", rates),
	} {
		if err := os.WriteFile(filepath.Join(figures, name), []byte(svg), 0o644); err != nil { //nolint:gosec // a picture
			t.Fatal(err)
		}
	}
}

// bench prints a row of the benchmark table, based on a thousand questions.
func bench(t *testing.T, w io.Writer, s Setting) (rate float64) {
	const questions = 1000
	synctest.Test(t, func(t *testing.T) {
		took, usd, failed, err := Bench(t.Context(), s, questions)
		if err != nil {
			t.Fatal(err)
		}
		graph := "WDQS"
		if s.Own {
			graph = "own"
		}
		rate = questions / took.Minutes()
		fmt.Fprintf(w, "| %d | %s | %.1f | %.0f d | $%.0f | %.1f%% |\n", s.Workers, graph, rate,
			took.Hours()/24*1e6/questions, usd*1e6, 100*failed)
	})
	return rate
}
