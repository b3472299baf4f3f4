package lookup_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	_ "modernc.org/sqlite" // FTS5, for comparison

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

var updateQuality = flag.Bool("update", false, "write testdata/quality.golden")

// shared returns a path in the folder with the reference data, see CONTRIBUTING.md.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SPINACHBOT_SHARED")
	if dir == "" {
		dir = "../../../../shared"
		if _, err := os.Stat(dir); err != nil { // the test runs in a Git worktree in a subfolder
			dir = "../../../../../shared"
		}
	}
	path := filepath.Join(dir, "data/slice", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the reference data is not here: %v", err)
	}
	return path
}

// sliceEntries reads a table with the columns IRI, label, score, aliases and description.
func sliceEntries(t *testing.T, name string, kind lookup.Type) (out []lookup.Entry) {
	t.Helper()
	b, err := os.ReadFile(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n")[1:] {
		c := strings.Split(line, "\t")
		if len(c) < 5 {
			continue
		}
		e := lookup.Entry{IRI: c[0], Type: kind, Label: c[1], Language: "en", Uses: -1}
		if _, err := fmt.Sscan(c[2], &e.Score); err != nil {
			t.Fatal(err)
		}
		for _, a := range strings.Split(c[3], "; ") {
			if a != "" {
				e.Aliases = append(e.Aliases, a)
			}
		}
		if c[4] != "" {
			e.Infos = []string{c[4]}
		}
		build.Complete(&e)
		out = append(out, e)
	}
	return out
}

var labelLine = regexp.MustCompile(`^<(http://www.wikidata.org/entity/Q\d+)> <http://www.w3.org/2000/01/rdf-schema#label> "((?:[^"\\]|\\.)*)"@([a-z-]+) \.`)

// otherLanguages reads non-English labels of items.
func otherLanguages(t *testing.T) (out []lookup.Entry) {
	t.Helper()
	f, err := os.Open(shared(t, "wikidata-slice.nt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(z); s.Scan(); {
		if m := labelLine.FindStringSubmatch(s.Text()); m != nil && m[3] != "en" && !strings.Contains(m[2], `\`) {
			out = append(out, lookup.Entry{IRI: m[1], Type: lookup.Entity, Label: m[2], Language: m[3], Score: 1, Uses: -1})
		}
	}
	return out
}

// labelled is a query with the IRIs of the correct answers.
type labelled struct {
	kind, text string
	want       []string
}

// written lists ways to write an item's name that differ from its label. A function returns "" if it does not apply to
// the label.
var written = []struct {
	kind  string
	write func(r *rand.Rand, e *lookup.Entry) string
}{
	{"item: label", func(_ *rand.Rand, e *lookup.Entry) string { return strings.ToLower(e.Label) }},
	{"item: beginning", func(r *rand.Rand, e *lookup.Entry) string {
		if w := strings.Fields(e.Label); len(w) > 1 && len([]rune(w[1])) > 3 {
			return w[0] + " " + string([]rune(w[1])[:2+r.Intn(2)])
		}
		return ""
	}},
	{"item: words of the middle", func(_ *rand.Rand, e *lookup.Entry) string {
		if w := strings.Fields(e.Label); len(w) > 2 {
			return strings.Join(w[1:], " ")
		}
		return ""
	}},
	{"item: words in another order", func(_ *rand.Rand, e *lookup.Entry) string {
		w := strings.Fields(e.Label)
		if len(w) < 2 || len(w) > 4 {
			return ""
		}
		slices.Reverse(w)
		return strings.Join(w, " ")
	}},
	{"item: wrong letter", func(r *rand.Rand, e *lookup.Entry) string { return misspell(r, e.Label) }},
	{"item: alias", func(r *rand.Rand, e *lookup.Entry) string {
		if len(e.Aliases) == 0 {
			return ""
		}
		return e.Aliases[r.Intn(len(e.Aliases))]
	}},
	{"item: without diacritics", func(_ *rand.Rand, e *lookup.Entry) string {
		plain := strings.Map(func(r rune) rune {
			if r >= 0x300 && r <= 0x36f {
				return -1
			}
			return r
		}, norm.NFD.String(e.Label))
		if plain == e.Label || strings.ContainsFunc(plain, func(r rune) bool { return r > 127 }) {
			return ""
		}
		return plain
	}},
}

// misspell changes, removes or doubles a letter in the longest word, or swaps two letters.
func misspell(r *rand.Rand, label string) string {
	words := strings.Fields(label)
	at := 0
	for i, w := range words {
		if len([]rune(w)) > len([]rune(words[at])) {
			at = i
		}
	}
	if len(words) == 0 || len([]rune(words[at])) < 5 {
		return ""
	}
	w := []rune(words[at])
	switch i := 1 + r.Intn(len(w)-2); r.Intn(4) {
	case 0:
		w = slices.Delete(w, i, i+1)
	case 1:
		w[i] = rune('a' + r.Intn(26))
	case 2:
		w = slices.Insert(w, i, w[i])
	case 3:
		w[i], w[i+1] = w[i+1], w[i]
	}
	words[at] = string(w)
	return strings.Join(words, " ")
}

const perKind = 80

// itemQueries returns queries for items. Each item is the best known of those that share its name.
func itemQueries(r *rand.Rand, items, others []lookup.Entry) (out []labelled) {
	best := map[string]bool{}
	var known []*lookup.Entry
	for i := range items {
		if k := strings.Join(lookup.Words(items[i].Label), " "); !best[k] && !items[i].Noise {
			best[k] = true
			known = append(known, &items[i])
		}
	}
	for _, way := range written {
		for n, tries := 0, 0; n < perKind && tries < 200_000; tries++ {
			e := known[r.Intn(len(known))]
			if text := way.write(r, e); text != "" && len(lookup.Words(text)) > 0 {
				out = append(out, labelled{way.kind, text, []string{e.IRI}})
				n++
			}
		}
	}
	byName := map[string][]string{}
	for _, e := range others {
		byName[e.Label] = append(byName[e.Label], e.IRI)
	}
	for range perKind {
		e := others[r.Intn(len(others))]
		out = append(out, labelled{"item: another language", e.Label, byName[e.Label]})
	}
	return out
}

// propertyQueries removes an alias from some properties and uses the alias as the query: people use that name for the
// property, but the index does not contain it.
func propertyQueries(r *rand.Rand, properties []lookup.Entry) (out []labelled, index []lookup.Entry) {
	index = slices.Clone(properties)
	order := r.Perm(len(index))
	taken := 0
	for _, i := range order {
		e := &index[i]
		switch {
		case e.External || len(e.Aliases) < 2 || e.Score < 3:
			continue
		case taken < 2*perKind:
			k := r.Intn(len(e.Aliases))
			out = append(out, labelled{"property: a phrase that the index does not have", e.Aliases[k], []string{e.IRI}})
			e.Aliases = slices.Delete(slices.Clone(e.Aliases), k, k+1)
			taken++
		case taken < 3*perKind:
			if text := misspell(r, e.Label); text != "" {
				out = append(out, labelled{"property: wrong letter", text, []string{e.IRI}})
				taken++
			}
		}
	}
	return out, index
}

var propertyIn = regexp.MustCompile(`\b(?:wdt|p|ps|pq):(P\d+)\b`)

// questionQueries returns whole questions with the properties of their gold queries. Questions reserved in
// allocation.json are left out.
func questionQueries(t *testing.T) (out []labelled) {
	t.Helper()
	kept, err := os.ReadFile(shared(t, "allocation.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(shared(t, "questions-dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(b, []byte("\n")) {
		var q struct{ ID, Question, SPARQL string }
		if json.Unmarshal(line, &q) != nil || bytes.Contains(kept, []byte(`"`+q.ID+`"`)) {
			continue
		}
		var want []string
		for _, m := range propertyIn.FindAllStringSubmatch(q.SPARQL, -1) {
			if m[1] != "P31" && m[1] != "P279" {
				want = append(want, "http://www.wikidata.org/entity/"+m[1])
			}
		}
		if len(want) > 0 && len(out) < 2*perKind {
			out = append(out, labelled{"property: a whole question", q.Question, want})
		}
	}
	return out
}

// figures contains the recall and the mean reciprocal rank.
type figures struct{ n, first, ten, mrr float64 }

func (f *figures) add(found, want []string) {
	f.n++
	for i, iri := range found {
		if slices.Contains(want, iri) {
			f.mrr += 1 / float64(i+1)
			f.ten++
			if i == 0 {
				f.first++
			}
			return
		}
	}
}

func (f *figures) String() string {
	return fmt.Sprintf("%5.1f %5.1f  %.3f", 100*f.first/f.n, 100*f.ten/f.n, f.mrr/f.n)
}

// ftsFind searches with FTS5 alone: every query word as a prefix, ranked by BM25.
func ftsFind(t *testing.T, entries []lookup.Entry) func(text string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "fts"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec("CREATE VIRTUAL TABLE t USING fts5(iri UNINDEXED, names, tokenize='unicode61 remove_diacritics 2')"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		names := strings.Join(append([]string{entries[i].Label}, entries[i].Aliases...), " ; ")
		if _, err := tx.Exec("INSERT INTO t VALUES(?, ?)", entries[i].IRI, names); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return func(text string) (out []string) {
		var words []string
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == '"' || r == ' ' }) {
			words = append(words, `"`+w+`"*`)
		}
		rows, err := db.Query("SELECT iri FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", strings.Join(words, " "))
		if err != nil {
			t.Fatal(text, err)
		}
		defer rows.Close()
		for rows.Next() {
			var iri string
			if err := rows.Scan(&iri); err != nil {
				t.Fatal(err)
			}
			out = append(out, iri)
		}
		return out
	}
}

var lastColumn = regexp.MustCompile(`(?m)\|[^|\n]*$`)

// TestQuality compares the search quality on the slice of Wikidata with a golden file, so that a change that loses hits
// is noticed. A sample omits the last column, the figures of SQLite's FTS5, which our code does not affect.
func TestQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector; go test without -short runs it")
	}
	r := rand.New(rand.NewSource(20261122))
	items, others := sliceEntries(t, "labels-items.tsv", lookup.Entity), otherLanguages(t)
	queries := itemQueries(r, items, others)
	more, properties := propertyQueries(r, sliceEntries(t, "labels-properties.tsv", lookup.Property))
	queries = append(append(queries, more...), questionQueries(t)...)
	if len(queries) < 600 {
		t.Fatalf("only %d queries", len(queries))
	}
	entities := append(items, others...)
	path := filepath.Join(t.TempDir(), lookup.FileName)
	if _, err := lookup.Create(context.Background(), path, lookup.Options{}, func(add func(lookup.Entry) error) error {
		for _, e := range append(slices.Clone(entities), properties...) {
			if err := add(e); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f, err := lookup.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fts map[lookup.Type]func(string) []string
	if *updateQuality || corpus.Pick(0, 1) == 1 {
		fts = map[lookup.Type]func(string) []string{lookup.Entity: ftsFind(t, entities), lookup.Property: ftsFind(t,
			properties)}
	}
	type row struct{ words, meaning, fts figures }
	rows := map[string]*row{}
	var kinds []string
	for _, q := range queries {
		if rows[q.kind] == nil {
			rows[q.kind] = &row{}
			kinds = append(kinds, q.kind)
		}
		typ := lookup.Entity
		if strings.HasPrefix(q.kind, "property") {
			typ = lookup.Property
		}
		find := func(meaning bool) (out []string) {
			p, err := f.Search(context.Background(), lookup.Query{Text: q.text, Type: typ, Meaning: meaning})
			if err != nil {
				t.Fatal(q.text, err)
			}
			for _, h := range p.Hits {
				out = append(out, h.IRI)
			}
			return out
		}
		rows[q.kind].words.add(find(false), q.want)
		if fts != nil {
			rows[q.kind].fts.add(fts[typ](q.text), q.want)
		}
		if typ == lookup.Property {
			rows[q.kind].meaning.add(find(true), q.want)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d queries made from the slice by seed: the right entry first and among the first ten (%%), mean reciprocal rank\n\n", len(queries))
	fmt.Fprintf(&b, "%-48s %4s | %-19s | %-19s | %-19s\n", "", "n", "by words", "by meaning (stems)", "FTS5 alone (bm25)")
	for _, k := range kinds {
		x := rows[k]
		meaning := strings.Repeat(" ", 18)
		if x.meaning.n > 0 {
			meaning = x.meaning.String()
		}
		fmt.Fprintf(&b, "%-48s %4.0f | %-19s | %-19s | %s\n", k, x.words.n, x.words.String(), meaning, x.fts.String())
	}
	golden := "testdata/quality.golden"
	if *updateQuality {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	got := b.String()
	if fts == nil {
		want, got = lastColumn.ReplaceAll(want, nil), lastColumn.ReplaceAllString(got, "")
	}
	if err != nil || string(want) != got {
		t.Errorf("the quality of search changed (%v); see the new figures, and if they are better, run with -update:\n%s",
			err, b.String())
	}
}
