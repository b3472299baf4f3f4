package sparql

import (
	"regexp"
	"slices"
	"strings"
)

// This file counts as the notebook behind SPINACH's Table 1 does: by regular expressions over the query's text, faults included, because the published
// figures can be reproduced in no other way. It is the one place of this package where regular expressions look at a query; [Measure] counts on the tree.
//
// The rules are one reading of the published description of that notebook, checked against its figures for four benchmarks (six averages, the number of
// properties and of patterns for each): all of them come out to the last printed digit. Where a rule looks strange, that is what the figures say.

// The pieces of the notebook's patterns. Names of items are wd:Q…, so a property or any other prefix is no subject.
const (
	nbVar  = `\?[\p{L}\p{N}_]+`
	nbIRI  = `<[^\s>]+>`
	nbSubj = `(?:` + nbVar + `|` + nbIRI + `|wd:Q\d+)`
	nbStep = `(?:` + nbIRI + `|wdt:P\d+|p\w*:P\d+|rdfs:\w+|schema:\w+)`
	nbPred = `\(?(?:` + nbStep + `(?:\s*/\s*\(?` + nbStep + `)?\s*\*?|` + nbVar + `)\)?` // up to two steps, a star only at the end
	nbObj  = `(?:` + nbVar + `|` + nbIRI + `|wd:Q\d+|"[^"]*"|\d+|\[[^\]]*\])`
	nbStr  = `"[^"]*"`
)

var (
	nbTriple    = regexp.MustCompile(`(` + nbSubj + `)(?:\s+|;)(` + nbPred + `)\s+(` + nbObj + `)`) // a glued semicolon makes an object the next subject
	nbContinued = regexp.MustCompile(`\n\s*(` + nbSubj + `)[^.]*;\s*(` + nbPred + `)\s+(` + nbObj + `)`)
	nbValues    = regexp.MustCompile(`(?i)VALUES[^{]*\{([^}]*)\}`)
	nbFilter    = regexp.MustCompile(`(?i)FILTER\s*\(`)
	nbOptional  = regexp.MustCompile(`(?i)(?:OPTIONAL|MINUS)\s*\{([^{}]*)\}`)
	nbWhere     = regexp.MustCompile(`(?i)WHERE\s*\{`)
	nbWith      = regexp.MustCompile(`(?i)WITH\s*\{`)
	nbSelect    = regexp.MustCompile(`(?i)(SELECT[^{]*)\{`)
	nbModifier  = regexp.MustCompile(`(?i)LIMIT|GROUP\s+BY|ORDER\s+BY|HAVING`)
	nbSemicolon = regexp.MustCompile(`;[ \t]+`)

	nbItems    = regexp.MustCompile(`wd:Q\d+`)
	nbStrings  = regexp.MustCompile(nbStr)
	nbNumbers  = regexp.MustCompile(`\b\d+(?:\.\d+)?\b`)
	nbInFilter = regexp.MustCompile(nbVar + `|xsd:\w+`)

	nbProperty = regexp.MustCompile(`\bP\d+\b`)
	nbPattern  = []struct {
		re   *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(nbStr + `|'[^']*'`), "S"}, {regexp.MustCompile(nbVar), "V"}, {nbProperty, "P"},
		{regexp.MustCompile(`\bQ\d+\b`), "Q"}, {regexp.MustCompile(`\d+(?:\.\d+)?`), "N"}, {regexp.MustCompile(`\s+`), ""},
	}
)

// nbDepth is how many sub-queries inside each other are cut out; what lies deeper is counted where it stands.
const nbDepth = 64

// NotebookMetrics counts as the notebook behind SPINACH's Table 1 does; Projections stays 0, because the notebook counts them on results. The text need
// not parse. The rules:
//
//   - Blanks after a semicolon go. Each WITH { … } block is cut out and counted as a query of its own. A query without WHERE gets one behind each SELECT
//     clause; an ASK without WHERE counts nothing but its modifiers.
//   - Of the first WHERE's body one sub-query's WHERE { … } is cut out and counted on its own, its own sub-query likewise. Clauses start at 1 for a query, at
//     0 for a sub-query.
//   - A triple (clause and relation) is subject, predicate, object with white space between: wd: items, variables and IRIs; predicates also of two steps, with
//     a star behind; objects also double-quoted strings, digits and a bracket, whatever it holds. A subject may be followed by a semicolon instead, so in
//     ?a p1 ?b;p2 ?c;p3 ?d the third is a triple of ?c and the second is none. Predicates are told apart without brackets and star, full IRIs by their
//     first step. A string or number is a literal, not an object.
//   - A subject that starts a line, and the last semicolon before the next full stop with what follows it, are one more triple: so a statement of several
//     lines gets one continuation.
//   - VALUES up to its closing brace: a clause, its wd: items are objects, its strings and numbers literals. VALUES in a comment counts, too.
//   - FILTER with a bracket: for every one, the text is read from the first place where the same spelling stands to the end, and each time the brackets are
//     balanced there is one more clause. The variables and xsd: names in between are objects, the strings and numbers literals.
//   - OPTIONAL and MINUS without inner braces are counted again, with one clause more; relations are not, and sets stay sets.
//   - LIMIT, GROUP BY, ORDER BY and HAVING, anywhere, are a clause each.
func NotebookMetrics(query string) Metrics {
	n := newNotebook()
	n.withBlocks(nbSemicolon.ReplaceAllString(query, ";"))
	return Metrics{Clauses: n.clauses, Relations: n.relations, Subjects: len(n.subjects), Predicates: len(n.predicates), Objects: len(n.objects), Literals: len(n.literals)}
}

// NotebookProperties returns the P numbers that stand in the text, in order, with repetitions (SPINACH's Table 7 counts the distinct ones of a benchmark).
func NotebookProperties(query string) []string { return nbProperty.FindAllString(query, -1) }

// NotebookPattern returns the text with strings, variables, P numbers, Q numbers and numbers replaced, in this order, and without white space: two queries
// have the same pattern by SPINACH's Table 6 when these are equal. [Shape] does it on tokens.
func NotebookPattern(query string) string {
	for _, p := range nbPattern {
		query = p.re.ReplaceAllString(query, p.with)
	}
	return query
}

// notebook is one query's count. Sets hold texts.
type notebook struct {
	clauses, relations                      int
	subjects, predicates, objects, literals map[string]bool
}

func newNotebook() *notebook {
	return &notebook{subjects: map[string]bool{}, predicates: map[string]bool{}, objects: map[string]bool{}, literals: map[string]bool{}}
}

// withBlocks counts the WITH blocks and then what is left.
func (n *notebook) withBlocks(q string) {
	var rest strings.Builder
	for {
		m := nbWith.FindStringIndex(q)
		if m == nil {
			break
		}
		end := closing(q, m[1]-1)
		if end < 0 {
			break
		}
		n.query(q[m[1]:end])
		rest.WriteString(q[:m[0]])
		q = q[end+1:]
	}
	rest.WriteString(q)
	n.query(rest.String())
}

// query counts one query without WITH blocks.
func (n *notebook) query(q string) {
	if !strings.Contains(strings.ToUpper(q), "WHERE") {
		q = nbSelect.ReplaceAllString(q, "${1}WHERE {")
	}
	n.where(q, 1, nbDepth)
	n.clauses += len(nbModifier.FindAllStringIndex(q, -1))
}

// where counts the first WHERE of a text and the one in it.
func (n *notebook) where(q string, start, depth int) {
	m := nbWhere.FindStringIndex(q)
	if m == nil {
		return
	}
	body := q[m[1]:]
	if end := closing(q, m[1]-1); end >= 0 {
		body = q[m[1]:end]
	}
	if inner := nbWhere.FindStringIndex(body); inner != nil && depth > 0 {
		if end := closing(body, inner[1]-1); end >= 0 {
			n.where(body[inner[0]:end+1], 0, depth-1)
			body = body[:inner[0]] + body[end+1:]
		}
	}
	n.clauses += start
	n.relations += n.body(body)
	for _, m := range nbOptional.FindAllStringSubmatch(body, -1) {
		n.clauses++
		n.body(m[1])
	}
}

// body counts triples, VALUES and FILTER and returns the number of triples.
func (n *notebook) body(text string) (relations int) {
	for _, re := range []*regexp.Regexp{nbTriple, nbContinued} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			relations++
			n.clauses++
			n.subjects[m[1]] = true
			n.predicates[nbPredicate(m[2])] = true
			switch o := m[3]; o[0] {
			case '"', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
				n.literals[o] = true
			case '[':
				n.objects["[]"] = true
			default:
				n.objects[o] = true
			}
		}
	}
	for _, m := range nbValues.FindAllStringSubmatch(text, -1) {
		n.clauses++
		add(n.objects, nbItems.FindAllString(m[1], -1))
		n.constants(m[1])
	}
	n.filters(text)
	return relations
}

// constants adds the strings and numbers of a text; numbers in strings are none.
func (n *notebook) constants(text string) {
	add(n.literals, nbStrings.FindAllString(text, -1))
	add(n.literals, nbNumbers.FindAllString(nbStrings.ReplaceAllString(text, ""), -1))
}

// filters counts the FILTERs with the notebook's fault. Those of one spelling all find the same bodies, each a beginning of the next, so the longest holds
// what is in any of them. A file may hold thousands of spellings (FILTER, blanks, bracket), and none shall cost a pass over the text: brackets are counted once, and
// what lies in a body that was read is not read again.
func (n *notebook) filters(text string) {
	found := nbFilter.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return
	}
	times, firsts := map[string]int{}, [][]int{}
	for _, m := range found {
		spelling := text[m[0]:m[1]]
		if times[spelling]++; times[spelling] == 1 {
			firsts = append(firsts, m)
		}
	}
	before := make([]int, len(firsts)) // brackets open before the first of a spelling
	odd := make([]bool, len(firsts))   // whether the quotes before it are odd in number
	closes := map[int][]int{}          // by brackets that stay open: where one closes
	quotes := 0                        // how many quotes come before a place
	quotesAt := make(map[int]int, 2*len(firsts))
	for i, depth, next := 0, 0, 0; i < len(text); i++ {
		if next < len(firsts) && i == firsts[next][1]-1 {
			before[next], odd[next], quotesAt[i] = depth, quotes%2 == 1, quotes
			next++
		}
		switch text[i] {
		case '"':
			quotes++
		case '(':
			depth++
		case ')':
			depth--
			closes[depth] = append(closes[depth], i)
			quotesAt[i] = quotes
		}
	}
	var read [2]int // how far bodies were read that began behind an even and an odd number of quotes
	for k, m := range firsts {
		start, ends := m[1]-1, closes[before[k]]
		at, _ := slices.BinarySearch(ends, start)
		if at == len(ends) {
			continue
		}
		n.clauses += (len(ends) - at) * times[text[m[0]:m[1]]]
		last := ends[len(ends)-1]
		class := 0
		if odd[k] {
			class = 1
		}
		// Within a body that was read, quotes pair up alike when as many are before it, and none is left over at its end.
		whole := (quotesAt[last]-quotesAt[start])%2 == 0
		if last+1 == read[class] || last+1 < read[class] && whole {
			continue
		}
		read[class] = max(read[class], last+1)
		add(n.objects, nbInFilter.FindAllString(text[start:last+1], -1))
		n.constants(text[start : last+1])
	}
}

// nbPredicate is the form in which predicates are told apart.
func nbPredicate(p string) string {
	p = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\f\v*()", r) {
			return -1
		}
		return r
	}, p)
	if end := strings.IndexByte(p, '>'); end > 0 && p[0] == '<' {
		return p[:end+1]
	}
	return p
}

// closing returns the place of the brace that closes the one at open, or -1.
func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func add(set map[string]bool, texts []string) {
	for _, t := range texts {
		set[t] = true
	}
}
