package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/dataset/evalrun"
)

// figures are the means for a cell, over questions and seeds; F1, EM and the shares are percentages.
type figures struct {
	f1, em, wrong, silent, calls, tokens, usd float64
	interval                                  evalrun.Interval // interval of F1
}

// figures computes the figures for a cell. An answer is wrong if its F1 is below 0.5.
func (c *cell) figures() figures {
	var m figures
	n := 0.0
	for _, seeds := range c.runs {
		for _, r := range seeds {
			n++
			m.f1 += 100 * r.f1
			m.em += percent(r.exact)
			m.wrong += percent(r.answered && r.f1 < 0.5)
			m.silent += percent(!r.answered)
			m.calls += float64(r.calls)
			m.tokens += float64(r.tokens)
			m.usd += r.usd
		}
	}
	for _, x := range []*float64{&m.f1, &m.em, &m.wrong, &m.silent, &m.calls, &m.tokens, &m.usd} {
		*x /= max(n, 1)
	}
	m.interval = interval(c.f1())
	return m
}

func percent(yes bool) float64 {
	if yes {
		return 100
	}
	return 0
}

// f1 returns each question's F1 as a percentage, averaged over its seeds: runs of the same question are not independent
// of each other, so intervals are computed over questions.
func (c *cell) f1() []float64 {
	out := make([]float64, len(c.runs))
	for i, seeds := range c.runs {
		for _, r := range seeds {
			out[i] += 100 * r.f1 / float64(len(seeds))
		}
	}
	return out
}

// interval returns the 95% bootstrap interval of a mean. It is deterministic.
func interval(values []float64) evalrun.Interval {
	return evalrun.Bootstrap(values, rand.New(rand.NewPCG(1, 2)))
}

// against returns the difference between two cells' F1 with its interval, paired by question.
func (c *cell) against(o *cell) (mean float64, in evalrun.Interval) {
	a, b := c.f1(), o.f1()
	for i := range a {
		a[i] -= b[i]
		mean += a[i] / float64(len(a))
	}
	return mean, interval(a)
}

func writeText(w io.Writer, cells []*cell) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "profile\tsystem\tright\tF1\t\tEM\twrong\tsilent\tcalls\ttokens\t")
	for _, c := range cells {
		m := c.figures()
		fmt.Fprintf(t, "%s\t%s\t%g\t%.1f\t%.1f–%.1f\t%.1f\t%.1f%%\t%.1f%%\t%.1f\t%.0f\t\n", c.profile, c.system.name,
			c.right, m.f1, m.interval.Low, m.interval.High, m.em, m.wrong, m.silent, m.calls, m.tokens)
	}
	return t.Flush()
}
