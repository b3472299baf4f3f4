package sparql

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seeds are small queries with every construct of the dialect.
var seeds = []string{
	"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . }",
	"#title:t\nSELECT ?x ?xLabel (COUNT(*) AS ?n) # c\nWITH { SELECT ?x { ?x wdt:P1 ?y } } AS %a # d\nWHERE # e\n{ # f\n INCLUDE %a . # g\n # h\n} # i\nGROUP BY ?x # j\n ?xLabel\nORDER BY DESC(?n) # k\nLIMIT 5 # l",
	"ASK { ?x wdt:P31/wdt:P279* wd:Q5 ; !(wdt:P1|^a) [ pq:P1 'a'@en, \"b\"^^xsd:date ; pq:P2 ( 1 -2.5 3e4 ) ] FILTER(!BOUND(?x) || ?y - -1 NOT IN (1, true)) }",
	"PREFIX a: <http://a/> CONSTRUCT { ?x a:b _:c } WHERE { { ?x ?p ?o } UNION { ?x a:c ?o } MINUS { ?x a:d [] } OPTIONAL { ?x a:e ?z FILTER NOT EXISTS { ?z ?q ?r } } }",
	"SELECT * { VALUES (?a ?b) { (wd:Q1 UNDEF) ('}}' \"[[~~~~]]\") # x\n } SERVICE SILENT <http://x/{}> { ?a ?b ?c } BIND(IF(?a, 1, 2) AS ?d) hint:Prior hint:runLast true . GRAPH ?g { } }",
	"SELECT (GROUP_CONCAT(DISTINCT ?x; SEPARATOR = '-{|}-') AS ?y) { LET (?x := '<nowiki>') SERVICE wikibase:label { bd:serviceParam wikibase:language '[AUTO_LANGUAGE],en' } }",
	"SELECT ?x { SERVICE wikibase:around { ?p wdt:P625 ?l . bd:serviceParam wikibase:center 'Point(1 2)'^^geo:wktLiteral ; wikibase:radius '10' } SERVICE bd:slice { ?x ?y ?z . bd:serviceParam bd:slice.limit 5 } }",
	"SELECT ?x { ?x <http://e/~~~~> <!--> ; wdt:a\\~b <nowiki> \\u007C",
	"WITH %n AS { SELECT ?x { ?x ?y ?z } } SELECT ?x { INCLUDE %n } BINDINGS ?x { (wd:Q1) }",
	"DESCRIBE wd:Q1 ?x # {{\nFROM <a> WHERE { ?x ?y '''a\n''' }",
	"INSERT DATA { wd:Q1 a wd:Q2 }",
	"SELECT ?x { ?x wdt:P31 [ # a\n wdt:P1 ?y ; # b\n # c\n wdt:P2 ?z # d\n # e\n ] , # f\n wd:Q1 # g\n . # h\n }",
}

func seed(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
}

// FuzzParse: reading any text ends, mistakes have a place in the text, a used Reader gives what Parse gives, and the lexer's fast path what its slow one gives.
func FuzzParse(f *testing.F) {
	seed(f)
	var r Reader
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if got, gotErr := r.Parse(text); !reflect.DeepEqual(got, q) || !reflect.DeepEqual(gotErr, err) {
			t.Fatalf("the reader gives something else: %v, %v", got, gotErr)
		}
		checkFill(t, text)
		if err == nil {
			if q == nil || q.Body == nil || q.Body.Where == nil {
				t.Fatal("no tree")
			}
			return
		}
		var es Errors
		if !errors.As(err, &es) || len(es) == 0 {
			t.Fatalf("not Errors: %v", err)
		}
		for _, e := range es {
			if e.Line < 1 || e.Column < 1 || e.Message == "" || e.Offset > len(text) {
				t.Fatalf("a mistake without place or words: %+v", e)
			}
		}
	})
}

// checkFill compares the tokens that fill gives with those that next gives.
func checkFill(t *testing.T, text string) {
	slow, fast := lexer{text: text}, lexer{text: text}
	var buf [7]token
	for {
		n := fast.fill(buf[:])
		for _, got := range buf[:n] {
			want := slow.next()
			if got.kind != tName { // these mean something in names only
				got.colon, got.escaped = want.colon, want.escaped
			}
			if got != want {
				t.Fatalf("token %+v, want %+v", got, want)
			}
		}
		if buf[n-1].kind == tEOF {
			break
		}
	}
	if !reflect.DeepEqual(fast.comments, slow.comments) {
		t.Fatalf("comments %v, want %v", fast.comments, slow.comments)
	}
}

// FuzzPrint: printing, annotating and the posting form are fixed points that keep the meaning.
func FuzzPrint(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil || q.Form == Update {
			return
		}
		checkLaws(t, "fuzz", q)
	})
}

// FuzzRewrite: a rewritten query parses, has no trace of what the target lacks, and rewriting it again changes nothing.
func FuzzRewrite(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			return
		}
		Check(q, func(string) bool { return false })
		Measure(q)
		Features(q)
		Explain(q, label)
		for _, to := range []Target{Standard, QLever, WDQS} {
			r, err := Rewrite(text, to, RewriteOptions{Labels: true, Entities: true})
			if err != nil {
				continue
			}
			again, err := Rewrite(r.Text, to, RewriteOptions{})
			if err != nil {
				t.Fatalf("%s: the rewritten query cannot be rewritten: %v\n%s", to, err, r.Text)
			}
			if again.Text != r.Text {
				t.Fatalf("%s: rewriting again changes the query:\n%s\n---\n%s", to, r.Text, again.Text)
			}
			if to == Standard {
				checkStandard(t, r.Text)
			}
		}
	})
}

func checkStandard(t *testing.T, text string) {
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Features(q) {
		switch f {
		case "label-service", "named-subquery", "hint", "mwapi", "around", "box", "gas", "slice", "sample":
			t.Fatalf("%s is left:\n%s", f, text)
		}
	}
}

// FuzzURL: a link decodes to the same text, and holds nothing but letters, digits and % after its address.
func FuzzURL(f *testing.F) {
	seed(f)
	f.Add("\x00\xff~'()*!")
	f.Fuzz(func(t *testing.T, text string) {
		link := URL(text)
		if got, err := FromURL(link); err != nil || got != text {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		if strings.ContainsAny(link[len(QueryPage):], "~'()*!|[]{}<> \n\"") {
			t.Fatalf("unsafe: %s", link)
		}
		FromURL(text)
		ReplaceAutoLanguage(text, "de")
	})
}

// TestBombs: time is linear in the text and depth is bounded with a clear error.
func TestBombs(t *testing.T) {
	const n = 200_000
	bombs := map[string]string{
		"braces":       "SELECT * " + strings.Repeat("{", n),
		"closed":       "SELECT * " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"brackets":     "SELECT * { ?x ?y " + strings.Repeat("[ ?p ", n),
		"lists":        "SELECT * { ?x ?y " + strings.Repeat("(", n),
		"expressions":  "SELECT * { FILTER" + strings.Repeat("(", n),
		"not":          "SELECT * { FILTER(" + strings.Repeat("!", n) + "?x) }",
		"minus":        "SELECT * { FILTER(" + strings.Repeat("- ", n) + "?x) }",
		"functions":    "SELECT * { FILTER(" + strings.Repeat("STR(", n),
		"paths":        "SELECT * { ?x " + strings.Repeat("(", n),
		"exists":       "SELECT * { FILTER EXISTS " + strings.Repeat("{ FILTER NOT EXISTS ", n/4),
		"sub-selects":  "SELECT * " + strings.Repeat("{ SELECT * ", n/4),
		"services":     "SELECT * {" + strings.Repeat(" SERVICE wikibase:label {", n/4),
		"sums":         "SELECT * { FILTER(?x" + strings.Repeat("+?x", n) + ") }",
		"errors":       "SELECT * { " + strings.Repeat("} ", n),
		"broken lines": "SELECT * { " + strings.Repeat("?x ?y . \n", n/4) + "}",
		"triples":      "SELECT * { " + strings.Repeat("?x wdt:P31 wd:Q5 . \n", n/8) + "}",
		"optionals":    "SELECT * { " + strings.Repeat("OPTIONAL { ?x wdt:P31 ?y } ", n/16) + "}",
		"unions":       "SELECT * { {}" + strings.Repeat(" UNION { ?x ?y ?z }", n/16) + "}",
		"values":       "SELECT * { VALUES ?x {" + strings.Repeat(" wd:Q5", n/4) + " } }",
		"columns":      "SELECT " + strings.Repeat(" (1 AS ?a)", n/8) + "{}",
		"comments":     "SELECT * { " + strings.Repeat("# c\n", n/4) + "}",
		"quotes":       "SELECT * { " + strings.Repeat("'", n),
		"unfinished":   "SELECT * { ?x ?y '" + strings.Repeat("a", n),
		"prefixes":     strings.Repeat("PREFIX a: <b>\n", n/8) + "ASK {}",
		"unknown":      "ASK { " + strings.Repeat("a:b c:d e:f . ", n/16) + "}",
		"less":         "SELECT * { FILTER(" + strings.Repeat("<", n) + ") }",
		"semicolons":   "SELECT * { ?x ?y ?z " + strings.Repeat(";", n) + " }",
		"names":        "SELECT * { ?x ?y wd:" + strings.Repeat(".", n) + " }",
		"filters":      "SELECT * { " + strings.Repeat("FILTER(?a = ?b) BIND(1 AS ?c) ", n/32) + "}",
	}
	for name, text := range bombs {
		start := time.Now()
		q, err := Parse(text)
		if err == nil {
			Print(q, PrintOptions{Label: label})
			Check(q, nil)
			Measure(q)
			Explain(q, label)
			for _, to := range []Target{Standard, WDQS} {
				Rewrite(text, to, RewriteOptions{Labels: true})
			}
		}
		if d := time.Since(start); d > time.Minute { // a bound for hangs, not a measure: what is quadratic takes an hour
			t.Errorf("%s: %d bytes took %v (%.60v)", name, len(text), d, err)
		}
	}
}

// TestCommentsAnywhere puts comments between the tokens of queries: they may move, but none is lost, and printing stays a fixed point.
func TestCommentsAnywhere(t *testing.T) {
	queries := append([]string{}, seeds...)
	for _, line := range strings.Split(blazegraphTable, "\n") {
		if strings.HasPrefix(line, "+ ") {
			queries = append(queries, line[2:])
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, query := range queries {
		if q, err := Parse(query); err != nil || q.Form == Update || strings.Contains(query, `\u`) {
			continue
		}
		for _, density := range []int{1, 3, 8} {
			text, n := sprinkle(query, rng, density)
			q, err := Parse(text)
			if err != nil {
				t.Errorf("comments make a difference: %v\n%s", err, text)
				continue
			}
			checkLaws(t, "comments", q)
			printed := q.String()
			for i := range n {
				if !strings.Contains(printed, "#c"+strconv.Itoa(i)+"c") {
					t.Errorf("comment %d is lost:\n%s\n---\n%s", i, text, printed)
					break
				}
			}
		}
	}
}

// sprinkle puts comments after about one of density tokens, on lines of their own or not.
func sprinkle(query string, rng *rand.Rand, density int) (string, int) {
	var b strings.Builder
	l := lexer{text: query}
	last, n := 0, 0
	for t := l.next(); t.kind != tEOF; t = l.next() {
		b.WriteString(query[last:t.start])
		last = int(t.end)
		b.WriteString(query[t.start:t.end])
		if rng.IntN(density) > 0 || t.kind == tName && query[t.colon+1:t.end] == "" || strings.ContainsRune("+-", rune(t.kind)) ||
			t.kind == tBad || t.kind == tInteger && l.at(l.pos) == '.' { // :=, numbers with sign or dot and escapes must stay in one piece
			continue
		}
		b.WriteString([]string{" #", "\n#"}[rng.IntN(2)] + "c" + strconv.Itoa(n) + "c\n")
		n++
	}
	b.WriteString(query[last:])
	return b.String(), n
}
