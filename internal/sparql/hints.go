package sparql

import (
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// hint suggests how to correct a common mistake at the current token, where something else was expected.
func (p *parser) hint(expected string) string {
	if expected == "AS ?name" {
		return p.nameHint()
	}
	if h := p.symbolHint(expected); h != "" {
		return h
	}
	if p.is(tWord) && rdf.ValidID(p.textOf(p.tok)) {
		return "write the prefix too: " + prefixFor(p.textOf(p.tok))
	}
	if h := p.placeHint(expected); h != "" {
		return h
	}
	if p.is(tWord) {
		return p.foundWordHint(expected, p.textOf(p.tok))
	}
	return ""
}

// symbolHint suggests the intended form of an unexpected punctuation mark, string or name.
func (p *parser) symbolHint(expected string) string {
	incomplete := "the statement is not complete: subject, predicate and object belong together"
	text := p.textOf(p.tok)
	switch p.tok.kind {
	case '=':
		if strings.Contains(expected, "expression") {
			return "equality is written with one ="
		}
		if expected == "an object" {
			return "a statement has no =: subject, predicate, object"
		}
	case '*', '/', '|':
		if p.last.kind == '.' {
			return "a dot ends the statement before"
		}
	case '}':
		if strings.Contains(expected, "end") {
			return "there is one closing brace too many"
		}
		if expected == "an object" || expected == "a predicate" {
			return incomplete
		}
	case ')':
		if strings.Contains(expected, "closing brace") {
			return "there is one closing parenthesis too many"
		}
	case '.':
		if expected == "an object" {
			return incomplete
		}
	case ',':
		return commaHint(expected)
	case '?', '$':
		return "a variable needs a name after " + text
	case '<', '>':
		return p.angleHint()
	case tIRI, tString, tName:
		return iriHint(p.tok.kind, text, expected)
	}
	return ""
}

const notEqual = "\"not equal\" is written !="

// angleHint guesses what < or > was meant to be.
func (p *parser) angleHint() string {
	next := p.at(int(p.tok.end))
	switch {
	case p.is('<') && next == '>':
		return notEqual
	case p.is('<') && next == '<':
		return "statements in << >> (RDF-star) are not in Wikidata's graph: " +
			"a statement's qualifiers and references are found through p:, ps: and pq:"
	}
	return "an IRI is written between < and > without spaces"
}

// iriHint guesses the intended form of an IRI, a string or a name.
func iriHint(k kind, text, expected string) string {
	address := strings.Contains(expected, "address")
	switch {
	case k == tIRI && text == "<>" && strings.Contains(expected, "operator"):
		return notEqual
	case k == tString && (expected == "a predicate" || strings.Contains(expected, "IRI") || address) &&
		looksLikeIRI(text):
		return "an IRI is written in angle brackets: <" + strings.Trim(text, `"'`) + ">"
	case k == tName && address:
		return "an IRI is written in angle brackets: <" + text + "…>"
	}
	return ""
}

func (p *parser) nameHint() string {
	switch {
	case p.is(')') && p.last.kind == tVar && p.equated:
		return "use AS, not =, to name an expression: (expression AS " + p.textOf(p.last) + ")"
	case p.is(')'):
		return "name the expression: (… AS ?name)"
	case p.is(tVar):
		return "write AS before the name: (… AS " + p.textOf(p.tok) + ")"
	}
	return "write (expression AS ?name)"
}

func commaHint(expected string) string {
	switch {
	case strings.HasPrefix(expected, "the pattern"):
		return "projected variables are separated by spaces, not commas"
	case strings.HasPrefix(expected, "a value"), strings.HasPrefix(expected, "a row"):
		return "values are separated by spaces, not commas"
	case expected == "an object":
		return "there is one comma too many"
	}
	return ""
}

// placeHint suggests what belongs at the current position, regardless of what was found.
func (p *parser) placeHint(expected string) string {
	if p.is(tEOF) {
		return ""
	}
	open := !p.is('{') && !p.is('(')
	switch {
	case strings.HasPrefix(expected, "a condition in parentheses") && p.is(tVar):
		return "put the condition in parentheses: FILTER(" + p.textOf(p.tok) + " …)"
	case expected == "an opening parenthesis" && p.is(tVar):
		return "put the expression in parentheses: BIND(… AS ?name)"
	case expected == "a pattern in braces" && open:
		return "put the pattern in braces: { … }"
	case expected == "the values in braces" && open:
		return "put the values in braces: VALUES ?x { wd:Q1 wd:Q2 }"
	case expected == "an expression in parentheses" && open:
		return "put it in parentheses: " + strings.ToUpper(p.textOf(p.last)) + "(" + p.textOf(p.tok) + ")"
	case expected == "BY":
		return "write " + strings.ToUpper(p.textOf(p.last)) + " BY"
	case expected == "EXISTS { … }":
		return "write NOT EXISTS { … }"
	case strings.HasPrefix(expected, "a variable, an expression") && p.is('{'):
		return "name the variables to return, or write SELECT *"
	case strings.HasPrefix(expected, "a variable, an expression") && p.is(tWord) && (p.tok.kw.function() ||
		p.tok.kw.aggregate()):
		return "an expression needs parentheses and a name: (" + p.textOf(p.tok) + "(…) AS ?name)"
	case strings.HasPrefix(expected, "the name of a") && p.is(tWord):
		return "write %" + p.textOf(p.tok)
	case expected == "a prefix with its colon" && p.is(tWord):
		return "write the colon too: PREFIX " + p.textOf(p.tok) + ": <…>"
	}
	return ""
}

// foundWordHint suggests the intended form of an unexpected word.
func (p *parser) foundWordHint(expected, text string) string {
	up := strings.ToUpper(text)
	switch {
	case strings.HasPrefix(expected, "an operator") && (up == "AND" || up == "OR"):
		return "write " + map[string]string{"AND": "&&", "OR": "||"}[up] + " for \"" + strings.ToLower(text) + "\""
	case up == "OR" && strings.Contains(expected, "pattern"):
		return "alternatives are written { … } UNION { … }"
	case p.tok.kw == kwUnion && strings.Contains(expected, "end"):
		return "both parts of a UNION need braces inside the pattern: WHERE { { … } UNION { … } }"
	case p.tok.kw == kwWhere && strings.Contains(expected, "end"):
		return "a query has one WHERE; is a closing brace too early?"
	case p.tok.kw == kwLimit, p.tok.kw == kwOrder, p.tok.kw == kwGroup:
		return text + " comes after the closing brace of the pattern; is a brace missing before it?"
	case p.tok.kw != kwNone, expected == "a whole number":
		return ""
	case expected == "a predicate" && p.last.kind == tVar, strings.HasPrefix(expected, "a variable"):
		return "if this is a variable, write ?" + text
	case expected == "an expression" && p.peek().kind == '(':
		if h := p.wordHint(text); strings.HasPrefix(h, "do you") {
			return h
		}
		return "there is no function " + up
	case expected == "an expression", expected == "an object":
		return "text needs quotation marks, \"" + text + "\"; a variable starts with ?"
	}
	return p.wordHint(text)
}

func looksLikeIRI(s string) bool { return strings.Contains(s, "://") || strings.Contains(s, "urn:") }

func prefixFor(id string) string {
	if id[0] == 'P' {
		return "wdt:" + id + " as a predicate, wd:" + id + " as a thing"
	}
	return "wd:" + id
}

// wordHint suggests the keyword that is closest to an unknown word.
func (p *parser) wordHint(text string) string {
	up := strings.ToUpper(text)
	best, distance := "", 3
	for k := kwNone + 1; k < keywordCount; k++ {
		if s := spelling[k]; len(s) > 3 {
			if d := editDistance(up, s, distance); d < distance && d*3 <= len(s) {
				best, distance = s, d
			}
		}
	}
	if best != "" {
		p.meant = best
		return "do you mean " + best + "?"
	}
	return "unknown word; a variable starts with ?, a name has a prefix such as wd:"
}

// prefixHint suggests a replacement for an unknown prefix.
func (p *parser) prefixHint(prefix, local string) string {
	if rdf.ValidID(local) {
		near := "wd:"
		if local[0] == 'P' {
			near = "wdt: (value), p: and ps: (statement), pq: (qualifier)"
		}
		if c := nearestPrefix(prefix); c != "" {
			p.meant = c + ":" + local
			return "do you mean " + c + ":" + local + "?"
		}
		return "known prefixes for it: " + near
	}
	if c := nearestPrefix(prefix); c != "" {
		p.meant = c + ":" + local
		return "do you mean " + c + ":? Otherwise declare it: PREFIX " + prefix + ": <…>"
	}
	if prefix == "http" || prefix == "https" {
		return "an IRI is written in angle brackets: <" + prefix + "://…>"
	}
	return "declare it first: PREFIX " + prefix + ": <…>"
}

func nearestPrefix(prefix string) string {
	names := make([]string, 0, len(rdf.Prefixes))
	for n := range rdf.Prefixes {
		names = append(names, n)
	}
	sort.Strings(names)
	best, distance := "", 2
	low := strings.ToLower(prefix)
	for _, n := range names {
		if n == low {
			return n
		}
		if d := editDistance(low, n, distance); d < distance && len(n) > 1 {
			best, distance = n, d
		}
	}
	return best
}

// editDistance returns the Levenshtein distance between two short words, or limit if the distance is larger.
func editDistance(a, b string, limit int) int {
	if len(a) > 32 || len(b) > 32 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	var row [33]int
	for j := range b {
		row[j+1] = j + 1
	}
	for i := 0; i < len(a); i++ {
		diagonal := row[0]
		row[0] = i + 1
		for j := 0; j < len(b); j++ {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
