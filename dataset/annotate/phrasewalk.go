package annotate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// otherWords are common words for common properties and items, in addition to their names.
var otherWords = map[string][]string{
	"P569": {"born", "birth", "birthday"}, "P19": {"born", "birthplace"}, "P570": {"died", "death", "dead", "die"},
	"P20": {"died", "death", "die"},
	"P27": {"citizen", "citizenship", "nationality", "national"}, "P50": {"wrote", "written", "writer"},
	"P57": {"directed", "director"}, "P58": {"wrote", "screenplay"}, "P86": {"composed", "composer"},
	"P161": {"starring", "acted", "actor", "actress", "plays in", "cast"},
	"P577": {"published", "released", "release", "publication", "came out"},
	"P571": {"founded", "established", "created", "built", "founding"},
	"P17":  {"country", "countries"}, "P131": {"located", "location"}, "P276": {"located", "location", "where"},
	"P625": {"coordinates", "location", "where", "map"}, "P1082": {"inhabitants", "population", "live", "populous"},
	"P2044": {"height", "high", "tall", "altitude", "elevation"}, "P2048": {"height", "high", "tall"},
	"P2046": {"area", "large", "size"}, "P2043": {"long", "length"}, "P18": {"picture", "photo", "photograph", "image"},
	"P856": {"website", "site", "homepage"}, "P26": {"married", "wife", "husband", "spouse", "partner"},
	"P40": {"child", "children", "son", "daughter", "offspring"}, "P22": {"father", "parent"},
	"P25": {"mother", "parent"},
	"P36": {"capital"}, "P47": {"border", "neighbour", "neighbor", "adjacent"},
	"P166": {"award", "prize", "won", "received"}, "P39": {"office", "held", "served", "serving", "president",
		"minister"},
	"P580": {"start", "began", "since", "from", "took office"},
	"P582": {"end", "ended", "until", "left office", "still"}, "P585": {"when", "date", "year", "time"},
	"P69":  {"studied", "attended", "educated", "alumni", "graduated"},
	"P108": {"worked", "works", "employer", "employed"}, "P106": {"occupation", "profession", "job", "work as"},
	"P1412": {"speak", "speaks", "language"}, "P37": {"official language", "language"},
	"P21":  {"gender", "sex", "male", "female", "woman", "women", "man", "men"},
	"P170": {"painted", "created", "artist", "painter", "made"}, "P195": {"museum", "collection"},
	"P2067": {"mass", "weight", "weigh"},
	"Q5": {"who", "whom", "whose", "people", "person", "persons", "human", "man", "woman", "men",
		"women", "born"},
	"Q6581072": {"woman", "women", "female", "girl", "she", "actress", "queen", "mother", "daughter"},
	"Q6581097": {"man", "men", "male", "boy", "he", "king", "father", "son"},
	"Q6256":    {"country", "countries", "state"}, "Q3624078": {"country", "countries", "state"},
	"Q515":   {"city", "cities", "town"},
	"Q11424": {"film", "movie"}, "Q571": {"book"}, "Q8502": {"mountain", "peak", "summit"}, "Q4022": {"river"},
	"Q30":  {"us", "usa", "united states", "america", "american"},
	"Q145": {"uk", "britain", "british", "united kingdom"},
}

// closeProperties are groups of properties that are easily confused when a question is worded carelessly; the first two
// are from section 3.2 of the SPINACH paper.
var closeProperties = [][]string{
	{"P840", "P915"}, {"P27", "P19", "P551", "P20", "P119", "P937"}, {"P17", "P495", "P27", "P1001"},
	{"P131", "P276", "P706", "P159", "P740"}, {"P577", "P571", "P1191", "P580", "P585"},
	{"P50", "P57", "P58", "P162", "P170", "P86", "P676"}, {"P31", "P106"}, {"P69", "P108", "P1416"},
	{"P39", "P106", "P97"}, {"P6", "P35", "P1313"},
}

// silentProperties need not be mentioned; it is enough to mention their values.
var silentProperties = map[string]bool{"P31": true, "P279": true, "P106": true, "P21": true, "P17": true, "P30": true,
	"P131": true}

// allNames returns the names that a question may use for an ID.
func (c *comparer) allNames(id string) []string {
	n := c.names[id]
	var out []string
	if n.Label != "" {
		out = append(out, n.Label)
	}
	return append(append(out, n.Aliases...), otherWords[id]...)
}

// label returns the name of an ID together with the ID.
func (c *comparer) label(id string) string {
	if n := c.names[id].Label; n != "" {
		return n + " (" + id + ")"
	}
	return id
}

// group compares a group pattern with the question. outside contains the variables bound outside the group.
func (c *comparer) group(g *sparql.Group, outside []string) {
	certain := sparql.Group{Span: g.Span}
	for _, p := range g.Patterns {
		if _, ok := p.(*sparql.Optional); !ok {
			certain.Patterns = append(certain.Patterns, p)
		}
	}
	outside = append(certain.Visible(), outside...)
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			for _, t := range x.Triples() {
				c.triple(t, x.Span)
			}
		case *sparql.Filter:
			c.filter(x)
		case *sparql.Optional:
			c.optional(x, outside)
			c.group(x.Group, outside)
		case *sparql.Union:
			c.add("choice", "", c.w.phrases(choices), "Either of several ways counts (UNION): “… or …”.", x.Span)
			for _, b := range x.Branches {
				c.group(b, outside)
			}
		case *sparql.Minus:
			c.add("negation", c.q.Text[x.Start:x.End], c.w.phrases(negations),
				"Something is left out (MINUS): “without …”, “that have no …”.", x.Span)
			c.group(x.Group, outside)
		case *sparql.Values:
			c.values(x)
		case *sparql.Bind:
			c.expr(x.Expr)
		case *sparql.Service:
			c.service(x)
		case *sparql.SubSelect:
			c.selectQuery(x.Query, false)
		case *sparql.GraphPattern:
			c.group(x.Group, outside)
		case *sparql.Group:
			c.group(x, outside)
		}
	}
}

func (c *comparer) triple(t sparql.Triple, at sparql.Span) {
	said := true // whether the constants at the path's ends are mentioned
	constant := false
	for _, end := range []*sparql.Term{t.Subject, t.Object} {
		if id := entityOf(end); id != "" {
			constant = true
			said = c.entity(id, end.Span) && said
			// wikibase:timePrecision 11 affects only the format
		} else if end.Kind == sparql.Const && end.Value().IsLiteral() && !strings.HasPrefix(t.Path.IRI(), rdf.Wikibase) {
			constant = true
			c.literal(end, end.Span)
		}
	}
	ids := pathIDs(t.Path)
	for _, id := range ids {
		c.property(id, t, constant && said, at)
	}
	if closure(t.Path) && len(ids) > 0 && !slices.Contains(ids, "P279") && !slices.Contains(ids, "P131") {
		c.add("path", ids[len(ids)-1], c.w.phrases(reaches),
			c.label(ids[len(ids)-1])+" is followed over any number of steps: “directly or indirectly”, “descendants”.",
			t.Path.Span)
	}
}

func closure(p *sparql.Path) bool {
	return p != nil && (p.Kind == sparql.PathStar || p.Kind == sparql.PathPlus || slices.ContainsFunc(p.Args, closure))
}

// entity makes a remark about an item and reports whether the question mentions the item.
func (c *comparer) entity(id string, at sparql.Span) bool {
	said := c.w.saysAny(c.allNames(id)...)
	if id == "Q5" && !said {
		return true // a question need not mention that a person is human
	}
	c.add("entity", id, said, c.label(id)+": name it, and distinguish it from others with this name.", at)
	return said
}

// property compares a property with the question. A property that leads to a column is covered by the column, and one
// that leads to a constant is implied if the constant is mentioned. Neither applies if the property is easily confused
// with others.
func (c *comparer) property(id string, t sparql.Triple, constantSaid bool, at sparql.Span) {
	named := c.w.saysAny(c.allNames(id)...)
	if t.Path.Span.End > t.Path.Span.Start {
		at = t.Path.Span
	}
	if others := c.mixedUp(id); len(others) > 0 && !silentProperties[id] {
		c.add("property", id, named, c.label(id)+", not "+strings.Join(others, " or ")+": can the reader tell?", at)
		return
	}
	switch {
	case silentProperties[id], constantSaid, named:
		if named && !silentProperties[id] {
			c.add("property", id, true, c.label(id), at)
		}
	case t.Object.Kind == sparql.Var && c.projected(t.Object.Name):
	default:
		c.add("property", id, false, c.label(id)+": state this relation.", at)
	}
}

// mixedUp returns the names of up to two properties that id is often confused with.
func (c *comparer) mixedUp(id string) []string {
	common := map[string]string{"P840": "narrative location", "P915": "filming location",
		"P27": "country of citizenship", "P19": "place of birth", "P551": "residence", "P20": "place of death",
		"P119": "place of burial",
		"P937": "work location", "P495": "country of origin", "P17": "country", "P577": "publication date",
		"P571": "inception", "P131": "the administrative territory", "P276": "location", "P159": "headquarters",
		"P740": "place of formation", "P50": "author", "P57": "director", "P58": "screenwriter", "P162": "producer",
		"P69": "educated at", "P108": "employer"}
	for _, g := range closeProperties {
		if !slices.Contains(g, id) || common[id] == "" {
			continue
		}
		var out []string
		for _, other := range g {
			if other != id && common[other] != "" && len(out) < 2 {
				out = append(out, common[other])
			}
		}
		return out
	}
	return nil
}

// projected reports whether a variable, or its label, is a column of the result.
func (c *comparer) projected(v string) bool {
	if c.q.Body == nil || c.q.Form != sparql.Select {
		return false
	}
	cols := c.q.Body.Columns()
	return slices.Contains(cols, v) || slices.Contains(cols, v+"Label") || slices.Contains(cols, v+"Description")
}

// optional makes a remark about an OPTIONAL whose fields are returned.
func (c *comparer) optional(o *sparql.Optional, outside []string) {
	var fields []string
	for _, v := range o.Group.Visible() {
		if c.projected(v) && !strings.HasSuffix(v, "Label") && !slices.Contains(outside, v) {
			fields = append(fields, spread(v))
		}
	}
	if len(fields) == 0 {
		return
	}
	c.add("optional", strings.Join(fields, " "), c.w.phrases(optionally),
		"May be missing: “"+strings.Join(fields, "”, “")+"”. Say “if available”.", o.Span)
}

func (c *comparer) filter(f *sparql.Filter) {
	e := f.Expr
	if e.Kind == sparql.ExprBinary && strings.Contains("<>!=", e.Op[:1]) {
		a, b := bareVar(e.Args[0]), bareVar(e.Args[1])
		if a != "" && b != "" && a != b && e.Op != "=" && c.projected(a) && c.projected(b) && len(c.called[a]) > 0 &&
			len(c.called[b]) > 0 && overlap(c.called[a], c.called[b]) {
			c.add("pair", a+b, c.w.phrases(pairings), "Each pair comes once: say “each pair once”.", f.Span)
			return
		}
	}
	c.expr(e)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// bareVar returns the variable in ?x or STR(?x).
func bareVar(e *sparql.Expr) string {
	if e.Kind == sparql.ExprBuiltin && e.Op == "STR" && len(e.Args) == 1 {
		e = e.Args[0]
	}
	if e.Kind == sparql.ExprTerm && e.Term.Kind == sparql.Var {
		return e.Term.Name
	}
	return ""
}

func (c *comparer) expr(e *sparql.Expr) {
	switch e.Kind {
	case sparql.ExprTerm:
		if id := entityOf(e.Term); id != "" {
			c.entity(id, e.Span)
		} else if e.Term.Kind == sparql.Const && e.Term.Value().IsLiteral() {
			c.literal(e.Term, e.Span)
		}
		return
	case sparql.ExprExists:
		if e.Op == "NOT EXISTS" {
			c.add("negation", c.q.Text[e.Start:e.End], c.w.phrases(negations),
				"Something must not be there: “without …”, “that have no …”.", e.Span)
		}
		c.group(e.Group, nil)
		return
	case sparql.ExprUnary:
		if e.Op == "!" {
			c.add("negation", c.q.Text[e.Start:e.End], c.w.phrases(negations),
				"Something must not hold: “not …”, “without …”.", e.Span)
		}
	case sparql.ExprAggregate:
		c.add("aggregate", e.Op, c.aggregateSaid(e.Op), aggregateHint[e.Op], e.Span)
	case sparql.ExprBinary:
		if c.language(e) {
			return
		}
		if slices.Contains([]string{"<", ">", "<=", ">=", "!="}, e.Op) {
			c.add("compare", c.q.Text[e.Start:e.End], c.w.phrases(comparisons) || comparative(c.w),
				"A comparison ("+e.Op+"): “more than”, “before”, “at least” …", e.Span)
		}
	case sparql.ExprBuiltin:
		if slices.Contains([]string{"LANG", "LANGMATCHES", "CONCAT", "REPLACE", "SUBSTR", "STRAFTER", "STRBEFORE",
			"DATATYPE", "IRI", "URI", "STRDT", "STRLANG"}, e.Op) {
			return // these functions affect only the form of the result
		}
	}
	for _, a := range e.Args {
		c.expr(a)
	}
}

func comparative(w *wording) bool {
	return w.superlative() || slices.ContainsFunc(w.words,
		func(x string) bool { return len(x) > 4 && strings.HasSuffix(x, "er") })
}

// language makes a remark about LANG(?x) = "de". English need not be mentioned, since questions are in English.
func (c *comparer) language(e *sparql.Expr) bool {
	if len(e.Args) != 2 || e.Args[0].Kind != sparql.ExprBuiltin || e.Args[0].Op != "LANG" ||
		e.Args[1].Kind != sparql.ExprTerm || e.Args[1].Term.Kind != sparql.Const {
		return false
	}
	code := strings.ToLower(e.Args[1].Term.Value().Value)
	if tag, err := language.Parse(code); err == nil && code != "en" {
		name := display.English.Languages().Name(tag)
		first, _, _ := strings.Cut(name, " ") // "Norwegian" also covers "Norwegian Bokmål"
		c.add("value", "lang "+code, c.w.saysAny(name, first), "In "+name+": name the language.", e.Span)
	}
	return true
}

var aggregateHint = map[string]string{
	"COUNT": "Counted: “how many”, “the number of”.", "SUM": "Summed up: “the total”.",
	"AVG": "Averaged: “the average”, “the mean”.", "MAX": "The greatest: “the highest”, “the latest”, “at most”.",
	"MIN":          "The smallest: “the lowest”, “the earliest”, “at least”.",
	"SAMPLE":       "Any one of several: “one of its …”, “an example”.",
	"GROUP_CONCAT": "Several values in one field: “list the …”. Consider a COUNT, or rows.",
}

func (c *comparer) aggregateSaid(op string) bool {
	switch op {
	case "COUNT":
		return c.w.phrases([]string{"how many", "number", "count", "counts", "numbers", "often", "frequency",
			"frequent", "total", "times", "at least", "more than", "fewer", "several", "multiple", "only", "exactly",
			"most", "least"})
	case "SUM":
		return c.w.phrases([]string{"total", "sum", "altogether", "overall", "combined", "together", "in all"})
	case "AVG":
		return c.w.phrases([]string{"average", "mean", "averaged"})
	case "MAX", "MIN":
		return c.w.superlative() || c.w.phrases([]string{"at most", "at least", "ever"})
	case "SAMPLE":
		return c.w.phrases([]string{"one", "an example", "any", "a", "an", "example", "sample"})
	}
	return c.w.phrases([]string{"list", "all", "lists", "each", "names", "separated", "their", "its"})
}

func (c *comparer) literal(t *sparql.Term, at sparql.Span) {
	v := t.Value().Value
	if y, m, d, ok := dateOf(v); ok {
		c.date(y, m, d, at)
		return
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		said := c.w.number(n) || n == float64(int(n)) && (c.w.number(n+1) || c.w.number(n-1)) || n >= 1000 &&
			n <= 2100 && c.w.year(int(n))
		if n == 0 || n == 1 {
			said = said || c.w.phrases(negations) || c.w.phrases([]string{"several", "multiple", "more than one", "any",
				"at least one", "some"})
		}
		c.add("value", v, said, "The number "+v+".", at)
		return
	}
	if v == "true" || v == "false" || len([]rune(v)) < 2 {
		return
	}
	plain := strings.Trim(v, "^$.*")
	c.add("value", v, c.w.phrase(fold(plain)) || c.w.says(plain), "The text “"+shorten(v)+"”.", at)
}

// dateOf parses an XML Schema date or a prefix of one.
func dateOf(v string) (year, month, day int, ok bool) {
	s, negative := strings.CutPrefix(strings.TrimPrefix(v, "+"), "-")
	s, _, _ = strings.Cut(s, "T")
	parts := strings.Split(s, "-")
	if len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return 0, 0, 0, false
	}
	if _, err := fmt.Sscanf(strings.Join(parts, " "), "%d %d %d", &year, &month, &day); err != nil {
		return 0, 0, 0, false
	}
	if negative {
		year = -year
	}
	return year, month, day, true
}

var months = []string{"", "january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december"}

// date makes a remark about a date; January 1 and December 31 are taken to mean the whole year.
func (c *comparer) date(y, m, d int, at sparql.Span) {
	said, text := c.w.year(y), strconv.Itoa(y)
	if m == 1 && d == 1 {
		said = said || c.w.year(y-1)
	}
	if m >= 1 && m <= 12 && !(m == 1 && d <= 1) && !(m == 12 && d == 31) {
		iso := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
		said = c.w.phrase(iso) || said && c.w.has(months[m]) && (d <= 1 || c.w.number(float64(d)))
		text = strings.TrimSpace(fmt.Sprintf("%d %s%s %d", d, strings.ToUpper(months[m][:1]), months[m][1:], y))
	}
	c.add("date", text, said, "The date "+text+".", at)
}

// values compares inline data with the question. Only the first five rows are compared.
func (c *comparer) values(v *sparql.Values) {
	for i, row := range v.Rows {
		if i >= 5 {
			return
		}
		for _, t := range row.Cells {
			if id := entityOf(t); id != "" {
				c.entity(id, t.Span)
			} else if t.Kind == sparql.Const && t.Value().IsLiteral() {
				c.literal(t, t.Span)
			}
		}
	}
}

func (c *comparer) service(s *sparql.Service) {
	switch s.Kind() {
	case sparql.LabelService:
	case sparql.AroundService:
		c.add("place", "around", c.w.phrases([]string{"near", "around", "within", "distance", "km", "kilometres",
			"kilometers", "miles", "radius", "nearby", "close to"}), "Within a distance: “within 10 km of …”.", s.Span)
		for _, p := range s.Params() {
			if p.Value != nil && p.Value.Kind == sparql.Const {
				if n, err := strconv.ParseFloat(p.Value.Value().Value, 64); err == nil {
					c.add("value", p.Value.Value().Value, c.w.number(n), "The number "+p.Value.Value().Value+".",
						p.Value.Span)
				} else if id := entityOf(p.Value); id != "" {
					c.entity(id, p.Value.Span)
				}
			}
		}
	case sparql.BoxService:
		c.add("place", "box", c.w.phrases([]string{"between", "box", "rectangle", "area", "within", "corner",
			"corners"}), "Within a box: “in the area between … and …”.", s.Span)
	default:
		if s.Group != nil {
			c.group(s.Group, nil)
		}
	}
}
