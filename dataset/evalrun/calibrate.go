package evalrun

import (
	"math"
)

// Calibration measures how well the agent's confidence matches its accuracy on the items that it answered. An answer is
// correct if its exact match is 1.
type Calibration struct {
	N int `json:"n"`
	// expected calibration error: mean absolute difference between confidence and accuracy, weighted by the number of
	// answers in each bin (Guo et al. 2017)
	ECE float64 `json:"ece"`
	// mean squared difference between confidence and correctness (Brier 1950); always predicting the mean accuracy scores
	// Base
	Brier float64          `json:"brier"`
	Base  float64          `json:"brier_of_the_mean"`
	Bins  []CalibrationBin `json:"bins"`
	// fraction of items still answered, and accuracy on them, if answers below a confidence threshold are withheld
	Cut []CoveragePoint `json:"coverage"`
}

// CalibrationBin is a tenth of the confidence range.
type CalibrationBin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"` // mean of the bin
	Right      float64 `json:"right"`      // fraction of correct answers
	F1         float64 `json:"f1"`         // mean of the bin
}

// CoveragePoint is the effect of withholding answers below a confidence threshold.
type CoveragePoint struct {
	Confidence float64 `json:"confidence"`
	Answered   float64 `json:"answered"` // fraction of all scorable items
	Right      float64 `json:"right"`    // fraction of correct answers among the remaining answers
}

const calibrationBins = 10

// Calibrate compares the agent's confidence with its results according to a metric. Items with service failures are
// omitted.
func (r *RunData) Calibrate(metric string) Calibration {
	var c Calibration
	var conf, right, f1 []float64
	all := 0
	r.each(metric, func(it *ItemData, s Score) {
		if !asked(it) {
			return
		}
		if all++; it.Answered {
			conf, right, f1 = append(conf, it.Confidence), append(right, s.EM), append(f1, s.F1)
		}
	})
	c.N = len(conf)
	type sums struct{ n, conf, right, f1 float64 }
	var bins [calibrationBins]sums
	base := mean(right)
	for i, p := range conf {
		b := &bins[binOf(p)]
		b.n, b.conf, b.right, b.f1 = b.n+1, b.conf+p, b.right+right[i], b.f1+f1[i]
		c.Brier += (p - right[i]) * (p - right[i]) / float64(c.N)
		c.Base += (base - right[i]) * (base - right[i]) / float64(c.N)
	}
	for i, b := range bins {
		out := CalibrationBin{Low: float64(i) / calibrationBins, High: float64(i+1) / calibrationBins, N: int(b.n)}
		if b.n > 0 {
			out.Confidence, out.Right, out.F1 = b.conf/b.n, b.right/b.n, b.f1/b.n
			c.ECE += b.n / float64(c.N) * math.Abs(out.Confidence-out.Right)
		}
		c.Bins = append(c.Bins, out)
	}
	for i := range calibrationBins {
		cut := float64(i) / calibrationBins
		left, hits := 0.0, 0.0
		for j, p := range conf {
			if p >= cut-1e-9 {
				left, hits = left+1, hits+right[j]
			}
		}
		if left > 0 {
			c.Cut = append(c.Cut, CoveragePoint{Confidence: cut, Answered: left / float64(all), Right: hits / left})
		}
	}
	return c
}

// binOf returns the bin of a confidence; 1 is in the last bin. Confidences have two decimals; the tolerance keeps 0.3
// in the bin that starts at 0.3.
func binOf(p float64) int {
	return max(0, min(int(p*calibrationBins+1e-9), calibrationBins-1))
}
