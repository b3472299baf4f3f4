package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TestGroupsLaw checks that neither the leading result nor the attempt that represents it depends on the order of the
// attempts.
func TestGroupsLaw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 13))
	shown := func(v *vote) string {
		var b strings.Builder
		for _, g := range v.groups() {
			fmt.Fprintf(&b, "%d %s; ", len(g.tries), g.lead().f.Answer.SPARQL)
		}
		return b.String()
	}
	for range 300 {
		v := &vote{}
		for i := range 1 + rnd.IntN(7) {
			x := try{confidence: float64(rnd.IntN(3)) / 2}
			if n := rnd.IntN(4); n > 0 {
				x.f.Answer = table([]string{"x"}, []rdf.Term{entity(fmt.Sprint("Q", n))})
				x.f.Answer.SPARQL, x.key = fmt.Sprintf("query %d for Q%d", i, n), ResultKey(x.f.Answer)
			}
			v.tries = append(v.tries, x)
		}
		want := shown(v)
		for range 5 {
			w := &vote{tries: slices.Clone(v.tries)}
			rnd.Shuffle(len(w.tries), func(i, j int) { w.tries[i], w.tries[j] = w.tries[j], w.tries[i] })
			if got := shown(w); got != want {
				t.Fatalf("in a different order, %q instead of %q", got, want)
			}
		}
	}
}

// TestSpared checks that no further attempt is made if it could not change the choice, or if the answers are certain
// enough.
func TestSpared(t *testing.T) {
	group := func(n int, sure float64) answers {
		g := answers{}
		for range n {
			g.tries = append(g.tries, &try{confidence: sure})
		}
		return g
	}
	for _, tt := range []struct {
		groups     []answers
		made, most int
		spared     bool
	}{
		{nil, 1, 3, false},
		{[]answers{group(1, 1)}, 1, 3, false}, // no judge called it done
		{[]answers{group(1, 0)}, 1, 1, true},
		{[]answers{group(2, 0.5)}, 2, 5, true},
		{[]answers{group(2, 0.4)}, 2, 5, false},
		{[]answers{group(2, 0.4)}, 2, 3, true},
		{[]answers{group(3, 0.4)}, 3, 5, true},
		{[]answers{group(2, 0.9), group(1, 0.9)}, 3, 5, false},
		{[]answers{group(3, 0.9), group(1, 0.9)}, 4, 5, true},
		{[]answers{group(1, 0.9), group(1, 0.9)}, 2, 3, false},
	} {
		if got := spared(tt.groups, tt.made, tt.most); (got != "") != tt.spared {
			t.Errorf("%d groups after %d of %d tries: %q", len(tt.groups), tt.made, tt.most, got)
		}
	}
}

// TestUsual checks that each attempt uses a policy that makes only one attempt, even if the preset's first policy makes
// several.
func TestUsual(t *testing.T) {
	p := *preset.Default()
	for _, tt := range []struct {
		policies []string
		want     Policy
	}{{[]string{"auto", "consistent"}, Consistent}, {[]string{"vote"}, Linear}, {[]string{"generate"}, Generate}} {
		p.Policies = tt.policies
		if got := usual(&step.Runner{Preset: &p}); fmt.Sprintf("%p", got) != fmt.Sprintf("%p", tt.want) {
			t.Errorf("%v: wrong policy", tt.policies)
		}
	}
}
