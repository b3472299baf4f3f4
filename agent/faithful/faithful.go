// Package faithful compares what a model says about a result with the result itself. Figures and names must occur in
// the rows, the query or the question, or be row counts. In languages with a word list, other words must be supported,
// too.
//
// The package does not parse grammar. It detects a value that is paired with a different row's name if both are in the
// same sentence. Apart from superlatives ("the highest is X"), it does not detect a correct name in the wrong role. See
// docs/replies.md for how well it works.
package faithful

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Evidence is everything that may support a text about a result.
type Evidence struct {
	Question string // the request, with the poster's query
	Query    string // the answer's query
	Table    *kg.Table
	Labels   map[string]string // labels of the entities in the query and the table, by ID
	Language string            // the text's language: en, de, fr …
	// Shown is other text that the author has read. Its counts, its codes and the names in its tables may be used.
	Shown string
}

// Fault is part of a text that is not supported by the evidence.
type Fault struct {
	Sentence string
	Piece    string
	Kind     Kind
	Unpaired bool // the result has the figure, but not in a row of the name that it is paired with
}

// Kind is a kind of [Fault].
type Kind string

// The kinds of faults.
const (
	Figure Kind = "figure"
	Name   Kind = "name"
	Word   Kind = "word"
	Order  Kind = "order" // "highest" for something that is not the highest
)

// Checker compares texts with the evidence for one answer.
type Checker struct {
	language  string
	stock     stock // plain words in the language
	ids       map[string]bool
	known     vocabulary // words in the question, in the query and in the labels of the query's entities
	parts     vocabulary // words of the names in the rows, which only support names
	names     []rowName
	values    []value
	free      map[float64]bool // figures that do not need a name: counts, and figures in the question and the query
	window    map[float64]bool // figures in LIMIT and OFFSET; only a sentence about these may contain them
	some      map[float64]bool // numbers of rows that have a value, no value, or a label in a column
	shown     map[float64]bool // counts in Evidence.Shown and the query, for parts of sentences without a name
	shownRows []shownRow       // of the tables in Evidence.Shown
	shownDays [][2]float64     // days and years from the dates in Evidence.Shown
	longer    []string         // in Chinese and Japanese, labels and countries, which may contain other names
	halves    []half           // for each column, the rows with and without a value
	total     float64          // number of rows without the query's LIMIT and OFFSET, if known
	variables map[string]bool  // names of variables in the query and in the question
	rows      int
	width     int         // number of columns
	arabic    arabicWords // see arabicKnown
	labels    vocabulary  // words in the labels of the query's entities
	picks     bool        // the text is a note, and the query shows the highest or lowest of several values
	figured   [][]string  // the words of labels that contain figures
	columns   []column
	byOrder   bool // the query orders its rows by a single expression
	falling   bool // the first row has the highest value of that expression
}

// rowName is a name in the result, as folded words, with the rows that contain it.
type rowName struct {
	words []string
	rows  map[int]bool
	// the rows that have the name in a column other than the first; these can be counted
	counts map[int]bool
	head   bool // in the first column that has names
	whole  bool // a translation, whose last word alone is not the name
}

// value is a figure in the result.
type value struct {
	number float64
	rows   map[int]bool
	edge   bool // the smallest or largest figure in its column, if too large to be mistaken for a count
	year   int  // for the day of a date: the year that must be named with it
	key    bool // in the first column
	bc     bool // in a BC date, which the sentence must mark as BC
	digits bool // must be written in digits
	label  bool // in an item's label
}

// New returns a Checker for the evidence.
func New(e Evidence) *Checker {
	base, _, _ := strings.Cut(strings.ToLower(e.Language), "-")
	c := &Checker{language: base, ids: map[string]bool{}, known: vocabulary{}, parts: vocabulary{}, labels: vocabulary{},
		free: map[float64]bool{}, some: map[float64]bool{}, shown: map[float64]bool{}, window: map[float64]bool{},
		variables: map[string]bool{}}
	for i, s := range []string{e.Question, e.Query} {
		for _, id := range anyID.FindAllString(s, -1) {
			c.ids[id] = true
		}
		c.known.add(s)
		for _, m := range variable().FindAllStringSubmatch(s, -1) {
			c.variables[m[1]] = true
		}
		toks := tokens(window.ReplaceAllString(anyID.ReplaceAllString(s, " "), " "))
		if i == 0 {
			toks = c.numerals(toks)
		}
		for _, t := range toks {
			for _, n := range c.numbers(t) {
				c.free[n.value] = true
			}
		}
		if m := window.FindStringSubmatch(e.Query); i == 0 && m != nil && e.Table != nil {
			if limit, err := strconv.Atoi(m[2]); err == nil && limit > len(e.Table.Rows) {
				delete(c.free, float64(limit)) // ten were requested, and there are fewer
			}
		}
	}
	for id, label := range e.Labels {
		if c.ids[id] {
			c.known.add(label)
			c.labels.add(label)
		} else {
			c.parts.add(label)
			c.parts.add(c.translated(label))
		}
		c.addFigured(label)
		c.ids[id] = true
	}
	c.readShown(e.Shown)
	c.picks = e.Shown != "" && pick.MatchString(e.Query)
	c.read(e.Table, e.Labels)
	c.readWindow(e.Query)
	c.readTotals(e.Query, e.Table)
	c.readLists(e.Query)
	c.addLanguages(e.Query, e.Table)
	c.compare(e.Table, e.Query)
	c.stock = stockOf(base, c.known)
	if base == "ja" || base == "zh" {
		for _, l := range e.Labels {
			c.longer = append(c.longer, fold(l))
		}
		for english := range countries() {
			c.longer = append(c.longer, fold(c.translated(english)))
		}
	}
	return c
}

// window matches LIMIT and OFFSET clauses. The numbers in them are not row counts.
var window = regexp.MustCompile(`(?i)\b(LIMIT|OFFSET)\s+(\d+)`)

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[?$]([\pL_][\pL\pM\d_]*)`)
})

// pick matches the aggregates that show one of several values.
var pick = regexp.MustCompile(`(?i)\b(MAX|MIN)\s*\(`)

var anyID = regexp.MustCompile(`\b[QPL][1-9]\d*\b`)

// Faults returns the unsupported parts of a text, sentence by sentence, or nil if there are none.
func (c *Checker) Faults(text string) []Fault {
	var out []Fault
	for _, s := range c.Sentences(text) {
		out = append(out, c.check(s)...)
	}
	return out
}

// Keep returns the sentences that have no faults. If a sentence with faults has clauses separated by semicolons, Keep
// returns the clauses before the first one that has faults.
func (c *Checker) Keep(text string) string {
	var kept []string
	for _, s := range c.Sentences(text) {
		if s = c.kept(s); s != "" {
			kept = append(kept, s)
		}
	}
	return c.Join(kept)
}

// Join joins sentences, with spaces between them in languages that use spaces.
func (c *Checker) Join(sentences []string) string {
	if c.language == "ja" || c.language == "zh" {
		return strings.Join(sentences, "")
	}
	return strings.Join(sentences, " ")
}

// sentence returns the faults in a sentence.
func (c *Checker) sentence(s string) []Fault {
	toks := c.numerals(c.cutNames(tokens(s)))
	named := c.find(toks)
	var out []Fault
	add := func(piece string, k Kind) { out = append(out, Fault{Sentence: s, Piece: piece, Kind: k}) }
	unknown, unpaired := c.figures(toks, named)
	for _, f := range unknown {
		add(f, Figure)
	}
	for _, f := range unpaired {
		out = append(out, Fault{s, f, Figure, true})
	}
	for _, w := range c.orderIn(s, toks, named) {
		add(w, Order)
	}
	covered := map[int]bool{}
	for _, n := range named {
		for i := n.from; i < n.to; i++ {
			covered[i] = true
		}
	}
	for i, t := range toks {
		switch {
		case covered[i] || c.claimless(toks, i):
		case anyID.MatchString(t.text):
			for _, id := range anyID.FindAllString(t.text, -1) {
				if !c.ids[id] {
					add(id, Name)
				}
			}
		case i > 0 && degreeWords[toks[i-1].folded] && judged[t.folded]:
			add(t.text, Word)
		case c.supported(t):
		case unicase(t.text):
			if c.language == "ar" || !c.covers(t.folded) {
				add(t.text, Word)
			}
		case i > 0 && c.language != "de" && startsUpper(t.text) && !address[c.language][t.folded]:
			add(t.text, Name)
		case c.stock.list != nil && utf8.RuneCountInString(t.text) > 1:
			add(t.text, Word)
		}
	}
	return out
}

// claimless reports whether the token at i is a figure, which is checked separately, or claims nothing by itself.
func (c *Checker) claimless(toks []token, i int) bool {
	t := toks[i]
	return t.figure || c.era(toks, i) || bestRank(toks, i) || t.number > 0 || plain(t.folded) || keywords[t.text] ||
		i > 0 && toks[i-1].figure && compass[t.text]
}

// bestRank reports whether the token at i is the first word of "best rank" or "besten Rang", a term for statements.
func bestRank(toks []token, i int) bool {
	return i+1 < len(toks) && (strings.HasPrefix(toks[i].folded, "best") || toks[i].folded == "meilleur") &&
		(strings.HasPrefix(toks[i+1].folded, "rank") || toks[i+1].folded == "rang")
}

// supported reports whether a word is known, a plain word, or part of a name.
func (c *Checker) supported(t token) bool {
	return c.known.has(t.folded) || c.stock.has(t.folded) || c.part(t) || c.compound(t.folded) ||
		c.language == "ar" && c.arabicKnown().has(t.folded)
}

// links are the letters between the parts of a compound, by language.
var links = map[string][]string{"en": {""}, "de": {"", "s", "es", "n", "en", "er", "e"}}

// compound reports whether a word consists of two supported words: "birthplace" if "place of birth" is known.
func (c *Checker) compound(word string) bool {
	for i := range word {
		if len(word)-i < minLastPart {
			continue
		}
		last := word[i:]
		if !c.known[last] && !c.stock.has(last) {
			continue
		}
		for _, link := range links[c.language] {
			first, ok := strings.CutSuffix(word[:i], link)
			if ok && len(first) >= minPart && (c.known[first] || c.stock.has(first)) {
				return true
			}
		}
	}
	return false
}

// Minimum lengths in bytes of the parts of a compound, and of its last part.
const (
	minPart     = 3
	minLastPart = 4
)

// plain reports whether a word is the name of a Wikimedia project or a query language. In any language, these names
// make no claim about the world.
func plain(word string) bool {
	return slices.ContainsFunc(projects, func(p string) bool { return strings.HasPrefix(word, p) })
}

var projects = []string{"wikidat", "wikidan", "wikipedi", "wikipédi", "wikimedi", "wikimédi", "wikibase", "wikisource", "sparql",
	"викидан", "википеди", "викимеди"}

// compass contains the abbreviations that follow degrees of latitude or longitude, and the endings of ordinal numbers.
var compass = wordMap(`N S E W O NB ZB OL WL NL SL ª º`)

// keywords are query keywords, which are written in capitals in all languages.
var keywords = wordMap(`RDF XSD ISO IRI URI URL UTF ID IDs QID QIDs WDQS ASC ASK AVG BIND BY CONCAT COUNT DESC DISTINCT EXISTS FILTER GROUP
	GROUP_CONCAT HAVING LANG LIMIT MAX
	MIN MINUS NOT OFFSET OPTIONAL ORDER SAMPLE SELECT SERVICE SUM UNION VALUES WHERE`)

// part reports whether a word, give or take a final letter, is part of a name in the rows: Asia in Central Asian.
func (c *Checker) part(t token) bool {
	if !startsUpper(t.text) && !unicase(t.text) {
		return false
	}
	if c.parts[t.folded] {
		return true
	}
	for w := range c.parts {
		if n, ok := spelled(t.folded, w); ok && n >= minSounds {
			return true
		}
		if endings[c.language] != "" && c.same(t.folded, w) {
			return true
		}
		if long, ok := strings.CutPrefix(w, t.folded); ok && len(t.folded) >= 4 && len(long) == 1 {
			return true
		}
		if long, ok := strings.CutPrefix(t.folded, w); ok && len(w) >= 4 && len(long) == 1 {
			return true
		}
	}
	return false
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// read collects the names and figures in a result.
func (c *Checker) read(t *kg.Table, labels map[string]string) {
	if t == nil || t.Ask {
		return
	}
	c.rows, c.width = len(t.Rows), len(t.Vars)
	// A single row without an entity is an answer, not something to count.
	single := c.rows == 1 && !slices.ContainsFunc(t.Rows[0], rdf.Term.IsIRI)
	if !single {
		c.free[float64(c.rows)] = true
	}
	for _, v := range t.Vars {
		c.known.add(splitWords(v))
	}
	names := map[string]*rowName{}
	head := -1 // the first column that has names
	for col := range t.Vars {
		distinct := map[string]bool{}
		var column []*value
		type key struct {
			number float64
			year   int
			bc     bool
		}
		byNumber := map[key]*value{}
		for i, row := range t.Rows {
			if col >= len(row) || !row[col].Bound() {
				continue
			}
			term := row[col]
			if term.IsIRI() {
				distinct[term.Value] = true
				c.scheme(term.Value)
			}
			for _, v := range append(figuresOf(term), figuresInLabel(term, labels)...) {
				v.key = col == 0
				k := key{v.number, v.year, v.bc}
				if byNumber[k] == nil {
					byNumber[k] = &v
					column = append(column, &v)
				}
				byNumber[k].rows[i] = true
			}
			text := nameOf(term, labels)
			if text == "" {
				continue
			}
			if bare := term.IsIRI() && text == rdf.EntityID(term.Value); head < 0 && !bare { // no sentence is about IDs
				head = col
			}
			of := labelled(t.Vars, col)
			c.readNames(names, text, term, i, of > 0, col == head || of == 0 && head == 0)
		}
		if len(distinct) > 0 {
			c.free[float64(len(distinct))] = true
		}
		c.edges(column)
	}
	for i, row := range t.Rows {
		c.values = append(c.values, between(row, i)...)
	}
	c.readSome(t, labels)
	for _, n := range names {
		if len(n.words) > 0 {
			c.names = append(c.names, *n)
		}
	}
}

// labelled returns the index of the column whose labels a column ?xLabel contains. For any other column, it returns
// that column's own index.
func labelled(vars []string, col int) int {
	if of, ok := strings.CutSuffix(vars[col], "Label"); ok && slices.Contains(vars, of) {
		return slices.Index(vars, of)
	}
	return col
}

// scheme adds the scheme of a URL, such as https, to the known words.
func (c *Checker) scheme(iri string) {
	if scheme, _, ok := strings.Cut(iri, "://"); ok && rdf.EntityID(iri) == "" {
		c.known.add(scheme)
	}
}

// minShort is the minimum number of letters in the part of a name before a comma that may stand for the name.
const minShort = 4

// written returns the ways in which a name may be written: Diana for Diana, Princess of Wales. For a URL, these include
// the form with www., and for a list such as "guitar, piano, voice", its elements.
func written(name string, t rdf.Term) []string {
	if parts := strings.Split(name, ", "); len(parts) > 1 && !strings.Contains(parts[0], "://") {
		if !t.IsLiteral() || strings.ContainsAny(name, "0123456789") {
			parts = parts[:1]
		}
		short := func(part string) bool { return utf8.RuneCountInString(part) < minShort }
		return append([]string{name}, slices.DeleteFunc(parts, short)...)
	}
	if long := "www." + name; t.IsIRI() && strings.Contains(t.Value, "://"+long) {
		return []string{name, long}
	}
	return []string{name}
}

// edges stores a column's figures and marks the smallest and the largest.
func (c *Checker) edges(column []*value) {
	if len(column) == 0 {
		return
	}
	least, most := column[0].number, column[0].number
	for _, v := range column {
		if v.year == 0 {
			least, most = min(least, v.number), max(most, v.number)
		}
	}
	for _, v := range column {
		v.edge = v.year == 0 && !v.digits && (v.number == least || v.number == most) &&
			(v.number >= 1000 || v.number != float64(int64(v.number)) || c.rows == 1)
		c.values = append(c.values, *v)
	}
}

// nameOf returns a term as a name: the label of an entity, or its ID if it has none, the usual short form of any other
// IRI, or the value of a literal that is not a figure.
func nameOf(t rdf.Term, labels map[string]string) string {
	if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" {
		return cmp.Or(labels[id], id)
	}
	if _, address, ok := strings.Cut(t.Value, "://"); t.IsIRI() && ok {
		return strings.TrimSuffix(strings.TrimPrefix(address, "www."), "/")
	}
	if t.IsLiteral() && (t.Datatype == "" || t.Datatype == rdf.XSDString || t.Lang != "") {
		return t.Value
	}
	return ""
}
