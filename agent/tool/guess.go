package tool

import (
	"github.com/abadojack/whatlanggo"
)

// guessed lists the languages to choose from. With more languages, the guess would often be wrong for short questions.
var guessed = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{whatlanggo.Eng: true, whatlanggo.Deu: true,
	whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Ita: true, whatlanggo.Por: true, whatlanggo.Nld: true,
	whatlanggo.Rus: true, whatlanggo.Ukr: true, whatlanggo.Pol: true, whatlanggo.Ces: true, whatlanggo.Swe: true,
	whatlanggo.Jpn: true, whatlanggo.Cmn: true, whatlanggo.Kor: true, whatlanggo.Arb: true, whatlanggo.Heb: true,
	whatlanggo.Hin: true, whatlanggo.Ben: true, whatlanggo.Tur: true, whatlanggo.Hun: true, whatlanggo.Fin: true,
	whatlanggo.Ell: true, whatlanggo.Pes: true, whatlanggo.Tha: true}}

// GuessLanguage guesses the language of a question; see [SureLanguage]. If it cannot tell, it returns English.
func GuessLanguage(question string) Language {
	if l, ok := SureLanguage(question); ok {
		return l
	}
	return English
}

// SureLanguage determines the language of a question from its letters and words, ignoring any quotations and queries it
// contains. ok is false if it cannot tell.
func SureLanguage(question string) (l Language, ok bool) {
	text := quotation().ReplaceAllString(writtenQuery().ReplaceAllString(question, " "), " ")
	info := whatlanggo.DetectWithOptions(text, guessed)
	l, ok = LanguageOf(info.Lang.Iso6391())
	return l, ok && info.IsReliable()
}
