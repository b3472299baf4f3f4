package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// FindName is the action that searches for several names at once.
const FindName = "find"

// Limits of find.
const (
	maxNames    = 10
	findHits    = 6    // maximum number of hits for a name if none is exact
	besideExact = 3    // maximum number of other hits shown with an exact hit
	maxWorks    = 1    // maximum number of works and documents among the hits for a name
	countedUses = 1000 // maximum number of uses that are counted
	unused      = 2    // unused hits shown in addition to used ones; no more were ever needed (tools/used)
)

type findArgs struct {
	Names    []string `json:"names" about:"names or short noun phrases, each looked for on its own; at most 10"`
	Type     *string  `json:"type" enum:"item,property" about:"only these; both when left out"`
	External *bool    `json:"external" about:"also properties that hold identifiers of other databases"`
	KG       *string  `json:"kg" about:"name of the graph, when there are several"`
}

var findTool = typed(&Tool{Name: FindName, Text: "find.md", FromText: arguments("names...")}, find)

// find implements find(names). It searches for each name separately; the name's words may appear anywhere in a label.
// If there is an exact hit, only a few others are shown. Properties for external identifiers and most works are left
// out. Each hit is shown with its number of uses.
func find(ctx context.Context, env *Env, a findArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	switch {
	case len(a.Names) == 0:
		return wrong(errors.New("names is empty"))
	case len(a.Names) > maxNames:
		return wrong(fmt.Errorf("%d names are too many, at most %d are allowed", len(a.Names), maxNames))
	}
	types := []kg.Type{kg.Item, kg.Property}
	if a.Type != nil && *a.Type != "" {
		types = []kg.Type{kg.Type(*a.Type)}
	}
	found := make([][]kg.Hit, len(a.Names))
	for i, name := range a.Names {
		name = render.Fold(render.Clean(name))
		if n := utf8.RuneCountInString(name); n > maxSearch || n == 0 {
			return Result{Text: say("search_too_long", map[string]any{"Length": n, "Max": maxSearch}),
				Failure: kg.QueryFailed}, nil
		}
		a.Names[i] = name
		for _, typ := range types {
			hits, err := env.findOne(ctx, name, typ, a.External != nil && *a.External)
			if err != nil {
				return env.failed(ctx, err)
			}
			found[i] = append(found[i], hits...)
		}
	}
	if err := env.countUses(ctx, found); err != nil {
		return Result{}, err
	}
	for i := range found {
		found[i] = withUses(found[i])
		slices.SortStableFunc(found[i], func(h, o kg.Hit) int { // an exact property comes before inexact items
			return boolInt(!exact(h, a.Names[i])) - boolInt(!exact(o, a.Names[i]))
		})
	}
	var lines []string
	for i, name := range a.Names {
		if len(found[i]) == 0 {
			lines = append(lines, say("find_none", name))
			continue
		}
		if slices.ContainsFunc(found[i], func(h kg.Hit) bool { return h.MatchType == kg.ByMeaning || allWords(name, h) }) {
			lines = append(lines, `"`+name+`":`)
		} else { // a misspelling, or the graph has no such name
			lines, found[i] = append(lines, say("find_near", name)), found[i][:min(len(found[i]), besideExact)]
		}
		for _, h := range found[i] {
			lines = append(lines, "  "+foundText(h))
		}
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// withUses removes all but the first two of the hits that the graph does not use, unless it uses none of the hits.
func withUses(hits []kg.Hit) []kg.Hit {
	if !slices.ContainsFunc(hits, func(h kg.Hit) bool { return h.Uses > 0 }) {
		return hits
	}
	n := 0
	return slices.DeleteFunc(slices.Clone(hits), func(h kg.Hit) bool {
		if h.Uses == 0 {
			n++
		}
		return h.Uses == 0 && n > unused
	})
}

// findOne searches for one name and leaves out unlikely hits.
func (env *Env) findOne(ctx context.Context, name string, typ kg.Type, external bool) ([]kg.Hit, error) {
	q := kg.FindQuery{Text: name, Type: typ, Language: env.Language.Code, Limit: 3 * findHits, External: external}
	res, err := env.Source.Find(ctx, q)
	if err == nil && len(res.Hits) == 0 && typ == kg.Property {
		q.Meaning = true // no property is named "who directed"
		res, err = env.Source.Find(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	if typ == kg.Item {
		found := []*kg.SearchResult{res}
		if _, err := env.best(ctx, []lookedFor{{query: q}}, found); err != nil {
			return nil, err
		}
		res = found[0]
	}
	hits := slices.Clone(res.Hits)
	for i := range hits {
		if q.Meaning {
			hits[i].MatchType = kg.ByMeaning
		}
	}
	return heldBack(hits, name, external), nil
}

// heldBack orders hits and leaves out unlikely ones. Exact hits come first, and only a few others are kept with them.
// External identifiers are left out unless they are requested or nothing else is found. Few works are kept, and hits
// without a label are dropped.
func heldBack(hits []kg.Hit, name string, external bool) []kg.Hit {
	wanted := external || slices.Contains(strings.Fields(strings.ToLower(name)), "id")
	if !wanted {
		if rest := slices.DeleteFunc(slices.Clone(hits), func(h kg.Hit) bool {
			return h.Datatype == "external-id" && !exact(h, name)
		}); len(rest) > 0 {
			hits = rest
		}
	}
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b kg.Hit) int { // an entity comes before a work with the same name
		return boolInt(work(a)) - boolInt(work(b))
	})
	var out []kg.Hit
	most, works := findHits, 0
	for _, first := range []bool{true, false} {
		for _, h := range hits {
			if exact(h, name) != first || h.Label == "" && h.MatchType != "entityId" || !first && !shares(name, h) {
				continue
			}
			if work(h) && !first {
				if works++; works > maxWorks {
					continue
				}
			}
			if len(out) < most {
				out = append(out, h)
			}
		}
		if first && len(out) > 0 {
			most = min(len(out), besideExact) + besideExact
			out = out[:min(len(out), most)]
		}
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// exact reports whether a hit's name equals the text, ignoring case, spaces and punctuation.
func exact(h kg.Hit, name string) bool {
	name = lettersOf(name)
	return lettersOf(h.Label) == name || lettersOf(h.MatchText) == name || strings.EqualFold(h.ID, name)
}

// lettersOf returns the letters and digits in a string, in lower case, or the string unchanged if it has none.
func lettersOf(s string) string {
	out := strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, s)
	if out == "" {
		return s
	}
	return out
}

// fillers lists short words that are not enough to make a hit relevant, in the languages most common in names.
var fillers = []string{"the", "and", "for", "von", "der", "die", "das", "und", "des", "les", "del", "los", "las", "dos"}

// shares reports whether a hit contains a word in the text, or a word with the same first three letters, which may be a
// different spelling. Short words and fillers are ignored. A string that consists only of short words and fillers
// matches every hit, and hits found by meaning or by their ID always match.
func shares(text string, h kg.Hit) bool {
	var words []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if utf8.RuneCountInString(w) >= 3 && !slices.Contains(fillers, w) {
			words = append(words, string([]rune(w)[:3]))
		}
	}
	if len(words) == 0 || h.MatchType == kg.ByMeaning || h.MatchType == "entityId" {
		return true
	}
	for _, name := range append([]string{h.MatchText, h.Label}, h.Aliases...) {
		for _, n := range strings.Fields(strings.ToLower(name)) {
			if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(n, w) }) {
				return true
			}
		}
	}
	return false
}

// allWords reports whether one of a hit's names contains all words in the text except filler words. A long word also
// matches if it is a prefix of a word in the name.
func allWords(text string, h kg.Hit) bool {
	words, names := strings.Fields(strings.ToLower(text)), append([]string{h.MatchText, h.Label}, h.Aliases...)
	return exact(h, text) || slices.ContainsFunc(names, func(name string) bool {
		has := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c)
		})
		return !slices.ContainsFunc(words, func(w string) bool {
			return !slices.Contains(fillers, w) && !joints[w] && !slices.ContainsFunc(has, func(n string) bool {
				return n == w || utf8.RuneCountInString(w) >= 4 && strings.HasPrefix(n, w)
			})
		})
	})
}

// workWords are the first words in the descriptions of works and documents, which are often named after other entities.
var workWords = []string{"painting", "print by", "drawing", "photograph", "sculpture by", "album", "song", "single by",
	"episode", "scientific article", "scholarly article", "article", "book by", "novel by", "edition", "film by",
	"short film", "short story", "poem", "family name", "given name", "wikimedia", "scientific journal", "musical work", "track", "video game",
	"patent"}

// work reports whether a hit is a work or a document, judging by its description.
func work(h kg.Hit) bool {
	d := strings.ToLower(h.Description)
	d = strings.TrimLeft(d, "0123456789- ")
	return slices.ContainsFunc(workWords, func(w string) bool { return strings.HasPrefix(d, w) })
}

// foundText formats a hit with its number of uses.
func foundText(h kg.Hit) string {
	s := hitText(h)
	if h.Type == kg.Property {
		s = "property " + s
	}
	if len(h.Info) > 0 {
		s += " [" + render.Clip(render.Fold(strings.Join(h.Info, "; ")), 120) + "]"
	}
	// Uses of an item are the statements that lead to it, so an item without uses may have statements of its own.
	if h.Uses > 0 || h.Uses == 0 && h.Type == kg.Property {
		s += " " + say("uses", usesText(h.Uses))
	}
	return s
}

// usesText formats a number of uses. Counting stops at countedUses, but numbers from the index can be larger.
func usesText(n int64) string {
	if n == countedUses {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// countUses counts how often the hits are used, except those for which the search already reported this. It runs one
// query for all hits and counts up to a limit. If the query fails, no uses are shown; countUses returns an error only
// if ctx is done or the log cannot be written.
func (env *Env) countUses(ctx context.Context, found [][]kg.Hit) error {
	var parts []string
	place := map[string]*kg.Hit{}
	leading := leadingOnly(env.direct())
	for i := range found {
		for j := range found[i] {
			h := &found[i][j]
			iri, err := env.iriOf(h.ID)
			if err != nil || h.Uses != 0 && h.Uses != -1 {
				continue
			}
			if h.Uses = -1; place[h.ID] != nil {
				continue
			}
			place[h.ID] = h
			pattern := "?s ?p <" + iri + ">"
			switch {
			case !env.Source.Explain.IsWikibase(): // an index may not distinguish properties from items
				pattern += " } UNION { ?s <" + iri + "> ?o"
			case h.Type == kg.Property:
				pattern = "?s <" + rdf.Direct + h.ID + "> ?o"
			default:
				pattern += leading
			}
			parts = append(parts, fmt.Sprintf("{ SELECT (%s AS ?id) (COUNT(*) AS ?n) WHERE "+
				"{ { SELECT ?s WHERE { { %s } } LIMIT %d } } }", rdf.Quote(h.ID), pattern, countedUses))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	t, err := env.Graph.Query(ctx, "SELECT ?id ?n WHERE { "+strings.Join(parts, " UNION ")+" }")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if event.IsWriteError(err) {
			return err
		}
		return nil
	}
	uses := map[string]int64{}
	for i := range t.Rows {
		uses[termAt(t, i, "id").Value] = countAt(t, i, "n")
	}
	for i := range found {
		for j := range found[i] {
			h := &found[i][j]
			if n, ok := uses[h.ID]; ok && h.Uses == -1 {
				h.Uses = n
			}
		}
	}
	return nil
}
