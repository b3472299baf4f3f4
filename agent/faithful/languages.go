package faithful

import (
	"regexp"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/kg"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// tongues maps the English names of languages to their tags (CLDR).
var tongues = sync.OnceValue(func() map[string]language.Tag {
	out := map[string]language.Tag{}
	for _, base := range display.Values.BaseLanguages() {
		tag := language.Make(base.String())
		out[display.English.Languages().Name(tag)] = tag
	}
	return out
})

// languageCode matches the language codes in a query: "ja,en", LANG(?x) = "ja", "Berlin"@de.
var languageCode = regexp.MustCompile(`["',]([a-z]{2,3})\b|"@([a-z]{2,3})\b`)

// languageOf matches a language code.
var languageOf = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z]+)*$`)

// addLanguages adds language names to the known words: the languages that a query requests, and those of the texts in
// its result. The names are in the language of the checked text, because the labels are in English.
func (c *Checker) addLanguages(query string, t *kg.Table) {
	in, err := language.Parse(c.language)
	if err != nil {
		return
	}
	names := display.Languages(in)
	if names == nil {
		return
	}
	c.known.add(names.Name(in))
	codes := map[string]bool{}
	if t != nil { // texts in these languages, or their codes
		for _, row := range t.Rows {
			for _, x := range row {
				codes[x.Lang] = codes[x.Lang] || x.Lang != ""
				code := x.IsLiteral() && languageOf.MatchString(x.Value) && strings.Contains(query, "LANG(")
				codes[x.Value] = codes[x.Value] || code
			}
		}
	}
	for code, known := range codes {
		if of, err := language.Parse(code); err == nil && known {
			c.known.add(names.Name(of))
		}
	}
	for _, m := range languageCode.FindAllStringSubmatch(query, -1) {
		if of, err := language.Parse(m[1] + m[2]); err == nil {
			c.known.add(names.Name(of))
		}
	}
}

// address contains the words that address the asker and are capitalized out of politeness.
var address = map[string]map[string]bool{"pl": wordMap(`pan pani państwo pana panu panią państwa państwu`), "es": wordMap(`usted ustedes`),
	"it": wordMap(`lei suo sua suoi sue`), "pt": wordMap(`senhor senhora`),
	"ru": wordMap(`вы вас вам вами ваш ваша ваше вашего вашей вашему вашем вашу ваши ваших`)}
