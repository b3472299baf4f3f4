package forum

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// encode makes a text from outside safe in wikitext: read as text wherever it stands (in a list line, at a line's start, in a table cell, in a link's label, in <code>).
// Every character that can begin or end markup becomes a numeric entity, a newline a space, and the blank after RFC, ISBN and PMID an entity, so that no magic link
// arises. Control and direction characters, which hide text or forge strip markers, are dropped. It returns at most limit characters, with an ellipsis for the rest.
func encode(s string, limit int) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	n, blank, word := 0, true, ""
	for _, r := range s {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			r = ' '
		} else if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' {
			if r != utf8.RuneError {
				continue
			}
		}
		if r == ' ' && blank {
			continue
		}
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		blank = r == ' '
		switch {
		case r == ' ' && (strings.HasSuffix(word, "RFC") || word == "ISBN" || word == "PMID"):
			b.WriteString("&#32;")
		case r < 0x80 && strings.ContainsRune("&<>{}|[]~'\"=_:!#*;-@\\^`", r):
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
		if r >= 'A' && r <= 'Z' {
			if word += string(r); len(word) > 4 {
				word = word[1:] // what stands before does not matter: whether a word begins there is the wiki's notion
			}
		} else {
			word = ""
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// entity shows a cell whose value is an item, a property or a lexeme as a link. The number is checked here, so that only our own code makes links.
func entityLink(id, label string) (string, error) {
	if !entityID(id) {
		return "", fmt.Errorf("compose reply: %q is no entity id (Q, P or L and a number)", clip(id, 40))
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

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// behaviourSwitch is one of MediaWiki's double underscore words (MagicWordFactory::mDoubleUnderscoreIDs, and those of the extensions on Wikidata). MediaWiki 1.39 takes
// them out of the link that the query's template makes. Others, such as the variable ?PIB__PPA__par_habitant, do no harm.
var behaviourSwitch = regexp.MustCompile(`(?i)__(NOTOC|FORCETOC|TOC|NOGALLERY|NOEDITSECTION|NOTITLECONVERT|NOTC|NOCONTENTCONVERT|NOCC|NEWSECTIONLINK|NONEWSECTIONLINK|HIDDENCAT|` +
	`EXPECTUNUSEDCATEGORY|EXPECTUNUSEDTEMPLATE|INDEX|NOINDEX|STATICREDIRECT|DISAMBIG|ARCHIVEDTALK|NOTALK|NOGLOBAL|EXPECTED_UNCONNECTED_PAGE)__`)

// CheckQuery reports what keeps a query from being posted: something in it that MediaWiki would take for markup inside a template's argument. The posting form
// (ARCHITECTURE.md, invariant 4) has none of it; only the pipe is left, and [Compose] writes it as {{!}}.
func CheckQuery(q string) error {
	if !utf8.ValidString(q) {
		return fmt.Errorf("query is not in its posting form: it is not valid UTF-8")
	}
	if strings.TrimSpace(q) != q || q == "" {
		return fmt.Errorf("query is not in its posting form: it is empty or has blanks around it")
	}
	low := strings.ToLower(q)
	for _, bad := range []string{"{{", "}}", "~~~", "[[", "]]", "<!--", "{|}", "-{", "}-"} {
		if strings.Contains(low, bad) {
			return fmt.Errorf("query is not in its posting form: it contains %s; split it by a blank or write it as an escape", bad)
		}
	}
	if w := behaviourSwitch.FindString(q); w != "" {
		return fmt.Errorf("query is not in its posting form: it contains %s, which MediaWiki takes for an instruction; split the underscores", w)
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
