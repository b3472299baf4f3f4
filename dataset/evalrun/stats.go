package evalrun

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is the number of bootstrap samples.
const Resamples = 10_000

// Interval is a confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bootstrap returns the 95% percentile interval of the mean of paired differences (Efron and Tibshirani 1993, chapter
// 13): it draws Resamples samples of the items with replacement and returns the 2.5th and 97.5th percentiles of their
// means. Identical generators produce identical intervals.
func Bootstrap(differences []float64, rng *rand.Rand) Interval {
	n := len(differences)
	if n == 0 {
		return Interval{}
	}
	means := make([]float64, Resamples)
	for i := range means {
		sum := 0.0
		for range n {
			sum += differences[rng.IntN(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{Low: percentile(means, 0.025), High: percentile(means, 0.975)}
}

// percentile interpolates between the two nearest sorted values. It returns 0 if there are no values.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// McNemar returns the two-sided p-value of McNemar's exact test (1947): of the b + c items that only one of two systems
// gets right, the first system gets b right. Under the null hypothesis, b is binomial with probability 1/2; the smaller
// tail is doubled. The p-value is 1 if no item distinguishes the systems.
func McNemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	logFactorial := func(m int) float64 { v, _ := math.Lgamma(float64(m) + 1); return v }
	tail := 0.0
	for i := 0; i <= k; i++ {
		tail += math.Exp(logFactorial(n) - logFactorial(i) - logFactorial(n-i) - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}

// Quantiles of the normal distribution for two-sided significance at 5% and a power of 80%.
const (
	zAlpha = 1.959964
	zPower = 0.841621
)

// MDE returns the smallest difference in exact match that McNemar's test on n items detects with a power of 80% at a
// two-sided significance level of 5%, given that systems whose exact matches differ by d disagree on a fraction
// discordant(d) of the items. This is the asymptotic form of Connor (1987):
//
//	√n · d  ≥  1.96 · √p  +  0.84 · √(p − d²)   with p = discordant(d)
//
// It returns NaN if n items cannot show any difference.
func MDE(n int, discordant func(d float64) float64) float64 {
	enough := func(d float64) bool {
		p := max(discordant(d), d)
		return math.Sqrt(float64(n))*d >= zAlpha*math.Sqrt(p)+zPower*math.Sqrt(max(0, p-d*d))
	}
	if n == 0 || !enough(1) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// Planned returns the fraction of items on which a system with the given exact-match score is assumed to disagree with
// a better one. It is used when only the exact matches are known, and assumes that correct answers correlate with φ =
// 0.6. The SPINACH paper (appendix C.2, after Card et al. 2020) reports 9.0 points for its 155 items without stating
// the assumed agreement; this correlation yields that figure.
func Planned(em float64) func(d float64) float64 {
	const phi = 0.6
	return func(d float64) float64 {
		better := min(em+d, 1)
		both := em*better + phi*math.Sqrt(em*(1-em)*better*(1-better))
		both = min(both, em, better)
		return em + better - 2*both
	}
}

// Observed returns the fraction of items on which two observed systems disagree; b and c are the numbers of items that
// only one system gets right. A larger difference requires correspondingly more disagreement.
func Observed(b, c, n int) func(d float64) float64 {
	p, seen := float64(b+c)/float64(max(n, 1)), math.Abs(float64(b-c))/float64(max(n, 1))
	return func(d float64) float64 { return p + max(0, d-seen) }
}

// meanMDE returns the smallest mean difference that a paired test detects, given the standard deviation of the
// differences, with the same power and significance as MDE. NaN means unknown.
func meanMDE(differences []float64) float64 {
	n := float64(len(differences))
	if n < 2 {
		return math.NaN()
	}
	m, ss := mean(differences), 0.0
	for _, d := range differences {
		ss += (d - m) * (d - m)
	}
	if ss == 0 {
		return math.NaN() // the runs never differ, so there is no basis for an estimate
	}
	return (zAlpha + zPower) * math.Sqrt(ss/(n-1)/n)
}
