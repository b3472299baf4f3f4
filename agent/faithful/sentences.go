package faithful

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Sentences splits a text into its sentences.
func (c *Checker) Sentences(text string) []string {
	var out []string
	runes := []rune(strings.Join(strings.Fields(text), " "))
	start := 0
	for i, r := range runes {
		wide := strings.ContainsRune("。！？", r)
		if !wide && (!strings.ContainsRune(".!?؟", r) || i+1 < len(runes) && runes[i+1] != ' ') {
			continue
		}
		if r == '.' && i+1 < len(runes) && c.within(runes[start:i], runes[i+1:]) {
			continue
		}
		out = append(out, strings.TrimSpace(string(runes[start:i+1])))
		start = i + 1
	}
	if rest := strings.TrimSpace(string(runes[start:])); rest != "" {
		out = append(out, rest)
	}
	return out
}

// within reports whether a period between before and after belongs to an abbreviation or an ordinal and does not also
// end a sentence.
func (c *Checker) within(before, after []rune) bool {
	return abbreviated(before) && !endsInEra(before, after) && !c.endsInName(before, after) &&
		!c.endsInNumber(before, after)
}

// endsInNumber reports whether a period after a short number ends a sentence because a capitalized word follows, as in
// "88. São". In German, where ordinals have a period and nouns are capitalized, the word must be one that begins
// sentences.
func (c *Checker) endsInNumber(before, after []rune) bool {
	if len(after) < 2 || !unicode.IsUpper(after[1]) || !unicode.IsDigit(before[len(before)-1]) {
		return false
	}
	return c.language != "de" && c.language != "" || germanStarts().MatchString(string(after[:min(len(after), 12)]))
}

var germanStarts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ (Der|Die|Das|Eine?|Es|Sie|Er|I[nm]|Auf|Bei|Beim|Mit|Von|Vom|Zu|Zum|Zur|Für|Nur|Alle|Am|An|` +
		`Diese[rs]?|Wo|Wenn|Da|Hier|Damit|Dabei|Durch|Neben|Ohne|Über|Unter|Nach|Vor|Außerdem|Beide|Jede[rs]?|Keine?|Wer|Was|` +
		`Wie|Dann|Danach|Dazu|Davon|Daher|Deshalb|Dort|So|Als|Ab|Bis|Seit|Um|Viele|Einige|Manche|Andere|Weitere|Insgesamt|` +
		`Zusammen|Laut|Weil|Sortiert|Gezählt|Bitte|Falls|Auch|Aber|Sollte|Dass|Ob|Man|Ich|Du)\s`)
})

// eraEnd matches a text that ends with an era, a Polish year or "and so on" without the last period.
var eraEnd = regexp.MustCompile(`(н\. ?э|v\. ?Chr|n\. ?Chr|p\.n\.e|\dn\.e| a\. ?C| d\. ?C|J\.-C|и т\. ?д|\d r)$`)

// endsInEra reports whether a period between before and after ends a sentence although it belongs to an era: to 454 BC.
func endsInEra(before, after []rune) bool {
	return len(after) > 1 && after[0] == ' ' && unicode.IsUpper(after[1]) &&
		eraEnd.MatchString(strings.ReplaceAll(string(before[max(0, len(before)-12):]), "\u00a0", " "))
}

// endsInName reports whether a period between before and after ends a sentence although it looks like part of an
// abbreviation, because before ends with a multiword name from the result, such as Apollo 13 or Annapurna I, and after
// starts with a capital letter or a digit. In German and Polish, Roman numerals are written with a period.
func (c *Checker) endsInName(before, after []rune) bool {
	if len(after) < 2 || !unicode.IsUpper(after[1]) && !unicode.IsDigit(after[1]) && !unicode.Is(unicode.Lo, after[1]) {
		return false
	}
	toks := tokens(string(before))
	if len(toks) == 0 || (c.language == "de" || c.language == "pl") && unicode.IsLetter(before[len(before)-1]) {
		return false
	}
	return slices.ContainsFunc(c.names, func(n rowName) bool {
		from := len(toks) - len(n.words)
		return len(n.words) > 1 && from >= 0 && c.matches(toks[from:], n.words) == len(n.words)
	})
}

// wholePart matches text that ends with an integer of three digits or more and a decimal point or comma.
var wholePart = regexp.MustCompile(`\d{3}[.,]$`)

// unit matches a text that ends with a figure and a unit symbol. These symbols have no periods.
var unit = regexp.MustCompile(`\d[ \x{a0}\x{202f}](km|m|cm|mm|kg|t|ha|км|м|кг|km²|m²)$`)

// abbreviated reports whether a period after these letters belongs to an abbreviation or an ordinal and does not end a
// sentence, as after "St", "J", the 3 in a date or the VII of a king.
func abbreviated(before []rune) bool {
	n, roman := 0, true
	for i := len(before) - 1; i >= 0 && (unicode.IsLetter(before[i]) || unicode.IsDigit(before[i])); i-- {
		roman = roman && strings.ContainsRune("IVXLC", before[i])
		n++
	}
	if n > 0 && wholePart.MatchString(string(before[:len(before)-n])) {
		return false
	}
	if unit.MatchString(string(before)) {
		return false
	}
	return n > 0 && (n <= 2 || roman || string(before[len(before)-n:]) == "Chr") // 63 v. Chr.
}
