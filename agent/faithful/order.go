package faithful

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// column contains a column's comparable values, by row.
type column struct {
	dates  bool // the values are dates, or numbers that look like years
	ages   bool // the values are ages, judging by the column's name
	values map[int]float64
}

// compare collects the values by which the rows can be ordered.
func (c *Checker) compare(t *kg.Table, query string) {
	if t == nil || t.Ask || len(t.Rows) < 2 {
		return
	}
	for i := range t.Vars {
		col := column{values: map[int]float64{}, ages: age.MatchString(t.Vars[i])}
		years, distinct := true, map[float64]bool{}
		for k, row := range t.Rows {
			if i >= len(row) || !row[i].IsLiteral() {
				continue
			}
			if at, ok := dateOf(row[i]); ok {
				col.dates, col.values[k] = true, float64(at.Unix())
			} else if v, err := strconv.ParseFloat(row[i].Value, 64); err == nil && numeric[row[i].Datatype] && !math.IsNaN(v) {
				col.values[k] = v
				years = years && v == math.Trunc(v) && v > 1000 && v < 2200
			}
			distinct[col.values[k]] = true
		}
		if len(col.values) > 1 && len(distinct) > 1 {
			col.dates = col.dates || years
			c.columns = append(c.columns, col)
		}
	}
	q, err := sparql.Parse(query)
	if err != nil || q.Body == nil || q.Body.OrderBy == nil || len(q.Body.OrderBy.Keys) != 1 {
		return
	}
	c.byOrder, c.falling = true, q.Body.OrderBy.Keys[0].Descending
}

// age matches the names of columns that contain ages.
var age = regexp.MustCompile(`(?i)^(age|alter|âge|edad|età|idade|leeftijd|wiek|возраст|عمر|العمر|年齢|年龄)`)

var numeric = map[string]bool{rdf.XSDInteger: true, rdf.XSDDecimal: true, rdf.XSDDouble: true, rdf.XSDFloat: true}

// degree is a kind of superlative.
type degree int

const (
	most degree = iota + 1
	least
	oldest
	youngest
	first
	last
	leading // in first place, by a number or by the order of the rows
)

// form is a way to write a superlative: a pattern for the word or, if the pattern starts with a space, for the word and
// the words before it.
type form struct {
	degree  degree
	pattern *regexp.Regexp
}

// forms returns the superlatives in each language. It compiles them on demand, since most commands do not need them.
var forms = sync.OnceValue(func() map[string][]form {
	out := map[string][]form{}
	for language, patterns := range superlatives {
		for i, pattern := range patterns {
			out[language] = append(out[language], form{degree(i + 1), regexp.MustCompile(pattern)})
		}
	}
	return out
})

// superlatives contains the patterns for each language, in the order of the degree constants.
var superlatives = map[string][7]string{
	"en": {`(highest|tallest|largest|biggest|longest|deepest|heaviest|widest| most (populous|populated|common|frequent))$`,
		`(lowest|smallest|shortest|shallowest|lightest|narrowest| least (populous|populated|common|frequent))$`, `(oldest|earliest)$`,
		`(youngest|newest|latest| most recent)$`, ` the first$`, ` the last$`,
		` (comes?|came|ranks?|ranked) first$| first place$`},
	"de": {`(höchst|größt|längst|tiefst|schwerst|breitest|häufigst)e[nrsm]?$`, `(niedrigst|kleinst|kürzest|leichtest|schmalst|seltenst)e[nrsm]?$`,
		`(ältest|frühest)e[nrsm]?$`, `(jüngst|neu(e)?st|spätest)e[nrsm]?$`, ` (der|die|das) erste$`, ` (der|die|das) letzte$`,
		` an der spitze$| (liegt|liegen|lag|lagen|steht|stehen) vorne?$| (kommt|steht) zuerst$`},
	"fr": {` en tête$| l[ea]s? plus (haut|élevé|grand|long|profond|peuplé|lourd|fréquent|courant)(e?s?|ue?s?)$`, ` l[ea]s? (plus (bas|basse|petit|court)e?s?|moins (haut|élevé|grand|long|peuplé)e?s?)$`,
		` l[ea]s? plus (vieux|vieille|ancien|âgé)(ne)?e?s?$`, ` l[ea]s? plus (jeune|récent)e?s?$`, ` l[ea] premi(er|ère)$`, ` l[ea] derni(er|ère)$`,
		` (arriv|vien)\pL+ en premier$| première (place|position)$`},
	"es": {` (más (alt|larg|profund|poblad|pesad)[oa]s?|más grandes?|más (frecuentes?|comun(es)?|común)|(el|la) mayor)$`, ` (más (baj|pequeñ|cort)[oa]s?|menos poblad[oa]s?|(el|la) menor)$`,
		` más (antigu|viej)[oa]s?$`, ` más (joven|jóvenes|recientes?|nuev[oa]s?)$`, ` (el primero|la primera)$`, ` (el último|la última)$`,
		` primer lugar$| en cabeza$`},
	"it": {` (il|la|i|le|lo|gli|l|\pL+) più (alt|lung|profond|popolos|pesant)[oaie]$| più (grandi?|frequent[ei]|comun[ei]|diffus[oaie])$`, ` più (bass|cort|brev|piccol)[oaie]$`,
		` più (antic|vecchi|anzian)h?[oaie]?$`, ` più (giovan|recent)[ei]$`, ` (il primo|la prima)$`, ` (l'ultimo|l'ultima)$`,
		` primo posto$| in testa$`},
	"pt": {` (mais (alt|long|profund|populos|pesad)[oa]s?|mais (frequentes?|comu[mn]s?)|[oa] maior)$`, ` (mais (baix|pequen|curt)[oa]s?|[oa] menor)$`,
		` mais (antig|velh)[oa]s?$`, ` mais (jovem|jovens|recentes?|nov[oa]s?)$`, ` (o primeiro|a primeira)$`, ` (o último|a última)$`,
		` primeiro lugar$`},
	"nl": {`(hoogst|grootst|langst|diepst|zwaarst)e?$`, `(laagst|kleinst|kortst|lichtst)e?$`, `(oudst|vroegst)e?$`, `(jongst|nieuwst|recentst)e?$`,
		` de eerste$`, ` de laatste$`,
		` eerste plaats$| op kop$`},
	"pl": {`^naj(wyższ|więks|dłuż|głęb|ludniej|częst)\pL*$`, `^naj(niższ|mniejsz|krót|płyt)\pL*$`, `^naj(stars|wcześ)\pL*$`, `^naj(młod|now|późn)\pL*$`,
		`^pierwsz[yae]$`, `^ostatni[ae]?$`,
		` pierwszym miejscu$`},
	"ru": {`^(наибольш|крупнейш|высочайш|длиннейш|глубочайш)\pL*$| сам\pL{1,3} (высок|больш|длинн|дол[гж]|продолжительн|глубок|крупн|населённ|част|распростран)\pL*$| (дольше|выше|больше|длиннее) всех$`,
		`^(наименьш|кратчайш)\pL*$| сам\pL{1,3} (низк|маленьк|коротк|кратк|мал)\pL*$`, `^(старейш|древнейш)\pL*$| сам\pL{1,3} (стар|древн|ранн)\pL*$`,
		`^новейш\pL*$| сам\pL{1,3} (молод|нов|поздн)\pL*$`, `^перв(ый|ая|ое)$`, `^последн(ий|яя|ее)$`,
		` первом месте$`},
	"ar": {`^(ال)?(أعلى|أكبر|أطول|أعمق)$`, `^(ال)?(أدنى|أصغر|أقصر)$`, `^(ال)?أقدم$`, `^(ال)?أحدث$`, `^الأول$`, `^الأخير$`,
		` المرتبة الأولى$`},
}

var (
	// words that change what a superlative claims: the second highest, one of the highest, not the highest
	otherRank = wordMap(`tenth next 2nd 3rd 4th 5th one among not zweite zweiter zweites dritte nächste einer eine eines unter nicht
		deuxième troisième une un parmi pas segundo segunda tercer tercera uno una entre no secondo seconda terzo terza tra
		fra non terceiro terceira um uma não tweede derde een één niet na drugi druga drugie trzeci trzecia jeden jedna jedno
		nie вторая второй второе третья третий один одна одно не من ثاني ثالث أحد إحدى`)
	isOne  = wordMap(`is was ist war est était fut es era fue è fu é foi was jest был была является هو هي`)
	thanIs = wordMap(`que di do da than als niż чем من`)
)

func wordMap(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// superlative is a superlative in a sentence, at tokens from ≤ i < to. rank is 2 for the second highest.
type superlative struct {
	degree   degree
	from, to int
	rank     int
}

// ranks are the words for "second" to "fifth" that may precede a superlative; in German, they are part of it.
var ranks = map[string]int{"second": 2, "third": 3, "fourth": 4, "fifth": 5, "zweit": 2, "dritt": 3, "viert": 4, "fünft": 5,
	"deuxième": 2, "troisième": 3, "segundo": 2, "segunda": 2, "tercer": 3, "tercera": 3, "secondo": 2, "seconda": 2, "terzo": 3,
	"terza": 3, "terceiro": 3, "terceira": 3}

// rank returns the rank of the superlative at token i: 1 for the highest, 2 for the second highest.
func rank(toks []token, i int) int {
	for before, n := range ranks {
		for _, t := range toks[max(i-2, 0) : i+1] {
			if t.folded == before || strings.HasPrefix(toks[i].folded, before) && len(toks[i].folded) > len(before)+minStem {
				return n
			}
		}
	}
	return 1
}

// superlatives finds the superlatives in a sentence.
func (c *Checker) superlatives(toks []token, named []found) []superlative {
	var out []superlative
	for i, t := range toks {
		if covered(named, i) || c.labels[t.folded] {
			continue
		}
		phrase := " " + t.folded
		for k := i - 1; k >= max(i-2, 0); k-- {
			phrase = " " + toks[k].folded + phrase
		}
		for _, f := range forms()[c.language] {
			at := f.pattern.FindStringIndex(phrase)
			if at == nil {
				at = f.pattern.FindStringIndex(t.folded)
			}
			if at == nil {
				continue
			}
			next := ""
			if i+1 < len(toks) {
				next = toks[i+1].folded
			}
			ranked := slices.ContainsFunc(toks[max(i-3, 0):i], func(t token) bool { return otherRank[t.folded] })
			n := rank(toks, i)
			if ranked && n == 1 && f.degree != leading || thanIs[next] ||
				(f.degree == first || f.degree == last) && !isOne[next] {
				break
			}
			out = append(out, superlative{f.degree, i, i + 1, n})
			break
		}
	}
	return out
}

// order returns a superlative, such as "the highest", "the oldest" or "the first", that a sentence wrongly applies to a
// name. It compares names in the first column that come before their superlatives, or after them, consistently
// throughout the sentence.
func (c *Checker) order(toks []token, named []found) []string {
	if c.rows < 2 || len(c.columns) == 0 && !c.byOrder {
		return nil
	}
	found := c.superlatives(toks, named)
	if len(found) == 0 {
		return nil
	}
	if rows := c.described(toks, named); rows != nil {
		for _, s := range found {
			if !slices.ContainsFunc(c.orders(s.degree, nil), func(order []ranked) bool { return at(order, rows, s.rank) }) {
				return []string{toks[s.from].text}
			}
		}
		return nil
	}
	heads, pools := c.heads(named)
	said := false
	for _, after := range []bool{true, false} {
		subjects, right := 0, true
		for i, s := range found {
			group := near(heads, found, i, after)
			if len(group) == 0 {
				continue
			}
			subjects++
			if right = right && c.leads(s, toks, group, after, pools); !right {
				break
			}
		}
		if subjects > 0 && right {
			return nil
		}
		said = said || subjects > 0
	}
	if !said {
		return nil
	}
	return []string{toks[found[0].from].text}
}

// heads returns the names in a sentence that are compared, and the rows of the other names, which may limit the claim,
// as in "the highest in Pakistan".
func (c *Checker) heads(named []found) (heads []found, pools []map[int]bool) {
	for _, n := range named {
		if n.head {
			heads = append(heads, n)
		} else {
			pools = append(pools, n.rows)
		}
	}
	if len(heads) == 0 && len(named) == 1 {
		return named, nil
	}
	return heads, pools
}

// near returns the names after a superlative, up to the next superlative, or the names before it, nearest first.
func near(heads []found, all []superlative, i int, after bool) []found {
	var out []found
	for _, h := range heads {
		switch s := all[i]; {
		case after && h.from >= s.to && (i+1 == len(all) || h.from < all[i+1].from):
			out = append(out, h)
		case !after && h.to <= s.from && (i == 0 || h.from >= all[i-1].to):
			out = append([]found{h}, out...)
		}
	}
	return out
}

// leads reports whether a group's first name comes first when sorted by some column, among all rows or those in a pool.
// If the sentence does not contain "is", the whole group may come first, as in "the highest are Everest and K2".
func (c *Checker) leads(s superlative, toks []token, group []found, after bool, pools []map[int]bool) bool {
	if s.rank > 1 {
		return slices.ContainsFunc(append([]map[int]bool{nil}, pools...), func(pool map[int]bool) bool {
			return slices.ContainsFunc(c.orders(s.degree, pool), func(order []ranked) bool {
				return at(order, group[0].rows, s.rank)
			})
		})
	}
	single := after && slices.ContainsFunc(toks[s.to:group[0].from], func(t token) bool { return isOne[t.folded] })
	for _, pool := range append([]map[int]bool{nil}, pools...) {
		for _, order := range c.orders(s.degree, pool) {
			top := 1
			if !single {
				top = len(group)
			}
			ok := true
			for _, g := range group[:min(top, len(group))] {
				ok = ok && c.amongTop(order, g.rows, top)
			}
			if ok || c.amongTop(order, group[0].rows, 1) {
				return true
			}
		}
	}
	return false
}

// ranked is a row and its value; the smallest value comes first.
type ranked struct {
	row   int
	value float64
}

// orders returns the rows in a pool, or all rows, in each order that a superlative may refer to.
func (c *Checker) orders(d degree, pool map[int]bool) [][]ranked {
	var out [][]ranked
	dated := slices.ContainsFunc(c.columns, func(col column) bool { return col.dates })
	add := func(values map[int]float64, sign float64) {
		var list []ranked
		for row, v := range values {
			if pool == nil || pool[row] {
				list = append(list, ranked{row, sign * v})
			}
		}
		slices.SortFunc(list, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.row, b.row))
		})
		out = append(out, list)
	}
	position := map[int]float64{}
	for i := range c.rows {
		position[i] = float64(i)
	}
	for _, col := range c.columns {
		if sign := col.sign(d, dated); sign != 0 {
			add(col.values, sign)
		}
	}
	switch {
	case d == first, d == leading:
		add(position, 1)
	case d == last:
		add(position, -1)
	case len(out) == 0 && c.byOrder && (d == most && c.falling || d == least && !c.falling):
		add(position, 1)
	case len(out) == 0:
		out = append(out, nil) // nothing can be compared
	}
	return out
}

// sign returns 1 if a superlative refers to a column's smallest value, -1 if it refers to the largest, and 0 if it
// refers to neither. dated reports whether any column has dates.
func (col column) sign(d degree, dated bool) float64 {
	switch {
	case (d == most || d == leading) && !col.dates, d == youngest && col.dates, d == oldest && (!dated || col.ages),
		d == last:
		return -1
	case d == least && !col.dates, d == oldest && col.dates, d == youngest && (!dated || col.ages), d == first:
		return 1
	}
	return 0
}

// at reports whether one of a name's rows has the given rank in an order. It returns true if there is no order.
func at(order []ranked, rows map[int]bool, rank int) bool {
	return len(order) == 0 || rank <= len(order) && slices.ContainsFunc(order, func(r ranked) bool {
		return r.value == order[rank-1].value && rows[r.row]
	})
}

// amongTop reports whether one of a name's rows is among the first n in an order, or has the same value as the last of
// these. It returns true if there is no order.
func (c *Checker) amongTop(order []ranked, rows map[int]bool, n int) bool {
	if len(order) == 0 {
		return true
	}
	limit := order[min(n, len(order))-1].value
	return slices.ContainsFunc(order, func(r ranked) bool { return r.value <= limit && rows[r.row] })
}

// aValue contains words for a value, as in "the highest value is shown", which compares the values of a thing.
var aValue = wordMap(`value values figure wert werte werts valeur valeurs valor valores valore valori waarde wartość значение`)

// judged contains adjectives that are a judgment after one of the degreeWords: "the best known", but not "the known
// dates".
var (
	degreeWords = wordMap(`plus moins très bien peu assez most more less very least`)
	judged      = wordMap(`connu connue connus connues vraisemblable vraisemblables crédible crédibles believable credible`)
)
