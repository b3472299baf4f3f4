package evalrun

import (
	"fmt"
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// queryFacts contains the facts about a query that the report and the error classes use. ok is false if the text is not
// a query.
type queryFacts struct {
	ok         bool
	form       string
	features   []string
	items      []string // Q and L numbers
	properties []string
	classes    []string // IDs of items that occur only as classes
	metrics    measure.Metrics
	limit      bool
}

func factsOf(query string) queryFacts {
	q, err := sparql.Parse(query)
	if err != nil {
		return queryFacts{}
	}
	ids := sparql.Identifiers(q)
	f := queryFacts{ok: true, form: q.Form.String(), features: measure.Features(q), items: sparql.IDs(ids, false),
		properties: sparql.IDs(ids, true),
		metrics:    measure.Query(q), limit: q.Body != nil && q.Body.Limit != nil}
	sparql.Inspect(q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Triples); ok {
			for _, x := range t.Triples() {
				if id := termID(x.Object); id != "" && classPath(x.Path) {
					f.classes = append(f.classes, id)
				}
			}
		}
		return true
	})
	return f
}

func termID(t *sparql.Term) string {
	if t.Kind != sparql.Const || !t.IsIRI() {
		return ""
	}
	return rdf.EntityID(t.Value().Value)
}

// classProperties are "instance of" and "subclass of".
var classProperties = []string{"P31", "P279"}

// classPath reports whether a path consists only of classProperties.
func classPath(p *sparql.Path) bool {
	if p.Kind == sparql.PathTerm {
		return slices.Contains(classProperties, termID(p.Term))
	}
	for _, a := range p.Args {
		if !classPath(a) {
			return false
		}
	}
	return len(p.Args) > 0
}

func (f queryFacts) has(feature string) bool { return slices.Contains(f.features, feature) }

func missing(want, have []string) (out []string) {
	for _, w := range want {
		if !slices.Contains(have, w) {
			out = append(out, w)
		}
	}
	return out
}

// Bin is a group of items with their mean score by a metric.
type Bin struct {
	Label string  `json:"label"`
	N     int     `json:"n"`
	Share float64 `json:"share"` // of all items binned
	F1    float64 `json:"f1"`    // mean; 0 for an empty bin
	EM    float64 `json:"em"`
}

type binner struct {
	order []string
	f1    map[string][]float64
	em    map[string][]float64
	all   int
}

func newBinner(order ...string) *binner {
	return &binner{order: order, f1: map[string][]float64{}, em: map[string][]float64{}}
}

// add adds an item's score to bins. Labels not listed in order come last.
func (b *binner) add(s Score, labels ...string) {
	b.all++
	for _, l := range labels {
		if !slices.Contains(b.order, l) {
			b.order = append(b.order, l)
		}
		b.f1[l], b.em[l] = append(b.f1[l], s.F1), append(b.em[l], s.EM)
	}
}

func (b *binner) bins(empty bool) []Bin {
	out := []Bin{}
	for _, l := range b.order {
		n := len(b.f1[l])
		if n == 0 && !empty {
			continue
		}
		out = append(out, Bin{Label: l, N: n, Share: float64(n) / math.Max(float64(b.all), 1), F1: mean(b.f1[l]),
			EM: mean(b.em[l])})
	}
	return out
}

// stepBins are the bins of the SPINACH paper's table 5.
var stepBins = []string{"0–2", "3–5", "6–8", "9–11", "12–14", "15+"}

func stepBin(n int) string { return stepBins[min(n/3, len(stepBins)-1)] }

// ByFeature returns the metric's mean for each feature of the gold queries (an item is counted once per feature of its
// query) and for queries without features. Items with service failures are omitted, here and in the distributions.
func (r *RunData) ByFeature(metric string) []Bin {
	b := newBinner()
	r.each(metric, func(it *ItemData, s Score) {
		if !asked(it) {
			return
		}
		f := factsOf(it.GoldSPARQL)
		labels := slices.DeleteFunc(slices.Clone(f.features),
			func(name string) bool { return name == "label-service" || name == "distinct" })
		if len(labels) == 0 {
			labels = []string{"none of these"}
		}
		b.add(s, labels...)
	})
	bins := b.bins(false)
	slices.SortStableFunc(bins, func(x, y Bin) int { return y.N - x.N })
	return bins
}

// BySteps returns the distribution of the number of steps, excluding abandoned steps: table 5 in the paper, with the
// metric for each bin.
func (r *RunData) BySteps(metric string) []Bin {
	b := newBinner(stepBins...)
	r.each(metric, func(it *ItemData, s Score) {
		if asked(it) {
			b.add(s, stepBin(it.Steps))
		}
	})
	return b.bins(true)
}

// ByValue returns the distribution of a value over the items, in ten equal-width bins from its minimum to its maximum,
// as in tables 10 and 11 in the paper.
func (r *RunData) ByValue(metric string, of func(*ItemData) float64, format func(float64) string) []Bin {
	low, high := math.Inf(1), math.Inf(-1)
	r.each(metric, func(it *ItemData, _ Score) {
		if asked(it) {
			low, high = min(low, of(it)), max(high, of(it))
		}
	})
	if !(high > low) {
		return nil
	}
	const n = 10
	width := (high - low) / n
	var labels []string
	for i := range n {
		labels = append(labels, fmt.Sprintf("%s–%s", format(low+float64(i)*width), format(low+float64(i+1)*width)))
	}
	out := make([]Bin, n)
	binned := make([]*binner, n)
	for i := range binned {
		binned[i] = newBinner(labels[i])
	}
	all := 0
	r.each(metric, func(it *ItemData, s Score) {
		if asked(it) {
			all++
			i := min(int((of(it)-low)/width), n-1)
			binned[i].add(s, labels[i])
		}
	})
	for i, b := range binned {
		out[i] = b.bins(true)[0]
		out[i].Share = float64(out[i].N) / float64(all)
	}
	return out
}

// asked reports whether the agent was asked and no service failed.
func asked(it *ItemData) bool { return it.Error == nil && it.Reason != skipped }

func (r *RunData) each(metric string, f func(*ItemData, Score)) {
	for i := range r.Items {
		if s, ok := r.Items[i].Score(metric); ok {
			f(&r.Items[i], s)
		}
	}
}
