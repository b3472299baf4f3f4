package faithful

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// readSome counts, for each column, the distinct values, the rows that have a value and, for items, the rows that have
// a label.
func (c *Checker) readSome(t *kg.Table, labels map[string]string) {
	for col := range t.Vars {
		bound, labeled, items, yes, not, distinct := 0, 0, 0, 0, 0, map[string]bool{}
		for _, row := range t.Rows {
			if col >= len(row) || !row[col].Bound() {
				continue
			}
			bound++
			switch zero, err := strconv.ParseFloat(row[col].Value, 64); {
			case row[col].Value == "true" && row[col].Datatype == rdf.XSDBoolean:
				yes++
			case row[col].Value == "false" && row[col].Datatype == rdf.XSDBoolean, err == nil && zero == 0:
				not++
			}
			if t := row[col]; t.Datatype == "" || t.Datatype == rdf.XSDString || t.Datatype == rdf.XSDInteger {
				distinct[t.Value] = true
			}
			if id := rdf.EntityID(row[col].Value); row[col].IsIRI() && id != "" {
				items++
				if label := labels[id]; label != "" && label != id {
					labeled++
				}
			}
		}
		if n := len(distinct); n > 1 && n < len(t.Rows) {
			c.free[float64(n)] = true
		}
		for _, n := range []int{bound, labeled, items - labeled, len(t.Rows) - bound, yes, not} {
			if n > 0 && n < len(t.Rows) {
				c.some[float64(n)] = true
			}
		}
	}
}

// having contains words that express that something has or lacks a value.
var having = wordMap(`have has having without lack lacks lacking missing none neither nor unknown only
	haben hat ohne fehlt fehlen kein keine keinen weder noch unbekannt nur
	ont a sans manque manquent aucun aucune ni inconnu inconnue inconnus seul seuls seule seules seulement
	tienen tiene sin falta faltan carecen ningún ninguno ninguna ni solo sólo solamente
	hanno ha senza manca mancano nessun nessuno nessuna né solo soltanto
	têm tem sem faltam nenhum nenhuma nem só apenas somente
	hebben heeft zonder ontbreekt ontbreken geen noch alleen slechts
	mają ma bez brakuje ani tylko
	есть имеют имеет без нет отсутствует указан указано указана ни только
	لها له لديها لديه بدون دون ينقص تنقص ليس ليست`)

// havingUnspaced matches the equivalent words in Chinese and Japanese, which are parts of longer tokens.
var havingUnspaced = regexp.MustCompile(`有|无|無|缺|ない|なし|ある|あり|あった|持|受賞`)

// ofSome reports whether the token at i is the number of rows that have or lack a value or a label, in a sentence
// without a name from the result, as in "only two of them have a label", or one with so many names.
func (c *Checker) ofSome(toks []token, named []found, i int) bool {
	return slices.ContainsFunc(c.numbers(toks[i]), func(n number) bool {
		return c.some[n.value] && (len(named) == 0 || float64(len(named)) == n.value)
	}) &&
		slices.ContainsFunc(toks, func(t token) bool { return having[t.folded] || havingUnspaced.MatchString(t.text) })
}

// limits contains words before a limit, as in "more than 47" or "über 47".
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
