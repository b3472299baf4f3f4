package agent

import (
	"context"
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// language is a language by its code on Wikidata and its English name.
type language struct{ code, name string }

var english = language{"en", "English"}

// languageNames are the languages that the agent tells apart, Wikidata's code to the English name (ISO 639, CLDR). Any other is treated as English, as in
// SPINACH's reporter.
var languageNames = map[string]string{
	"af": "Afrikaans", "ar": "Arabic", "ast": "Asturian", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton",
	"bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto",
	"es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew",
	"hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
	"ka": "Georgian", "kk": "Kazakh", "ko": "Korean", "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
	"ml": "Malayalam", "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian Nynorsk", "oc": "Occitan", "pl": "Polish", "pt": "Portuguese",
	"ro": "Romanian", "ru": "Russian", "scn": "Sicilian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish",
	"sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}

// languageOf reads a language's code or English name, also with words around it ("The language is German."). ok is false when none is known.
func languageOf(s string) (language, bool) {
	s = strings.ToLower(strings.Trim(render.Fold(s), " .`\"'*"))
	code, _, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	if code == "no" {
		code = "nb"
	}
	if name, ok := languageNames[code]; ok {
		return language{code, name}, true
	}
	codes := make([]string, 0, len(languageNames))
	for c := range languageNames {
		codes = append(codes, c)
	}
	sort.Strings(codes)
	best := language{}
	for _, c := range codes { // the longest name in the text: Norwegian Nynorsk before Norwegian
		if name := languageNames[c]; len(name) > len(best.name) && containsWord(s, strings.ToLower(name)) {
			best = language{c, name}
		}
	}
	return best, best.code != ""
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

// findLanguage settles the asker's language: the question's own when it is known, else the model's word for it, else English.
func (r *run) findLanguage(ctx context.Context) error {
	r.lang = english
	if l, ok := languageOf(r.q.Language); ok && r.q.Language != "" {
		r.lang = l
		return nil
	}
	text, ok, err := r.help(ctx, "language", "", 50, system("language", nil),
		llm.Message{Role: llm.User, Content: say("language_user", map[string]any{"Question": r.q.Text, "Language": ""})})
	if err != nil {
		return err
	}
	if l, known := languageOf(text); ok && known {
		r.lang = l
	}
	return nil
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
