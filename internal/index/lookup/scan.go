// This file has over 500 lines: it implements a search, from its words to its hits, and all steps share the state of
// the scan.

package lookup

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"
	"strings"
)

// bounds limits the number of names that a search examines, and thus its running time. Only queries with several very
// common words that rarely occur together reach the limits; in that case, names with low scores can be missed.
type bounds struct {
	meet  int // for names that contain all words as whole words
	scan  int // for matches of all words, as whole words or prefixes
	typo  int // for matches with a typo, for all words combined
	some  int // for matches of some words: half of the limit for the rarest word, half of the rest for the next word, …
	equal int // for names with the same words as the query
	texts int // how many names with the same words are also compared as text
}

var defaultBounds = bounds{meet: 500_000, scan: 6_000, typo: 3_000, some: 1_500, equal: 2_000, texts: 100}

// slot is a query word and the words in the part that it matches.
type slot struct {
	word  string
	weak  bool  // see asked.weak
	whole int64 // the word itself; -1 if the part does not contain it
	begun rng   // words that start with it, including the word itself
	total uint64

	looked    bool     // whether the fields below are set
	nearWhole []uint32 // words that differ from it by one letter
	nearBegun []rng    // words that start with, or are equal to, a string that differs from it by one letter
	nearTotal uint64
}

func (s *slot) near(p *part) {
	if s.looked {
		return
	}
	s.looked = true
	s.nearWhole, s.nearBegun = p.near(s.word)
	for _, w := range s.nearWhole {
		s.nearBegun = append(s.nearBegun, rng{w, w + 1})
	}
	s.nearBegun = merge(s.nearBegun)
	for _, r := range s.nearBegun {
		s.nearTotal += p.total(r)
	}
}

// merge sorts ranges and joins those that overlap.
func merge(rs []rng) []rng {
	sort.Slice(rs, func(i, j int) bool { return rs[i].lo < rs[j].lo })
	out := rs[:0]
	for _, r := range rs {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// scan is one search by words in a part.
type scan struct {
	p      *part
	ctx    context.Context
	ask    *asked
	want   int // number of hits to find
	slots  []slot
	all    []int    // the query's words in order, as indexes in slots
	ids    []uint32 // memory for the last name read
	hits   collector
	held   collector       // hits that are held back
	equal  map[uint32]bool // entries with a name that equals the query
	better map[uint32]bool // entries with a name that contains all words
}

// collector keeps the best hits for each rank in order, each entry once per rank.
type collector struct {
	by   map[rank][]found
	want int
}

func (c *collector) add(f found) {
	if c.by == nil {
		c.by = map[rank][]found{}
	}
	at := c.by[f.rank]
	i, has := slices.BinarySearchFunc(at, f, func(a, b found) int { return cmp.Compare(a.entry, b.entry) })
	switch {
	case has:
		at[i].name = min(at[i].name, f.name)
	case i < c.want:
		c.by[f.rank] = slices.Insert(at, i, f)[:min(len(at)+1, c.want)]
	}
}

// best returns the hits, best first, each entry once.
func (c *collector) best() []found {
	var all []found
	for _, fs := range c.by {
		all = append(all, fs...)
	}
	slices.SortFunc(all, compareFound)
	seen := map[int32]bool{}
	return slices.DeleteFunc(all, func(f found) bool {
		if seen[f.entry] {
			return true
		}
		seen[f.entry] = true
		return false
	})
}

// byWords returns the best hits in a part, up to want of them, and the best of those that are held back (see
// [Query.External]), to be used only if no hit matches all words.
func (p *part) byWords(ctx context.Context, a *asked, want int, among []string) (hits, held []found, err error) {
	s := &scan{p: p, ctx: ctx, ask: a, want: want, ids: make([]uint32, 0, maxWords+2), equal: map[uint32]bool{}}
	s.hits.want, s.held.want = want, want
	for i, w := range a.words {
		sl := slot{word: w, weak: a.weak[i], whole: -1, begun: p.begun(p.all(), w)}
		if id, ok := p.whole(sl.begun, w); ok {
			sl.whole = int64(id)
		}
		sl.total = p.total(sl.begun)
		s.slots = append(s.slots, sl)
	}
	for _, w := range a.all {
		s.all = append(s.all, slices.Index(a.words, w))
	}
	if slices.Contains(s.all, -1) { // more than maxAsked words
		s.all = nil
	}
	if among != nil {
		err := s.among(among)
		return s.strong(s.hits.best()), s.strong(s.held.best()), err
	}
	s.exact()
	for _, pass := range []struct {
		tier uint8
		find func() error
	}{{tierFull, s.full}, {tierTypo, s.typos}, {tierSome, s.some}} {
		if len(s.hits.best()) >= want || s.superfluous(pass.tier) {
			break
		}
		if err := pass.find(); err != nil {
			return nil, nil, err
		}
	}
	return s.hits.best(), s.held.best(), nil
}

// superfluous reports whether the hits found so far make hits in the tier unnecessary.
func (s *scan) superfluous(tier uint8) bool {
	exact, full, typo := 0, 0, 0
	for _, f := range s.hits.best() {
		switch {
		case f.rank.tier <= tierExact:
			exact++
		case f.rank.tier == tierFull:
			full++
		case f.rank.tier <= tierTypo:
			typo++
		}
	}
	return enough(tier, exact, full, typo)
}

// strong removes superfluous hits.
func (s *scan) strong(fs []found) []found {
	var drop [tiers]bool
	for t := range drop {
		drop[t] = s.superfluous(uint8(t))
	}
	return slices.DeleteFunc(fs, func(f found) bool { return drop[f.rank.tier] })
}

// take adds a hit with its rank.
func (s *scan) take(r rank, entry, name uint32) {
	f := found{r, int32(entry), int32(name)}
	switch {
	case s.ask.held || r.tier <= tierExact || !s.p.isHeld(entry):
		s.hits.add(f)
	case r.tier < tierSome:
		s.held.add(f)
	}
}

// takeTop adds a hit that is at least as good as all later hits of its search, and records its entry.
func (s *scan) takeTop(r rank, entry, name uint32, have map[uint32]bool) {
	s.take(r, entry, name)
	if s.ask.held || !s.p.isHeld(entry) {
		have[entry] = true
	}
}

func (s *scan) name(name uint32) (entry uint32, ids []uint32) {
	entry, ids = s.p.name(name, s.ids[:0])
	return entry, ids
}

// exact finds the names that equal the query.
func (s *scan) exact() {
	ids := make([]uint32, len(s.all))
	for i, j := range s.all {
		if s.slots[j].whole < 0 {
			return
		}
		ids[i] = uint32(s.slots[j].whole)
	}
	n := uint8(len(s.slots))
	texts := 0
	s.same(ids, func(entry, name uint32) bool {
		tier := uint8(tierExact)
		if texts < s.p.bounds.texts {
			tier = s.tierOfSame(entry, name)
			texts++
		}
		s.equal[entry] = true
		s.take(rank{tier, n, n}, entry, name)
		return len(s.hits.by[rank{tierText, n, n}]) < s.want
	})
}

// tierOfSame returns tierText if a name with the same words as the query also has the same text, or tierExact
// otherwise.
func (s *scan) tierOfSame(entry, name uint32) uint8 {
	r := s.p.record(entry)
	if strings.ToLower(strings.TrimSpace(r.text(name))) == s.ask.text {
		return tierText
	}
	return tierExact
}

// same calls f for the names that consist of exactly these words until f returns false.
func (s *scan) same(ids []uint32, f func(entry, name uint32) bool) {
	if len(ids) == 0 {
		return
	}
	budget := s.p.bounds.equal
	bucket(s.p.exactAt, s.p.exact, hashIDs(ids), func(name uint32) bool {
		if entry, got := s.name(name); slices.Equal(got, ids) {
			budget--
			return f(entry, name) && budget > 0
		}
		return true
	})
}

// full finds names that contain all query words, each as a whole word or as a prefix of a word.
func (s *scan) full() error {
	var wholes []uint32 // rarest first
	rarest := s.byRareness()
	for _, i := range rarest {
		if sl := &s.slots[i]; sl.total == 0 {
			return nil
		} else if sl.whole >= 0 {
			wholes = append(wholes, uint32(sl.whole))
		}
	}
	if len(rarest) == 0 {
		return nil
	}
	slices.SortStableFunc(wholes, func(a, b uint32) int {
		return cmp.Compare(s.p.total(rng{a, a + 1}), s.p.total(rng{b, b + 1}))
	})
	n := uint8(len(s.slots))
	have := maps.Clone(s.equal) // entries that already have their best hit
	if len(wholes) == len(s.slots) {
		m := s.p.meet(wholes, s.p.bounds.meet)
		if err := s.walk(m.next, s.p.bounds.scan, func(entry, name uint32, _ []uint32) bool {
			s.takeTop(rank{tierFull, n, n}, entry, name, have)
			return len(have) < s.want
		}); err != nil || len(have) >= s.want {
			return err
		}
	}
	least := uint8(min(len(wholes), len(s.slots)-1))
	u := s.p.union([]rng{s.slots[rarest[0]].begun})
	return s.walk(u.next, s.p.bounds.scan, func(entry, name uint32, ids []uint32) bool {
		if !s.hasAll(rarest[1:], ids) {
			return true // most names end here
		}
		r := s.rank(ids, -1)
		r.tier = tierFull
		if r.whole >= least {
			s.takeTop(r, entry, name, have)
		} else {
			s.take(r, entry, name)
		}
		return len(have) < s.want
	})
}

// byRareness returns the indexes of the slots; slots that match the fewest names come first.
func (s *scan) byRareness() []int {
	order := make([]int, len(s.slots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.slots[a].total, s.slots[b].total) })
	return order
}

// hasAll reports whether a name contains the words in the given slots, each as a whole word or as a prefix of a word.
func (s *scan) hasAll(slots []int, ids []uint32) bool {
	for _, i := range slots {
		if !slices.ContainsFunc(ids, s.slots[i].begun.has) {
			return false
		}
	}
	return true
}

// walk reads names until there are no more names, f returns false or the budget is used up.
func (s *scan) walk(next func() (uint32, bool), budget int, f func(entry, name uint32, ids []uint32) bool) error {
	for ; budget > 0; budget-- {
		if budget%1024 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		name, ok := next()
		if !ok {
			return nil
		}
		entry, ids := s.name(name)
		if !f(entry, name, ids) {
			return nil
		}
	}
	return nil
}

// rank counts matched words. The slot at index wrong, if any, is left out.
func (s *scan) rank(ids []uint32, wrong int) (r rank) {
	for i := range s.slots {
		if i == wrong {
			continue
		}
		if in, whole := s.slots[i].in(ids); in {
			r.count(whole)
		}
	}
	return r
}

// rankSome ranks a name by the words that are not weak.
func (s *scan) rankSome(ids []uint32) rank {
	r := rank{tier: tierSome}
	for i := range s.slots {
		if in, whole := s.slots[i].in(ids); in && !s.slots[i].weak {
			r.count(whole)
		}
	}
	return r
}

// in reports whether a name contains the slot's word, and whether it contains it as a whole word.
func (sl *slot) in(ids []uint32) (in, whole bool) {
	for _, id := range ids {
		if int64(id) == sl.whole {
			return true, true
		}
		in = in || sl.begun.has(id)
	}
	return in, false
}

func (sl *slot) isNear(id uint32) bool {
	i := sort.Search(len(sl.nearBegun), func(i int) bool { return sl.nearBegun[i].hi > id })
	return i < len(sl.nearBegun) && sl.nearBegun[i].lo <= id
}

// typos finds names that contain all words after a letter in one of them is corrected.
func (s *scan) typos() error {
	s.better = map[uint32]bool{}
	for _, f := range s.hits.best() {
		s.better[uint32(f.entry)] = true
	}
	empty, only := 0, -1
	for i := range s.slots {
		if s.slots[i].total == 0 {
			empty++
			only = i
		}
	}
	budget := s.p.bounds.typo
	for i := range s.slots {
		if empty > 1 || empty == 1 && i != only {
			continue // correcting this word is not enough: another one matches nothing
		}
		if err := s.typo(i, &budget); err != nil {
			return err
		}
	}
	return nil
}

// typo finds names that contain all words but one, and a word that differs from the missing one by a letter.
func (s *scan) typo(wrong int, budget *int) error {
	sl := &s.slots[wrong]
	sl.near(s.p)
	if sl.nearTotal == 0 {
		return nil
	}
	s.nearNames(wrong)
	wholes := uint8(0)
	others := slices.DeleteFunc(s.byRareness(), func(i int) bool { return i == wrong })
	for _, i := range others {
		if s.slots[i].whole >= 0 {
			wholes++
		}
	}
	u := s.p.union(sl.nearBegun)
	if len(others) > 0 && s.slots[others[0]].total < sl.nearTotal {
		u = s.p.union([]rng{s.slots[others[0]].begun})
	}
	have := map[uint32]bool{}
	return s.walk(u.next, *budget, func(entry, name uint32, ids []uint32) bool {
		*budget--
		if !s.hasAll(others, ids) || slices.ContainsFunc(ids, sl.begun.has) || !slices.ContainsFunc(ids, sl.isNear) {
			return true
		}
		r := s.rank(ids, wrong)
		r.matched++
		r.tier = tierTypo
		if s.isNearName(ids, wrong) {
			r.tier = tierNear
		}
		if r.whole == wholes && !s.better[entry] {
			s.takeTop(r, entry, name, have)
		} else {
			s.take(r, entry, name)
		}
		return len(have) < s.want
	})
}

// isNearName reports whether the name equals the query except for a letter in one word.
func (s *scan) isNearName(ids []uint32, wrong int) bool {
	if len(ids) != len(s.all) {
		return false
	}
	for i, j := range s.all {
		if j == wrong && !slices.Contains(s.slots[j].nearWhole, ids[i]) || j != wrong && int64(ids[i]) != s.slots[j].whole {
			return false
		}
	}
	return true
}

// nearNames finds the names that equal the query except for a letter in one word.
func (s *scan) nearNames(wrong int) {
	ids := make([]uint32, len(s.all))
	for _, w := range s.slots[wrong].nearWhole {
		for i, j := range s.all {
			if j != wrong && s.slots[j].whole < 0 {
				return
			}
			ids[i] = uint32(s.slots[j].whole)
			if j == wrong {
				ids[i] = w
			}
		}
		n := uint8(len(s.slots))
		s.same(ids, func(entry, name uint32) bool {
			if _, got := s.name(name); !slices.ContainsFunc(got, s.slots[wrong].begun.has) {
				s.take(rank{tierNear, n, n - 1}, entry, name)
			}
			return true
		})
	}
}

// some finds names that contain some of the words. For each word, starting with the rarest, it finds the names with the
// highest scores.
func (s *scan) some() error {
	add := func(entry, name uint32, ids []uint32) bool {
		if s.rank(ids, -1).matched < uint8(len(s.slots)) {
			s.take(s.rankSome(ids), entry, name)
		}
		return true
	}
	budget := s.p.bounds.some / 2
	for _, i := range s.byRareness() {
		sl := &s.slots[i]
		if sl.total == 0 || sl.weak {
			continue
		}
		budget = max(budget/2, s.want)
		if sl.whole >= 0 {
			l := s.p.list(uint32(sl.whole))
			if err := s.walk(l.next, budget, add); err != nil {
				return err
			}
		}
		if err := s.walk(s.p.union([]rng{sl.begun}).next, budget, add); err != nil {
			return err
		}
	}
	return nil
}

// among ranks the names of the given entries, one by one.
func (s *scan) among(iris []string) error {
	var entries []uint32
	for _, iri := range iris {
		s.p.entriesOf(iri, func(e uint32) { entries = append(entries, e) })
	}
	slices.Sort(entries)
	for i := range s.slots {
		s.slots[i].near(s.p)
	}
	for i, e := range slices.Compact(entries) {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		r := s.p.record(e)
		for name := r.first; name < r.first+r.names(); name++ {
			if k, ok := s.rankOf(e, name); ok {
				s.take(k, e, name)
			}
		}
	}
	return nil
}

// rankOf is like rankName, but for stored names.
func (s *scan) rankOf(entry, name uint32) (r rank, ok bool) {
	_, ids := s.name(name)
	n := uint8(len(s.slots))
	r = s.rank(ids, -1)
	switch {
	case r.matched == 0 && n != 1:
		return r, false
	case s.isName(ids):
		r.tier = s.tierOfSame(entry, name)
	case r.matched == n:
		r.tier = tierFull
	default:
		some := s.rankSome(ids)
		if r.matched < n-1 {
			return some, some.matched > 0
		}
		wrong := slices.IndexFunc(s.slots, func(sl slot) bool { return !slices.ContainsFunc(ids, sl.begun.has) })
		if !slices.ContainsFunc(ids, s.slots[wrong].isNear) {
			return some, some.matched > 0
		}
		r.tier = tierTypo
		r.matched++
		if s.isNearName(ids, wrong) {
			r.tier = tierNear
		}
	}
	return r, r.matched > 0
}

func (s *scan) isName(ids []uint32) bool {
	if len(ids) != len(s.all) || len(ids) == 0 {
		return false
	}
	for i, j := range s.all {
		if s.slots[j].whole != int64(ids[i]) {
			return false
		}
	}
	return true
}
