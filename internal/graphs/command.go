package graphs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/text"
)

// ReadFile returns the built-in graphs and the graphs in a file. If file is "", it returns only the built-in graphs.
// The error for a file with mistakes is a [registry.Mistakes].
func ReadFile(file string) (*registry.Registry, error) {
	if file == "" {
		return registry.New(), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("KG_FILE: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, registry.MaxFile+1)) // a device file may be endless
	if err != nil {
		return nil, fmt.Errorf("KG_FILE: %w", err)
	}
	return registry.Read(file, data)
}

// List writes one line for each graph.
func List(w io.Writer, r *registry.Registry) {
	fmt.Fprintf(w, "%-20s %-9s %-9s %s\n", Embedded, "wdqs", "wikibase", "the built-in slice of Wikidata, in memory")
	for _, e := range r.Entries() {
		fmt.Fprintf(w, "%-20s %-9s %-9s %s%s\n", e.Name, e.Dialect, e.Statements, e.Endpoint, mark(e))
	}
}

// mark returns the remarks shown after an entry in the list.
func mark(e *registry.Entry) string {
	var out []string
	if e.Unconfirmed {
		out = append(out, "unconfirmed")
	}
	if !e.BuiltIn() {
		out = append(out, fmt.Sprintf("%s:%d", e.File, e.Line))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// Show writes an entry in the format of KG_FILE, followed by its measurements.
func (o *Opener) Show(w io.Writer, e *registry.Entry) {
	fmt.Fprintf(w, "graphs:\n%s", e.Text())
	if e.Unconfirmed {
		fmt.Fprintf(w, "# The address has not been checked: spinachbot kg check %s\n", e.Name)
	}
	if m, ok := registry.Recall(o.DataDir, e, o.Clock.Now()); ok {
		for _, l := range m.Lacks {
			fmt.Fprintf(w, "# %s (measured %s)\n", l, m.At.Format(time.DateOnly))
		}
	}
}

// Checkup queries the endpoint of an entry, writes what it finds, and stores the graph's known gaps. ok is false if the
// endpoint does not respond or its data does not match the entry.
func (o *Opener) Checkup(ctx context.Context, w io.Writer, e *registry.Entry) (ok bool, err error) {
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Endpoint)
	service, err := o.Service(e)
	if err != nil {
		return false, err
	}
	start := o.Clock.Now()
	if _, err := registry.Probe(ctx, service.Query); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		fmt.Fprintf(w, "  does not answer: %s\n", text.Clean(err.Error()))
		return false, nil
	}
	fmt.Fprintf(w, "  answers within %s\n", o.Clock.Now().Sub(start).Round(time.Millisecond))
	ok = true
	if e.Indexed() {
		if err := o.checkIndex(ctx, e); err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			ok = false
			fmt.Fprintf(w, "  its index: %s\n", text.Clean(err.Error()))
		}
	}
	for _, part := range []struct {
		key   string
		names []string
	}{{"labels", e.Labels}, {"aliases", e.Aliases}, {"descriptions", e.Descriptions}, {"types", e.Types},
		{"subclass", one(e.Subclass)}} {
		for _, name := range part.names {
			iri, _ := e.Expand(name)
			t, err := service.Query(ctx, "ASK { ?s <"+iri+"> ?o }")
			switch {
			case ctx.Err() != nil:
				return false, ctx.Err()
			case err != nil:
				fmt.Fprintf(w, "  %s: %s: no answer: %s\n", part.key, name, text.Clean(err.Error()))
			case !t.Boolean:
				// kg add leaves these out for a graph without labels or types: that is a gap in the graph, not a mistake
				usual := name == "rdfs:label" || name == "rdf:type"
				ok = ok && (usual || part.key != "labels" && part.key != "types")
				fmt.Fprintf(w, "  %s: nothing has %s\n", part.key, name)
			}
		}
	}
	lacks, err := registry.Lacks(ctx, service.Query, &e.Description)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		fmt.Fprintf(w, "  its gaps are unknown: %s\n", text.Clean(err.Error()))
		return ok, nil
	}
	for _, l := range lacks {
		fmt.Fprintf(w, "  %s\n", l)
	}
	m := registry.Measurement{Endpoint: e.Endpoint, At: o.Clock.Now().UTC().Truncate(time.Second), Lacks: lacks}
	return ok, registry.Keep(o.DataDir, e, m)
}

// checkIndex verifies an entry's index file or queries its OpenSearch server.
func (o *Opener) checkIndex(ctx context.Context, e *registry.Entry) (err error) {
	if e.OpenSearch != nil {
		c, err := o.OpenSearch(e)
		if err == nil {
			_, err = c.Search(ctx, lookup.Query{Text: "a", Limit: 1})
		}
		return err
	}
	file, err := o.File(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return file.Verify(ctx)
}

func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// Draft creates an entry for [Opener.Add] from an address alone. If name is "", it is
// derived from the address. The error explains what is wrong with the name or the address.
func (o *Opener) Draft(name, address string) (*registry.Entry, error) {
	if name == "" {
		name = registry.NameFor(address, o.Registry.Names())
	}
	return registry.EntryOf(name, address, &registry.Profile{Description: kg.Description{Dialect: "standard"}})
}

// Add queries the draft's endpoint to find out what its graph contains, and adds an entry to a file. It writes its
// progress and findings to w. Errors explain what to do.
func (o *Opener) Add(ctx context.Context, w io.Writer, file string, draft *registry.Entry) error {
	if file == "" {
		return errors.New("KG_FILE names the file that gets the entry; set it, for example KG_FILE=graphs.yaml")
	}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name, address := draft.Name, draft.Address
	service, err := o.Service(draft)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "asking %s …\n", draft.Endpoint)
	p, err := registry.Ask(ctx, service.Query)
	if err != nil {
		return fmt.Errorf("%s does not answer as a query service: %w", draft.Endpoint, err)
	}
	e, err := registry.EntryOf(name, address, p)
	if err != nil {
		return err
	}
	note := "Added by spinachbot kg add on " + o.Clock.Now().UTC().Format(time.DateOnly) + "."
	if p.Triples >= 0 {
		note += fmt.Sprintf(" Triples: %d.", p.Triples)
	}
	out, err := registry.Add(file, data, e, note)
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(file); err == nil && string(now) != string(data) {
		return fmt.Errorf("%s was changed in the meantime; run the command again", file)
	}
	if err := registry.WriteFile(file, out); err != nil {
		return err
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "  %s\n", text.Clean(n))
	}
	for _, c := range p.Classes[:min(len(p.Classes), 5)] {
		fmt.Fprintf(w, "  class %s: %d\n", e.Compact(c.IRI), c.N)
	}
	fmt.Fprintf(w, "%s: added the graph %s:\n%s", file, name, e.Text())
	fmt.Fprintf(w, "Try it: spinachbot kg check %s; spinachbot ask --kg %s QUESTION\n", name, name)
	return nil
}

// Shape returns the shape of a class in the first of the named graphs.
func (o *Opener) Shape(ctx context.Context, names, class, lang string) (*kg.Shape, error) {
	sources, err := o.Open(ctx, names)
	if err != nil {
		return nil, err
	}
	s, err := shapeOf(ctx, sources.Main(), class, lang)
	if kg.KindOf(err) == kg.BadID { // if the service is down, report that rather than an unknown prefix
		if _, down := registry.Probe(ctx, sources.Main().Graph.Query); down != nil {
			err = down
		}
	}
	return s, err
}

func shapeOf(ctx context.Context, s *tool.Source, class, lang string) (*kg.Shape, error) {
	if s.Shapes == nil {
		return nil, fmt.Errorf("the graph %s has no shapes", s.Name())
	}
	return s.Shapes.Shape(ctx, class, lang)
}
