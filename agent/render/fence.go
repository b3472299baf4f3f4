package render

import "strings"

// Unquote strips code fences, quotation marks of any kind and white space that surround s as a whole.
func Unquote(s string) string {
	for range 6 { // at most six layers
		t := strings.TrimSpace(s)
		t = strings.TrimSpace(CloseFence(OpenFence(t)))
		for _, q := range [][2]string{{`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"},
			{"«", "»"}, {"`", "`"}} {
			if len(t) >= len(q[0])+len(q[1]) && strings.HasPrefix(t, q[0]) && strings.HasSuffix(t, q[1]) {
				t = t[len(q[0]) : len(t)-len(q[1])]
				break
			}
		}
		if t == s {
			break
		}
		s = t
	}
	return s
}

// OpenFence removes a code fence's opening line ("```sparql") from the start of a text.
func OpenFence(s string) string {
	t := strings.TrimLeft(s, " \t\n")
	if !strings.HasPrefix(t, "```") {
		return s
	}
	t = t[3:]
	for _, lang := range []string{"sparql", "sql", "text", "json", "plaintext", "python"} {
		if len(t) > len(lang) && strings.EqualFold(t[:len(lang)], lang) && (t[len(lang)] == '\n' ||
			t[len(lang)] == ' ') {
			t = t[len(lang):]
			break
		}
	}
	return strings.TrimLeft(t, "\n")
}

// CloseFence truncates a text at a closing code fence.
func CloseFence(s string) string {
	if i := strings.Index(s, "```"); i >= 0 && strings.TrimSpace(s[:i]) != "" {
		return s[:i]
	}
	return s
}
