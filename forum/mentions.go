package forum

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Mentioned reports whether the comment mentions the user: by a link to the user's page, a ping, or a plain-text
// "@Name". Quotations, struck-out text and code are ignored. The name after "@" is not case-sensitive.
func (c *Comment) Mentioned(user string) bool {
	user = UserName(user)
	if user == "" {
		return false
	}
	for _, m := range c.Mentions {
		if UserName(m) == user {
			return true
		}
	}
	for _, s := range c.calls {
		if callsUser(s, user) {
			return true
		}
	}
	return false
}

// callsUser reports whether a string starts with a user's name. It ignores case and treats underscores as spaces. The
// name must not be followed by more characters of the same word.
func callsUser(s, user string) bool {
	if len(s) > 5 && strings.EqualFold(s[:5], "user:") {
		s = s[5:]
	}
	for _, want := range user {
		r, n := utf8.DecodeRuneInString(s)
		if r == '_' {
			r = ' '
		}
		if n == 0 || unicode.ToLower(r) != unicode.ToLower(want) {
			return false
		}
		s = s[n:]
	}
	r, n := utf8.DecodeRuneInString(s)
	return n == 0 || !inName(r)
}

// inName reports whether a character can be part of a word in a name.
func inName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// mentions returns the users linked or pinged in a part of the page, outside of signatures and quotations. Each user is
// listed once.
func (p *parser) mentions(start, end int, sigs []sig) []string {
	var out []string
	add := func(user string) {
		for _, u := range out {
			if u == user {
				return
			}
		}
		if user != "" && len(out) < 50 {
			out = append(out, user)
		}
	}
	pos := start
	scan := func(to int) {
		for i := pos; i < to; {
			k := strings.Index(p.text[i:to], "[[")
			if k < 0 {
				return
			}
			i += k
			e := linkEnd(p.text[:to], i)
			if e < 0 {
				i += 2
				continue
			}
			if !inSignature(sigs, i) {
				target, _ := splitLink(p.text[i+2 : e-2])
				if user, page := p.n.userOf(target); page && !p.quoted(i) {
					add(user)
				}
			}
			i = e
		}
	}
	for _, n := range p.nodesIn(start, end) {
		scan(max(pos, n.Start))
		pos = max(pos, n.End)
		if n.Kind != wikitext.Template || !p.is(n, pingTemplate) || p.quoted(n.Start) {
			continue
		}
		for _, a := range n.Args {
			if p.positional(a) {
				name := strings.TrimSpace(wikitext.StripComments(a.Value.In(p.text)))
				if u, page := p.n.userOf(name); page {
					name = u
				}
				add(p.n.userName(name))
			}
		}
	}
	scan(end)
	return out
}

// positional reports whether an argument is positional, even if it is written with its number: {{ping|X}} or
// {{ping|1=X}}.
func (p *parser) positional(a wikitext.Arg) bool {
	if !a.Named {
		return true
	}
	name := strings.TrimSpace(wikitext.StripComments(a.Name.In(p.text)))
	return name != "" && strings.Trim(name, "0123456789") == ""
}

func inSignature(sigs []sig, i int) bool {
	k := sort.Search(len(sigs), func(k int) bool { return sigs[k].end > i })
	return k < len(sigs) && sigs[k].start <= i
}

// Limits on the "@Name" mentions that are kept. MediaWiki does not allow longer user names, and no one addresses more
// people at once.
const (
	maxCalls = 20
	maxCall  = 256 // bytes
)

// A quotation is the text between two marks: within a line or, for elements, within a comment. Struck-out text and code
// are also treated as quotations, because the former has been withdrawn and the latter shows what to type.
type quotation struct {
	open, close string
	lines       bool // may span several lines
}

var quotations = []quotation{
	{"\"", "\"", false}, {"“", "”", false}, {"„", "“", false}, {"„", "”", false}, {"«", "»", false},
	{"''", "''", false},
	{"<code", "</code>", true}, {"<s>", "</s>", true}, {"<del", "</del>", true}, {"<strike", "</strike>", true},
	{"<kbd", "</kbd>", true}, {"<samp", "</samp>", true},
	{"<tt>", "</tt>", true},
}

type caller struct {
	text string // the page's text up to the end of the part
	none []int  // for each kind of quotation, an offset before which there is no closing mark
	eol  int
}

// calls returns the text after each "@" in body text. It takes linear time.
func (p *parser) calls(start, end int, sigs []sig) []string {
	if strings.IndexByte(p.text[start:end], '@') < 0 {
		return nil
	}
	var out []string
	c := caller{text: p.text[:end], none: make([]int, len(quotations)), eol: lineEnd(p.text[:end], start)}
	nodes := p.nodesIn(start, end)
	for i := start; i < end && len(out) < maxCalls; {
		if len(nodes) > 0 && i >= nodes[0].Start {
			i, nodes = max(i, nodes[0].End), nodes[1:]
			continue
		}
		if i > c.eol {
			c.eol = lineEnd(c.text, i)
		}
		if i == start || c.text[i-1] == '\n' {
			// quoted as in an email
			if rest := strings.TrimLeft(c.text[i:c.eol], ":*# \t"); strings.HasPrefix(rest, ">") ||
				strings.HasPrefix(rest, "&gt;") {
				i = c.eol + 1
				continue
			}
		}
		if after := c.skip(i); after > i {
			i = after
			continue
		}
		if c.text[i] == '@' && c.addresses(start, i) && !inSignature(sigs, i) && !p.quoted(i) {
			out = append(out, strings.ToValidUTF8(c.text[i+1:min(c.eol, i+1+maxCall)], ""))
		}
		i++
	}
	return out
}

// skip returns the offset after the quotation that opens at i, or i if there is none.
func (c *caller) skip(i int) int {
	switch b := c.text[i]; {
	case b == '\'':
		n := i
		for n < len(c.text) && c.text[n] == '\'' {
			n++
		}
		if n-i != 2 && n-i < 5 { // an apostrophe or bold markup, not a quotation
			return n
		}
	case b != '"' && b != '<' && b < utf8.RuneSelf:
		return i
	}
	for k, q := range quotations {
		if i < c.none[k] || !strings.HasPrefix(c.text[i:], q.open) {
			continue
		}
		stop := len(c.text)
		if !q.lines {
			stop = max(c.eol, i+len(q.open))
		}
		if e := strings.Index(c.text[i+len(q.open):stop], q.close); e >= 0 {
			return i + len(q.open) + e + len(q.close)
		}
		c.none[k] = stop
	}
	return i
}

// addresses reports whether the "@" at i can start a mention, as opposed to being part of an email address or URL.
func (c *caller) addresses(start, i int) bool {
	before, n := utf8.DecodeLastRuneInString(c.text[start:i])
	after, m := utf8.DecodeRuneInString(c.text[i+1:])
	return (n == 0 || !inName(before) && !strings.ContainsRune("/@.-=&", before)) && m > 0 && inName(after)
}
