package figures

import (
	"cmp"
	"strings"
)

// symbols maps the IDs of common units to their symbols, which are the same in all languages. They are used if the
// graph has no symbol for a unit, because the graph may have the unit's name only in English.
var symbols = map[string]string{
	"Q11573": "m", "Q828224": "km", "Q174728": "cm", "Q174789": "mm", "Q3710": "ft", "Q218593": "in", "Q253276": "mi",
	"Q25343": "m²", "Q712226": "km²", "Q35852": "ha", "Q25517": "m³", "Q11582": "l",
	"Q11570": "kg", "Q41803": "g", "Q191118": "t", "Q11574": "s", "Q7727": "min", "Q25235": "h",
	"Q182429": "m/s", "Q180154": "km/h", "Q25267": "°C", "Q11229": "%",
	"Q4917": "US$", "Q4916": "€", "Q25224": "£", "Q8146": "JP¥",
}

// calendar contains the names of units whose symbols are not used in tables: years, months and days. The names are in
// the form used after a large number, such as the Russian genitive plural.
var calendar = map[string]map[string]string{
	"Q577": perLanguage("ar سنة de Jahre en years es años fr ans it anni ja 年 nl jaar pl lat pt anos ru лет zh 年"),
	"Q5151": perLanguage("ar شهر de Monate en months es meses fr mois it mesi ja か月 nl maanden pl miesięcy pt meses " +
		"ru месяцев zh 个月"),
	"Q573": perLanguage("ar يوم de Tage en days es días fr jours it giorni ja 日 nl dagen pl dni pt dias ru дней zh 天"),
}

func perLanguage(list string) map[string]string {
	out, words := map[string]string{}, strings.Fields(list)
	for i := 1; i < len(words); i += 2 {
		out[words[i-1]] = words[i]
	}
	return out
}

// unitName returns the symbol of a unit or, if it has none, its name. In names, the key of a symbol is its language,
// and the key of a name is "name " followed by its language.
func unitName(id string, names map[string]string, language string) string {
	return cmp.Or(calendar[id][language], names[language], names["mul"], names["en"], symbols[id],
		names["name "+language], names["name mul"], names["name en"])
}
