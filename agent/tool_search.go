package agent

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// maxSearch is the longest text that is searched for, in characters; labels and aliases are at most 250 long (Wikibase).
const maxSearch = 200

// search carries out search_wikidata(text): items, then properties, in the asker's language and in English, merged, every entity once
// (SPINACH paper, section 4.1; English only there).
func (r *run) search(ctx context.Context, text string) (result, error) {
	text = render.Fold(render.Clean(text))
	if n := utf8.RuneCountInString(text); n > maxSearch {
		return result{text: say("search_too_long", map[string]any{"Length": n, "Max": maxSearch}), failure: kg.QueryFailed}, nil
	}
	var lines []string
	for _, what := range []struct {
		typ   kg.Type
		limit int
		more  string
	}{{kg.Item, r.preset.items, "search_more_items"}, {kg.Property, r.preset.properties, "search_more_properties"}} {
		hits, more, err := r.searchType(ctx, text, what.typ, what.limit)
		if err != nil {
			return r.failed(ctx, err)
		}
		for _, h := range hits {
			lines = append(lines, hitText(h))
		}
		if more {
			lines = append(lines, say(what.more, nil))
		}
	}
	if len(lines) == 0 {
		return result{text: r.foundNothing()}, nil
	}
	return result{text: strings.Join(append(lines, say("search_note", nil)), "\n")}, nil
}

// foundNothing gives the advice for a search without hits: in full, and in short while the full text still stands in the conversation.
func (r *run) foundNothing() string {
	data := map[string]any{"Languages": r.searchedNames()}
	full := say("search_none", data)
	if slices.ContainsFunc(r.state.steps, func(k kept) bool { return k.Observation == full }) {
		return say("search_none_again", data)
	}
	return full
}

// searchType searches one type in each language and merges the hits: the first of each language, then the second of each, an entity found twice once.
func (r *run) searchType(ctx context.Context, text string, typ kg.Type, limit int) (hits []kg.Hit, more bool, err error) {
	var lists [][]kg.Hit
	for _, lang := range r.searched() {
		res, err := r.graph.Search(ctx, kg.SearchQuery{Text: text, Language: lang, Type: typ, Limit: limit})
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

// searched lists the languages that are searched.
func (r *run) searched() []string {
	if r.lang.code == "en" {
		return []string{"en"}
	}
	return []string{r.lang.code, "en"}
}

func (r *run) searchedNames() string {
	if r.lang.code == "en" {
		return "English"
	}
	return r.lang.name + " and English"
}

// hitText writes a hit: "label (Q42): description", a property with its data type, and the alias by which it was found when that is not the label.
func hitText(h kg.Hit) string {
	s := render.Labelled(h.ID, h.Label)
	d := render.Fold(h.Description)
	if h.Datatype != "" { // some descriptions end with it already
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
