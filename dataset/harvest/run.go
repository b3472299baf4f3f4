package harvest

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
)

// MaxBytes is the maximum size of a result (SPINACH's limit).
const MaxBytes = 10 << 20

// restAfterDown is how long to wait before retrying an endpoint that did not respond.
const restAfterDown = 10 * time.Minute

// probe is the query that distinguishes a dead endpoint from one that only fails on a particular query.
const probe = "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"

// outcome is the result of running a query; it is stored under the discussion's ID.
type outcome struct {
	Query  string            `json:"query"` // hash of the query's text
	Reason dataset.Reason    `json:"reason,omitempty"`
	Detail string            `json:"detail,omitempty"`
	Result *dataset.Result   `json:"result,omitempty"`
	Notes  []string          `json:"notes,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// the labels could not be fetched; the next harvest asks again
	Unlabelled bool `json:"unlabelled,omitempty"`
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// known returns the stored outcome of a query, or nil if the query was never run.
func (h *Harvest) known(ctx context.Context, id, text string) (*outcome, error) {
	data, ok, err := h.Store.Get(ctx, runNote+id)
	if err != nil || !ok {
		return nil, err
	}
	var o outcome
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("the note on %s cannot be read: %w", id, err)
	}
	if o.Query != hashText(text) {
		return nil, nil
	}
	return &o, nil
}

func (h *Harvest) keep(ctx context.Context, id string, o *outcome) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return h.Store.Put(ctx, runNote+id, data)
}

// runQuery runs a discussion's query unless its outcome is known, and stores the outcome.
func (h *Harvest) runQuery(ctx context.Context, d *dataset.Candidate) (did bool, err error) {
	if h.stopped != nil {
		return false, nil
	}
	p, err := h.pick(ctx, d)
	if err != nil || p.index < 0 {
		return false, err
	}
	c := clean(p.sparql)
	if c.reason != "" {
		return false, nil
	}
	o, err := h.known(ctx, d.ID, c.text)
	if err != nil {
		return false, err
	}
	again := o == nil || o.Reason == dataset.EndpointDown || h.o.Retry && h.mayDoBetter(o.Reason)
	if !again && !o.Unlabelled {
		return false, nil
	}
	if again {
		var t *kg.Table
		o, t, err = h.execute(ctx, &c)
		if errors.Is(err, ErrEndpointDown) {
			h.stopped = err
			// the reason was logged when the endpoint was found to be down, and will be reported when the harvest ends
			h.Log.Error("no more queries are run")
			return true, nil
		}
		if err != nil {
			return true, err
		}
		o.Query = hashText(c.text)
		h.pace.queries++
		if o.Reason == "" {
			h.pace.staged++
			if err := h.saveResult(d.ID, t); err != nil {
				return true, err
			}
		}
	}
	if o.Result != nil {
		if err := h.label(ctx, &c, o); err != nil {
			return true, err
		}
	}
	return true, h.keep(ctx, d.ID, o)
}

func (h *Harvest) label(ctx context.Context, c *cleaned, o *outcome) error {
	o.Unlabelled = false
	if h.Labels == nil {
		return nil
	}
	entities, properties := numbers(c.query)
	labels, err := h.Labels.Labels(ctx, append(entities, properties...), []string{language, "mul"})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		h.Log.Warn("no labels; the next harvest asks again", "error", err)
		o.Unlabelled = true
		return nil
	}
	o.Labels = labels
	return nil
}

// execute tries the endpoints in turn until one of them returns rows. If none does, the outcome is that of the first
// endpoint that could be queried. The error is the context's error or wraps ErrEndpointDown.
func (h *Harvest) execute(ctx context.Context, c *cleaned) (*outcome, *kg.Table, error) {
	var first *outcome
	var down error
	for i := range h.Endpoints {
		e := &h.Endpoints[i]
		if h.Now().Before(h.downUntil[e.Name]) {
			down = fmt.Errorf("%s did not answer a while ago", e.Name)
			continue
		}
		o, t, err := h.ask(ctx, e, c)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			down = err
			h.downUntil[e.Name] = h.Now().Add(restAfterDown)
			h.Log.Warn("endpoint down", "endpoint", e.Name, "error", err)
			continue
		case o.Reason == "":
			if first != nil {
				o.Notes = append(o.Notes, fmt.Sprintf("run on the second endpoint %s because the first one answered %s",
					e.Name, first.Reason))
			}
			return o, t, nil
		case first == nil:
			first = o
		default:
			first.Detail = text.Clip(first.Detail+"; "+e.Name+": "+string(o.Reason)+" "+o.Detail, 500)
		}
		if !otherMayHelp(first.Reason) {
			break
		}
	}
	if first == nil {
		return nil, nil, fmt.Errorf("%w (%w)", ErrEndpointDown, down)
	}
	return first, nil, nil
}

// otherMayHelp reports whether another endpoint may answer a query that the first one did not. A result that is empty
// or too large on one endpoint is the same on all of them.
func otherMayHelp(r dataset.Reason) bool { return r != dataset.TooLarge && r != dataset.Empty }

// mayDoBetter reports whether a failed query is worth another run: it may now finish in time, or a second endpoint may
// have been added.
func (h *Harvest) mayDoBetter(r dataset.Reason) bool {
	return r == dataset.Timeout || r == dataset.Failed || r != "" && otherMayHelp(r) && len(h.Endpoints) > 1
}

// ask runs a query on one endpoint. An error means that the endpoint is down for all queries.
func (h *Harvest) ask(ctx context.Context, e *Endpoint, c *cleaned) (*outcome, *kg.Table, error) {
	query, o := c.text, &outcome{}
	if e.Dialect != "" {
		r, err := rewrite.Query(query, e.Dialect, rewrite.Options{Language: language})
		if err != nil {
			return &outcome{Reason: dataset.Failed, Detail: text.Clip("cannot be rewritten to "+string(e.Dialect)+": "+
				err.Error(), 500)}, nil, nil
		}
		if query != r.Text {
			o.Notes = r.Notes
		}
		query = r.Text
	}
	t, err := e.Graph.Query(ctx, query)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return h.failure(ctx, e, err)
	}
	return h.result(e, c, query, o, t)
}

func (h *Harvest) result(e *Endpoint, c *cleaned, text string, o *outcome, t *kg.Table) (*outcome, *kg.Table, error) {
	size := t.Bytes
	if size == 0 {
		n := &counter{}
		if err := t.WriteJSON(n); err != nil {
			return nil, nil, err
		}
		size = n.n
	}
	mark := ""
	if !e.Full {
		mark = scholarly(c.query)
	}
	switch {
	case size > MaxBytes:
		return &outcome{Reason: dataset.TooLarge, Detail: fmt.Sprintf("%d bytes", size)}, nil, nil
	case t.Empty() && mark != "":
		return &outcome{Reason: dataset.Scholarly, Detail: "no rows, and it names " + mark +
			", which the main graph no longer has since the split"}, nil, nil
	case t.Empty():
		return &outcome{Reason: dataset.Empty}, nil, nil
	case mark != "":
		o.Notes = append(o.Notes, "rows may be missing: it names "+mark+
			", and scholarly articles are in the other half of the split graph")
	}
	some, err := sample(t)
	if err != nil {
		return nil, nil, err
	}
	o.Result = &dataset.Result{
		Endpoint: e.Name, RanAt: h.Now().UTC().Truncate(time.Second), MS: t.Elapsed.Milliseconds(), Rows: len(t.Rows),
		Bytes: size, Hash: HashRows(t), Head: t.Vars, Sample: some,
	}
	if t.Ask {
		o.Result.Rows = 1
	}
	if text != c.text {
		o.Result.Rewritten = text
	}
	return o, t, nil
}

// reasons maps kinds of failure to reasons in the funnel. Unlisted kinds become Failed.
var reasons = map[kg.Kind]dataset.Reason{
	kg.SyntaxError: dataset.SyntaxError, kg.Refused: dataset.RefusedHost, kg.Timeout: dataset.Timeout,
	kg.TooLarge: dataset.TooLarge,
}

// failure returns the outcome of a failed call. It returns an error if the endpoint will not answer any query because
// it has banned us, requests a pause that is too long, or does not even answer the simplest query.
func (h *Harvest) failure(ctx context.Context, e *Endpoint, err error) (*outcome, *kg.Table, error) {
	var ke *kg.Error
	detail := err.Error()
	if errors.As(err, &ke) {
		detail = ke.Message
	}
	kind := kg.KindOf(err)
	if kind == kg.Down || kind == kg.Timeout || kind == "" { // on an endpoint that hangs, every query times out
		if _, perr := e.Graph.Query(ctx, probe); ctx.Err() != nil {
			return nil, nil, ctx.Err()
		} else if perr != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	switch kind {
	case kg.RateLimited, kg.Banned:
		return nil, nil, fmt.Errorf("%s: %w", e.Name, err)
	case kg.Down, "":
		return &outcome{Reason: dataset.EndpointDown, Detail: text.Clip(detail+
			" (for this query; the endpoint answers others)", 500)}, nil, nil
	default:
		r, ok := reasons[kind]
		if !ok {
			r = dataset.Failed
		}
		return &outcome{Reason: r, Detail: text.Clip(detail, 500)}, nil, nil
	}
}

// counter counts the bytes written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func (h *Harvest) saveResult(id string, t *kg.Table) error {
	name, err := dataset.ResultPath(h.o.Dir, id)
	if err != nil {
		return err
	}
	return dataset.ReplaceFileFunc(name, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := t.WriteJSON(z); err != nil {
			return err
		}
		return z.Close()
	})
}

func (h *Harvest) removeResult(id string) error {
	name, err := dataset.ResultPath(h.o.Dir, id)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
