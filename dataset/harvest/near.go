package harvest

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// Near-duplicates are found in three ways, strongest first:
//
//   - the same pattern ([measure.Shape]: variables, numbers, and literals replaced) and the same set of Q and P IDs:
//     similarity 1;
//   - the same pattern with different IDs: 0.9;
//   - similar text: the Jaccard similarity of the two queries' shingles (three consecutive tokens of the normal form,
//     variables replaced) is at least [minSimilar].
//
// Queries are not compared pairwise. Equal patterns are found using a hash table. Queries with similar text are found
// if one of 8 bands of 4 MinHash values is the same (Broder 1997; Leskovec, Rajaraman and Ullman, Mining of Massive
// Datasets, section 3.4). This misses 1 in 68 pairs with a similarity of 0.8 and 1 in 5,100 pairs with a similarity of
// 0.9. In a crowded bucket, each query is compared only with its neighbors, so the cost is linear in the number of
// queries; the chain of neighbors keeps a cluster together.
const (
	minSimilar = 0.8
	bands      = 8
	bandRows   = 4
	neighbors  = 8
	maxNear    = 16
)

type entry struct {
	id, source string
	pattern    uint64 // 0 if the query does not parse
	numbers    uint64
	shingles   []uint64
	min        [bands * bandRows]uint64
}

// nearIndex finds near-duplicates among queries.
type nearIndex struct {
	entries  []entry
	patterns map[uint64][]int32
	bands    [bands]map[uint64][]int32
	byID     map[string]int32 // of candidates
}

const ownSource = "candidates"

func newNearIndex() *nearIndex {
	x := &nearIndex{patterns: map[uint64][]int32{}, byID: map[string]int32{}}
	for i := range x.bands {
		x.bands[i] = map[uint64][]int32{}
	}
	return x
}

func hash64(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// add adds a query to the index. It first converts the query to the canonical layout, like candidates' queries, so that
// omitting the optional keyword WHERE does not change the pattern.
func (x *nearIndex) add(id, source, query string) {
	if source != ownSource {
		if c := clean(query); c.text != "" {
			query = c.text
		}
	}
	e := entry{id: id, source: source, shingles: shingles(query)}
	if q, err := sparql.Parse(query); err == nil {
		entities, properties := numbers(q)
		ids := append(entities, properties...)
		slices.Sort(ids)
		e.pattern, e.numbers = hash64(measure.Shape(q)), hash64(ids...)
	}
	for i := range e.min {
		e.min[i] = math.MaxUint64
		seed := mix(uint64(i) + 1)
		for _, s := range e.shingles {
			e.min[i] = min(e.min[i], mix(s^seed))
		}
	}
	at := int32(len(x.entries))
	x.entries = append(x.entries, e)
	if source == ownSource {
		x.byID[id] = at
	}
	if e.pattern != 0 {
		x.patterns[e.pattern] = append(x.patterns[e.pattern], at)
	}
	if len(e.shingles) == 0 {
		return
	}
	for i := range x.bands {
		k := e.band(i)
		x.bands[i][k] = append(x.bands[i][k], at)
	}
}

func (e *entry) band(i int) uint64 {
	k := uint64(i)
	for _, m := range e.min[i*bandRows : (i+1)*bandRows] {
		k = mix(k ^ m)
	}
	return k
}

// mix is the SplitMix64 finalizer (Steele, Lea and Flood 2014): a permutation of 64-bit numbers that scatters them.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Shingles returns the sorted set of hashes by which [SimilarText] compares queries; see above.
func Shingles(query string) []uint64 { return shingles(query) }

// MinSimilar is the minimum Jaccard similarity of near-duplicate queries' [Shingles].
const MinSimilar = minSimilar

// shingles returns the sorted set of hashes of every three consecutive tokens.
func shingles(query string) []uint64 {
	tokens := strings.FieldsFunc(sparql.NormalForm(query),
		func(r rune) bool { return r <= ' ' || strings.ContainsRune("{}().;,", r) })
	for i, t := range tokens {
		if t[0] == '?' || t[0] == '$' {
			tokens[i] = "?"
		}
	}
	var out []uint64
	for i := range tokens {
		out = append(out, hash64(tokens[i:min(i+3, len(tokens))]...))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// jaccard returns the Jaccard similarity of two sorted sets.
func jaccard(a, b []uint64) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch c := cmp.Compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	if n := len(a) + len(b) - both; n > 0 {
		return float64(both) / float64(n)
	}
	return 0
}

// SimilarText reports whether two queries in the canonical layout have similar text, as defined above.
func SimilarText(a, b string) bool { return jaccard(shingles(a), shingles(b)) >= minSimilar }

// around returns an entry's neighbors in a bucket, which is in ascending order.
func around(bucket []int32, at int32) []int32 {
	i, _ := slices.BinarySearch(bucket, at)
	return bucket[max(0, i-neighbors):min(len(bucket), i+neighbors+1)]
}

func (x *nearIndex) near(id string) []dataset.Near {
	at, ok := x.byID[id]
	if !ok {
		return nil
	}
	e := &x.entries[at]
	seen := map[int32]bool{at: true}
	var out []dataset.Near
	add := func(list []int32, judge func(o *entry) (float64, string)) {
		for _, i := range list {
			if seen[i] {
				continue
			}
			if s, why := judge(&x.entries[i]); why != "" {
				seen[i] = true
				out = append(out, dataset.Near{ID: x.entries[i].id, Source: x.entries[i].source,
					Similarity: math.Round(s*1000) / 1000, Why: why})
			}
		}
	}
	if e.pattern != 0 {
		add(around(x.patterns[e.pattern], at), func(o *entry) (float64, string) {
			if o.numbers == e.numbers {
				return 1, "same pattern and numbers"
			}
			return 0.9, "same pattern, other numbers"
		})
	}
	if len(e.shingles) > 0 {
		for i := range x.bands {
			add(around(x.bands[i][e.band(i)], at), func(o *entry) (float64, string) {
				if s := jaccard(e.shingles, o.shingles); s >= minSimilar {
					return s, "similar text"
				}
				return 0, ""
			})
		}
	}
	slices.SortStableFunc(out, func(a, b dataset.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(len(out), maxNear)]
}
