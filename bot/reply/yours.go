package reply

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Yours returns the fault in a query that a user posted with a request, as far as the query text shows it. It detects
// that the query cannot be parsed, uses a property's entity as a predicate, compares or sorts statements instead of
// values, or uses wdt: properties of statements. It returns the zero Fault if it finds nothing wrong.
func Yours(query string) forum.Fault {
	q, err := sparql.Parse(query)
	var bad *sparql.Error
	var all sparql.Errors
	switch {
	case errors.As(err, &all) && len(all) > 0:
		return forum.Fault{Kind: forum.FaultSyntax, Line: all[0].Line}
	case errors.As(err, &bad):
		return forum.Fault{Kind: forum.FaultSyntax, Line: bad.Line}
	case err != nil:
		return forum.Fault{}
	}
	statements := map[string]string{} // statement variable to the property that leads to it
	used := map[string]bool{}         // as the subject of a triple
	items := map[string]bool{}        // as the subject of a wdt: property, which no statement has
	wrong := ""
	sparql.Inspect(q, func(n sparql.Node) bool {
		t, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		used[t.Subject.Name] = true
		for _, p := range t.Properties {
			if truthy(p.Path) && t.Subject.Kind == sparql.Var {
				items[t.Subject.Name] = true
			}
			id, ok := strings.CutPrefix(p.Path.IRI(), rdf.Prop+"P")
			for _, o := range p.Objects {
				switch {
				case !ok || strings.Trim(id, "0123456789") != "":
				case o.Kind == sparql.Var:
					statements[o.Name] = "P" + id
				case o.Kind == sparql.Const && itemOf(o.Value()) != "":
					wrong = cmp.Or(wrong, "P"+id)
				}
			}
		}
		return true
	})
	if id := itself(q); id != "" {
		return forum.Fault{Kind: forum.FaultEntity, ID: id}
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		wrong = cmp.Or(wrong, statements[name])
	}
	sparql.Inspect(q.Body, func(n sparql.Node) bool {
		var as []*sparql.Expr // variables that are used as values
		switch x := n.(type) {
		case *sparql.Expr:
			as = values(x)
		case *sparql.OrderKey:
			as = []*sparql.Expr{x.Expr}
		}
		for _, e := range as {
			if name := e.Variable(); name != "" && !used[name] && wrong == "" {
				wrong = statements[name]
			}
		}
		return true
	})
	if wrong == "" {
		return forum.Fault{}
	}
	return forum.Fault{Kind: forum.FaultStatement, ID: wrong}
}

// itself returns a property whose entity a query uses as a predicate, such as wd:P31, or "" if there is none.
func itself(q *sparql.Query) string {
	found := ""
	sparql.Inspect(q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Triples); ok {
			for _, p := range t.Properties {
				if id, ok := strings.CutPrefix(p.Path.IRI(), rdf.Entity+"P"); ok && found == "" {
					found = "P" + id
				}
			}
		}
		return true
	})
	return found
}

// truthy reports whether a path starts with a wdt: property.
func truthy(p *sparql.Path) bool {
	for p.Kind != sparql.PathTerm {
		if len(p.Args) == 0 || p.Kind == sparql.PathInverse {
			return false
		}
		p = p.Args[0]
	}
	return strings.HasPrefix(p.IRI(), rdf.Direct)
}

// ofValues lists functions that do not apply to statements.
var ofValues = map[string]bool{"YEAR": true, "MONTH": true, "DAY": true, "ABS": true, "ROUND": true, "CEIL": true,
	"FLOOR": true, "SUM": true, "AVG": true}

// values returns the arguments of an expression that must be values rather than statements: operands of calculations,
// and operands compared with a constant. Counting statements, comparing them with each other, and testing whether a
// statement exists are not faults.
func values(e *sparql.Expr) []*sparql.Expr {
	switch {
	case ofValues[e.Op] || e.Kind == sparql.ExprBinary && strings.Contains("+-*/", e.Op):
		return e.Args
	case e.Kind == sparql.ExprBinary && e.Op != "||" && e.Op != "&&" || e.Kind == sparql.ExprIn:
		if slices.ContainsFunc(e.Args, written) {
			return e.Args
		}
	}
	return nil
}

// written reports whether an expression is a constant other than a statement.
func written(e *sparql.Expr) bool {
	return e.Kind == sparql.ExprTerm && e.Term.Kind == sparql.Const &&
		!strings.HasPrefix(e.Term.Value().Value, rdf.Entity+"statement/")
}

// Instead returns a fault in a query that a comparison with the answer's query reveals: a string instead of an item, or
// wdt: for a qualifier. It returns the zero Fault if there is none.
func Instead(query, answer string) forum.Fault {
	if f := TextForItem(query, answer); f != (forum.Fault{}) {
		return f
	}
	theirs, ours := properties(query), properties(answer)
	for _, id := range slices.Sorted(maps.Keys(ours)) {
		if ours[id]["qualifier/"] && !ours[id]["direct/"] && theirs[id]["direct/"] && !theirs[id]["qualifier/"] {
			return forum.Fault{Kind: forum.FaultQualifier, ID: id}
		}
	}
	return forum.Fault{}
}

// properties returns the properties that a query uses, with their kinds: direct/ for wdt:, qualifier/ for pq:.
func properties(query string) map[string]map[string]bool {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil
	}
	out := map[string]map[string]bool{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		p, ok := n.(*sparql.Path)
		if !ok {
			return true
		}
		for _, kind := range []string{"direct/", "qualifier/"} {
			id, ok := strings.CutPrefix(p.IRI(), rdf.Prop+kind)
			if ok && strings.HasPrefix(id, "P") {
				if out[id] == nil {
					out[id] = map[string]bool{}
				}
				out[id][kind] = true
			}
		}
		return true
	})
	return out
}

// TextForItem returns the fault in a query that uses a string as the value of a property for which the answer's query
// uses an item: wdt:P30 "Africa" instead of wdt:P30 wd:Q15. It returns the zero Fault if there is no such property or
// if the item is ambiguous.
func TextForItem(query, answer string) forum.Fault {
	texts, items := constants(query, textOf), constants(answer, itemOf)
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		if len(texts[id]) == 1 && len(items[id]) == 1 {
			return forum.Fault{Kind: forum.FaultText, ID: id, Item: items[id][0], Text: texts[id][0]}
		}
	}
	return forum.Fault{}
}

func textOf(t rdf.Term) string {
	if t.IsLiteral() && (t.Datatype == "" || t.Datatype == rdf.XSDString || t.Lang != "") {
		return t.Value
	}
	return ""
}

func itemOf(t rdf.Term) string {
	if id := rdf.EntityID(t.Value); t.IsIRI() && strings.HasPrefix(id, "Q") {
		return id
	}
	return ""
}

// constants returns, by property, the constants of one kind that a query uses as values of wdt: and ps: properties.
func constants(query string, kind func(rdf.Term) string) map[string][]string {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		t, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		for _, p := range t.Properties {
			iri := p.Path.IRI()
			id := strings.TrimPrefix(strings.TrimPrefix(iri, rdf.Direct), rdf.Prop+"statement/")
			if id == iri || !strings.HasPrefix(id, "P") {
				continue
			}
			for _, o := range p.Objects {
				if o.Kind != sparql.Const {
					continue
				}
				if s := kind(o.Value()); s != "" && !slices.Contains(out[id], s) {
					out[id] = append(out[id], s)
				}
			}
		}
		return true
	})
	return out
}

// Ran returns the fault of a query that was run, if it timed out or returned no rows. If the run failed for another
// reason, Ran returns f.
func Ran(f forum.Fault, rows int, slow bool, err error) forum.Fault {
	switch {
	case slow:
		return forum.Fault{Kind: forum.FaultSlow}
	case err == nil && rows == 0:
		return forum.Fault{Kind: forum.FaultEmpty}
	case err == nil:
		return forum.Fault{}
	}
	return f
}

// Known returns the zero Fault if the post already mentions the fault (the query returns no rows or does not finish),
// and f otherwise.
func Known(f forum.Fault, post string) forum.Fault {
	if f.Kind == forum.FaultEmpty && saysEmpty().MatchString(post) ||
		f.Kind == forum.FaultSlow && saysSlow().MatchString(post) {
		return forum.Fault{}
	}
	return f
}

// Phrases for a query that returns no rows or does not finish, in the languages of the messages.
var (
	saysEmpty = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bno (results?|rows?|output|matches)\b|\bnothing\b|\bany (results?|rows?)\b|\b(0|zero) (results?|rows?)\b|\bempty\b|` +
			`\bkeine? (ergebnis|treffer|zeile|resultat)|\bnichts\b|\bleer\b|\baucune? (résultat|ligne)|\brien\b|\bvide\b|` +
			`\bning(ún|una) (resultado|fila)|\bnada\b|\bvac[ií][oa]|\bnessuna? (risultat|riga)|\bniente\b|\bnulla\b|\bvuot[oa]|` +
			`\bnenhuma? (resultado|linha)|\bvazi[oa]|\bgeen (resulta|rijen|enkele)|\bniets\b|\bleeg\b|\bnic\b|\bpust[aey]|żadn\w+ (wynik|wiersz)|` +
			`ничего|пуст|ни одно|нет результат|没有|空|何も|0件|結果が|(لا|أي) (نتائج|نتيجة|شيء|صفوف)|فارغ`)
	})
	saysSlow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)time ?-?out|times? out|timed out|\b(too )?slow|takes too long|zeitüberschreitung|zu lang|langsam|délai|trop (long|lent)|` +
			`\blent[ao]?\b|tarda|tiempo|tempo|traag|te lang|limit czasu|za długo|woln[oy]|таймаут|тайм-аут|долго|медлен|超时|太慢|タイムアウト|遅|مهلة|بطيء`)
	})
)

var itemNumber = regexp.MustCompile(`\bQ[1-9]\d*\b`)

// SameItems reports whether two queries mention the same items.
func SameItems(a, b string) bool {
	items := func(query string) []string {
		ids := itemNumber.FindAllString(query, -1)
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	return slices.Equal(items(a), items(b))
}
