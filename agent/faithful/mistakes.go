package faithful

import (
	"regexp"
	"slices"
)

// countOfErrors contains words for errors in a query and for parts of it. A number before such a word is not about the
// result.
var countOfErrors = wordMap(`error errors mistake mistakes problem problems change changes correction corrections query queries
	fehler fehlern änderung änderungen probleme abfrage abfragen erreur erreurs problème problèmes
	changement changements requête requêtes errores problema problemas cambio cambios consulta consultas
	errore errori problemi modifiche occurrence occurrences condition conditions variable variables
	vorkommen bedingung bedingungen variablen ocurrencias condiciones condizioni occorrenze ocorrências
	condições voorwaarden wystąpienia warunki вхождения условия переменные triple triples tripel tripeln
	triplet triplets tripleta tripletas tripletta triplette tripla triplas trójki trójkach тройки
	тройках троек filter filters filtro filtros filtri filtre filtres subquery subqueries erro erros
	things reasons issues ways steps dinge gründe möglichkeiten schritte wege choses raisons façons étapes
	cosas razones maneras pasos cose ragioni modi passi coisas razões maneiras passos dingen redenen manieren stappen
	rzeczy powody sposoby kroki вещи причины способа шага
	alterações fout fouten problemen wijzigingen query's błąd błędy błędów zapytania zmiany ошибка
	ошибки ошибок запроса изменения проблемы`)

// anyone contains words for an arbitrary person or thing. A sentence about such a person or thing makes no claim about
// the result.
var anyone = wordMap(`someone anyone somebody anybody whoever something anything jemand wer etwas quelqu quiconque alguien
	quien quienes cualquiera qualcuno chiunque chi alguém quem qualquer iemand wie iets ktoś kto каждый
	кто-то кто`)

// times contains the words that follow a number of occurrences: "three times".
var times = wordMap(`times mal fois veces volte vezes keer maal razy раза`)

// unspacedTimes matches the equivalent in Chinese and Japanese, as in "shown twice".
var unspacedTimes = regexp.MustCompile(`^(回|次)(表示|出|现|显示)`)

// countedAgain reports whether the token at i is the number of times that a query counts something, in a sentence
// without a name from the result, as in "COUNT(DISTINCT) keeps a player from being counted two times".
func (c *Checker) countedAgain(toks []token, named []found, i int) bool {
	if len(named) == 0 && toks[i].text == "2" && i+1 < len(toks) && unspacedTimes.MatchString(toks[i+1].text) {
		return true
	}
	return len(named) == 0 && toks[i].number > 0 && toks[i].number <= 3 && i+1 < len(toks) && times[toks[i+1].folded] &&
		slices.ContainsFunc(toks, func(t token) bool { return keywords[t.text] })
}

// supposed reports whether the token at i is a small number in a hypothetical case that explains the query, as in
// "because of ?p1, someone with two positions appears twice". A sentence with a name from the result does not explain
// the query.
func (c *Checker) supposed(toks []token, named []found, i int) bool {
	who := slices.IndexFunc(toks, func(t token) bool { return anyone[t.folded] })
	return who >= 0 && who < i && toks[i].number > 0 && toks[i].number <= 3 &&
		!slices.ContainsFunc(named, func(n found) bool { return n.to > who }) &&
		slices.ContainsFunc(toks, func(t token) bool {
			return keywords[t.text] || anyID.MatchString(t.text) || c.variables[t.text] || tableRows[t.folded]
		})
}

var tableRows = wordMap(`row rows zeile zeilen ligne lignes fila filas riga righe linha linhas rij rijen wiersz wiersze
	строка строки строк`)

// january contains the names of January in several languages. Dates that have only a year are stored as January 1.
var january = wordMap(`january januar janvier enero gennaio janeiro januari stycznia января يناير`)

// yearOnly reports whether the token at i is the 1 of January 1 in a sentence without a name from the result. Such a
// sentence explains how years are stored.
func yearOnly(toks []token, named []found, i int) bool {
	return len(named) == 0 && (toks[i].folded == "1" || toks[i].folded == "1er" || toks[i].folded == "1º") &&
		slices.ContainsFunc(toks[max(i-1, 0):min(i+3, len(toks))], func(t token) bool { return january[t.folded] })
}

var are = wordMap(`are were sind waren sont son eran sono erano são eram zijn są`)

// countsErrors reports whether the token at i is a number of errors or the like, as in "two small mistakes".
func countsErrors(toks []token, i int) bool {
	return i > 1 && are[toks[i-1].folded] && countOfErrors[toks[i-2].folded] ||
		slices.ContainsFunc(toks[i+1:min(i+3, len(toks))], func(t token) bool { return countOfErrors[t.folded] })
}

// valuesOfRow contains words for what a row has in several columns. ofThe contains the words before their number.
var (
	valuesOfRow = wordMap(`values value figures numbers columns dates werte werten angaben zahlen spalten daten valeurs chiffres colonnes
		dates valores cifras columnas fechas valori cifre colonne date datas colunas waarden getallen kolommen datums
		wartości liczb kolumn dat значений чисел столбцов дат`)
	ofThe = wordMap(`the these of beiden der den die diese dieser des les ces de los las estos dei delle i le queste questi dos
		das os as estes van deze tych z из этих`)
)

// ofRow reports whether the token at i is the 2 of a row's two values, as in "countries that lack one of the two
// values". In a sentence with a name from the result, the rows must have exactly two values besides a name.
func (c *Checker) ofRow(toks []token, named []found, i int) bool {
	return (len(named) == 0 || c.width == 3) && toks[i].number == 2 && i > 0 && i+1 < len(toks) &&
		ofThe[toks[i-1].folded] && valuesOfRow[toks[i+1].folded]
}

// ends contains words for the beginning and the end of a table.
var ends = wordMap(`first last top ersten letzten premières dernières premiers derniers primeras últimas primeros últimos prime ultime
	primi ultimi primeiras primeiros eerste laatste pierwsze ostatnie pierwszych ostatnich первые последние первых последних`)

// firstRows reports whether the token at i is the number of rows in a phrase such as "the first two rows".
func (c *Checker) firstRows(toks []token, i int) bool {
	at := func(j int, words map[string]bool) bool { return j >= 0 && j < len(toks) && words[toks[j].folded] }
	few := slices.ContainsFunc(c.numbers(toks[i]), func(n number) bool { return n.value < float64(c.rows) })
	return few && (at(i-1, ends) && at(i+1, tableRows) || at(i+1, ends) && at(i+2, tableRows))
}
