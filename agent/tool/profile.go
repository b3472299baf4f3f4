package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// ProfileName is the action that shows what things or statements look like.
const ProfileName = "profile"

// Bounds of profile.
const (
	profileOut      = 20
	profileIn       = 5
	profileClasses  = 10
	profileExamples = 3
	profileSample   = 2000 // statements that are looked at
	profileKeys     = 12   // ranks, units, qualifiers shown of a property
)

type profileArgs struct {
	Of       *string `json:"of" about:"a class such as Q515, or a SPARQL pattern such as ?item wdt:P31 wd:Q515 ; wdt:P17 wd:Q183"`
	Property *string `json:"property" about:"a property such as P39: what its statements look like, of those things or of all"`
	KG       *string `json:"kg" about:"name of the graph, when there are several"`
}

var profileTool = typed(&Tool{Name: ProfileName, Text: "profile.md"}, profile)

// profile carries out profile(of, property): how many things there are, of which classes, which share has each property,
// what leads to them, three of them; or for a property: ranks, precision, units, qualifiers, references.
func profile(ctx context.Context, env *Env, a profileArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	of, property := strings.TrimSpace(given(a.Of)), strings.TrimSpace(given(a.Property))
	if of == "" && property == "" {
		return wrong(errors.New("name a class or a pattern in of, or a property, or both"))
	}
	var members *shape.Members
	class := ""
	if of != "" {
		m, c, err := env.members(of)
		if err != nil {
			var ge *kg.Error
			if errors.As(err, &ge) {
				return env.failed(ctx, err)
			}
			return wrong(err)
		}
		members, class = &m, c
	}
	var text string
	if property == "" {
		text, err = env.profileThings(ctx, *members, class)
	} else {
		var iri string
		if iri, err = env.property(property); err != nil {
			return wrong(err)
		}
		text, err = env.profileProperty(ctx, iri, members)
	}
	if kg.KindOf(err) == kg.NotFound {
		return Result{Text: say("profile_none", of)}, nil
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	return Result{Text: text}, nil
}

// members reads what is profiled: a class, or a pattern whose variable ?item, or else its first one, is what is meant.
func (env *Env) members(of string) (m shape.Members, class string, err error) {
	if !strings.ContainsAny(of, "?$") {
		iri, err := env.iriOf(of)
		if err != nil {
			return m, "", err
		}
		return shape.Of(&env.Source.Explain, iri), iri, nil
	}
	of = strings.TrimSpace(of)
	if strings.HasPrefix(of, "{") && strings.HasSuffix(of, "}") {
		of = of[1 : len(of)-1]
	}
	query := "SELECT * WHERE { " + of + "\n}"
	if err := env.Dialect.Check(query); err != nil {
		return m, "", err
	}
	q, err := env.Dialect.parse(query)
	if err != nil || q.Form != sparql.Select || q.Body.Where == nil {
		return m, "", errors.New("of is not a pattern")
	}
	vars := q.Body.Where.Visible()
	if len(vars) == 0 {
		return m, "", errors.New("the pattern has no variable")
	}
	v := vars[0]
	if slices.Contains(vars, "item") {
		v = "item"
	}
	q.Body.Star, q.Body.Distinct, q.Body.Items = false, true, []*sparql.SelectItem{{Var: v}}
	text := env.Dialect.InLanguage(sparql.Print(q, sparql.PrintOptions{NoComments: true}), env.Language.Code)
	return shape.Members{Pattern: "{ " + text + " }", Var: v}, "", nil
}

// profileThings writes the profile of a class or of what a pattern finds.
func (env *Env) profileThings(ctx context.Context, members shape.Members, class string) (string, error) {
	d := &env.Source.Explain
	var s *kg.Shape
	var err error
	if class != "" && env.Source.Shapes != nil {
		s, err = env.Source.Shapes.Shape(ctx, d.Compact(class), env.Language.Code)
	} else {
		s, err = shape.Measure(ctx, d, env.Graph.Query, members, shape.Limits{Out: profileOut, In: profileIn})
	}
	if err != nil {
		return "", err
	}
	lines := []string{}
	if class == "" {
		classes, err := shape.Classes(ctx, d, env.Graph.Query, members, s, profileClasses+1, shape.Limits{})
		if err != nil {
			return "", err
		}
		if err := env.labelShape(ctx, s, classes); err != nil {
			return "", err
		}
		var list []string
		for _, c := range classes {
			list = append(list, render.Labelled(c.Class.ID, c.Class.Label)+fmt.Sprintf(" %.0f %%", 100*c.Share))
		}
		if len(list) > 0 {
			lines = append(lines, say("profile_classes", mostOf(list, profileClasses)))
		}
	} else if env.Source.Shapes == nil {
		s.Class.ID = shape.ID(d, class)
		if err := env.labelShape(ctx, s, nil); err != nil {
			return "", err
		}
	}
	lines = append([]string{shape.Text(s, profileOut, profileIn)}, lines...)
	examples, err := env.someOf(ctx, members)
	if err != nil {
		return "", err
	}
	return strings.Join(append(lines, examples), "\n"), nil
}

// labelShape fills in the labels of a shape that was measured here.
func (env *Env) labelShape(ctx context.Context, s *kg.Shape, classes []kg.ShapeTarget) error {
	refs := shape.References(s)
	for i := range classes {
		id := classes[i].Class.ID
		refs[id] = append(refs[id], &classes[i].Class.Label)
	}
	var iris []string
	byIRI := map[string]string{}
	for _, id := range sortedKeys(refs) {
		if iri, err := env.iriOf(id); err == nil {
			iris = append(iris, iri)
			byIRI[iri] = id
		}
	}
	names, err := env.namesOf(ctx, iris)
	if err != nil {
		return err
	}
	for iri, label := range names.labels {
		for _, place := range refs[byIRI[iri]] {
			*place = label
		}
	}
	return nil
}

// someOf writes three of the members.
func (env *Env) someOf(ctx context.Context, members shape.Members) (string, error) {
	t, err := env.Graph.Query(ctx, "SELECT ?member WHERE { "+members.Group(profileExamples)+" }")
	if err != nil {
		return "", err
	}
	var terms []rdf.Term
	for i := range t.Rows {
		terms = append(terms, termAt(t, i, "member"))
	}
	names, err := env.namesOf(ctx, irisIn(&env.Source.Explain, terms...))
	if err != nil {
		return "", err
	}
	var list []string
	for _, x := range terms {
		list = append(list, names.term(x))
	}
	return say("examples_are", strings.Join(list, ", ")), nil
}

// profileProperty writes the profile of a property's statements, those of members or all.
func (env *Env) profileProperty(ctx context.Context, property string, members *shape.Members) (string, error) {
	d := &env.Source.Explain
	subject := ""
	if members != nil {
		subject = strings.ReplaceAll(members.Group(0), "?"+members.Var, "?member") + " "
		if members.Var != "member" {
			subject = members.Group(0) + " "
		}
	}
	id := rdf.EntityID(property)
	predicate := property
	if d.IsWikibase() {
		predicate = rdf.Prop + id
	}
	total, err := env.countOf(ctx, subject+"?member <"+predicate+"> ?st", subject == "")
	if err != nil {
		return "", err
	}
	names, err := env.namesOf(ctx, []string{property})
	if err != nil {
		return "", err
	}
	if total == 0 {
		return say("property_none", names.iri(property)), nil
	}
	sample := fmt.Sprintf("{ SELECT DISTINCT ?member ?st WHERE { %s?member <%s> ?st } LIMIT %d }", subject, predicate, profileSample)
	query, shown := plainFacets(d, sample), plainKinds
	if d.IsWikibase() {
		query, shown = wikibaseFacets(d, sample, id), wikibaseKinds
	}
	t, err := env.Graph.Query(ctx, query)
	if err != nil {
		return "", err
	}
	looked := min(total, profileSample)
	if total < 0 {
		looked = profileSample
	}
	lines := []string{say("property_head", map[string]any{"Property": names.iri(property), "Total": total, "Looked": looked,
		"Upto": countUpTo})}
	facets, err := env.facets(ctx, t, looked, shown)
	if err != nil {
		return "", err
	}
	lines = append(lines, facets...)
	examples, err := env.someStatements(ctx, sample, id)
	if err != nil {
		return "", err
	}
	return strings.Join(append(lines, examples), "\n"), nil
}

// countOf counts the matches of a pattern: all where that is cheap, else up to a number, beyond which it is -1.
func (env *Env) countOf(ctx context.Context, pattern string, cheap bool) (int64, error) {
	if cheap {
		t, err := env.Graph.Query(ctx, "SELECT (COUNT(*) AS ?n) WHERE { "+pattern+" }")
		return countOr(t, err)
	}
	t, err := env.Graph.Query(ctx, fmt.Sprintf("SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?member ?st WHERE { %s } LIMIT %d } }",
		pattern, countUpTo))
	n, err := countOr(t, err)
	if n >= countUpTo {
		n = -1
	}
	return n, err
}

func countOr(t *kg.Table, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return countAt(t, 0, "n"), nil
}

// What is counted of statements, in the order in which it is shown.
var (
	wikibaseKinds = []string{"value", "rank", "special", "precision", "unit", "qualifier", "reference"}
	plainKinds    = []string{"value"}
)

// wikibaseFacets counts what the statements of a sample have.
func wikibaseFacets(d *kg.Description, sample, id string) string {
	ns := func(prefix string) string { return "<" + rdf.Prefixes[prefix] + id + ">" }
	w := "<" + rdf.Wikibase
	parts := []string{
		"?st " + w + "rank> ?key . BIND('rank' AS ?kind)",
		"?st a " + ns("wdno") + " . BIND('no value' AS ?key) BIND('special' AS ?kind)",
		"?st " + ns("ps") + " ?x . FILTER(isBlank(?x) || STRSTARTS(STR(?x), '" + unknownIRI + "')) BIND('unknown value' AS ?key) BIND('special' AS ?kind)",
		"?st " + ns("psv") + " ?v . ?v " + w + "timePrecision> ?key . BIND('precision' AS ?kind)",
		"?st " + ns("psv") + " ?v . ?v " + w + "quantityUnit> ?key . BIND('unit' AS ?kind)",
		"?st ?key ?x . FILTER(STRSTARTS(STR(?key), '" + rdf.Prefixes["pq"] + "P')) BIND('qualifier' AS ?kind)",
		"?st <http://www.w3.org/ns/prov#wasDerivedFrom> ?x . BIND('yes' AS ?key) BIND('reference' AS ?kind)",
		"?st " + ns("ps") + " ?x . ?x " + shape.TypePath(d) + " ?key . BIND('value' AS ?kind)",
	}
	return "SELECT ?kind ?key (COUNT(DISTINCT ?st) AS ?n) WHERE { " + sample + " { " + strings.Join(parts, " } UNION { ") +
		" } } GROUP BY ?kind ?key ORDER BY DESC(?n) ?key LIMIT 500"
}

// plainFacets counts the classes and datatypes of the values of a sample.
func plainFacets(d *kg.Description, sample string) string {
	return "SELECT ?kind ?key (COUNT(*) AS ?n) WHERE { BIND('value' AS ?kind) { " + sample + " ?st " + shape.TypePath(d) +
		" ?key } UNION { " + sample + " FILTER(isLiteral(?st)) BIND(DATATYPE(?st) AS ?key) } } " +
		"GROUP BY ?kind ?key ORDER BY DESC(?n) ?key LIMIT 500"
}

// facets writes the counts, a line each kind.
func (env *Env) facets(ctx context.Context, t *kg.Table, looked int64, kinds []string) ([]string, error) {
	d := &env.Source.Explain
	var terms []rdf.Term
	for i := range t.Rows {
		terms = append(terms, termAt(t, i, "key"))
	}
	names, err := env.namesOf(ctx, irisIn(d, terms...))
	if err != nil {
		return nil, err
	}
	by := map[string][]string{}
	for i := range t.Rows {
		kind := termAt(t, i, "kind").Value
		by[kind] = append(by[kind], names.facet(kind, terms[i])+" "+share(countAt(t, i, "n"), looked))
	}
	var out []string
	for _, k := range kinds {
		if len(by[k]) > 0 {
			out = append(out, say("facet_"+k, mostOf(by[k], profileKeys)))
		} else if k == "rank" || k == "reference" || k == "qualifier" {
			out = append(out, say("facet_no_"+k, nil))
		}
	}
	return out, nil
}

// precisions are Wikibase's precisions of times that occur.
var precisions = map[string]string{"14": "second", "13": "minute", "12": "hour", "11": "day", "10": "month", "9": "year",
	"8": "decade", "7": "century", "6": "millennium"}

// facet writes what was counted.
func (n namer) facet(kind string, key rdf.Term) string {
	switch kind {
	case "rank":
		s, _ := strings.CutPrefix(key.Value, rdf.Wikibase)
		return strings.ToLower(strings.TrimSuffix(s, "Rank"))
	case "precision":
		if p := precisions[key.Value]; p != "" {
			return p
		}
	case "qualifier":
		return n.iri(rdf.Entity + rdf.EntityID(key.Value))
	case "unit":
		if key.Value == rdf.Entity+"Q199" {
			return say("no_unit", nil)
		}
	case "reference":
		return ""
	}
	if strings.HasPrefix(key.Value, rdf.XSD) {
		return strings.TrimPrefix(key.Value, rdf.XSD)
	}
	if key.IsIRI() {
		return n.iri(key.Value)
	}
	return key.Value
}

// share writes a number of statements as a share of those that were looked at.
func share(n, of int64) string {
	switch p := 100 * float64(n) / float64(max(of, 1)); {
	case p < 1:
		return "<1 %"
	case p > 99 && n < of:
		return ">99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// someStatements writes three statements of a sample.
func (env *Env) someStatements(ctx context.Context, sample, id string) (string, error) {
	query := "SELECT ?member ?value WHERE { " + sample + " BIND(?st AS ?value) } LIMIT 3"
	if env.Source.Explain.IsWikibase() {
		query = "SELECT ?member ?value WHERE { " + sample + " ?st <" + rdf.Prefixes["ps"] + id + "> ?value } LIMIT 3"
	}
	t, err := env.Graph.Query(ctx, query)
	if err != nil {
		return "", err
	}
	var terms []rdf.Term
	for i := range t.Rows {
		terms = append(terms, termAt(t, i, "member"), termAt(t, i, "value"))
	}
	names, err := env.namesOf(ctx, irisIn(&env.Source.Explain, terms...))
	if err != nil {
		return "", err
	}
	var list []string
	for i := range t.Rows {
		list = append(list, names.term(terms[2*i])+" → "+names.term(terms[2*i+1]))
	}
	return say("examples_are", strings.Join(list, "; ")), nil
}
