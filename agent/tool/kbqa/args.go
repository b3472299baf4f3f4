// Package kbqa supports the tools of Interactive-KBQA (Xiong et al., ACL 2024): how their calls are written, how graphs
// name entities, and the resulting queries and messages. It does not call a graph; package tool does that.
//
//	args.go      calls in Python syntax, parsed without evaluating anything
//	naming.go    names, values and predicates in each kind of graph
//	pattern.go   the patterns around a node: queries and their display
//	dates.go     Freebase: a missing date counts as a match
//	likeness.go  how similar the spellings of two names are
package kbqa

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
)

// WriteArguments formats arguments the way models do: the first argument by position, the others by name.
func WriteArguments(args json.RawMessage, names []string) string {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return string(args)
	}
	var out []string
	for i, n := range names {
		s, ok := m[n].(string)
		if !ok {
			continue
		}
		if i > 0 {
			out = append(out, n+"="+quoted(s, '"'))
			continue
		}
		mark := byte('\'')
		if n == "name" {
			mark = '"'
		}
		out = append(out, quoted(s, mark))
	}
	return strings.Join(out, ", ")
}

// quoted returns a string in quotation marks. If the string contains one kind of quotation mark, the other kind is
// used; if it contains both, the mark is escaped. [ReadArguments] accepts all of these forms.
func quoted(s string, mark byte) string {
	if strings.IndexByte(s, mark) >= 0 {
		other := byte('\'' + '"' - mark)
		if strings.IndexByte(s, other) < 0 {
			mark = other
		}
	}
	return string(mark) + strings.ReplaceAll(s, string(mark), `\`+string(mark)) + string(mark)
}

var (
	argumentName = regexp.MustCompile(`^([A-Za-z_]{1,40})\s*=\s*`)
	nextArgument = regexp.MustCompile(`^,\s*([A-Za-z_]{1,40})\s*=`)
	nextQuoted   = regexp.MustCompile(`^,\s*["'“]`)
)

// ReadArguments parses the arguments of a call in Python syntax: quoted strings, by position or by name. It does not
// evaluate anything. Since models do not escape the quotation marks in queries, a mark ends a string only if nothing or
// another argument follows it. Any other mark is part of the string.
func ReadArguments(text string, names []string) map[string]string {
	out := map[string]string{}
	rest := strings.TrimSpace(text)
	for i := 0; rest != "" && len(out) < len(names); i++ {
		name := ""
		if m := argumentName.FindStringSubmatch(rest); m != nil {
			for _, n := range append([]string{"query"}, names...) {
				if strings.EqualFold(m[1], n) {
					name, rest = n, rest[len(m[0]):]
				}
			}
		}
		if name == "query" { // the paper's prompts use this name for the first argument
			name = names[0]
		}
		if name == "" {
			name = names[min(i, len(names)-1)]
		}
		var value string
		value, rest = readText(rest, names)
		if _, twice := out[name]; !twice {
			out[name] = value
		}
		rest = strings.TrimLeft(rest, ", \t\n")
	}
	if s, ok := out["semantic"]; ok && (s == "" || s == "None") {
		delete(out, "semantic")
	}
	return out
}

// readText parses the string at the start of s.
func readText(s string, names []string) (value, rest string) {
	for _, marks := range [][2]string{{`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"`", "`"}} {
		inner, ok := strings.CutPrefix(s, marks[0])
		if !ok {
			continue
		}
		last, open, closed, from := -1, 0, 0, 0
		for at := 0; ; at += len(marks[1]) {
			n := strings.Index(inner[at:], marks[1])
			if n < 0 {
				break
			}
			at += n
			open, closed = open+strings.Count(inner[from:at], "{"), closed+strings.Count(inner[from:at], "}")
			from = at
			if escaped(inner[:at]) {
				continue
			}
			last = at
			if ends(open > 0 && open == closed, strings.TrimLeft(inner[at+len(marks[1]):], " \t\n"), names) {
				break
			}
		}
		if last < 0 { // the closing mark is missing
			return unescaped(inner, marks[1]), ""
		}
		return unescaped(inner[:last], marks[1]), inner[last+len(marks[1]):]
	}
	for i := range s { // a string without quotation marks
		if ends(false, s[i:], names) {
			return strings.TrimSpace(s[:i]), s[i:]
		}
	}
	return strings.TrimSpace(s), ""
}

// unescaped replaces only the escapes that a quoted string needs, because other escapes may be part of the SPARQL
// query.
func unescaped(s, mark string) string {
	return strings.TrimSpace(strings.NewReplacer(`\\`, `\\`, `\`+mark, mark, `\n`, "\n").Replace(s))
}

// escaped reports whether s ends with an odd number of backslashes.
func escaped(s string) bool { return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1 }

// ends reports whether a string ends just before after, which it does if after is empty or starts with a named argument
// or, when the string's braces are balanced (closed), with a quoted argument.
func ends(closed bool, after string, names []string) bool {
	if after == "" {
		return true
	}
	if after[0] != ',' {
		return false
	}
	if m := nextArgument.FindStringSubmatch(after); m != nil {
		for _, n := range names {
			if strings.EqualFold(m[1], n) {
				return true
			}
		}
	}
	return closed && nextQuoted.MatchString(after)
}

// List formats the elements of a list: [a, b].
func List(items []string) string { return "[" + strings.Join(items, ", ") + "]" }

// Python formats a string as Python does, clipped to n characters.
func Python(s string, n int) string {
	return quoted(strings.ReplaceAll(render.Clip(render.Fold(s), n), `\`, `\\`), '\'')
}

// Cut truncates a string to n characters, adds an ellipsis, and reports whether it did so.
func Cut(s string, n int) (string, bool) {
	r := []rune(s)
	if len(r) <= n {
		return s, false
	}
	return string(r[:n]) + "...", true
}
