package harvest

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

const (
	schemaNS = "http://schema.org/"
	hashView = "#defaultview:"
)

// articlePredicates describe pages on Wikimedia projects, countPredicates are counts on an entity's own page, and
// modelPredicates describe the statement model.
var (
	articlePredicates = []string{schemaNS + "about", schemaNS + "isPartOf", schemaNS + "inLanguage", schemaNS + "name",
		rdf.Wikibase + "badge"}
	countPredicates = []string{rdf.Wikibase + "sitelinks", rdf.Wikibase + "statements", rdf.Wikibase + "identifiers",
		schemaNS + "dateModified", schemaNS + "version"}
	modelPredicates = []string{rdf.Wikibase + "directClaim", rdf.Wikibase + "claim",
		rdf.Wikibase + "statementProperty", rdf.Wikibase + "statementValue", rdf.Wikibase + "qualifier",
		rdf.Wikibase + "reference", rdf.Wikibase + "propertyType"}
)

// imageProperties are properties whose values are pictures, sounds, or videos on Commons.
var imageProperties = []string{"P18", "P41", "P94", "P154", "P242", "P10", "P51", "P109", "P117", "P158", "P181",
	"P207", "P367", "P443", "P948", "P989", "P990", "P1442", "P1543", "P1766", "P1801", "P1846", "P1943", "P2716",
	"P2910", "P3451", "P4291", "P5252", "P5775", "P8592"}

// formatters are functions that format text.
var formatters = []string{"CONCAT", "URI", "IRI", "REPLACE", "STRAFTER", "STRBEFORE", "SUBSTR", "ENCODE_FOR_URI",
	"UCASE", "LCASE", "STR", "STRLANG", "STRDT"}

// charts are the query service views that have axes or nodes. Their content is hard to ask for in words.
var charts = []string{"scatterchart", "areachart", "linechart", "barchart", "bubblechart", "dimensions", "graph",
	"tree", "treemap"}

// unit is a part of the query that can be omitted as a whole.
type unit struct {
	flag  int // index into trimmer.flags
	drop  map[sparql.Node]bool
	vars  map[string]bool // variables used only in the unit: the article, the picture, the formatted text
	leave bool            // flagged only, or already marked for removal
}

// find finds the parts that the paper trims or excludes. Within each kind, flags are in text order.
func (t *trimmer) find() {
	t.views()
	sparql.Inspect(t.q, func(n sparql.Node) bool {
		t.visit(n)
		return true
	})
	articles := map[string]bool{}
	sparql.Inspect(t.q, func(n sparql.Node) bool {
		if x, ok := n.(*sparql.Triples); ok {
			articleVars(x, articles)
		}
		return true
	})
	if t.q.Body.Where != nil {
		t.group(t.q.Body.Where, articles)
	}
}

// views flags display directives for the query service's page.
func (t *trimmer) views() {
	for _, c := range t.q.Header {
		low := strings.ToLower(strings.ReplaceAll(c.Text, " ", ""))
		view, ok := strings.CutPrefix(low, hashView)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(view, "{")
		kind, why := dataset.Formatting, "view of the result: "+strings.TrimSpace(c.Text)
		if slices.Contains(charts, name) {
			kind, why = dataset.CodeHelp, "a chart, which is hard to ask for in words: "+strings.TrimSpace(c.Text)
		}
		t.flag(kind, why, c.Span, true)
		t.dropView = true
	}
}

// visit flags parts that can be recognized without context.
func (t *trimmer) visit(n sparql.Node) {
	switch x := n.(type) {
	case *sparql.Hint:
		t.flag(dataset.Optimization, "hint for the optimiser: "+t.piece(x.Span), x.Span, true)
		t.drop[x] = true
	case *sparql.NamedSubquery:
		t.flag(dataset.Optimization, "named subquery %"+x.Name+": usually a restructuring for the time limit",
			x.Span, false)
	case *sparql.Service:
		switch x.Kind() {
		case sparql.SliceService, sparql.SampleService:
			t.flag(dataset.Optimization, "slice or sample of the data: "+t.piece(x.Span), x.Span, false)
		case sparql.GASService:
			t.flag(dataset.CodeHelp, "graph analytics: "+t.piece(x.Span), x.Span, false)
		}
	case *sparql.Minus:
		t.missing(x.Group)
	case *sparql.Expr:
		if x.Kind == sparql.ExprExists {
			t.missing(x.Group)
		}
	case *sparql.Path:
		if slices.Contains(modelPredicates, x.IRI()) {
			t.flag(dataset.CodeHelp, "about the data model, not the world: "+t.piece(x.Span), x.Span, false)
		}
	}
}

// missing flags a condition on articles, such as "without an article in Bengali", which is part of the question's
// meaning.
func (t *trimmer) missing(g *sparql.Group) {
	articles := map[string]bool{}
	var at sparql.Span
	sparql.Inspect(g, func(n sparql.Node) bool {
		if x, ok := n.(*sparql.Triples); ok && articleVars(x, articles) {
			at = x.Span
		}
		return true
	})
	if len(articles) > 0 {
		t.flag(dataset.Wikimedia, "asks for items by the articles that they have or lack: "+t.piece(at), at, false)
	}
}

// articleVars adds the variables that a statement binds to articles and reports whether any are new.
func articleVars(x *sparql.Triples, into map[string]bool) bool {
	n := len(into)
	for _, tr := range x.Triples() {
		p := tr.Path
		switch {
		case p.IRI() == schemaNS+"about", p.IRI() == schemaNS+"isPartOf":
			if tr.Subject.Kind == sparql.Var {
				into[tr.Subject.Name] = true
			}
		case p.Kind == sparql.PathInverse && p.Args[0].IRI() == schemaNS+"about":
			if tr.Object.Kind == sparql.Var {
				into[tr.Object.Name] = true
			}
		}
	}
	return len(into) > n
}

// group finds the units in a group and in the optional, union, and plain groups nested in it.
func (t *trimmer) group(g *sparql.Group, articles map[string]bool) {
	byArticle := map[string]*unit{}
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			t.triples(x, articles, byArticle)
		case *sparql.Bind:
			if op := formatter(x.Expr); op != "" {
				t.unit(dataset.Formatting, op+" formats text: "+t.piece(x.Span), x.Span, x, x.Var)
			}
		case *sparql.Optional:
			t.group(x.Group, articles)
		case *sparql.Group:
			t.group(x, articles)
		case *sparql.Union:
			for _, b := range x.Branches {
				t.group(b, articles)
			}
		}
	}
	// Filters on articles are removed along with them.
	for _, p := range g.Patterns {
		f, ok := p.(*sparql.Filter)
		if !ok {
			continue
		}
		names := varsOf(f.Expr)
		for v, u := range byArticle {
			if len(names) > 0 && names[v] && subset(names, u.vars) {
				u.drop[f] = true
			}
		}
	}
}

// triples finds the units in a statement, object by object, since the predicates of one subject share a statement.
func (t *trimmer) triples(x *sparql.Triples, articles map[string]bool, byArticle map[string]*unit) {
	subject := ""
	if x.Subject.Kind == sparql.Var {
		subject = x.Subject.Name
	}
	for _, p := range x.Properties {
		iri := p.Path.IRI()
		for _, o := range p.Objects {
			switch {
			case articles[subject] && slices.Contains(articlePredicates, iri):
				t.article(subject, x.Span, o, byArticle)
			case o.Kind == sparql.Var && articles[o.Name] && p.Path.Kind == sparql.PathInverse &&
				slices.Contains(articlePredicates, p.Path.Args[0].IRI()):
				t.article(o.Name, p.Span, o, byArticle)
				if u := byArticle[o.Name]; u != nil && subject != "" && !t.elsewhere(subject, u) {
					u.vars[subject] = true
				}
			case slices.Contains(countPredicates, iri):
				t.unit(dataset.Wikimedia, "about the item's page, not the thing: "+t.piece(p.Span), p.Span,
					o, nameOf(o))
			case slices.Contains(imageProperties, directProperty(p.Path)):
				t.unit(dataset.Formatting, "a picture or sound to show: "+t.piece(p.Span), p.Span, o, nameOf(o))
			}
		}
	}
}

// article adds an object to the unit for an article in the same group.
func (t *trimmer) article(name string, at sparql.Span, o *sparql.Term, units map[string]*unit) {
	u := units[name]
	if u == nil && len(t.units) >= maxUnits {
		return
	}
	if u == nil {
		t.flag(dataset.Wikimedia, "page of a Wikimedia project: "+t.piece(at), at, false)
		u = &unit{flag: len(t.flags) - 1, drop: map[sparql.Node]bool{}, vars: map[string]bool{name: true}}
		units[name] = u
		t.units = append(t.units, u)
	}
	u.drop[o] = true
	if o.Kind == sparql.Var && o.Name != name && !t.elsewhere(o.Name, u) {
		u.vars[o.Name] = true // for example, the article's title
	}
}

// elsewhere reports whether a variable is bound outside a unit.
func (t *trimmer) elsewhere(name string, u *unit) bool {
	x := collect(t.q, u.drop)[name]
	return x != nil && x.bind > 0
}

// unit adds a unit that consists of a single node. If the node binds no variables, it can only be flagged.
func (t *trimmer) unit(kind dataset.FlagKind, why string, at sparql.Span, node sparql.Node, name string) {
	if len(t.units) >= maxUnits {
		return
	}
	t.flag(kind, why, at, false)
	u := &unit{flag: len(t.flags) - 1, drop: map[sparql.Node]bool{node: true}, vars: map[string]bool{name: true},
		leave: name == ""}
	t.units = append(t.units, u)
}

func nameOf(o *sparql.Term) string {
	if o.Kind == sparql.Var {
		return o.Name
	}
	return ""
}

// directProperty returns the property ID of a plain wdt: predicate.
func directProperty(p *sparql.Path) string {
	id, ok := strings.CutPrefix(p.IRI(), rdf.Direct)
	if !ok {
		return ""
	}
	return id
}

// formatter returns the function name if an expression formats text.
func formatter(e *sparql.Expr) string {
	if e != nil && e.Kind == sparql.ExprBuiltin && slices.Contains(formatters, e.Op) {
		return e.Op
	}
	return ""
}

func varsOf(n sparql.Node) map[string]bool {
	out := map[string]bool{}
	sparql.Inspect(n, func(n sparql.Node) bool {
		if x, ok := n.(*sparql.Term); ok && x.Kind == sparql.Var {
			out[x.Name] = true
		}
		return true
	})
	return out
}

func subset(a, b map[string]bool) bool {
	for v := range a {
		if !b[v] {
			return false
		}
	}
	return true
}
