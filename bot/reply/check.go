package reply

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// ReadBack parses an account's reply on a page the way forum tools will, and returns its problems. The reply must be a
// single comment, mention no one except the asker (if so configured), contain its query, and contain no links other
// than those to its steps and its query.
func ReadBack(r forum.Reply, wikitext, title, account string) []string {
	signed := strings.TrimSuffix(wikitext, r.Signature) + "[[User:" + account + "]] 10:00, 5 June 2024 (UTC)"
	asker := "== H ==\nQ. [[User:Asker]] 09:00, 5 June 2024 (UTC)\n"
	page := forum.Parse(title, asker+signed+"\n", forum.Options{})
	if len(page.Threads) != 1 || len(page.Threads[0].Comments) != 2 {
		return []string{"the reply does not read as one comment"}
	}
	var faults []string
	c := page.Threads[0].Comments[1]
	for _, name := range c.Mentions {
		name := forum.UserName(name)
		if asker := r.Ping && name == forum.UserName(r.To); !asker && !strings.EqualFold(name, forum.UserName(r.Operator)) &&
			!strings.EqualFold(name, forum.UserName(account)) {
			faults = append(faults, fmt.Sprintf("the reply would notify %q", text.Clip(name, 60)))
		}
	}
	for _, link := range c.Links {
		own := r.Trace != "" && link == r.Trace || r.QueryPage != "" && strings.HasPrefix(link, r.QueryPage)
		if !own {
			faults = append(faults, fmt.Sprintf("the reply links %s, which is not its own", text.Clip(link, 100)))
		}
	}
	if query := r.ShownQuery(); query != "" && !slices.ContainsFunc(c.Queries, func(q forum.Query) bool { return q.SPARQL == query }) {
		faults = append(faults, "the query does not read back as it was run")
	}
	return faults
}

// OtherLanguage reports whether a reply's text is certainly not in the given language. Names in the reply's rows, which
// may be in any language, are ignored. The rest of the text must be long enough, and the language must be detected with
// certainty and be one that replies can be written in. Text that contains a letter found only in the given language
// counts as being in that language.
func OtherLanguage(r forum.Reply, language string) bool {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	s := r.Short + r.Asks
	for _, name := range namesIn(r) {
		if name != "" {
			s = strings.ReplaceAll(s, name, " ")
		}
	}
	if base == "" || utf8.RuneCountInString(s) < 80 || letters[base] != "" && strings.ContainsAny(s, letters[base]) {
		return false
	}
	guess := whatlanggo.Detect(s)
	found := guess.Lang.Iso6391()
	return guess.IsReliable() && guess.Confidence > 0.95 && found != base && forum.Texts(found).Tag().String() == found
}

// letters maps languages to letters that no other reply language has.
var letters = map[string]string{"de": "ß", "es": "ñ¿¡", "pl": "ąęłśźżćń", "pt": "ãõ", "fr": "œ"}

// namesIn returns the labels and text in a reply's rows, longest first.
func namesIn(r forum.Reply) []string {
	var out []string
	for _, row := range r.Rows {
		for _, c := range row {
			out = append(out, c.Label, c.Text)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}
