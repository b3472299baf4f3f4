package tool

import (
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// searchPatterns implements SearchGraphPatterns(sparql, semantic). It shows the edges from and to ?e, one pattern per
// predicate, with one of the nodes at the other end. If semantic is set, it ranks the patterns by meaning; otherwise,
// it shows them in the order in which they were found. If sparql has an empty pattern, the predicates of the whole
// graph are searched.
func (env *Env) searchPatterns(ctx context.Context, query, semantic string) (Result, error) {
	n := env.naming()
	semantic = render.Clip(render.Fold(render.Clean(semantic)), maxSearch)
	query, everywhere, ok := n.Around(query)
	switch {
	case !ok:
		return kbqaRefused("kbqa_not_e", nil), nil
	case everywhere && semantic == "":
		return kbqaRefused("kbqa_no_semantic", nil), nil
	case everywhere:
		return env.predicates(ctx, n, semantic)
	}
	if err := env.Dialect.Check(query); err != nil {
		return env.kbqaFailed(ctx, err)
	}
	var edges []kbqa.Edge
	part := false
	for _, in := range []bool{false, true} {
		found, cut, err := env.edges(ctx, n, query, in)
		if err != nil {
			return env.kbqaFailed(ctx, err)
		}
		edges, part = append(edges, found...), part || cut
	}
	total := len(edges)
	edges, err := env.choose(ctx, n, edges, semantic)
	if err != nil {
		return env.kbqaFailed(ctx, err)
	}
	items, err := env.edgeLines(ctx, n, edges)
	if err != nil {
		return env.kbqaFailed(ctx, err)
	}
	text := kbqa.List(items)
	if semantic == "" && total > len(items) {
		text += "\n" + say("kbqa_more", total-len(items))
	}
	if part {
		text += "\n" + say("kbqa_part", nil)
	}
	if len(items) == 0 && n.Dialect == kbqa.ByIRI {
		if text, err = env.nothingAround(ctx, query); err != nil {
			return env.kbqaFailed(ctx, err)
		}
	}
	return Result{Text: text, Empty: len(items) == 0}, nil
}

// nothingAround explains why there are no patterns: ?e matches nothing, or the graph has no facts about its matches.
func (env *Env) nothingAround(ctx context.Context, query string) (string, error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return "", placed(kg.SyntaxError, err)
	}
	prologue, body := kbqa.Selects(q)
	t, err := env.Graph.Query(ctx, prologue+"\nASK { { "+body+" } }")
	if err != nil {
		return "", err
	}
	return "[] " + say("kbqa_nothing", !t.Boolean), nil
}

// sampled is the number of triples examined if there are too many to examine all.
const sampled = 20_000

// edges returns the patterns in one direction. If there are too many triples to examine all of them, cut is true.
func (env *Env) edges(ctx context.Context, n kbqa.Naming, query string, in bool) (out []kbqa.Edge, cut bool,
	err error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil, false, placed(kg.SyntaxError, err)
	}
	t, err := env.Graph.Query(ctx, n.Neighbors(q, in, 0))
	if k := kg.KindOf(err); k == kg.Timeout || k == kg.TooGreedy || k == kg.TooLarge {
		cut = true
		t, err = env.Graph.Query(ctx, n.Neighbors(q, in, sampled))
	}
	if err != nil {
		return nil, false, err
	}
	type predicates struct{ first, then string }
	seen := map[predicates]int{}
	kbqa.EachRow(t, func(cell func(string) rdf.Term) {
		x := kbqa.Edge{In: in, First: cell("p__").Value, Then: cell("q__").Value, Node: cell("t__"), Value: n.ValueOf(cell,
			"t__")}
		if n.Hidden(x.First) || x.Then != "" && n.Hidden(x.Then) {
			return
		}
		if known := x.Node.IsLiteral() || x.Value.Name.Bound() || x.Value.Known(); !known &&
			(n.Compound || n.Dialect != kbqa.ByIRI) {
			return // a blank node
		}
		key := predicates{x.First, x.Then}
		if at, twice := seen[key]; twice { // another row for the same edge, with a name in a different language
			if out[at].Node == x.Node && x.Value.Name.Bound() && n.Earlier(x.Value.Name, out[at].Value.Name) {
				out[at] = x
			}
			return
		}
		seen[key] = len(out)
		out = append(out, x)
	})
	return out, cut, nil
}

// choose ranks edges and returns the ones to show.
func (env *Env) choose(ctx context.Context, n kbqa.Naming, edges []kbqa.Edge, semantic string) ([]kbqa.Edge, error) {
	if semantic == "" {
		return edges[:min(len(edges), kbqaShown)], nil
	}
	labels := map[string]string{}
	if n.Wikibase && env.Source.Finder == nil {
		var ids []string
		for _, x := range edges {
			ids = append(ids, rdf.EntityID(x.First))
			if x.Then != "" {
				ids = append(ids, rdf.EntityID(x.Then))
			}
		}
		slices.Sort(ids)
		labels = env.LabelsOf(ctx, slices.Compact(ids))
	}
	words := func(iri string) string {
		if n.Wikibase {
			return labels[rdf.EntityID(iri)]
		}
		return n.Words(iri)
	}
	var candidates [][]predicate
	for _, x := range edges {
		c := []predicate{{n.Predicate(x.First), words(x.First)}}
		if x.Then != "" {
			c = append(c, predicate{n.Predicate(x.Then), words(x.Then)})
		}
		candidates = append(candidates, c)
	}
	order, err := env.byMeaning(ctx, semantic, candidates)
	if err != nil {
		return nil, err
	}
	var out []kbqa.Edge
	for _, i := range order[:min(len(order), kbqaShown)] {
		out = append(out, edges[i])
	}
	return out, nil
}

// edgeLines formats edges, one per line.
func (env *Env) edgeLines(ctx context.Context, n kbqa.Naming, edges []kbqa.Edge) ([]string, error) {
	names := map[rdf.Term]kbqa.Value{}
	if n.Wikibase {
		var nodes []rdf.Term
		for _, x := range edges {
			nodes = append(nodes, n.Predicate(x.First), x.Node)
			if x.Then != "" {
				nodes = append(nodes, n.Predicate(x.Then))
			}
		}
		var err error
		if names, err = env.nodeNames(ctx, n, nodes); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, x := range edges {
		out = append(out, n.Line(x, names))
	}
	return out, nil
}

// predicates searches the whole graph for predicates.
func (env *Env) predicates(ctx context.Context, n kbqa.Naming, semantic string) (Result, error) {
	s := env.Source
	var items []string
	if n.Wikibase || s.Finder != nil && n.Dialect == kbqa.ByIRI {
		res, err := s.Find(ctx, kg.FindQuery{Text: semantic, Type: kg.Property, Language: env.Language.Code, Meaning: true,
			Limit: kbqaShown})
		if err != nil {
			return env.kbqaFailed(ctx, err)
		}
		for _, h := range res.Hits {
			id := n.Compact(hitTerm(h).Value)
			if n.Wikibase {
				id = "wdt:" + h.ID
			}
			text := id
			if h.Label != "" {
				text += " [" + render.Fold(h.Label) + "]"
			}
			if h.Description != "" {
				text += ": " + render.Clip(render.Fold(h.Description), nodeDescription)
			}
			items = append(items, kbqa.Python(text, 300))
		}
		return Result{Text: kbqa.List(items), Empty: len(items) == 0}, nil
	}
	t, err := env.Graph.Query(ctx, "SELECT DISTINCT ?p WHERE { ?s ?p ?o }")
	if err != nil {
		return env.kbqaFailed(ctx, err)
	}
	var iris []string
	var candidates [][]predicate
	kbqa.EachRow(t, func(cell func(string) rdf.Term) {
		if p := cell("p"); !n.Hidden(p.Value) {
			iris = append(iris, p.Value)
			candidates = append(candidates, []predicate{{p, n.Words(p.Value)}})
		}
	})
	order, err := env.byMeaning(ctx, semantic, candidates)
	if ctx.Err() != nil || event.IsWriteError(err) {
		return Result{}, err
	}
	for _, i := range order[:min(len(order), kbqaShown)] {
		p := n.Compact(iris[i])
		if n.Dialect == kbqa.KQAPro || n.Dialect == kbqa.MetaQA {
			p = "<" + p + ">"
		}
		items = append(items, kbqa.Python(p, 200))
	}
	return Result{Text: kbqa.List(items), Empty: len(items) == 0}, nil
}
