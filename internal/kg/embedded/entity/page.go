package entity

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Entity returns the page of the given item or property, with labels in lang or its fallbacks (mul, en). It omits
// external identifiers; [Reader.Page] can include them. It reads statements from p:, ps:, psv:, pq: and pqv:. If a
// property has only wdt: values, these are returned as normal-rank statements. It follows redirects (owl:sameAs).
// Errors have kind BadID or NotFound.
func (r *Reader) Entity(ctx context.Context, num, lang string) (*kg.Entity, error) {
	return r.Page(ctx, num, lang, false)
}

// Page is like [Reader.Entity], but includes external identifiers if external is true.
func (r *Reader) Page(ctx context.Context, num, lang string, external bool) (*kg.Entity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	num, n, err := r.resolve(num)
	if err != nil {
		return nil, err
	}
	chain := index.Chain(lang)
	e := &kg.Entity{ID: num, Type: typeOf(num), Label: r.best(n, r.ids.label, chain), Description: r.best(n,
		r.ids.description, chain),
		Aliases: r.all(n, r.ids.alias, lang), Sitelinks: r.sitelinkCount(n)}
	if e.Type == kg.Property {
		e.Datatype = r.datatype(n)
	}
	page := pageReader{r, chain}
	e.Claims = page.claims(n, external)
	return e, nil
}

// resolve checks an ID and follows redirects.
func (r *Reader) resolve(num string) (string, value.ID, error) {
	if !rdf.ValidID(num) || num[0] == 'L' {
		return "", 0, kg.Errorf(kg.BadID, "%.60q is not the ID of an item or property, such as Q42 or P31", num)
	}
	n := r.entity(num)
	if n == 0 {
		return "", 0, kg.Errorf(kg.NotFound, "there is no %s in the %s", num, r.name)
	}
	for _, po := range r.store.Objects(n, r.ids.sameAs) {
		if target, ok := strings.CutPrefix(r.store.Text[po.B], rdf.Entity); ok && r.entity(target) != 0 {
			return target, po.B, nil
		}
	}
	return num, n, nil
}

// Names contains an entity's names and descriptions by language.
type Names struct {
	Labels, Descriptions map[string]string
	Aliases              map[string][]string
}

// Names returns an entity's labels, descriptions and aliases in all languages. It returns the same errors as
// [Reader.Entity].
func (r *Reader) Names(num string) (*Names, error) {
	_, n, err := r.resolve(num)
	if err != nil {
		return nil, err
	}
	out := &Names{map[string]string{}, map[string]string{}, map[string][]string{}}
	for _, po := range r.store.SPO.Run(n) {
		t := r.store.Term(po.B)
		switch {
		case t.Lang == "":
		case po.A == r.ids.label:
			out.Labels[t.Lang] = t.Value
		case po.A == r.ids.description:
			out.Descriptions[t.Lang] = t.Value
		case po.A == r.ids.alias:
			out.Aliases[t.Lang] = append(out.Aliases[t.Lang], t.Value)
		}
	}
	return out, nil
}

// pageReader reads statements, with labels in the first available language of chain.
type pageReader struct {
	g     *Reader
	chain []string
}

// claims reads all statements of an entity, with properties in ascending numeric order.
func (r pageReader) claims(n value.ID, external bool) []kg.PropertyStatements {
	s := r.g.store
	var nums []string
	seen := map[string]bool{}
	for _, po := range s.SPO.Run(n) {
		iri := s.Text[po.A]
		num, ok := strings.CutPrefix(iri, rdf.Direct)
		if !ok {
			num, ok = strings.CutPrefix(iri, rdf.Prop)
		}
		if ok && rdf.ValidID(num) && num[0] == 'P' && !seen[num] {
			seen[num] = true
			nums = append(nums, num)
		}
	}
	slices.SortFunc(nums, compareNumbers)
	var out []kg.PropertyStatements
	for _, num := range nums {
		prop := s.Lookup(rdf.IRI(rdf.Entity + num))
		datatype := r.g.datatype(prop)
		if datatype == "external-id" && !external {
			continue
		}
		ps := kg.PropertyStatements{Property: kg.PropertyRef{ID: num, Label: r.label(prop)}, Datatype: datatype,
			Statements: r.statements(n, num)}
		if len(ps.Statements) > 0 {
			out = append(out, ps)
		}
	}
	return out
}

// compareNumbers orders P9 before P10.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// statements reads a property's statements, best rank first.
func (r pageReader) statements(n value.ID, num string) []kg.Statement {
	s := r.g.store
	var out []kg.Statement
	for _, po := range s.Objects(n, s.Lookup(rdf.IRI(rdf.Prop+num))) {
		if st, ok := r.statement(po.B, num); ok {
			out = append(out, st)
		}
	}
	if len(out) == 0 {
		for _, po := range s.Objects(n, s.Lookup(rdf.IRI(rdf.Direct+num))) {
			out = append(out, kg.Statement{Value: r.value(po.B), Rank: kg.Normal})
		}
	}
	slices.SortStableFunc(out, func(a, b kg.Statement) int { return cmp.Compare(rankOrder(a.Rank), rankOrder(b.Rank)) })
	return out
}

func rankOrder(r kg.Rank) int {
	switch r {
	case kg.Preferred:
		return 0
	case kg.Normal:
		return 1
	}
	return 2
}

// statement reads a statement node. A node with neither a value nor novalue is incomplete and is skipped.
func (r pageReader) statement(node value.ID, num string) (kg.Statement, bool) {
	s := r.g.store
	st := kg.Statement{Rank: r.rank(node)}
	values := r.values(node, rdf.Prop+"statement/", num)
	switch {
	case len(values) > 0:
		st.Value = values[0]
	case s.Has(node, r.g.ids.typ, s.Lookup(rdf.IRI(rdf.Prefixes["wdno"]+num))):
		st.Value.None = true
	default:
		return st, false
	}
	st.Qualifiers = r.qualifiers(node, num)
	return st, true
}

func (r pageReader) rank(node value.ID) kg.Rank {
	for _, po := range r.g.store.Objects(node, r.g.ids.rank) {
		switch po.B {
		case r.g.ids.preferred:
			return kg.Preferred
		case r.g.ids.deprecated:
			return kg.Deprecated
		}
	}
	return kg.Normal
}

// qualifiers reads a statement's pq: values, in numeric order of the properties. A type wdno:P… for a property other
// than the statement's own represents a novalue qualifier.
func (r pageReader) qualifiers(node value.ID, own string) []kg.Qualifier {
	s := r.g.store
	var nums []string
	none := map[string]bool{}
	for _, po := range s.SPO.Run(node) {
		if num, ok := strings.CutPrefix(s.Text[po.A], rdf.Prefixes["pq"]); ok && rdf.ValidID(num) && !slices.Contains(nums,
			num) {
			nums = append(nums, num)
		}
		if num, ok := strings.CutPrefix(s.Text[po.B], rdf.Prefixes["wdno"]); ok && po.A == r.g.ids.typ && num != own &&
			rdf.ValidID(num) {
			none[num] = true
			if !slices.Contains(nums, num) {
				nums = append(nums, num)
			}
		}
	}
	slices.SortFunc(nums, compareNumbers)
	var out []kg.Qualifier
	for _, num := range nums {
		q := kg.Qualifier{Property: kg.PropertyRef{ID: num, Label: r.label(s.Lookup(rdf.IRI(rdf.Entity + num)))}}
		q.Values = r.values(node, rdf.Prefixes["pq"], num)
		if none[num] {
			q.Values = append(q.Values, kg.Value{None: true})
		}
		out = append(out, q)
	}
	return out
}

// values reads a property's simple values in a namespace (ps: or pq:) and fills in the rest from the value nodes in the
// corresponding namespace (psv: or pqv:).
func (r pageReader) values(node value.ID, namespace, num string) []kg.Value {
	s := r.g.store
	var out []kg.Value
	for _, po := range s.Objects(node, s.Lookup(rdf.IRI(namespace+num))) {
		out = append(out, r.value(po.B))
	}
	nodes := s.Objects(node, s.Lookup(rdf.IRI(namespace+"value/"+num)))
	for i := range out {
		for _, v := range nodes {
			if r.complete(&out[i], v.B, len(out) == 1 && len(nodes) == 1) {
				break
			}
		}
	}
	return out
}

// complete copies the precision and unit from a value node if the node belongs to the value, that is, if it has the
// same time or amount or is the only node.
func (r pageReader) complete(v *kg.Value, node value.ID, only bool) bool {
	s := r.g.store
	same := only
	for _, po := range s.SPO.Run(node) {
		if (po.A == r.g.ids.timeValue || po.A == r.g.ids.quantityAmount) && s.Text[po.B] == v.Term.Value {
			same = true
		}
	}
	if !same {
		return false
	}
	for _, po := range s.Objects(node, r.g.ids.timePrecision) {
		v.Precision, _ = strconv.Atoi(s.Text[po.B])
	}
	for _, po := range s.Objects(node, r.g.ids.quantityUnit) {
		// Q199, the item for the number 1, means no unit
		if unit, ok := strings.CutPrefix(s.Text[po.B], rdf.Entity); ok && unit != "Q199" {
			v.Unit, v.UnitLabel = unit, r.label(po.B)
		}
	}
	return true
}

func (r pageReader) value(n value.ID) kg.Value {
	t := r.g.store.Term(n)
	if value.Of(t).IsSomeValue() {
		return kg.Value{Unknown: true}
	}
	v := kg.Value{Term: t}
	if t.Kind == rdf.IRIKind && strings.HasPrefix(t.Value, rdf.Entity) {
		v.Label = r.label(n)
	}
	return v
}

func (r pageReader) label(n value.ID) string {
	if n == 0 {
		return ""
	}
	return r.g.best(n, r.g.ids.label, r.chain)
}

// Examples returns a property's examples: the items in its P1855 statements, each with the value of the qualifier that
// uses the property.
func (r *Reader) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if property == "" || property[0] != 'P' {
		return nil, kg.Errorf(kg.BadID, "%.60q is not the ID of a property, such as P31", property)
	}
	num, n, err := r.resolve(property)
	if err != nil {
		return nil, err
	}
	page := pageReader{r, index.Chain(lang)}
	var out []kg.Example
	for _, st := range page.statements(n, "P1855") {
		subject := rdf.EntityID(st.Value.Term.Value)
		if subject == "" {
			continue
		}
		ex := kg.Example{Subject: kg.PropertyRef{ID: subject, Label: st.Value.Label}}
		for _, q := range st.Qualifiers {
			if q.Property.ID != num {
				continue
			}
			for _, v := range q.Values {
				ex.Value = v
				out = append(out, ex)
			}
		}
	}
	return out, nil
}
