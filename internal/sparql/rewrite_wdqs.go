package sparql

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// toWDQS writes for the Wikidata Query Service.
func (r *rewriter) toWDQS() {
	for _, n := range r.q.Named {
		if n.First {
			n.First = false
			r.note("WITH %%%s moved behind the projection, where the query service wants it", n.Name)
		}
	}
	r.dropDeclarations()
	if r.o.Labels && r.q.Form == Select {
		r.addLabels()
	}
	r.scholarly()
	r.declareUnknown()
}

// dropDeclarations leaves out the declarations of prefixes that the service predefines.
func (r *rewriter) dropDeclarations() {
	var dropped []string
	r.q.Prologue = slices.DeleteFunc(r.q.Prologue, func(d *Declaration) bool {
		same := !d.Base && rdf.Prefixes[d.Prefix] == d.IRI && d.IRI != ""
		if same {
			dropped = append(dropped, d.Prefix)
			if d.Notes != nil {
				r.q.Header = append(r.q.Header, d.Notes.Before...)
			}
		}
		return same
	})
	if len(dropped) > 0 {
		r.note("declarations of predefined prefixes dropped: %s", strings.Join(dropped, ", "))
	}
}

// declareUnknown writes out constants made here whose prefix means something else in the query.
func (r *rewriter) declareUnknown() {
	declared := map[string]bool{}
	for _, d := range r.q.Prologue {
		declared[d.Prefix] = !d.Base
	}
	Inspect(r.q, func(n Node) bool {
		if t, ok := n.(*Term); ok && t.Kind == Const {
			r.prefixUsed(t, declared)
		}
		return true
	})
}

const (
	scholarlyArticle = rdf.Entity + "Q13442814"
	scholarlyService = "https://query.wikidata.org/subgraph/scholarly_articles"
)

// articleProperties are properties whose subjects are, but for rare cases, scholarly articles: cites work, published in (with volume and DOI beside it),
// PubMed publication ID, PMC publication ID.
var articleProperties = [...]string{"P2860", "P698", "P932", "P13046"}

// scholarly sends the statements about scholarly articles to the other half of the split graph
// (wikitech: Wikidata Query Service graph split; in force since May 2025).
func (r *rewriter) scholarly() {
	for _, s := range r.selects() {
		groups(s.Where, func(g *Group) { r.scholarlyGroup(s, g) })
	}
}

func (r *rewriter) scholarlyGroup(s *SelectQuery, g *Group) {
	articles := map[string]bool{}
	for _, p := range g.Patterns {
		if t, ok := p.(*Triples); ok && t.Subject.Kind == Var && aboutArticle(t) {
			articles[t.Subject.Name] = true
		}
	}
	if len(articles) == 0 {
		return
	}
	inner := &Group{}
	var out []Pattern
	at := -1
	for _, p := range g.Patterns {
		if !ofArticles(p, articles) {
			out = append(out, p)
			continue
		}
		if at < 0 {
			at = len(out)
			out = append(out, nil)
		}
		inner.Patterns = append(inner.Patterns, p)
	}
	languages := []string{r.o.Language, "mul"}
	if r.o.Language != "en" {
		languages = append(languages, "en")
	}
	for _, it := range s.Items {
		if base, ok := isLabelVar(it.Var); ok && articles[base] && strings.HasSuffix(it.Var, "Label") {
			inner.Patterns = append(inner.Patterns, r.labels(varTerm(base), rdf.RDFSLabel, it.Var, languages, articles)...)
		}
	}
	out[at] = &Service{Name: iriTerm(scholarlyService), Group: inner}
	g.Patterns = out
	r.note("statements about scholarly articles sent to the other half of the split graph (SERVICE wdsubgraph:scholarly_articles)")
}

// aboutArticle reports whether a statement makes its subject a scholarly article.
func aboutArticle(t *Triples) bool {
	for _, p := range t.Properties {
		first := firstPredicate(p.Path)
		id := rdf.EntityID(first)
		if id == "P31" && p.Path.Kind != PathStar {
			for _, o := range p.Objects {
				if o.Kind == Const && o.Value().Value == scholarlyArticle {
					return true
				}
			}
		}
		if slices.Contains(articleProperties[:], id) {
			return true
		}
	}
	return false
}

// firstPredicate returns the IRI with which a path leaves its subject, "" when that is not one.
func firstPredicate(p *Path) string {
	for p.Kind == PathSeq || p.Kind == PathPlus {
		p = p.Args[0]
	}
	return p.IRI()
}

// ofArticles reports whether a pattern speaks of articles only, so that it can go to the other half as a whole.
func ofArticles(p Pattern, articles map[string]bool) bool {
	switch x := p.(type) {
	case *Triples:
		return x.Subject.Kind == Var && articles[x.Subject.Name]
	case *Optional:
		if len(x.Group.Patterns) == 0 {
			return false
		}
		for _, c := range x.Group.Patterns {
			if _, filter := c.(*Filter); !filter && !ofArticles(c, articles) {
				return false
			}
		}
		return true
	}
	return false
}

// addLabels adds ?xLabel for projected entities and the label service in the asker's language.
func (r *rewriter) addLabels() {
	s := r.q.Body
	if s.Star || len(s.Items) == 0 {
		return
	}
	entities := r.entityVars(s.Where)
	for _, n := range r.q.Named {
		for v := range r.entityVars(n.Query.Where) {
			entities[v] = true
		}
	}
	var out []*SelectItem
	added := false
	for _, it := range s.Items {
		out = append(out, it)
		label := it.Var + "Label"
		if it.Expr != nil || !entities[it.Var] || r.used[label] {
			continue
		}
		r.used[label] = true
		out = append(out, &SelectItem{Var: label})
		if s.GroupBy != nil {
			s.GroupBy.Keys = append(s.GroupBy.Keys, &GroupKey{Expr: varExpr(label)})
		}
		added = true
	}
	if !added {
		return
	}
	s.Items = out
	chain := AutoLanguage + ",mul"
	for _, l := range []string{r.o.Language, "en"} {
		if !strings.HasSuffix(chain, ","+l) {
			chain += "," + l
		}
	}
	r.note("labels of the projected entities added")
	if hasLabelService(s.Where) {
		return
	}
	param := triple(iriTerm(bdServiceParam), rdf.Wikibase+"language", stringTerm(chain))
	label := &Service{Name: iriTerm(rdf.Wikibase + "label"), Group: groupOf(param)}
	if len(s.Where.Patterns) == 1 {
		if _, sub := s.Where.Patterns[0].(*SubSelect); sub { // a sub-select must be alone in its braces
			s.Where.Patterns[0] = groupOf(s.Where.Patterns[0])
		}
	}
	s.Where.Patterns = append(s.Where.Patterns, label)
}

func hasLabelService(g *Group) bool {
	for _, p := range g.Patterns {
		if s, ok := p.(*Service); ok && s.Kind() == LabelService {
			return true
		}
	}
	return false
}

// entityVars returns the variables that stand for entities: subjects of statements, values of properties known to be item-valued, objects of P31 and P279.
func (r *rewriter) entityVars(g *Group) map[string]bool {
	out := map[string]bool{}
	Inspect(g, func(n Node) bool {
		switch x := n.(type) {
		case *Triples:
			for _, t := range x.Triples() {
				r.entityTriple(t, out)
			}
		case *Values:
			for i, name := range x.Vars {
				for _, row := range x.Rows {
					if c := row.Cells[i]; c.Kind == Const && strings.HasPrefix(c.Value().Value, rdf.Entity) && rdf.EntityID(c.Value().Value) != "" {
						out[name] = true
					}
				}
			}
		}
		return true
	})
	return out
}

func (r *rewriter) entityTriple(t Triple, out map[string]bool) {
	first := firstPredicate(t.Path)
	if t.Subject.Kind == Var && (strings.HasPrefix(first, rdf.Direct) || strings.HasPrefix(first, rdf.Prop+"P")) {
		out[t.Subject.Name] = true
	}
	last := t.Path
	for last.Kind == PathSeq || last.Kind == PathStar || last.Kind == PathPlus || last.Kind == PathOpt {
		last = last.Args[len(last.Args)-1]
	}
	id := rdf.EntityID(last.IRI())
	if t.Object.Kind != Var || id == "" || strings.HasPrefix(last.IRI(), rdf.Prop+"P") || strings.Contains(last.IRI(), "value") {
		return
	}
	if id == "P31" || id == "P279" || r.o.ItemValued != nil && r.o.ItemValued(id) {
		out[t.Object.Name] = true
	}
}
