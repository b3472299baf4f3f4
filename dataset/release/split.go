package release

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Part says how much of a benchmark becomes the development part: N items, or with N 0 the Share (0 to 1) of all.
type Part struct {
	N     int
	Share float64
}

// Divide splits golds into a development and a test part. Near-duplicates stay together: those that the harvest found, directly or through others (candidates that
// were not kept included), and equal queries.
//
// The split depends on the seed and on the golds only, not on their order. Each cluster of near-duplicates draws a number from the seed and the id of its
// oldest member. With a share, a cluster whose number is below it goes to dev: later harvests add items to either part and move none, unless a new item joins two
// clusters into one. The share holds on average. With a number of items, clusters are taken by rising number until N items are reached; one that would go beyond N is left
// out. Adding items then moves some near the edge. candidates are all of the harvest.
func Divide(candidates []dataset.Candidate, golds []Gold, part Part, seed uint64) (dev, test []Gold) {
	clusters := cluster(candidates, golds)
	draws := make(map[string]uint64, len(clusters))
	for _, c := range clusters {
		draws[c.key] = draw(seed, c.key)
	}
	slices.SortFunc(clusters, func(a, b group) int {
		return cmp.Or(cmp.Compare(draws[a.key], draws[b.key]), cmp.Compare(a.key, b.key))
	})
	for _, c := range clusters {
		toDev := float64(draws[c.key])/(1<<64) < part.Share
		if part.N > 0 {
			toDev = len(dev)+len(c.golds) <= part.N
		}
		if toDev {
			dev = append(dev, c.golds...)
		} else {
			test = append(test, c.golds...)
		}
	}
	return dev, test
}

// draw gives a number that depends on the seed and the key, evenly spread: FNV-1a and the finaliser of MurmurHash3.
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

// group is a cluster: golds that must stay together, and the id of the oldest.
type group struct {
	key   string
	golds []Gold
}

// cluster finds the clusters by union-find over ids.
func cluster(candidates []dataset.Candidate, golds []Gold) []group {
	parent := map[string]string{}
	var find func(string) string
	find = func(x string) string {
		p, ok := parent[x]
		if !ok || p == x {
			return x
		}
		root := find(p)
		parent[x] = root
		return root
	}
	join := func(a, b string) { parent[find(a)] = find(b) }
	for i := range candidates {
		for _, n := range candidates[i].Near {
			if n.Source == NearCandidates {
				join(candidates[i].ID, n.ID)
			}
		}
	}
	same := map[string]string{}
	for i := range golds {
		id, form := golds[i].Candidate.ID, sparql.NormalForm(golds[i].Query)
		if other, ok := same[form]; ok {
			join(id, other)
		}
		same[form] = id
	}
	members := map[string][]Gold{}
	for _, g := range golds {
		root := find(g.Candidate.ID)
		members[root] = append(members[root], g)
	}
	out := make([]group, 0, len(members))
	for _, gs := range members {
		slices.SortFunc(gs, func(a, b Gold) int { return byPlace(a.Candidate, b.Candidate) })
		out = append(out, group{gs[0].Candidate.ID, gs})
	}
	return out
}

// NearCandidates is the Source of a [dataset.Near] that names another candidate of the same harvest.
const NearCandidates = "candidates"
