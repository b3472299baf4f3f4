package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
)

// own is a graph that is not a Wikibase.
const own = `@prefix c: <http://c.example/> . @prefix v: <http://c.example/v#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
c:1 a v:Pump ; rdfs:label "Feed pump"@en, "Speisepumpe"@de ; skos:altLabel "FP-1"@en ; v:madeBy c:2 ; rdfs:comment "pumps water"@en .
c:2 a v:Firm ; rdfs:label "Acme" .
c:3 v:madeBy c:2 .
v:Pump rdfs:label "pump"@en . v:madeBy rdfs:label "made by"@en .`

const wikibase = `@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
wd:P31 wikibase:directClaim wdt:P31 ; wikibase:propertyType wikibase:WikibaseItem ; rdfs:label "instance of"@en .
wd:P7 wikibase:directClaim wdt:P7 ; wikibase:propertyType wikibase:WikibaseItem ; rdfs:label "seldom used"@en .
wd:P214 wikibase:directClaim wdt:P214 ; wikibase:propertyType wikibase:ExternalId ; rdfs:label "VIAF ID"@en .
wd:Q5 rdfs:label "human"@en .
wd:Q42 wdt:P31 wd:Q5 ; wdt:P214 "113230702", "x" ; wikibase:sitelinks 99 ; rdfs:label "Douglas Adams"@en, "Дуглас Адамс"@ru ; skos:altLabel "DNA"@en ;
  schema:description "English writer"@en .
wd:Q9 rdfs:label "Unlinked"@en .`

func query(t *testing.T, turtle string) Query {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.ttl")
	if err := os.WriteFile(path, []byte(turtle), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Load(embedded.Options{Name: "test"}, path)
	if err != nil {
		t.Fatal(err)
	}
	return g.Query
}

func pull(t *testing.T, g Graph, kind lookup.Type, dir string) (out []lookup.Entry, err error) {
	t.Helper()
	err = Pull(context.Background(), g, kind, dir, func(int) {}, func(e lookup.Entry) error {
		out = append(out,
			e)
		return nil
	})
	return out, err
}

func entry(es []lookup.Entry, iri, lang string) lookup.Entry {
	for _, e := range es {
		if strings.HasSuffix(e.IRI, iri) && e.Language == lang {
			return e
		}
	}
	return lookup.Entry{}
}

func TestPullFromAnyGraph(t *testing.T) {
	q := query(t, own)
	d, err := NamesIn(context.Background(), q)
	if err != nil || d.IsWikibase() {
		t.Fatal(d, err)
	}
	es, err := pull(t, Graph{Name: "own", Query: q, Describe: d, Page: 2}, lookup.Entity, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pump := entry(es, "/1", "en")
	if pump.Label != "Feed pump" || strings.Join(pump.Aliases, ",") != "FP-1" || strings.Join(pump.Infos,
		",") != "pumps water,pump" || pump.Uses != 6 || pump.Score != 6 {
		t.Errorf("got %+v", pump)
	}
	if e := entry(es, "/1", "de"); e.Label != "Speisepumpe" {
		t.Errorf("got %+v in all of %+v", e, es)
	}
	// c:2 is in four triples: one with its class, one with its label, and two with v:madeBy.
	if e := entry(es, "/2", ""); e.Label != "Acme" || e.Uses != 4 {
		t.Errorf("got %+v", e)
	}
	ps, err := pull(t, Graph{Name: "own", Query: q, Describe: d}, lookup.Property, t.TempDir())
	if err != nil || entry(ps, "#madeBy", "en").Label != "made by" || entry(ps, "#madeBy", "en").Uses != 2 || entry(ps,
		"#altLabel", "").Label != "alt Label" {
		t.Errorf("%v, got %+v", err, ps)
	}
}

// An IRI that cannot be written in a query is left out, and does not end the pull.
func TestPullStrangeIRI(t *testing.T) {
	q := query(t, own)
	d, err := NamesIn(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	strange := func(ctx context.Context, text string) (*kg.Table, error) {
		table, err := q(ctx, text)
		if err == nil && strings.Contains(text, "SELECT DISTINCT ?id") && strings.Contains(text, "OFFSET 0") {
			table.Rows[0][0].Value = "http://c.example/a b"
		}
		return table, err
	}
	es, err := pull(t, Graph{Name: "own", Query: strange, Describe: d, Page: 2}, lookup.Entity, t.TempDir())
	if err != nil || entry(es, "/1", "en").Label != "" || entry(es, "#Pump", "en").Label != "pump" {
		t.Errorf("%v, %+v", err, es)
	}
}

func TestPullFromAWikibase(t *testing.T) {
	q := query(t, wikibase)
	d, err := NamesIn(context.Background(), q)
	if err != nil || !d.IsWikibase() {
		t.Fatal(d, err)
	}
	g := Graph{Name: "wb", Query: q, Describe: d, Languages: []string{"en"}}
	es, err := pull(t, g, lookup.Entity, t.TempDir())
	if err != nil || len(es) != 3 {
		t.Fatal(es, err)
	}
	if e := entry(es, "Q42", "en"); e.Label != "Douglas Adams" || strings.Join(e.Infos, ",") != "English writer,human" ||
		e.Score != 99 || e.Uses != 8 {
		t.Errorf("got %+v", e)
	}
	ps, err := pull(t, g, lookup.Property, t.TempDir())
	if err != nil || len(ps) != 3 {
		t.Fatal(ps, err)
	}
	// Properties for external identifiers come after all others, no matter how often they are used.
	if viaf, seldom, is := entry(ps, "P214", "en"), entry(ps, "P7", "en"), entry(ps, "P31", "en"); !viaf.External ||
		viaf.Score != 2 || seldom.Score != 3 ||
		seldom.External || is.Score != 4 || is.Uses != 1 {
		t.Errorf("got %+v", ps)
	}
	g.Limit = 2
	if es, err := pull(t, g, lookup.Entity, t.TempDir()); err != nil || len(es) != 2 {
		t.Errorf("limited: %+v, %v", es, err)
	}
}

// TestPullGoesOn makes a pull fail at each query in turn. When the pull is repeated, it must continue where it stopped,
// must not request a page twice, and must end with the same entries. Files left by a pull from a different graph must
// not be used.
func TestPullGoesOn(t *testing.T) {
	q := query(t, wikibase)
	broken := errors.New("the endpoint is down")
	whole, err := pull(t, Graph{Name: "wb", Query: q, Describe: WikidataNames(), Page: 1}, lookup.Entity, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for fail := 1; ; fail++ {
		dir := t.TempDir()
		if err := os.WriteFile(pulledFile(dir, lookup.Entity),
			[]byte("{\"graph\":\"another\"}\n{\"entry\":{}}\n{\"end\":true}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		asked, pages := 0, 0
		g := Graph{Name: "wb", Describe: WikidataNames(), Page: 1, Query: func(ctx context.Context, text string) (*kg.Table,
			error) {
			if asked++; asked == fail {
				return nil, broken
			}
			if strings.Contains(text, "OFFSET") {
				pages++
			}
			return q(ctx, text)
		}}
		_, err := pull(t, g, lookup.Entity, dir)
		if err == nil {
			break // the pull needs fewer queries than this
		}
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
		// Leave an incomplete line, as if the program had been killed while writing the next page.
		f, ferr := os.OpenFile(pulledFile(dir, lookup.Entity), os.O_APPEND|os.O_WRONLY, 0)
		if ferr != nil {
			t.Fatal(ferr)
		}
		if _, err := f.WriteString("{\"entry\":{\"IRI\":\"http://half\"}}\n{\"ent"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		got, err := pull(t, g, lookup.Entity, dir)
		if err != nil || len(got) != len(whole) || pages > len(whole)+2 {
			t.Errorf("failed at query %d: %d entries, want %d; %d pages asked; %v", fail, len(got), len(whole), pages, err)
		}
		if err := Done(dir); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}
