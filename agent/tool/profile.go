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
	"github.com/spinachbot/spinachbot/internal/kg/survey"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// ProfileName is the action that shows what entities or statements look like.
const ProfileName = "profile"

// Limits of profile.
const (
	profileOut      = 20
	profileIn       = 5
	profileClasses  = 10
	profileExamples = 3
	profileKeys     = 12 // maximum number of values shown for each kind, such as ranks, units and qualifiers
)

type profileArgs struct {
	Of       *string `json:"of" about:"a class such as Q515, or a SPARQL pattern for ?item such as ?item wdt:P31 wd:Q515 ; wdt:P17 wd:Q183"`
	Property *string `json:"property" about:"a property such as P39: what its statements look like, of those things or of all"`
	KG       *string `json:"kg" about:"name of the graph, when there are several"`
}

var profileTool = typed(&Tool{Name: ProfileName, Text: "profile.md", FromText: arguments("of", "property")}, profile)

// profile implements profile(of, property). For entities, it shows their number, their classes, how many have each
// property, the properties that lead to them, and three examples. For a property's statements, it shows ranks,
// precisions, units, qualifiers and references.
func profile(ctx context.Context, env *Env, a profileArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	of, property := strings.TrimSpace(deref(a.Of)), strings.TrimSpace(deref(a.Property))
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
		text, err = env.profileProperty(ctx, iri, members, class == "")
	}
	if kg.KindOf(err) == kg.NotFound {
		return Result{Text: say("profile_none", of)}, nil
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	return Result{Text: text}, nil
}

// members parses what to profile: a class or a pattern. In a pattern, the variable ?item represents the members; if
// there is none, the first variable does.
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

// profileThings returns the profile of a class or of the entities that match a pattern.
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
			list = append(list, render.Labelled(c.Class.ID, c.Class.Label)+" "+percent(100*c.Share, c.Share == 1))
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

// labelShape adds labels to a shape measured by profile.
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

// someOf formats the names of three members.
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

// profileProperty returns the profile of a property's statements, or only of those about members if members is not nil.
// pattern means that a pattern, rather than a class, determines the members.
func (env *Env) profileProperty(ctx context.Context, property string, members *shape.Members, pattern bool) (
	string, error) {
	stats, err := survey.Property(ctx, &env.Source.Explain, env.Graph.Query, property, members)
	if err != nil {
		return "", err
	}
	terms := []rdf.Term{rdf.IRI(property)}
	for _, f := range stats.Facets {
		terms = append(terms, f.Key)
	}
	for _, e := range stats.Examples {
		terms = append(terms, e[0], e[1])
	}
	names, err := env.namesOf(ctx, irisIn(&env.Source.Explain, terms...))
	if err != nil {
		return "", err
	}
	if stats.Total == 0 {
		data := map[string]any{"Property": names.iri(property), "Var": ""}
		if members != nil && pattern {
			data["Var"] = members.Var
		}
		return say("property_none", data), nil
	}
	lines := []string{say("property_head", map[string]any{"Property": names.iri(property), "Total": stats.Total,
		"Looked": stats.Looked, "Upto": survey.CountUpTo})}
	lines = append(lines, names.facets(stats)...)
	var list []string
	for _, e := range stats.Examples {
		list = append(list, names.term(e[0])+" → "+names.term(e[1]))
	}
	return strings.Join(append(lines, say("examples_are", strings.Join(list, "; "))), "\n"), nil
}

// facets formats the counts in stats, with one line per kind.
func (n namer) facets(stats *survey.Stats) []string {
	by := map[survey.Kind][]string{}
	for _, f := range stats.Facets {
		by[f.Kind] = append(by[f.Kind], n.facet(f.Kind, f.Key)+" "+share(f.N, stats.Looked))
	}
	values := func(datatypes ...string) bool {
		return slices.ContainsFunc(stats.Facets, func(f survey.Facet) bool {
			return f.Kind == survey.Value && slices.Contains(datatypes, f.Key.Value)
		})
	}
	said := map[survey.Kind]bool{survey.Rank: true, survey.Reference: true, survey.Qualifier: true,
		survey.Precision: values(rdf.XSDDateTime), survey.Unit: values(rdf.XSDDecimal, rdf.XSDInteger, rdf.XSDDouble)}
	var out []string
	for _, k := range survey.Kinds {
		if len(by[k]) > 0 {
			out = append(out, say("facet_"+string(k), mostOf(by[k], profileKeys)))
		} else if n.env.Source.Explain.IsWikibase() && said[k] {
			out = append(out, say("facet_no_"+string(k), nil))
		}
	}
	return out
}

// precisions are the names of Wikibase's time precisions.
var precisions = map[string]string{"14": "second", "13": "minute", "12": "hour", "11": "day", "10": "month",
	"9": "year",
	"8": "decade", "7": "century", "6": "millennium"}

// facet formats a counted value.
func (n namer) facet(kind survey.Kind, key rdf.Term) string {
	switch kind {
	case survey.Rank:
		s, _ := strings.CutPrefix(key.Value, rdf.Wikibase)
		return strings.ToLower(strings.TrimSuffix(s, "Rank"))
	case survey.Precision:
		if p := precisions[key.Value]; p != "" {
			return p
		}
	case survey.Qualifier:
		return n.iri(rdf.Entity + rdf.EntityID(key.Value))
	case survey.Unit:
		if key.Value == rdf.Entity+"Q199" {
			return say("no_unit", nil)
		}
	case survey.Reference:
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

// share formats a number of statements as a percentage of the examined statements.
func share(n, of int64) string {
	return percent(100*float64(n)/float64(max(of, 1)), n >= of)
}

// percent formats a rounded percentage. It never rounds to 0, and it rounds to 100 only if all is set.
func percent(p float64, all bool) string {
	switch {
	case p < 1:
		return "<1%"
	case p > 99 && !all:
		return ">99%"
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}
