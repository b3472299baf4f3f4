package release_test

import (
	"fmt"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// BenchmarkDivide splits ten thousand items with the same outline, each a near-duplicate of sixteen others by the
// harvest's rules. This is the worst case.
func BenchmarkDivide(b *testing.B) {
	cs, golds := many(10_000)
	for i := range cs {
		cs[i].Cleaned, cs[i].Properties = golds[i].Query, []string{"P31"}
		q, err := sparql.Parse(golds[i].Query)
		if err != nil {
			b.Fatal(err)
		}
		cs[i].Pattern = measure.Shape(q)
		for j := max(0, i-8); j < min(len(cs), i+9); j++ {
			if j != i {
				cs[i].Near = append(cs[i].Near, dataset.Near{ID: cs[j].ID, Source: release.NearCandidates,
					Similarity: 0.9})
			}
		}
	}
	for _, near := range release.Nearnesses {
		b.Run(fmt.Sprint(near), func(b *testing.B) {
			for b.Loop() {
				if _, err := release.Divide(cs, golds, release.Part{Share: 0.5}, near, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
