package tool

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// phrase is a part of a question that may be a name.
type phrase struct {
	from, to int    // indexes of words in the question
	text     string // the search text
	name     bool   // written like a name: quoted or capitalized
	run      bool   // all content words between two words that are not content words
	quoted   bool
}

// Limits on phrases.
const (
	maxPhraseWords = 4 // words in a phrase that is not written like a name
	maxNameWords   = 9
	maxJoinedWords = 7 // words in two adjacent phrases joined by small words
	maxPhrases     = 48
)

// noun reports whether a phrase is a single word that is capitalized only because the question is in German.
func (p *phrase) noun(language string) bool {
	rest := strings.TrimLeftFunc(p.text, unicode.IsUpper)
	return language == "de" && p.name && !p.quoted && p.to == p.from+1 &&
		!strings.ContainsFunc(rest, func(c rune) bool { return !unicode.IsLower(c) })
}

// number reports whether a phrase consists only of digits, such as a year or an amount, which occurs in the names of
// many entities. If it matches exactly, a number is treated like any other name.
func (p *phrase) number() bool {
	return !strings.ContainsFunc(p.text, func(c rune) bool { return !unicode.IsDigit(c) && !strings.ContainsRune(" .,-", c) })
}

// word is a word in a question.
type word struct {
	text   string
	stop   bool // the word has no meaning on its own
	capped bool // the word starts with a capital letter or contains a digit
	apart  bool // the word comes after punctuation or is the first word
	and    bool // the word comes after an ampersand
	quoted int  // index of the quotation that contains the word, from 1; 0 if there is none
}

// stopWords are words in questions that do not name anything, in the languages in which most questions are asked.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
	a an the of in on at by for from to with and or not no nor as is are was were be been being am do does did done has
	have had having can could may might must shall should will would which who whom whose what when where why how many
	much more most less least than then that this these those there their they them he she his her him it its i me my we
	us our you your all any each every some such only also both same other others another into over under between among
	about after before during per via up out off so if but list show give get find tell name return returns returned
	retrieve count number numbers total result results answer query question item items entry entries information data
	distinct different unique value values label labels please want need using use used wikidata sparql tuple contain
	contains containing contained include including included excluding group grouped order ordered sort sorted
	descending ascending respective respectively corresponding available exist exists considered currently
	still ever first last one two three four five six seven eight nine ten eleven twelve
	ones know known called named let lets make made like just along together
	hi hello hey thanks thank regards everyone everybody someone somebody anyone folks hallo zusammen danke bitte grüße
	bonjour bonsoir salut merci hola gracias saludos ciao salve grazie olá obrigado obrigada hoi bedankt dank cześć dzień
	dobry witam dziękuję здравствуйте привет спасибо vielen herzlichen voraus muchas antemano tante anticipo beaucoup avance
	d’avance d'avance alvast buongiorno
	ein eine einen einem einer eines der die das den dem des und oder ist sind war waren wird wurde wurden hat haben hatte
	von vom zu zum zur im in an am auf aus bei mit nach für über unter zwischen wer wen wem was wann wo wie welche welcher
	welches welchen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
	viele alle gibt es sie er ich wir auch nur noch nicht als liste zeige nenne
	le la les un une des du de au aux et ou est sont était étaient a ont dans sur par pour avec sans qui que quoi quel quelle
	quels quelles quand où comment combien il elle ils elles ce cette ces se y tous toutes deux trois quatre cinq sept huit neuf
	dix donne liste plus moins leur leurs ses entre depuis chez
	el los las uno una unos unas y o es son fue fueron era en por para con sin quién quiénes qué cuál cuáles cuándo dónde
	cómo cuántos cuántas del al se su sus lo dos tres cuatro cinco seis siete ocho nueve diez todos todas
	il lo gli i uno di da del della dei delle e è sono era chi che cosa quale quali due tre quattro cinque sette otto nove dieci quando dove come quanti quante
	mi tu qué mal bien está están hay tengo quiero busco podría podrían puede alguien algún alguna
	je mon ma mes cherche voudrais quelqu’un est-ce peut pourrait
	mein meine meinen ich suche kann könnte jemand bitte geht das mir
	cerco vorrei mi serve qualcuno può potrebbe c’è
	quero preciso alguém pode poderia meu minha estou procurando
	ik zoek wil kan iemand een het de mijn met voor welke hoeveel graag
	szukam chcę potrzebuję ktoś może czy proszę jakie jest są dla
	нужен нужна нужно ищу кто может запрос список пожалуйста все какие в на по с и из
	alla allo agli alle dal dalla nel nella nei nelle sul sulla più meno`) {
		m[w] = true
	}
	return m
}()

// vague lists words that are useful only in combination ("astronomical object"). On their own, they find unrelated
// entities.
var vague = []string{"kind", "kinds", "type", "types", "sort", "sorts", "thing", "things", "object", "objects", "second",
	"third", "half", "art", "arten", "sorte", "sortes", "tipo", "tipos"}

// joints are small words within names, as in "Portrait of a Lady on Fire".
var joints = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`of the a an on in and at for to by with from de la le les du des d l der die das den
	dem von vom van zu zum zur und für am im y e et el los las del di da do dos al`) {
		m[w] = true
	}
	return m
}()

var (
	writtenQuery = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?is)```.*?```|\\b(?:PREFIX\\s+\\w*:|SELECT\\b|ASK\\b|CONSTRUCT\\b)[^{]*\\{.*\\}")
	})
	quotation = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"([^"\n]{2,80})"|“([^”\n]{2,80})”|„([^“”\n]{2,80})[“”]|«([^»\n]{2,80})»`)
	})
	wordForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\([\pL\pN]{1,3}\))?[\pL\pN][\pL\pN\pM.’'&-]*`) // including (G)I-dle
	})
	thisProject  = regexp.MustCompile(`(?i)^(wikida[tn]|викидан|ويكي)`) // Wikidata, in any language and case
	entityWord   = regexp.MustCompile(`^[PQ]\d{2,}$`)
	smallBetween = regexp.MustCompile(`^[ \t:–—&-]*$`)
	// French and Italian words that lose their last vowel before another word: "l'Espagne", "dell'Italia". They are
	// capitalized only at the start of a sentence, unlike the N in "N'Djamena".
	elision = regexp.MustCompile(`^(?:(?:[LlDdJjCc]|[Qq]u|[Dd]ell|[Nn]ell|[Aa]ll|[Dd]all|[Ss]ull|[Uu]n|[nsmt])['’])(\pL)`)
)

// wordsOf splits a question into words, leaving out any query in it.
func wordsOf(question string) []word {
	question = writtenQuery().ReplaceAllString(question, " . ")
	quoted := make([]int, len(question)+1)
	for i, m := range quotation().FindAllStringIndex(question, -1) {
		for at := m[0]; at < m[1]; at++ {
			quoted[at] = i + 1
		}
	}
	var out []word
	end := 0
	for _, m := range wordForm().FindAllStringIndex(question, -1) {
		text := strings.TrimRight(question[m[0]:m[1]], "’'&-")
		if strings.Index(text, ".") == len(text)-1 && len(text) > 3 { // the period ends a sentence, unlike that of "h.w."
			text = strings.TrimRight(text, ".")
		}
		for _, possessive := range []string{"'s", "’s"} {
			text = strings.TrimSuffix(text, possessive)
		}
		if text == "" {
			continue
		}
		between := question[end:m[0]]
		cut := 0
		if e := elision.FindStringSubmatchIndex(text); e != nil {
			cut = e[2]
			first, _ := utf8.DecodeRuneInString(text)
			out = append(out, word{text: text[:cut], stop: true, quoted: quoted[m[0]], capped: unicode.IsUpper(first),
				apart: end == 0 || strings.TrimSpace(between) != ""})
			text, between, end = text[cut:], "", m[0]+cut
		}
		first, _ := utf8.DecodeRuneInString(text)
		project := thisProject.MatchString(text)
		w := word{text: text, stop: stopWords[strings.ToLower(text)] || project, quoted: quoted[m[0]],
			capped: !project && (unicode.IsUpper(first) || strings.ContainsFunc(text, unicode.IsDigit) ||
				strings.ContainsFunc(text, unicode.IsUpper)),
			apart: end == 0 || strings.TrimSpace(between) != "" || strings.Contains(between, "\n")}
		if w.capped && end > 0 && w.apart && smallBetween.MatchString(between) { // "Star Wars: Episode VI – Return"
			w.apart, w.and = false, strings.Contains(between, "&")
		}
		out = append(out, w)
		end = m[0] + cut + len(text)
	}
	return out
}

// phrasesOf returns the phrases in a question that may be names, longest first: quotations, capitalized words with the
// small words between them, and runs of the remaining meaningful words.
func phrasesOf(question string) []phrase {
	words := wordsOf(question)
	var out []phrase
	seen := map[string]bool{}
	add := func(from, to int, name, run bool) {
		if from >= to {
			return
		}
		text := joined(words[from:to])
		if key := strings.ToLower(text); !seen[key] && utf8.RuneCountInString(text) >= 2 {
			seen[key] = true
			out = append(out, phrase{from, to, text, name, run, words[from].quoted > 0})
		}
	}
	for from := 0; from < len(words); { // quotations
		to := from + 1
		for to < len(words) && words[from].quoted > 0 && words[to].quoted == words[from].quoted {
			to++
		}
		if words[from].quoted > 0 {
			add(from, to, true, false)
		}
		from = to
	}
	names(words, add)
	runs(words, add)
	slices.SortStableFunc(out, func(a, b phrase) int {
		if a.name != b.name {
			if a.name {
				return -1
			}
			return 1
		}
		return (b.to - b.from) - (a.to - a.from)
	})
	return out[:min(len(out), maxPhrases)]
}

func joined(words []word) string {
	var list []string
	for _, w := range words {
		if w.and && len(list) > 0 {
			list = append(list, "&")
		}
		list = append(list, initials.ReplaceAllString(w.text, ". $1"))
	}
	return apostrophe.ReplaceAllString(strings.Join(list, " "), "$1$2")
}

// apostrophe matches the apostrophe and space in "Charles d' Artagnan".
var apostrophe = regexp.MustCompile(`(['’]) (\pL)`)

// joint reports whether a word is one of the small words that occur within names.
func (w word) joint() bool { return joints[strings.TrimRight(strings.ToLower(w.text), "'’")] }

// initials matches a letter after a period: "H.W." is searched as "H. W.".
var initials = regexp.MustCompile(`\.(\pL)`)

// names adds spans of capitalized words, both in full and split at their small words. The first word of a sentence is
// always capitalized, so it is not considered a name on its own.
func names(words []word, add func(from, to int, name, run bool)) {
	for from := 0; from < len(words); from++ {
		if !words[from].capped || words[from].stop && words[from].apart {
			continue
		}
		to := from + 1 // index after the last capitalized word
		for at := to; at < len(words) && !words[at].apart && at-from < maxNameWords; at++ {
			if entityWord.MatchString(words[at].text) && entityWord.MatchString(words[to-1].text) {
				break // P1082 and P2046
			}
			if words[at].capped {
				to = at + 1
			} else if !words[at].joint() {
				break
			}
		}
		alone := to == from+1 && words[from].apart && from+1 < len(words) // maybe capitalized only as the first word
		add(from, to, !alone || len(words) == 1, false)
		if from > 0 && (words[from-1].text == "d'" || words[from-1].text == "d’") { // "of Spain", or d'Artagnan
			add(from-1, to, true, false)
		}
		for at := from; at < to; { // the parts of the span between small words
			end := at
			for end < to && (words[end].capped && !words[end].joint()) {
				end++
			}
			if end > at {
				add(at, end, true, false)
			}
			at = end + 1
		}
		from = to - 1
	}
}

// runs adds runs of meaningful words, and pairs of runs joined by small words.
func runs(words []word, add func(from, to int, name, run bool)) {
	type span struct{ from, to int }
	var all []span
	for from := 0; from < len(words); {
		if words[from].stop {
			from++
			continue
		}
		to := from + 1
		for to < len(words) && !words[to].stop && !words[to].apart {
			to++
		}
		all = append(all, span{from, to})
		from = to
	}
	alone := func(from, to int) bool {
		return to-from == 1 && slices.Contains(vague, strings.ToLower(words[from].text))
	}
	for i, s := range all {
		if s.to-s.from <= maxPhraseWords && !alone(s.from, s.to) {
			add(s.from, s.to, false, true)
		}
		if i+1 < len(all) {
			next := all[i+1]
			small := true
			for _, w := range words[s.to:next.from] {
				small = small && w.joint() && !w.apart
			}
			if small && !words[next.from].apart && next.to-s.from <= maxJoinedWords {
				add(s.from, next.to, false, false)
			}
		}
		for n := min(maxPhraseWords, s.to-s.from); n > 0; n-- {
			for from := s.from; from+n <= s.to; from++ {
				if !alone(from, from+n) {
					add(from, from+n, false, false)
				}
			}
		}
	}
}

// spellings returns a phrase and, if different, the phrase with its words in the English singular.
func spellings(text string) []string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = singular(w)
	}
	if one := strings.Join(words, " "); one != text {
		return []string{text, one}
	}
	return []string{text}
}

// nameSpellings returns a name and, if its last word may be a plural, the name in the singular: "Super Bowls" refers to
// members of the class named Super Bowl.
func nameSpellings(name string) []string {
	at := strings.LastIndexByte(name, ' ') + 1
	last := []rune(name[at:])
	if len(last) == 0 || slices.ContainsFunc(last, unicode.IsDigit) { // 1990s is not the plural of a year
		return []string{name}
	}
	first := last[0]
	last[0] = unicode.ToLower(first)
	one := []rune(singular(string(last)))
	one[0] = first
	if s := name[:at] + string(one); s != name {
		return []string{name, s}
	}
	return []string{name}
}

// singular returns the singular form of an English plural. It does not change capitalized words.
func singular(w string) string {
	if first, n := utf8.DecodeRuneInString(w); unicode.IsUpper(first) || len(w) < n+3 || strings.HasSuffix(w, "ss") ||
		strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is") {
		return w
	}
	for _, end := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(w, end[0]); ok {
			return stem + end[1]
		}
	}
	return w
}
