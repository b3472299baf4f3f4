package lookup

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// imageOf writes an index with the entries to memory and opens it.
func imageOf(t testing.TB, entries []Entry) (*image, []byte) {
	t.Helper()
	w := newWriter(func() (store, error) { return &memoryStore{}, nil })
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	var out memoryStore
	if _, err := w.finish(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	im, err := newImage(out.b)
	if err != nil {
		t.Fatal(err)
	}
	return im, out.b
}

func TestImageSearch(t *testing.T) {
	im, _ := imageOf(t, people)
	for _, c := range searches {
		q, err := c.q.normal()
		if err != nil {
			t.Fatal(err)
		}
		p, err := im.search(context.Background(), q, nil)
		if got := iris(p); err != nil || got != c.want {
			t.Errorf("%s: %q found %q (%v), want %q", c.name, c.q.Text, got, err, c.want)
		}
	}
}

// randomEntries returns entries made from a small set of letters and words, so that all kinds of matches occur
// together.
func randomEntries(r *rand.Rand, n int) []Entry {
	letters := []string{"a", "b", "c", "é", "д", "北"}
	word := func() string {
		var b strings.Builder
		for range 1 + r.Intn(6) {
			b.WriteString(letters[min(r.Intn(8), 5)%(2+r.Intn(5))])
		}
		return b.String()
	}
	text := func() string {
		var ws []string
		for range 1 + r.Intn(4) {
			ws = append(ws, word())
		}
		return strings.Join(ws, " ")
	}
	var out []Entry
	for i := range n {
		e := Entry{IRI: fmt.Sprintf("http://e/%d", i), Label: text(), Score: float64(i*7919%n) / 2,
			Uses: int64(r.Intn(5) - 1), Language: "en"}
		for range r.Intn(3) {
			if a := text(); a != e.Label {
				e.Aliases = append(e.Aliases, a)
			}
		}
		e.Type = []Type{Entity, Entity, Property}[r.Intn(3)]
		e.External, e.Noise = r.Intn(6) == 0, r.Intn(9) == 0
		if e.Type == Entity {
			e.External = false
		}
		e.Infos = []string{text()}[:r.Intn(2)]
		out = append(out, e)
		if r.Intn(4) == 0 {
			e.Language, e.Label, e.Aliases = "fr", text(), nil
			e.Score += 0.25
			out = append(out, e)
		}
	}
	return out
}

func show(p Page) string {
	var s []string
	for _, h := range p.Hits {
		s = append(s, fmt.Sprintf("%+v", h))
	}
	return fmt.Sprintf("%s\nmore %v", strings.Join(s, "\n"), p.More)
}

// TestImageAgreesWithMemory compares the two searchers, which share only the code that folds words; the in-memory
// searcher examines every entry.
func TestImageAgreesWithMemory(t *testing.T) {
	r := rand.New(rand.NewSource(20261122))
	for round := range 25 {
		entries := randomEntries(r, 1+r.Intn(300))
		m := NewMemory(entries)
		im, _ := imageOf(t, entries)
		for _, p := range im.parts {
			p.bounds = bounds{1 << 30, 1e9, 1e9, 1e9, 1e9, 1e9}
		}
		for i := range 60 {
			e := entries[r.Intn(len(entries))]
			text := []rune(cmp.Or(e.Label, "a"))
			switch at := r.Intn(len(text)); r.Intn(5) {
			case 0:
				text = text[:at+1]
			case 1:
				text = slices.Delete(text, at, at+1)
			case 2:
				text = slices.Insert(text, at, []rune("abcédf")[r.Intn(6)])
			case 3:
				text[at] = []rune("ab cé")[r.Intn(5)]
			}
			q := Query{Text: string(text), Limit: 1 + r.Intn(12), Offset: r.Intn(3) * r.Intn(5), External: r.Intn(4) == 0,
				Type: []Type{Any, Entity, Property}[r.Intn(3)], Language: []string{"", "fr", "en"}[r.Intn(3)]}
			if r.Intn(3) == 0 {
				q.Among = []string{"http://e/nothing"}
				for range r.Intn(30) {
					q.Among = append(q.Among, entries[r.Intn(len(entries))].IRI)
				}
			}
			want, err := m.Search(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := im.search(context.Background(), q, nil)
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != show(want) {
				t.Fatalf("round %d, query %d %+v\nimage:\n%s\nmemory:\n%s", round, i, q, show(got), show(want))
			}
		}
	}
}

// TestMemoryOfMany checks that searching many entries in memory works in the same way as searching a few.
func TestMemoryOfMany(t *testing.T) {
	entries := slices.Clone(people)
	for i := range manyEntries {
		entries = append(entries, Entry{IRI: fmt.Sprintf("q:x%d", i), Label: fmt.Sprintf("zz%d", i), Uses: -1})
	}
	m := NewMemory(entries)
	if m.image() == nil {
		t.Fatal("there is no image")
	}
	for _, c := range searches {
		p, err := m.Search(context.Background(), c.q)
		if got := iris(p); err != nil || got != c.want {
			t.Errorf("%s: %q found %q (%v), want %q", c.name, c.q.Text, got, err, c.want)
		}
	}
}
