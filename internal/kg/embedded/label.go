package embedded

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// labelService implements SERVICE wikibase:label. The label service runs after everything else in its group except the
// filters. For each output, it uses the first language in the chain for which there is text. If there is no label in
// any of them, the label is the end of the IRI (the Q or P ID). In automatic mode (if the service contains no
// patterns), it binds the columns of the enclosing query that are named ?xLabel, ?xAltLabel or ?xDescription. Source:
// Wikidata:SPARQL query service/User Manual, section Label service.
type labelService struct {
	langs []string
	items []labelItem
}

// labelItem is one output: for the term at from, the value of pred is written to slot to.
type labelItem struct {
	from place
	pred value.ID
	kind labelKind
	to   int
}

type labelKind uint8

const (
	kindLabel labelKind = iota // falls back to the ID
	kindAlias                  // all aliases, joined by commas
	kindOther                  // a description; unbound if there is none
)

// labelKey is the cache key of a label that a query has looked up.
type labelKey struct {
	svc  *labelService
	pred value.ID
	kind labelKind
	term value.ID
}

const languageParam = rdf.Wikibase + "language"

// labelService compiles a label service in the group that b has built. It returns nil if the service has nothing to do.
func (c *compiler) labelService(s *sparql.Service, b *groupBuilder) *labelService {
	l := &labelService{}
	for _, p := range s.Params() {
		if p.IRI != languageParam || p.Value.Kind != sparql.Const {
			continue
		}
		for _, lang := range strings.Split(p.Value.Value().Value, ",") {
			lang = strings.ToLower(strings.TrimSpace(lang))
			if lang == "[auto_language]" { // the query service's UI inserts the user's language here; the default is English
				lang = "en"
			}
			if lang != "" {
				l.langs = append(l.langs, lang)
			}
		}
	}
	if len(l.langs) == 0 {
		c.fail(kg.QueryFailed, "the label service needs a language: bd:serviceParam wikibase:language \"en\"")
		return nil
	}
	rest := s.Rest()
	for _, t := range rest {
		if t.Object.Kind != sparql.Var || t.Path.IRI() == "" {
			c.fail(kg.QueryFailed, "the label service takes patterns such as ?item rdfs:label ?name only")
			return nil
		}
		kind := kindOther
		switch t.Path.IRI() {
		case rdf.RDFSLabel:
			kind = kindLabel
		case rdf.SKOSAltLabel:
			kind = kindAlias
		}
		l.items = append(l.items, labelItem{c.place(t.Subject, b.sc), c.st.Lookup(rdf.IRI(t.Path.IRI())), kind,
			b.sc.slot(t.Object.Name)})
	}
	if len(rest) == 0 {
		c.automaticLabels(l, b)
	}
	if len(l.items) == 0 {
		return nil
	}
	return l
}

// automaticLabels adds the columns of the enclosing query whose names request a label.
func (c *compiler) automaticLabels(l *labelService, b *groupBuilder) {
	for _, name := range b.sc.labels {
		if !c.tick() {
			return
		}
		for _, x := range [...]struct {
			suffix, iri string
			kind        labelKind
		}{{"AltLabel", rdf.SKOSAltLabel, kindAlias}, {"Label", rdf.RDFSLabel, kindLabel}, {"Description", rdf.SchemaDesc,
			kindOther}} {
			base, ok := strings.CutSuffix(name, x.suffix)
			if !ok || base == "" {
				continue
			}
			if to := b.sc.slot(name); !b.cert.has(to) {
				l.items = append(l.items, labelItem{place{slot: b.sc.slot(base)}, c.st.Lookup(rdf.IRI(x.iri)), x.kind, to})
			}
			break
		}
	}
}

func (l *labelService) inputs() varSet {
	var v varSet
	for _, it := range l.items {
		v = v.union(it.from.vars())
	}
	return v
}

func (l *labelService) outputs() varSet {
	var v varSet
	for _, it := range l.items {
		v.add(it.to)
	}
	return v
}

// build binds every unbound output for which there is text.
func (l *labelService) build(ex *exec, next runner) runner {
	set := make([]bool, len(l.items))
	return func() error {
		if err := ex.Tick(); err != nil {
			return err
		}
		for i, it := range l.items {
			set[i] = false
			n := it.from.get(ex.row)
			if it.from.missing {
				n = ex.intern(value.Of(it.from.value))
			}
			if n == 0 || ex.row[it.to] != 0 {
				continue
			}
			ex.row[it.to] = l.text(ex, it, n)
			set[i] = true
		}
		if ex.Err != nil {
			return ex.Err
		}
		err := next()
		for i, it := range l.items {
			if set[i] {
				ex.row[it.to] = 0
			}
		}
		return err
	}
}

// text returns the output for a term, from the query's cache if possible.
func (l *labelService) text(ex *exec, it labelItem, n value.ID) value.ID {
	key := labelKey{l, it.pred, it.kind, n}
	if got, ok := ex.labels[key]; ok {
		return got
	}
	got := l.find(ex, it, n)
	ex.labels[key] = got
	_ = ex.Alloc(80) // the error is kept in ex.Err
	return got
}

func (l *labelService) find(ex *exec, it labelItem, n value.ID) value.ID {
	run := ex.st.Objects(n, it.pred)
	if it.pred == 0 {
		run = nil
	}
	for _, lang := range l.langs {
		var aliases []string
		for _, po := range run {
			if ex.st.Tags[ex.st.Tag[po.B]>>2] != "@"+lang {
				continue
			}
			if it.kind != kindAlias {
				return po.B
			}
			aliases = append(aliases, ex.st.Text[po.B])
		}
		if len(aliases) > 0 {
			return ex.intern(value.Value{Kind: value.KindLang, Text: strings.Join(aliases, ", "), Tag: lang})
		}
	}
	if it.kind != kindLabel {
		return 0
	}
	v := ex.value(n)
	switch v.Kind {
	case value.KindIRI:
		return ex.intern(value.String(strings.TrimPrefix(v.Text, rdf.Entity)))
	case value.KindBlank:
		return ex.intern(value.String(v.Text))
	}
	return ex.intern(value.String(v.Lexical()))
}
