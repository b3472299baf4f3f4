package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Measurement records what a graph was found to lack, with the time and the endpoint.
type Measurement struct {
	Endpoint string    `json:"endpoint"` // the endpoint that was measured, without secrets
	At       time.Time `json:"at"`
	Lacks    []string  `json:"lacks"`
}

// MaxAge is the age at which a measurement is repeated.
const MaxAge = 30 * 24 * time.Hour

// Lacks runs a few queries to find out what a graph lacks, and returns one sentence for each gap. It omits gaps that
// could not be measured. It returns an error only if ctx is done or the graph answers no query.
func Lacks(ctx context.Context, query Query, d *kg.Description) ([]string, error) {
	l := &lacking{ctx: ctx, query: query, d: WithPrefixes(*d)}
	l.labels()
	if l.d.IsWikibase() {
		l.statements()
	} else {
		l.vocabulary()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.answered == 0 {
		return nil, l.err
	}
	return l.out, nil
}

type lacking struct {
	ctx      context.Context
	query    Query
	d        kg.Description
	out      []string
	answered int
	err      error
}

func (l *lacking) say(format string, args ...any) {
	l.out = append(l.out, fmt.Sprintf(format, args...))
}

// ask runs a query. If the service was down for the first query, ask runs no more queries.
func (l *lacking) ask(query string) (*kg.Table, bool) {
	if l.answered == 0 && kg.KindOf(l.err) == kg.Down {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(l.ctx, askTime)
	defer cancel()
	t, err := l.query(ctx, query)
	if err != nil {
		l.err = err
		return nil, false
	}
	l.answered++
	return t, true
}

// iris formats properties from the description as a list of IRIs in query syntax.
func (l *lacking) iris(names []string) string {
	var out []string
	for _, n := range names {
		if iri, ok := l.d.Expand(n); ok && !strings.ContainsAny(iri, "<>\"{}|\\^` ") {
			out = append(out, "<"+iri+">")
		}
	}
	return strings.Join(out, " ")
}

// column returns the IRIs in a result's only column, in query syntax.
func column(t *kg.Table) (iris []string) {
	for _, r := range t.Rows {
		if r[0].IsIRI() && !strings.ContainsAny(r[0].Value, "<>\"{}|\\^` ") {
			iris = append(iris, "<"+r[0].Value+">")
		}
	}
	return iris
}

// labels checks whether a sample of entities have names.
func (l *lacking) labels() {
	types, labels := l.iris(l.d.Types), l.iris(l.d.Labels)
	if types == "" || labels == "" {
		return
	}
	t, ok := l.ask(fmt.Sprintf("SELECT DISTINCT ?x WHERE { VALUES ?t { %s } ?x ?t ?c . FILTER(isIRI(?x)) } LIMIT %d",
		types, sampledThings))
	if !ok || len(t.Rows) == 0 {
		return
	}
	things := column(t)
	for _, part := range []struct{ properties, what, then string }{
		{labels, "no label", "look for such things by what they are related to"},
		{l.iris(l.d.Descriptions), "no description", ""},
	} {
		if part.properties == "" {
			l.say("Things have %s.", part.what)
			continue
		}
		t, ok := l.ask(fmt.Sprintf("SELECT DISTINCT ?x WHERE { VALUES ?x { %s } VALUES ?p { %s } ?x ?p ?l }",
			strings.Join(things, " "), part.properties))
		if !ok {
			continue
		}
		if missing := 100 * (len(things) - len(t.Rows)) / len(things); missing >= 5 {
			s := fmt.Sprintf("Of %d things looked at, %d%% have %s", len(things), missing, part.what)
			if part.then != "" {
				s += "; " + part.then
			}
			l.say("%s.", s)
		}
	}
}

// statements checks what a Wikibase's statements contain besides values.
func (l *lacking) statements() {
	if t, ok := l.ask(fmt.Sprintf("SELECT ?s WHERE { ?x <%sP31> ?s } LIMIT %d", rdf.Prop, sampledThings)); ok {
		if nodes := column(t); len(nodes) == 0 {
			l.say("There are no statement nodes (p:, ps:): only the direct values (wdt:).")
		} else if t, ok := l.ask(fmt.Sprintf("SELECT DISTINCT ?s WHERE { VALUES ?s { %s } ?s <%srank> ?r }",
			strings.Join(nodes, " "), rdf.Wikibase)); ok {
			if missing := 100 * (len(nodes) - len(t.Rows)) / len(nodes); missing >= 5 {
				l.say("Of %d statements looked at, %d%% do not say their rank (wikibase:rank); wdt: still leaves out "+
					"deprecated and less preferred values.", len(nodes), missing)
			}
		}
	}
	pq := rdf.Prefixes["pq"]
	for _, part := range []struct{ pattern, lacks string }{
		{"?s <" + pq + "P580>|<" + pq + "P582>|<" + pq + "P585> ?v",
			"Statements have no qualifiers of time (pq:P580, pq:P582, pq:P585)."},
		{"?v <" + rdf.Wikibase + "quantityUnit> ?u", "Quantities have no units."},
		{"?v <" + rdf.Wikibase + "timePrecision> ?u", "Dates have no precision."},
		{"?s <" + rdf.Prefixes["prov"] + "wasDerivedFrom> ?r", "Statements have no references."},
		{"?x <" + rdf.Wikibase + "sitelinks> ?n", "Items have no numbers of sitelinks (wikibase:sitelinks)."},
		{"?a <" + rdf.Prefixes["schema"] + "about> ?x", "There are no links to articles (schema:about)."},
		{"?x <" + rdf.Direct + "P279> ?y", "Classes have no wider classes (wdt:P279)."},
	} {
		if t, ok := l.ask("ASK { " + part.pattern + " }"); ok && t.Ask && !t.Boolean {
			l.say("%s", part.lacks)
		}
	}
}

// vocabulary checks for gaps that graphs other than Wikibases may have.
func (l *lacking) vocabulary() {
	if l.iris(l.d.Types) == "" {
		l.say("Things have no classes.")
		return
	}
	sub := l.d.Subclass
	if sub == "" {
		sub = "rdfs:subClassOf"
	}
	if t, ok := l.ask("ASK { ?a " + l.iris([]string{sub}) + " ?b }"); ok && t.Ask && !t.Boolean {
		l.say("Classes have no wider classes (%s).", sub)
	}
	if len(l.d.Languages) == 0 {
		l.say("Labels do not say their language.")
	}
	if t, ok := l.ask("ASK { ?s ?p ?o . FILTER(isBlank(?o)) }"); ok && t.Ask && t.Boolean {
		l.say("Some values are nodes without a name: ask for their own properties with a path or brackets.")
	}
}

// file returns the path of a graph's measurement file in a data folder.
func file(dataDir, name string) string { return filepath.Join(dataDir, "kg", name+".json") }

// Recall returns a graph's stored measurement if it is not too old and used the same endpoint.
func Recall(dataDir string, e *Entry, now time.Time) (m Measurement, ok bool) {
	data, err := os.ReadFile(file(dataDir, e.Name))
	if err != nil || json.Unmarshal(data, &m) != nil || m.Endpoint != e.Endpoint || now.Sub(m.At) > MaxAge ||
		m.At.After(now) {
		return Measurement{}, false
	}
	return m, true
}

// Keep stores a measurement for [Recall].
func Keep(dataDir string, e *Entry, m Measurement) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := file(dataDir, e.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return WriteFile(path, append(data, '\n'))
}

// WriteFile replaces a file atomically and keeps its mode. Readers see either the old content or the new content.
func WriteFile(path string, data []byte) (err error) {
	mode := fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
