package sparql

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// MediaWiki removes double-underscore words from a page wherever they occur, even in a template argument
// (MagicWordFactory::mDoubleUnderscoreIDs).
func TestPostingFormHoldsNoBehaviorSwitch(t *testing.T) {
	const q = "# __NOTOC__ above\nSELECT ?x WHERE {\n  VALUES ?x { \"a __notoc__ b\" <http://example.org/__INDEX__> } # ___TOC___\n}"
	got, err := PostingForm(q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "__") {
		t.Errorf("a double underscore is left:\n%s", got)
	}
	was, err := Parse(q)
	if err != nil {
		t.Fatal(err)
	}
	is, err := Parse(got)
	if err != nil || !sameMeaning(was, is) {
		t.Errorf("the posting form means something else (%v):\n%s", err, got)
	}
	for _, name := range []string{"SELECT ?a__NOTOC__b WHERE { ?a__NOTOC__b ?p ?o }",
		"PREFIX x: <http://example.org/> SELECT * WHERE { ?s x:__noindex__ ?o }"} {
		if out, err := PostingForm(name, nil); err == nil || !strings.Contains(err.Error(), "another name") {
			t.Errorf("%s: posted as %q, error %v", name, out, err)
		}
	}
	if _, err := PostingForm("SELECT ?PIB__PPA__par_habitant WHERE { ?s ?p ?PIB__PPA__par_habitant }",
		nil); err != nil {
		t.Errorf("a name with harmless underscores is refused: %v", err)
	}
}

// Invisible characters must not make a query look different from the one that was run.
func TestPostingFormShowsHiddenCharacters(t *testing.T) {
	const q = "# a\u202eb\u2066c\u0085d\nSELECT ?x WHERE {\n  VALUES ?x { \"\u202e}\u200f { \u200b\u2028\ufeff\u009b\" <http://example.org/\u202ea> \"\u0645\u06cc\u200c\u062e\" }\n}"
	got, err := PostingForm(q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(got, "\u202e\u2066\u0085\u200f\u200b\u2028\ufeff\u009b"); i >= 0 {
		t.Errorf("%q is left:\n%s", got[i:min(len(got), i+4)], got)
	}
	for _, want := range []string{`"\u202E}\u200F { \u200B\u2028\uFEFF\u009B"`, `<http://example.org/\u202Ea>`,
		"\u06cc\u200c\u062e", "# a b c d"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing:\n%s", want, got)
		}
	}
	if again, err := PostingForm(got, nil); err != nil || again != got {
		t.Errorf("the posting form is not a fixed point (%v):\n%s", err, again)
	}
}

// MediaWiki normalizes the text it saves to NFC, which must not change a posting form.
func TestPostingFormIsInNormalFormC(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"SELECT ?x WHERE { ?x rdfs:label \"cafe\u0301\"@fr . }", `"cafe\u0301"@fr`},
		{"SELECT ?x WHERE { ?x rdfs:label \"5 \u2126 and é\" . }", `"5 \u2126 and \u00E9"`},
		{"SELECT ?x WHERE { ?x rdfs:label \"café\" . }", `"café"`},
		{"SELECT ?x WHERE { ?x <http://example.org/e\u0301> 1 . }", `<http://example.org/e\u0301>`},
		{"SELECT ?x WHERE { ?x ?y 1 . } # \u2126", "# \u03a9"},
	} {
		got, err := PostingForm(tt.query, func(string) string { return "" })
		if err != nil {
			t.Errorf("%q: %v", tt.query, err)
			continue
		}
		if !strings.Contains(got, tt.want) || !norm.NFC.IsNormalString(got) {
			t.Errorf("%q becomes %q, want %q in it, in normal form C", tt.query, got, tt.want)
		}
		if again, err := PostingForm(got, nil); err != nil || again != got {
			t.Errorf("not a fixed point: %q, %v", again, err)
		}
	}
	if _, err := PostingForm("SELECT ?e\u0301 WHERE { ?e\u0301 ?y 1 . }", nil); err == nil {
		t.Error("a variable that the wiki would rename is posted")
	}
	if _, err := PostingForm("SELECT ?x WHERE { ?x ?y \""+strings.Repeat("long ", 9000)+"\" . }", nil); err == nil {
		t.Error("a query that floods a page is posted")
	}
}
