package rewrite

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

func (r *rewriter) toWDQS() {
	for _, n := range r.q.Named {
		if n.First {
			n.First = false
			r.note("WITH %%%s moved after the projection, where the query service expects it", n.Name)
		}
	}
	r.dropDeclarations()
	if r.o.Labels && r.q.Form == sparql.Select {
		r.addLabels()
	}
	r.scholarly()
	r.q.WriteOutAmbiguous()
}

// dropDeclarations removes declarations of prefixes that the service predefines.
func (r *rewriter) dropDeclarations() {
	var dropped []string
	r.q.Prologue = slices.DeleteFunc(r.q.Prologue, func(d *sparql.Declaration) bool {
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
		r.note("declarations of predefined prefixes removed: %s", strings.Join(dropped, ", "))
	}
}

const (
	scholarlyArticle = rdf.Entity + "Q13442814"
	scholarlyService = "https://query.wikidata.org/subgraph/scholarly_articles"
)

// articleProperties are properties whose subjects are, with rare exceptions, scholarly articles: cites work, PubMed
// publication ID, PMC publication ID, and publication type of scholarly work.
var articleProperties = [...]string{"P2860", "P698", "P932", "P13046"}

// scholarly sends statements about scholarly articles to the other half of the split graph (wikitech: Wikidata Query
// Service graph split; in effect since May 2025).
func (r *rewriter) scholarly() {
	for _, s := range r.selects() {
		sparql.Groups(s.Where, func(g *sparql.Group) { r.scholarlyGroup(s, g) })
	}
}

func (r *rewriter) scholarlyGroup(s *sparql.SelectQuery, g *sparql.Group) {
	articles := map[string]bool{}
	for _, p := range g.Patterns {
		if t, ok := p.(*sparql.Triples); ok && t.Subject.Kind == sparql.Var && aboutArticle(t) {
			articles[t.Subject.Name] = true
		}
	}
	if len(articles) == 0 {
		return
	}
	inner := &sparql.Group{}
	var out []sparql.Pattern
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
		if base, ok := sparql.LabelBase(it.Var); ok && articles[base] && strings.HasSuffix(it.Var, "Label") {
			inner.Patterns = append(inner.Patterns,
				r.labels(varTerm(base), rdf.RDFSLabel, it.Var, languages, articles)...)
		}
	}
	out[at] = &sparql.Service{Name: iriTerm(scholarlyService), Group: inner}
	g.Patterns = out
	r.note("statements about scholarly articles sent to the other half of the split graph " +
		"(SERVICE wdsubgraph:scholarly_articles)")
}

// aboutArticle reports whether a statement indicates that its subject is a scholarly article.
func aboutArticle(t *sparql.Triples) bool {
	for _, p := range t.Properties {
		first := firstPredicate(p.Path)
		id := rdf.EntityID(first)
		if id == "P31" && p.Path.Kind != sparql.PathStar {
			for _, o := range p.Objects {
				if o.Kind == sparql.Const && o.Value().Value == scholarlyArticle {
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

// firstPredicate returns the IRI that a path starts with, or "" if it does not start with an IRI.
func firstPredicate(p *sparql.Path) string {
	for p.Kind == sparql.PathSeq || p.Kind == sparql.PathPlus {
		p = p.Args[0]
	}
	return p.IRI()
}

// ofArticles reports whether a pattern is only about articles. If so, the whole pattern can be sent to the other half.
func ofArticles(p sparql.Pattern, articles map[string]bool) bool {
	switch x := p.(type) {
	case *sparql.Triples:
		return x.Subject.Kind == sparql.Var && articles[x.Subject.Name]
	case *sparql.Optional:
		if len(x.Group.Patterns) == 0 {
			return false
		}
		for _, c := range x.Group.Patterns {
			if _, filter := c.(*sparql.Filter); !filter && !ofArticles(c, articles) {
				return false
			}
		}
		return true
	}
	return false
}

// addLabels adds ?xLabel for projected entities, and the label service in the asker's language.
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
	var out []*sparql.SelectItem
	added := false
	for _, it := range s.Items {
		out = append(out, it)
		label := it.Var + "Label"
		if it.Expr != nil || !entities[it.Var] || r.used[label] {
			continue
		}
		r.used[label] = true
		out = append(out, &sparql.SelectItem{Var: label})
		if s.GroupBy != nil {
			s.GroupBy.Keys = append(s.GroupBy.Keys, &sparql.GroupKey{Expr: varExpr(label)})
		}
		added = true
	}
	if !added {
		return
	}
	s.Items = out
	chain := sparql.AutoLanguage + ",mul"
	for _, l := range []string{r.o.Language, "en"} {
		if !strings.HasSuffix(chain, ","+l) {
			chain += "," + l
		}
	}
	r.note("labels of the projected entities added")
	if hasLabelService(s.Where) {
		return
	}
	param := triple(iriTerm(sparql.ServiceParam), rdf.Wikibase+"language", stringTerm(chain))
	label := &sparql.Service{Name: iriTerm(rdf.Wikibase + "label"), Group: groupOf(param)}
	if len(s.Where.Patterns) == 1 {
		if _, sub := s.Where.Patterns[0].(*sparql.SubSelect); sub { // a sub-select needs its own braces
			s.Where.Patterns[0] = groupOf(s.Where.Patterns[0])
		}
	}
	s.Where.Patterns = append(s.Where.Patterns, label)
}

func hasLabelService(g *sparql.Group) bool {
	for _, p := range g.Patterns {
		if s, ok := p.(*sparql.Service); ok && s.Kind() == sparql.LabelService {
			return true
		}
	}
	return false
}

// entityVars returns the variables for entities: subjects of statements, values of well-known item-valued properties,
// and entities in VALUES.
func (r *rewriter) entityVars(g *sparql.Group) map[string]bool {
	out := map[string]bool{}
	sparql.Inspect(g, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Triples:
			for _, t := range x.Triples() {
				r.entityTriple(t, out)
			}
		case *sparql.Values:
			for i, name := range x.Vars {
				for _, row := range x.Rows {
					if c := row.Cells[i]; c.Kind == sparql.Const && strings.HasPrefix(c.Value().Value, rdf.Entity) &&
						rdf.EntityID(c.Value().Value) != "" {
						out[name] = true
					}
				}
			}
		}
		return true
	})
	return out
}

func (r *rewriter) entityTriple(t sparql.Triple, out map[string]bool) {
	if t.Subject.Kind == sparql.Var && r.fromEntity(t.Path) {
		out[t.Subject.Name] = true
	}
	if t.Object.Kind == sparql.Var && r.toEntity(t.Path) {
		out[t.Object.Name] = true
	}
}

// fromEntity reports whether a path starts at an entity, judging by its first property.
func (r *rewriter) fromEntity(p *sparql.Path) bool {
	switch p.Kind {
	case sparql.PathSeq, sparql.PathStar, sparql.PathPlus, sparql.PathOpt:
		return r.fromEntity(p.Args[0])
	case sparql.PathAlt:
		return slices.ContainsFunc(p.Args, r.fromEntity)
	case sparql.PathInverse:
		return r.toEntity(p.Args[0])
	}
	return strings.HasPrefix(p.IRI(), rdf.Direct) || strings.HasPrefix(p.IRI(), rdf.Prop+"P")
}

// toEntity reports whether a path ends at an entity, judging by its last property.
func (r *rewriter) toEntity(p *sparql.Path) bool {
	switch p.Kind {
	case sparql.PathSeq, sparql.PathStar, sparql.PathPlus, sparql.PathOpt:
		return r.toEntity(p.Args[len(p.Args)-1])
	case sparql.PathAlt:
		return slices.ContainsFunc(p.Args, r.toEntity)
	case sparql.PathInverse:
		return r.fromEntity(p.Args[0])
	}
	iri := p.IRI()
	id := rdf.EntityID(iri)
	if id == "" || strings.HasPrefix(iri, rdf.Prop+"P") || strings.Contains(iri, "value") {
		return false
	}
	return itemValued[id]
}

// itemValued contains the most commonly used item-valued properties. Values of other properties get no label unless one
// was requested: a label variable for a date or a number would be an unwanted column.
var itemValued = func() map[string]bool {
	const ids = `
		P6 P17 P19 P20 P21 P22 P25 P26 P27 P30 P31 P35 P36 P37 P38 P39 P40 P47 P50 P53 P54 P57 P58 P59 P61 P65 P69
		P81 P84 P86 P88 P91 P97 P98 P101 P102 P103 P105 P106 P108 P110 P112 P118 P119 P122 P123 P126 P127 P131 P135
		P136 P137 P138 P140 P144 P149 P150 P155 P156 P157 P159 P161 P162 P166 P170 P171 P172 P175 P176 P178 P179
		P180 P183 P184 P185 P186 P190 P193 P194 P195 P197 P200 P206 P241 P264 P272 P275 P276 P277 P279 P282 P286
		P287 P289 P306 P344 P360 P361 P364 P366 P371 P400 P403 P404 P406 P407 P408 P410 P411 P412 P413 P421 P437
		P449 P450 P451 P452 P457 P461 P462 P463 P495 P509 P512 P516 P527 P541 P551 P597 P607 P610 P632 P641 P647
		P664 P669 P674 P676 P681 P682 P688 P703 P706 P708 P710 P725 P726 P737 P739 P740 P749 P750 P780 P793 P800
		P802 P823 P825 P840 P859 P915 P921 P931 P937 P941 P945 P1001 P1050 P1056 P1066 P1071 P1142 P1196 P1268 P1269
		P1303 P1308 P1344 P1346 P1365 P1366 P1376 P1408 P1411 P1412 P1431 P1433 P1435 P1441 P1532 P1622 P1830 P1876
		P1889 P2094 P2175 P2176 P2283 P2341 P2348 P2522 P2541 P2596 P2670 P2789 P2936 P2978 P3018 P3095 P3279 P3373
		P3448 P3461 P3602 P3701 P3716 P3919 P4552 P4614 P4884 P5008 P5137 P6087 P6104 P6379 P6886 P7153 P7937 P8345
		P9071`
	m := map[string]bool{}
	for _, id := range strings.Fields(ids) {
		m[id] = true
	}
	return m
}()
