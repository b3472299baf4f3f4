package measure

import (
	"regexp"
	"strings"
	"sync"
)

// This file counts the way the notebook behind SPINACH's Table 1 does: with regular expressions on the query's text,
// including the notebook's mistakes. There is no other way to reproduce the published figures. No other file in this
// package analyzes queries with regular expressions; [Query] uses the query's tree.
//
// The patterns are written in Python's syntax, as in the notebook; see [python]. Any apparent mistakes in them are the
// notebook's.
const (
	nbVariable  = `\?\w+`
	nbIRI       = `<[^>]+>`
	nbItem      = `wd:\S+` // with the punctuation that follows
	nbPath      = `(?:wdt:\S+|p\w*:\S+|rdfs:\S+|schema:\S+)`
	nbSubject   = `(` + nbVariable + `|` + nbIRI + `|` + nbItem + `)`
	nbPredicate = `(` + nbVariable + `|` + nbIRI + `|\(?` + nbPath + `(?:\s*/\s*` + nbPath + `)?)`
	nbObject    = `(` + nbVariable + `|` + nbIRI + `|"[^"]*"|` + nbItem + `|\d+|\[\])`
)

var (
	nbTriple       = python(nbSubject + `\s+` + nbPredicate + `\s+` + nbObject)
	nbContinuation = python(`\n\s+` + nbSubject + `.*?;\s*` + nbPredicate + `\s+` + nbObject)
	nbValues       = python(`(?i)VALUES\s+\?\w+\s*\{([^}]*)\}`)
	nbFilter       = python(`(?i)FILTER\s*\(`)
	nbOptional     = python(`(?i)(?:OPTIONAL|MINUS)\s*\{([^}]*)\}`)
	nbWhere        = python(`(?i)WHERE\s*\{`)
	nbWith         = python(`(?i)WITH\s*\{`)
	nbSelect       = python(`(?i)SELECT[^{\n]*\s*\{`)
	nbModifier     = python(`(?i)LIMIT|GROUP\s+BY|ORDER\s+BY|HAVING`)
	nbSemicolon    = python(`;\s+`)

	nbVariables = python(nbVariable)
	nbStrings   = python(`"[^"]*"`)
	nbWords     = python(`\w+`)
	nbNumber    = python(`^\d+$`)
)

// python compiles a pattern in which \s, \S, \w and \d have their Python meaning: they match characters of any script,
// not only ASCII as in Go. Each pattern is compiled when it is first used, because few commands need any of them.
func python(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		const space = `\s\v\x1c-\x1f\x85\p{Z}`
		return regexp.MustCompile(strings.NewReplacer(`\s`, `[`+space+`]`, `\S`, `[^`+space+`]`, `\w`, `[\p{L}\p{N}_]`,
			`\d`, `\p{Nd}`).Replace(pattern))
	})
}

// Notebook counts the way the notebook behind SPINACH's Table 1 does. Projections stays 0, because the notebook counts
// projections in results. The text need not parse. The rules:
//
//   - White space after a semicolon becomes one space. The content of each WITH { … } is cut out and counted as a
//     separate query.
//   - A SELECT clause on one line without WHERE gets one before its brace. This includes SELECT ?x WITH { } on one
//     line, where the empty braces of WITH become the WHERE clause: only the WITH blocks of such a query are counted.
//   - The body of the first WHERE is counted. The first WHERE inside it, that of a sub-query, is counted separately,
//     and its text is deleted from the body wherever it occurs. An empty body adds nothing to the counts, and neither
//     does a query without WHERE.
//   - A body counts as one clause. Each triple in it counts as one more: subject, predicate and object with white space
//     between them. Variables, IRIs and wd: names may be subjects and objects; double-quoted strings, digits and [] may
//     only be objects. Predicates are variables, IRIs and names with the prefixes wdt, p… (p, ps, pq and so on), rdfs
//     and schema. They include everything up to the next white space, and a second step after a slash with spaces
//     around it.
//   - A subject that starts an indented line also forms a triple with the first predicate and object on that line that
//     directly follow a semicolon. Since line breaks after semicolons have become spaces, this includes the first
//     continuation line of a statement.
//   - A wd: name extends to the next white space. So wd:Q5. and wd:Q5 are two objects, and in ?a wdt:P1 wd:Q1; wdt:P2
//     wd:Q2; wdt:P3 ?b the third part is a triple with the subject "wd:Q2;" (the first wd:Q1; belongs to the first
//     triple).
//   - Relations are distinct triples; clauses count every one.
//   - VALUES with one variable is a clause. Its words that start with wd: are objects; those that start with a
//     quotation mark or are digits are literals.
//   - For each FILTER followed by a parenthesis, the text is read from the first FILTER spelled the same way to the end
//     of the body. Each position at which the parentheses are balanced counts as one more clause. The variables up to
//     the last such position are objects; double-quoted strings and numbers are literals.
//   - The bodies of OPTIONAL and MINUS, up to the first closing brace, are counted again as separate bodies.
//   - LIMIT, GROUP BY, ORDER BY and HAVING are one clause each, anywhere in the text, even as part of another word.
func Notebook(query string) Metrics {
	n := &notebook{relations: set{}, subjects: set{}, predicates: set{}, objects: set{}, literals: set{}}
	n.clauses = len(nbModifier().FindAllStringIndex(query, -1))
	query = nbSemicolon().ReplaceAllString(query, "; ")
	var rest strings.Builder
	for {
		before, block, after, found := nbBraces(nbWith(), query)
		if !found {
			break
		}
		n.query(block)
		rest.WriteString(before)
		query = after
	}
	n.query(rest.String() + query)
	return Metrics{Clauses: n.clauses, Relations: len(n.relations), Subjects: len(n.subjects),
		Predicates: len(n.predicates), Objects: len(n.objects), Literals: len(n.literals)}
}

// notebook contains the counts of one query.
type notebook struct {
	clauses                                            int
	relations, subjects, predicates, objects, literals set
}

type set map[string]bool

func (s set) add(texts ...string) {
	for _, t := range texts {
		s[t] = true
	}
}

// query counts a query without WITH blocks.
func (n *notebook) query(text string) {
	text = nbSelect().ReplaceAllStringFunc(text, func(clause string) string {
		upper := strings.ToUpper(clause)
		if i := strings.LastIndex(upper, "WHERE"); i >= 0 && !strings.Contains(upper[i:], "SELECT") {
			return clause
		}
		return strings.TrimSuffix(clause, "{") + " WHERE {"
	})
	_, body, after, found := nbBraces(nbWhere(), text)
	if !found {
		body = after // the brace is not closed: use all the remaining text
	}
	if strings.TrimSpace(body) == "" {
		return
	}
	if _, inner, _, found := nbBraces(nbWhere(), body); found {
		n.body(inner)
		body = strings.ReplaceAll(body, inner, "")
	}
	n.body(body)
	for _, m := range nbOptional().FindAllStringSubmatch(body, -1) {
		n.body(strings.TrimSpace(m[1]))
	}
}

// body counts the text between two braces.
func (n *notebook) body(text string) {
	n.clauses++
	for _, re := range []*regexp.Regexp{nbTriple(), nbContinuation()} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			n.clauses++
			n.relations.add(m[1] + " " + m[2] + " " + m[3])
			n.subjects.add(m[1])
			n.predicates.add(m[2])
			if strings.HasPrefix(m[3], `"`) || nbNumber().MatchString(m[3]) {
				n.literals.add(m[3])
			} else {
				n.objects.add(m[3])
			}
		}
	}
	for _, m := range nbValues().FindAllStringSubmatch(text, -1) {
		n.clauses++
		for _, word := range strings.Fields(m[1]) {
			if strings.HasPrefix(word, "wd:") {
				n.objects.add(word)
			} else if strings.HasPrefix(word, `"`) || nbNumber().MatchString(word) {
				n.literals.add(word)
			}
		}
	}
	spellings := map[string]int{}
	for _, spelling := range nbFilter().FindAllString(text, -1) {
		spellings[spelling]++
	}
	for spelling, times := range spellings {
		balanced, filter := nbBalanced(text[strings.Index(text, spelling)+len(spelling)-1:])
		n.clauses += times * balanced
		n.objects.add(nbVariables().FindAllString(filter, -1)...)
		n.literals.add(nbStrings().FindAllString(filter, -1)...)
		for _, word := range nbWords().FindAllString(nbStrings().ReplaceAllString(filter, ""), -1) {
			if nbNumber().MatchString(word) {
				n.literals.add(word)
			}
		}
	}
}

// nbBraces finds the first match of a pattern that ends in an opening brace. It returns the text before the match,
// inside the braces, and after them (with the closing brace). found is false if there is no match or the brace is not
// closed; in the latter case, after is the text that follows the opening brace.
func nbBraces(open *regexp.Regexp, text string) (before, inside, after string, found bool) {
	m := open.FindStringIndex(text)
	if m == nil {
		return "", "", "", false
	}
	before, after = text[:m[1]], text[m[1]:]
	depth := 1
	for i := 0; i < len(after); i++ {
		switch after[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return before, after[:i], after[i:], true
			}
		}
	}
	return before, "", after, false
}

// nbBalanced counts, in text that starts with a parenthesis, the positions at which all parentheses are closed, and
// returns the text up to the last one.
func nbBalanced(text string) (times int, balanced string) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				times++
				balanced = text[:i+1]
			}
		}
	}
	return times, balanced
}

var (
	nbProperty = regexp.MustCompile(`\bP\d+\b`)
	nbPattern  = []struct {
		re   *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`"[^"]*"|'[^']*'`), "S"}, {regexp.MustCompile(`\?[\p{L}\p{N}_]+`), "V"}, {nbProperty, "P"},
		{regexp.MustCompile(`\bQ\d+\b`), "Q"}, {regexp.MustCompile(`\d+(?:\.\d+)?`), "N"}, {regexp.MustCompile(`\s+`),
			""},
	}
)

// NotebookProperties returns the P IDs in the text, in order, with duplicates (SPINACH's Table 7 counts the distinct
// ones in a benchmark).
func NotebookProperties(query string) []string { return nbProperty.FindAllString(query, -1) }

// NotebookPattern returns the text with strings, variables, P IDs, Q IDs and numbers replaced, in this order, and
// without white space. According to SPINACH's Table 6, two queries have the same pattern if these strings are equal.
// [Shape] does the same on tokens.
func NotebookPattern(query string) string {
	for _, p := range nbPattern {
		query = p.re.ReplaceAllString(query, p.with)
	}
	return query
}
