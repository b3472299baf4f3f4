package embedded

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Sink receives a query's result while the query runs. An error from any method stops the query.
type Sink interface {
	// Head is called once, before all rows, with the column names. If ask is true, the result is a boolean, which is
	// passed to Boolean.
	Head(vars []string, ask bool) error
	// Row is called for each solution. A zero Term represents an unbound variable. The slice is reused.
	Row(row []rdf.Term) error
	Boolean(b bool) error
}

// TripleSink is a Sink that is notified if its rows are the triples of a CONSTRUCT or DESCRIBE query.
type TripleSink interface {
	Sink
	// Triples is called before Head for such a query.
	Triples()
}

// parse parses a query. It converts a syntax error to a *kg.Error of kind SyntaxError that includes the position.
func (g *Graph) parse(query string) (*sparql.Query, error) {
	q, err := sparql.Parse(query)
	if err == nil {
		return q, nil
	}
	out := &kg.Error{Kind: kg.SyntaxError, Message: err.Error(), Err: err}
	var all sparql.Errors
	if errors.As(err, &all) && len(all) > 0 {
		first := all.First()
		out.Message, out.Line, out.Column = first.Message, first.Line, first.Column
		if first.Hint != "" {
			out.Message += " (" + first.Hint + ")"
		}
	}
	return nil, out
}

// Query runs a query and collects its result. Failures are *kg.Error values of kind SyntaxError, Refused, Timeout,
// TooGreedy, TooLarge or QueryFailed. If the caller canceled ctx, the error is the context's.
func (g *Graph) Query(ctx context.Context, query string) (*kg.Table, error) {
	took := g.elapsed()
	c := &collector{max: g.opts.MaxRows}
	if err := g.Stream(ctx, query, c); err != nil {
		return nil, err
	}
	c.table.Elapsed, c.table.Source = took(), g.opts.Name
	return &c.table, nil
}

// collector is a Sink that fills a table.
type collector struct {
	table kg.Table
	max   int64
	ex    *exec // counts the rows' bytes
}

// termBytes is the size of an [rdf.Term] in bytes.
const termBytes = 56

// Head stores the columns.
func (c *collector) Head(vars []string, ask bool) error {
	c.table.Vars, c.table.Ask = vars, ask
	return nil
}

// Row stores a row.
func (c *collector) Row(row []rdf.Term) error {
	if int64(len(c.table.Rows)) >= c.max {
		return kg.Errorf(kg.TooLarge, "the result has more than %d rows; add a LIMIT or narrow the pattern", c.max)
	}
	if err := c.ex.Alloc(48 + termBytes*len(row)); err != nil {
		if c.ex.Mem <= c.ex.Max {
			return err
		}
		return kg.Errorf(kg.TooLarge, "the result does not fit in the memory of a query (%d rows so far); add a LIMIT or narrow the pattern", len(c.table.Rows))
	}
	c.table.Rows = append(c.table.Rows, append([]rdf.Term(nil), row...))
	return nil
}

// Boolean stores the result.
func (c *collector) Boolean(b bool) error {
	c.table.Boolean = b
	return nil
}

// Stream runs a query and passes its result to the sink row by row. The result of a CONSTRUCT or DESCRIBE query has the
// columns subject, predicate and object. Stream returns the same errors as [Graph.Query], and any error from the sink.
// Rows may have been passed to the sink before an error.
func (g *Graph) Stream(ctx context.Context, query string, sink Sink) error {
	ctx, cancel := g.deadline(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return limit.ContextError(err)
	}
	c := &compiler{Meter: limit.NewMeter(ctx, g.opts.MaxMemory, g.pool), g: g, st: g.store}
	p, err := c.compile(query)
	if err != nil {
		c.Close()
		return err
	}
	ex := newExec(g, c.Meter, p)
	defer ex.Close()
	return ex.run(sink)
}

// treeSize is the approximate size of a query's syntax tree, in bytes per byte of query text.
const treeSize = 100

// compile parses a query and plans it.
func (c *compiler) compile(query string) (*plan, error) {
	if size := len(query) * treeSize; int64(size) > c.Max {
		return nil, kg.Errorf(kg.TooGreedy, "the text of the query is too long (%d bytes) for its %d MB of memory; shorten its VALUES", len(query), c.Max>>20)
	} else if err := c.Alloc(size); err != nil {
		return nil, err
	}
	q, err := c.g.parse(query)
	if err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	p := c.query(q)
	return p, c.Err
}

// run passes the plan's result to the sink.
func (ex *exec) run(sink Sink) error {
	p := ex.plan
	if c, ok := sink.(*collector); ok {
		c.ex = ex
	}
	if p.tmpl != nil {
		return ex.runGraph(sink)
	}
	ask := p.query.Form == sparql.Ask
	columns := p.columns
	if ask {
		columns = nil
	}
	if err := sink.Head(columns, ask); err != nil {
		return err
	}
	found := false
	row := make([]rdf.Term, len(p.slots))
	run := p.root.build(ex, func() error {
		found = true
		if ask {
			return nil
		}
		for i, s := range p.slots {
			row[i] = ex.term(ex.row[s])
		}
		if err := sink.Row(row); err != nil {
			return err
		}
		return ex.Tick()
	})
	if err := ex.start(run); err != nil {
		return err
	}
	if ask {
		return sink.Boolean(found)
	}
	return nil
}

// start runs run, unless a limit was reached while run was being built.
func (ex *exec) start(run runner) error {
	if ex.Err == nil {
		if err := run(); err != nil {
			return err
		}
	}
	return ex.Err
}
