package reply

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/forum"
)

// having matches a verb that a request uses to demand that things have a value, in the languages written with spaces.
var having = regexp.MustCompile(`(?i)(?:^|\P{L})(ha(?:ve|s|ving)|hat|haben|besitzen|ont|ayant|possèdent|tienen?|tengan?|hanno|abbiano|t[eêé]m|tenham|possuem|heeft|hebben|` +
	`maj[aą]|ma|posiadają|имеют|имеет|есть|указан[аоы]?)(?:\P{L}|$)`)

// comparing matches a limit that a request states in words: "more than 40", "older than 40".
var comparing = regexp.MustCompile(`(?i)\b(than|above|below|over|under|at least|at most|als|über|unter|mindestens|höchstens|plus de|moins de|supérieure?s?|` +
	`inférieure?s?|au moins|au plus|más de|menos de|mayor(es)? (de|que)|menor(es)? (de|que)|al menos|più di|meno di|superiori?|inferiori?|almeno|mais de|maior(es)? (do )?que|` +
	`menor(es)? (do )?que|pelo menos|dan|minstens|hoogstens|niż|powyżej|poniżej|co najmniej|co najwyżej)\b|больше|меньше|более|менее|старше|младше|` +
	`не менее|أكثر من|أقل من|على الأقل|より|以上|以下|超|未満|大于|小于|超过|至少|至多|[<>≥≤]`)

// decade matches a decade that a request names, whose first and last years are therefore known: the 1970s.
var decade = regexp.MustCompile(`(?i)\b(\d?\d?\d0-?(s|er|ern)|(anni|années|años|anos|lata|lat|latach|jaren) ['’]?(\d\d)?\d0)\b|\d0-[еых]|\d0年代`)

// current matches words that a request uses to ask only for what has not ended.
var current = regexp.MustCompile(`(?i)\b(current(ly)?|now|nowadays|present|today|still|living|alive|active|` +
	`aktuell\p{L}*|derzeit\p{L}*|heut(e|ig\p{L}*)|gegenwärtig\p{L}*|jetzig\p{L}*|noch|lebend\p{L}*|actuel(le)?s?|` +
	`actuellement|aujourd|encore|vivant\p{L}*|en vie|actual(es|mente)?|hoy|todavía|vigentes?|viv[oa]s?|attual\p{L}*|` +
	`oggi|ancora|vivent[ei]|atua(l|is|lmente)|hoje|ainda|huidige|momenteel|nu|nog|levende?|obecn\p{L}*|aktualn\p{L}*|` +
	`nadal)\b|dziś|żyjąc|нынешн|ныне|текущ|сейчас|действующ|живущ|الحالي|حالي|الآن|現在|現役|存命|现任|現任|目前|当前|在世`)

// rank matches the word for a statement's rank, as in the messages.
var rank = regexp.MustCompile(`(?i)\b(ranks?|rang|rango|classificação|ranga|rangą|randze|rangi)\b|(?i)ранг|رتبة|ランク|等级`)

// WithoutRequired drops the readings that the question excludes: things without a value that it demands ("which of them
// have a location?"), other ends of a range if it states the limit or names a decade, and things that have ended if it
// asks for current ones or the reply says that it lists those. It drops other ranks if the reply mentions ranks or
// states the number of rows with them. It also drops classes that would only remove rows: those rows mostly lack a
// statement with that class, and the asker sees them.
func WithoutRequired(r *forum.Reply, question string) {
	said := strings.Join([]string{r.Short, r.Assumed, r.LeftOpen}, "\n")
	r.Open = slices.DeleteFunc(r.Open, func(o forum.Open) bool {
		switch o.Kind {
		case "class":
			return o.Come == 0 && o.Gone > 0
		case "missing":
			return demands(question, o.ID) || demands(question, o.Name)
		case "ends", "ends_out":
			return comparing.MatchString(question) || decade.MatchString(question)
		case "past":
			return current.MatchString(question) || current.MatchString(said)
		case "ranks", "ranks_best":
			counted := says(said, r.Language, r.Total+o.Come) || says(said, r.Language, o.Come)
			return rank.MatchString(said) || o.Come > 0 && counted
		}
		return false
	})
}

// says reports whether text contains a number, in digits or in words.
func says(text, language string, n int) bool {
	number := strconv.Itoa(n)
	return faithful.Says(text, language, number) || regexp.MustCompile(`\b`+number+`\b`).MatchString(text)
}

// maxBetween is the maximum number of words between the verb and the value.
const maxBetween = 4

// demands reports whether a question contains a name up to four words after a verb such as "have".
func demands(question, name string) bool {
	if name == "" {
		return false
	}
	question, name = strings.ToLower(question), strings.ToLower(name)
	for _, m := range having.FindAllStringSubmatchIndex(question, -1) {
		after := strings.Fields(question[m[3]:])
		reach := len(strings.Fields(name)) + maxBetween
		if strings.Contains(strings.Join(after[:min(len(after), reach)], " "), name) {
			return true
		}
	}
	return false
}
