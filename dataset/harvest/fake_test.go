package harvest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

const (
	testPrefix = "Wikidata:Request a query/Archive/"
	testWiki   = "https://www.wikidata.org/w/api.php"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// errCrash is returned by every call after a simulated crash.
var errCrash = errors.New("crash")

// fuse allows calls until it blows.
type fuse struct{ calls, at int }

func (f *fuse) burn() error {
	if f == nil {
		return nil
	}
	f.calls++
	if f.at > 0 && f.calls >= f.at {
		return errCrash
	}
	return nil
}

// memStore is an in-memory Store that stores JSON, like a real store.
type memStore struct {
	pages map[string][]byte
	lists map[string][]byte
	notes map[string][]byte
	fuse  *fuse
}

func newMemStore() *memStore {
	return &memStore{pages: map[string][]byte{}, lists: map[string][]byte{}, notes: map[string][]byte{}}
}

func (s *memStore) Pages(context.Context) (out []Page, err error) {
	for _, b := range s.pages {
		var p Page
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, s.fuse.burn()
}

func (s *memStore) SavePage(_ context.Context, p Page, list []dataset.Candidate) error {
	if err := s.fuse.burn(); err != nil {
		return err
	}
	a, err := json.Marshal(p)
	if err != nil {
		return err
	}
	b, err := json.Marshal(list)
	s.pages[p.Title], s.lists[p.Title] = a, b
	return err
}

func (s *memStore) Discussions(_ context.Context, page string) (out []dataset.Candidate, err error) {
	if err := s.fuse.burn(); err != nil {
		return nil, err
	}
	if b := s.lists[page]; b != nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}

func (s *memStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	if strings.HasPrefix(key, linkNote) { // only these, to limit the number of possible crash points
		if err := s.fuse.burn(); err != nil {
			return nil, false, err
		}
	}
	b, ok := s.notes[key]
	return b, ok, nil
}

func (s *memStore) Put(_ context.Context, key string, value []byte) error {
	if err := s.fuse.burn(); err != nil {
		return err
	}
	s.notes[key] = value
	return nil
}

func (s *memStore) Forget(_ context.Context, key string) error {
	if err := s.fuse.burn(); err != nil {
		return err
	}
	delete(s.notes, key)
	return nil
}

// fakeWiki serves pages as wikitext and, if set, as HTML.
type fakeWiki struct {
	text  map[string]string
	html  map[string]string
	rev   map[string]int64
	reads []string
	fuse  *fuse

	noHTML   error // ErrNoHTML if nil
	rendered int   // number of HTML requests
}

func newFakeWiki() *fakeWiki {
	return &fakeWiki{text: map[string]string{}, html: map[string]string{}, rev: map[string]int64{}}
}

func (w *fakeWiki) put(month, text string) {
	w.text[testPrefix+month] = text
	w.rev[testPrefix+month] += 10
}

func (w *fakeWiki) List(_ context.Context, prefix string) (out []Listed, err error) {
	for t := range w.text {
		if strings.HasPrefix(t, prefix) {
			out = append(out, Listed{t, w.rev[t]})
		}
	}
	return out, w.fuse.burn()
}

func (w *fakeWiki) Wikitext(_ context.Context, title string) (Text, error) {
	if err := w.fuse.burn(); err != nil {
		return Text{}, err
	}
	w.reads = append(w.reads, title)
	t, ok := w.text[title]
	if !ok {
		return Text{}, ErrNoPage
	}
	return Text{w.rev[title], t}, nil
}

func (w *fakeWiki) HTML(_ context.Context, title string) (Text, error) {
	if err := w.fuse.burn(); err != nil {
		return Text{}, err
	}
	w.rendered++
	h, ok := w.html[title]
	if !ok {
		return Text{}, fmt.Errorf("%w: it is down", cmp.Or(w.noHTML, ErrNoHTML))
	}
	return Text{w.rev[title], h}, nil
}

// fakeGraph answers queries from an embedded graph, but fails for queries that request a fault in a comment.
type fakeGraph struct {
	g      *embedded.Graph
	faults map[string]error
	down   bool
	hangs  bool
	runs   []string
	fuse   *fuse
}

func (g *fakeGraph) Query(ctx context.Context, query string) (*kg.Table, error) {
	if err := g.fuse.burn(); err != nil {
		return nil, err
	}
	if query != probe {
		g.runs = append(g.runs, query)
	}
	if g.down {
		return nil, kg.Errorf(kg.Down, "the connection failed")
	}
	if g.hangs {
		return nil, kg.Errorf(kg.Timeout, "no answer")
	}
	for name, err := range g.faults {
		if strings.Contains(query, "#"+name) {
			return nil, err
		}
	}
	t, err := g.g.Query(ctx, query)
	if t != nil {
		t.Elapsed = 7 * time.Millisecond
	}
	return t, err
}

// Labels are derived from the ID.
func (g *fakeGraph) Labels(_ context.Context, ids, _ []string) (map[string]string, error) {
	if err := g.fuse.burn(); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, id := range ids {
		out[id] = "label of " + id
	}
	return out, nil
}

type fakeLinks struct {
	to    map[string]string
	asked []string
	down  bool
	fuse  *fuse
}

func (l *fakeLinks) Target(_ context.Context, link string) (string, error) {
	if err := l.fuse.burn(); err != nil {
		return "", err
	}
	l.asked = append(l.asked, link)
	if l.down {
		return "", errors.New("no connection")
	}
	to, ok := l.to[link]
	if !ok {
		return "", fmt.Errorf("%w: status 404", ErrNoTarget)
	}
	return to, nil
}

// world contains everything used by a harvest.
type world struct {
	t     *testing.T
	dir   string
	store *memStore
	wiki  *fakeWiki
	graph *fakeGraph
	links *fakeLinks
	parts Parts
	opts  Options
}

// turtle describes a graph with five people and three films.
const turtle = `
wd:Q1 wdt:P31 wd:Q5 ; schema:description "a person of the test"@en, "eine Person"@de ; wdt:P569 "1900-01-01T00:00:00Z"^^xsd:dateTime ; rdfs:label "One"@en ; wdt:P18 <http://commons.example/one.jpg> ; wikibase:sitelinks 3 .
wd:Q2 wdt:P31 wd:Q5 ; rdfs:label "Two"@en . wd:Q3 wdt:P31 wd:Q5 . wd:Q4 wdt:P31 wd:Q5 . wd:Q6 wdt:P31 wd:Q5 .
wd:Q11 wdt:P31 wd:Q11424 ; wdt:P57 wd:Q1 ; rdfs:label "Film A"@en . wd:Q12 wdt:P31 wd:Q11424 ; wdt:P57 wd:Q1 . wd:Q13 wdt:P31 wd:Q11424 ; wdt:P57 wd:Q2 .
`

func testGraph(t *testing.T) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	text := ""
	for p, ns := range rdf.Prefixes {
		text += "@prefix " + p + ": <" + ns + "> .\n"
	}
	if err := b.Read("test.ttl", strings.NewReader(text+turtle)); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{Now: func() time.Time { return testNow }, Random: func() uint64 { return 4 },
		Timeout: 10 * time.Second})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	g := &fakeGraph{g: testGraph(t), faults: map[string]error{
		"timeout": kg.Errorf(kg.Timeout, "too slow"), "large": kg.Errorf(kg.TooLarge, "too large"),
		"greedy": kg.Errorf(kg.TooGreedy, "memory"),
		"poison": kg.Errorf(kg.Down, "status 500"), "banned": kg.Errorf(kg.Banned, "banned"),
		"refuse": &kg.Error{Kind: kg.SyntaxError, Message: "not mine", Line: 1, Column: 2},
	}}
	w := &world{t: t, dir: testutil.Folder(t), store: newMemStore(), wiki: newFakeWiki(), graph: g,
		links: &fakeLinks{to: map[string]string{}}}
	w.parts = Parts{
		Log: slog.New(slog.DiscardHandler), Wiki: w.wiki,
		Endpoints: []Endpoint{{Name: "https://main.example/sparql", Graph: g}}, Labels: g, Links: w.links,
		Store: w.store,
		Now:   func() time.Time { return testNow },
	}
	w.opts = Options{Dir: w.dir, Wiki: testWiki, Prefix: testPrefix, Bots: []string{"SpinachBot"},
		Forum: forum.Options{ShortLinks: []string{"w.wiki"}}}
	return w
}

func (w *world) run() (dataset.Funnel, error) {
	w.t.Helper()
	h, err := New(w.parts, w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return h.Run(context.Background())
}

func (w *world) mustRun() dataset.Funnel {
	w.t.Helper()
	f, err := w.run()
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// fuseAll connects everything to a single fuse.
func (w *world) fuseAll(f *fuse) { w.store.fuse, w.wiki.fuse, w.graph.fuse, w.links.fuse = f, f, f, f }

func (w *world) read(name string) []dataset.Candidate {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	cs, err := dataset.ReadCandidates(f)
	if err != nil {
		w.t.Fatal(err)
	}
	return cs
}

func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(w.dir, p)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// find returns the candidate with the heading, from either candidate file.
func (w *world) find(heading string) dataset.Candidate {
	w.t.Helper()
	for _, name := range []string{dataset.CandidatesFile, dataset.RejectedFile} {
		for _, c := range w.read(name) {
			if c.Provenance.Heading == heading {
				return c
			}
		}
	}
	w.t.Fatalf("no discussion %q", heading)
	return dataset.Candidate{}
}

func sig(name, stamp string) string {
	return "[[User:" + name + "|" + name + "]] ([[User talk:" + name + "|talk]]) " + stamp + " (UTC)"
}

// thread returns the wikitext of a discussion that consists of a request and replies to it.
func thread(heading, request string, posts ...string) string {
	out := "== " + heading + " ==\n" + request + " " + sig("Ann", "10:00, 3 June 2019") + "\n"
	for i, p := range posts {
		who := []string{"Bob", "Ann", "Cid"}[i%3]
		if name, text, ok := strings.Cut(p, "@@"); ok {
			who, p = name, text
		}
		out += ":" + p + " " + sig(who, fmt.Sprintf("1%d:%02d, 4 June 2019", i, i)) + "\n"
	}
	return out + "\n"
}

func posted(q string) string { return "{{SPARQL|query=" + strings.ReplaceAll(q, "|", "{{!}}") + "}}" }
