package bot

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// Similar finds up to n earlier discussions that resemble a question and whose queries still return rows, best first.
// It runs the queries, within the endpoint's budget. It is not an error if there are none.
type Similar interface {
	Similar(ctx context.Context, question string, n int) ([]agent.Example, error)
}

// Recognizer judges whether two requests ask for the same thing. internal/ask implements it.
type Recognizer interface {
	Asked(ctx context.Context, key string, a agent.Asked) (*agent.Same, error)
}

// Figures finds the units and the years of the numbers in the first rows of an answer. The units are named in the given
// language. Even if there is an error, it returns the figures that it found.
type Figures interface {
	Find(ctx context.Context, a *agent.Answer, rows int, language string) ([]reply.Figure, error)
}

// besides is the content of a reply other than the answer.
type besides struct {
	earlier []forum.Earlier
	figures []reply.Figure
	yours   forum.Fault
	// settled: an answer in the thread was accepted; last: this is our last reply there; lastFailed: it is our last if it
	// has no answer
	settled, last, lastFailed bool
}

// besides collects the content of the reply other than the answer. All of it is optional; parts that fail are omitted.
func (b *Bot) besides(ctx context.Context, e *Entry, p place, out *agent.Outcome) (x besides) {
	x.earlier = b.similar(ctx, e, out.Answer)
	if n := len(p.comment.Queries); n > 0 && out.Answer != nil {
		x.yours = reply.Known(b.yours(ctx, p.comment.Queries[n-1].SPARQL, out.Answer.SPARQL), p.comment.Text)
	}
	if b.cfg.Figures == nil || out.Answer == nil {
		return x
	}
	language, _, _ := strings.Cut(strings.ToLower(out.Language), "-")
	var err error
	x.figures, err = guard("the search for units", func() ([]reply.Figure, error) {
		return b.cfg.Figures.Find(ctx, out.Answer, forum.MaxRows, language)
	})
	if err != nil {
		b.lg.Warn("the units and dates of numbers were not found", "entry", e.Key, "error", err)
	}
	return x
}

// yours returns the fault in a query that was posted with a request. It examines the query, compares it with the
// answer's query and, if neither reveals a fault, runs it.
func (b *Bot) yours(ctx context.Context, query, answer string) forum.Fault {
	f := reply.Yours(query)
	if f == (forum.Fault{}) {
		f = reply.Instead(query, answer)
	}
	if f.ID != "" || b.cfg.Compare == nil || query == "" {
		return f
	}
	c, err := guard("the run of the poster's query", func() (Comparison, error) {
		return b.cfg.Compare.Compare(ctx, "", query)
	})
	return reply.Ran(f, c.Theirs, c.Slow, err)
}

// maxSimilar is the maximum number of earlier discussions that a reply links to.
const maxSimilar = 2

// similar searches for earlier discussions to mention in the reply to a request. For a follow-up, it returns none. If
// an earlier discussion answers the request (see answersToo), it returns only that discussion. If the search fails, the
// reply is posted without earlier discussions.
func (b *Bot) similar(ctx context.Context, e *Entry, answer *agent.Answer) []forum.Earlier {
	if b.cfg.Similar == nil || e.Kind != Request {
		return nil
	}
	found, err := guard("the search for earlier discussions", func() ([]agent.Example, error) {
		return b.cfg.Similar.Similar(ctx, e.Question, maxSimilar)
	})
	if err != nil {
		b.lg.Warn("the search for earlier discussions failed", "entry", e.Key, "error", err)
		return nil
	}
	var out []forum.Earlier
	for _, x := range found[:min(len(found), maxSimilar)] {
		d := forum.Earlier{Page: x.Page, Heading: x.Heading, Month: x.Month}
		if d.Same = b.answersToo(ctx, e, answer, x); d.Same {
			return []forum.Earlier{d}
		}
		out = append(out, d)
	}
	return out
}

// answersToo reports whether the query of an earlier discussion answers an entry's request. It does if the query, run
// now, returns the same rows as our own answer, and the model confirms that the requests are the same. Because a single
// row, such as a count, may match by chance, both queries must then also mention the same items. When in doubt,
// answersToo returns false, because wrongly claiming that a question was asked before helps no one.
func (b *Bot) answersToo(ctx context.Context, e *Entry, answer *agent.Answer, x agent.Example) bool {
	if b.cfg.Compare == nil || b.cfg.Recognize == nil || answer == nil || x.SPARQL == "" {
		return false
	}
	c, err := guard("the comparison with an earlier query", func() (Comparison, error) {
		return b.cfg.Compare.Compare(ctx, answer.SPARQL, x.SPARQL)
	})
	if err != nil {
		b.lg.Warn("an earlier query was not compared", "entry", e.Key, "error", err)
		return false
	}
	if !c.Same || c.Ours == 0 || c.Ours == 1 && !reply.SameItems(answer.SPARQL, x.SPARQL) {
		return false
	}
	same, err := guard("the judgment of an earlier request", func() (*agent.Same, error) {
		return b.cfg.Recognize.Asked(ctx, e.Key, agent.Asked{Question: e.Question, Query: answer.SPARQL,
			Earlier: x.Question, Theirs: x.SPARQL})
	})
	if err != nil {
		b.lg.Warn("an earlier request was not judged", "entry", e.Key, "error", err)
	}
	return err == nil && same != nil && same.Same
}
