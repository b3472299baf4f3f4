package release

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// Part is the size of a benchmark's development set: N items or, if N is 0, a fraction (0 to 1) of all items.
type Part struct {
	N     int
	Share float64
}

// Nearness determines which near-duplicates a split keeps together; each kind includes the ones before it.
type Nearness string

// The kinds. A question leaks from one part of a benchmark into the other if the other part has a question that
// differs from it only in a name or a column. Two queries that merely have the same outline are not such a pair:
// every "?x wdt:P31 wd:Q…" has the same outline, and a forum's simple queries would become one cluster.
const (
	// identical queries, or the same pattern ([measure.Shape]) with the same Q and P numbers
	NearSame Nearness = "same"
	NearText Nearness = "text" // also similar text ([harvest.SimilarText])
	// also the same pattern with the same two or more properties, but different entities, numbers or strings
	NearTemplate Nearness = "template"
	NearPattern  Nearness = "pattern" // also the same pattern with any Q and P numbers
)

// Nearnesses lists the kinds in order.
var Nearnesses = []Nearness{NearSame, NearText, NearTemplate, NearPattern}

// reaches reports whether pairs of kind k are kept together when n is requested.
func (n Nearness) reaches(k Nearness) bool {
	return slices.Index(Nearnesses, k) <= slices.Index(Nearnesses, n)
}

// Split is a benchmark divided into two parts.
type Split struct {
	Dev, Test []Gold
	Clusters  int // clusters of near-duplicates, including clusters of one item
	Largest   int // number of items in the largest cluster
}

// Divide splits golds into a development part and a test part. Near-duplicates of the requested kind stay together,
// even if they are connected only indirectly. Candidates that were not kept also connect items. Otherwise, annotating
// more of them later could join clusters. Both the harvested and the gold queries are compared.
//
// The split depends only on the seed, the candidates and the golds, not on their order. Each cluster of near-duplicates
// draws a number from the seed and the ID of its oldest candidate. With a share, a cluster whose number is below the
// share goes into the development part. Later harvests then add items to either part without moving any, unless a new
// item joins two clusters. The share is met only on average. With a number of items, clusters are taken in ascending
// order of their numbers until N items are reached; a cluster that would exceed N is skipped. Adding items then moves
// some items near the boundary. candidates must contain all candidates of the harvest.
//
// It is an error if a part of the split is empty.
func Divide(candidates []dataset.Candidate, golds []Gold, part Part, near Nearness, seed uint64) (Split, error) {
	if part.N >= len(golds) {
		return Split{}, fmt.Errorf("%d of %d items in dev leave none for test", part.N, len(golds))
	}
	clusters := cluster(candidates, golds, near)
	draws := make(map[string]uint64, len(clusters))
	for _, c := range clusters {
		draws[c.key] = draw(seed, c.key)
	}
	slices.SortFunc(clusters, func(a, b group) int {
		return cmp.Or(cmp.Compare(draws[a.key], draws[b.key]), cmp.Compare(a.key, b.key))
	})
	out := Split{Clusters: len(clusters)}
	for _, c := range clusters {
		toDev := float64(draws[c.key])/(1<<64) < part.Share
		if part.N > 0 {
			toDev = len(out.Dev)+len(c.golds) <= part.N
		}
		if toDev {
			out.Dev = append(out.Dev, c.golds...)
		} else {
			out.Test = append(out.Test, c.golds...)
		}
		out.Largest = max(out.Largest, len(c.golds))
	}
	if len(out.Dev) == 0 || len(out.Test) == 0 {
		return out, fmt.Errorf("the parts would have %d and %d items: %d items in %d clusters of near-duplicates are too few for this share; choose another share or seed, or a narrower --near",
			len(out.Dev), len(out.Test), len(golds), len(clusters))
	}
	return out, nil
}

// draw returns a number that depends only on the seed and the key. The numbers are uniformly distributed: they are
// FNV-1a hashes passed through MurmurHash3's finalizer.
func draw(seed uint64, key string) uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	_, _ = h.Write(b[:]) // a hash never fails
	_, _ = h.Write([]byte(key))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// group is a cluster: golds that must stay together, and the ID of the oldest candidate connected to them.
type group struct {
	key   string
	golds []Gold
}

// union is a forest of IDs (union-find).
type union map[string]string

func (u union) find(x string) string {
	root := x
	for u[root] != "" && u[root] != root {
		root = u[root]
	}
	for x != root {
		x, u[x] = u[x], root
	}
	return root
}

func (u union) join(a, b string) {
	if a, b = u.find(a), u.find(b); a != b {
		u[a] = b
	}
}

func cluster(candidates []dataset.Candidate, golds []Gold, near Nearness) []group {
	all := make(map[string]*dataset.Candidate, len(candidates))
	for i := range candidates {
		all[candidates[i].ID] = &candidates[i]
	}
	for _, g := range golds {
		all[g.Candidate.ID] = g.Candidate
	}
	tied, first := union{}, map[string]string{}
	alike := func(id, what string) { // connects candidates with the same query, pattern, or template
		if other, ok := first[what]; ok {
			tied.join(id, other)
		}
		first[what] = id
	}
	say := func(id, pattern string, properties []string) {
		if pattern == "" {
			return
		}
		if near.reaches(NearTemplate) && len(properties) >= 2 {
			alike(id, "template "+strings.Join(properties, " ")+" "+pattern)
		}
		if near.reaches(NearPattern) {
			alike(id, "pattern "+pattern)
		}
	}
	for id, c := range all {
		say(id, c.Pattern, slices.Sorted(slices.Values(c.Properties)))
	}
	for i := range golds {
		id := golds[i].Candidate.ID
		alike(id, "query "+sparql.NormalForm(golds[i].Query))
		if q, err := sparql.Parse(golds[i].Query); err == nil {
			say(id, measure.Shape(q), slices.Sorted(slices.Values(sparql.IDs(sparql.Identifiers(q), true))))
		}
	}
	for id, c := range all {
		for _, n := range c.Near {
			other := all[n.ID]
			if n.Source != NearCandidates || tied.find(id) == tied.find(n.ID) {
				continue
			}
			if n.ID < id && other != nil && slices.ContainsFunc(other.Near,
				func(m dataset.Near) bool { return m.ID == id && m.Source == NearCandidates }) {
				continue // the other candidate records this pair, too
			}
			if near.reaches(kindOf(c, other, n)) {
				tied.join(id, n.ID)
			}
		}
	}
	oldest := map[string]*dataset.Candidate{}
	for id, c := range all {
		if o := oldest[tied.find(id)]; o == nil || byPlace(c, o) < 0 {
			oldest[tied.find(id)] = c
		}
	}
	members := map[string][]Gold{}
	for _, g := range golds {
		root := tied.find(g.Candidate.ID)
		members[root] = append(members[root], g)
	}
	out := make([]group, 0, len(members))
	for root, gs := range members {
		slices.SortFunc(gs, func(a, b Gold) int { return byPlace(a.Candidate, b.Candidate) })
		out = append(out, group{oldest[root].ID, gs})
	}
	return out
}

// kindOf returns the nearness of two candidates that the harvest recorded as near-duplicates. The harvest reports
// "same pattern" before it compares texts, so the texts of such pairs are compared here.
func kindOf(a, b *dataset.Candidate, n dataset.Near) Nearness {
	switch {
	case n.Similarity >= 1:
		return NearSame
	case b == nil || a.Pattern == "" || a.Pattern != b.Pattern:
		return NearText
	case harvest.SimilarText(a.Cleaned, b.Cleaned):
		return NearText
	}
	return NearPattern
}

// NearCandidates is the Source of a [dataset.Near] that refers to another candidate in the same harvest.
const NearCandidates = "candidates"
