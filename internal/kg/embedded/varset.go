package embedded

import "math/bits"

// varSet is a set of row slots. Sets never change once they are shared; methods return new sets. A varSet is a bit set
// that omits leading empty words, so most sets are small, no matter how many variables the query has.
type varSet struct {
	low   int // index of the first word
	words []uint64
}

func setOf(slots ...int) varSet {
	var s varSet
	for _, n := range slots {
		s.add(n)
	}
	return s
}

// high returns the index of the last word plus one.
func (s varSet) high() int { return s.low + len(s.words) }

func (s varSet) word(i int) uint64 {
	if i < s.low || i >= s.high() {
		return 0
	}
	return s.words[i-s.low]
}

// size returns the memory that a set uses, in bytes.
func (s varSet) size() int { return 8 * cap(s.words) }

// grow makes room for words from low to high.
func (s *varSet) grow(low, high int) {
	if len(s.words) == 0 {
		s.low = low
	}
	if low < s.low {
		s.words = append(make([]uint64, s.low-low, high-low), s.words...)
		s.low = low
	}
	for s.high() < high {
		s.words = append(s.words, 0)
	}
}

// add adds a slot to a set that is not shared yet.
func (s *varSet) add(n int) {
	s.grow(n/64, n/64+1)
	s.words[n/64-s.low] |= 1 << (n % 64)
}

// addAll adds the slots in t to a set that is not shared yet.
func (s *varSet) addAll(t varSet) {
	if t.empty() {
		return
	}
	s.grow(t.low, t.high())
	for i, w := range t.words {
		s.words[t.low-s.low+i] |= w
	}
}

func (s varSet) has(n int) bool { return s.word(n/64)&(1<<(n%64)) != 0 }

func (s varSet) empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s varSet) union(t varSet) varSet {
	if len(s.words) < len(t.words) {
		s, t = t, s
	}
	if t.within(s) {
		return s
	}
	low, high := min(s.low, t.low), max(s.high(), t.high())
	out := varSet{low, make([]uint64, high-low)}
	copy(out.words[s.low-low:], s.words)
	for i, w := range t.words {
		out.words[t.low-low+i] |= w
	}
	return out
}

func (s varSet) intersect(t varSet) varSet {
	low, high := max(s.low, t.low), min(s.high(), t.high())
	if low >= high {
		return varSet{}
	}
	out := varSet{low, make([]uint64, high-low)}
	for i := range out.words {
		out.words[i] = s.word(low+i) & t.word(low+i)
	}
	return out
}

func (s varSet) minus(t varSet) varSet {
	if !s.intersects(t) {
		return s
	}
	out := varSet{s.low, make([]uint64, len(s.words))}
	for i, w := range s.words {
		out.words[i] = w &^ t.word(s.low+i)
	}
	return out
}

func (s varSet) intersects(t varSet) bool {
	for i := max(s.low, t.low); i < min(s.high(), t.high()); i++ {
		if s.words[i-s.low]&t.words[i-t.low] != 0 {
			return true
		}
	}
	return false
}

// within reports whether every slot in s is in t.
func (s varSet) within(t varSet) bool {
	for i, w := range s.words {
		if w&^t.word(s.low+i) != 0 {
			return false
		}
	}
	return true
}

// slots returns the slots in ascending order.
func (s varSet) slots() []int {
	var out []int
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			out = append(out, (s.low+i)*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// key returns a string that is the same for equal sets: the index of the first nonempty word and the words from there
// to the last nonempty word.
func (s varSet) key() string {
	for len(s.words) > 0 && s.words[len(s.words)-1] == 0 {
		s.words = s.words[:len(s.words)-1]
	}
	for len(s.words) > 0 && s.words[0] == 0 {
		s.low, s.words = s.low+1, s.words[1:]
	}
	if len(s.words) == 0 {
		return ""
	}
	b := make([]byte, 0, 8+8*len(s.words))
	for _, w := range append([]uint64{uint64(s.low)}, s.words...) {
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(w>>i))
		}
	}
	return string(b)
}
