package forum

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum/escape"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Plain returns wikitext that shows untrusted text, truncated to limit characters, with any markup, links, templates
// and signatures escaped.
func Plain(s string, limit int) string { return encode(s, limit) }

func encode(s string, limit int) string { return escape.Text(s, limit) }

// entityLink returns a link to an item, a property or a lexeme. It validates the ID, so that a link target never
// contains untrusted text.
func entityLink(id, label string) (string, error) {
	if !entityID(id) {
		return "", fmt.Errorf("compose reply: %q is not an entity id (Q, P or L and a number)", text.Clip(id, 40))
	}
	target := id
	switch id[0] {
	case 'P':
		target = "Property:" + id
	case 'L':
		target = "Lexeme:" + id
	}
	if strings.TrimSpace(label) == "" {
		label = id
	}
	text := encode(label, maxCell)
	if text == "" {
		text = id
	}
	if text == target {
		return "[[" + target + "]]", nil
	}
	return "[[" + target + "|" + text + "]]", nil
}

func entityID(id string) bool {
	if len(id) < 2 || len(id) > 15 || strings.IndexByte("QPL", id[0]) < 0 || id[1] == '0' {
		return false
	}
	for i := 1; i < len(id); i++ {
		if id[i] < '0' || id[i] > '9' {
			return false
		}
	}
	return true
}

// behaviourSwitch matches MediaWiki's double-underscore keywords (MagicWordFactory::mDoubleUnderscoreIDs, and those
// from the extensions on Wikidata). MediaWiki 1.39 removes them from the link that the query's template creates. Other
// words with double underscores, such as the ?PIB__PPA__par_habitant variable, are harmless.
var behaviourSwitch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)__(NOTOC|FORCETOC|TOC|NOGALLERY|NOEDITSECTION|NOTITLECONVERT|NOTC|NOCONTENTCONVERT|NOCC|NEWSECTIONLINK|NONEWSECTIONLINK|HIDDENCAT|` +
		`EXPECTUNUSEDCATEGORY|EXPECTUNUSEDTEMPLATE|INDEX|NOINDEX|STATICREDIRECT|DISAMBIG|ARCHIVEDTALK|NOTALK|NOGLOBAL|EXPECTED_UNCONNECTED_PAGE)__`)
})

// CheckQuery returns an error if a query contains anything that MediaWiki would treat as markup inside a template's
// argument. The posting form (ARCHITECTURE.md, invariant 4) contains no such markup except the pipe, which [Compose]
// writes as {{!}}.
func CheckQuery(q string) error {
	if !utf8.ValidString(q) {
		return fmt.Errorf("query is not in its posting form: it is not valid UTF-8")
	}
	if strings.TrimSpace(q) != q || q == "" {
		return fmt.Errorf("query is not in its posting form: it is empty or has leading or trailing spaces")
	}
	low := strings.ToLower(q)
	for _, bad := range []string{"{{", "}}", "~~~", "[[", "]]", "<!--", "{|}", "-{", "}-"} {
		if strings.Contains(low, bad) {
			return fmt.Errorf("query is not in its posting form: it contains %s; split it with a space or write it as an escape",
				bad)
		}
	}
	if w := behaviourSwitch().FindString(q); w != "" {
		return fmt.Errorf("query is not in its posting form: it contains %s, which MediaWiki treats as an instruction; split the underscores", w)
	}
	for i := 0; i < len(low); i++ {
		if c := low[i]; c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return fmt.Errorf("query is not in its posting form: control character %#x at byte %d", c, i)
		}
		if low[i] != '<' {
			continue
		}
		j := i + 1
		if j < len(low) && low[j] == '/' {
			j++
		}
		e := j
		for e < len(low) && low[e] >= 'a' && low[e] <= 'z' {
			e++
		}
		if name := low[j:e]; parserTag(name) && (e == len(low) || strings.IndexByte(" \t\n/>", low[e]) >= 0) {
			return fmt.Errorf("query is not in its posting form: it contains the tag <%s>; write \\u003C for the bracket", name)
		}
	}
	return nil
}
