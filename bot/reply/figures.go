package reply

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"

	"golang.org/x/text/unicode/norm"
)

// Figure is the unit and date of a number in a result, or the precision of a date.
type Figure struct {
	Column string // variable
	Row    int
	Unit   string // symbol or name: "km"
	Year   string // year for which the number is stated
	Unlike bool   // has no unit, or an ambiguous one, so its column has no shared unit

	Precision int // of a date, as in Wikibase: 11 for a day, 10 for a month, 9 for a year; 0 if unknown
}

// maxUnit is the maximum number of characters of a unit that are shown.
const maxUnit = 20

// AddFigures adds units and years to the numbers in a reply, and shows dates as exactly as they are known. A unit or
// year shared by all numbers in a column is shown in the column heading, even if the graph lacks the unit for fewer
// than half of them. If at most half of the numbers have a year, a year is shown only if its item has several rows,
// because a single dated number looks like an exception.
func AddFigures(r *forum.Reply, figures []Figure) {
	for i, name := range r.Vars {
		units, years, dated, unlike := map[string]int{}, map[string]int{}, 0, false
		for _, f := range figures {
			if f.Column == name && f.Row < len(r.Rows) && i < len(r.Rows[f.Row]) {
				c := &r.Rows[f.Row][i]
				setPrecision(c, f.Precision)
				if c.Kind != "number" {
					continue
				}
				c.Unit, c.Year = text.Clip(f.Unit, maxUnit), f.Year
				unlike = unlike || f.Unlike
				if c.Unit != "" {
					units[c.Unit]++
				}
				years[c.Year]++
				if c.Year != "" {
					dated++
				}
			}
		}
		if i >= len(r.Headers) || len(r.Rows) < 2 && len(r.Vars) < 2 {
			continue
		}
		n := filled(r, i)
		var shared []string
		if unit := common(units, n); unit != "" && !unlike {
			shared = append(shared, unit)
			for _, row := range r.Rows {
				row[i].Unit = ""
			}
		}
		year := only(years, n)
		if year != "" && n > 1 {
			shared = append(shared, year)
		}
		for k, row := range r.Rows {
			if year != "" && n > 1 || 2*dated <= n && !again(r.Rows, k) {
				row[i].Year = ""
			}
		}
		shared = slices.DeleteFunc(shared, func(s string) bool { // a header that the model wrote may have it already
			return strings.HasSuffix(r.Headers[i], "("+s+")")
		})
		if len(shared) > 0 {
			r.Headers[i] += " (" + strings.Join(shared, ", ") + ")"
		}
	}
}

// setPrecision changes how a date is shown if its precision is known. Dates before the year 1 are left unchanged.
func setPrecision(c *forum.Cell, precision int) {
	day := c.Text
	if year, err := strconv.Atoi(c.Text); c.Kind == "year" && err == nil { // January 1, see [cell]
		day = fmt.Sprintf("%04d-01-01", year)
	}
	if _, err := time.Parse(time.DateOnly, day); err != nil || c.Kind != "year" && c.Kind != "day" {
		return
	}
	switch precision {
	case 9:
		c.Kind, c.Text = "year", strings.TrimLeft(day[:4], "0")
	case 10:
		c.Kind, c.Text = "month", day
	case 11:
		c.Kind, c.Text = "day", day
	}
}

// only returns the key that all n numbers share, or "" if there is none.
func only(counts map[string]int, n int) string {
	for k, have := range counts {
		if have == n {
			return k
		}
	}
	return ""
}

// common returns the only key if more than half of n numbers have it, and "" otherwise.
func common(counts map[string]int, n int) string {
	for k, have := range counts {
		if len(counts) == 1 && 2*have > n {
			return k
		}
	}
	return ""
}

// again reports whether a different row has the same item as row k.
func again(rows [][]forum.Cell, k int) bool {
	for i, row := range rows {
		if i != k && row[0].ID != "" && row[0].ID == rows[k][0].ID {
			return true
		}
	}
	return false
}

// filled returns the number of nonempty cells in a column.
func filled(r *forum.Reply, column int) (n int) {
	for _, row := range r.Rows {
		if row[column].Text != "" || row[column].ID != "" {
			n++
		}
	}
	return n
}

// minWord is the minimum number of letters in a variable name that may be a word in the question.
const minWord = 4

// AskersWords names columns in the asker's words. It uses the name of a variable if the asker's own queries also
// contain the variable, if the name is a word in the question or a prefix of one (such as ?land for "welche Länder"),
// or if the name has non-ASCII letters (such as ?año). This helps if a class or a property has no label in the asker's
// language. A count is named after what it counts if the question contains that word, as in ?films. Names copied from
// the English examples, such as ?country, do not count as words in other languages. Headers that the model wrote
// are kept.
func AskersWords(r *forum.Reply, a *agent.Answer, question string, queries ...string) {
	t := forum.Texts(r.Language)
	if a == nil || len(r.Headers) != len(r.Vars) || t == nil || len(r.Rows) == 0 {
		return
	}
	vars, headers := slices.Concat(r.Vars, r.NoValueVars), slices.Concat(r.Headers, r.NoValues)
	defer func() {
		copy(r.Headers, headers)
		copy(r.NoValues, headers[len(r.Headers):])
	}()
	asked := askedWords(question)
	theirVars := variables(queries)
	for _, relaxed := range []bool{false, true} { // after a match, names are preferred to English labels
		found := allForeign(vars, r.Language)
		for i, v := range vars {
			if a.Headers[v] != "" {
				continue
			}
			name := strings.TrimSuffix(v, "Label")
			spelled, inQuestion := wordOf(name, asked, r.Language)
			theirs := theirVars[name] && word(name, r.Language)
			if r.Language != "en" || headers[i] == t.Text("number") { // in English, items are always named this way
				theirs = theirs || inQuestion || strings.ContainsFunc(name, func(c rune) bool { return c > unicode.MaxASCII })
			}
			found = found || theirs
			better := relaxed && ownWord(name, r.Language) && !foreign(headers[i], r.Language)
			if !theirs && !better ||
				headers[i] == t.Text("number") && (!inQuestion || counts[strings.ToLower(name)]) {
				continue
			}
			header := words(spelled, r.Language)
			if !sameHeader(headers[i], header, r.Language) && !slices.Contains(headers, header) {
				headers[i] = header
			}
		}
		if !found || r.Language == "en" {
			return
		}
	}
}

// asked is a word in a question, in lower case, with and without accents.
type asked struct {
	word   []rune
	folded string
}

func askedWords(question string) (out []asked) {
	known := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(norm.NFC.String(question)), func(c rune) bool {
		return !unicode.IsLetter(c)
	}) {
		if !known[w] {
			known[w] = true
			out = append(out, asked{[]rune(w), fold(w)})
		}
	}
	return out
}

// umlauts replaces the ASCII spellings of German umlauts.
var umlauts = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü", "Ae", "Ä", "Oe", "Ö", "Ue", "Ü")

// wordOf returns a variable's name as it is spelled in the question, such as país for ?pais or Präsident for
// ?praesident. ok reports whether a word in the question starts with the name. In longer words, the last letter may
// differ. In German, the name's vowel is kept, because the umlaut may occur only in the plural.
func wordOf(name string, question []asked, language string) (spelled string, ok bool) {
	if first, _ := utf8.DecodeRuneInString(name); unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return name, utf8.RuneCountInString(name) > 1 && slices.ContainsFunc(question, func(w asked) bool {
			return strings.Contains(string(w.word), name) // there are no spaces between words
		})
	}
	if utf8.RuneCountInString(name) < minWord {
		return name, false
	}
	for _, n := range []string{name, umlauts.Replace(name)} {
		beginning := stem(fold(n))
		for _, w := range question {
			if !strings.HasPrefix(w.folded, beginning) {
				continue
			}
			letters := []rune(n)
			for i := range min(len(letters), len(w.word)) {
				if language == "pl" && i == len(letters)-1 {
					break // keep strona, even if the question has stroną
				}
				if language != "de" && letters[i] <= unicode.MaxASCII && fold(string(letters[i])) == fold(string(w.word[i])) && !unicode.IsUpper(letters[i]) {
					letters[i] = w.word[i]
				}
			}
			return string(letters), true
		}
	}
	// The name may be the plural of a word in the question: declaraciones for declaración.
	return name, slices.ContainsFunc(question, func(w asked) bool {
		ending, ok := strings.CutPrefix(fold(name), w.folded)
		return ok && len(w.word) >= minSingular && len(ending) <= 2
	})
}

// minSingular is the minimum number of letters in a word whose plural is recognized as a variable's name.
const minSingular = 5

// foreign reports whether a variable name or label contains none of the English words commonly used in such names, or
// only those that are also words of the given language.
func foreign(name, language string) bool {
	return !generic[strings.ToLower(name)] && !strings.ContainsAny(name, "0123456789") &&
		!slices.ContainsFunc(strings.Fields(words(name, "en")), func(w string) bool {
			w = strings.ToLower(w)
			return shortened[w] || english[w] && !slices.Contains(strings.Fields(cognates[w]), language)
		})
}

// word reports whether a variable's name is a word that the poster may have chosen.
func word(name, language string) bool {
	if generic[strings.ToLower(name)] || strings.ContainsAny(name, "0123456789") || utf8.RuneCountInString(name) < minOwn {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(words(name, "en")), func(w string) bool {
		w = strings.ToLower(w)
		return shortened[w] || language != "en" && english[w]
	})
}

// sameHeader reports whether a header equals a name, ignoring case and accents or, in German, is a compound that starts
// with the name: Geburtsdatum for ?geburt.
func sameHeader(header, name, language string) bool {
	header, name = fold(header), fold(name)
	return header == name || language == "de" && strings.HasPrefix(header, name)
}

// allForeign reports whether there are several variables and none of them has an English name.
func allForeign(vars []string, language string) bool {
	return len(vars) > 1 && !slices.ContainsFunc(vars, func(v string) bool {
		return utf8.RuneCountInString(v) < minWord || !foreign(strings.TrimSuffix(v, "Label"), language)
	})
}

// ownWord reports whether a variable's name is a word of the language: either it is not an English word, or the word is
// the same in both languages.
func ownWord(name, language string) bool {
	return utf8.RuneCountInString(name) >= minOwn && foreign(name, language)
}

// cognates maps words in [english] to the other languages in which the word is the same.
var cognates = map[string]string{"genre": "fr nl", "instrument": "de fr nl pl", "religion": "de fr", "source": "fr", "sport": "de fr it nl pl",
	"team": "de it nl", "zone": "fr nl", "platform": "nl", "volume": "fr it nl", "residence": "fr", "person": "de", "film": "de fr es it nl pl pt", "name": "de", "position": "de fr", "image": "fr",
	"date": "fr", "total": "es fr pt", "area": "it", "director": "es", "autor": "de es pl pt"}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[?$]([\pL\d_]+)`)
})

// variables returns the names of the variables in queries, without the "Label" suffix.
func variables(queries []string) map[string]bool {
	out := map[string]bool{}
	for _, q := range queries {
		for _, m := range variable().FindAllStringSubmatch(q, -1) {
			out[strings.TrimSuffix(m[1], "Label")] = true
		}
	}
	return out
}

const minOwn = 3 // minimum number of letters for one of the poster's variable names to be a word

// english lists words in labels and variable names that people copy from English examples, whatever their own language.
var english = wordSet(`age area author award birth birthday book born building capital category cause child children city
	class coordinate coordinates count country creator date day death died director elevation end event father
	film gender given height human husband image inception instance length link location mother mountain movie name
	number occupation office party people person picture place population position property river school sex site sitelink
	actor actress architect artist athlete candidate composer engineer holder king laureate
	mathematician member musician painter
	philosopher physicist player poet politician president queen scientist singer winner
	by end has of parent shares taxon time to with
	above address area assets award basin blog broadcaster cast cost currency demolished demonym depth developer
	discharge discoverer discovered discovery dissolved distributor duration educated email employees
	employer founded founder
	genre government inception instrument inventor language league manufacturer manner mass mouth movement native nickname
	nominated notable official operator owned owner participant performer phone platform producer profit publisher ranking
	rating received religion replaced residence revenue rooms screenwriter season sector series sibling source speed spoken
	sport students team territory tributary visitors voice volume water website weight width winners zone
	spouse start state statement string sum title total town university website who wife work writer year`)

// counts lists variable names for counts that do not say what is counted.
var counts = wordSet(`number count total amount sum n anzahl zahl nombre número numero cantidad total numer liczba aantal quantità quantidade число количество`)

// shortened lists abbreviations in variable names that no one would use as a column heading.
var shortened = wordSet(`cnt coord coords desc dob dod img lat loc lon long nb num pic pob pod pop qid val`)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// capital returns a word with its first letter capitalized, like a German noun.
func capital(word string) string {
	first, n := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[n:]
}

// stem returns a word without its last letter, which often marks the plural. It returns short words unchanged.
func stem(word string) string {
	if r := []rune(word); len(r) > minWord {
		return string(r[:len(r)-1])
	}
	return word
}

// fold returns a string in lower case, without accents and umlauts.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(s)))
}
