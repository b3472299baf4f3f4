package noisy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// good is the minimum score at which an answer is considered right.
const good = 0.99

// score returns how good a query's result is, from 0 to 1.
func (t *turn) score(query string) float64 {
	switch {
	case same(query, t.gold):
		return 1
	case query == "":
		return 0
	case t.o.Score == nil && sparql.NormalForm(query) == sparql.NormalForm(t.gold):
		return 1
	case t.o.Score == nil:
		return 0
	}
	return t.o.Score(t.req.Subject, query)
}

// verdict returns the response to a request to judge the current answer.
func (t *turn) verdict() llm.Choice {
	query := ""
	if q := t.req.Facts.Queries; len(q) > 0 {
		query = q[0]
	}
	right := t.score(query) >= good
	if t.rnd.Float64() >= t.o.Right {
		right = !right
	}
	v := map[string]string{"status": "done", "feedback": "It fits."}
	if !right {
		v = map[string]string{"status": "retry", "feedback": "The reading is doubtful."}
	}
	return t.reply(v)
}

// reply calls the request's only tool, or writes the arguments as text if the request does not have one.
func (t *turn) reply(arguments any) llm.Choice {
	args, _ := json.Marshal(arguments)
	if len(t.req.Tools) == 0 {
		return said(string(args))
	}
	return called(call{t.req.Tools[0].Name, args})
}

// best returns the index of the best query with probability Right, and otherwise the index of a different one. Among
// equally good queries, it chooses the first.
func (t *turn) best(queries []string, rnd *rand.Rand) int {
	top, scores := 0, make([]float64, len(queries))
	for i, q := range queries {
		if scores[i] = t.score(q); scores[i] > scores[top] {
			top = i
		}
	}
	if rnd.Float64() < t.o.Right || len(queries) < 2 {
		return top
	}
	other := rnd.IntN(len(queries) - 1)
	if other >= top {
		other++
	}
	return other
}

// choose returns the response to a request to pick one of several answers.
func (t *turn) choose() llm.Choice {
	return t.reply(map[string]any{"answer": t.best(t.req.Facts.Queries, t.rnd) + 1, "why": "It fits the question."})
}

// last returns the last query that returned something, or "" if there is none.
func (t *turn) last() string {
	out := ""
	for _, d := range t.req.Facts.Done {
		if d.Query != "" && d.Rows {
			out = d.Query
		}
	}
	return out
}

// variant returns the best of the variants shown, or the last query that returned something if no variant is better. If
// no variants were shown, it returns "".
func (t *turn) variant() string {
	shown := t.req.Facts.Queries
	if len(shown) == 0 {
		return ""
	}
	own := t.last()
	for _, v := range shown {
		if same(v, own) { // the variant was already chosen
			return own
		}
	}
	all := append([]string{own}, shown...)
	return all[t.best(all, t.chance("variants", t.req.Subject, seedOf(t.req)))]
}

// maxPoints is the maximum number of points that a judge can award.
const maxPoints = 10

// points scores a search state by its last query or, if no query has been run, by how much has been explored. A wrong
// judgment is the opposite of the right one.
func (t *turn) points() llm.Choice {
	value, ran := 0.0, false
	for _, d := range t.req.Facts.Done {
		switch {
		case d.Query != "" && d.Rows:
			ran, value = true, 0.2+0.8*t.score(d.Query)
		case d.Query != "":
			ran, value = true, 0
		case !ran:
			value = min(value+0.1, 0.4)
		}
	}
	if t.rnd.Float64() >= t.o.Right {
		value = 1 - value
	}
	return said(fmt.Sprintf("What the question asks for was looked for in the observations.\nPoints: %d/%d",
		int(value*maxPoints+0.5), maxPoints))
}
