package faithful

import (
	"slices"
	"strings"
)

// semicolons separate the clauses of a sentence, in any script.
const semicolons = ";；؛"

// clauses splits a sentence at its semicolons, except for those in parentheses.
func clauses(sentence string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range sentence {
		switch {
		case strings.ContainsRune("([{（", r):
			depth++
		case strings.ContainsRune(")]}）", r):
			depth = max(depth-1, 0)
		case depth == 0 && strings.ContainsRune(semicolons, r):
			out = append(out, strings.TrimSpace(sentence[start:i]))
			start = i + len(string(r))
		}
	}
	return append(out, strings.TrimSpace(sentence[start:]))
}

// check returns the faults in a sentence. If the sentence as a whole has faults, its clauses are checked as if they
// were sentences, since a figure in one clause need not belong to a name in another. The same is true of a range and
// the list after it, but not of the order of the names in that list.
func (c *Checker) check(s string) []Fault {
	whole := c.sentence(s)
	if len(whole) == 0 {
		return nil
	}
	var out []Fault
	for _, clause := range clauses(s) {
		faults := c.sentence(clause)
		if before, list, ok := c.beforeList(clause); ok && len(faults) > 0 {
			faults = slices.DeleteFunc(faults, func(f Fault) bool { return f.Kind != Order })
			faults = slices.Concat(faults, c.sentence(before), c.sentence(list))
		}
		for _, f := range faults {
			f.Sentence = s
			out = append(out, f)
		}
	}
	return out
}

// beforeList splits a clause at the colon between a range and a list of names, each with a figure: "The four were born
// between 1971 and 1973: Ann in 1971, Eve in 1973 …". The range must consist of the smallest and the largest figure of
// a column, and there must be no other figure and no name before the colon, since the check compares these with the
// names.
func (c *Checker) beforeList(clause string) (before, list string, ok bool) {
	before, list, _ = strings.Cut(clause, ": ")
	start, toks := c.numerals(tokens(before)), c.numerals(tokens(list))
	figures := 0
	for _, t := range toks {
		if t.figure {
			figures++
		}
	}
	if names := len(c.find(toks)); names < 2 || figures < names || len(c.find(start)) > 0 {
		return "", "", false
	}
	edges := map[float64]bool{}
	for _, t := range start {
		readings := c.numbers(t)
		switch {
		case len(readings) == 0 || slices.ContainsFunc(readings, func(n number) bool { return c.free[n.value] }):
		case !c.edge(readings):
			return "", "", false
		default:
			edges[readings[0].value] = true
		}
	}
	return before, list, len(edges) == 2
}

// kept returns the part of a sentence that has no faults: the whole sentence, or its clauses before the first one that
// has faults. Later clauses may refer to that one, so they are not kept.
func (c *Checker) kept(s string) string {
	if len(c.check(s)) == 0 {
		return s
	}
	parts, n := clauses(s), 0
	for n < len(parts)-1 && len(c.sentence(parts[n])) == 0 {
		n++
	}
	if n == 0 {
		return ""
	}
	return strings.Join(parts[:n], "; ") + c.period()
}

// period returns the punctuation mark that ends a sentence.
func (c *Checker) period() string {
	if c.language == "ja" || c.language == "zh" {
		return "。"
	}
	return "."
}
