package faithful

import "strings"

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
// were sentences, since a figure in one clause need not belong to a name in another. The same is true of a list of
// names and what is before it.
func (c *Checker) check(s string) []Fault {
	whole := c.sentence(s)
	var parts []string
	for _, clause := range clauses(s) {
		parts = append(parts, c.beforeList(clause)...)
	}
	if len(whole) == 0 || len(parts) == 1 {
		return whole
	}
	var out []Fault
	for _, part := range parts {
		for _, f := range c.sentence(part) {
			f.Sentence = s
			out = append(out, f)
		}
	}
	return out
}

// beforeList splits a clause at the colon before a list of names, each with a figure, if there is no name before the
// colon: "The four were born between 1971 and 1973: Ann in 1971, Eve in 1973 …".
func (c *Checker) beforeList(clause string) []string {
	before, list, _ := strings.Cut(clause, ": ")
	toks := c.numerals(tokens(list))
	figures := 0
	for _, t := range toks {
		if t.figure {
			figures++
		}
	}
	if names := len(c.find(toks)); names < 2 || figures < names || len(c.find(c.numerals(tokens(before)))) > 0 {
		return []string{clause}
	}
	return []string{before, list}
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
