package wiki

import "strings"

// maxEdits limits the cost of a comparison. Texts that differ in more lines are treated as completely different.
const maxEdits = 2000

// merge3 merges two versions of a text line by line, like diff3. ok is false if they changed the same lines or adjacent
// ones.
func merge3(base, mine, theirs string) (merged string, ok bool) {
	b, m, t := lines(base), lines(mine), lines(theirs)
	toMine, toTheirs := match(b, m), match(b, t)
	var out strings.Builder
	write := func(part []string) {
		for _, l := range part {
			out.WriteString(l)
		}
	}
	bi, mi, ti := 0, 0, 0
	for {
		// A changed part ends at the next line of the base that both versions still contain.
		next, mNext, tNext := bi, len(m), len(t)
		for next < len(b) && (toMine[next] < 0 || toTheirs[next] < 0) {
			next++
		}
		if next < len(b) {
			mNext, tNext = toMine[next], toTheirs[next]
		}
		bs, ms, ts := b[bi:next], m[mi:mNext], t[ti:tNext]
		switch {
		case equal(bs, ms):
			write(ts)
		case equal(bs, ts), equal(ms, ts):
			write(ms)
		default:
			return "", false
		}
		if next == len(b) {
			return strings.TrimRight(out.String(), " \t\n"), true
		}
		out.WriteString(b[next])
		bi, mi, ti = next+1, mNext+1, tNext+1
	}
}

// lines splits text after each newline. If the last line has no newline, lines adds one, because otherwise appending a
// line to the text would also change its last line.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	all := strings.SplitAfter(s, "\n")
	return all[:len(all)-1]
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// match returns, for each line of a, the index of the matching line in b, or -1 if there is none. It finds a longest
// common subsequence with Myers' greedy algorithm (1986).
func match(a, b []string) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		out[pre] = pre
		pre++
	}
	suf := 0
	for suf < len(a)-pre && suf < len(b)-pre && a[len(a)-1-suf] == b[len(b)-1-suf] {
		suf++
		out[len(a)-suf] = len(b) - suf
	}
	middle(a[pre:len(a)-suf], b[pre:len(b)-suf], func(i, j int) { out[pre+i] = pre + j })
	return out
}

// middle calls pair for each pair of matching lines in two texts without a common prefix or suffix.
func middle(a, b []string, pair func(i, j int)) {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return
	}
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3) // v[k+limit+1]: the furthest i on diagonal k = i - j
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[limit+1-d:limit+2+d]...))
		for k := -d; k <= d; k += 2 {
			at := k + limit + 1
			i := v[at-1] + 1
			if k == -d || k != d && v[at-1] < v[at+1] {
				i = v[at+1]
			}
			if d == 0 {
				i = 0
			}
			j := i - k
			for i < n && j < m && i >= 0 && j >= 0 && a[i] == b[j] {
				i, j = i+1, j+1
			}
			v[at] = i
			if i >= n && j >= m {
				backtrack(trace, d, n, m, pair)
				return
			}
		}
	}
}

// backtrack goes backward through the recorded rounds and calls pair for each diagonal step.
func backtrack(trace [][]int, d, i, j int, pair func(i, j int)) {
	for ; d > 0; d-- {
		row := trace[d] // the state before round d: index k+d for diagonals -d … d
		get := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return row[k+d]
		}
		k := i - j
		prev := k - 1
		if k == -d || k != d && get(k-1) < get(k+1) {
			prev = k + 1
		}
		pi := get(prev)
		pj := pi - prev
		for i > pi && j > pj && i > 0 && j > 0 {
			i, j = i-1, j-1
			pair(i, j)
		}
		i, j = pi, pj
	}
	for i > 0 && j > 0 {
		i, j = i-1, j-1
		pair(i, j)
	}
}
