package tool

import (
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
)

// Language is a language by its code on Wikidata and its English name.
type Language struct{ Code, Name string }

// English is the language of an asker whose language is not known.
var English = Language{"en", "English"}

// languageNames are the languages that the agent tells apart, Wikidata's code to the English name (ISO 639, CLDR).
// Any other is treated as English, as in SPINACH's reporter.
var languageNames = map[string]string{
	"af": "Afrikaans", "ar": "Arabic", "ast": "Asturian", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
	"bn": "Bengali", "br": "Breton",
	"bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
	"en": "English", "eo": "Esperanto",
	"es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
	"ga": "Irish", "gl": "Galician", "he": "Hebrew",
	"hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic",
	"it": "Italian", "ja": "Japanese",
	"ka": "Georgian", "kk": "Kazakh", "ko": "Korean", "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian",
	"lv": "Latvian", "mk": "Macedonian",
	"ml": "Malayalam", "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian Nynorsk", "oc": "Occitan",
	"pl": "Polish", "pt": "Portuguese",
	"ro": "Romanian", "ru": "Russian", "scn": "Sicilian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
	"sr": "Serbian", "sv": "Swedish",
	"sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
	"vi": "Vietnamese", "zh": "Chinese",
}

// LanguageOf reads a language's code or English name, also with words around it ("The language is German."). ok is
// false when none is known.
func LanguageOf(s string) (Language, bool) {
	s = strings.ToLower(strings.Trim(render.Fold(s), " .`\"'*"))
	code, _, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	if code == "no" {
		code = "nb"
	}
	if name, ok := languageNames[code]; ok {
		return Language{code, name}, true
	}
	codes := make([]string, 0, len(languageNames))
	for c := range languageNames {
		codes = append(codes, c)
	}
	sort.Strings(codes)
	best := Language{}
	for _, c := range codes { // the longest name in the text: Norwegian Nynorsk before Norwegian
		if name := languageNames[c]; len(name) > len(best.Name) && containsWord(s, strings.ToLower(name)) {
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
