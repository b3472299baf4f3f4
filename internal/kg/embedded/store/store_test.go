package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func readNT(t *testing.T, text string) ([]string, error) {
	t.Helper()
	var out []string
	err := readNTriples(strings.NewReader(text), func(s, p, o rdf.Term) {
		out = append(out, s.String()+" "+p.String()+" "+
			o.String())
	})
	return out, err
}

// TestNTriples checks the reader against the syntax of RDF 1.1 N-Triples.
func TestNTriples(t *testing.T) {
	text := "# comment\n\n" +
		"<x:a> <x:p> <x:b> .\n" +
		"<x:a>\t<x:p>\t\"tab\\t quote\\\" \\u00FC \\U0001F600\"@EN-gb . # more\n" +
		"<x:a> <x:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>.\r\n" +
		"_:b1 <x:p> _:b2.x .\n" +
		"<x:\\u00FC> <x:p> \"s\"^^<http://www.w3.org/2001/XMLSchema#string> ."
	want := []string{
		"<x:a> <x:p> <x:b>",
		`<x:a> <x:p> "tab\t quote\" ü 😀"@en-gb`,
		`<x:a> <x:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>`,
		"_:b1 <x:p> _:b2.x",
		`<x:ü> <x:p> "s"`,
	}
	got, err := readNT(t, text)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	long := "<x:a> <x:p> \"" + strings.Repeat("y", 200_000) + "\" .\n<x:a> <x:p> \"end\" .\n"
	if got, err := readNT(t, long); err != nil || len(got) != 2 || len(got[0]) < 200_000 {
		t.Errorf("a long line: %d triples, %v", len(got), err)
	}
}

func TestNTriplesMistakes(t *testing.T) {
	for name, line := range map[string]string{
		"no dot": "<x:a> <x:p> <x:b>", "cut off": "<x:a> <x:p>", "literal subject": `"a" <x:p> <x:b> .`,
		"blank predicate": "<x:a> _:p <x:b> .",
		"open IRI":        "<x:a <x:p> <x:b> .", "open literal": `<x:a> <x:p> "b .`, "bad escape": `<x:a> <x:p> "\q" .`,
		"no character":  `<x:a> <x:p> "\uD800" .`,
		"after the dot": "<x:a> <x:p> <x:b> . <x:c>", "not UTF-8": "<x:a> <x:p> \"\xff\" .",
		"no language": `<x:a> <x:p> "b"@ .`, "prefix": "a:b <x:p> <x:b> .",
	} {
		if got, err := readNT(t, "<x:a> <x:p> <x:ok> .\n"+line+"\n"); err == nil || !strings.Contains(err.Error(),
			"line 2") || len(got) != 1 {
			t.Errorf("%s: got %d triples and %v, want an error in line 2", name, len(got), err)
		}
	}
}

// TestStore checks the permutations against a list of the same triples, with every combination of bound positions.
func TestStore(t *testing.T) {
	b := NewBuilder()
	term := func(n int) rdf.Term { return rdf.IRI("x:" + string(rune('a'+n))) }
	seen := map[triple]bool{}
	x := uint32(12345)
	for range 300 {
		x = x*1664525 + 1013904223
		s, p, o := int(x>>8%7), int(x>>16%5), int(x>>24%9)
		b.add(term(s), term(p), term(o))
		seen[triple{b.dict.add(term(s)), b.dict.add(term(p)), b.dict.add(term(o))}] = true
	}
	st := newStore(b.dict, b.triples)
	if st.Triples != len(seen) {
		t.Fatalf("%d triples, want %d: duplicates count once", st.Triples, len(seen))
	}
	n := value.ID(st.Size())
	for s := value.ID(0); s < n; s++ {
		for p := value.ID(0); p < n; p++ {
			for o := value.ID(0); o < n; o++ {
				want := 0
				for tr := range seen {
					if (s == 0 || tr.s == s) && (p == 0 || tr.p == p) && (o == 0 || tr.o == o) {
						want++
					}
				}
				got := st.Count(s, p, o)
				if s != 0 && o != 0 && p == 0 {
					if got < want {
						t.Errorf("count(%d,%d,%d) = %d, want at least %d", s, p, o, got, want)
					}
				} else if got != want {
					t.Errorf("count(%d,%d,%d) = %d, want %d", s, p, o, got, want)
				}
			}
		}
	}
}

// FuzzNTriples passes arbitrary strings to the reader, which must not panic. Triples that are written and read again
// must not change.
func FuzzNTriples(f *testing.F) {
	f.Add("<x:a> <x:p> \"b\\u00FC\"@en .")
	f.Add("_:a <x:p> \"1\"^^<x:t> . # c")
	f.Fuzz(func(t *testing.T, text string) {
		var first []string
		err := readNTriples(strings.NewReader(text), func(s, p, o rdf.Term) {
			first = append(first, s.String()+" "+p.String()+" "+o.String()+" .")
		})
		if err != nil || strings.ContainsRune(text, '\\') && strings.ContainsAny(strings.Join(first, ""), "\\") &&
			strings.Contains(text, "<x:\\") {
			return
		}
		var second []string
		err = readNTriples(strings.NewReader(strings.Join(first, "\n")), func(s, p, o rdf.Term) {
			second = append(second, s.String()+" "+p.String()+" "+o.String()+" .")
		})
		if err != nil || !slices.Equal(first, second) {
			t.Errorf("%q read as %q, then as %q (%v)", text, first, second, err)
		}
	})
}
