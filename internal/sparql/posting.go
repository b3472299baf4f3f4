package sparql

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// forbidden contains the pieces of wiki markup that must not occur in a posted query, in lower case.
var forbidden = [...]string{"{{", "}}", "[[", "]]", "~~~", "-{", "}-", "{|", "|}", "<!--", "</", "<nowiki",
	"<syntaxhighlight", "<source", "<pre", "<ref"}

// maxPosting is the maximum length of a posting form in bytes. The longest query on the forum is 26,000 bytes long, or
// 32,000 in the canonical layout; a longer query would flood a page.
const maxPosting = 40_000

// behaviorSwitches contains MediaWiki's double-underscore words (MagicWordFactory::mDoubleUnderscoreIDs, and those of
// the extensions on Wikidata), which MediaWiki removes from a page wherever they occur. Comments, strings and IRIs can
// be written without them; names cannot.
var behaviorSwitches = [...]string{"NOTOC", "FORCETOC", "TOC", "NOGALLERY", "NOEDITSECTION", "NOTITLECONVERT",
	"NOTC", "NOCONTENTCONVERT", "NOCC", "NEWSECTIONLINK",
	"NONEWSECTIONLINK", "HIDDENCAT", "EXPECTUNUSEDCATEGORY", "EXPECTUNUSEDTEMPLATE", "INDEX", "NOINDEX",
	"STATICREDIRECT", "DISAMBIG", "ARCHIVEDTALK", "NOTALK", "NOGLOBAL",
	"EXPECTED_UNCONNECTED_PAGE"}

// behaviorSwitch returns a behavior switch that the text contains, ignoring case, or "" if there is none.
func behaviorSwitch(text string) string {
	up := strings.ToUpper(text)
	for _, w := range behaviorSwitches {
		if strings.Contains(up, "__"+w+"__") {
			return "__" + w + "__"
		}
	}
	return ""
}

// PostingForm returns the text of a query as it is run and then posted on a wiki: the canonical layout with labels as
// comments, and without anything that the wiki could interpret as markup in a template parameter: no {{ }} [[ ]] ~~~ -{
// {| |} <!-- </ <nowiki __NOTOC__. Tokens are separated by spaces; strings and IRIs get \uXXXX escapes, which represent
// the same characters (SPARQL 1.1, section 19.2), so the tree stays the same; comments are broken up by spaces. The
// form is in Unicode normalization form C, to which MediaWiki converts all text that it saves. It may contain pipes,
// which must be written as {{!}} in the template.
//
// Applying PostingForm to its own result returns the same text. PostingForm returns an error if the query does not
// parse, is an update, or cannot be put into this form. label may be nil.
func PostingForm(query string, label func(id string) string) (string, error) {
	q, err := Parse(query)
	if err != nil {
		return "", err
	}
	return posting(q, PrintOptions{Label: label})
}

// PostingFormOn is like [PostingForm], for a graph with its own prefixes. The result declares every prefix that it
// uses, so it means the same everywhere. id returns the ID to pass to label for an IRI.
func PostingFormOn(query string, known map[string]string, id, label func(string) string) (string, error) {
	q, err := ParseWith(query, known)
	if err != nil {
		return "", err
	}
	if q.Form != Update {
		q.DeclareWith(known)
	}
	return posting(q, PrintOptions{Label: label, ID: id})
}

func posting(q *Query, o PrintOptions) (string, error) {
	if q.Form == Update {
		return "", fmt.Errorf("an update (%s) is never posted", q.Operation)
	}
	o.posting = true
	out := Print(q, o)
	low := strings.ToLower(out)
	for _, f := range forbidden {
		if strings.Contains(low, f) {
			return "", fmt.Errorf("the query cannot be posted: it still contains %q", f)
		}
	}
	if w := behaviorSwitch(out); w != "" {
		return "", fmt.Errorf("the query cannot be posted: the wiki takes %s for an instruction; use another name", w)
	}
	if len(out) > maxPosting {
		return "", fmt.Errorf("the query cannot be posted: it has %d bytes, but at most %d fit on a talk page; shorten it",
			len(out), maxPosting)
	}
	if !norm.NFC.IsNormalString(out) {
		return "", fmt.Errorf("the query cannot be posted: a name in it has combining characters that the wiki would change; " +
			"use another name")
	}
	again, err := Parse(out)
	if err != nil {
		return "", fmt.Errorf("the query cannot be posted: its posting form does not parse: %w", err)
	}
	if !sameMeaning(q, again) {
		return "", fmt.Errorf("the query cannot be posted: its posting form would mean something else")
	}
	return strings.TrimSpace(out), nil // the text becomes a template parameter, which MediaWiki trims
}

// sameMeaning reports whether two queries have the same tree, regardless of how names and strings are written.
func sameMeaning(a, b *Query) bool {
	o := PrintOptions{OneLine: true, expand: true}
	return Print(a, o) == Print(b, o)
}

// postingString quotes a string so that it contains no markup. Characters are escaped only where they would be part of
// markup.
func postingString(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	b.WriteByte('"')
	escape := escaper(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if r, n := escape(s, i); n > 0 {
			writeCodepoint(&b, r)
			i += n - 1
			continue
		}
		switch {
		case markup(s, i):
			writeCodepoint(&b, rune(c))
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			writeCodepoint(&b, rune(c))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escaper returns the function that finds the characters to escape in a string. These are hidden characters and, if the
// string is not in Unicode normalization form C, all non-ASCII characters: MediaWiki normalizes what it saves, so the
// posted query would not be the one that was run.
func escaper(text string) func(s string, i int) (rune, int) {
	if norm.NFC.IsNormalString(text) {
		return hiddenAt
	}
	return func(s string, i int) (rune, int) {
		if s[i] < utf8.RuneSelf {
			return 0, 0
		}
		return utf8.DecodeRuneInString(s[i:])
	}
}

// hiddenAt decodes the character at i if it is invisible but can make the query look different from the one that was
// run (directional marks, Unicode Technical Report 36, section 2.5; zero-width and non-ASCII control characters), or if
// it ends a line in some programs. Otherwise, n is 0. Joiners are not included, because some scripts need them.
func hiddenAt(s string, i int) (r rune, n int) {
	if s[i] < utf8.RuneSelf {
		return 0, 0
	}
	r, n = utf8.DecodeRuneInString(s[i:])
	if r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
		return r, n
	}
	return 0, 0
}

// markup reports whether the character at i would be part of wiki markup.
func markup(s string, i int) bool {
	c := s[i]
	if c == 0x7f {
		return true
	}
	if strings.IndexByte("{}[]~_<&", c) < 0 {
		return false
	}
	return i > 0 && splits(s[i-1], c) || i+1 < len(s) && splits(c, s[i+1])
}

// postingIRI rewrites an IRI in angle brackets so that it contains no markup.
func postingIRI(w string) string {
	inside := w[1 : len(w)-1]
	var b strings.Builder
	b.WriteByte('<')
	colon := strings.IndexByte(inside, ':')
	escape := escaper(w)
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if r, n := escape(inside, i); n > 0 {
			writeCodepoint(&b, r)
			i += n - 1
			continue
		}
		tag := i == 0 && (c == '!' || c == '/' || colon <= 0 || looksLikeTag(inside))
		if c != '&' && c != '<' && markup(inside, i) || tag && c < 0x80 && c != '\\' || c == '&' && entity(inside[i:]) {
			writeCodepoint(&b, rune(c))
			continue
		}
		b.WriteByte(c)
	}
	b.WriteByte('>')
	return b.String()
}

// looksLikeTag reports whether an IRI starts like a tag that the wiki interprets.
func looksLikeTag(s string) bool {
	low := strings.ToLower(s)
	for _, f := range forbidden {
		if strings.HasPrefix(f, "<") && strings.HasPrefix(low, f[1:]) {
			return true
		}
	}
	return false
}

// entity reports whether s starts with a character reference such as &amp; or &#123;.
func entity(s string) bool {
	i := 1
	for i < len(s) && (s[i] == '#' || s[i] < 0x80 && class[s[i]]&(cLetter|cDigit) != 0) {
		i++
	}
	return i > 1 && i < len(s) && s[i] == ';'
}

// commentText returns a comment as it is printed.
func (p *printer) commentText(s string) string {
	if p.o.posting {
		return postingComment(s)
	}
	return s
}

// postingComment inserts spaces into anything in a comment that could be markup.
func postingComment(s string) string {
	s = norm.NFC.String(s)
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if _, n := hiddenAt(s, i); n > 0 {
			b.WriteByte(' ')
			i += n - 1
			continue
		}
		if i > 0 && splits(s[i-1], c) {
			b.WriteByte(' ')
		}
		if c < ' ' && c != '\t' || c == 0x7f {
			c = ' '
		}
		b.WriteByte(c)
	}
	return strings.TrimRight(b.String(), " \t\f") // parsing the result would drop trailing white space
}

// splits reports whether a comment needs a space between the two characters.
func splits(a, c byte) bool {
	switch a {
	case '{':
		return c == '{' || c == '|'
	case '}':
		return c == '}' || c == '-'
	case '|':
		return c == '}'
	case '-':
		return c == '{'
	case '[':
		return c == '['
	case ']':
		return c == ']'
	case '~':
		return c == '~'
	case '_':
		return c == '_'
	case '<':
		return c == '!' || c == '/' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	case '&':
		return c == '#' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return false
}
