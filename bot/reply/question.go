package reply

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"

	"golang.org/x/text/language"
)

// Question returns the question for the poster, with the number of results for each of two interpretations. It is the
// model's question, followed by a sentence with the counts if it lacks them, or a fixed sentence if the model wrote
// nothing and the second interpretation is known. Question returns "" if there is nothing to ask.
func Question(out *agent.Outcome, language string) string {
	if len(out.Readings) != 2 {
		return out.Asks
	}
	first, second := out.Readings[0], out.Readings[1]
	t := forum.Texts(language)
	if t == nil {
		return out.Asks
	}
	if p := second.Probe; out.Asks == "" && p != nil {
		point := forum.PointWords(t, Point(out, *p))
		if point == "" {
			return ""
		}
		return t.Text("asks_point", "first", first.Count, "point", point, "second", second.Count)
	}
	found := numbers(out.Asks)
	if out.Asks == "" || found[first.Count] && found[second.Count] {
		return out.Asks
	}
	return out.Asks + " " + t.Text("asks_counts", "first", first.Count, "second", second.Count)
}

// numbers returns the set of whole numbers in a string, written with or without thousands separators.
func numbers(s string) map[int]bool {
	out := map[int]bool{}
	for _, m := range wholeNumber.FindAllString(s, -1) {
		digits := strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, m)
		if n, err := strconv.Atoi(digits); err == nil {
			out[n] = true
		}
	}
	return out
}

var wholeNumber = regexp.MustCompile(`\d{1,3}(?:[., \x{a0}\x{202f}]\d{3})+|\d+`)

// AsksForNumbers reports whether a request asks for item IDs.
func AsksForNumbers(question string) bool { return asksForNumbers().MatchString(question) }

// asksForNumbers matches a request for item IDs, in the languages of the replies.
var asksForNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bq[- ]?(ids?|numbers?|nummern?|nummers|numéros?|n[uú]meros?|numeri|numery)\b|` +
		`\b(ids?|numbers?|nummern?|numéros?|n[uú]meros?|numeri|numer[yu]?|numerów) q\b|` +
		`\b(item|objekt|wikidata)[- ]?(ids?|numbers?|nummern?|nummers)\b|` +
		`\b(id|numéros?|n[uú]meros?|numeri) (d['’]|d[eo]s? |degli |dell['’]|)(elementos?|éléments?|elementi|elemento|itens|items?|wikidata)\b|` +
		`numer(y|ów)? element|(номера?|номеров|идентификатор[ыа]?) (q|элемент)|q[番号編编码]|(項目|アイテム)(番号|id)|项目?(编号|id)|` +
		`(رقم|أرقام|معر[ّ]?ف|معر[ّ]?فات) (ال)?(عنصر|عناصر)`)
})

// Language returns the language of a reply. known is the asker's language, or "" if it is not known. If the bot has
// messages in that language, Language returns it. Otherwise, because a reply is entirely in one language, it returns
// the wiki's first language with messages, or English, and foreign is true. If known is "", it returns the wiki's first
// language, or "" if the wiki has none.
func Language(known string, wiki []string) (language string, foreign bool) {
	if known == "" && len(wiki) > 0 {
		return wiki[0], false
	}
	if known == "" || spoken(known) {
		return known, false
	}
	for _, l := range append(slices.Clone(wiki), "en") {
		if spoken(l) {
			return l, true
		}
	}
	return known, false
}

// spoken reports whether the bot has messages in a language.
func spoken(code string) bool {
	t := forum.Texts(code)
	if t == nil {
		return false
	}
	has, _ := t.Tag().Base()
	want, err := language.Parse(code)
	base, _ := want.Base()
	return err == nil && has == base
}
