package lookup

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

var relations = []Entry{
	{IRI: "p:director", Type: Property, Label: "director", Aliases: []string{"film director"},
		Infos: []string{"person who directed this film or play"}, Score: 50},
	{IRI: "p:birth", Type: Property, Label: "place of birth", Aliases: []string{"born in"},
		Infos: []string{"most specific known birth location"}, Score: 100},
	{IRI: "p:death", Type: Property, Label: "place of death", Aliases: []string{"died in"}, Score: 90},
	{IRI: "p:residence", Type: Property, Label: "residence", Aliases: []string{"lived in"},
		Infos: []string{"the place where the person resides"}, Score: 80},
	{IRI: "p:directid", Type: Property, Label: "Directory of Directors ID", Infos: []string{"identifier of a director"},
		Score: 5, External: true},
	{IRI: "p:painted", Type: Property, Label: "creator", Aliases: []string{"painted by"},
		Infos: []string{"maker of this work"}, Score: 60},
}

// meanings lists searches by meaning and the best hits for each, which are found by stem, alias, info or shared
// letters.
var meanings = []struct{ text, want string }{
	{"directed by", "director"}, {"who directed the film", "director"}, {"birthplace", "birth"}, {"where was she born",
		"birth"}, {"painter", "painted"},
	{"residing", "residence"}, {"Directory of Directors ID", "directid"}, {"deathplace", "death"},
}

func TestByStems(t *testing.T) {
	im, _ := imageOf(t, relations)
	for name, s := range map[string]func(Query) (Page, error){
		"memory": func(q Query) (Page, error) { return NewMemory(relations).Search(context.Background(), q) },
		"image": func(q Query) (Page, error) {
			q, _ = q.normal()
			return im.search(context.Background(), q, nil)
		},
	} {
		for _, c := range meanings {
			p, err := s(Query{Text: c.text, Type: Property, Meaning: true})
			if got := iris(p); err != nil || !strings.HasPrefix(got+" ", c.want+" ") || p.Ranked != ByStems {
				t.Errorf("%s: %q found %q by %s (%v), want %s first", name, c.text, got, p.Ranked, err, c.want)
			}
		}
		p, err := s(Query{Text: "who directed it", Meaning: true, Among: []string{"p:birth", "p:residence"}})
		if err != nil || strings.Contains(iris(p), "director") {
			t.Errorf("%s: among others, found %q, %v", name, iris(p), err)
		}
		if p, err := s(Query{Text: "xyzzy", Meaning: true}); err != nil || len(p.Hits) > 0 {
			t.Errorf("%s: nonsense found %q, %v", name, iris(p), err)
		}
	}
}

// themes is an embedding model for tests. Each dimension of a vector represents one theme that a string may mention.
type themes struct {
	name  string
	words [][]string
	fail  error
	calls int
}

func (m *themes) Model() string { return m.name }

func (m *themes) Embed(_ context.Context, texts []string) (out [][]float32, err error) {
	m.calls++
	for _, t := range texts {
		v := make([]float32, len(m.words))
		for i, ws := range m.words {
			for _, w := range ws {
				if strings.Contains(t, w) {
					v[i]++
				}
			}
		}
		out = append(out, v)
	}
	return out, m.fail
}

var model = themes{name: "themes-1", words: [][]string{{"birth", "born", "cradle"}, {"death", "died", "grave"},
	{"film", "movie"}, {"residence", "home"}, {"maker", "artist"}}}

func TestByVectors(t *testing.T) {
	ctx := context.Background()
	m := model
	path := filepath.Join(t.TempDir(), FileName)
	h, err := Create(ctx, path, Options{Embedder: &m}, addAll(relations))
	if err != nil || h.Model != "themes-1" {
		t.Fatal(h, err)
	}
	open := func(e Embedder) *File {
		f, err := Open(path, e)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for name, s := range map[string]Searcher{"file": open(&m), "memory": NewMemory(relations).Embed(&m)} {
		for text, want := range map[string]string{"cradle": "birth", "grave": "death", "movie": "director",
			"home": "residence", "artist": "painted"} {
			p, err := s.Search(ctx, Query{Text: text, Meaning: true})
			if got := iris(p); err != nil || got != want || p.Ranked != ByVectors || p.Note != "" || p.Hits[0].Match != Meaning {
				t.Errorf("%s: %q found %q by %s (%v, %s), want %s", name, text, got, p.Ranked, err, p.Note, want)
			}
		}
	}
	m.calls = 0
	failing := model
	failing.fail = errors.New("out of order")
	other := model
	other.name = "themes-2"
	for name, c := range map[string]struct {
		s    Searcher
		note string
	}{
		"failing": {open(&failing), "out of order"}, "other model": {open(&other), "themes-1"}, "none": {open(nil), ""},
		"failing in memory": {NewMemory(relations).Embed(&failing), "out of order"},
	} {
		p, err := c.s.Search(ctx, Query{Text: "directed by", Meaning: true})
		if err != nil || p.Ranked != ByStems || !strings.Contains(p.Note, c.note) || (c.note == "") != (p.Note == "") ||
			!strings.HasPrefix(iris(p), "director") {
			t.Errorf("%s: found %q by %s, %q, %v", name, iris(p), p.Ranked, p.Note, err)
		}
	}
	if _, err := Create(ctx, path, Options{Embedder: &failing}, addAll(relations)); err == nil ||
		!strings.Contains(err.Error(), "out of order") {
		t.Errorf("a build without its vectors: %v", err)
	}
}

func TestQuantizedCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{{[]float32{1, 0}, []float32{3, 0}, 1}, {[]float32{1, 0}, []float32{0, 2}, 0}, {[]float32{1, 1}, []float32{-2, -2},
		-1}, {[]float32{1, 0}, []float32{1, 1}, 0.70711}, {[]float32{0}, []float32{1}, 0}} {
		if got := cosine(quantize(c.a), quantize(c.b)); got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("cosine of %v and %v is %f, want %f", c.a, c.b, got, c.want)
		}
	}
}
