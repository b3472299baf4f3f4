package forum

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Plain returns wikitext that shows untrusted text, cut to limit characters. The result cannot contain markup, links,
// templates or signatures.
func Plain(s string, limit int) string { return encode(s, limit) }

// encode makes external text safe in wikitext. The result is displayed as the same text in any context (a list line, a
// table cell, a link's label, <code>) and never becomes markup. [clean] describes what is removed, and [escape] what is
// escaped.
func encode(s string, limit int) string { return escape(clean(s, limit)) }

// clean returns text on one line with single spaces. It keeps at most limit characters and replaces the rest by an
// ellipsis. Control and direction characters, which can hide text or forge strip markers, are removed.
func clean(s string, limit int) string {
	var b strings.Builder
	n, blank := 0, true
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\u0085':
			r = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c':
			continue
		}
		if r == ' ' && blank {
			continue
		}
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		blank = r == ' '
		b.WriteRune(r)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// escape replaces characters by numeric entities wherever markup could begin or end.
func escape(s string) string {
	var b strings.Builder
	text := []rune(s)
	for i, r := range text {
		if r < 0x80 && markup(text, i) {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markup reports whether the character at i could be part of markup. About the context, it relies on two facts only:
// the text is never at the start of a line, and a space or a bracket follows it.
func markup(text []rune, i int) bool {
	r, before, after := text[i], rune(0), rune(0)
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch r {
	case '<', '{', '}', '[', ']', '|', '~':
		return true
	case '\'', '_': // quotes, and switches such as __NOTOC__
		return before == r || after == r
	case '!', '-': // a header cell, a rule
		return before == 0 || before == r || r == '!' && after == r
	case '*', '#', ';', '=':
		return before == 0
	case ':': // a list at the start; "mailto:x" and "https://" are links, but wdt:P31 is not
		return before == 0 || after == '/' || after != ' ' && linkScheme.MatchString(string(text[max(0, i-10):i]))
	case '&':
		rest := string(text[i:min(len(text), i+40)])
		if k := strings.IndexByte(rest[1:], '&'); k >= 0 {
			rest = rest[:k+1]
		}
		// browsers read &amp without a semicolon, too
		return entity.MatchString(rest) || html.UnescapeString(rest) != rest
	case '(': // a timestamp ends in its zone: 10:00, 5 June 2024 (UTC)
		return zone.MatchString(string(text[i:min(len(text), i+10)]))
	case ' ': // RFC 2324 is a link
		return magicLink.MatchString(string(text[max(0, i-4):i]))
	}
	return false
}

var (
	entity = regexp.MustCompile(`^&(#[0-9]+|#[xX][0-9a-fA-F]+|\pL[\pL0-9]*);`)
	zone   = regexp.MustCompile(`^\([A-Z]{2,5}\)`)
	// the schemes that make a link without slashes (MediaWiki's default of $wgUrlProtocols)
	linkScheme = regexp.MustCompile(`(?i)(bitcoin|geo|magnet|mailto|matrix|news|sips?|sms|tel|urn|xmpp)$`)
	magicLink  = regexp.MustCompile(`(RFC|ISBN|PMID)$`)
)

// entityLink returns a link to an item, a property or a lexeme. It checks the ID, so that only our own code makes
// links.
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

// behaviorSwitch is one of MediaWiki's double underscore words (MagicWordFactory::mDoubleUnderscoreIDs, and those of
// the extensions on Wikidata). MediaWiki 1.39 removes them from the link that the query's template creates. Other words
// with double underscores, such as the variable ?PIB__PPA__par_habitant, are harmless.
var behaviourSwitch = regexp.MustCompile(`(?i)__(NOTOC|FORCETOC|TOC|NOGALLERY|NOEDITSECTION|NOTITLECONVERT|NOTC|NOCONTENTCONVERT|NOCC|NEWSECTIONLINK|NONEWSECTIONLINK|HIDDENCAT|` +
	`EXPECTUNUSEDCATEGORY|EXPECTUNUSEDTEMPLATE|INDEX|NOINDEX|STATICREDIRECT|DISAMBIG|ARCHIVEDTALK|NOTALK|NOGLOBAL|EXPECTED_UNCONNECTED_PAGE)__`)

// CheckQuery returns an error if a query contains anything that MediaWiki would treat as markup inside a template's
// argument. The posting form (ARCHITECTURE.md, invariant 4) contains no such markup except the pipe, which [Compose]
// writes as {{!}}.
func CheckQuery(q string) error {
	if !utf8.ValidString(q) {
		return fmt.Errorf("query is not in its posting form: it is not valid UTF-8")
	}
	if strings.TrimSpace(q) != q || q == "" {
		return fmt.Errorf("query is not in its posting form: it is empty or has spaces around it")
	}
	low := strings.ToLower(q)
	for _, bad := range []string{"{{", "}}", "~~~", "[[", "]]", "<!--", "{|}", "-{", "}-"} {
		if strings.Contains(low, bad) {
			return fmt.Errorf("query is not in its posting form: it contains %s; split it with a space or write it as an escape",
				bad)
		}
	}
	if w := behaviourSwitch.FindString(q); w != "" {
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
