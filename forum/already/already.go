// Package already recognizes what the model's answer says, in the languages of the messages, so that the rest of the
// reply does not repeat it.
package already

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// YourQuery reports whether an answer mentions the poster's query.
func YourQuery(answer string) bool { return yourQuery().MatchString(answer) }

var yourQuery = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\byour (own )?query|\bdeine[rn]? (eigenen? )?abfrage|\bihre[rn]? (eigenen? )?abfrage|` +
		`\b(votre|ta) requête|\b[ts]u (propia )?consulta|\b(tua|sua) (query|consulta)|\b(je|jouw|uw) (eigen )?query|` +
		`\bquery (that )?you |\b(posted|original) query|\b(gepostete|ursprüngliche)n? abfrage|\brequête (que (vous|tu)|d’origine|initiale)|` +
		`\bconsulta (que (has|pusiste|publicaste|escribiste)|publicada|original)|\bquery (che hai|originale)|\bconsulta que (você )?(pôs|publicou|escreveu)|` +
		`\btwo(je|im|jego) zapytani|(ваш|твой|вашем|тво[её]м|вашего|твоего) запрос|(ご提示の|あなたの|元の)クエリ|[您你]的查询|استعلامك`)
})

// Explains reports whether an answer quotes parts of a query. Only answers that explain a fault in a query do that.
func Explains(answer string) bool { return explains().MatchString(answer) }

var explains = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(wdt|p|ps|pq):P?\d*\b|\b(FILTER|OPTIONAL|UNION|LIMIT|MINUS|GROUP BY)\b`)
})

// Brackets reports whether an answer mentions punctuation or syntax.
func Brackets(answer string) bool { return brackets().MatchString(answer) }

var brackets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(curly|bracket|brace|parenthes[ie]s|semicolon|comma|syntax)|klammer|semikolon|strichpunkt|komma\b|syntax|accolade|parenthèse|` +
		`point-virgule|virgule|llave|corchete|paréntesis|punto y coma|sintaxis|graffa|parentesi|punto e virgola|sintassi|chave|chaveta|colchete|parêntese|ponto e vírgula|` +
		`sintaxe|haakje|puntkomma|klamr|nawias|średnik|składni|скобк|запят|синтакси|括弧|カッコ|かっこ|構文|括号|分号|语法|قوس|أقواس|فاصلة`)
})

// Rows reports whether an answer says that items have several values or rows.
func Rows(answer string) bool { return aboutRows().MatchString(answer) }

var aboutRows = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(values|rows?|werten?|zeilen?|valeurs|lignes?|valores|filas?|valori|righe|linhas?|` +
		`waarden|rijen|wartości|wiersz[ey]?|twice|several times|more than once|zweimal|mehrfach|mehrmals|deux fois|plusieurs fois|` +
		`dos veces|varias veces|due volte|più volte|duas vezes|várias vezes|twee keer|meerdere keren|dwa razy|kilka razy)\b|` +
		`значени|строк[аиу]|несколько раз|дважды|値|行|回|值|多次|两次|قيم|صف|مرات|مرتين`)
})

// View reports whether an answer mentions a map, a chart, a timeline or pictures.
func View(answer string) bool { return view().MatchString(answer) }

var view = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(maps?|charts?|diagrams?|timelines?|pictures|karten?|\pL*diagramm|zeitleiste|bilder|cartes?|graphiques?|diagrammes?|chronologie|` +
		`frise|images|mapas?|gráficos?|cronología|imágenes|mappa|mappe|grafico|diagramma|cronologia|immagini|linha do tempo|imagens|kaart|kaarten|grafiek|` +
		`diagram|tijdlijn|afbeeldingen|mapa|mapie|mapę|wykres\pL*|oś czasu|obrazy)\b|карт[аеуы]|диаграмм|график|изображени|خريطة|مخطط|صور|地図|グラフ|年表|画像|地图|图表|时间线|图片`)
})

// Lacks reports whether text says that something is missing.
func Lacks(text string) bool { return lacking().MatchString(text) }

// Missing reports whether text says that something is missing and mentions all of the columns, each by at least one of
// its words.
func Missing(text string, columns []string) bool {
	return Lacks(text) && !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.ContainsFunc(strings.Fields(name), func(w string) bool {
			return (utf8.RuneCountInString(w) >= minStem || w == name) && Mentions(text, w)
		})
	})
}

var lacking = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(no|not|neither|only|none|without|missing|lacks?|kein\pL*|nicht|weder|nur|fehl\pL*|ohne|n['’]\pL+|ne|sans|` +
		`ni|seule?(ment|s)?|manqu\pL*|sin|sol[oa]|sólo|falta\pL*|non|solo|senza|manca\pL*|não|sem|apenas|geen|niet|alleen|slechts|` +
		`zonder|noch|ontbre\pL+|nie|ani|brak\pL*|bez|nem|né|tylko)\b|нет|не |ни |без|только|لا |ليس|بدون|فقط|ない|なし|ません|のみ|没有|無|无|缺|仅|只`)
})

// Mentions reports whether text mentions a column or property. The last letters of the name's words may differ.
func Mentions(text, name string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(name)) {
		letters := []rune(word)
		if !strings.Contains(text, string(letters[:max(len(letters)-2, min(len(letters), minStem))])) {
			return false
		}
	}
	return true
}

// minStem is the minimum number of letters from a word in a column's name that text must contain to count as mentioning
// it.
const minStem = 4
