package confidence

import (
	"math"
	"slices"
)

// Fitted describes the runs that weights were fitted to, and how well such weights do on held-out questions.
type Fitted struct {
	On        string  `json:"on"` // description of the runs
	Runs      int     `json:"runs"`
	Questions int     `json:"questions"`
	Folds     int     `json:"folds"`
	Quality   Quality `json:"held_out"`
}

// Quality compares the probabilities of answers with how often they are right. It ignores runs without an answer.
type Quality struct {
	N     int     `json:"n"`
	Right float64 `json:"right"`             // share of right answers
	Brier float64 `json:"brier"`             // mean squared error of the probabilities (Brier 1950)
	Base  float64 `json:"brier_of_the_mean"` // the Brier score if every probability were the share of right answers
	ECE   float64 `json:"ece"`               // gap between probability and share of right answers, averaged over the bins
	Bins  []Bin   `json:"reliability"`
	Cuts  []Cut   `json:"cuts"`
}

// Bin is one tenth of the probability range.
type Bin struct {
	Low, High float64
	N         int
	Mean      float64 // mean of the probabilities
	Right     float64 // share of right answers
}

// Cut is the effect of answering only above a confidence threshold.
type Cut struct {
	Answered  float64 `json:"answered"` // answered runs as a share of all runs, including those without an answer
	Threshold float64 `json:"threshold"`
	Wrong     float64 `json:"wrong"`     // share of all runs with a wrong answer
	WrongOf   float64 `json:"wrong_of"`  // share of the answers that are wrong
	AtRandom  float64 `json:"at_random"` // WrongOf for the same number of answers drawn at random
}

// Shares lists shares of all runs. For each share, [Measure] reports how many answers are wrong if only that share of
// the runs is answered. If too few runs have an answer, all runs that have one are used.
var Shares = []float64{0.5, 0.7, 0.9}

// Measure compares probabilities with the outcomes. silent is the number of additional runs without an answer.
func Measure(p []float64, right []bool, silent int) Quality {
	q := Quality{N: len(p)}
	if q.N == 0 {
		return q
	}
	n := float64(q.N)
	for _, r := range right {
		q.Right += one(r) / n
	}
	var bins [10]Bin
	for i, x := range p {
		y := one(right[i])
		q.Brier += (x - y) * (x - y) / n
		q.Base += (q.Right - y) * (q.Right - y) / n
		b := &bins[max(0, min(int(x*10+1e-9), 9))]
		b.N++
		b.Mean += x
		b.Right += y
	}
	for i, b := range bins {
		if b.Low, b.High = float64(i)/10, float64(i+1)/10; b.N > 0 {
			b.Mean, b.Right = b.Mean/float64(b.N), b.Right/float64(b.N)
			q.ECE += float64(b.N) / n * math.Abs(b.Mean-b.Right)
		}
		q.Bins = append(q.Bins, b)
	}
	order := make([]int, q.N)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // on a tie, wrong answers first, so a lucky order does not help
		switch {
		case p[a] != p[b]:
			return cmpDown(p[a], p[b])
		case right[a] == right[b]:
			return 0
		case right[b]:
			return -1
		}
		return 1
	})
	all := n + float64(silent)
	for _, share := range Shares {
		take := min(int(math.Ceil(share*all-1e-9)), q.N) // only q.N runs have an answer
		if n := len(q.Cuts); n > 0 && q.Cuts[n-1].Answered == float64(take)/all {
			continue
		}
		c := Cut{Answered: float64(take) / all, Threshold: p[order[take-1]], AtRandom: (1 - q.Right) * float64(take) / all}
		for _, i := range order[:take] {
			c.Wrong += one(!right[i]) / all
			c.WrongOf += one(!right[i]) / float64(take)
		}
		q.Cuts = append(q.Cuts, c)
	}
	return q
}

func cmpDown(a, b float64) int {
	if a > b {
		return -1
	}
	return 1
}
