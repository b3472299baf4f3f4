package annotate

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Remark is a part of the query that the question has to mention, and whether the question seems to mention it. It is
// only a hint, since words are compared, not meanings.
type Remark struct {
	// one of entity, property, value, date, compare, limit, order, aggregate, group, optional, column, negation, choice,
	// path, pair, form, place, and wording
	Kind   string `json:"kind"`
	Said   bool   `json:"said"`
	Text   string `json:"text"`            // what must be mentioned, with the recognized phrase or a possible wording
	Piece  string `json:"piece,omitempty"` // the part of the query that must be mentioned
	Line   int    `json:"line,omitempty"`  // line of that part, from 1
	Column int    `json:"column,omitempty"`
}

// Compare compares a question with a query (SPINACH, section 3.2: every constraint is stated, optional fields are
// marked, and projections are named). names contains the names of the query's IDs. Unstated parts come first;
// otherwise, remarks are in query order. For an empty question, Compare lists all required parts. It makes no requests.
func Compare(q *sparql.Query, question string, names map[string]Name) []Remark {
	c := &comparer{q: q, w: readWording(question), names: names, seen: map[string]bool{}, called: map[string][]string{}}
	c.style(question)
	c.collect(q.Body.Where)
	for _, n := range q.Named {
		c.collect(n.Query.Where)
	}
	for _, n := range q.Named {
		c.selectQuery(n.Query, false)
	}
	c.selectQuery(q.Body, true)
	slices.SortStableFunc(c.out, func(a, b Remark) int {
		if a.Said != b.Said {
			if b.Said {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.out
}

type comparer struct {
	q     *sparql.Query
	w     *wording
	names map[string]Name
	seen  map[string]bool // keys of the remarks made so far
	// maps a variable to possible names for its values, from the properties that lead to it and the classes of its values
	called map[string][]string
	out    []Remark
}

// add adds a remark, at most once per key.
func (c *comparer) add(kind, key string, said bool, text string, at sparql.Span) {
	if c.seen[kind+"\x00"+key] {
		return
	}
	c.seen[kind+"\x00"+key] = true
	if said {
		text, _, _ = strings.Cut(text, ": ") // the advice after the colon is no longer needed
		text = strings.TrimSuffix(text, ".")
	}
	r := Remark{Kind: kind, Said: said, Text: text}
	if at.End > at.Start {
		p := c.q.Position(at.Start)
		r.Line, r.Column, r.Piece = p.Line, p.Column, shorten(c.q.Text[at.Start:at.End])
	}
	c.out = append(c.out, r)
}

// shorten returns a part of a query as one short line.
func shorten(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 90 {
		return string(r[:88]) + " …"
	}
	return string(r)
}

var (
	numbers   = regexp.MustCompile(`\b[QPL][1-9]\d*\b`)
	variables = regexp.MustCompile(`[?$][A-Za-z_]\w*`)
)

// English phrases for parts of queries. If an annotator uses a different phrase, the remark remains open and can be
// ignored.
var (
	leaning = []string{"my query", "this query", "the query", "as above", "mentioned above", "see above", "sparql",
		"the following", "previous question", "wikidata item", "same as before", "this list"}
	chatty = []string{"please", "thanks", "thank you", "i would like", "i want", "i need", "i am looking",
		"i'm looking", "could you", "can you", "can someone"}
	optionally = []string{"if available", "if any", "if known", "if there is", "if there are", "if it has",
		"if they have", "if he or she", "where available", "where known", "when available", "when known",
		"if present", "if given", "if stated", "if it exists", "if they exist", "if one", "if applicable",
		"if possible", "if recorded", "if specified", "if so", "optional", "optionally", "whether or not", "even if",
		"(if", "or not"}
	negations = []string{"not", "no", "without", "except", "excluding", "excludes", "never", "neither", "nor", "lack",
		"lacks", "lacking", "missing", "other than", "but not", "isn't", "aren't", "don't", "doesn't", "wasn't",
		"weren't", "haven't", "hasn't", "none", "still", "ignoring", "leaving out", "apart from", "current",
		"currently", "present", "active", "alive", "living", "today", "only", "exactly", "unknown", "removed",
		"different", "nobody", "nothing"}
	choices = []string{"or", "either", "and", "both", "as well as", "any of", "one of", "including",
		"together with"}
	orders = []string{"order", "ordered", "sort", "sorted", "rank", "ranked", "ranking", "alphabetical",
		"alphabetically", "chronological", "chronologically", "ascending", "descending", "starting with", "newest",
		"oldest", "by date", "by name", "in order"}
	groups = []string{"each", "per", "every", "by", "grouped", "respective", "respectively",
		"individual", "for all"}
	comparisons = []string{"more", "less", "over", "under", "above", "below", "before", "after", "between", "since",
		"until", "from", "to", "during", "in", "within", "at least", "at most", "no more", "no less", "than",
		"exceed", "exceeds",
		"exceeding", "up to", "minimum", "maximum", "older", "younger", "and later", "and earlier", "only", "not",
		"other", "different", "another", "same", "starting", "ending", "outside", "own", "today", "now"}
	pairings = []string{"pair", "pairs", "once", "twice", "duplicate", "duplicates", "each other", "combination",
		"combinations", "repeat", "repeats", "repetition", "repetitions", "mirrored"}
	reaches = []string{"directly or indirectly", "indirectly", "any level", "all levels", "descendant", "descendants",
		"descend", "ancestor", "ancestors", "generation", "generations", "transitively", "chain", "eventually",
		"part of", "sub", "including", "kind of", "kinds of", "type of", "types of", "recursively", "tree",
		"lineage", "in"}
)

func (c *comparer) style(question string) {
	trimmed := strings.TrimSpace(question)
	none := sparql.Span{}
	if trimmed == "" {
		c.add("wording", "empty", false, "Write the question. What it must state is listed below.", none)
		return
	}
	if m := numbers.FindString(trimmed); m != "" {
		c.add("wording", "number", false, "It contains the number "+m+": use the name.", none)
	}
	if m := variables.FindString(trimmed); m != "" {
		c.add("wording", "variable", false, "It contains the variable "+m+": use words.", none)
	}
	for _, p := range leaning {
		if c.w.phrase(p) {
			c.add("wording", p, false, "“"+p+"” refers to something outside the question: it must be self-contained.", none)
		}
	}
	for _, p := range chatty {
		if c.w.phrase(p) {
			c.add("wording", p, false, "“"+p+"” is conversation: ask only.", none)
		}
	}
	if last := trimmed[len(trimmed)-1]; !strings.ContainsRune("?.!)\"", rune(last)) {
		c.add("wording", "end", false, "It does not end with a question mark or a period.", none)
	}
}

// collect collects possible names for the values of variables.
func (c *comparer) collect(g *sparql.Group) {
	if g == nil {
		return
	}
	sparql.Inspect(g, func(n sparql.Node) bool {
		if s, ok := n.(*sparql.Service); ok && s.Kind() == sparql.LabelService {
			return false
		}
		t, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		for _, x := range t.Triples() {
			ids := pathIDs(x.Path)
			last := ""
			if len(ids) > 0 {
				last = ids[len(ids)-1]
			}
			if x.Object.Kind == sparql.Var {
				for _, id := range ids {
					c.called[x.Object.Name] = append(c.called[x.Object.Name], c.allNames(id)...)
				}
			}
			if x.Subject.Kind == sparql.Var && (last == "P31" || last == "P279" || last == "P106") {
				if id := entityOf(x.Object); id != "" {
					c.called[x.Subject.Name] = append(c.called[x.Subject.Name], c.allNames(id)...)
				}
			}
		}
		return true
	})
}

// selectQuery compares a query or subquery with the question.
func (c *comparer) selectQuery(s *sparql.SelectQuery, top bool) {
	if top {
		c.form()
	}
	if s.Where != nil {
		c.group(s.Where, nil)
	}
	for _, it := range s.Items {
		if it.Expr != nil {
			c.expr(it.Expr)
		}
	}
	if top && c.q.Form == sparql.Select {
		c.columns(s)
	}
	if s.GroupBy != nil && aggregated(s) {
		c.add("group", "", c.w.phrases(groups) || c.w.has("number") || c.w.superlative(),
			"Results are grouped: “for each …”, “per …”.", s.GroupBy.Span)
	}
	if s.Having != nil {
		for _, e := range s.Having.Conditions {
			c.expr(e)
		}
	}
	if s.OrderBy != nil && (top || s.Limit != nil) {
		c.add("order", strconv.FormatBool(top), c.w.phrases(orders) || c.w.superlative(),
			"Results have an order: state it, or remove ORDER BY if nobody needs it.", s.OrderBy.Span)
	}
	if s.Limit != nil {
		n := float64(s.Limit.N)
		said := c.w.number(n) || n == 1 && (c.w.superlative() || c.w.phrases([]string{"a", "an", "any", "the"}))
		c.add("limit", strconv.FormatInt(s.Limit.N, 10), said,
			"Only "+text.Count(int(s.Limit.N), "result")+" wanted: “the ten highest …”, “any five …”.", s.Limit.Span)
	}
	if s.Values != nil {
		c.values(s.Values)
	}
}

func (c *comparer) form() {
	if c.q.Form == sparql.Ask {
		starts := []string{"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could",
			"will", "would", "whether"}
		said := len(c.w.words) > 0 && (slices.Contains(starts, c.w.words[0]) || c.w.has("whether") ||
			c.w.phrase("is there") || c.w.phrase("are there"))
		c.add("form", "ask", said, "The answer is yes or no: “Is …?”, “Does …?”.",
			sparql.Span{Start: c.q.Start, End: c.q.Start + 3})
	}
}

func (c *comparer) columns(s *sparql.SelectQuery) {
	items := map[string]*sparql.SelectItem{}
	for _, it := range s.Items {
		items[it.Var] = it
	}
	for i, v := range s.Columns() {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(v, "Label"), "Description"), "AltLabel")
		if base != v && (c.seen["column\x00"+base] || slices.Contains(s.Columns(), base)) {
			continue
		}
		said := c.w.says(spread(base))
		for _, name := range c.called[base] {
			said = said || c.w.says(name)
		}
		if slices.Contains([]string{"human", "person", "people"}, base) {
			said = said || c.w.saysAny(otherWords["Q5"]...)
		}
		if len(c.called[base]) == 0 && slices.Contains([]string{"item", "items", "x", "y", "s", "o", "entity", "thing",
			"subject", "object", "value", "result"}, base) {
			continue // a meaningless name
		}
		it := items[v]
		at := s.Span
		if it != nil && it.Expr != nil && counts(it.Expr) {
			continue // the remark about the COUNT is enough
		}
		if it != nil {
			at = it.Span
			if it.Expr != nil {
				said = said || c.exprSaid(it.Expr)
			}
		} else {
			at.End = at.Start // SELECT *
		}
		if i == 0 && !said { // the main subject of the question does not need a separate name: Who …? Where …? When …?
			said = c.w.phrases([]string{"who", "whom", "where", "when", "whose"})
		}
		c.add("column", base, said, "“"+spread(base)+"” is returned: name it"+c.byName(base)+".", at)
	}
}

// byName returns a suggested name for a variable, in parentheses, or "" if there is none.
func (c *comparer) byName(v string) string {
	called := c.called[v]
	if len(called) == 0 || slices.ContainsFunc(called, func(name string) bool {
		return strings.EqualFold(name,
			spread(v))
	}) {
		return ""
	}
	return " (" + called[0] + ")"
}

// exprSaid reports whether the question mentions a computed column through its aggregate or one of its variables.
func (c *comparer) exprSaid(e *sparql.Expr) bool {
	said := false
	sparql.Inspect(e, func(n sparql.Node) bool {
		x, ok := n.(*sparql.Expr)
		if !ok {
			return true
		}
		if x.Kind == sparql.ExprAggregate {
			said = said || c.aggregateSaid(x.Op)
		}
		if x.Kind == sparql.ExprTerm && x.Term.Kind == sparql.Var {
			said = said || c.w.says(spread(x.Term.Name)) || c.w.saysAny(c.called[x.Term.Name]...)
		}
		return true
	})
	return said
}

// spread splits a variable's name, such as headOfState or head_of_state, into words.
func spread(v string) string {
	var b strings.Builder
	lower := false
	for _, r := range v {
		switch {
		case r == '_' || unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	return cmp.Or(strings.Join(strings.Fields(b.String()), " "), v)
}

func counts(e *sparql.Expr) bool { return e.Kind == sparql.ExprAggregate && e.Op == "COUNT" }

// aggregated reports whether a query aggregates over groups.
func aggregated(s *sparql.SelectQuery) bool {
	found := false
	for _, it := range s.Items {
		if it.Expr == nil {
			continue
		}
		sparql.Inspect(it.Expr, func(n sparql.Node) bool {
			if x, ok := n.(*sparql.Expr); ok && x.Kind == sparql.ExprAggregate {
				found = true
			}
			return !found
		})
	}
	return found
}

// entityOf returns the entity ID of a constant.
func entityOf(t *sparql.Term) string {
	if t == nil || t.Kind != sparql.Const || !t.Value().IsIRI() {
		return ""
	}
	return rdf.EntityID(t.Value().Value)
}

// pathIDs returns the property IDs of a predicate, in order.
func pathIDs(p *sparql.Path) []string {
	if p == nil {
		return nil
	}
	if p.Kind == sparql.PathTerm {
		if id := entityOf(p.Term); id != "" {
			return []string{id}
		}
		return nil
	}
	var out []string
	for _, a := range p.Args {
		out = append(out, pathIDs(a)...)
	}
	return out
}
