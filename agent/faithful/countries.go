package faithful

import (
	"strings"
	"sync"

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

// country returns the name of a country in the text's language if the label is its English name, and otherwise "". The
// author of a text may translate names that the graph has only in English: Frankreich for France. The form of
// government may be said with the name.
func (c *Checker) country(label string) string {
	r, ok := countries()[label]
	tag, err := language.Parse(c.language)
	if !ok || err != nil || c.language == "en" {
		return ""
	}
	if names := display.Regions(tag); names != nil {
		if strings.HasPrefix(label, "People's Republic of ") {
			c.parts.add(peoplesRepublic[c.language])
		}
		return names.Name(r)
	}
	return ""
}

// peoplesRepublic translates the form of government that is part of a country's label.
var peoplesRepublic = map[string]string{"de": "Volksrepublik", "es": "República Popular", "fr": "République populaire",
	"it": "Repubblica Popolare", "nl": "Volksrepubliek", "pt": "República Popular"}
