// Package testutil contains helpers for the tests of several packages: the hostile forum in
// internal/sandbox/testdata/hostile, a check of the bot's replies that is independent of the code that generates them, and
// folders in memory. Only tests may import it.
//
// The reply check is deliberately crude. It does not parse wikitext: it removes the few kinds of markup that a reply
// may contain, each in its exact form, and reports everything in the remaining text that could start markup.
package testutil

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Hostile is a forum page with hostile posts, together with a script for a model that does whatever they demand.
type Hostile struct {
	Page   string // wikitext
	Script string // see llm.ParseScript
}

// ReadHostile reads page.wikitext and script.txt in dir. It replaces the @@NAME@@ placeholders in them: PORT with port,
// HUGE with a string huge bytes long, and the others with characters that an editor would not show (control characters,
// directional marks, MediaWiki's strip marker).
func ReadHostile(dir string, port, huge int) (Hostile, error) {
	markup := strings.Repeat("{{Delete}} ~~~~ [[Category:Spam]] lorem ipsum |} ", huge/49+1)[:huge]
	plain := strings.Repeat("lorem ipsum dolor sit amet ", huge/27+1)[:huge]
	marks := []string{
		"@@PORT@@", strconv.Itoa(port), "@@NUL@@", "\x00", "@@CR@@", "\r", "@@DEL@@", "\x7f", "@@UNIQ@@",
		"\x7f'\"`UNIQ--nowiki-00000001-QINU`\"'\x7f",
		"@@RLO@@", "\u202e", "@@LRM@@", "\u200e", "@@ZWSP@@", "\u200b", "@@LSEP@@", "\u2028", "@@BOM@@", "\ufeff", "@@CSI@@",
		"\u009b",
	}
	page, err := os.ReadFile(filepath.Join(dir, "page.wikitext"))
	if err != nil {
		return Hostile{}, fmt.Errorf("the hostile forum: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "script.txt"))
	if err != nil {
		return Hostile{}, fmt.Errorf("the hostile model: %w", err)
	}
	return Hostile{
		Page:   strings.NewReplacer(append(marks, "@@HUGE@@", plain)...).Replace(string(page)),
		Script: strings.NewReplacer(append(marks, "@@HUGE@@", markup)...).Replace(string(script)),
	}, nil
}

// Section is a level-2 section of a page.
type Section struct {
	Heading string // trimmed wikitext between the equals signs
	Body    string // the text after the heading line
}

var headingLine = regexp.MustCompile(`(?m)^==[ \t]*([^=\n].*?)[ \t]*==[ \t]*$`)

// Sections splits a page at its level-2 headings, regardless of context.
func Sections(page string) (out []Section) {
	at := headingLine.FindAllStringSubmatchIndex(page, -1)
	for i, m := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		out = append(out, Section{page[m[2]:m[3]], strings.TrimPrefix(page[m[1]:end], "\n")})
	}
	return out
}

var markLine = regexp.MustCompile(`^[:*#]+.*<!-- spinachbot:[a-z0-9-]+ -->$`)

// SplitReplies extracts the replies of account from a page. before is the page before the replies were posted, and rest
// is the page with the replies removed; if nothing else has changed, the two are equal. A reply is a sequence of new
// lines. The first line ends with the bot's mark, and the last line ends with the account's signature.
func SplitReplies(before, after, account string) (rest string, replies []string) {
	signed := regexp.MustCompile(`\[\[User:` + regexp.QuoteMeta(account) +
		`\|[^\]\n]*\]\][^\n]*\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)$`)
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var kept []string
	for i := 0; i < len(now); i++ {
		isOld := len(kept) < len(old) && now[i] == old[len(kept)]
		if isOld || !markLine.MatchString(now[i]) {
			kept = append(kept, now[i])
			continue
		}
		from := i
		for i < len(now)-1 && !signed.MatchString(now[i]) {
			i++
		}
		replies = append(replies, strings.Join(now[from:i+1], "\n"))
	}
	return strings.Join(kept, "\n"), replies
}

// piece is a kind of markup that a reply may contain.
type piece struct {
	name string
	re   *regexp.Regexp
	most int // unlimited if 0
}

func pieces(account, operator string) []piece {
	a, o := regexp.QuoteMeta(account), regexp.QuoteMeta(operator)
	return []piece{
		{"signature", regexp.MustCompile(`--\[\[User:` + a + `\|` + a + `\]\] \(\[\[User talk:` + a +
			`\|talk\]\]\) \d\d:\d\d, \d+ \w+ \d{4} \(UTC\)$`), 1},
		{"mark", regexp.MustCompile(`<!-- spinachbot:[a-z0-9-]+ -->`), 1},
		{"operator", regexp.MustCompile(`\[\[User talk:` + o + `\|` + o + `\]\]`), 1},
		{"earlier discussion", regexp.MustCompile(`\[\[:[^\[\]{}|<>\n]+#[^\[\]{}|<>\n]+\|[\p{L}\d .]{4,30}\]\]`), 2},
		{"table start", regexp.MustCompile(`(?m)^:+\{\| class="wikitable(?: mw-collapsible mw-collapsed)?"(?: style="(?:overflow-wrap:anywhere|word-break:normal;overflow-wrap:normal)")?$`), 2},
		{"list start", regexp.MustCompile(`<table class="wikitable mw-collapsible mw-collapsed"><tr><th>`), 1},
		{"list middle", regexp.MustCompile(`</th></tr><tr><td><ol><li>`), 1},
		{"list item", regexp.MustCompile(`</li><li>`), 10},
		{"list end", regexp.MustCompile(`(?m)</li></ol></td></tr></table>$`), 1},
		{"table end", regexp.MustCompile(`(?m)^\|\}$`), 2},
		{"table row", regexp.MustCompile(`(?m)^\|-$`), 0},
		{"code", regexp.MustCompile(`</?code>`), 0},
		{"break in an address", regexp.MustCompile(`<wbr>`), 0},
		{"soft hyphen", regexp.MustCompile(`&shy;`), 0},
		{"small", regexp.MustCompile(`</?small>`), 2},
		{"entity", regexp.MustCompile(`&#\d{2,3};`), 0},
	}
}

var (
	entityLink = regexp.MustCompile(`\[\[(?:Q[1-9]\d*|Property:P[1-9]\d*|Lexeme:L[1-9]\d*)(?:\|([^\[\]{}|<\n]+))?\]\]`)
	queryBlock = regexp.MustCompile(`(?s)\{\{SPARQL\|query=\n(.*?)\n\}\}`)
	// leftover matches everything that starts markup in MediaWiki. The reply's own list characters, cells and headers
	// are checked line by line.
	leftover = regexp.MustCompile(`(?i)\{\{|\}\}|\[\[|\]\]|\{\||\|\}|~~~|<|''|__\w+__|-\{|&(?:#\w+|[a-z]\w*);|https?:/|mailto:|\[|\]|` +
		`\b(?:RFC|PMID|ISBN)[ \t\x{a0}]+\d`)
	hidden = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{200b}\x{200e}\x{200f}\x{2028}\x{2029}\x{feff}]`)
	stamp  = regexp.MustCompile(`\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)
	line   = regexp.MustCompile(`^(?::+[^:*#;=|!{-]|[:*#]+@|# |#: |\||! )`)
)

// Faults returns what is wrong with a reply: everything in it that could be markup and is not expected in a reply.
// operator is the username of the bot's operator.
func Faults(reply, account, operator string) (out []string) {
	fault := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	queries := queryBlock.FindAllStringSubmatch(reply, -1)
	if len(queries) > 1 {
		fault("%d queries", len(queries))
	}
	for _, m := range queries {
		out = append(out, queryFaults(m[1])...)
	}
	for _, m := range hidden.FindAllStringIndex(reply, -1) {
		fault("%q, which nobody sees, in %q", reply[m[0]:m[1]], reply[max(0, m[0]-40):min(len(reply), m[1]+40)])
	}
	rest := queryBlock.ReplaceAllString(reply, "")
	if n := len(stamp.FindAllString(rest, -1)); n != 1 {
		fault("%d time stamps", n)
	}
	rest = entityLink.ReplaceAllString(rest, "$1")
	for _, p := range pieces(account, operator) {
		if n := len(p.re.FindAllString(rest, -1)); p.most > 0 && n > p.most {
			fault("%d times %s", n, p.name)
		}
		rest = p.re.ReplaceAllString(rest, "")
	}
	for _, m := range leftover.FindAllStringIndex(rest, -1) {
		fault("%q in %q", rest[m[0]:m[1]], rest[max(0, m[0]-40):min(len(rest), m[1]+40)])
	}
	depth := 0
	for i, l := range strings.Split(rest, "\n") {
		if d := len(l) - len(strings.TrimLeft(l, ":*")); d > 0 && depth > 0 && d != depth {
			fault("line %d is at depth %d, not %d", i+1, d, depth)
		} else if d > 0 {
			depth = d
		}
		if l != "" && !line.MatchString(l) {
			fault("line %d begins %q", i+1, l[:min(len(l), 40)])
		}
	}
	return out
}

// queryFaults checks the query in its template: pipes must be written as {{!}}, and nothing else in it may be markup
// inside a template parameter.
func queryFaults(q string) (out []string) {
	q = strings.ReplaceAll(q, "{{!}}", "")
	for _, bad := range []string{"{{", "}}", "|", "[[", "]]", "~~~", "<!--", "-->", "</", "<nowiki", "<ref", "<pre",
		"<syntaxhighlight", "<includeonly", "<noinclude",
		"<onlyinclude", "-{", "}-", "\x00", "\x7f", "__NOTOC__", "__NOINDEX__"} {
		if i := strings.Index(strings.ToLower(q), strings.ToLower(bad)); i >= 0 {
			out = append(out, fmt.Sprintf("%q in the query, at %q", bad, q[max(0, i-30):min(len(q), i+30)]))
		}
	}
	return out
}
