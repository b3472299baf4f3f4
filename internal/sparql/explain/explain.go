// Package explain describes in plain English what a query asks for.
package explain

import (
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Query explains a query in plain English: what it lists, under what conditions, and in what order. label returns the
// label of a Q or P ID, or ""; Query cleans the labels, which are untrusted. The text has one statement per line;
// nested statements are indented by two spaces.
func Query(q *sparql.Query, label func(id string) string) string {
	e := &explainer{label: label}
	if label == nil {
		e.label = func(string) string { return "" }
	}
	switch q.Form {
	case sparql.Update:
		return "This is an update (" + q.Operation + "): it would change data instead of asking for it.\n"
	case sparql.Ask:
		e.line(0, "Answers yes or no: is there anything for which the following is true?")
	case sparql.Construct:
		e.line(0, "Makes new triples:")
		for _, t := range q.Template {
			e.triples(t, 1)
		}
		e.line(0, "for everything for which the following is true:")
	case sparql.Describe:
		e.line(0, "Returns all that is known about "+e.resources(q)+".")
	default:
		e.projection(q.Body, 0)
	}
	for _, n := range q.Named {
		e.line(0, "First, a list called "+n.Name+" is made:")
		e.selectQuery(n.Query, 1)
	}
	e.rest(q.Body, 0)
	return e.b.String()
}

type explainer struct {
	b     strings.Builder
	label func(string) string
}

func (e *explainer) line(level int, s string) {
	e.b.WriteString(strings.Repeat("  ", level))
	e.b.WriteString(s)
	e.b.WriteByte('\n')
}

func (e *explainer) resources(q *sparql.Query) string {
	if q.Body.Star {
		return "everything that is found"
	}
	var out []string
	for _, r := range q.Resources {
		out = append(out, e.term(r))
	}
	return strings.Join(out, ", ")
}

func (e *explainer) selectQuery(s *sparql.SelectQuery, level int) {
	e.projection(s, level)
	e.rest(s, level)
}

func (e *explainer) projection(s *sparql.SelectQuery, level int) {
	var out []string
	for _, it := range s.Items {
		base, isLabel := sparql.LabelBase(it.Var)
		switch {
		case it.Expr != nil:
			out = append(out, "?"+it.Var+", which is "+e.expr(it.Expr))
		case isLabel && strings.HasSuffix(it.Var, "AltLabel"):
			out = append(out, "the other names of ?"+base)
		case isLabel && strings.HasSuffix(it.Var, "Description"):
			out = append(out, "the description of ?"+base)
		case isLabel:
			out = append(out, "the label of ?"+base)
		default:
			out = append(out, "?"+it.Var)
		}
	}
	what := strings.Join(out, "; ")
	if s.Star {
		what = "everything that is named below"
	}
	if s.Distinct {
		what += " (each row once)"
	}
	e.line(level, "Lists "+what+".")
}

func (e *explainer) rest(s *sparql.SelectQuery, level int) {
	if s.Where != nil && len(s.Where.Patterns) > 0 {
		e.line(level, "Conditions:")
		e.group(s.Where, level+1)
	}
	if s.GroupBy != nil {
		var keys []string
		for _, k := range s.GroupBy.Keys {
			keys = append(keys, e.expr(k.Expr))
		}
		e.line(level, "One row for each "+strings.Join(keys, " and ")+".")
	}
	if s.Having != nil {
		for _, c := range s.Having.Conditions {
			e.line(level, "Only rows where "+e.expr(c)+".")
		}
	}
	if s.OrderBy != nil {
		var keys []string
		for _, k := range s.OrderBy.Keys {
			way := ""
			if k.Descending {
				way = ", largest first"
			}
			keys = append(keys, e.expr(k.Expr)+way)
		}
		e.line(level, "Sorted by "+strings.Join(keys, ", then by ")+".")
	}
	if s.Offset != nil {
		e.line(level, "The first "+strconv.FormatInt(s.Offset.N, 10)+" rows are skipped.")
	}
	if s.Limit != nil {
		e.line(level, "At most "+strconv.FormatInt(s.Limit.N, 10)+" rows.")
	}
	if s.Values != nil {
		e.pattern(s.Values, level)
	}
}

func (e *explainer) group(g *sparql.Group, level int) {
	for _, p := range g.Patterns {
		e.pattern(p, level)
	}
}

func (e *explainer) pattern(p sparql.Pattern, level int) {
	switch x := p.(type) {
	case *sparql.Triples:
		e.triples(x, level)
	case *sparql.Group:
		e.group(x, level)
	case *sparql.Filter:
		e.filter(x, level)
	case *sparql.Bind:
		e.line(level, "- ?"+x.Var+" is "+e.expr(x.Expr))
	case *sparql.Values:
		e.values(x, level)
	case *sparql.Optional:
		e.line(level, "- if there is any:")
		e.group(x.Group, level+1)
	case *sparql.Minus:
		e.line(level, "- excluding everything for which:")
		e.group(x.Group, level+1)
	case *sparql.Union:
		for i, b := range x.Branches {
			if i == 0 {
				e.line(level, "- either:")
			} else {
				e.line(level, "- or:")
			}
			e.group(b, level+1)
		}
	case *sparql.GraphPattern:
		e.line(level, "- in the graph "+e.term(x.Name)+":")
		e.group(x.Group, level+1)
	case *sparql.Service:
		e.service(x, level)
	case *sparql.SubSelect:
		e.line(level, "- from this list:")
		e.selectQuery(x.Query, level+1)
	case *sparql.Include:
		e.line(level, "- taken from the list "+x.Name)
	}
}

func (e *explainer) filter(x *sparql.Filter, level int) {
	if x.Expr.Kind != sparql.ExprExists {
		e.line(level, "- only where "+e.expr(x.Expr))
		return
	}
	if x.Expr.Op == "EXISTS" {
		e.line(level, "- only where there is:")
	} else {
		e.line(level, "- only where there is not:")
	}
	e.group(x.Expr.Group, level+1)
}

func (e *explainer) values(x *sparql.Values, level int) {
	const shown = 10
	var rows []string
	for i, r := range x.Rows {
		if i == shown {
			rows = append(rows, strconv.Itoa(len(x.Rows)-shown)+" more")
			break
		}
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, e.term(c))
		}
		rows = append(rows, strings.Join(cells, " with "))
	}
	e.line(level, "- ?"+strings.Join(x.Vars, " with ?")+" is one of: "+strings.Join(rows, ", "))
}

func (e *explainer) service(x *sparql.Service, level int) {
	param := func(name string) string {
		if t := x.Param(rdf.Wikibase + name); t != nil {
			return e.term(t)
		}
		return "?"
	}
	switch x.Kind() {
	case sparql.LabelService:
		langs := strings.ReplaceAll(strings.Trim(param("language"), `"`), sparql.AutoLanguage, "the reader's language")
		e.line(level, "- labels are shown in: "+strings.ReplaceAll(langs, ",", ", "))
		return
	case sparql.AroundService:
		e.line(level, "- within "+strings.Trim(param("radius"), `"`)+" km around "+param("center")+":")
	case sparql.BoxService:
		e.line(level, "- inside a box on the map"+boxCorners(x, e)+":")
	case sparql.MWAPIService:
		e.line(level, "- found by MediaWiki's own search ("+strings.Trim(param("api"),
			`"`)+" on "+strings.Trim(param("endpoint"), `"`)+")"+e.apiCall(x))
		return
	case sparql.SliceService, sparql.SampleService:
		e.line(level, "- from only a part of:")
	case sparql.GASService:
		e.line(level, "- found by walking the graph (gas:service)")
		return
	default:
		e.line(level, "- from another server, "+e.term(x.Name)+":")
	}
	for _, p := range x.Pattern() {
		e.pattern(p, level+1)
	}
}

// boxCorners names the two corners that define a box: west and east, or southwest and northeast.
func boxCorners(x *sparql.Service, e *explainer) string {
	var corners []string
	for _, p := range x.Params() {
		if at, ok := strings.CutPrefix(p.IRI, rdf.Wikibase+"corner"); ok {
			corners = append(corners, e.term(p.Value)+" ("+strings.ToLower(at)+")")
		}
	}
	if len(corners) == 0 {
		return ""
	}
	return " with the corners " + strings.Join(corners, " and ")
}

// apiCall describes a call to MediaWiki's API and the variables that it binds.
func (e *explainer) apiCall(x *sparql.Service) string {
	var in, out []string
	for _, p := range x.Params() {
		if name, ok := strings.CutPrefix(p.IRI, rdf.Prefixes["mwapi"]); ok {
			in = append(in, name+" "+e.term(p.Value))
		}
	}
	for _, t := range x.Rest() {
		if t.Subject.Kind == sparql.Var {
			out = append(out, e.term(t.Subject))
		}
	}
	s := ""
	if len(in) > 0 {
		s = ", asked with " + strings.Join(in, ", ")
	}
	if len(out) > 0 {
		s += ": returns " + strings.Join(out, ", ")
	}
	return s
}

func (e *explainer) triples(t *sparql.Triples, level int) {
	if t.Subject.Kind == sparql.BlankList || t.Subject.Kind == sparql.Collection {
		e.line(level, "- there is "+e.term(t.Subject))
	}
	for _, p := range t.Properties {
		e.line(level, "- "+e.statement(t.Subject, p))
	}
}

func (e *explainer) statement(s *sparql.Term, p *sparql.Property) string {
	var objects []string
	for _, o := range p.Objects {
		objects = append(objects, e.term(o))
	}
	return e.term(s) + ": " + e.path(p.Path) + " → " + strings.Join(objects, " and ")
}

// path names a property path: "instance of (P31), then any number of subclass of (P279)".
func (e *explainer) path(p *sparql.Path) string {
	var args []string
	for _, a := range p.Args {
		s := e.path(a)
		if a.Kind == sparql.PathAlt || a.Kind == sparql.PathSeq && p.Kind != sparql.PathAlt {
			s = "(" + s + ")"
		}
		args = append(args, s)
	}
	switch p.Kind {
	case sparql.PathInverse:
		if p.Args[0].IRI() == rdf.Prefixes["schema"]+"about" {
			return "page about it"
		}
		return "is " + args[0] + " of"
	case sparql.PathSeq:
		return strings.Join(args, ", then ")
	case sparql.PathAlt:
		return strings.Join(args, " or ")
	case sparql.PathStar:
		return "any number of steps of " + args[0]
	case sparql.PathPlus:
		return "one or more steps of " + args[0]
	case sparql.PathOpt:
		return "at most one step of " + args[0]
	case sparql.PathNegated:
		return "anything but " + strings.Join(args, " and ")
	}
	return e.predicate(p.Term)
}

// predicate names a property by its label, and describes its namespace.
func (e *explainer) predicate(t *sparql.Term) string {
	if t.Kind == sparql.Var {
		return "some property ?" + t.Name
	}
	iri := t.Value().Value
	name := e.term(t)
	switch {
	case iri == rdf.RDFType:
		return "is a"
	case iri == rdf.RDFSLabel:
		return "label"
	case iri == rdf.SKOSAltLabel:
		return "other name"
	case iri == rdf.SchemaDesc:
		return "description"
	case rdf.EntityID(iri) == "":
		return name
	case strings.HasPrefix(iri, rdf.Prop+"qualifier/"):
		return "qualifier " + name
	case strings.HasPrefix(iri, rdf.Prop+"reference/"):
		return "reference " + name
	case strings.HasPrefix(iri, rdf.Prop+"statement/"):
		return "value of the statement " + name
	case strings.HasPrefix(iri, rdf.Prop+"P"):
		return "statement " + name
	}
	return name
}

// term names a term: a variable as ?x, an entity as label (ID).
func (e *explainer) term(t *sparql.Term) string {
	switch t.Kind {
	case sparql.Var:
		return "?" + t.Name
	case sparql.BlankNode:
		return "something"
	case sparql.Undef:
		return "anything"
	case sparql.BlankList:
		var parts []string
		for _, p := range t.Properties() {
			var objects []string
			for _, o := range p.Objects {
				objects = append(objects, e.term(o))
			}
			parts = append(parts, e.path(p.Path)+" → "+strings.Join(objects, " and "))
		}
		return "something with [" + strings.Join(parts, "; ") + "]"
	case sparql.Collection:
		var parts []string
		for _, i := range t.Items() {
			parts = append(parts, e.term(i))
		}
		return "the list (" + strings.Join(parts, ", ") + ")"
	}
	if t.IsLiteral() {
		switch {
		case t.Value().Datatype == "" && t.Value().Lang == "":
			return rdf.Quote(t.Value().Value)
		case t.Value().Lang != "":
			return rdf.Quote(t.Value().Value) + " (" + t.Value().Lang + ")"
		}
		return t.Value().Value
	}
	id := rdf.EntityID(t.Value().Value)
	if id == "" {
		if w := ontologyWords[rdf.Shorten(t.Value().Value)]; w != "" {
			return w
		}
		if site, ok := site(t.Value().Value); ok {
			return site
		}
		if t.Written() != "" {
			return t.Written()
		}
		return rdf.Shorten(t.Value().Value)
	}
	if l := sparql.CleanLabel(e.label(id)); l != "" {
		return l + " (" + id + ")"
	}
	return id
}

func (e *explainer) expr(x *sparql.Expr) string {
	var args []string
	for _, a := range x.Args {
		s := e.expr(a)
		if a.Kind == sparql.ExprBinary && x.Kind == sparql.ExprBinary && a.Precedence() != x.Precedence() {
			s = "(" + s + ")"
		}
		args = append(args, s)
	}
	switch x.Kind {
	case sparql.ExprTerm:
		return e.term(x.Term)
	case sparql.ExprUnary:
		if x.Op == "!" {
			return "not (" + args[0] + ")"
		}
		return x.Op + args[0]
	case sparql.ExprBinary:
		return args[0] + operatorWords[x.Op] + args[1]
	case sparql.ExprIn:
		word := " is one of "
		if x.Op == "NOT IN" {
			word = " is none of "
		}
		return args[0] + word + strings.Join(args[1:], ", ")
	case sparql.ExprExists:
		if x.Op == "EXISTS" {
			return "something exists"
		}
		return "nothing exists"
	case sparql.ExprFunction:
		return e.term(x.Term) + " of (" + strings.Join(args, ", ") + ")"
	}
	return e.named(x, args)
}

// named describes a function or aggregate in words.
func (e *explainer) named(x *sparql.Expr, args []string) string {
	if x.Star {
		args = []string{"rows"}
	}
	if x.Distinct && len(args) > 0 {
		args[0] = "different " + args[0]
	}
	switch {
	case x.Op == "IF" && len(args) == 3:
		return "(if " + args[0] + ": " + args[1] + ", else " + args[2] + ")"
	case x.Op == "COALESCE":
		return "the first known value of " + strings.Join(args, ", ")
	}
	w, ok := functionWords[x.Op]
	if !ok {
		return x.Op + "(" + strings.Join(args, ", ") + ")"
	}
	var pairs []string
	for i, a := range args {
		pairs = append(pairs, "%"+strconv.Itoa(i+1), a)
	}
	return strings.NewReplacer(pairs...).Replace(w)
}
