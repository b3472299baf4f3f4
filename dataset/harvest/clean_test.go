package harvest

import (
	"strings"
	"testing"
)

// After [AUTO_LANGUAGE] is replaced, each language appears once, in the author's order. Strings that are not lists of
// languages are left unchanged.
func TestAutoLanguage(t *testing.T) {
	for list, want := range map[string]string{
		"[AUTO_LANGUAGE],en": "en", "[AUTO_LANGUAGE], en, de": "en, de", "en,[AUTO_LANGUAGE]": "en",
		"fr,[AUTO_LANGUAGE],en,fr": "fr,en", "[AUTO_LANGUAGE],mul,EN": "en,mul",
		"[AUTO_LANGUAGE]": "en", "de,en": "de,en", "en,en": "en,en",
	} {
		c := clean(`SELECT ?xLabel WHERE { ?x wdt:P31 wd:Q5 . SERVICE wikibase:label { bd:serviceParam wikibase:language "` +
			list + `" } }`)
		if !strings.Contains(c.text, `wikibase:language "`+want+`"`) {
			t.Errorf("%s: %s, want %s in it", list, c.text, want)
		}
	}
	for _, same := range []string{`"[AUTO_LANGUAGE]: en, en!"`, `"en, en"`} {
		if got := onceEach(same); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}
