package sparql

import "strings"

// AutoLanguage is the placeholder that the query service's own page replaces with the reader's language. The API does
// not replace it, so replace it before running a query.
const AutoLanguage = "[AUTO_LANGUAGE]"

// ReplaceAutoLanguage returns text with [AUTO_LANGUAGE] replaced by lang inside string literals; all other bytes,
// including comments, are left unchanged. It works on any text, even if it does not parse. lang is a language code such
// as "de" or "zh-hans"; anything else is treated as "en".
func ReplaceAutoLanguage(text, lang string) string {
	if !strings.Contains(text, AutoLanguage) {
		return text
	}
	if !IsLanguageCode(lang) {
		lang = "en"
	}
	var b strings.Builder
	done := 0
	l := lexer{text: text}
	for t := l.next(); t.kind != tEOF; t = l.next() {
		if t.kind != tString {
			continue
		}
		b.WriteString(text[done:t.start])
		b.WriteString(strings.ReplaceAll(text[t.start:t.end], AutoLanguage, lang))
		done = int(t.end)
	}
	b.WriteString(text[done:])
	return b.String()
}

// IsLanguageCode reports whether s is in the format of a language code, such as en or zh-hans.
func IsLanguageCode(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || class[c]&cName == 0 || c == '_' {
			return false
		}
	}
	return true
}

// TrimFinalLimit removes the LIMIT of the outermost query if it is exactly n, and reports whether it did. The rest of
// the text is left unchanged, except for trailing white space. Text that does not parse is returned unchanged.
func TrimFinalLimit(query string, n int) (string, bool) {
	q, err := Parse(query)
	if err != nil || q.Body.Limit == nil || q.Body.Limit.N != int64(n) {
		return query, false
	}
	before, after := q.Text[:q.Body.Limit.Start], q.Text[q.Body.Limit.End:]
	if strings.TrimSpace(after) == "" {
		return strings.TrimRight(before, " \t\r\n"), true
	}
	return before + after, true
}

// NormalForm returns a normalized query. The normal forms of two queries are equal if and only if the queries differ
// only in layout, comments, keyword case and the kind of quotation marks. If the text does not parse, NormalForm only
// collapses white space.
func NormalForm(query string) string {
	q, err := Parse(query)
	if err != nil {
		return strings.Join(strings.Fields(query), " ")
	}
	return Print(q, PrintOptions{OneLine: true})
}
