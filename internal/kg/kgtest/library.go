package kgtest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Namespaces of [Library].
const (
	LibraryVocabulary = "http://library.example/v#"
	LibraryThings     = "http://library.example/thing/"
)

// LibraryPrefixes declares the prefixes of [LibraryQuestions], for graphs that do not define them.
const LibraryPrefixes = "PREFIX v: <" + LibraryVocabulary + "> PREFIX thing: <" + LibraryThings + "> "

// Library is a graph that differs greatly from Wikidata: it consists of books, authors, publishers and towns, with its
// own vocabulary. Half of the entities have a name in English, German, or both, which is the value of v:called rather
// than rdfs:label. Loans are blank nodes.
type Library struct {
	Books   []Book
	Authors []Author
	Houses  []House
	Towns   []Named
}

// Named contains the number and the names of an entity. A name may be "".
type Named struct {
	N           int
	Name, NameD string // English, German
}

// Book is a book with the numbers of its authors and publisher, and the length of each loan in days.
type Book struct {
	Named
	Authors     []int
	House       int
	Year, Pages int
	Loans       []int
}

// Author is a person born in a town.
type Author struct {
	Named
	Town, Year int
}

// House is a publisher and its town.
type House struct {
	Named
	Town int
}

var (
	adjectives = [][2]string{{"Silent", "Stille"}, {"Green", "Grüne"}, {"Last", "Letzte"}, {"Hidden", "Verborgene"},
		{"Red", "Rote"}, {"Long", "Lange"}, {"Broken", "Zerbrochene"},
		{"Early", "Frühe"}, {"Northern", "Nördliche"}, {"Small", "Kleine"}}
	nouns = [][2]string{{"River", "Fluss"}, {"Garden", "Garten"}, {"Letter", "Brief"}, {"Winter", "Winter"},
		{"House", "Haus"}, {"Road", "Straße"}, {"Mirror", "Spiegel"},
		{"Harbor", "Hafen"}, {"Song", "Lied"}, {"Stone", "Stein"}, {"Island", "Insel"}, {"Clock", "Uhr"}}
	firstNames = []string{"Ada", "Bruno", "Clara", "David", "Élise", "Franz", "Greta", "Hugo", "Ines", "Jonas", "Käthe",
		"Leo"}
	lastNames = []string{"Ahrens", "Bell", "Castro", "Dorn", "Eckhart", "Fischer", "Grün", "Hale", "Ito", "Jansen",
		"Klein", "Lund", "Moreau", "Novak"}
	townNames = []string{"Altstadt", "Brookfield", "Callow", "Dreieich", "Eastport", "Fallersleben", "Grünau",
		"Hollow Bay", "Inselheim", "Juniper"}
)

// NewLibrary generates a library from a seed. It has about eleven triples per book.
func NewLibrary(seed uint64, books int) *Library {
	r := rand.New(rand.NewPCG(seed, 12))
	l := &Library{}
	name := func(n int, en, de string) Named {
		x := Named{N: n}
		switch r.IntN(8) {
		case 0:
			x.Name = en
		case 1:
			x.NameD = de
		case 2, 3:
			x.Name, x.NameD = en, de
		}
		return x
	}
	for i := range max(books/400, 3) {
		t := townNames[i%len(townNames)]
		if i >= len(townNames) {
			t = fmt.Sprint(t, " ", i/len(townNames)+1)
		}
		l.Towns = append(l.Towns, name(i, t, t))
	}
	for i := range max(books/100, 3) {
		n := lastNames[r.IntN(len(lastNames))]
		l.Houses = append(l.Houses, House{name(i, fmt.Sprint(n, " & Sons ", i), fmt.Sprint("Verlag ", n, " ", i)),
			r.IntN(len(l.Towns))})
	}
	for i := range max(books/4, 3) {
		n := fmt.Sprint(firstNames[r.IntN(len(firstNames))], " ", lastNames[r.IntN(len(lastNames))], " ", i)
		l.Authors = append(l.Authors, Author{name(i, n, n), r.IntN(len(l.Towns)), 1850 + r.IntN(150)})
	}
	for i := range books {
		a, n := adjectives[r.IntN(len(adjectives))], nouns[r.IntN(len(nouns))]
		b := Book{Named: name(i, fmt.Sprint("The ", a[0], " ", n[0], " ", i), fmt.Sprint(a[1], " ", n[1], " ", i)),
			House: r.IntN(len(l.Houses)),
			Year:  1900 + r.IntN(120), Pages: 40 + r.IntN(900)}
		b.Authors = append(b.Authors, r.IntN(len(l.Authors)))
		if second := r.IntN(len(l.Authors)); r.IntN(3) == 0 && second != b.Authors[0] {
			b.Authors = append(b.Authors, second)
		}
		for range r.IntN(4) / 2 * (1 + r.IntN(2)) {
			b.Loans = append(b.Loans, 1+r.IntN(60))
		}
		l.Books = append(l.Books, b)
	}
	return l
}

// Write writes the library as N-Triples.
func (l *Library) Write(w io.Writer) error {
	var b strings.Builder
	v := func(local string) string { return "<" + LibraryVocabulary + local + ">" }
	thing := func(kind string, n int) string { return fmt.Sprintf("<%s%s%d>", LibraryThings, kind, n) }
	triple := func(s, p, o string) { fmt.Fprintf(&b, "%s %s %s .\n", s, p, o) }
	number := func(n int) string { return fmt.Sprintf(`"%d"^^<http://www.w3.org/2001/XMLSchema#integer>`, n) }
	typ := "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
	head := func(s, class string, n Named, about string) {
		triple(s, typ, v(class))
		if n.Name != "" {
			triple(s, v("called"), fmt.Sprintf("%q@en", n.Name))
		}
		if n.NameD != "" {
			triple(s, v("called"), fmt.Sprintf("%q@de", n.NameD))
		}
		if n.Name != "" && n.N%3 == 0 {
			triple(s, v("about"), fmt.Sprintf("%q@en", about))
		}
	}
	for _, c := range [][2]string{{"Book", "book"}, {"Author", "writer"}, {"House", "publishing house"},
		{"Town", "town"}} {
		triple(v(c[0]), v("called"), fmt.Sprintf("%q@en", c[1]))
	}
	triple(v("Book"), "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", v("Work"))
	for _, p := range [][2]string{{"writtenBy", "written by"}, {"publisher", "publisher"},
		{"year", "year of publication"}} {
		triple(v(p[0]), v("called"), fmt.Sprintf("%q@en", p[1]))
	}
	for _, t := range l.Towns {
		head(thing("town", t.N), "Town", t, "A town with a library and a long history of printing.")
	}
	for _, h := range l.Houses {
		head(thing("house", h.N), "House", h.Named, "A house that has published books of all kinds for many years.")
		triple(thing("house", h.N), v("seat"), thing("town", h.Town))
	}
	for _, a := range l.Authors {
		head(thing("author", a.N), "Author", a.Named, "A writer of novels, stories and now and then a poem about the sea.")
		triple(thing("author", a.N), v("bornIn"), thing("town", a.Town))
		triple(thing("author", a.N), v("born"), fmt.Sprintf(`"%d-%02d-%02d"^^<http://www.w3.org/2001/XMLSchema#date>`, a.Year,
			1+a.N%12, 1+a.N%28))
	}
	loan := 0
	for _, k := range l.Books {
		s := thing("book", k.N)
		head(s, "Book", k.Named, "A book about people who look for something and find something else.")
		for _, a := range k.Authors {
			triple(s, v("writtenBy"), thing("author", a))
		}
		triple(s, v("publisher"), thing("house", k.House))
		triple(s, v("year"), number(k.Year))
		triple(s, v("pages"), number(k.Pages))
		for _, days := range k.Loans {
			node := fmt.Sprintf("_:loan%d", loan)
			loan++
			triple(s, v("loan"), node)
			triple(node, v("days"), number(days))
			triple(node, v("reader"), fmt.Sprintf("%q", fmt.Sprint("reader ", loan%97)))
		}
		if b.Len() > 1<<16 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Question is a query on [Library] in Wikidata's dialect, which models tend to write. It does not declare the prefixes
// v and thing. Every engine must return the same rows.
type Question struct{ Name, Query string }

// LibraryQuestions returns forty queries on [Library].
func LibraryQuestions() []Question {
	var out []Question
	for i := range 2 {
		n := 3 + 4*i
		for _, q := range []Question{
			{"books of an author", "SELECT ?b WHERE { ?b v:writtenBy thing:author%d }"},
			{"names of an author's books", "SELECT ?b ?name WHERE { ?b v:writtenBy thing:author%d . OPTIONAL { ?b v:called ?name FILTER(LANG(?name) = \"en\") } }"},
			{"number of books of a house", "SELECT (COUNT(?b) AS ?n) WHERE { ?b v:publisher thing:house%d }"},
			{"books of a year", "SELECT ?b WHERE { ?b v:year %d+1910 }"},
			{"houses of a town", "SELECT ?h WHERE { ?h v:seat thing:town%[1]d } ORDER BY ?h"},
			{"towns of an author's houses", "SELECT DISTINCT ?t WHERE { ?b v:writtenBy thing:author%d ; v:publisher/v:seat ?t }"},
			{"authors born where a house has its seat",
				"SELECT ?a WHERE { thing:house%d v:seat ?t . ?a v:bornIn ?t } ORDER BY ?a"},
			{"years of a house", "SELECT ?y (COUNT(*) AS ?n) WHERE { ?b v:publisher thing:house%d ; v:year ?y } GROUP BY ?y ORDER BY ?y"},
			{"the longest books of a house", "SELECT ?b ?p WHERE { ?b v:publisher thing:house%d ; v:pages ?p } ORDER BY DESC(?p) ?b LIMIT 5"},
			{"loans of a house's books", "SELECT ?b ?d WHERE { ?b v:publisher thing:house%d ; v:loan [ v:days ?d ] . FILTER(?d > 50) }"},
			{"books without a name", "SELECT (COUNT(?b) AS ?n) WHERE { ?b a v:Book ; v:publisher thing:house%d . FILTER NOT EXISTS { ?b v:called ?x } }"},
			{"German names only", "SELECT ?b ?name WHERE { ?b v:publisher thing:house%d ; v:called ?name . FILTER(LANG(?name) = \"de\") MINUS { ?b v:called ?en . FILTER(LANG(?en) = \"en\") } }"},
			{"authors of two books of a house", "SELECT ?a WHERE { ?b v:publisher thing:house%d ; v:writtenBy ?a } GROUP BY ?a HAVING(COUNT(?b) > 1)"},
			{"a word in names", "SELECT ?b WHERE { ?b v:publisher thing:house%d ; v:called ?n . FILTER(CONTAINS(STR(?n), \"River\")) }"},
			{"is there a book", "ASK { ?b v:writtenBy thing:author%d ; v:year ?y . FILTER(?y > 1990) }"},
			{"days in all", "SELECT (SUM(?d) AS ?sum) WHERE { ?b v:publisher thing:house%d ; v:loan/v:days ?d }"},
			{"named subquery", "SELECT ?b ?p WITH { SELECT ?b WHERE { ?b v:publisher thing:house%d } } AS %%books WHERE { INCLUDE %%books . ?b v:pages ?p . FILTER(?p > 700) }"},
			{"hint", "SELECT ?a WHERE { hint:Query hint:optimizer \"None\" . ?b v:publisher thing:house%d . ?b v:writtenBy ?a . ?a v:bornIn thing:town1 }"},
			{"union", "SELECT DISTINCT ?x WHERE { { ?x v:bornIn thing:town%[1]d } UNION { ?x v:seat thing:town%[1]d } }"},
			{"a class and what it is a kind of", "SELECT (COUNT(*) AS ?n) WHERE { ?b v:publisher thing:house%d ; a ?c . ?c rdfs:subClassOf v:Work }"},
		} {
			out = append(out, Question{fmt.Sprint(q.Name, " ", n), strings.ReplaceAll(fmt.Sprintf(q.Query, n),
				fmt.Sprint(n, "+1910"), fmt.Sprint(n+1910))})
		}
	}
	return out
}
