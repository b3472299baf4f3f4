package tool

import (
	"sort"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/spinachbot/spinachbot/agent/render"
)

// Language is a language's code on Wikidata and its English name.
type Language struct{ Code, Name string }

// English is the language assumed if the asker's language is not known.
var English = Language{"en", "English"}

// languageNames maps Wikidata's codes for the languages that the agent distinguishes to the languages' English names
// (CLDR). Any other language is treated as English, as in SPINACH's reporter.
var languageNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, code := range strings.Fields(`
	af ar ast az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk
	ko la lb lt lv mk ml ms nb nl nn oc pl pt ro ru scn sk sl sq sr sv sw ta te th tr uk ur vi zh`) {
		names[code] = display.English.Languages().Name(language.Make(code))
	}
	names["nb"], names["bn"] = "Norwegian", "Bengali" // as models write them; CLDR has Norwegian Bokmål and Bangla
	return names
})

// LanguageOf finds a language's code or English name in a string such as "The language is German." It returns false if
// there is none.
func LanguageOf(s string) (Language, bool) {
	s = strings.ToLower(strings.Trim(render.Fold(s), " .`\"'*"))
	code, _, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	if code == "no" {
		code = "nb"
	}
	if name, ok := languageNames()[code]; ok {
		return Language{code, name}, true
	}
	codes := make([]string, 0, len(languageNames()))
	for c := range languageNames() {
		codes = append(codes, c)
	}
	sort.Strings(codes)
	best := Language{}
	for _, c := range codes { // find the longest name: Norwegian Nynorsk, not Norwegian
		if name := languageNames()[c]; len(name) > len(best.Name) && containsWord(s, strings.ToLower(name)) {
			best = Language{c, name}
		}
	}
	return best, best.Code != ""
}

func containsWord(s, w string) bool {
	for i := strings.Index(s, w); i >= 0; {
		before, after := i == 0 || !wordByte(s[i-1]), i+len(w) == len(s) || !wordByte(s[i+len(w)])
		if before && after {
			return true
		}
		n := strings.Index(s[i+1:], w)
		if n < 0 {
			return false
		}
		i += n + 1
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
