package treeview

import (
	"fmt"
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Spread describes how much the judge's scores for the same state differed. It covers all judged states at one depth.
// Scores are from 0 to 1.
type Spread struct {
	Depth   int      `json:"depth"`   // steps from the question
	States  int      `json:"states"`  // number of judged states
	Samples int      `json:"samples"` // number of judgments that could be parsed
	Mean    float64  `json:"mean"`    // mean of the states' scores
	SD      *float64 `json:"sd"`      // mean of the states' sample standard deviations; nil if no state has two samples
	Range   *float64 `json:"range"`   // the largest difference between two samples of one state; nil if SD is nil
}

// Stability returns the spread of the judge's samples at each depth, in ascending order. States that were not judged
// are omitted.
func (t *Tree) Stability() []Spread {
	by := map[int][]*Node{}
	deepest := 0
	for _, n := range t.nodes {
		if len(n.Samples) > 0 && n.Score != nil {
			d := n.Depth()
			by[d] = append(by[d], n)
			deepest = max(deepest, d)
		}
	}
	var out []Spread
	for d := 1; d <= deepest; d++ {
		if nodes := by[d]; len(nodes) > 0 {
			slices.SortFunc(nodes, func(a, b *Node) int { return a.ID - b.ID }) // sums must not depend on map order
			out = append(out, spread(d, nodes))
		}
	}
	return out
}

func spread(depth int, nodes []*Node) Spread {
	s := Spread{Depth: depth, States: len(nodes)}
	sum, widest, several := 0.0, 0.0, 0
	for _, n := range nodes {
		s.Samples += len(n.Samples)
		s.Mean += *n.Score / float64(len(nodes))
		if len(n.Samples) < 2 {
			continue
		}
		several++
		sum += deviation(n.Samples)
		widest = max(widest, slices.Max(n.Samples)-slices.Min(n.Samples))
	}
	if several > 0 {
		sd := sum / float64(several)
		s.SD, s.Range = &sd, &widest
	}
	return s
}

// deviation returns the sample standard deviation of at least two values.
func deviation(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// String formats the spread on one line.
func (s Spread) String() string {
	out := fmt.Sprintf("depth %d: %s, %s, mean score %.2f", s.Depth, text.Count(s.States, "state"),
		text.Count(s.Samples, "judgment"), s.Mean)
	if s.SD == nil {
		return out + ", one judgment each: no spread"
	}
	return out + fmt.Sprintf(", standard deviation %.2f, widest range %.2f", *s.SD, *s.Range)
}
