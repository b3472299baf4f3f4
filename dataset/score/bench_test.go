package score

import (
	"encoding/json"
	"fmt"
	"testing"
)

var shapes = []struct {
	name  string
	sizes []int
	make  func(n int) (gold, pred [][]string)
}{
	{"ordinary", []int{100, 1000, 3000, 10_000, 100_000},
		func(n int) (g, p [][]string) { return newShape(1, n).ordinary(n) }},
	{"hard", []int{1000, 3000, 10_000, 100_000}, func(n int) (g,
		p [][]string) {
		return newShape(2, n).hard(n, 3, 0, false)
	}},
	{"common3", []int{10_000, 100_000}, func(n int) (g, p [][]string) { return newShape(3, n).hard(n, 2, 0, true) }},
	{"common6", []int{10_000, 100_000}, func(n int) (g, p [][]string) { return newShape(4, n).hard(n, 5, 0, true) }},
	{"six", []int{10_000, 100_000}, func(n int) (g, p [][]string) { return newShape(5, n).hard(n, 6, 0, false) }},
	{"ten", []int{10_000, 100_000}, func(n int) (g, p [][]string) { return newShape(6, n).hard(n, 9, 0, true) }},
	{"fewvalues6", []int{10_000, 100_000}, func(n int) (g,
		p [][]string) {
		return newShape(7, n).hard(n, 6, 10, false)
	}},
	{"ragged6", []int{10_000, 100_000}, func(n int) (g, p [][]string) {
		s := newShape(8, n)
		g, p = s.hard(n, 5, 0, true)
		return s.ragged(g), s.ragged(p)
	}},
}

func answers(b testing.TB, gold, pred [][]string) (g, p *Answer) {
	b.Helper()
	d := NewDict()
	g, err := ReadAnswer(d, document("g", gold))
	if err == nil {
		p, err = ReadAnswer(d, document("p", pred))
	}
	if err != nil {
		b.Fatal(err)
	}
	return g, p
}

// measure runs f as a benchmark and reports the processor time, including garbage collection, as well as wall time.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	before := processorTime()
	for b.Loop() {
		f()
	}
	if used := processorTime() - before; used > 0 {
		b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/1e6, "cpu-ms/op")
	}
}

// BenchmarkAssign measures only the pairing, on answers that have already been read.
func BenchmarkAssign(b *testing.B) {
	for _, s := range shapes {
		for _, n := range s.sizes {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				gold, pred := s.make(n)
				g, p := answers(b, gold, pred)
				measure(b, func() {
					if r := Assign(b.Context(), g.Rows, p.Rows, Options{}); !r.Exact {
						b.Fatalf("not exact: %v to %v", r.Sum, r.Upper)
					}
				})
			})
		}
	}
}

// BenchmarkReference measures the plain scorer, which uses a full matrix and the Hungarian method, at sizes that it can
// handle.
func BenchmarkReference(b *testing.B) {
	for _, s := range shapes[:2] {
		for _, n := range []int{100, 1000, 3000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				gold, pred := s.make(n)
				g, p := answers(b, gold, pred)
				measure(b, func() { dense(g.Rows, p.Rows, 3, 1) })
			})
		}
	}
}

// BenchmarkMeasures runs each measure on answers of 100,000 rows.
func BenchmarkMeasures(b *testing.B) {
	gold, pred := shapes[0].make(100_000)
	g, p := answers(b, gold, pred)
	for _, m := range Metrics() {
		b.Run(string(m), func(b *testing.B) {
			measure(b, func() { Compare(b.Context(), g, p, Hint{}, nil, Limits{}, m) })
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			gold, _ := newShape(1, n).ordinary(n)
			doc := document("g", gold)
			b.SetBytes(int64(len(doc)))
			measure(b, func() {
				if _, err := ReadAnswer(NewDict(), doc); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkQALD10 scores SPINACH's released outputs on QALD-10, including reading the 387 pairs of results.
func BenchmarkQALD10(b *testing.B) {
	var items []struct {
		Gold json.RawMessage `json:"gold_answer_tuple"`
		Pred json.RawMessage `json:"predicted_answer_tuple"`
	}
	if err := json.Unmarshal(sharedFile(b, "data/spinach/qald10-outputs.json"), &items); err != nil {
		b.Fatal(err)
	}
	for _, m := range Metrics() {
		b.Run(string(m), func(b *testing.B) {
			measure(b, func() {
				for _, it := range items {
					if _, err := CompareJSON(b.Context(), it.Gold, it.Pred, Hint{}, Limits{}, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
