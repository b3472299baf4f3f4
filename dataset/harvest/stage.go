package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/text"
)

// picked is the query of a discussion that may become a candidate.
type picked struct {
	index   int // index into Queries, or -1 if there is no such query
	sparql  string
	reason  dataset.Reason // why there is no such query
	detail  string
	pending bool // the last query is behind a short link that has not been resolved yet
}

// pick chooses the last-mentioned query that our bot did not post. A short link that does not lead to a query is
// skipped. If a short link has not been resolved yet, the discussion must wait, since the link may lead to the
// last-mentioned query.
func (h *Harvest) pick(ctx context.Context, d *dataset.Candidate) (picked, error) {
	p := picked{index: -1, reason: dataset.NoQuery}
	for i := len(d.Queries) - 1; i >= 0; i-- {
		q := &d.Queries[i]
		if q.Bot {
			if p.reason == dataset.NoQuery {
				p.reason = dataset.BotOnly
			}
			continue
		}
		if q.SPARQL != "" {
			return picked{index: i, sparql: q.SPARQL}, nil
		}
		l, ok, err := h.link(ctx, q.URL)
		switch {
		case err != nil:
			return p, err
		case !ok && h.Links != nil:
			return picked{index: -1, pending: true, detail: "the short link " + q.URL + " is not resolved yet"}, nil
		case l.SPARQL != "":
			return picked{index: i, sparql: l.SPARQL}, nil
		}
		if p.reason = dataset.BadShortLink; p.detail == "" {
			p.detail = q.URL + ": " + l.Why
		}
	}
	return p, nil
}

// assess determines the stage that a discussion has reached. The candidate that it returns is complete except for data
// that depends on other candidates (near-duplicates).
func (h *Harvest) assess(ctx context.Context, d dataset.Candidate) (*dataset.Candidate, error) {
	if d.Stage == dataset.Gone {
		return &d, nil
	}
	for i := range d.Queries {
		if q := &d.Queries[i]; q.SPARQL == "" && q.URL != "" {
			l, _, err := h.link(ctx, q.URL)
			if err != nil {
				return nil, err
			}
			q.SPARQL = l.SPARQL
		}
	}
	p, err := h.pick(ctx, &d)
	if err != nil {
		return nil, err
	}
	if p.index < 0 {
		d.Detail = p.detail
		if !p.pending {
			d.Stage, d.Reason = dataset.Rejected, p.reason
		}
		return &d, nil
	}
	d.Original = p.sparql
	c := clean(p.sparql)
	if c.reason != "" {
		d.Stage, d.Reason, d.Detail = dataset.Rejected, c.reason, c.detail
		return &d, nil
	}
	d.Cleaned = c.text
	d.Notes = append(d.Notes, c.notes...)
	describe(&d, &c)
	o, err := h.known(ctx, d.ID, c.text)
	if err != nil || o == nil {
		return &d, err
	}
	d.Notes = append(d.Notes, o.Notes...)
	d.Detail = o.Detail
	if o.Reason != "" {
		d.Stage, d.Reason = dataset.Rejected, o.Reason
		return &d, nil
	}
	d.Stage, d.Result, d.Labels = dataset.Staged, o.Result, o.Labels
	if o.Unlabelled {
		d.Notes = append(d.Notes, "the labels could not be read; the next harvest asks again")
	}
	d.Annotated = sparql.Print(c.query, sparql.PrintOptions{Replace: true, NoComments: true,
		Label: func(id string) string { return o.Labels[id] }})
	return &d, h.advice(ctx, &d)
}

// describe fills in the data that can be derived from the query's syntax tree.
func describe(d *dataset.Candidate, c *cleaned) {
	m := measure.Query(c.query)
	d.Metrics = &dataset.Metrics{Clauses: m.Clauses, Projections: m.Projections, Relations: m.Relations,
		Subjects: m.Subjects, Predicates: m.Predicates, Objects: m.Objects, Literals: m.Literals}
	d.Entities, d.Properties = numbers(c.query)
	d.Features = measure.Features(c.query)
	d.Pattern = measure.Shape(c.query)
	t := trim(c.query)
	d.Flags, d.Trimmed = t.flags, t.text
	d.Notes = append(d.Notes, t.notes...)
}

// maxAdviceFailures is the number of consecutive failures after which the suggester is not asked again until the next
// run.
const maxAdviceFailures = 3

// advise asks the suggester for advice on a staged candidate, unless it has been asked before.
func (h *Harvest) advise(ctx context.Context, d *dataset.Candidate) (did bool, err error) {
	if h.Suggest == nil || h.mute {
		return false, nil
	}
	c, err := h.assess(ctx, *d)
	if err != nil || c.Stage != dataset.Staged {
		return false, err
	}
	if a, err := h.savedAdvice(ctx, c); err != nil || a != nil {
		return false, err
	}
	if c.Descriptions, err = h.descriptions(ctx, c); err != nil {
		return true, err
	}
	s, err := h.Suggest.Suggest(ctx, c)
	a := advice{Query: hashText(c.Cleaned), Suggestion: s, Descriptions: c.Descriptions}
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.Is(err, ErrUnusable):
		h.Log.Warn("a suggestion is left out", "candidate", c.ID, "error", err)
		a.Why = text.Clip(printable(err.Error()), 300)
		h.pace.unusable++
	case err != nil:
		h.Log.Warn("no suggestion; the next harvest asks again", "candidate", c.ID, "error", err)
		h.adviceFailures++
		h.mute = errors.Is(err, ErrNoAdvice) || h.adviceFailures >= maxAdviceFailures
		return true, nil
	}
	h.adviceFailures = 0
	h.pace.advised++
	data, err := json.Marshal(a)
	if err != nil {
		return true, err
	}
	return true, h.Store.Put(ctx, adviceNote+c.ID, data)
}

// maxDescribed is the maximum number of IDs in a query whose descriptions are requested.
const maxDescribed = 200

// descriptions asks the first available endpoint for the English descriptions of a query's IDs, all in one query. They
// tell a suggester, for example, which Victoria the query means. If there are none, the suggester is asked anyway. The
// error is the context's error.
func (h *Harvest) descriptions(ctx context.Context, c *dataset.Candidate) (map[string]string, error) {
	var b strings.Builder
	ids := slices.Concat(c.Entities, c.Properties)
	for _, id := range ids[:min(len(ids), maxDescribed)] {
		if c.Labels[id] != "" {
			b.WriteString(" <" + rdf.Entity + id + ">")
		}
	}
	if b.Len() == 0 {
		return nil, nil
	}
	query := fmt.Sprintf("SELECT ?id ?text WHERE { VALUES ?id {%s } ?id <http://schema.org/description> ?text . FILTER(LANG(?text) = %q) }", b.String(), language)
	for i := range h.Endpoints {
		e := &h.Endpoints[i]
		if h.stopped != nil || h.Now().Before(h.downUntil[e.Name]) {
			continue
		}
		t, err := e.Graph.Query(ctx, query)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			h.Log.Warn("no descriptions for the model", "endpoint", e.Name, "error", err)
			return nil, nil
		}
		out := map[string]string{}
		for _, row := range t.Rows {
			if id, ok := strings.CutPrefix(row[0].Value, rdf.Entity); ok && len(row) == 2 {
				out[id] = text.Clip(row[1].Value, 300)
			}
		}
		return out, nil
	}
	return nil, nil
}

// advice is a suggester's advice on a query, as stored.
type advice struct {
	Query      string              `json:"query"`
	Suggestion *dataset.Suggestion `json:"suggestion"`    // nil if the suggester returned nothing usable
	Why        string              `json:"why,omitempty"` // why the answer was unusable

	Descriptions map[string]string `json:"descriptions,omitempty"` // descriptions shown to the suggester
}

func (h *Harvest) savedAdvice(ctx context.Context, c *dataset.Candidate) (*advice, error) {
	data, ok, err := h.Store.Get(ctx, adviceNote+c.ID)
	if err != nil || !ok {
		return nil, err
	}
	var a advice
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if a.Query != hashText(c.Cleaned) {
		return nil, nil
	}
	return &a, nil
}

// advice adds the suggester's advice to a candidate.
func (h *Harvest) advice(ctx context.Context, c *dataset.Candidate) error {
	a, err := h.savedAdvice(ctx, c)
	if err != nil || a == nil {
		return err
	}
	c.Descriptions = a.Descriptions
	if c.Suggestion = a.Suggestion; a.Suggestion == nil {
		c.Notes = append(c.Notes, a.Why)
	}
	return nil
}
