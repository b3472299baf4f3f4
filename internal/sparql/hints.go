package sparql

import (
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// hint suggests what to do about the current token where expected should be, when the mistake is a known one.
func (p *parser) hint(expected string) string {
	text := ""
	if !p.is(tEOF) {
		text = p.textOf(p.tok)
	}
	switch {
	case expected == "AS ?name" && p.is(')'):
		return "give the expression a name: (… AS ?name)"
	case expected == "AS ?name" && p.is('='):
		return "a name is given with AS: (expression AS ?name)"
	case expected == "AS ?name":
		return "write (expression AS ?name)"
	case p.is('=') && strings.Contains(expected, "expression"):
		return "equality is written with one ="
	case (p.is('*') || p.is('/') || p.is('|')) && p.last.kind == '.':
		return "a dot ends the statement before"
	case p.is(tString) && (expected == "a predicate" || strings.Contains(expected, "IRI") || strings.Contains(expected, "address")) && looksLikeIRI(text):
		return "an IRI is written in angle brackets: <" + strings.Trim(text, `"'`) + ">"
	case p.is('}') && strings.Contains(expected, "end"):
		return "there is one closing brace too many"
	case p.is(tWord) && bareNumber(text):
		return "write the prefix too: " + prefixFor(text)
	case p.is('<') || p.is('>'):
		return "an IRI stands between < and > without spaces"
	case p.is('?') || p.is('$'):
		return "a variable needs a name after " + text
	case p.is(tWord) && expected == "a predicate" && p.last.kind == tVar:
		return "if this is a variable, write ?" + text
	case p.is(tWord) && p.tok.kw == kwNone:
		return p.wordHint(text)
	case p.is('.') && expected == "an object":
		return "the statement has no object: subject, predicate and object belong together"
	case p.is(',') && strings.HasPrefix(expected, "the pattern"):
		return "projected variables are separated by spaces, not commas"
	case p.is(tWord) && p.tok.kw == kwLimit, p.is(tWord) && p.tok.kw == kwOrder, p.is(tWord) && p.tok.kw == kwGroup:
		return text + " comes after the closing brace of the pattern; is a brace missing before it?"
	}
	return ""
}

func looksLikeIRI(s string) bool { return strings.Contains(s, "://") || strings.Contains(s, "urn:") }

// bareNumber reports whether s is a Q or P number without a prefix.
func bareNumber(s string) bool { return rdf.ValidID(s) }

func prefixFor(id string) string {
	if id[0] == 'P' {
		return "wdt:" + id + " as a predicate, wd:" + id + " as a thing"
	}
	return "wd:" + id
}

// wordHint suggests the keyword that an unknown word is nearest to.
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
		return "do you mean " + best + "?"
	}
	return "unknown word; a variable starts with ?, a name has a prefix such as wd:"
}

// prefixHint suggests a prefix in place of an unknown one.
func (p *parser) prefixHint(prefix, local string) string {
	if rdf.ValidID(local) {
		near := "wd:"
		if local[0] == 'P' {
			near = "wdt: (value), p: and ps: (statement), pq: (qualifier)"
		}
		if c := nearestPrefix(prefix); c != "" {
			return "do you mean " + c + ":" + local + "?"
		}
		return "known prefixes for it: " + near
	}
	if c := nearestPrefix(prefix); c != "" {
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

// editDistance returns the Levenshtein distance of two short words, or limit when it is at least that.
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
