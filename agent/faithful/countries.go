package faithful

import (
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/rdf"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// countries maps the English names of countries to their regions (CLDR).
var countries = sync.OnceValue(func() map[string]language.Region {
	out := map[string]language.Region{"People's Republic of China": language.MustParseRegion("CN")}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if r, err := language.ParseRegion(string([]rune{a, b})); err == nil && r.IsCountry() && r.Canonicalize() == r {
				out[display.English.Regions().Name(r)] = r
			}
		}
	}
	return out
})

var countryNames sync.Map // from the code of a language to the folded names of countries in it

// isCountry reports whether a folded word is the name of a country in the text's language.
func (c *Checker) isCountry(word string) bool {
	names, ok := countryNames.Load(c.language)
	if !ok {
		in, err := language.Parse(c.language)
		all := map[string]bool{}
		if namer := display.Regions(in); err == nil && namer != nil {
			for _, r := range countries() {
				all[fold(namer.Name(r))] = true
			}
		}
		names, _ = countryNames.LoadOrStore(c.language, all)
	}
	return names.(map[string]bool)[word]
}

// translated returns the name of a country or a language in the text's language if the label is its English name, and
// otherwise "". The author of a text may translate names that the graph has only in English: Frankreich for France. The
// name may be accompanied by the form of government.
func (c *Checker) translated(label string) string {
	in, err := language.Parse(c.language)
	if err != nil || c.language == "en" {
		return ""
	}
	if r, ok := countries()[label]; ok && display.Regions(in) != nil {
		if strings.HasPrefix(label, "People's Republic of ") {
			c.parts.add(peoplesRepublic[c.language])
		}
		return display.Regions(in).Name(r)
	}
	if l, ok := tongues()[label]; ok && display.Languages(in) != nil {
		return display.Languages(in).Name(l)
	}
	return ""
}

// peoplesRepublic translates the form of government that is part of a country's label.
var peoplesRepublic = map[string]string{"de": "Volksrepublik", "es": "República Popular", "fr": "République populaire",
	"it": "Repubblica Popolare", "nl": "Volksrepubliek", "pt": "República Popular"}

// readNames adds row i to the names that a cell's term may have in a text; the other arguments are for [rowName].
func (c *Checker) readNames(names map[string]*rowName, text string, term rdf.Term, i int, counts, head bool) {
	translated := c.translated(text) // or ""
	c.parts.add(text)
	c.parts.add(translated)
	for _, name := range append(written(text, term), translated) {
		if names[name] == nil {
			names[name] = &rowName{words: nameWords(name), rows: map[int]bool{}, counts: map[int]bool{},
				whole: name != text && name == translated}
		}
		n := names[name]
		n.rows[i], n.head = true, n.head || head
		if counts {
			n.counts[i] = true
		}
	}
}
