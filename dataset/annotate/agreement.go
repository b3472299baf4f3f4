package annotate

import (
	"slices"

	"github.com/spinachbot/spinachbot/dataset"
)

// Verdicts lists the three categories for measuring agreement, in table order.
var Verdicts = []dataset.Verdict{dataset.Include, dataset.Modify, dataset.Exclude}

// Agreement compares two annotators' verdicts on the candidates that each judged before seeing the other's verdict.
type Agreement struct {
	A, B     string
	N        int
	Table    [3][3]int // Table[i][j] counts candidates for which A chose Verdicts[i] and B chose Verdicts[j]
	Observed float64   // fraction of equal verdicts; 0 if N is 0
	Expected float64   // fraction expected by chance, given how often each annotator used each verdict
	// Cohen's kappa; nil if undefined, that is, if there are no candidates or both always chose the same single verdict
	Kappa *float64
}

// Agree computes observed agreement and Cohen's kappa (J. Cohen, A coefficient of agreement for nominal scales,
// Educational and Psychological Measurement 20, 1960): kappa = (po - pe) / (1 - pe), where po is the fraction of equal
// verdicts, and pe is the sum, over all verdicts, of the product of the two annotators' fractions of candidates with
// that verdict.
func Agree(a, b string, table [3][3]int) Agreement {
	out := Agreement{A: a, B: b, Table: table}
	var rows, columns [3]int
	equal := 0
	for i := range table {
		for j, n := range table[i] {
			out.N += n
			rows[i] += n
			columns[j] += n
		}
		equal += table[i][i]
	}
	if out.N == 0 {
		return out
	}
	n, chance := float64(out.N), 0
	for i := range rows {
		chance += rows[i] * columns[i]
	}
	out.Observed, out.Expected = float64(equal)/n, float64(chance)/(n*n)
	if chance != out.N*out.N { // integers are compared so that rounding cannot turn a zero into a nonzero value
		k := (out.Observed - out.Expected) / (1 - out.Expected)
		out.Kappa = &k
	}
	return out
}

// Agreements compares every pair of annotators with a candidate in common, in alphabetical order. first contains the
// verdicts that annotators gave before they could see other verdicts; see [FirstVerdicts].
func Agreements(first map[string]map[string]dataset.Verdict) []Agreement {
	tables := map[[2]string]*[3][3]int{}
	for _, by := range first {
		names := make([]string, 0, len(by))
		for name, v := range by {
			if decided(v) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for i, a := range names {
			for _, b := range names[i+1:] {
				key := [2]string{a, b}
				if tables[key] == nil {
					tables[key] = new([3][3]int)
				}
				tables[key][slices.Index(Verdicts, by[a])][slices.Index(Verdicts, by[b])]++
			}
		}
	}
	var out []Agreement
	for key, t := range tables {
		out = append(out, Agree(key[0], key[1], *t))
	}
	slices.SortFunc(out, func(x, y Agreement) int { return slices.Compare([]string{x.A, x.B}, []string{y.A, y.B}) })
	return out
}

// FirstVerdicts returns the verdicts used to measure agreement, by candidate and annotator. For each annotator, this is
// the last verdict given while no other verdict on the candidate was visible ([Case.Visible]): before both this
// annotator and another had given one, before two others had given theirs, and before the case was resolved. A later
// decision is not an independent judgment, whether or not its author saw the others.
func FirstVerdicts(events []Event) map[string]map[string]dataset.Verdict {
	out := map[string]map[string]dataset.Verdict{}
	resolved := map[string]bool{}
	for _, e := range events { // oldest first
		w := &e.Work
		if w.Annotator == Resolution {
			resolved[w.Candidate] = resolved[w.Candidate] || w.HasVerdict()
			continue
		}
		by := out[w.Candidate]
		if by == nil {
			by = map[string]dataset.Verdict{}
			out[w.Candidate] = by
		}
		others := 0
		for name, v := range by {
			if name != w.Annotator && decided(v) {
				others++
			}
		}
		if resolved[w.Candidate] || others >= 2 || decided(by[w.Annotator]) && others > 0 {
			continue
		}
		if by[w.Annotator] != w.Verdict { // an edit to the query may have withdrawn the verdict
			by[w.Annotator] = w.Verdict
		}
	}
	return out
}
