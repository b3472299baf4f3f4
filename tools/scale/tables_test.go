package scale

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
)

func tables(t *testing.T, w io.Writer) {
	days := map[float64]int{1: 60, 10: 10, 100: 3, 1000: 1}
	fmt.Fprintln(w, "| load | workers | wikis | queries | limits | requests | median | p95 | an answer | given up | "+
		"still waiting | longest wait for |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	row := func(s Setting) {
		s.Days, s.Seed = days[s.Load], 1
		play(t, s).Print(w, s)
	}
	for _, load := range []float64{1, 10, 100, 1000} {
		for _, workers := range []int{1, 3, 30} {
			row(Setting{Load: load, Workers: workers, Wikis: 1})
		}
	}
	for _, load := range []float64{100, 1000} {
		for _, workers := range []int{1, 3, 30} {
			row(Setting{Load: load, Workers: workers, Wikis: 1, Raised: true})
		}
		row(Setting{Load: load, Workers: 3, Wikis: 5})
		row(Setting{Load: load, Workers: 3, Wikis: 5, Raised: true, Own: true})
		row(Setting{Load: load, Workers: 30, Wikis: 5, Raised: true, Own: true})
	}
	fmt.Fprintln(w, "\n| workers | queries | a minute | a million takes | costs | refused |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	for _, own := range []bool{false, true} {
		for _, workers := range []int{1, 3, 30, 300} {
			bench(t, w, Setting{Workers: workers, Own: own, Seed: 1})
		}
	}
}

// bench prints a row of the benchmark's table, from a thousand questions.
func bench(t *testing.T, w io.Writer, s Setting) {
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
		fmt.Fprintf(w, "| %d | %s | %.1f | %.0f d | $%.0f | %.1f %% |\n", s.Workers, graph, questions/took.Minutes(),
			took.Hours()/24*1e6/questions, usd*1e6, 100*failed)
	})
}
