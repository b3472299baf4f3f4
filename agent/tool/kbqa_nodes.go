package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on the descriptions of nodes with the same name (appendix A.2.1).
const (
	nodeDescription  = 100  // characters of one description
	nodeDescriptions = 1000 // total characters of the descriptions on a line
)

// node is a node found by its name.
type node struct {
	name string
	id   string // its form in a query; "" if the node is identified by name
	about,
	kind string // in the name-based dialects, the kind of node: entity, concept, person …
	uses int64
}

// searchNodes implements SearchNodes(name). It shows nodes with exactly the given name, followed by nodes with similar
// names in the order in which the graph's search returned them. Nodes with the same name share a line with their
// descriptions, the most used node first.
func (env *Env) searchNodes(ctx context.Context, name string) (Result, error) {
	name = render.Fold(render.Clean(name))
	if n := utf8.RuneCountInString(name); n > maxSearch {
		return kbqaRefused("search_too_long", map[string]any{"Length": n, "Max": maxSearch}), nil
	}
	n := env.naming()
	nodes, err := env.nodes(ctx, n, name)
	if err != nil {
		return env.kbqaFailed(ctx, err)
	}
	var names []string
	byName := map[string][]node{}
	for _, x := range nodes {
		if byName[x.name] == nil {
			names = append(names, x.name)
		}
		byName[x.name] = append(byName[x.name], x)
	}
	place := func(s string) int {
		switch {
		case s == name:
			return 0
		case strings.EqualFold(s, name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	names = names[:min(len(names), kbqaShown)]
	if n.Dialect != kbqa.ByIRI {
		if byName, err = env.kinds(ctx, n, names, byName); err != nil {
			return env.kbqaFailed(ctx, err)
		}
	}
	var items []string
	for _, s := range names {
		same := byName[s]
		slices.SortStableFunc(same, func(a, b node) int { return cmp.Compare(b.uses, a.uses) })
		items = append(items, kbqa.Python(env.nodeLine(n, s, same), 2*nodeDescriptions))
	}
	res := Result{Text: kbqa.List(items), Empty: len(items) == 0}
	if res.Empty && n.Dialect == kbqa.ByIRI {
		res.Text += " " + say("kbqa_no_node", nil)
	}
	return res, nil
}

// nodeLine formats the nodes that share a name.
func (env *Env) nodeLine(n kbqa.Naming, name string, same []node) string {
	line := name
	switch n.Dialect {
	case kbqa.KQAPro:
		return line + " | " + kindsOf(same)
	case kbqa.MetaQA:
		return fmt.Sprintf("%q | %s", name, kindsOf(same))
	case kbqa.Freebase:
		line = fmt.Sprintf("%q", name)
	}
	length := 0
	for i, x := range same {
		about := render.Clip(render.Fold(x.about), nodeDescription)
		if length += len([]rune(about)); length > nodeDescriptions {
			return line + fmt.Sprintf(" | %d more", len(same)-i)
		}
		switch {
		case n.Dialect == kbqa.ByIRI && about == "":
			line += " | " + x.id
		case n.Dialect == kbqa.ByIRI:
			line += " | " + x.id + ": " + about
		case about != "":
			line += " | Description: " + about
		case len(same) == 1:
			line += " | No description."
		}
	}
	return line
}

func kindsOf(same []node) string {
	var kinds []string
	for _, x := range same {
		if !slices.Contains(kinds, x.kind) && x.kind != "" {
			kinds = append(kinds, x.kind)
		}
	}
	if len(kinds) == 0 {
		return "entity"
	}
	return strings.Join(kinds, " | ")
}

// nodes finds nodes by name, the best matches first.
func (env *Env) nodes(ctx context.Context, n kbqa.Naming, name string) ([]node, error) {
	s := env.Source
	if s.Finder == nil && n.Dialect != kbqa.ByIRI {
		return env.nodesByQuery(ctx, n, name)
	}
	res, err := s.Find(ctx, kg.FindQuery{Text: name, Type: kg.Item, Language: env.Language.Code, Limit: 3 * kbqaShown})
	if err != nil {
		return nil, err
	}
	var out []node
	for _, h := range res.Hits {
		label := render.Fold(h.Label)
		if label == "" {
			label = h.ID
		}
		about := h.Description
		if h.MatchType == "alias" && !strings.EqualFold(h.MatchText, h.Label) && h.MatchText != "" {
			about = strings.TrimSuffix("also called "+render.Clip(render.Fold(h.MatchText), 60)+"; "+about, "; ")
		}
		out = append(out, node{name: label, id: n.Compact(hitTerm(h).Value), about: about, uses: h.Uses})
	}
	return out, nil
}

const (
	maxFuzzy    = 2000 // maximum number of names that a query for similar names returns
	sameLetters = 3    // number of letters at the start of a word that must match
	likeEnough  = 0.2  // minimum similarity for a name to be shown
)

// nodesByQuery finds similar names without a search index. It collects names that contain the first letters of one of
// the words, and ranks them by similarity.
func (env *Env) nodesByQuery(ctx context.Context, n kbqa.Naming, name string) ([]node, error) {
	var conditions []string
	for _, w := range append(kbqa.WordsOf(name), strings.ToLower(name)) {
		start := []rune(w)
		c := fmt.Sprintf("CONTAINS(LCASE(STR(?n)), %s)", rdf.Quote(string(start[:min(len(start), sameLetters)])))
		if len(conditions) < 8 && !slices.Contains(conditions, c) {
			conditions = append(conditions, c)
		}
	}
	where := fmt.Sprintf("?x %s ?n .", n.Label)
	if n.Dialect == kbqa.MetaQA { // values such as tags are literals
		where = "?x ?p ?n . FILTER(isLiteral(?n))"
	}
	t, err := env.Graph.Query(ctx, fmt.Sprintf("SELECT DISTINCT ?n WHERE { %s FILTER(%s) } LIMIT %d", where,
		strings.Join(conditions, " || "), maxFuzzy))
	if err != nil {
		return nil, err
	}
	var out []node
	kbqa.EachRow(t, func(cell func(string) rdf.Term) {
		if x := cell("n"); n.Named(x) && kbqa.Likeness(name, x.Value) >= likeEnough {
			out = append(out, node{name: x.Value})
		}
	})
	slices.SortFunc(out, func(a, b node) int {
		return cmp.Or(cmp.Compare(kbqa.Likeness(name, b.name), kbqa.Likeness(name, a.name)), cmp.Compare(a.name, b.name))
	})
	return out[:min(len(out), 3*kbqaShown)], nil
}

// metaQA maps each of kbqa.MetaQA's predicates to the kind of node that it leads to.
var metaQA = map[string]string{"directed_by": "A person node", "written_by": "A person node",
	"starred_actors": "A person node", "release_year": "A year", "in_language": "A language", "has_genre": "A genre",
	"has_tags": "A tag", "has_imdb_votes": "A popularity", "has_imdb_rating": "A rating"}

// kinds looks up the kinds of nodes in a name-based graph.
func (env *Env) kinds(ctx context.Context, n kbqa.Naming, names []string, old map[string][]node) (map[string][]node,
	error) {
	if len(names) == 0 {
		return nil, nil
	}
	var values []string
	for _, s := range names {
		values = append(values, n.Text(s))
	}
	in := "VALUES ?n { " + strings.Join(values, " ") + " }"
	var query string
	switch n.Dialect {
	case kbqa.KQAPro:
		query = "SELECT DISTINCT ?n ?concept WHERE { " + in + " ?x <pred:name> ?n . " +
			"BIND(EXISTS { ?i <pred:instance_of> ?x } AS ?concept) }"
	case kbqa.MetaQA:
		query = "SELECT DISTINCT ?n ?p ?node WHERE { " + in +
			" { ?x <name> ?n . OPTIONAL { ?y ?p ?x } BIND(true AS ?node) } " +
			"UNION { ?x ?p ?n . FILTER(?p != <name>) BIND(false AS ?node) } }"
	default:
		query = "SELECT DISTINCT ?n ?x ?about WHERE { " + in + " ?x " + n.Label + " ?n . OPTIONAL { ?x " + n.Describe +
			" ?about } }"
	}
	t, err := env.Graph.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	uses := map[string]int64{}
	for _, s := range names {
		for _, x := range old[s] {
			uses[s+" "+x.about] = x.uses
		}
	}
	out := map[string][]node{}
	kbqa.EachRow(t, func(cell func(string) rdf.Term) {
		name, x := cell("n").Value, node{name: cell("n").Value}
		switch n.Dialect {
		case kbqa.KQAPro:
			x.kind = "entity"
			if cell("concept").Value == "true" {
				x.kind = "concept"
			}
		case kbqa.MetaQA:
			x.kind = metaQA[cell("p").Value]
			if x.kind == "" && cell("node").Value == "true" {
				x.kind = "A movie node"
			}
		default:
			x.about = cell("about").Value
			if a := cell("about"); a.Bound() && !n.Named(a) {
				return
			}
			x.uses = uses[name+" "+x.about]
		}
		if !slices.Contains(out[name], x) {
			out[name] = append(out[name], x)
		}
	})
	for _, same := range out {
		slices.SortFunc(same, func(a, b node) int {
			return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.about,
				b.about))
		})
	}
	return out, nil
}
