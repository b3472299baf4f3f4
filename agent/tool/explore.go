package tool

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Explorer runs the two GRASP searches that read many rows of the graph. A trajectory stores each search as a single
// call, because storing the rows would take too much space. A graph need not implement Explorer: [Source] can use the
// graph's queries and finder instead.
type Explorer interface {
	// Among performs a keyword search over the terms that a query returns. If the query returns more than 65,536 terms,
	// the error has kind kg.TooLarge.
	Among(ctx context.Context, q event.AmongQuery) (*event.Among, error)
	// Triples returns a page of the triples that match a pattern. At most 65,536 triples are examined.
	Triples(ctx context.Context, q event.TriplesQuery) (*event.Triples, error)
}

// maxCandidates is the maximum number of candidates examined in a search, and of triples examined in a list (from
// GRASP's code).
const maxCandidates = 65_536

// explorer is an [Explorer] that uses a graph's queries and finder.
type explorer struct{ source *Source }

// rows runs a query, limited to the maximum number of candidates. more means that the limit cut off the result.
func (x explorer) rows(ctx context.Context, query string) (rows [][]rdf.Term, more bool, err error) {
	t, err := x.source.Graph.Query(ctx, fmt.Sprintf("%s\nLIMIT %d", query, maxCandidates+1))
	if err != nil {
		return nil, false, err
	}
	if t == nil || t.Ask {
		return nil, false, kg.Errorf(kg.Down, "the graph returned no rows and no error")
	}
	return t.Rows[:min(len(t.Rows), maxCandidates)], len(t.Rows) > maxCandidates, nil
}

func (x explorer) Among(ctx context.Context, q event.AmongQuery) (*event.Among, error) {
	rows, more, err := x.rows(ctx, q.From)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, kg.Errorf(kg.TooLarge, "there are more than %d candidates", maxCandidates)
	}
	terms := make([]rdf.Term, 0, len(rows))
	for _, row := range rows {
		if len(row) > 0 && row[0].Bound() && row[0].Kind != rdf.BlankKind {
			terms = append(terms, row[0])
		}
	}
	out := &event.Among{Candidates: len(terms)}
	if len(terms) == 0 {
		return out, nil
	}
	find := q.FindQuery
	find.Among = terms
	var res *kg.SearchResult
	if x.source.Finder == nil {
		res, err = x.source.byLabel(ctx, find)
	} else {
		res, err = x.source.Find(ctx, find)
	}
	if err != nil {
		return nil, err
	}
	out.SearchResult = *res
	return out, nil
}

func (x explorer) Triples(ctx context.Context, q event.TriplesQuery) (*event.Triples, error) {
	place := func(t rdf.Term, name string) string {
		if t.Bound() {
			return t.String()
		}
		return name
	}
	rows, more, err := x.rows(ctx, fmt.Sprintf("SELECT * WHERE { %s %s %s }", place(q.Subject, "?subject"),
		place(q.Property, "?property"), place(q.Object, "?object")))
	if err != nil {
		return nil, err
	}
	out := &event.Triples{Total: len(rows), More: more}
	all := make([][3]rdf.Term, 0, len(rows))
	for _, row := range rows { // the columns are the unbound positions, in order
		t := [3]rdf.Term{q.Subject, q.Property, q.Object}
		i := 0
		for j := range t {
			if !t[j].Bound() && i < len(row) {
				t[j] = row[i]
				i++
			}
		}
		all = append(all, t)
	}
	if err := x.rank(ctx, q, all); err != nil {
		return nil, err
	}
	spread(q, all)
	from := min(q.Offset, len(all))
	out.Rows = all[from:min(from+q.Limit, len(all))]
	return out, nil
}

// rank sorts triples by how often their property is used, and then by how often their subject or object is used,
// whichever is more frequent. Triples that the finder does not find come last.
func (x explorer) rank(ctx context.Context, q event.TriplesQuery, rows [][3]rdf.Term) error {
	properties, err := x.byUse(ctx, rows, !q.Property.Bound(), kg.Property, 1)
	if err != nil {
		return err
	}
	entities, err := x.byUse(ctx, rows, true, kg.Item, 0, 2)
	if err != nil {
		return err
	}
	place := func(ranks map[string]int, t rdf.Term, fixed bool) int {
		n, ok := ranks[termKey(t)]
		switch {
		case fixed || strings.HasPrefix(t.Value, statementNode): // statement nodes come last
			return math.MaxInt
		case ok:
			return n
		}
		return math.MaxInt - 1
	}
	type keyed struct {
		row              [3]rdf.Term
		property, entity int
	}
	sorted := make([]keyed, len(rows))
	for i, r := range rows {
		sorted[i] = keyed{r, place(properties, r[1], false), min(place(entities, r[0], q.Subject.Bound()),
			place(entities, r[2], q.Object.Bound()))}
	}
	slices.SortStableFunc(sorted, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.property, b.property), cmp.Compare(a.entity, b.entity))
	})
	for i, k := range sorted {
		rows[i] = k.row
	}
	return nil
}

// mostRanked is the maximum number of finder hits that determine the order of triples. Ten pages show a hundred
// triples.
const mostRanked = 1000

// byUse asks the finder to order the IRIs in the given positions of the triples, the most used first. It returns nil if
// there is no finder or want is false.
func (x explorer) byUse(ctx context.Context, rows [][3]rdf.Term, want bool, typ kg.Type,
	places ...int) (map[string]int, error) {
	if x.source.Finder == nil || !want {
		return nil, nil
	}
	seen := map[rdf.Term]bool{}
	among := []rdf.Term{}
	for _, r := range rows {
		for _, p := range places {
			if r[p].IsIRI() && !seen[r[p]] {
				seen[r[p]] = true
				among = append(among, r[p])
			}
		}
	}
	if len(among) < 2 {
		return nil, nil
	}
	res, err := x.source.Finder.Find(ctx, kg.FindQuery{Type: typ, Among: among, Limit: mostRanked})
	if err != nil {
		return nil, err
	}
	order := map[string]int{}
	for i, h := range res.Hits {
		if h.Term != nil {
			order[termKey(*h.Term)] = i
		}
	}
	return order, nil
}

// termKey returns the key by which terms in a list are compared: Wikidata's predicates for the same property share a
// key.
func termKey(t rdf.Term) string {
	if id := rdf.EntityID(t.Value); t.IsIRI() && strings.HasPrefix(id, "P") {
		return id
	}
	return t.String()
}

// spread moves triples whose property has not occurred before to the front, followed by triples whose subject or object
// has not occurred before. The order is otherwise unchanged.
func spread(q event.TriplesQuery, rows [][3]rdf.Term) {
	properties, entities := map[string]bool{}, map[string]bool{}
	class := make([]int, len(rows))
	order := make([]int, len(rows))
	for i, r := range rows {
		order[i] = i
		if k := termKey(r[1]); properties[k] {
			class[i] = 2
		} else {
			properties[k] = true
		}
		known := true
		for _, t := range free(q, r) {
			if !entities[t.String()] {
				known, entities[t.String()] = false, true
			}
		}
		if known {
			class[i]++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(class[a], class[b]) })
	sorted := make([][3]rdf.Term, len(rows))
	for i, j := range order {
		sorted[i] = rows[j]
	}
	copy(rows, sorted)
}

// free returns a triple's subject and object, excluding those that the pattern binds.
func free(q event.TriplesQuery, r [3]rdf.Term) []rdf.Term {
	var out []rdf.Term
	if !q.Subject.Bound() {
		out = append(out, r[0])
	}
	if !q.Object.Bound() {
		out = append(out, r[2])
	}
	return out
}

// maxLabelled is the maximum number of candidates ranked by their labels on a graph without an index.
const maxLabelled = 500

// byLabel ranks candidates by the words in their labels and literals, on a graph without an index. Candidates that
// match more of the words come first, and whole words count more than prefixes.
func (s *Source) byLabel(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	if s.Labels == nil || len(q.Among) > maxLabelled {
		return nil, kg.Errorf(kg.Refused, "%s has no index to rank %d candidates", s.Name(), len(q.Among))
	}
	hits := map[string]*kg.Hit{}
	var order, ids []string
	for _, t := range q.Among {
		h := &kg.Hit{ID: t.String(), Type: kg.Literal, Label: t.Value, Term: &t, Uses: -1}
		if t.IsIRI() {
			h.ID, h.Type, h.Label = s.id(t.Value), kg.Item, ""
			switch wikibase := s.Explain.IsWikibase(); {
			case wikibase && strings.HasPrefix(h.ID, "P"), !wikibase && q.Type == kg.Property:
				h.Type = kg.Property
			}
		}
		old := hits[h.ID]
		if old == nil && (q.Type == "" || q.Type == h.Type) {
			hits[h.ID], old = h, h
			order = append(order, h.ID)
			if t.IsIRI() {
				ids = append(ids, h.ID)
			}
		}
		if v := variant(t.Value); v != "" && old != nil {
			old.Variants = append(old.Variants, v)
		}
	}
	labels, err := s.Labels.Labels(ctx, ids, []string{cmp.Or(q.Language, English.Code), "mul", English.Code})
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(q.Text))
	score := map[string]int{}
	for id, h := range hits {
		if h.Label == "" {
			h.Label = labels[id]
		}
		score[id] = overlap(words, strings.Fields(strings.ToLower(h.Label)))
	}
	order = slices.DeleteFunc(order, func(id string) bool { return score[id] == 0 })
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	out := &kg.SearchResult{More: len(order) > q.Offset+q.Limit}
	for _, id := range order[min(q.Offset, len(order)):min(q.Offset+q.Limit, len(order))] {
		out.Hits = append(out.Hits, *hits[id])
	}
	return out, nil
}

// variant returns the prefix of a Wikidata predicate, such as "wdt" for wdt:P31, or "" for any other IRI.
func variant(iri string) string {
	if id := rdf.EntityID(iri); !strings.HasPrefix(id, "P") || iri == rdf.Entity+id {
		return ""
	}
	prefix, _, _ := strings.Cut(rdf.Shorten(iri), ":")
	return prefix
}

// overlap scores a name by the search words it contains: two points for a whole word, one for a prefix.
func overlap(words, name []string) int {
	n := 0
	for _, w := range words {
		switch {
		case slices.Contains(name, w):
			n += 2
		case slices.ContainsFunc(name, func(x string) bool { return strings.HasPrefix(x, w) }):
			n++
		}
	}
	return n
}

// recordingExplorer writes every call to an explorer to the trajectory.
type recordingExplorer struct {
	explorer Explorer
	log      *event.Branch
	kg       string
}

func (x *recordingExplorer) Among(ctx context.Context, q event.AmongQuery) (*event.Among, error) {
	return recorded(ctx, x.log, event.Call{Op: "among", KG: x.kg}, q,
		func() (*event.Among, error) { return x.explorer.Among(ctx, q) })
}

func (x *recordingExplorer) Triples(ctx context.Context, q event.TriplesQuery) (*event.Triples, error) {
	return recorded(ctx, x.log, event.Call{Op: "triples", KG: x.kg}, q,
		func() (*event.Triples, error) { return x.explorer.Triples(ctx, q) })
}
