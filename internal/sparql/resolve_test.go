package sparql

import "testing"

// The examples from RFC 3986, sections 5.4.1 and 5.4.2 (strict), and cases that they omit: empty components and
// non-ASCII characters.
func TestResolveIRI(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for ref, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
		"//g": "http://g",
		"?y":  "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s",
		"g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s",
		";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
		"": "http://a/b/c/d;p?q", ".": "http://a/b/c/",
		"./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g",
		"../..": "http://a/", "../../": "http://a/", "../../g": "http://a/g",

		"../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g",
		"g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g",
		"g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/",
		"g/./h":  "http://a/b/c/g/h",
		"g/../h": "http://a/b/c/h", "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
		"g?y/./x":  "http://a/b/c/g?y/./x",
		"g?y/../x": "http://a/b/c/g?y/../x", "g#s/./x": "http://a/b/c/g#s/./x", "g#s/../x": "http://a/b/c/g#s/../x",
		"http:g": "http:g",

		"#": "http://a/b/c/d;p?q#", "?": "http://a/b/c/d;p?", "g#": "http://a/b/c/g#", "é": "http://a/b/c/é",
		"a b%20c": "http://a/b/c/a b%20c",
	} {
		if got := resolveIRI(base, ref); got != want {
			t.Errorf("%q gives %q, want %q", ref, got, want)
		}
	}
	for _, x := range [][3]string{
		{"http://a", "g", "http://a/g"},
		{"http://a", "#", "http://a#"},
		{"http://a?q", "g", "http://a/g"},
		{"urn:x:y", "#z", "urn:x:y#z"},
		{"urn:x", "y", "urn:y"},
		{"file:///x/y", "z", "file:///x/z"},
		{"not/absolute", "g", "g"},
	} {
		if got := resolveIRI(x[0], x[1]); got != x[2] {
			t.Errorf("%q against %q gives %q, want %q", x[1], x[0], got, x[2])
		}
	}
}

func TestBaseAndPrefixes(t *testing.T) {
	q, err := Parse("BASE <http://example.org/x/> PREFIX : <#> PREFIX é: <../ö/> SELECT * { :a é:b <c> }")
	if err != nil {
		t.Fatal(err)
	}
	f := q.Body.Where.Patterns[0].(*Triples).Triples()[0]
	for got, want := range map[string]string{
		f.Subject.Value().Value: "http://example.org/x/#a", f.Path.IRI(): "http://example.org/ö/b",
		f.Object.Value().Value: "http://example.org/x/c",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
