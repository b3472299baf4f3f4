package score

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
)

// shape generates benchmark tables with words as cells.
type shape struct{ r *rand.Rand }

func newShape(seed uint64, n int) shape { return shape{rand.New(rand.NewPCG(seed, uint64(n)))} }

func uri(i int) string {
	return fmt.Sprintf(`{"type":"uri","value":"http://www.wikidata.org/entity/Q%d"}`, i)
}

func lit(i int) string {
	if i%2 == 1 {
		return fmt.Sprintf(`{"datatype":"http://www.w3.org/2001/XMLSchema#decimal","type":"literal","value":"%d"}`, i)
	}
	return fmt.Sprintf(`{"datatype":"http://www.w3.org/2001/XMLSchema#dateTime","type":"literal","value":"%04d-%02d-%02dT00:00:00Z"}`, 1000+i/336%9000, i/28%12+1, i%28+1)
}

// ordinary returns tables with three columns: items from a pool of 0.8n, countries from 200 by Zipf's law, and values
// from n/5. Of the predicted rows, 70% are copies of different gold rows, 15% have one or two of a gold row's three
// cells, and 15% have none.
func (s shape) ordinary(n int) (gold, pred [][]string) {
	pool, values := max(1, n*8/10), max(20, n/5)
	var sums [200]float64
	total := 0.0
	for k := range sums {
		total += 1 / float64(k+1)
		sums[k] = total
	}
	country := func() int {
		x := s.r.Float64() * total
		for k, c := range sums {
			if x <= c {
				return 100 + k
			}
		}
		return 100
	}
	for range n {
		gold = append(gold, []string{uri(1000000 + s.r.IntN(pool)), uri(country()), lit(1000 + s.r.IntN(values))})
	}
	outside := func(col int) string {
		return []string{uri(9000000 + s.r.IntN(pool)), uri(5000 + s.r.IntN(200)), lit(5000000 + s.r.IntN(values))}[col]
	}
	order := s.r.Perm(n)
	for i := range n {
		row := []string{outside(0), outside(1), outside(2)}
		switch from := gold[order[i]]; {
		case i < n*70/100:
			copy(row, from)
		case i < n*85/100:
			for _, c := range s.r.Perm(3)[:1+s.r.IntN(2)] {
				row[c] = from[c]
			}
		}
		pred = append(pred, row)
	}
	s.r.Shuffle(n, func(i, j int) { pred[i], pred[j] = pred[j], pred[i] })
	return gold, pred
}

// hard draws every column from about 2 sqrt(n) values: 30% of the predicted rows are copies, 60% have one or two cells
// redrawn, and 10% share nothing. There are 1.1 n predicted rows. There are many ties. If common is true, every row
// also contains one additional value, the same in all rows.
func (s shape) hard(n, columns, k int, common bool) (gold, pred [][]string) {
	if k == 0 {
		k = max(4, int(2*math.Sqrt(float64(n))))
	}
	cell := func(col, i int) string {
		if col == columns-1 {
			return fmt.Sprintf(`{"datatype":"http://www.w3.org/2001/XMLSchema#decimal","type":"literal","value":"%d"}`,
				1000+i)
		}
		return uri(1000000*(col+1) + i)
	}
	fresh := func(base int) (row []string) {
		for c := range columns {
			row = append(row, cell(c, base+s.r.IntN(k)))
		}
		return row
	}
	for range n {
		gold = append(gold, fresh(0))
	}
	for range n * 11 / 10 {
		x := s.r.Float64()
		row := append([]string(nil), gold[s.r.IntN(n)]...)
		switch {
		case x < .3:
		case x < .9:
			for _, c := range s.r.Perm(columns)[:1+s.r.IntN(2)] {
				row[c] = cell(c, s.r.IntN(k))
			}
		default:
			row = fresh(500000)
		}
		pred = append(pred, row)
	}
	if common {
		for _, rows := range [][][]string{gold, pred} {
			for i := range rows {
				rows[i] = append(rows[i], uri(1))
			}
		}
	}
	return gold, pred
}

// ragged leaves a third of the cells unbound, except in the first column.
func (s shape) ragged(rows [][]string) [][]string {
	for _, row := range rows {
		for c := 1; c < len(row); c++ {
			if s.r.IntN(3) == 0 {
				row[c] = ""
			}
		}
	}
	return rows
}

func document(prefix string, rows [][]string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"head":{"vars":[`)
	for c := range rows[0] {
		if c > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q", fmt.Sprint(prefix, c))
	}
	b.WriteString("]},\"results\":{\"bindings\":[\n")
	for i, row := range rows {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteByte('{')
		sep := ""
		for c, cell := range row {
			if cell != "" {
				fmt.Fprintf(&b, `%s"%s%d": %s`, sep, prefix, c, cell)
				sep = ", "
			}
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]}}\n")
	return b.Bytes()
}
