package tool

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// maxPredicates is the maximum number of predicates ranked (the paper's topN_vec).
const maxPredicates = 400

// predicate is one of a candidate's predicates: its node in the graph's index, and its words, or "" if they are
// unknown.
type predicate struct {
	term  rdf.Term
	words string
}

// byMeaning returns the indexes of candidates, the most similar to semantic first. It combines the ranking by the
// graph's search, which searches by meaning if it can and also finds aliases, with the similarity in spelling. The
// similarity of a candidate with two predicates is the average of their similarities or the similarity of their
// combined words, whichever is higher.
func (env *Env) byMeaning(ctx context.Context, semantic string, candidates [][]predicate) ([]int, error) {
	hits, err := env.found(ctx, semantic, candidates)
	if err != nil {
		return nil, err
	}
	score := make([]float64, len(candidates))
	for i, c := range candidates {
		sum, whole := 0.0, ""
		for _, p := range c {
			letters := kbqa.Meant(semantic, p.words)
			if h, ok := hits[p.term]; ok {
				letters = max(letters, kbqa.Meant(semantic, h.label), kbqa.Meant(semantic, h.match))
				sum += 0.5 / float64(1+h.place)
				whole += h.label + " "
			} else {
				whole += p.words + " "
			}
			sum += letters
		}
		score[i] = max(sum/float64(len(c)), kbqa.Meant(semantic, whole))
	}
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order, nil
}

// found searches the graph for the candidates' predicates and returns the hits. If the search fails, it returns no
// hits, because candidates can also be ranked by spelling.
func (env *Env) found(ctx context.Context, semantic string, candidates [][]predicate) (map[rdf.Term]match, error) {
	s := env.Source
	if s.Finder == nil {
		return nil, nil
	}
	q := kg.FindQuery{Text: semantic, Type: kg.Property, Language: env.Language.Code, Meaning: true, Limit: 2 * kbqaShown}
	seen := map[rdf.Term]bool{}
	for _, c := range candidates {
		for _, p := range c {
			if !seen[p.term] && len(q.Among) < maxPredicates {
				seen[p.term] = true
				q.Among = append(q.Among, p.term)
			}
		}
	}
	res, err := s.Find(ctx, q)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case event.IsWriteError(err):
		return nil, err
	case err != nil:
		env.Log.InfoContext(ctx, "agent: ranking predicates by their letters only", "question", env.Question.ID, "err", err)
		return nil, nil
	}
	out := map[rdf.Term]match{}
	for i, h := range res.Hits {
		t := hitTerm(h)
		if _, twice := out[t]; !twice {
			out[t] = match{i, h.Label, h.MatchText}
		}
	}
	return out, nil
}

// match is a hit from the graph's search: its rank, its label and the name by which it was found.
type match struct {
	place        int
	label, match string
}

// hitTerm returns the node that a hit refers to.
func hitTerm(h kg.Hit) rdf.Term {
	switch {
	case h.Term != nil:
		return *h.Term
	case rdf.ValidID(h.ID):
		return rdf.IRI(rdf.Entity + h.ID)
	}
	return rdf.IRI(strings.Trim(h.ID, "<>"))
}
