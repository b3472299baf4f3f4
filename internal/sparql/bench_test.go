package sparql

import "testing"

func benchParse(b *testing.B, items []item) {
	var good []string
	size := 0
	for _, x := range items {
		if _, err := Parse(x.query); err == nil {
			good = append(good, x.query)
			size += len(x.query)
		}
	}
	b.ReportAllocs()
	b.SetBytes(int64(size))
	n := 0
	for b.Loop() {
		for _, q := range good {
			if _, err := Parse(q); err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "queries/s")
}

func BenchmarkParseGold(b *testing.B)  { benchParse(b, goldQueries(b)) }
func BenchmarkParseForum(b *testing.B) { benchParse(b, forumQueries(b)) }

func BenchmarkPrintForum(b *testing.B) {
	var qs []*Query
	for _, x := range forumQueries(b) {
		if q, err := Parse(x.query); err == nil {
			qs = append(qs, q)
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, q := range qs {
			_ = q.String()
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "queries/s")
}
