package score

import (
	"fmt"
	"testing"
)

// shapes are the tables of the benchmarks.
var shapes = []struct {
	name string
	make func(n int) (gold, pred [][]string)
}{
	{"ordinary", func(n int) (g, p [][]string) { return newShape(1, n).ordinary(n) }},
	{"hard", func(n int) (g, p [][]string) { return newShape(2, n).hard(n, 3, 0, false) }},
	{"common3", func(n int) (g, p [][]string) { return newShape(3, n).hard(n, 2, 0, true) }},
	{"common6", func(n int) (g, p [][]string) { return newShape(4, n).hard(n, 5, 0, true) }},
	{"six", func(n int) (g, p [][]string) { return newShape(5, n).hard(n, 6, 0, false) }},
	{"ten", func(n int) (g, p [][]string) { return newShape(6, n).hard(n, 10, 0, true) }},
	{"fewvalues6", func(n int) (g, p [][]string) { return newShape(7, n).hard(n, 6, 10, true) }},
	{"ragged6", func(n int) (g, p [][]string) {
		s := newShape(8, n)
		g, p = s.hard(n, 6, 0, true)
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

// BenchmarkAssign is the pairing alone, on answers that were read.
func BenchmarkAssign(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{1000, 3000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				g, p := answers(b, first(s.make(n)), second(s.make(n)))
				b.ReportAllocs()
				for b.Loop() {
					if r := Assign(b.Context(), g.Rows, p.Rows, Options{}); !r.Exact {
						b.Fatalf("not exact: %v to %v", r.Sum, r.Upper)
					}
				}
			})
		}
	}
}

func first(a, _ [][]string) [][]string  { return a }
func second(_, b [][]string) [][]string { return b }

// BenchmarkReference is the plain scorer, full matrix and Hungarian method, at the sizes that it can do.
func BenchmarkReference(b *testing.B) {
	for _, s := range shapes[:2] {
		for _, n := range []int{100, 300, 1000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				g, p := answers(b, first(s.make(n)), second(s.make(n)))
				for b.Loop() {
					dense(g.Rows, p.Rows, 3, 1)
				}
			})
		}
	}
}

// BenchmarkRead is reading a result.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc := document("g", first(newShape(1, n).ordinary(n)))
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadAnswer(NewDict(), doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
