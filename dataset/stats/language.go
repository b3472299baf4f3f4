package stats

import (
	"strings"
	"unicode"
)

// Unknown is the language of a question whose language [Language] cannot determine ("undetermined" in BCP 47).
const Unknown = "und"

// scripts maps each writing system to the language of most questions written in it.
var scripts = []struct {
	table    *unicode.RangeTable
	language string
}{
	{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh"},
	{unicode.Cyrillic, "ru"}, {unicode.Greek, "el"},
	{unicode.Hebrew, "he"}, {unicode.Arabic, "ar"}, {unicode.Devanagari, "hi"}, {unicode.Bengali, "bn"},
	{unicode.Thai, "th"}, {unicode.Armenian, "hy"},
	{unicode.Georgian, "ka"}, {unicode.Tamil, "ta"},
}

// functionWords are words that occur frequently in questions, for languages that use the Latin alphabet.
var functionWords = map[string]string{
	"en": "the of and in is are was were which what who how when where many that with for by has have from does did do their his her its all a an to on at it they you me there than more also not or be can give show list find named called",
	"de": "der die das und ist sind war wer was welche welcher welches wie viele wann wo mit von für hat haben nicht ein eine den dem alle im",
	"fr": "le la les des et est sont qui que quel quelle quels quelles combien quand où avec dans pour par une un du au ont sur tous",
	"es": "el la los las de y es son quién qué cuál cuáles cuántos cuántas cuándo dónde con por para una un del en han todos que",
	"it": "il lo la gli le di e è sono chi che quale quali quanti quante quando dove con per una un del della nel hanno tutti",
	"pt": "o a os as de e é são quem que qual quais quantos quantas quando onde com por para uma um do da no na em têm todos",
	"nl": "de het een en is zijn wie wat welke hoeveel wanneer waar met van voor door in heeft hebben niet alle die op",
	"sv": "den det en ett och är var vem vad vilka vilken vilket hur många när med av för har inte alla som på i",
	"pl": "i w z na jest są kto co który która które jakie ile kiedy gdzie dla przez od do nie wszystkie się",
	"cs": "a v z na je jsou kdo co který která které jaké kolik kdy kde pro od do se všechny",
}

// Language guesses the language of a question from its alphabet or, for Latin letters, by counting function words. It
// returns [Unknown] if no single language has the most function words. This is accurate enough for a table of a
// benchmark's languages, but a single short question may be attributed to a related language.
func Language(question string) string {
	count := map[string]int{}
	letters := 0
	for _, r := range question {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				count[s.language]++
				break
			}
		}
	}
	if count["ja"] > 0 {
		count["ja"] += count["zh"]
	}
	for language, n := range count {
		if 2*n > letters && (language != "zh" || count["ja"] == 0) {
			return language
		}
	}
	asked := strings.FieldsFunc(strings.ToLower(question),
		func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	best, most, tie := Unknown, 0, false
	for language, words := range functionWords {
		n := 0
		for _, w := range asked {
			if strings.Contains(" "+words+" ", " "+w+" ") {
				n += weight(w)
			}
		}
		switch {
		case n > most:
			best, most, tie = language, n, false
		case n == most:
			tie = true
		}
	}
	if tie || most == 0 {
		return Unknown
	}
	return best
}

// weight returns the weight of a function word, which is higher for words that occur in only one language.
func weight(word string) int {
	languages := 0
	for _, words := range functionWords {
		if strings.Contains(" "+words+" ", " "+word+" ") {
			languages++
		}
	}
	if languages == 1 {
		return 3
	}
	return 1
}
