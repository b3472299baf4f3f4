package embedded

import "math/bits"

// varSet is a set of row places. Sets are never changed once they are shared; the methods return new ones.
type varSet []uint64

func setOf(slots ...int) varSet {
	var s varSet
	for _, n := range slots {
		s.add(n)
	}
	return s
}

// add puts a place into a set that is not shared yet.
func (s *varSet) add(n int) {
	for len(*s) <= n/64 {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s varSet) has(n int) bool { return n/64 < len(s) && s[n/64]&(1<<(n%64)) != 0 }

func (s varSet) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s varSet) union(t varSet) varSet {
	if len(s) < len(t) {
		s, t = t, s
	}
	same := true
	for i, w := range t {
		if w&^s[i] != 0 {
			same = false
			break
		}
	}
	if same {
		return s
	}
	out := append(varSet(nil), s...)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

func (s varSet) intersect(t varSet) varSet {
	n := min(len(s), len(t))
	out := make(varSet, n)
	for i := range out {
		out[i] = s[i] & t[i]
	}
	return out
}

func (s varSet) minus(t varSet) varSet {
	out := append(varSet(nil), s...)
	for i := range out {
		if i < len(t) {
			out[i] &^= t[i]
		}
	}
	return out
}

func (s varSet) intersects(t varSet) bool {
	for i := 0; i < min(len(s), len(t)); i++ {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether every place of s is in t.
func (s varSet) within(t varSet) bool {
	for i, w := range s {
		if i >= len(t) {
			if w != 0 {
				return false
			}
		} else if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// slots lists the places in ascending order.
func (s varSet) slots() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// key is a text that equal sets share.
func (s varSet) key() string {
	n := len(s)
	for n > 0 && s[n-1] == 0 {
		n--
	}
	b := make([]byte, 0, 8*n)
	for _, w := range s[:n] {
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(w>>i))
		}
	}
	return string(b)
}
