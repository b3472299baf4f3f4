package tool

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// maxSearch is the maximum length of a search string, in characters. Wikibase limits labels and aliases to 250
// characters.
const maxSearch = 200

// SearchName is the action that searches for entities and properties by name.
const SearchName = "search_wikidata"

// searchAdvice is the hint shown after a search without hits.
const searchAdvice Advice = "search"

var searchTool = onInput(&Tool{Name: SearchName, Text: "search.md", Input: "text",
	about: "a name or a short noun phrase"},
	func(text string) string { return strings.ToLower(render.Fold(text)) }, search)

// search implements search_wikidata(text). It finds items and then properties, in the asker's language and in English,
// merges the hits, and shows each entity once. (In the SPINACH paper, section 4.1, it searches only in English.)
func search(ctx context.Context, env *Env, text string) (Result, error) {
	text = render.Fold(render.Clean(text))
	if n := utf8.RuneCountInString(text); n > maxSearch {
		return Result{Text: say("search_too_long", map[string]any{"Length": n, "Max": maxSearch}),
			Failure: kg.QueryFailed}, nil
	}
	var lines []string
	for _, what := range []struct {
		typ   kg.Type
		limit int
		more  string
	}{{kg.Item, env.Show.Items, "search_more_items"}, {kg.Property, env.Show.Properties, "search_more_properties"}} {
		hits, more, err := env.searchType(ctx, text, what.typ, what.limit)
		if err != nil {
			return env.failed(ctx, err)
		}
		for _, h := range hits {
			lines = append(lines, hitText(h))
		}
		if more {
			lines = append(lines, say(what.more, nil))
		}
	}
	if len(lines) == 0 {
		return env.foundNothing(), nil
	}
	return Result{Text: strings.Join(append(lines, say("search_note", nil)), "\n")}, nil
}

// foundNothing returns the hint shown after a search without hits, in a short form if the conversation already contains
// the full one.
func (env *Env) foundNothing() Result {
	data := map[string]any{"Languages": env.searchedNames()}
	if env.Advised(searchAdvice) {
		return Result{Text: say("search_none_again", data), Empty: true}
	}
	return Result{Text: say("search_none", data), Empty: true, Advice: searchAdvice}
}

// searchType searches for entities of one type in each language and merges the hits: the first hit in each language,
// then the second in each, and so on. Each entity appears only once.
func (env *Env) searchType(ctx context.Context, text string, typ kg.Type,
	limit int) (hits []kg.Hit, more bool, err error) {
	var lists [][]kg.Hit
	for _, lang := range env.searched() {
		res, err := env.Graph.Search(ctx, kg.SearchQuery{Text: text, Language: lang, Type: typ, Limit: limit})
		if err != nil {
			return nil, false, err
		}
		lists = append(lists, res.Hits[:min(len(res.Hits), limit)])
		more = more || res.More
	}
	seen := map[string]bool{}
	for i := range limit {
		for _, list := range lists {
			if i < len(list) && !seen[list[i].ID] {
				seen[list[i].ID] = true
				hits = append(hits, list[i])
			}
		}
	}
	return hits, more, nil
}

// searched returns the languages to search in.
func (env *Env) searched() []string {
	if env.Language.Code == "en" {
		return []string{"en"}
	}
	return []string{env.Language.Code, "en"}
}

func (env *Env) searchedNames() string {
	if env.Language.Code == "en" {
		return "English"
	}
	return env.Language.Name + " and English"
}

// hitText formats a hit as "label (Q42): description", with the data type of a property, and with the alias by which it
// was found, if any.
func hitText(h kg.Hit) string {
	s := render.Labelled(h.ID, h.Label)
	d := render.Fold(h.Description)
	if h.Datatype != "" { // some descriptions already end with the data type
		d = strings.TrimSpace(strings.TrimSuffix(d, "Data Type: "+h.Datatype))
	}
	if d != "" {
		s += ": " + render.Clip(d, 250)
	}
	if h.Datatype != "" {
		s += "\tData Type: " + h.Datatype
	}
	if h.MatchType == "alias" && !strings.EqualFold(h.MatchText, h.Label) && h.MatchText != "" {
		s += " [also called " + render.Clip(render.Fold(h.MatchText), 80) + "]"
	}
	return s
}
