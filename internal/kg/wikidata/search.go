package wikidata

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

const (
	mostHits   = 50  // hits per search, for users without higher limits
	longestFor = 250 // maximum number of characters of a search string to send
)

// searchAnswer is the response to wbsearchentities.
type searchAnswer struct {
	Search []struct {
		ID          string `json:"id"`
		Label       string `json:"label"`
		Description string `json:"description"`
		Datatype    string `json:"datatype"`
		Display     struct {
			Label       langValue `json:"label"`
			Description langValue `json:"description"`
		} `json:"display"`
		Match struct {
			Type     string `json:"type"`
			Language string `json:"language"`
			Text     string `json:"text"`
		} `json:"match"`
		Aliases []string `json:"aliases"`
	} `json:"search"`
	Continue *int `json:"search-continue"`
}

type langValue struct {
	Language string `json:"language"`
	Value    string `json:"value"`
}

// Search finds entities by label or alias in the given language and its fallbacks, using wbsearchentities, which
// matches prefixes and does not offer full-text search. An empty string finds nothing.
func (c *Client) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	text := strings.Join(strings.Fields(q.Text), " ")
	if r := []rune(text); len(r) > longestFor {
		text = string(r[:longestFor])
	}
	if text == "" {
		return &kg.SearchResult{}, nil
	}
	typ, lang := kg.Item, language(q.Language)
	if q.Type == kg.Property {
		typ = kg.Property
	}
	limit := min(max(q.Limit, 1), mostHits)
	a, err := c.search(ctx, text, lang, typ, limit)
	if kg.KindOf(err) == kg.QueryFailed && lang != "en" {
		// the wiki rejects unknown codes; English is the last fallback for every language
		a, err = c.search(ctx, text, "en", typ, limit)
	}
	if err != nil {
		return nil, err
	}
	res := &kg.SearchResult{More: a.Continue != nil}
	for _, s := range a.Search {
		if !rdf.ValidID(s.ID) {
			continue
		}
		res.Hits = append(res.Hits, kg.Hit{
			ID: s.ID, Type: typ, Label: first(s.Display.Label.Value, s.Label), Description: first(s.Display.Description.Value,
				s.Description),
			Datatype: s.Datatype, Aliases: s.Aliases, MatchType: s.Match.Type, MatchText: s.Match.Text,
			MatchLanguage: s.Match.Language,
		})
	}
	return res, nil
}

// search makes a single call to wbsearchentities.
func (c *Client) search(ctx context.Context, text, lang string, typ kg.Type, limit int) (*searchAnswer, error) {
	a := &searchAnswer{}
	err := c.get(ctx, url.Values{
		"action": {"wbsearchentities"}, "search": {text}, "language": {lang}, "uselang": {lang}, "type": {string(typ)},
		"limit": {strconv.Itoa(limit)},
	}, a)
	return a, err
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

var languageCode = regexp.MustCompile(`^[a-z]{2,12}(-[a-z0-9]{1,12}){0,3}$`)

// language returns code in lower case, or "en" if it is not a language code.
func language(code string) string {
	if code = strings.ToLower(strings.TrimSpace(code)); languageCode.MatchString(code) {
		return code
	}
	return "en"
}

// chain returns the languages in which labels are searched, in order: the given language, its base language if it is a
// variant, mul, and English. Source: Wikibase's LanguageFallbackChainFactory, without MediaWiki's per-language lists.
func chain(code string) []string {
	code = language(code)
	out := []string{code}
	if base, _, variant := strings.Cut(code, "-"); variant {
		out = append(out, base)
	}
	for _, l := range []string{"mul", "en"} {
		if l != code {
			out = append(out, l)
		}
	}
	return out
}
