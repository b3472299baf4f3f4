package faithful

import (
	"regexp"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// languageCode matches the codes of languages in a query: "ja,en", LANG(?x) = "ja", "Berlin"@de.
var languageCode = regexp.MustCompile(`["',]([a-z]{2,3})\b|"@([a-z]{2,3})\b`)

// addLanguages adds the names of the languages that a query asks for, in the language of the text, to the known words:
// the labels are in English.
func (c *Checker) addLanguages(query string) {
	in, err := language.Parse(c.language)
	if err != nil {
		return
	}
	names := display.Languages(in)
	if names == nil {
		return
	}
	c.known.add(names.Name(in))
	for _, m := range languageCode.FindAllStringSubmatch(query, -1) {
		if of, err := language.Parse(m[1] + m[2]); err == nil {
			c.known.add(names.Name(of))
		}
	}
}
