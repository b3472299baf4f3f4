package endpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on a page.
const (
	mostPredicates = 300
	mostValues     = 50   // values shown per predicate; the others are only counted
	mostWhole      = 2000 // triples of an entity that are requested at once
	mostFields     = 30   // maximum number of fields of an unnamed node
	mostExamples   = 5
)

type pageKey struct{ iri, language string }

// Entity returns an entity's page with labels in lang, then English, then the graph's languages. On a Wikibase, the ID
// is a Q or P number; elsewhere, it is a prefixed name, an <IRI> or a URL. Values of a property beyond the first 50 are
// counted but not shown (PropertyStatements.Total). If a value is an unnamed node, its own properties become
// qualifiers. The page is shared with later callers and must not be changed. Errors have kind BadID or NotFound, or
// come from the service.
func (g *Graph) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	iri := id
	if !g.o.Graph.IsWikibase() {
		var ok bool
		if iri, ok = g.expand(id); !ok {
			return nil, kg.Errorf(kg.BadID, "%.60q names nothing: use a name with one of the graph's prefixes or an <IRI>, as the searches show them", id)
		}
	}
	key := pageKey{iri, strings.ToLower(lang)}
	if e, ok := g.pages.Get(key); ok {
		return e, nil
	}
	e, err := g.page(ctx, iri, lang)
	if err != nil {
		return nil, err
	}
	g.pages.Put(key, e)
	return e, nil
}

func (g *Graph) page(ctx context.Context, iri, lang string) (*kg.Entity, error) {
	if g.o.Graph.IsWikibase() {
		r, err := g.wikibasePage(ctx, iri, lang)
		if err != nil {
			return nil, err
		}
		return r.Entity(ctx, iri, lang)
	}
	counts, err := g.rows(ctx, fmt.Sprintf("SELECT ?p (COUNT(?o) AS ?n) WHERE { <%s> ?p ?o } GROUP BY ?p ORDER BY ?p LIMIT %d", iri, mostPredicates))
	if err != nil {
		return nil, err
	}
	e := &kg.Entity{ID: g.o.Graph.Compact(iri), Type: kg.Item}
	p := plainPage{g: g, e: e, iri: iri, langs: g.chain(lang)}
	// if there are no groups, some engines return one row without a key
	if len(counts) == 0 || len(counts) == 1 && number(counts[0]["n"]) == 0 {
		if err := p.used(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.head(ctx); err != nil {
		return nil, err
	}
	if err := p.values(ctx, counts); err != nil {
		return nil, err
	}
	return e, p.label(ctx)
}

// plainPage is a page under construction.
type plainPage struct {
	g     *Graph
	e     *kg.Entity
	iri   string
	langs []string
}

// used returns an error if the IRI, which is not the subject of any triple, does not occur anywhere else in the graph
// either.
func (p *plainPage) used(ctx context.Context) error {
	for _, where := range []string{"?s ?p <%s>", "?s <%s> ?o"} {
		t, err := p.g.o.Query(ctx, "ASK { "+fmt.Sprintf(where, p.iri)+" }")
		if err != nil {
			return err
		}
		if t.Boolean {
			return nil
		}
	}
	return kg.Errorf(kg.NotFound, "there is no %s in the graph %s", p.e.ID, p.g.o.Graph.Name)
}

// head requests the label, description and aliases.
func (p *plainPage) head(ctx context.Context) error {
	d := p.g.o.Graph
	for _, part := range []struct {
		names []string
		text  *string
		all   *[]string
	}{{d.Labels, &p.e.Label, nil}, {d.Descriptions, &p.e.Description, nil}, {d.Aliases, nil, &p.e.Aliases}} {
		texts, err := p.g.texts(ctx, []string{p.iri}, p.g.properties(part.names), p.langs)
		if err != nil {
			return err
		}
		for _, t := range texts[p.iri] {
			if part.all != nil {
				*part.all = append(*part.all, t.Value)
			} else if *part.text == "" {
				*part.text = t.Value
			}
		}
	}
	if p.e.Label != "" && len(d.Aliases) == 0 {
		return nil
	}
	p.e.Aliases = slices.DeleteFunc(p.e.Aliases, func(a string) bool { return a == p.e.Label })
	return nil
}

// values requests the values of the predicates, given the number of values that each has.
func (p *plainPage) values(ctx context.Context, counts []map[string]rdf.Term) error {
	d := p.g.o.Graph
	named := p.g.properties(slices.Concat(d.Labels, d.Descriptions, d.Aliases))
	totals := map[string]int64{}
	var small, large []string
	sum := int64(0)
	for _, c := range counts {
		iri, n := c["p"].Value, number(c["n"])
		if iri == "" || n <= 0 || slices.Contains(named, iri) || !plainIRI(iri) {
			continue
		}
		totals[iri] = n
		if sum+n > mostWhole || n > 10*mostValues {
			large = append(large, iri)
			continue
		}
		sum += n
		small = append(small, iri)
	}
	values := map[string][]rdf.Term{}
	var parts []string
	if len(small) > 0 {
		parts = append(parts, fmt.Sprintf("SELECT ?p ?o WHERE { VALUES ?p { %s } <%s> ?p ?o } LIMIT %d", list(small), p.iri,
			2*mostWhole))
	}
	for _, iri := range large {
		parts = append(parts, fmt.Sprintf("SELECT (<%s> AS ?p) ?o WHERE { <%s> <%s> ?o } LIMIT %d", iri, p.iri, iri,
			mostValues))
	}
	for _, q := range parts {
		rows, err := p.g.rows(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range rows {
			values[r["p"].Value] = append(values[r["p"].Value], r["o"])
		}
	}
	fields, err := p.fields(ctx, values)
	if err != nil {
		return err
	}
	for _, iri := range sortedKeys(values) {
		p.e.Claims = append(p.e.Claims, p.claim(iri, values[iri], totals[iri], fields))
	}
	return nil
}

// claim adds the statements for a predicate.
func (p *plainPage) claim(iri string, values []rdf.Term, total int64,
	fields map[string][]kg.Statement) kg.PropertyStatements {
	slices.SortStableFunc(values, func(a, b rdf.Term) int {
		return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), strings.Compare(a.String(), b.String()))
	})
	ps := kg.PropertyStatements{Property: kg.PropertyRef{ID: p.g.o.Graph.Compact(iri)}}
	ps.Statements = append(ps.Statements, fields[iri]...)
	for _, v := range values {
		if len(ps.Statements) == mostValues {
			break
		}
		if v.Kind != rdf.BlankKind {
			ps.Statements = append(ps.Statements, kg.Statement{Value: p.value(v), Rank: kg.Normal})
		}
	}
	if int(total) > len(ps.Statements) {
		ps.Total = int(total)
	}
	return ps
}

func (p *plainPage) value(t rdf.Term) kg.Value {
	v := kg.Value{Term: t}
	if t.IsIRI() {
		v.ID = p.g.o.Graph.Compact(t.Value)
	}
	return v
}

// fields requests the properties of values that are unnamed nodes: blank nodes and, on a graph with compound values,
// nodes without a label. It returns the properties as qualifiers of statements, by predicate.
func (p *plainPage) fields(ctx context.Context, values map[string][]rdf.Term) (map[string][]kg.Statement, error) {
	blank := false
	for _, ts := range values {
		blank = blank || slices.ContainsFunc(ts, func(t rdf.Term) bool { return t.Kind == rdf.BlankKind })
	}
	filter := "isBlank(?o)"
	switch {
	case p.g.o.Graph.Statements == kg.Compound:
		var none []string
		for _, l := range p.g.properties(p.g.o.Graph.Labels) {
			none = append(none, "NOT EXISTS { ?o <"+l+"> ?l }")
		}
		filter = "(isBlank(?o) || isIRI(?o) && " + strings.Join(none, " && ") + ")"
	case !blank:
		return nil, nil
	}
	rows, err := p.g.rows(ctx, fmt.Sprintf("SELECT ?p ?o ?q ?v WHERE { <%s> ?p ?o . FILTER(%s) ?o ?q ?v } ORDER BY ?p ?o ?q LIMIT %d",
		p.iri, filter, mostValues*mostFields))
	if err != nil {
		return nil, err
	}
	out := map[string][]kg.Statement{}
	at := map[string]int{}
	for _, r := range rows {
		property, node := r["p"].Value, r["o"]
		i, seen := at[property+" "+node.String()]
		if !seen {
			i = len(out[property])
			at[property+" "+node.String()] = i
			out[property] = append(out[property], kg.Statement{Value: p.node(node), Rank: kg.Normal})
		}
		st := &out[property][i]
		id := p.g.o.Graph.Compact(r["q"].Value)
		if n := len(st.Qualifiers); n > 0 && st.Qualifiers[n-1].Property.ID == id {
			st.Qualifiers[n-1].Values = append(st.Qualifiers[n-1].Values, p.value(r["v"]))
		} else if n < mostFields {
			st.Qualifiers = append(st.Qualifiers, kg.Qualifier{Property: kg.PropertyRef{ID: id},
				Values: []kg.Value{p.value(r["v"])}})
		}
		if node.IsIRI() { // the node's fields are shown instead of the node
			values[property] = slices.DeleteFunc(values[property], func(t rdf.Term) bool { return t == node })
		}
	}
	return out, nil
}

// node returns the value shown for an unnamed node.
func (p *plainPage) node(t rdf.Term) kg.Value {
	if t.IsIRI() {
		return p.value(t)
	}
	return kg.Value{Term: t, ID: "a node without a name"}
}

// label requests the labels of all properties and entities on the page.
func (p *plainPage) label(ctx context.Context) error {
	iris := map[string]bool{}
	p.visit(func(iri string, _ *string) { iris[iri] = true })
	labels, err := p.g.labelsOf(ctx, sortedKeys(iris), p.langs)
	if err != nil {
		return err
	}
	p.visit(func(iri string, label *string) { *label = labels[iri] })
	return nil
}

// visit calls f for each IRI on the page, with a pointer to its label.
func (p *plainPage) visit(f func(iri string, label *string)) {
	property := func(r *kg.PropertyRef) {
		if iri, ok := p.g.expand(r.ID); ok {
			f(iri, &r.Label)
		}
	}
	value := func(v *kg.Value) {
		if v.Term.IsIRI() && plainIRI(v.Term.Value) {
			f(v.Term.Value, &v.Label)
		}
	}
	for i := range p.e.Claims {
		property(&p.e.Claims[i].Property)
		for j := range p.e.Claims[i].Statements {
			st := &p.e.Claims[i].Statements[j]
			value(&st.Value)
			for k := range st.Qualifiers {
				property(&st.Qualifiers[k].Property)
				for l := range st.Qualifiers[k].Values {
					value(&st.Qualifiers[k].Values[l])
				}
			}
		}
	}
}

// Examples returns examples of a property: on a Wikibase, the ones that the property itself lists (P1855); elsewhere,
// some of its triples. It returns the same errors as [Graph.Entity]. If a property is not used, the error is NotFound.
func (g *Graph) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.o.Graph.IsWikibase() {
		if !strings.HasPrefix(property, "P") {
			return nil, kg.Errorf(kg.BadID, "%.60q is not the ID of a property, such as P31", property)
		}
		r, err := g.wikibasePage(ctx, property, lang)
		if err != nil {
			return nil, err
		}
		return r.Examples(ctx, property, lang)
	}
	iri, ok := g.expand(property)
	if !ok {
		return nil, kg.Errorf(kg.BadID, "%.60q names no property: use a name with one of the graph's prefixes or an <IRI>",
			property)
	}
	rows, err := g.rows(ctx, fmt.Sprintf("SELECT ?s ?o WHERE { ?s <%s> ?o . FILTER(isIRI(?s)) } LIMIT %d", iri,
		mostExamples))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, kg.Errorf(kg.NotFound, "nothing has the property %s in the graph %s", g.o.Graph.Compact(iri),
			g.o.Graph.Name)
	}
	nodes := map[string]bool{}
	for _, r := range rows {
		for _, t := range r {
			if t.IsIRI() && plainIRI(t.Value) {
				nodes[t.Value] = true
			}
		}
	}
	labels, err := g.labelsOf(ctx, sortedKeys(nodes), g.chain(lang))
	if err != nil {
		return nil, err
	}
	var out []kg.Example
	for _, r := range rows {
		ex := kg.Example{Subject: kg.PropertyRef{ID: g.o.Graph.Compact(r["s"].Value), Label: labels[r["s"].Value]},
			Value: kg.Value{Term: r["o"]}}
		if r["o"].IsIRI() {
			ex.Value.ID, ex.Value.Label = g.o.Graph.Compact(r["o"].Value), labels[r["o"].Value]
		}
		out = append(out, ex)
	}
	return out, nil
}
