// This file has over 500 lines: it builds a profile question by question, and each question builds on the previous
// answers.

package registry

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Query runs a query. Failures are *kg.Error values or the error of ctx.
type Query func(ctx context.Context, query string) (*kg.Table, error)

// Profile describes a graph, based on the results of bounded queries to its endpoint. Counts are -1 if the endpoint did
// not answer in time.
type Profile struct {
	Description kg.Description
	Triples     int64
	Classes     []Count // the largest
	Predicates  []Count // the most used
	Notes       []string
}

// Count is a class and its number of members, or a predicate and its number of triples. The number is -1 if they were
// not counted.
type Count struct {
	IRI string
	N   int64
}

// Limits on the questions asked of an endpoint.
const (
	mostClasses    = 50
	mostPredicates = 500
	mostTexts      = 40  // predicates whose values are examined
	sampled        = 300 // values examined per predicate
	sampledThings  = 300 // entities checked for labels
	askTime        = 20 * time.Second
)

// asker queries one endpoint.
type asker struct {
	query Query
	p     *Profile
	said  map[string]bool
}

// ask runs a query within the time limit and returns its rows as maps. If the endpoint fails, ok is false and a note is
// added.
func (a *asker) ask(ctx context.Context, what, query string) (rows []map[string]rdf.Term, ok bool) {
	tctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	t, err := a.query(tctx, query)
	if err != nil {
		a.note("%s: no answer from the endpoint (%v)", what, err)
		return nil, false
	}
	if t.Total > 0 {
		a.p.Description.Dialect = "qlever" // only QLever reports the number of rows
	}
	for _, row := range t.Rows {
		m := map[string]rdf.Term{}
		for i, v := range t.Vars {
			m[v] = row[i]
		}
		rows = append(rows, m)
	}
	return rows, true
}

func (a *asker) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !a.said[s] {
		a.said[s] = true
		a.p.Notes = append(a.p.Notes, s)
	}
}

// Probe asks an endpoint whether its graph contains anything. The time limit is the same as for other questions. Probe
// returns the error of the endpoint or of ctx.
func Probe(ctx context.Context, query Query) (some bool, err error) {
	tctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	t, err := query(tctx, "SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 1")
	switch {
	case err == nil:
		return len(t.Rows) > 0, nil
	case tctx.Err() != nil && ctx.Err() == nil:
		return false, kg.Errorf(kg.Down, "no answer within %s", askTime)
	}
	return false, err
}

// Ask asks an endpoint for everything that its entry must contain: vocabulary, languages, prefixes and statement model.
// It skips questions that the endpoint cannot answer in time and adds a note about each. It returns an error only if
// the first question fails or ctx is done.
func Ask(ctx context.Context, query Query) (*Profile, error) {
	p := &Profile{Triples: -1, Description: kg.Description{Dialect: "standard", Statements: kg.Plain}}
	a := &asker{query: query, p: p, said: map[string]bool{}}
	some, err := Probe(ctx, query)
	if err != nil {
		return nil, err
	}
	if !some {
		a.note("the graph is empty as far as the endpoint shows")
	}
	if rows, ok := a.ask(ctx, "the number of triples", "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"); ok &&
		len(rows) == 1 {
		p.Triples = integer(rows[0]["n"])
	}
	a.predicates(ctx)
	a.wikibase()
	a.classes(ctx)
	texts := a.texts(ctx)
	a.vocabulary(texts)
	a.languages(ctx)
	a.compound(ctx)
	a.prefixes(ctx)
	a.names()
	return p, ctx.Err()
}

func integer(t rdf.Term) int64 {
	var n int64
	if _, err := fmt.Sscan(t.Value, &n); err != nil {
		return -1
	}
	return n
}

// counts converts rows with ?x and ?n to counts, sorted by decreasing number.
func counts(rows []map[string]rdf.Term) []Count {
	var out []Count
	for _, r := range rows {
		if r["x"].IsIRI() {
			c := Count{r["x"].Value, -1}
			if n, ok := r["n"]; ok && n.Bound() {
				c.N = integer(n)
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.IRI,
			b.IRI))
	})
	return out
}

// predicates counts how often each predicate is used or, if that takes too long, how often it is used in part of the
// graph.
func (a *asker) predicates(ctx context.Context) {
	for _, q := range []string{
		"SELECT ?x (COUNT(*) AS ?n) WHERE { ?s ?x ?o } GROUP BY ?x ORDER BY DESC(?n)",
		"SELECT ?x (COUNT(*) AS ?n) WHERE { { SELECT ?x WHERE { ?s ?x ?o } LIMIT 100000 } } GROUP BY ?x ORDER BY DESC(?n)",
	} {
		if rows, ok := a.ask(ctx, "the predicates", fmt.Sprintf("%s LIMIT %d", q, mostPredicates)); ok {
			a.p.Predicates = counts(rows)
			return
		}
	}
}

func (a *asker) uses(iri string) bool {
	return slices.ContainsFunc(a.p.Predicates, func(c Count) bool { return c.IRI == iri })
}

// wikibase sets the statement model to kg.Wikibase if the graph uses Wikidata's own predicates.
func (a *asker) wikibase() {
	if slices.ContainsFunc(a.p.Predicates, func(c Count) bool { return strings.HasPrefix(c.IRI, rdf.Direct+"P") }) {
		a.p.Description.Statements = kg.Wikibase
	}
}

// classes finds the properties that link items to classes, and the largest classes.
func (a *asker) classes(ctx context.Context) {
	d := &a.p.Description
	for _, t := range []struct{ iri, name, sub string }{{rdf.Direct + "P31", "wdt:P31", rdf.Direct + "P279"},
		{rdf.RDFType, "rdf:type", rdf.Prefixes["rdfs"] + "subClassOf"}, {"http://rdf.freebase.com/ns/type.object.type",
			"<http://rdf.freebase.com/ns/type.object.type>", ""}} {
		if !a.uses(t.iri) {
			continue
		}
		if len(d.Types) == 0 && t.sub != "" && a.uses(t.sub) {
			d.Subclass = "<" + t.sub + ">"
		}
		d.Types = append(d.Types, t.name)
		if d.IsWikibase() {
			break // on a Wikibase, rdf:type does not link items to classes
		}
	}
	if len(d.Types) == 0 {
		a.note("no property leads to classes: neither rdf:type nor wdt:P31 is used")
		return
	}
	typ := rdf.RDFType
	if d.IsWikibase() {
		typ = rdf.Direct + "P31"
	}
	for _, q := range []string{
		"SELECT ?x (COUNT(?s) AS ?n) WHERE { ?s <" + typ + "> ?x } GROUP BY ?x ORDER BY DESC(?n)",
		"SELECT ?x (COUNT(?s) AS ?n) WHERE { { SELECT ?s ?x WHERE { ?s <" + typ +
			"> ?x } LIMIT 100000 } } GROUP BY ?x ORDER BY DESC(?n)",
	} {
		if rows, ok := a.ask(ctx, "the classes", fmt.Sprintf("%s LIMIT %d", q, mostClasses)); ok {
			a.p.Classes = counts(rows)
			return
		}
	}
}

// text describes the text values of a predicate.
type text struct {
	iri       string
	uses      int64
	tagged    float64 // share of the values that have a language tag
	length    float64 // mean length in characters
	different float64 // share of distinct values
	each      float64 // number of values in one language per entity
	local     string  // local name in lower case
}

// texts examines the values of predicates that may contain names and descriptions.
func (a *asker) texts(ctx context.Context) []text {
	var out []text
	order := slices.Clone(a.p.Predicates)
	slices.SortStableFunc(order, func(x, y Count) int { // shared vocabularies come first
		return cmp.Compare(wellKnown(x.IRI), wellKnown(y.IRI))
	})
	looked := 0
	for _, c := range order {
		if looked == mostTexts {
			break
		}
		if strings.HasPrefix(c.IRI, rdf.Prop) || strings.ContainsAny(c.IRI, "<>\"{}|\\^` ") {
			continue // Wikidata's statements contain no names
		}
		looked++
		rows, ok := a.ask(ctx, "values of <"+c.IRI+">", fmt.Sprintf("SELECT ?s ?o WHERE { ?s <%s> ?o } LIMIT %d", c.IRI,
			sampled))
		if !ok {
			continue
		}
		if t, ok := measureText(c, rows); ok {
			out = append(out, t)
		}
	}
	return out
}

// measureText measures the values of a predicate; if they are not text, ok is false.
func measureText(c Count, rows []map[string]rdf.Term) (t text, ok bool) {
	t = text{iri: c.IRI, uses: c.N, local: strings.ToLower(localName(c.IRI))}
	values, things := map[string]bool{}, map[string]bool{}
	tagged, length := 0, 0
	for _, r := range rows {
		o := r["o"]
		if !o.IsLiteral() || o.Datatype != "" && o.Datatype != rdf.XSDString {
			return t, false
		}
		if o.Lang != "" {
			tagged++
		}
		length += utf8.RuneCountInString(o.Value)
		values[o.Value] = true
		things[r["s"].String()+"@"+o.Lang] = true
	}
	if len(rows) == 0 {
		return t, false
	}
	n := float64(len(rows))
	t.tagged, t.length, t.different, t.each = float64(tagged)/n, float64(length)/n, float64(len(values))/n,
		n/float64(len(things))
	return t, true
}

func localName(iri string) string { return iri[strings.LastIndexAny(iri, "/#:.")+1:] }

// Properties for labels, aliases and descriptions in shared vocabularies, and local names of such properties in other
// vocabularies, best first.
var (
	labelIRIs = []string{rdf.RDFSLabel, rdf.Prefixes["skos"] + "prefLabel", "http://rdf.freebase.com/ns/type.object.name",
		rdf.Prefixes["schema"] + "name",
		"https://schema.org/name", "http://xmlns.com/foaf/0.1/name", rdf.Prefixes["dct"] + "title",
		"http://purl.org/dc/elements/1.1/title"}
	aliasIRIs = []string{rdf.SKOSAltLabel, rdf.Prefixes["schema"] + "alternateName", "https://schema.org/alternateName",
		"http://rdf.freebase.com/ns/common.topic.alias", "http://xmlns.com/foaf/0.1/nick"}
	descriptionIRIs = []string{rdf.SchemaDesc, rdf.Prefixes["rdfs"] + "comment", "https://schema.org/description",
		rdf.Prefixes["dct"] + "description",
		"http://purl.org/dc/elements/1.1/description", rdf.Prefixes["skos"] + "definition",
		"http://dbpedia.org/ontology/abstract",
		"http://rdf.freebase.com/ns/common.topic.description"}
	labelWords       = []string{"label", "name", "title", "preflabel", "fullname", "displayname"}
	aliasWords       = []string{"altlabel", "alias", "alternatename", "synonym", "nickname", "altname"}
	descriptionWords = []string{"description", "comment", "abstract", "definition", "summary", "note"}
)

// wellKnown returns 0 for a predicate from a shared vocabulary that may contain text, 1 for one whose name suggests
// that it does, and 2 for all others.
func wellKnown(iri string) int {
	switch local := strings.ToLower(localName(iri)); {
	case slices.Contains(labelIRIs, iri), slices.Contains(aliasIRIs, iri), slices.Contains(descriptionIRIs, iri):
		return 0
	case slices.Contains(labelWords, local), slices.Contains(aliasWords, local), slices.Contains(descriptionWords, local):
		return 1
	}
	return 2
}

// Limits on names: longer strings are descriptions, and strings that are often repeated are other values.
const (
	longestName  = 80.0
	leastNames   = 0.3 // share of distinct values
	mostOfAThing = 1.5 // names per entity in one language
)

// vocabulary chooses the properties for labels, aliases and descriptions.
func (a *asker) vocabulary(texts []text) {
	d := &a.p.Description
	d.Labels = choose(texts, labelIRIs, labelWords, func(t text) bool {
		return t.length <= longestName && t.different >= leastNames && t.each <= mostOfAThing
	}, true)
	if d.IsWikibase() && len(d.Labels) > 0 && d.Labels[0] == rdf.RDFSLabel {
		d.Labels = d.Labels[:1] // the others name articles
	}
	taken := slices.Clone(d.Labels)
	rest := slices.DeleteFunc(slices.Clone(texts), func(t text) bool { return slices.Contains(taken, t.iri) })
	d.Aliases = choose(rest, aliasIRIs, aliasWords, func(t text) bool { return t.length <= longestName }, false)
	rest = slices.DeleteFunc(rest, func(t text) bool { return slices.Contains(d.Aliases, t.iri) })
	d.Descriptions = choose(rest, descriptionIRIs, descriptionWords, func(t text) bool { return true }, false)
	if len(d.Descriptions) == 0 { // use long strings with a language tag instead
		for _, t := range rest {
			if t.tagged > 0.5 && t.length > longestName/2 {
				d.Descriptions = append(d.Descriptions, t.iri)
				break
			}
		}
	}
	if len(d.Labels) == 0 {
		a.note("no property of labels was found: things can be found by their IRIs only")
	}
}

// choose returns up to three predicates that fit: those in iris, in that order; if there are none, those whose local
// names are in words; and if there are still none and tagged is set, those whose values have language tags, most used
// first.
func choose(texts []text, iris, words []string, fits func(text) bool, tagged bool) []string {
	pick := func(ok func(text) bool) []string {
		var out []text
		for _, t := range texts {
			if fits(t) && ok(t) {
				out = append(out, t)
			}
		}
		slices.SortStableFunc(out, func(a, b text) int {
			return cmp.Or(cmp.Compare(place(iris, a.iri), place(iris, b.iri)), cmp.Compare(place(words, a.local),
				place(words, b.local)), cmp.Compare(b.uses, a.uses))
		})
		var names []string
		for _, t := range out {
			names = append(names, t.iri)
		}
		return names[:min(len(names), 3)]
	}
	if out := pick(func(t text) bool { return slices.Contains(iris, t.iri) }); len(out) > 0 {
		return out
	}
	if out := pick(func(t text) bool { return slices.Contains(words, t.local) }); len(out) > 0 {
		return out
	}
	if tagged {
		return pick(func(t text) bool { return t.tagged > 0.5 && t.length <= longestName/2 })
	}
	return nil
}

func place(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// languages counts the labels in each language.
func (a *asker) languages(ctx context.Context) {
	n := map[string]int64{}
	for _, l := range a.p.Description.Labels {
		for _, q := range []string{
			"SELECT ?g (COUNT(*) AS ?n) WHERE { ?s <" + l + "> ?l BIND(LANG(?l) AS ?g) } GROUP BY ?g",
			"SELECT ?g (COUNT(*) AS ?n) WHERE { { SELECT ?l WHERE { ?s <" + l +
				"> ?l } LIMIT 50000 } BIND(LANG(?l) AS ?g) } GROUP BY ?g",
		} {
			rows, ok := a.ask(ctx, "the languages", q+" LIMIT 500")
			if !ok {
				continue
			}
			for _, r := range rows {
				if g := strings.ToLower(r["g"].Value); languageCode.MatchString(g) {
					n[g] += integer(r["n"])
				}
			}
			break
		}
	}
	var all []string
	for g := range n {
		all = append(all, g)
	}
	slices.SortFunc(all, func(x, y string) int { return cmp.Or(cmp.Compare(n[y], n[x]), strings.Compare(x, y)) })
	a.p.Description.Languages = all[:min(len(all), 10)]
}

// compound finds out whether values are unnamed nodes that have values of their own.
func (a *asker) compound(ctx context.Context) {
	if a.p.Description.IsWikibase() {
		return
	}
	rows, ok := a.ask(ctx, "values that are nodes without a name",
		"SELECT ?o (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?o WHERE { ?s ?p ?o . FILTER(isBlank(?o)) } LIMIT 50 } ?o ?q ?v } GROUP BY ?o")
	if !ok {
		return
	}
	for _, r := range rows {
		if integer(r["n"]) > 1 {
			a.p.Description.Statements = kg.Compound
			return
		}
	}
}

// namespace returns an IRI up to and including its last # or /.
func namespace(iri string) string {
	i := strings.LastIndexAny(iri, "#/")
	if i < 0 || i == len(iri)-1 || strings.HasSuffix(iri[:i+1], "://") {
		return ""
	}
	return iri[:i+1]
}

// prefixes assigns names to the namespaces of predicates, classes and entities.
func (a *asker) prefixes(ctx context.Context) {
	uses := map[string]int64{}
	for _, cs := range [][]Count{a.p.Predicates, a.p.Classes} {
		for _, c := range cs {
			uses[namespace(c.IRI)] += max(c.N, 1)
		}
	}
	d := &a.p.Description
	if !d.IsWikibase() { // on a Wikibase, queries name entities by number and do not need a prefix for articles
		rows, _ := a.ask(ctx, "namespaces of things", "SELECT DISTINCT ?x WHERE { ?x ?p ?o . FILTER(isIRI(?x)) } LIMIT 2000")
		for _, r := range rows {
			uses[namespace(r["x"].Value)] += 10
		}
	}
	var all []string
	for ns := range uses {
		if ns != "" && !strings.ContainsAny(ns, " <>\"{}|\\^`") {
			all = append(all, ns)
		}
	}
	slices.SortFunc(all, func(x, y string) int { return cmp.Or(cmp.Compare(uses[y], uses[x]), strings.Compare(x, y)) })
	d.Prefixes = map[string]string{}
	for _, ns := range all {
		if len(d.Prefixes) == 20 {
			a.note("the graph has more than 20 namespaces; the rest have no prefix")
			break
		}
		if isCommon(ns, d.IsWikibase()) || slices.ContainsFunc(engines, func(s string) bool {
			return strings.Contains(ns,
				s)
		}) {
			continue
		}
		name := cmp.Or(prefixOf(ns), madePrefix(ns))
		for i := 2; d.Prefixes[name] != "" || rdf.Prefixes[name] != ""; i++ {
			name = fmt.Sprintf("%s%d", strings.TrimRight(name, "0123456789"), i)
		}
		d.Prefixes[name] = ns
	}
}

// engines lists substrings of the namespaces that SPARQL engines use internally.
var engines = []string{"openlinksw.com/", "//localuriqaserver/", "/sparql-service-description#", "bigdata.com/",
	"qlever.cs.uni-freiburg.de/builtin"}

// isCommon reports whether a namespace has a prefix that all graphs share.
func isCommon(ns string, wikibase bool) bool {
	for p, known := range rdf.Prefixes {
		if known == ns && (wikibase || slices.Contains(common, p)) {
			return true
		}
	}
	return false
}

// madePrefix derives a prefix from a namespace: the last part that contains letters and is not a generic word.
func madePrefix(ns string) string {
	u, err := url.Parse(ns)
	if err != nil {
		return "ns"
	}
	parts := strings.FieldsFunc(u.Path+"/"+strings.TrimSuffix(u.Fragment, "/"), func(r rune) bool {
		return r == '/' ||
			r == '#'
	})
	host := strings.Split(strings.TrimPrefix(u.Hostname(), "www."), ".")
	for i := len(parts) - 1; i >= 0; i-- {
		if p := strings.ToLower(parts[i]); prefixName.MatchString(p) && len(p) <= 12 && !slices.Contains([]string{"ontology",
			"schema", "rdf", "ns", "terms", "core"}, p) {
			return p
		}
	}
	if h := strings.ToLower(host[0]); prefixName.MatchString(h) && len(h) <= 12 {
		return h
	}
	return "ns"
}

// names rewrites the chosen properties as prefixed names.
func (a *asker) names() {
	d := &a.p.Description
	full := WithPrefixes(*d)
	for _, list := range [][]string{d.Labels, d.Aliases, d.Descriptions} {
		for i, iri := range list {
			list[i] = full.Compact(iri)
		}
	}
	if s := strings.Trim(d.Subclass, "<>"); s != "" {
		d.Subclass = full.Compact(s)
	}
	for i, t := range d.Types {
		if iri := strings.Trim(t, "<>"); iri != t {
			d.Types[i] = full.Compact(iri)
		}
	}
}
