package faithful

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// some counts the cells of a column.
type some struct {
	bound, labeled, items, yes, not int
	distinct                        map[string]bool
	with, without, named, unnamed   map[int]bool    // rows
	filled, all                     map[string]bool // items of the first column that have a value, and all of them
}

// readSome counts, for each column, the distinct values, the rows that have a value, the items of the first column that
// have one and, for items, the rows that have a label.
func (c *Checker) readSome(t *kg.Table, labels map[string]string) {
	for col := range t.Vars {
		s := someOf(t, col, labels)
		if n := len(s.distinct); n > 1 && n < len(t.Rows) {
			c.free[float64(n)] = true
		}
		for k, rows := range []map[int]bool{s.with, s.without, s.named, s.unnamed} {
			items := map[string]bool{}
			for i := range rows {
				if len(t.Rows[i]) > 0 {
					items[t.Rows[i][0].Value] = true
				}
			}
			c.halves = append(c.halves, half{rows, len(items), k%2 == 1})
		}
		for _, n := range []int{s.bound, s.labeled, s.items - s.labeled, len(t.Rows) - s.bound, s.yes, s.not,
			len(s.filled), len(s.all) - len(s.filled)} {
			if n > 0 && n < len(t.Rows) {
				c.some[float64(n)] = true
			}
		}
	}
}

func someOf(t *kg.Table, col int, labels map[string]string) some {
	s := some{distinct: map[string]bool{}, with: map[int]bool{}, without: map[int]bool{}, named: map[int]bool{},
		unnamed: map[int]bool{}, filled: map[string]bool{}, all: map[string]bool{}}
	for i, row := range t.Rows {
		if len(row) > 0 {
			s.all[row[0].Value] = true
		}
		if col >= len(row) || !row[col].Bound() {
			s.without[i] = true
			continue
		}
		s.bound++
		s.with[i], s.filled[row[0].Value] = true, true
		switch zero, err := strconv.ParseFloat(row[col].Value, 64); {
		case row[col].Value == "true" && row[col].Datatype == rdf.XSDBoolean:
			s.yes++
		case row[col].Value == "false" && row[col].Datatype == rdf.XSDBoolean, err == nil && zero == 0:
			s.not++
		}
		if t := row[col]; t.Datatype == "" || t.Datatype == rdf.XSDString || t.Datatype == rdf.XSDInteger {
			s.distinct[t.Value] = true
		}
		if id := rdf.EntityID(row[col].Value); row[col].IsIRI() && id != "" {
			s.items++
			if label := labels[id]; label != "" && label != id {
				s.labeled++
				s.named[i] = true
			} else {
				s.unnamed[i] = true
			}
		}
	}
	return s
}

// having contains words that say that something has or lacks a value.
var having = wordMap(`have has having without lack lacks lacking missing none neither nor unknown
	haben hat ohne fehlt fehlen kein keine keinen weder noch unbekannt
	ont a sans manque manquent aucun aucune ni inconnu inconnue inconnus
	tienen tiene sin falta faltan carecen ningún ninguno ninguna ni
	hanno ha senza manca mancano nessun nessuno nessuna né
	têm tem sem faltam nenhum nenhuma nem
	hebben heeft zonder ontbreekt ontbreken geen noch
	mają ma bez brakuje ani
	есть имеют имеет без нет отсутствует указан указано указана ни
	لها له لديها لديه بدون دون ينقص تنقص ليس ليست تذكر مذكور مذكورة`)

// havingUnspaced matches the equivalent words in Chinese and Japanese, which are parts of longer tokens.
var havingUnspaced = regexp.MustCompile(`有|无|無|缺|ない|なし|ある|あり|あった|持|受賞`)

// half represents the rows that have a value or a label in a column, or those that lack one.
type half struct {
	rows  map[int]bool
	items int // in the first column
	lacks bool
}

// lacking contains the words that say that a value is missing.
var lacking = wordMap(`without lack lacks lacking missing none neither nor no not unknown ohne fehlt fehlen kein keine
	keinen weder noch nicht unbekannt sans manque manquent aucun aucune ni pas inconnu inconnue inconnus
	sin falta faltan carecen ningún ninguno ninguna senza manca mancano nessun nessuno nessuna né non
	don doesn didn haven hasn aren isn weren wasn
	sem faltam nenhum nenhuma nem não zonder ontbreekt ontbreken geen niet bez brakuje ani nie без нет
	не отсутствует ни بدون دون ينقص تنقص ليس ليست لا`)

var lackingUnspaced = regexp.MustCompile(`无|無|缺|没|ない|なし|ません`)

// ofSome reports whether the token at i is the number of rows or items that have or lack a value or a label, in a
// sentence, or a part of one, without a name from the result, as in "only two of them have a label". If names follow,
// they must be among these rows; if there is one in the same part, they must be all of them.
func (c *Checker) ofSome(toks []token, named []found, i int) bool {
	if !slices.ContainsFunc(c.numbers(toks[i]), func(n number) bool { return c.some[n.value] }) {
		return false
	}
	says := func(t token) bool {
		return having[t.folded] || len(named) > 0 && only[t.folded] || havingUnspaced.MatchString(t.text)
	}
	if !slices.ContainsFunc(toks, says) {
		return false
	}
	rows, all := map[int]bool{}, map[int]bool{}
	listed := map[int]bool{} // the other parts of the sentence that have names
	for _, n := range named {
		maps.Copy(all, n.rows)
		if n.from > i {
			maps.Copy(rows, n.rows)
			listed[toks[n.from].part] = toks[n.from].part != toks[i].part
		}
	}
	near := nextToName(toks, named, i)
	if !near && len(rows) == 0 {
		return len(named) == 0 || slices.ContainsFunc(toks, func(t token) bool { return t.part == toks[i].part && says(t) })
	}
	// "five have a mayor, but not Metz" does not deny that five have one
	lacks := slices.ContainsFunc(toks, func(t token) bool { return denies(t) && !listed[t.part] })
	return slices.ContainsFunc(c.halves, func(h half) bool {
		if !c.is(toks[i], len(h.rows)) && !c.is(toks[i], h.items) || h.lacks != lacks {
			return false
		}
		if near {
			return maps.Equal(h.rows, all)
		}
		if !slices.ContainsFunc(toks, func(t token) bool { return having[t.folded] || havingUnspaced.MatchString(t.text) }) {
			return false // "only" alone does not say what they have
		}
		for r := range rows {
			if !h.rows[r] {
				return false
			}
		}
		return true
	})
}

// absent reports whether the token at i is a year between the result's first and last years that the result lacks, and
// the sentence, which has no name, says that it is missing, as in "there is none for 1999" but not in "none before
// 1999".
func (c *Checker) absent(toks []token, named []found, i int) bool {
	year, err := strconv.ParseFloat(toks[i].folded, 64)
	if err != nil || len(named) > 0 {
		return false
	}
	first, last := math.Inf(1), math.Inf(-1)
	for _, v := range c.values {
		if yearWord.MatchString(strconv.FormatFloat(v.number, 'f', -1, 64)) {
			first, last = min(first, v.number), max(last, v.number)
		}
		if v.number == year {
			return false
		}
	}
	denied := false
	for j, t := range toks {
		if t.part != toks[i].part {
			continue
		}
		if spans[t.folded] || limits[t.folded] || spansUnspaced.MatchString(t.text) {
			return false
		}
		denied = denied || denies(t) && !withoutWords[t.folded] && (j < i || unicase(t.text))
	}
	return denied && first < year && year < last
}

// spans contains words for more than one year, and words that contradict a denial before them: not until 1999, not in
// 1998 but in 1999.
var spans = wordMap(`before after until till since through between but newer older later earlier prior except bis vor
	nach seit erst zwischen sondern außer avant après jusqu depuis entre mais sauf antes después hasta
	desde sino salvo prima dopo fino dal tra fra ma até depois mas exceto voor tot sinds tussen maar
	behalve przed do od między lecz ale до после с между но а кроме قبل بعد حتى منذ بين بل إلا`)

var spansUnspaced = regexp.MustCompile(`まで|以前|以降|から|より|以外|之前|之后|以后|直到|才|除`)

// withoutWords contains the words in lacking that negate something other than what the year is about: "a film from 1999
// without a director".
var withoutWords = wordMap(`without unknown ohne unbekannt sans inconnu inconnue inconnus sin senza sem zonder bez без بدون دون`)

// denies reports whether a token is a word that says that a value is missing.
func denies(t token) bool { return lacking[t.folded] || lackingUnspaced.MatchString(t.text) }

// saysHaving reports whether the part of a sentence that contains the token at i says that something has or lacks a
// value.
func saysHaving(toks []token, i int) bool {
	return slices.ContainsFunc(toks, func(t token) bool {
		return t.part == toks[i].part && (having[t.folded] || havingUnspaced.MatchString(t.text))
	})
}

// nextToName reports whether a name is before the token at i, as in "In Germany, 5 cities have no mayor", or in the same part
// of the sentence.
func nextToName(toks []token, named []found, i int) bool {
	return slices.ContainsFunc(named, func(n found) bool { return n.from < i || toks[n.from].part == toks[i].part })
}

// is reports whether a token can be read as the number n.
func (c *Checker) is(t token, n int) bool {
	return slices.ContainsFunc(c.numbers(t), func(x number) bool { return x.value == float64(n) })
}

// only contains the words that precede a number of named things.
var only = wordMap(`only nur seul seuls seule seules seulement solo sólo solamente soltanto só apenas somente alleen
	slechts tylko только`)

// limits contains words that introduce a limit, as in "more than 47" or "über 47".
var limits = wordMap(`than above over below under exceed exceeds least most als über unter mindestens höchstens plus moins dépasse dépassent
	más menos mayor menor supera superan più meno oltre supera superano mais acima abaixo dan boven
	onder minstens niż powyżej
	poniżej ponad больше меньше более менее выше ниже свыше`)

// beyond reports whether the token at i is the number of rows above or below a limit in the same sentence, if the
// sentence has no name from the result, as in "five places have a latitude of more than 47".
func (c *Checker) beyond(toks []token, named []found, i int) bool {
	if len(named) > 0 || !slices.ContainsFunc(toks, func(t token) bool { return limits[t.folded] }) {
		return false
	}
	counts := map[float64]bool{}
	for j, t := range toks {
		for _, n := range c.numbers(t) {
			for _, col := range c.columns {
				var above, below, at float64
				for _, v := range col.values {
					switch {
					case v > n.value:
						above++
					case v < n.value:
						below++
					default:
						at++
					}
				}
				if i != j && above > 0 && below > 0 {
					counts[above], counts[above+at], counts[below], counts[below+at] = true, true, true, true
				}
			}
		}
	}
	return slices.ContainsFunc(c.numbers(toks[i]), func(n number) bool { return counts[n.value] })
}
